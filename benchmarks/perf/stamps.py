"""How far the referee's stamps are off: the time from an engine's answer to the moment that we take for it.

``python benchmarks/perf/stamps.py`` plays games at the same time, as ``caboose match --concurrency`` does: each in a
process of its own, against an engine that says by the system's monotonic clock when it wrote each answer. The engine
sleeps for a while before it answers, or works as long (``--busy``), which is the hard case where there are more games
than processors.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from caboose.bots import create
from caboose.engine.bot_api import Bot, Limits
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.pipes import count_waiting
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from referee import build_engine

RULES: Final = Rules.of("family", 4)
CONTROL: Final = TimeControl(movetime=1000)
MOST_ERROR: Final = 1000.0  # µs, of 99 answers in 100


class Stamped(EngineProcess):
    """Compares the stamp of each answer with what the engine itself wrote down. Both use the same clock."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command)
        self.errors: list[float] = []

    def ask(self, observation: Observation, limits: Limits, allowed: float | None, legal: Sequence[Move]) -> Move:
        move = super().ask(observation, limits, allowed, legal)
        info = self.last_info
        assert info is not None and self._talk is not None
        # It says when it answers just before it does, in the same write: as nodes, in nanoseconds.
        self.errors.append(self._talk.channel.stamp * 1e6 - info.nodes / 1e3)
        return move


def play(command: list[str], games: int, seed: int) -> list[float]:
    """Plays games with one engine among three bots, and gives the errors of its stamps in µs."""
    if os.getsid(0) != os.getpid():  # as a worker of a match, unless it has played before
        os.setsid()
    count_waiting()
    with Stamped(command) as engine:
        for number in range(games):
            bots: list[Bot] = [engine, *[create("random") for _ in range(3)]]
            result = play_game(Game(RULES, [seed, number]), bots, CONTROL, fallback=create("greedy"))
            assert not result.tainted, result.seats[0].fault
    return engine.errors


def main() -> int:
    """Prints the percentiles; 1 where a promise of docs/explanation/referee.md is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=8, help="games at the same time")
    parser.add_argument("--games", type=int, default=5, help="games of 13 rounds in each process")
    parser.add_argument("--think", type=float, default=5.0, metavar="MS", help="before each answer")
    parser.add_argument("--busy", action="store_true", help="the engine works while it thinks, and does not sleep")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [*build_engine(Path(folder)), "busy" if arguments.busy else "sleep", str(arguments.think)]
        context = multiprocessing.get_context("spawn")
        calls = [(command, arguments.games, seed) for seed in range(arguments.at_once)]
        with context.Pool(arguments.at_once) as pool:
            started = time.monotonic()
            errors = np.concatenate(pool.starmap(play, calls, chunksize=1))
    off = np.abs(errors)
    p50, p99, most = np.percentile(off, (50, 99, 100))
    how = "working" if arguments.busy else "asleep"
    print(
        f"{len(errors)} answers, {arguments.at_once} games at once, {arguments.think:g} ms {how}, "
        f"{time.monotonic() - started:.0f} s"
    )
    print(f"stamp error, µs: p50 {p50:.0f}, p99 {p99:.0f}, most {most:.0f} (p99 at most {MOST_ERROR:.0f})")
    early, late = [np.count_nonzero(error > MOST_ERROR) for error in (-errors, errors)]
    print(f"off by more than {MOST_ERROR:.0f}: {early} too early, {late} too late")
    return 0 if p99 <= MOST_ERROR else 1


if __name__ == "__main__":
    sys.exit(main())
