"""What the referee costs: processor time per move beyond the rules, beside a bare round trip over two pipes.

``python benchmarks/perf/referee.py`` compiles a trivial engine in C, which plays the first legal move, and lets it play
games against copies of itself. All that runs is bound to one core, so that moves per second are those of a core.
Other work of the machine makes all of it slower, never faster: so the least of several runs is what counts, and the
median stands beside it.
"""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from caboose.bots import create
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.pipes import count_waiting
from caboose.protocol.process.process import EngineProcess, close_all
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from grid import ROOT

ENGINE: Final = ROOT / "benchmarks" / "perf" / "first_move.c11"
RULES: Final = Rules.of("family", 4)
CONTROL: Final = TimeControl(movetime=1000)
PLAYERS: Final = 4
TURNS: Final = 9  # how often each thing is measured
ROUND_TRIPS: Final = 10_000
MOST_COST: Final = 15.0  # µs of the referee for a move, beyond the rules
LEAST_RATE: Final = 20_000  # moves a second on a core, the engine's work included


class Cost(NamedTuple):
    """Microseconds for a move: of this process's processor time, and on the wall."""

    cpu: float
    wall: float


def build_engine(folder: Path) -> list[str]:
    """The command of the engine in C, compiled into ``folder``."""
    program = folder / "first_move"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", str(program), "-x", "c", str(ENGINE)], check=True)
    return [str(program)]


def timed(work: Callable[[], int]) -> Cost:
    """What ``work`` costs for each of the moves that it says it made."""
    wall, cpu = time.perf_counter(), time.process_time()
    moves = work()
    return Cost((time.process_time() - cpu) * 1e6 / moves, (time.perf_counter() - wall) * 1e6 / moves)


@contextmanager
def round_trip(command: list[str], polling: bool) -> Iterator[Callable[[], object]]:
    """Writing a few bytes and reading the answer, with nothing in between, or a poll: the least of a referee that does
    not wait for ever."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None and process.stdout is not None
    give, take = process.stdin.fileno(), process.stdout.fileno()
    poll = select.poll()
    poll.register(take, select.POLLIN)

    def trip() -> None:
        os.write(give, b"legal 5-12@M\ngo 1\n")
        if polling:
            poll.poll(1000)
        os.read(take, 65_536)

    try:
        yield trip
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def bare(trip: Callable[[], object]) -> Cost:
    """Nothing but round trips."""

    def work() -> int:
        for _ in range(ROUND_TRIPS):
            trip()
        return ROUND_TRIPS

    return timed(work)


def rules_alone(games: int, trip: Callable[[], object] = lambda: None) -> Cost:
    """The same games without players: moves, what the seats may know, and scores; and a ``trip`` for each move that
    somebody would be asked for."""

    def work() -> int:
        asked = 0
        for seed in range(games):
            game = Game(RULES, seed)
            while not game.over:
                round_, past = game.round, game.scores
                while not round_.over:
                    moves = round_.legal_moves()
                    if len(moves) > 1:
                        round_.observe(round_.turn, past)
                        trip()
                        asked += 1
                    round_.apply(moves[0])
                game.finish_round()
        return asked

    return timed(work)


def refereed(engines: list[EngineProcess], games: int) -> Cost:
    """Whole games with a process on each seat."""
    fallback = create("greedy")

    def work() -> int:
        asked = 0
        for seed in range(games):
            result = play_game(Game(RULES, seed), engines, CONTROL, fallback=fallback)
            assert not result.tainted
            asked += sum(seat.decisions for seat in result.seats)
        return asked

    return timed(work)


def measure(games: int) -> dict[str, tuple[Cost, Cost]]:
    """The least and the median of all that is measured."""
    runs: dict[str, list[Cost]] = {"bare": [], "polled": [], "rules": [], "woven": [], "referee": []}
    with tempfile.TemporaryDirectory() as folder:
        command = build_engine(Path(folder))
        engines = [EngineProcess(command) for _ in range(PLAYERS)]
        try:
            refereed(engines, 1)
            for _ in range(TURNS):
                with round_trip(command, False) as trip:
                    runs["bare"].append(bare(trip))
                with round_trip(command, True) as trip:
                    runs["polled"].append(bare(trip))
                    runs["woven"].append(rules_alone(games, trip))
                runs["rules"].append(rules_alone(games))
                runs["referee"].append(refereed(engines, games))
        finally:
            close_all(engines)
    return {name: (Cost(*map(min, zip(*costs, strict=True))), _median(costs)) for name, costs in runs.items()}


def _median(costs: list[Cost]) -> Cost:
    return Cost(*map(median, zip(*costs, strict=True)))


def main() -> int:
    """Prints the table; 1 where a promise of docs/explanation/referee.md is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5, help="games of 13 rounds in each run")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    count_waiting()
    costs = measure(arguments.games)
    beyond, usual = [costs["referee"][i].cpu - costs["rules"][i].cpu for i in range(2)]
    rate, usual_rate = [1e6 / costs["referee"][i].wall for i in range(2)]
    print(f"{'microseconds a move':40} {'own CPU':>8} {'median':>8} {'wall':>8} {'median':>8}")
    for name, what in (
        ("bare", "bare round trip, write and read"),
        ("polled", "the same with a poll"),
        ("rules", "the rules alone"),
        ("woven", "the rules, and such a round trip a move"),
        ("referee", "refereed games"),
    ):
        least, middle = costs[name]
        print(f"{what:40} {least.cpu:8.1f} {middle.cpu:8.1f} {least.wall:8.1f} {middle.wall:8.1f}")
    print(f"{'referee beyond the rules':40} {beyond:8.1f} {usual:8.1f} (at most {MOST_COST:g})")
    print(f"{'moves a second on one core':40} {rate:8,.0f} {usual_rate:8,.0f} (at least {LEAST_RATE:,})")
    return 0 if beyond <= MOST_COST and rate >= LEAST_RATE else 1


if __name__ == "__main__":
    sys.exit(main())
