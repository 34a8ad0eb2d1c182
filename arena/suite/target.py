"""What each move of a position costs, by a long search."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from caboose.arena.errors import CallError
from caboose.arena.suite.suite import SURE, Loss, Place
from caboose.bots import MctsBot
from caboose.bots.mcts import SEARCH_OPTIONS
from caboose.engine.bot_api import OptionError
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.search.search import Search

NODES: Final = 20_000  # playouts of the race, and as many of the comparison
LEAST_NODES: Final = 500  # so that every move is tried in a world
OPTIONS: Final[Mapping[str, str]] = {"Laps": "0"}  # what the search of targets has that `mcts` has not by itself
_FIRST_LOOK: Final = 0.25  # of the comparison, with all moves; the rest is for those that may be the best
_OUT: Final = 3.0  # standard errors by which a move must be worse to be out of the rest
_CHUNK: Final = 4000  # playouts between two looks whether to stop

Values = dict[Move, tuple[float, float, int]]  # of each move: its loss, the standard error, and worlds


class StoppedError(Exception):
    """It was told to stop."""


def search_settings(options: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of ``Search`` for options of ``mcts`` over those of ``OPTIONS``. Raises ``CallError``."""
    bot = MctsBot()
    for name, value in {**OPTIONS, **options}.items():
        try:
            bot.set_option(name, value)
        except OptionError as error:
            raise CallError(str(error)) from None
        if name not in SEARCH_OPTIONS:
            raise CallError(f"option {name}: it does not say how to search, expected {', '.join(SEARCH_OPTIONS)}")
    return bot.settings()


def find_losses(
    place: Place, nodes: int, seed: int, settings: Mapping[str, Any], stop: threading.Event
) -> dict[Move, Loss]:
    """The loss of every legal move, the best first, then by loss.

    A race of ``nodes`` playouts says which is the best. Another ``nodes`` compare it with the others, in worlds that
    nobody chose by, so that losses are too high for no move: a quarter all of them, the rest those that may be as good.
    Seeds are made from ``seed`` and the position. Raises ``StoppedError`` when ``stop`` is set.
    """
    view = place.view
    race, look, rest = (_seed(place, seed, part) for part in range(3))
    best = _run(Search(view, race, **settings), nodes, stop).best
    rivals = [move for move in view.legal_moves() if move != best]
    values = _compare(view, best, rivals, int(nodes * _FIRST_LOOK), look, settings, stop)
    close = [move for move, (loss, error, _) in values.items() if loss <= _OUT * error and error > 0]
    if close:
        again = _compare(view, best, close, nodes - int(nodes * _FIRST_LOOK), rest, settings, stop)
        for move, (loss, error, worlds) in again.items():
            before = values[move]
            total = before[2] + worlds
            values[move] = (
                (before[0] * before[2] + loss * worlds) / total,
                math.hypot(before[1] * before[2], error * worlds) / total,
                total,
            )
    ranked = sorted(rivals, key=lambda move: values[move][0])
    return {best: Loss(0.0, 0.0)} | {move: Loss(*values[move][:2]) for move in ranked}


def _compare(
    view: Observation,
    best: Move,
    rivals: Sequence[Move],
    nodes: int,
    seed: int,
    settings: Mapping[str, Any],
    stop: threading.Event,
) -> Values:
    """By how much ``best`` is better than each of ``rivals``: all of them in each world."""
    search = Search(view, seed, moves=[best, *rivals], **{**settings, "confidence": math.inf})
    _run(search, nodes, stop)
    differences = {move: search.difference(best, move) for move in rivals}
    return {move: (mean, error / SURE, search.worlds) for move, (mean, error) in differences.items()}


def _run(search: Search, nodes: int, stop: threading.Event) -> Search:
    before = -1
    while search.nodes > before:
        if stop.is_set():
            raise StoppedError
        before = search.nodes
        chunk = search.racing if search.solving else _CHUNK
        search.run(min(chunk, nodes - before))
    return search


def _seed(place: Place, seed: int, part: int) -> int:
    """A seed of a search, which no engine has by chance."""
    view = place.view
    text = f"{seed} {part} {place.deal} {view.seat} {len(view.events)} {view.hand}"
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:7], "big") | 1 << 62
