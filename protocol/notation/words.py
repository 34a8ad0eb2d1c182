"""Tiles, moves, events and numbers as single words, exactly as the protocol writes them, and lists of such words.

``scanner`` and ``notation`` read what people write; what is left then are these words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from caboose.engine.rules import tiles
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules, RulesError
from caboose.engine.rules.tiles import MEXICAN, Tile
from caboose.protocol.notation.lines import ProtocolError

EVENT_FORMS: Final = "SEAT:WHAT such as 2:5-12@M, 2:draw, 2:draw=3-4, 2:mark, 2:pass, 2:stop or 2:hub"
_PLAIN_EVENTS: Final = ("mark", "pass", "stop", "hub")  # kinds that are written as the bare word
_LARGEST: Final = 10**15 - 1
_CACHED: Final = 8192  # more than the different moves and events of a whole game

_T = TypeVar("_T")


class WordError(ProtocolError):
    """A word that is not a tile, move, event or number; says what it was and what was expected."""


def parse_number(text: str, least: int = 0, most: int = _LARGEST) -> int:
    """A whole number of at most fifteen digits, without a sign. Raises ``WordError``."""
    if text.isdigit() and len(text) <= 15 and text.isascii() and least <= int(text) <= most:
        return int(text)
    limits = f"from {least} to {most}" if most < _LARGEST else f"of at least {least}, of at most 15 digits"
    raise WordError(f"{text[:40]!r} is not a number that fits: expected a whole number {limits}", text)


def parse_pip_count(text: str) -> int:
    """Pips of one side of a tile, 0 to 18. Raises ``WordError``."""
    pips = tiles.parse_pips(text)
    if pips is None:
        raise WordError(f"{text[:40]!r} is not a number of pips: expected 0 to {tiles.MAX_PIPS}", text)
    return pips


def parse_seat(text: str) -> int:
    """A seat, from 0, that text writes from 1. Raises ``WordError``."""
    number = tiles.parse_pips(text)
    if number is not None and 1 <= number <= MEXICAN:
        return number - 1
    raise WordError(f"{text[:40]!r} is not a seat: expected a number from 1 to {MEXICAN}", text)


def parse_train(text: str) -> int:
    """A train: a seat, or ``MEXICAN`` for ``M``. Raises ``WordError``."""
    try:
        return tiles.parse_train(text)
    except ValueError as error:
        raise WordError(str(error), text) from None


def parse_tile(text: str) -> Tile:
    """A tile, either end first. Raises ``WordError``."""
    try:
        return tiles.parse_tile(text)
    except ValueError as error:
        raise WordError(str(error), text) from None


@lru_cache(_CACHED)
def parse_move(text: str) -> Move:
    """A move. Raises ``WordError``."""
    try:
        return Move.parse(text)
    except ValueError as error:
        raise WordError(str(error), text) from None


@lru_cache(_CACHED)
def event_text(event: Event) -> str:
    """An event as one word; ``parse_event`` reads it back."""
    kind, seat, tile, move = event
    if kind == "play":
        return f"{seat + 1}:{move}"
    if tile is not None and kind == "draw":
        return f"{seat + 1}:draw={tile}"
    return f"{seat + 1}:{kind}"


@lru_cache(_CACHED)
def parse_event(text: str) -> Event:
    """An event. Raises ``WordError``."""
    who, colon, what = text.partition(":")
    if not colon or not what:
        raise WordError(f"{text[:40]!r} is not an event: expected {EVENT_FORMS}", text)
    try:
        seat = parse_seat(who)
        if what in _PLAIN_EVENTS:
            return Event(what, seat)
        if what == "draw":
            return Event("draw", seat)
        if what.startswith("draw="):
            return Event("draw", seat, parse_tile(what[5:]))
        if "@" not in what:
            raise WordError(f"expected {EVENT_FORMS}")
        move = Move.parse(what)
        return Event("play", seat, move.tile, move)
    except ValueError as error:
        raise WordError(f"{text[:40]!r} is not an event: {error}", text) from None


def parse_each(parse: Callable[[str], _T], words: Sequence[str], what: str, first: int = 1) -> list[_T]:
    """``parse`` of every word. Raises ``WordError`` naming the entry, as ``what`` and its number."""
    try:
        return [parse(word) for word in words]
    except ValueError:
        for number, word in enumerate(words, first):
            try:
                parse(word)
            except ValueError as error:
                raise WordError(f"{what} {number}: {error}", word) from None
        raise


def tiles_text(tiles: Iterable[Tile]) -> str:
    """Tiles with blanks between them."""
    return " ".join([f"{low}-{high}" for low, high in tiles])


def parse_rules(words: Sequence[str]) -> Rules:
    """Rules from the preset and ``name=value`` words. Raises ``WordError``."""
    try:
        return _rules(" ".join(words))
    except RulesError as error:
        raise WordError(str(error), _blamed(words, str(error))) from None


@lru_cache(64)
def _rules(text: str) -> Rules:
    return Rules.parse(text)


def _blamed(words: Sequence[str], error: str) -> str:
    """The word that an error of the rules is about: the one whose name (last given) the error has first."""
    given = {word.partition("=")[0]: word for word in words} | {word: word for word in words}
    for named in re.findall(r"'([^']*)'|(\w+)=", error):
        name = named[0] or named[1]
        # The error cuts what is long.
        word = given.get(name) or next(
            (word for word in words if name and len(word) > 40 and word.startswith(name)), None
        )
        if word is not None:
            return word
    return words[0] if words else ""
