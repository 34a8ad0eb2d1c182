"""Our playouts and the yardstick's, measured in turn in one sitting.

A machine that does other work too is faster in one second than in the next, so single figures mean little. Ratios of
runs that follow each other mean more, and the median of several is what is reported. Where one core works, its own time
is what counts, and not the time that others took it away.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Final

from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.rules import Rules
from grid import ROOT, build_flags, yardstick_rules

TABLES: Final = ((9, 2, 15), (12, 4, 15), (18, 14, 11))  # set, players, hand
FIRST_GUESS: Final = 2048  # rounds from which the rate is guessed
MORE_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """A run: how many rounds and plays, in how many seconds of processor time, and of time on the wall (0 if that was
    not measured)."""

    rounds: int
    plays: int
    seconds: float
    wall: float = 0.0

    @property
    def rounds_per_second(self) -> float:
        """Of processor time."""
        return self.rounds / self.seconds

    @property
    def nanoseconds_per_play(self) -> float:
        """Of processor time."""
        return self.seconds * 1e9 / self.plays


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratios of runs that followed each other."""

    median: float
    least: float
    most: float

    @staticmethod
    def of(ours: list[float], theirs: list[float]) -> Ratio:
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        return Ratio(median(ratios), min(ratios), max(ratios))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}–{self.most:.2f})"


@dataclass(frozen=True, slots=True)
class TableResult:
    """All runs at one table, by what ran: ``ours``, ``planner``, ``threads``, ``same`` (the yardstick with the flags of
    our build) and ``native`` (the yardstick built for this machine)."""

    top: int
    players: int
    hand: int
    runs: dict[str, list[Timing]]

    @property
    def name(self) -> str:
        return f"{self.top}/{self.players}/{self.hand}"

    def rates(self, what: str) -> list[float]:
        """Rounds per second, run by run."""
        return [timing.rounds_per_second for timing in self.runs[what]]

    def costs(self, what: str) -> list[float]:
        """Nanoseconds per play, run by run."""
        return [timing.nanoseconds_per_play for timing in self.runs[what]]

    def ratio(self, what: str, to: str) -> Ratio:
        """Of rounds per second of processor time."""
        return Ratio.of(self.rates(what), self.rates(to))

    def gain(self, what: str, over: str) -> Ratio:
        """Of rounds per second on the wall."""
        return Ratio.of(*[[timing.rounds / timing.wall for timing in self.runs[name]] for name in (what, over)])


def is_native() -> bool:
    """Whether the modules that are measured were built for this very machine."""
    return "-march=native" in build_flags()


def run_yardstick(kind: str, table: tuple[int, int, int], amount: str) -> Timing:
    """A run of the yardstick that was built as ``kind`` (portable or native) for ``amount``: seconds, or rounds as in
    ``1000r``."""
    words = 2 if table[0] <= 12 else 3
    command = [f"build/yardstick-{kind}-{words}", *map(str, table), amount]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return Timing(int(said[1]), int(said[3]), float(said[5]))


def run_ours(rules: Rules, policy: str, seconds: float, seed: int, threads: int = 1) -> Timing:
    """A run of about so many seconds."""
    guess = _timed(rules, FIRST_GUESS, policy, seed, 1)
    rounds = max(1, int(guess.rounds_per_second * seconds * threads))
    return _timed(rules, rounds, policy, seed, threads)


def _timed(rules: Rules, rounds: int, policy: str, seed: int, threads: int) -> Timing:
    wall, busy = time.perf_counter(), time.process_time()
    result = simulate(rules, rounds, policy, seed, threads)
    busy, wall = time.process_time() - busy, time.perf_counter() - wall
    return Timing(rounds, int(result.plays.sum()), busy, wall)


def sit(runs: int, seconds: float, progress: Callable[[str], None]) -> list[TableResult]:
    """Measures all tables ``runs`` times, everything about ``seconds`` long; ``progress`` hears what is going on."""
    results = [TableResult(*table, {}) for table in TABLES]
    for number in range(1, runs + 1):
        for table, result in zip(TABLES, results, strict=True):
            progress(f"Run {number} of {runs}, {result.name}")
            for what, timing in _one_run(table, seconds, number).items():
                result.runs.setdefault(what, []).append(timing)
    return results


def _one_run(table: tuple[int, int, int], seconds: float, seed: int) -> dict[str, Timing]:
    rules = yardstick_rules(*table)
    same = run_yardstick("native" if is_native() else "portable", table, f"{seconds}")
    ours = run_ours(rules, "random", seconds, seed)
    native = same if is_native() else run_yardstick("native", table, f"{seconds}")
    return {
        "same": same,
        "ours": ours,
        "native": native,
        "threads": run_ours(rules, "random", seconds, seed, MORE_THREADS),
        "planner": run_ours(rules, "planner", seconds, seed),
    }
