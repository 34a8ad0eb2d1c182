"""How engines fare on a suite: each is asked every position, and what its moves cost is looked up."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from caboose.arena.blocks.contestants import Contestant
from caboose.arena.errors import RunError
from caboose.arena.suite.make import workers
from caboose.arena.suite.suite import Loss, Position, Suite
from caboose.engine.bot_api import Bot, Info, Limits
from caboose.engine.rules.moves import Move
from caboose.protocol.process.child import LackError
from caboose.protocol.process.launch import PLAIN, Launch
from caboose.protocol.process.process import EngineFault, EngineProcess, close_all
from caboose.protocol.referee.timing import TimeControl

SEED: Final = "Seed"  # the option from which engines have their chance, by custom
MOST_FAULTS: Final = 10  # of an engine; then it is asked no more
LEAST_NODES: Final = 16  # the smallest limits that choices are asked under to see when they are settled
LEAST_MOVETIME: Final = 1.0

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Entry:
    """An engine as it is to be scored: under ``control``, of which only limits of single moves count; before it under
    each of ``earlier``, smaller ones; with each of ``seeds`` as its option ``Seed``, or as it is, if there are none."""

    contestant: Contestant
    control: TimeControl
    earlier: tuple[TimeControl, ...] = ()
    seeds: tuple[int, ...] = ()

    @property
    def controls(self) -> tuple[TimeControl, ...]:
        """All limits, the largest last."""
        return (*self.earlier, self.control)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine said: its move and what that costs, in ``time`` ms. ``nodes`` in ``search_time`` ms are what it
    says of itself; 0 if nothing. With a ``fault`` there is no move."""

    move: Move | None
    loss: Loss | None
    time: float = 0.0
    nodes: int = 0
    search_time: float = 0.0
    fault: str = ""


Answers = tuple[tuple[Answer, ...], ...]  # to a position: a row for each limit, with one for each seed


@dataclass(frozen=True, slots=True)
class Score:
    """An entry's answers to ``positions`` (numbers in the suite, from 0), in that order.

    Where the entry failed, or was not asked any more, its figures are nan.
    """

    entry: Entry
    positions: tuple[int, ...]
    answers: tuple[Answers, ...] = field(repr=False)

    def losses(self, step: int = -1) -> npt.NDArray[np.float64]:
        """For each position what its moves under limit ``step`` cost in pips, the mean over the seeds."""
        return self._means(step, lambda loss: loss.pips)

    def agreement(self, step: int = -1) -> npt.NDArray[np.float64]:
        """For each position the share of seeds (0 to 1) with which it plays the best move, or one that may be as good:
        whose loss is within its noise."""
        return self._means(step, lambda loss: float(not loss.certain))

    def blunders(self, pips: float, step: int = -1) -> npt.NDArray[np.float64]:
        """For each position the share of seeds with which its move costs more than ``pips``, and is worse for sure."""
        return self._means(step, lambda loss: float(loss.certain and loss.pips > pips))

    def settled(self) -> npt.NDArray[np.float64]:
        """For each position and limit the share of seeds with which it agrees there and at all larger limits: an array
        of positions × limits."""
        agreeing = np.array([[[_agrees(answer) for answer in row] for row in answers] for answers in self.answers])
        later = np.logical_and.accumulate(agreeing[:, ::-1], axis=1)[:, ::-1]
        shares: npt.NDArray[np.float64] = later.mean(axis=2)
        return shares

    @property
    def faults(self) -> list[tuple[int, str]]:
        """The positions at which it failed, and how."""
        return [
            (position, answer.fault)
            for position, answers in zip(self.positions, self.answers, strict=True)
            for row in answers
            for answer in row
            if answer.fault
        ]

    def last_answers(self, step: int = -1) -> list[Answer]:
        """All answers under limit ``step`` that are moves."""
        return [answer for answers in self.answers for answer in answers[step] if answer.move is not None]

    def _means(self, step: int, value: Callable[[Loss], float]) -> npt.NDArray[np.float64]:
        rows = [answers[step] for answers in self.answers]
        return np.array([_mean([value(answer.loss) for answer in row if answer.loss is not None]) for row in rows])


def smaller(control: TimeControl) -> Iterator[TimeControl]:
    """Halves of a limit down to ``LEAST_NODES`` or ``LEAST_MOVETIME``, the smallest first."""
    halves = []
    while True:
        control = replace(
            control,
            nodes=None if control.nodes is None else control.nodes // 2,
            playouts=None if control.playouts is None else control.playouts // 2,
            movetime=None if control.movetime is None else control.movetime / 2,
        )
        counts = [count for count in (control.nodes, control.playouts) if count is not None]
        if min(counts, default=LEAST_NODES) < LEAST_NODES or (control.movetime or LEAST_MOVETIME) < LEAST_MOVETIME:
            break
        halves.append(control)
    yield from reversed(halves)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _agrees(answer: Answer) -> bool:
    return answer.loss is not None and not answer.loss.certain


# ---------------------------------------------------------------------------------------------------- asking


def score(
    suite: Suite,
    entries: Sequence[Entry],
    *,
    positions: Sequence[int] | None = None,
    concurrency: int = 1,
    in_process: bool = True,
    launch: Launch = PLAIN,
    most_faults: int = MOST_FAULTS,
    on_answer: Callable[[], None] = lambda: None,
) -> list[Score]:
    """Asks each of ``entries`` every position of ``suite``, or those with the numbers ``positions``, from 0.

    ``concurrency`` positions are asked at the same time, each thread with engines of its own; where nodes limit engines
    that are deterministic, the scores are the same for any number. ``in_process`` and ``launch`` say where built-in
    bots run and how engines are started. An entry with ``most_faults`` faults is asked no more. ``on_answer`` is called
    after each position and entry. All positions are independent: what is asked in several calls is as in one. The
    values of one position may be compared between entries: the ``losses`` of two scores differ by the position's noise
    less than each of them.

    Where it is interrupted, the ``InterruptedScore`` that is raised has the scores so far. Engines cannot make it fail
    (see ``Score.faults``); raises ``RunError`` where this machine lacks what it takes to start them.
    """
    numbers = tuple(range(len(suite.positions)) if positions is None else positions)
    gathered: list[list[Answers]] = [[] for _ in entries]
    stop = threading.Event()
    tasks = [(suite.positions[number], entry) for number in numbers for entry in range(len(entries))]
    interrupted = False
    with _Asking(entries, stop, in_process, launch, most_faults) as asking:
        try:
            with workers(concurrency, stop) as in_order:
                for (_, entry), answers in zip(tasks, in_order(asking.ask, tasks), strict=True):
                    gathered[entry].append(answers)
                    on_answer()
        except KeyboardInterrupt:
            interrupted = True
        except LackError as error:
            raise RunError(str(error)) from None
    scores = [
        Score(entry, numbers[: len(answers)], tuple(answers)) for entry, answers in zip(entries, gathered, strict=True)
    ]
    if interrupted:
        raise InterruptedScore(scores)
    return scores


class InterruptedScore(Exception):
    """It was interrupted; ``scores`` are those so far, of some of the positions."""

    def __init__(self, scores: list[Score]) -> None:
        super().__init__("interrupted")
        self.scores = scores


class _Asking:
    """The engines of all threads. A context manager, which closes them when no thread uses them any more."""

    def __init__(
        self, entries: Sequence[Entry], stop: threading.Event, in_process: bool, launch: Launch, most_faults: int
    ) -> None:
        self._entries = entries
        self._stop = stop
        self._in_process = in_process
        self._launch = launch
        self._most_faults = most_faults
        self._own = threading.local()
        self._engines: list[EngineProcess] = []
        self._faults: Counter[int] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close_all(self._engines)

    def ask(self, task: tuple[Position, int]) -> Answers:
        """All that an entry says to a position."""
        position, number = task
        entry = self._entries[number]
        return tuple(
            tuple(self._answer(number, position, control, seed) for seed in entry.seeds or (None,))
            for control in entry.controls
        )

    def _answer(self, number: int, position: Position, control: TimeControl, seed: int | None) -> Answer:
        if self._stop.is_set() or self._faults[number] >= self._most_faults:
            return _SILENCE
        try:
            return _ask(self._player(number), position, control, seed, self._stop)
        except EngineFault as fault:
            self._faults[number] += 1
            return Answer(None, None, fault=f"{fault.kind}: {fault.detail}")

    def _player(self, number: int) -> Bot:
        """The player of this thread for an entry, which runs."""
        players: dict[int, Bot] = self._own.__dict__.setdefault("players", {})
        if number not in players:
            entry = self._entries[number]
            players[number] = new = entry.contestant.player(entry.control, self._in_process, self._launch)
            if isinstance(new, EngineProcess):
                self._engines.append(new)
        player = players[number]
        if isinstance(player, EngineProcess):
            player.start()  # the first time, and after a fault
        return player


def _ask(player: Bot, position: Position, control: TimeControl, seed: int | None, stop: threading.Event) -> Answer:
    """What a player says to a position. Raises ``EngineFault``."""
    said: list[Info] = []
    limits = Limits(
        movetime=control.movetime,
        nodes=control.nodes,
        playouts=control.playouts,
        stop=stop,
        report=None if isinstance(player, EngineProcess) else said.append,
    )
    if seed is not None and SEED in player.options:
        player.set_option(SEED, str(seed))
    player.new_game()
    start = time.perf_counter()
    move = player.choose(position.place.view, limits)
    took = 1000 * (time.perf_counter() - start)
    if stop.is_set():
        return _SILENCE  # its answer may be one that was cut short
    if isinstance(player, EngineProcess):
        took = player.last_time
        said = [] if player.last_info is None else [player.last_info]
    info = said[-1] if said else Info()
    return Answer(move, position.losses[move], took, info.nodes, info.time)


_SILENCE: Final = Answer(None, None)
