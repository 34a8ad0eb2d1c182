"""A study from its first block, or from where it was, to its verdict."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.block_order import block_seed
from caboose.arena.blocks.contestants import Contestant, Lineup
from caboose.arena.blocks.results import BlockResult
from caboose.arena.console.output import put_notes
from caboose.arena.errors import CallError, PlayError, RunError, reason
from caboose.arena.execution.executors import Executor, Task
from caboose.arena.execution.worker import Work
from caboose.arena.tuning.config import SELF, GamesSpec, StudySpec
from caboose.arena.tuning.function_objectives import Measure
from caboose.arena.tuning.methods import fewest, make_search, start
from caboose.arena.tuning.objective import block_worth, fair_worth
from caboose.arena.tuning.sample_tasks import Sampled
from caboose.arena.tuning.search import Job, Recommendation, Search
from caboose.arena.tuning.space import Space, Values
from caboose.arena.tuning.store import Piece, Played, StudyStore
from caboose.arena.tuning.verification import Verdict, verification

MOST_FAULTS: Final = 6  # samples that end in a fault, where all have so far; then it is not the values


@dataclass(frozen=True, slots=True)
class Result:
    """What a study came to. ``verdict`` is None where the current values are recommended, or none was wanted."""

    recommendation: Recommendation
    verdict: Verdict | None


class Watcher(Protocol):
    """Somebody who follows a study."""

    def begin(self, study: Study) -> None:
        """It is going to play."""

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, piece: Piece, played: Played) -> None:
        """A block was played and is kept."""


@dataclass(slots=True)
class Study:
    """A study and how far it is. ``known`` has all blocks that were played; ``wanted`` are those that are to be played
    next, before the search can go on. ``measure`` makes samples, where no games are played and something is to be
    measured. ``result`` is there when it is over."""

    spec: StudySpec
    space: Space
    search: Search
    measure: Measure | None = None
    known: dict[Piece, Played] = field(default_factory=dict)
    wanted: deque[Piece] = field(default_factory=deque)
    recommended: Recommendation | None = None
    result: Result | None = None
    games: int = 0
    faults: int = 0
    fault: str = ""
    _flow: Generator[Sequence[Job], Sequence[float | None], Result] | None = None
    _asked: Sequence[Job] = ()

    # --- how it goes on ---

    def load(self, store: StudyStore) -> None:
        """Takes what was played, and goes on from there to the first block that is missing."""
        for piece, played in store.blocks():
            self._take(piece, played)
        self._flow = self._steps()
        try:
            self._asked = next(self._flow)
        except StopIteration as stop:
            self.result = stop.value
            return
        self._advance()

    def add(self, piece: Piece, played: Played) -> None:
        """A block was played; goes on when it was the last that was waited for."""
        self._take(piece, played)
        if not self.wanted and all(each in self.known or self.free(each) for each in self._pieces(self._asked)):
            self._advance()

    def _take(self, piece: Piece, played: Played) -> None:
        self.known[piece] = played
        self.games += played.games
        self.faults += played.faults
        self.fault = played.fault or self.fault

    def _steps(self) -> Generator[Sequence[Job], Sequence[float | None], Result]:
        spec = self.spec
        self.recommended = found = yield from start(self.search, spec.method)
        if found.values == self.space.current or not spec.verify.blocks:
            return Result(found, None)
        verdict = yield from verification(
            found.values,
            self.space.current,
            expected=found.gain.mean,
            gain=spec.verify.gain,
            most=spec.verify.blocks,
            alpha=spec.verify.alpha,
            beta=spec.verify.beta,
            cost=self.cost,
        )
        return Result(found, verdict)

    def _advance(self) -> None:
        """Runs the search until it asks for something that is not known, or ends."""
        assert self._flow is not None
        while True:
            missing = [each for each in self._pieces(self._asked) if each not in self.known and not self.free(each)]
            if missing:
                self.wanted = deque(dict.fromkeys(missing))
                return
            try:
                self._asked = self._flow.send([self._worth(job, self._asked) for job in self._asked])
            except StopIteration as stop:
                self.result = stop.value
                return

    # --- what a job is ---

    @property
    def lists(self) -> int:
        """How many blocks a unit is."""
        return max(1, len(self.spec.lists))

    def cost(self, job: Job) -> int:
        """How many blocks a job takes."""
        return sum(not self.free(piece) for piece in self._pieces([job]))

    def free(self, piece: Piece) -> bool:
        """Whether the worth of a block is known without playing it: the current values against themselves."""
        return bool(self.spec.lists) and piece.values == self.space.current and self.opponent(piece) == SELF

    def opponent(self, piece: Piece) -> str:
        """Who is played against in a block: each of the pool in turn."""
        pool = self.spec.lists[piece.list].pool
        return pool[piece.number % len(pool)]

    def _pieces(self, jobs: Sequence[Job]) -> list[Piece]:
        return [Piece(job.fresh, job.values, list, job.unit) for list in range(self.lists) for job in jobs]

    def _worth(self, job: Job, asked: Sequence[Job]) -> float | None:
        """The mean over the lists by their weights; None where one of them is not known.

        A block in which the candidate had a fault is worth no more than the worst of those on the same deals that were
        ``asked`` for together: else the values with which an engine crashes could look better than those with which it
        plays, as the fallback player finished its games. A sample with a fault has no worth of its own."""
        values: list[float | None] = []
        for piece in self._pieces([job]):
            value = self._value(piece)
            if piece in self.known and self.known[piece].lost and (value is not None or not self.spec.games):
                same = [self._value(piece._replace(values=each.values)) for each in asked if each[1:] == job[1:]]
                value = min((each for each in same if each is not None), default=None)
            values.append(value)
        weights = [each.weight for each in self.spec.lists] or [1.0]
        total = 0.0
        for value, weight in zip(values, weights, strict=True):
            if value is None:
                return None
            total += value * weight
        return total / sum(weights)

    def _value(self, piece: Piece) -> float | None:
        if self.free(piece):
            return fair_worth(self.spec.objective, self.spec.lists[piece.list].rules.players)
        return self.known[piece].value

    def work(self, piece: Piece) -> Work:
        """A block or a sample as it is to be played or measured."""
        if self.measure is None:
            return Task(self._plan(piece), piece.number)
        number = 2 * piece.number + piece.fresh  # fresh samples are others
        return self.measure(dict(self.space.options(piece.values)), number)

    def _plan(self, piece: Piece) -> Plan:
        """How a block is played."""
        games: GamesSpec = self.spec.lists[piece.list]
        return Plan(
            rules=games.rules,
            lineup=Lineup(
                (self._candidate("candidate", piece.values), self._opponent(self.opponent(piece))),
                (0, *[1] * (games.rules.players - 1)),
            ),
            control=games.control,
            seed=block_seed(self.spec.seed, f"tune {games.name}{' fresh' if piece.fresh else ''}"),
            on_fault=games.on_fault,
            crashed=games.crashed,
            in_process=self.spec.in_process,
        )

    def _candidate(self, label: str, values: Values) -> Contestant:
        options = dict(self.spec.engine.options) | dict(self.space.options(values))
        contestant = self.spec.engine.contestant(self.spec.folder)
        return Contestant(label, contestant.entrant, tuple(options.items()), launch=contestant.launch)

    def _opponent(self, name: str) -> Contestant:
        if name == SELF:
            return self._candidate(SELF, self.space.current)
        return self.spec.opponents[name].contestant(self.spec.folder)


def make_study(spec: StudySpec, space: Space, measure: Measure | None = None) -> Study:
    """A study of which nothing is known yet. Raises ``CallError`` when its budget does not suffice for a batch."""
    price = max(1, len(spec.lists))
    search = make_search(
        space, seed=spec.seed, budget=spec.blocks, cost=lambda job: price, price=price, batch=spec.batch
    )
    if spec.blocks < fewest(search, spec.method):
        raise CallError(
            f"{spec.path}: blocks: {spec.blocks}, expected at least {fewest(search, spec.method)} for {search.batch} "
            f"candidates at once (batch)"
        )
    study = Study(spec, space, search, measure)
    search.cost = study.cost
    return study


# ------------------------------------------------------------------------------------------------ playing


def play(study: Study, store: StudyStore, executor: Executor, watcher: Watcher, seconds: float | None = None) -> str:
    """Plays or measures what is left with ``executor``, and closes it; begins nothing after ``seconds``. Returns why it
    ended early, or nothing; in any case what was played is kept. Raises ``RunError`` when it cannot be kept, and where
    nothing can be measured."""
    begun: dict[Work, Piece] = {}
    end = None if seconds is None else time.monotonic() + seconds

    def works() -> Iterator[Work | None]:
        while study.result is None and _open(end):
            if study.wanted:
                piece = study.wanted.popleft()
                work = study.work(piece)
                begun[work] = piece
                yield work
            elif begun:
                yield None
            else:
                return

    def give_up(work: Work, why: str) -> None:
        what = f"{study.spec.objective}: " if study.measure is not None else ""
        raise PlayError(f"{what}{work.label}: {why}")

    try:
        watcher.begin(study)
        with executor:
            for work, outcome in executor.run(works(), watcher.game_over, give_up):
                piece = begun.pop(work)
                played = _played(study, piece, outcome)
                store.add(piece, played)
                study.add(piece, played)
                watcher.block_over(piece, played)
                if study.measure is not None and played.lost:
                    _check_hope(study)
    except KeyboardInterrupt:
        return "interrupted"
    except (OSError, PlayError) as error:
        return reason(error)
    return ""


def _played(study: Study, piece: Piece, outcome: BlockResult | Sampled) -> Played:
    """What came of a piece, as it is kept. Raises ``RunError`` for what is not to be kept."""
    spec = study.spec
    if not isinstance(outcome, Sampled):
        return block_worth(spec.objective, outcome, spec.lists[piece.list].rules.players)
    if outcome.printed:
        put_notes(outcome.printed)  # stdout is for what comes of the study
    if outcome.problem:
        raise RunError(outcome.problem)
    if outcome.fault and piece == Piece(False, study.space.current, 0, 0):
        raise RunError(
            f"{spec.engine.name}: it fails with its current values ({study.space.told(piece.values)}): {outcome.fault}"
        )
    failed = int(bool(outcome.fault))
    return Played(outcome.value, 0, failed, outcome.fault, failed)


def _check_hope(study: Study) -> None:
    """Raises ``RunError`` when all samples so far, of some, have ended in a fault."""
    if len(study.known) >= MOST_FAULTS and all(played.lost for played in study.known.values()):
        raise RunError(
            f"{study.spec.engine.name}: it failed in all of the {len(study.known)} samples so far, the last time: "
            f"{study.fault}"
        )


def _open(end: float | None) -> bool:
    """Whether another block may begin."""
    return end is None or time.monotonic() < end
