"""What the standings of large ladders cost: processor time and memory, besides the games themselves.

python benchmarks/perf/million.py [--contestants N] [--games N ...]
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from caboose.arena.stats.game_table import Games
from caboose.arena.stats.ratings import standings
from caboose.arena.stats.seat_bias import gain, seat_bias
from simulated import ladder

PLAYERS = 4


def main() -> None:
    """Prints a line for each number of games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contestants", type=int, default=20)
    parser.add_argument("--games", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    call = parser.parse_args()
    strength = np.linspace(-1, 1, call.contestants)
    standings(ladder(strength, PLAYERS, 10, np.random.default_rng(0)), call.contestants)  # loads what is needed
    print(f"{'games':>9} {'standings s':>12} {'MB':>6} {'gain, seats s':>14} {'MB':>6}")
    for count in call.games:
        games = ladder(strength, PLAYERS, count // PLAYERS, np.random.default_rng(1))
        cells = []
        for work in (_standings, _fairness):
            start = time.process_time()
            work(games, call.contestants)
            cells.append(time.process_time() - start)
            tracemalloc.start()
            work(games, call.contestants)
            cells.append(tracemalloc.get_traced_memory()[1] / 2**20)
            tracemalloc.stop()
        print(f"{len(games):9} {cells[0]:12.2f} {cells[1]:6.0f} {cells[2]:14.2f} {cells[3]:6.0f}", flush=True)


def _standings(games: Games, contestants: int) -> None:
    standings(games, contestants)


def _fairness(games: Games, contestants: int) -> None:
    gain(games)
    seat_bias(games)


if __name__ == "__main__":
    main()
