"""What the search and the rules say of a position, and of the choices in a recorded round."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from caboose.bots.mcts import MctsBot
from caboose.engine.belief.belief import Belief, Cohort
from caboose.engine.bot_api import Candidate
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules, tiles_in_set
from caboose.engine.rules.tiles import TILES, Tile
from caboose.engine.search.search import INFERENCE, Search

BELIEF_SAMPLES: Final = 4000  # worlds behind a probability: it is off by less than 1.6 %, 95 times of 100
_FIRST_CHUNK: Final = 256  # playouts between two looks at the clock and for Ctrl-C, at first …
_CHUNK_SECONDS: Final = 0.03  # … and then so many as take that long
_SEEDS: Final = 1 << 63
_OTHER_WORLDS: Final = 1 << 62  # what makes another seed of one

Tick = Callable[[int], None]  # is told of playouts as they are done

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to think about a choice: playouts (``nodes``) or milliseconds (``movetime``), exactly one of them.

    Both are for the race of all moves, and again for the comparison after it.
    """

    nodes: int | None = None
    movetime: float | None = None
    threads: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A move and what is known of it.

    ``visits`` are its playouts in the race, ``share`` (0 to 1) is the part of all playouts that these are. ``score`` is
    the pips by which the seat ends below the others' mean, ± ``error`` (95 %), ``win`` (0 to 1) how often nobody ended
    with fewer pips. ``cost`` is how much worse than the best it is, in pips with the bonus for winning, ±
    ``cost_error``: from ``worlds`` worlds in which both were tried, other ones than those in which the best was chosen.
    What was not found out is None.
    """

    move: Move
    visits: int
    share: float
    score: float | None
    error: float | None
    win: float | None
    worlds: int
    cost: float | None
    cost_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice of ``seat`` among ``moves`` legal moves: the best first. ``played`` is what was played, if anything.

    ``nodes`` are the playouts of race and comparison, ``decided`` says that one move was left in the race.
    """

    seat: int
    moves: int
    candidates: tuple[Ranked, ...]
    played: Move | None
    nodes: int
    decided: bool
    seconds: float

    @property
    def best(self) -> Ranked:
        """The move that the search would play."""
        return self.candidates[0]

    @property
    def taken(self) -> Ranked | None:
        """The move that was played; None where there is none."""
        return next((ranked for ranked in self.candidates if ranked.move == self.played), None)

    @property
    def mistake(self) -> bool:
        """Whether what was played is worse than the best for sure: its cost is more than the error of that."""
        taken = self.taken
        return taken is not None and (taken.cost or 0.0) - (taken.cost_error or 0.0) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """What is known of a hand, or of the boneyard (``seat`` is None): ``pips`` are the expected ones.

    ``likely`` has its possible tiles with their probabilities, most likely first; ``without`` are the pips that none of
    its tiles has, ``cohorts`` what is proved of parts of it.
    """

    seat: int | None
    tiles: int
    pips: float
    likely: tuple[tuple[Tile, float], ...]
    without: tuple[int, ...] = ()
    cohorts: tuple[Cohort, ...] = ()


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What a seat can know of hidden tiles: the hands of the others by seat, then the boneyard.

    ``matrix`` is that of ``Belief.matrix``: seats and boneyard × tiles of the set, with so much ``inference``.
    """

    matrix: npt.NDArray[np.float64]
    hidden: tuple[Hidden, ...]
    inference: float


# ------------------------------------------------------------------------------------------------ a choice


@dataclass(slots=True)
class Thinking:
    """The analysis of the choice that a seat has: a race of all its moves, then a comparison in other worlds.

    Compared with the leader are the ``top`` moves of the race, and ``played``. The winner of the race has had luck on
    its side, or it might not have won; in worlds that nobody chose by, what is left of its advantage is real. ``run``
    may be interrupted at any time: ``result`` then is what was found. Raises ``ValueError`` where ``Search`` does.
    """

    view: Observation
    effort: Effort
    top: int = 1
    played: Move | None = None
    pool: ThreadPoolExecutor | None = None
    _race: Search = field(init=False)
    _comparison: Search | None = field(init=False, default=None)
    _seconds: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._race = Search(self.view, self.effort.seed, threads=self.effort.threads, **self._settings())

    def run(self, tick: Tick) -> None:
        """Thinks; ``tick`` is told how many playouts came to those before."""
        self._run(self._race, tick)
        compared = [candidate.move for candidate in self._candidates()[: self.top]]
        if self.played is not None and self.played not in compared:
            compared.append(self.played)
        if len(compared) > 1:
            self._comparison = Search(
                self.view,
                (self.effort.seed + _OTHER_WORLDS) % _SEEDS,
                threads=self.effort.threads,
                moves=compared,
                **self._settings() | {"confidence": math.inf},
            )
            self._run(self._comparison, tick)

    def _settings(self) -> dict[str, Any]:
        """As ``mcts`` searches under these rules."""
        return MctsBot().settings(self.view.rules)

    def _run(self, search: Search, tick: Tick) -> None:
        start = time.perf_counter()
        before, elapsed = -1, 0.0
        try:
            while search.nodes > before:
                if self.effort.movetime is not None and elapsed * 1000 >= self.effort.movetime:
                    return
                before = search.nodes
                chunk = max(_FIRST_CHUNK, search.racing, int(before / elapsed * _CHUNK_SECONDS) if elapsed else 0)
                search.run(chunk if self.effort.nodes is None else min(chunk, self.effort.nodes - before), self.pool)
                elapsed = time.perf_counter() - start
                tick(search.nodes - before)
        finally:
            self._seconds += time.perf_counter() - start

    def _candidates(self) -> list[Candidate]:
        """The moves of the race, best first, and what was played where there are so many that it was left out."""
        candidates = self._race.candidates()
        if self.played is not None and all(candidate.move != self.played for candidate in candidates):
            candidates.append(Candidate(self.played, 0))
        return candidates

    def result(self) -> Choice:
        """What was found so far."""
        candidates = self._candidates()
        compared: dict[Move, Candidate] = {}
        nodes = self._race.nodes
        if self._comparison is not None:
            compared = {c.move: c for c in self._comparison.candidates() if c.visits}
            nodes += self._comparison.nodes
        return Choice(
            seat=self.view.seat,
            moves=len(self.view.legal_moves()),
            candidates=tuple(self._ranked(c, candidates[0].move, compared.get(c.move)) for c in candidates),
            played=self.played,
            nodes=nodes,
            decided=self._race.decided,
            seconds=self._seconds,
        )

    def _ranked(self, raced: Candidate, best: Move, compared: Candidate | None) -> Ranked:
        found = raced if compared is None else compared
        cost: tuple[float, float] | tuple[None, None] = (None, None)
        if raced.move == best:
            cost = 0.0, 0.0
        elif compared is not None and self._comparison is not None:
            cost = self._comparison.difference(best, raced.move)
        return Ranked(
            move=raced.move,
            visits=raced.visits,
            share=raced.visits / max(1, self._race.nodes),
            score=found.score,
            error=found.error,
            win=found.win,
            worlds=0 if compared is None else compared.visits,
            cost=cost[0],
            cost_error=cost[1],
        )


@contextmanager
def thread_pool(threads: int) -> Iterator[ThreadPoolExecutor | None]:
    """What ``Thinking`` needs for so many threads."""
    if threads == 1:
        yield None
    else:
        with ThreadPoolExecutor(threads - 1) as pool:
            yield pool


# ------------------------------------------------------------------------------------------------- beliefs


def beliefs_of(view: Observation, seed: int = 0, *, inference: float = INFERENCE) -> Beliefs:
    """What the seat can know of hidden tiles, and guess from how the others played (``inference`` as in ``Search``).

    Raises ``ValueError`` when no deal agrees with what it has seen.
    """
    belief = Belief(view)
    matrix = belief.matrix(BELIEF_SAMPLES, seed, inference)
    others = [seat for seat in range(view.rules.players) if seat != view.seat]
    hands = [_hidden(view.rules, matrix[seat], seat, belief.cohorts(seat)) for seat in others]
    return Beliefs(matrix, (*hands, _hidden(view.rules, matrix[-1], None, ())), inference)


def _hidden(rules: Rules, row: npt.NDArray[np.float64], seat: int | None, cohorts: tuple[Cohort, ...]) -> Hidden:
    tiles = TILES[: tiles_in_set(rules.set)]
    possible = [(tile, float(row[tile.id])) for tile in tiles if row[tile.id] > 0]
    without = set(cohorts[0].without).intersection(*(cohort.without for cohort in cohorts)) if cohorts else set()
    return Hidden(
        seat=seat,
        tiles=round(float(row.sum())),
        pips=sum(share * tile_pips(rules, tile) for tile, share in possible),
        likely=tuple(sorted(possible, key=lambda entry: (-entry[1], -entry[0].id))),
        without=tuple(sorted(without)),
        cohorts=cohorts,
    )


def tile_pips(rules: Rules, tile: Tile) -> int:
    """What a tile in a hand counts."""
    return rules.blank if tile == (0, 0) else tile.low + tile.high


def hand_pips(rules: Rules, hand: Sequence[Tile]) -> int:
    """What a hand counts."""
    return sum(tile_pips(rules, tile) for tile in hand)


# --------------------------------------------------------------------------------------- choices of a game


@dataclass(frozen=True, slots=True)
class Decided:
    """A choice in a recorded game: in which round (from 1), after how many of its events."""

    round: int
    event: int
    choice: Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSummary:
    """The choices of a seat: how many, in how many the search would have played otherwise, and how many were mistakes.

    ``cost`` is the sum of what its moves cost, also of those that are no mistakes, ± ``error`` (95 %): chance makes
    some too dear and some too cheap, and so evens out.
    """

    seat: int
    choices: int
    others: int
    mistakes: int
    cost: float
    error: float


def summary(seat: int, decided: Sequence[Decided]) -> SeatSummary:
    """Sums up what was found of a seat."""
    choices = [entry.choice for entry in decided if entry.choice.seat == seat]
    taken = [ranked for ranked in (choice.taken for choice in choices) if ranked is not None]
    return SeatSummary(
        seat=seat,
        choices=len(choices),
        others=sum(choice.played != choice.best.move for choice in choices),
        mistakes=sum(choice.mistake for choice in choices),
        cost=sum(ranked.cost or 0.0 for ranked in taken),
        error=math.sqrt(sum((ranked.cost_error or 0.0) ** 2 for ranked in taken)),
    )
