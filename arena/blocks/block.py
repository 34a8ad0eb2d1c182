"""A block: the deals of one game, played in every rotation of the seats.

It is the unit of work, of storage and of statistics. Everything in it follows from the plan and its number, so
that it can be played anywhere, and again.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from numpy.random import PCG64, Generator, SeedSequence

import caboose.bots as bots
from caboose.arena.blocks.contestants import Lineup
from caboose.arena.blocks.cpu_pinning import Pinning
from caboose.arena.blocks.results import BlockResult, Crash, GameInBlock
from caboose.arena.blocks.time_scaling import scaled
from caboose.engine.bot_api import Bot
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.gamelog import GameLog
from caboose.protocol.process.launch import PLAIN, Launch
from caboose.protocol.process.pipes import count_waiting
from caboose.protocol.process.process import EngineProcess, close_all
from caboose.protocol.referee.referee import GameResult, play_game
from caboose.protocol.referee.timing import TimeControl

FALLBACK: Final = "greedy"  # finishes the seats of players that failed
RESTARTS: Final = ("auto", "on", "off")
CRASHED: Final = ("lost", "replayed")
CRASHES: Final = ("start", "dead")  # the kinds of faults that are crashes
MOST_REPLAYS: Final = 2  # of one game; then it is lost all the same
KEPT: Final = 8  # built-in players that are kept from plan to plan, where the table is not larger

# The branches of a block's seed, one for each thing that is drawn by lot.
_DEALS, _SEATING = 0, 1
_GUESSABLE: Final = 64  # bits of a seed that can be tried out


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that decides how the blocks of a match are played.

    ``seed`` is a whole number of at least 0. No player is ever given it or anything made from it. ``on_fault`` is as in
    ``play_game``. ``restart`` says which engine processes are new in each game: all (``on``), the foreign ones
    (``auto``), or none (``off``); one with a fault is replaced, but under ``off`` it is out for the rest of the match.
    A game in which somebody crashed is ``lost`` for it, or ``replayed`` from its start, ``MOST_REPLAYS`` times at most.
    ``launch`` is how engines are started, and ``logs`` the folder, if any, in which each game has a file with all that
    they said.
    """

    rules: Rules
    lineup: Lineup
    control: TimeControl
    seed: int
    on_fault: str = "fallback"
    restart: str = "auto"
    crashed: str = "lost"
    in_process: bool = False
    recording: bool = False
    launch: Launch = PLAIN
    logs: Path | None = None


def deal_seed(seed: int, block: int) -> list[int]:
    """The seed of the deals of block ``block`` (from 0): 128 bits, independent of those of other blocks.

    A seed that nobody can guess, of more than 64 bits, goes through SHA-256: the deals of finished blocks are known to
    all, and must tell nothing of those to come.
    """
    if seed.bit_length() > _GUESSABLE:
        digest = hashlib.sha256(f"{seed} {block}".encode("ascii")).digest()
        return [int.from_bytes(digest[at : at + 4], "big") for at in range(0, 16, 4)]
    return [int(word) for word in _branch(seed, block, _DEALS).generate_state(4)]


def block_deals(plan: Plan, block: int) -> list[Deal]:
    """The deals of each game of a block, by round."""
    game = Game(plan.rules, seed=deal_seed(plan.seed, block))
    deals = []
    while not game.over:
        deals.append(game.deal)
        game.finish_round([0] * plan.rules.players)
    return deals


def seatings(plan: Plan, block: int) -> list[tuple[int, ...]]:
    """Who sits where in each game of a block: the entry of the line-up for each seat.

    The order round the table is drawn by lot for each block, so that no contestant always plays after the same
    one; it is then turned so that each entry has each seat once.
    """
    generator = Generator(PCG64(_branch(plan.seed, block, _SEATING)))
    order = generator.permutation(plan.lineup.players).tolist()
    return [tuple(order[-turn:] + order[:-turn]) for turn in range(len(order))]


class Bench:
    """The players of a plan, one for each entry of the line-up; ``players`` if they are given.

    A context manager: engine processes start when they are first needed, and are gone when it is left. Built-in bots
    are kept from game to game. A foreign engine is, unless the plan says otherwise, a new process in each: the deals of
    a block come again with the seats exchanged, and one that remembers would know the hands of the others.
    """

    def __init__(self, plan: Plan, players: Sequence[Bot] | None = None) -> None:
        lineup = plan.lineup
        self.players: list[Bot] = (
            [lineup.contestants[number].player(plan.control, plan.in_process, plan.launch) for number in lineup.entries]
            if players is None
            else list(players)
        )
        engines = [
            (player, lineup.contestants[number].builtin)
            for number, player in zip(lineup.entries, self.players, strict=True)
            if isinstance(player, EngineProcess)
        ]
        self.passing = [
            player for player, builtin in engines if plan.restart == "on" or (plan.restart == "auto" and not builtin)
        ]
        """The engines that live for one game."""
        self.fallback: Bot = bots.create(FALLBACK)
        if engines:
            count_waiting()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close_all(player for player in self.players if isinstance(player, EngineProcess))

    def unlog(self) -> None:
        """What the players say goes to no log any more."""
        for player in self.players:
            if isinstance(player, EngineProcess):
                player.log = None


class Players:
    """The players of one plan after another, for who plays blocks of many plans.

    A context manager, which closes engines when it is left. Built-in bots are kept for plans to come, the ``KEPT`` that
    were used last: to start the process of one takes longer than many a game. Engines are bound to cores as ``pinning``
    says, if it is given.
    """

    def __init__(self, pinning: Pinning | None = None) -> None:
        self._pinning = pinning or Pinning(())
        self._plan: Plan | None = None
        self._bench: Bench | None = None
        self._kept: dict[object, Bot] = {}  # the one used last is the last

    def bench(self, plan: Plan) -> Bench:
        """The players of ``plan``. Those of the last plan play no more, unless it is the same."""
        if self._bench is not None and self._plan == plan:
            return self._bench
        self._leave()
        self._plan, self._bench = plan, Bench(plan, self._seated(plan))
        return self._bench

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all engines."""
        self._leave()
        kept, self._kept = self._kept, {}
        close_all(player for player in kept.values() if isinstance(player, EngineProcess))

    def _leave(self) -> None:
        """Closes the engines of the last plan that are not kept."""
        if self._bench is not None:
            kept = {id(player) for player in self._kept.values()}
            engines = (player for player in self._bench.players if isinstance(player, EngineProcess))
            close_all(player for player in engines if id(player) not in kept)
            self._plan = self._bench = None

    def _seated(self, plan: Plan) -> list[Bot]:
        players: list[Bot] = []
        seats: Counter[int] = Counter()
        for seat, number in enumerate(plan.lineup.entries):
            contestant = plan.lineup.contestants[number]
            cpus = self._pinning.cpus(seat)
            key = (contestant, plan.control, plan.in_process, plan.launch, cpus, seats[number])
            seats[number] += 1
            player = self._kept.pop(key, None) or contestant.player(plan.control, plan.in_process, plan.launch, cpus)
            if contestant.builtin:
                self._kept[key] = player
            players.append(player)
        spare = list(self._kept)[: -max(KEPT, len(players))]
        dropped = [self._kept.pop(key) for key in spare]
        close_all(player for player in dropped if isinstance(player, EngineProcess))
        return players


def play_block(plan: Plan, bench: Bench, block: int, on_game: Callable[[], None]) -> BlockResult:
    """Plays a block with the players of ``bench``; ``on_game`` is called after each of its games."""
    games = []
    logs: dict[str, GameLog] = {}
    log = None
    try:
        for number, seating in enumerate(seatings(plan, block), 1):
            crashes: list[Crash] = []
            for replays in range(MOST_REPLAYS + 1):
                if plan.logs is not None:
                    name = f"block-{block + 1:05}-game-{number:02}" + (f"-replay-{replays}" if replays else "")
                    log = logs[name] = GameLog(_about(plan, block, number, seating))
                result = _play_once(plan, bench, block, seating, log)
                came = [
                    Crash(seat, fared.fault)
                    for seat, fared in enumerate(result.seats)
                    if fared.fault is not None and fared.fault.kind in CRASHES
                ]
                if plan.crashed != "replayed" or not came or replays == MOST_REPLAYS:
                    break
                crashes += came
            games.append(GameInBlock(seating, result, tuple(crashes)))
            on_game()
    finally:
        # As with records: all games of a block have the same deals, which nobody shall be able to look up.
        bench.unlog()
        for name, log in logs.items():
            assert plan.logs is not None
            log.save(plan.logs / f"{name}.log.gz")
    return BlockResult(block, tuple(games))


def play_scaled(plan: Plan, players: Players, block: int, on_game: Callable[[], None], scale: float) -> BlockResult:
    """Plays a block with ``players``, in which limits of time are ``scale`` times as long as the plan has them."""
    if scale != 1:
        plan = replace(plan, control=scaled(plan.control, scale))
    return replace(play_block(plan, players.bench(plan), block, on_game), scale=scale)


def _play_once(plan: Plan, bench: Bench, block: int, seating: Sequence[int], log: GameLog | None) -> GameResult:
    """One game of a block, and what becomes of its engines."""
    players = [bench.players[entry] for entry in seating]
    result = play_game(
        Game(plan.rules, seed=deal_seed(plan.seed, block)),
        players,
        plan.control,
        fallback=bench.fallback,
        on_fault=plan.on_fault,
        recording=plan.recording,
        log=log,
    )
    close_all(bench.passing)
    if plan.restart == "off":
        for player, fared in zip(players, result.seats, strict=True):
            if fared.fault is not None and isinstance(player, EngineProcess):
                player.bar("it is out after a fault, as engines are not restarted")
    return result


def _about(plan: Plan, block: int, number: int, seating: Sequence[int]) -> Iterator[str]:
    """The first lines of the log of game ``number`` (from 1) of a block."""
    yield f"game block {block + 1}, game {number}"
    yield f"rules {plan.rules}"
    yield f"control {plan.control}"
    for seat, entry in enumerate(seating, 1):
        contestant = plan.lineup.contestants[plan.lineup.entries[entry]]
        command = "" if plan.in_process and contestant.builtin else f" | command {shlex.join(contestant.command)}"
        yield f"player {seat} {contestant.label}{command}"


def _branch(seed: int, block: int, branch: int) -> SeedSequence:
    return SeedSequence(seed, spawn_key=(block, branch))
