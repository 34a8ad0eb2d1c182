"""Whether a long match grows: memory, descriptors and time for each game as the games go by.

``python benchmarks/perf/flat.py`` plays short games with a process on each seat, as a worker of ``caboose match`` does,
and prints a line for every tenth of them. With ``--new`` each game has new processes, as foreign engines have.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from caboose.bots import create
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.pipes import count_waiting
from caboose.protocol.process.process import EngineProcess, close_all
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from referee import build_engine

RULES: Final = Rules.of("family", 2, rounds=1)
CONTROL: Final = TimeControl(movetime=1000)
LINES: Final = 10
MOST_GROWTH: Final = 16.0  # bytes a game: less than 2 MiB in 100,000


def memory() -> int:
    """KiB of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def main() -> int:
    """Prints the table; 1 where the second half needs more than the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--new", action="store_true", help="new processes in each game")
    arguments = parser.parse_args()
    fallback = create("greedy")
    count_waiting()
    memories, descriptors = [], []
    with tempfile.TemporaryDirectory() as folder:
        command = build_engine(Path(folder))
        engines = [EngineProcess(command) for _ in range(RULES.players)]
        try:
            print(f"{'games':>8} {'KiB':>8} {'open':>6} {'CPU ms a game':>14}")
            for part in range(LINES):
                begin = time.process_time()
                for number in range(arguments.games // LINES):
                    result = play_game(Game(RULES, [part, number]), engines, CONTROL, fallback=fallback)
                    assert not result.tainted
                    if arguments.new:
                        close_all(engines)
                each = (time.process_time() - begin) * 1000 / (arguments.games // LINES)
                memories.append(memory())
                descriptors.append(len(os.listdir("/proc/self/fd")))
                played = (part + 1) * (arguments.games // LINES)
                print(f"{played:8,} {memories[-1]:8,} {descriptors[-1]:6} {each:14.2f}", flush=True)
        finally:
            close_all(engines)
    grown = (memories[-1] - memories[LINES // 2 - 1]) * 1024 / (arguments.games / 2)
    print(f"{grown:.1f} bytes a game in the second half")
    return 0 if grown < MOST_GROWTH and len(set(descriptors)) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
