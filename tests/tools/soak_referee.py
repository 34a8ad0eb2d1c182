"""Tries the referee for as long as one likes: ``python tests/tools/soak_referee.py --seconds 60``.

Matches of random kinds are played, many at once, by engines that misbehave in every way that we know (``misdeeds.py``)
beside good ones; each verdict is judged (``soaked.py``), and after each match it is looked at what is left. Now and
then a referee is killed. Each match has a name, so that it can be played again. Exit codes: 0 nothing found, 1
something found, 2 a wrong call.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import gc
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, Protocol

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "support"))

from misdeeds import MISDEEDS
from players import wait_until
from soak_matches import GONE, GOOD, Report, marked, play_match

TELL_EVERY: Final = 60.0  # seconds
KILL_EVERY: Final = 15.0  # seconds between two referees that are killed
SILENT: Final = 300.0  # seconds after which a referee must be caught in a loop
LOOK_EVERY: Final = 50  # matches
MOST_GROWTH: Final = 16 << 20  # bytes of a referee, in the second half of its life: it has seen everything by then
SLOWEST_END: Final = 20.0  # seconds from a limit to the end of an engine; promised is 1, on a machine that has time
PROMISED: Final = 1.0
LEFT: Final = ("processes", "children", "descriptors", "files")
MOST_SHOWN: Final = 20
SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


# A job is a referee: a process that plays one match after another.


class End(Protocol):
    """When it is over, by ``time.monotonic``. It is shared, and may be moved."""

    value: float


def work(name: str, end: End, folder: Path, pipe: Connection) -> None:
    """Plays matches until the ``end``; sends a report of each."""
    os.setsid()  # as the workers of a match; and Ctrl-C at a terminal is for the parent
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tempfile.tempdir = str(folder)
    parent, number = os.getppid(), 0
    used: list[int] = []
    with suppress(KeyboardInterrupt):
        while time.monotonic() < end.value and os.getppid() == parent:
            report = play_match(f"{name}.{number}")
            number += 1
            if number % LOOK_EVERY == 0:
                used.append(memory())
                report.memory = tuple(used)
            pipe.send(report)


def memory() -> int:
    """Bytes that this process uses, without what the C library keeps for later."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


class Job:
    """A referee as its parent sees it."""

    def __init__(self, name: str, end: End) -> None:
        context = multiprocessing.get_context("fork")
        self.name = name
        self.pipe, other = context.Pipe(duplex=False)
        self.heard = time.monotonic()
        self.killed_by = ""
        self._folder = Path(tempfile.mkdtemp(prefix="caboose-soak-"))
        self._process = context.Process(target=work, args=(name, end, self._folder, other))
        self._process.start()
        other.close()

    def receive(self) -> Report | None:
        """A report that has come; None when the job has ended."""
        self.heard = time.monotonic()
        try:
            report = self.pipe.recv()
        except (EOFError, OSError):
            return None
        assert isinstance(report, Report)
        return report

    def kill(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        self.killed_by = number.name
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def finish(self) -> Report:
        """Waits for its end; what is left of it."""
        report = Report(killed=bool(self.killed_by))
        self._process.join()
        self.pipe.close()
        mark = f"{self._process.pid}/"
        wait_until(lambda: not marked(mark), GONE)
        report.left["processes"] += len(marked(mark))
        if not self.killed_by:
            report.left["files"] += len(list(self._folder.iterdir()))
            if self._process.exitcode:
                report.wrong.append(f"referee {self.name} has died: exit code {self._process.exitcode}")
        elif self.killed_by == "SIGINT":
            report.left["files"] += len(list(self._folder.iterdir()))
        self._process.close()
        shutil.rmtree(self._folder)
        return report


def make_end(when: float) -> End:
    """An end that can be moved. Without a lock, which a referee that is killed might hold."""
    end: End = multiprocessing.get_context("fork").Value("d", when, lock=False)
    return end


def soak(seed: int, seconds: float, games: float, jobs: int) -> Report:
    """Runs referees until the time is over, or there were as many games, or Ctrl-C."""
    began = told = killed = time.monotonic()
    end = make_end(began + seconds)
    rng = random.Random(seed)
    total = Report()
    names = (f"{seed}.{number}" for number in range(sys.maxsize))
    running = {job.pipe: job for job in [Job(next(names), end) for _ in range(jobs)]}
    while running:
        try:
            for pipe in wait(list(running), timeout=1.0):
                assert isinstance(pipe, Connection)
                if (report := running[pipe].receive()) is not None:
                    total.add(report)
                    continue
                total.add(running.pop(pipe).finish())
                if time.monotonic() < end.value:
                    job = Job(next(names), end)
                    running[job.pipe] = job
            now = time.monotonic()
            for job in running.values():
                if now - job.heard > SILENT:
                    total.wrong.append(f"referee {job.name} has been silent for too long")
                    job.kill(signal.SIGKILL)
            if now - killed > KILL_EVERY and now < end.value:
                killed = now
                _kill_one(list(running.values()), rng)
            if total.games >= games:
                end.value = 0.0
            if now - told > TELL_EVERY:
                told = now
                print(f"{now - began:.0f} s: {total.games:,} games, {len(total.wrong)} wrong", flush=True)
        except KeyboardInterrupt:
            end.value = 0.0
    return total


def _kill_one(jobs: Sequence[Job], rng: random.Random) -> None:
    """Kills a referee, in whatever it does. Never the first one, whose memory shall have time to grow."""
    if others := [job for job in jobs[1:] if not job.killed_by]:
        rng.choice(others).kill(rng.choice(SIGNALS))


def show(report: Report, heading: str) -> bool:
    """Prints what was done; says whether all was well."""
    print(f"{heading}\n\n{'an engine that':42} {'expected':10} {'recorded':>8}  otherwise")
    for misdeed in (GOOD, *MISDEEDS):
        expected = misdeed.kind or "no fault"
        outcomes = {outcome: n for (name, outcome), n in sorted(report.verdicts.items()) if name == misdeed.name}
        others = [f"{outcome} {n:,}" for outcome, n in outcomes.items() if outcome != expected]
        print(f"{misdeed.name:42} {expected:10} {outcomes.get(expected, 0):8,}  {', '.join(others)}".rstrip())
    kinds = collections.Counter[str]()
    for (_, outcome), n in report.verdicts.items():
        kinds[outcome] += n
    print("\nof all engines:", ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common()))
    print(f"wrong verdicts: {len(report.wrong)}")
    for wrong in report.wrong[:MOST_SHOWN]:
        print(f"  {wrong}")
    print("left behind:", ", ".join(f"{what} {report.left[what]}" for what in LEFT))
    print(f"referees killed: {report.killed}")
    print(f"replies within the margin: {report.overruns:,}")
    _show_times("from an answer to its stamp", report.stamps)
    _show_times("from a limit to the end of the process", report.ended_after)
    print(f"  more than {PROMISED:g} s: {sum(after > PROMISED for after in report.ended_after)}")
    used = report.memory or (0,)
    early, half, last = used[0], used[len(used) // 2], used[-1]
    print(
        f"memory of the referee that lived longest: {early / 2**20:.1f} MiB after {LOOK_EVERY} matches, "
        f"{half / 2**20:.1f} half way, {last / 2**20:.1f} after {len(used) * LOOK_EVERY}"
    )
    slow = max(report.ended_after, default=0.0) > SLOWEST_END
    return not (report.wrong or any(report.left.values()) or last - half > MOST_GROWTH or slow)


def _show_times(what: str, seconds: Sequence[float]) -> None:
    if seconds:
        p50, p99, most = np.percentile(seconds, (50, 99, 100)) * 1000
        print(f"{what}: half within {p50:.3f} ms, 99 of 100 within {p99:.2f} ms, all within {most:.0f} ms")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Try the referee with engines that misbehave at random.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--games", type=float, default=float("inf"), help="or until there were as many games")
    parser.add_argument("--jobs", type=int, default=8, help="matches at the same time (default 8)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other matches (default 1)")
    parser.add_argument("--match", help="play only the match of this name")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: expected at least 1")
    began = time.monotonic()
    if arguments.match is not None:
        report = play_match(arguments.match)
    else:
        report = soak(arguments.seed, arguments.seconds, arguments.games, arguments.jobs)
    heading = (
        f"{report.games:,} games in {report.matches:,} matches and {report.replays:,} replays, {report.moves:,} moves; "
        f"{time.monotonic() - began:.0f} s, {arguments.jobs} at once, seed {arguments.seed}"
    )
    return 0 if show(report, heading) else 1


if __name__ == "__main__":
    sys.exit(main())
