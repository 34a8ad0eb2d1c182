"""How often sequential tests are wrong, and how long they take, on blocks that bots really played.

    python benchmarks/errors.py [--blocks N] [--runs N]

Plays blocks between two bots, who share the seats as in ``caboose compare``, and draws from them with replacement. So
that the truth is what a hypothesis says, their probabilities are tilted: in proportion to exp(c · value), with the c
that gives the wanted mean.
The figures of docs/statistics.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from caboose.arena.fairness import gain, seat_bias
from caboose.arena.games import join
from caboose.arena.ladder.schedule import shared_seats
from caboose.arena.sequential import SequentialTest, block_values, expected_blocks, simulate_errors
from played import renumbered
from rotation import PAIRS, play
from simulated import Floats

TESTS = (
    SequentialTest(low=0, high=1, unit="pips"),
    SequentialTest(low=0, high=3, unit="pips"),
    SequentialTest(low=-1, high=1, unit="pips", alpha=0.01, beta=0.1),
    SequentialTest(low=0, high=10, unit="elo"),
    SequentialTest(low=0, high=40, unit="elo"),
    SequentialTest(low=0, high=10, unit="nelo"),
    SequentialTest(low=0, high=40, unit="nelo"),
)


# Pairs of `rotation`: unlike ones, and nearly equal ones, many of whose blocks are even; these for the default alone.
KINDS = {"planner, greedy": TESTS, "greedy, of 20 moves one by lot": TESTS[:1]}


def tilted(values: Floats, wanted: Callable[[float, float], float]) -> Floats:
    """Probabilities of the values under which ``wanted(mean, deviation)`` is 0."""
    scale = values.std()

    def moments(tilt: float) -> tuple[Floats, float, float]:
        odds = np.exp(tilt * (values - values.mean()) / scale)
        odds /= odds.sum()
        mean = float(odds @ values)
        return odds, mean, float(np.sqrt(odds @ (values - mean) ** 2))

    return moments(float(brentq(lambda tilt: wanted(*moments(tilt)[1:]), -5, 5)))[0]


def drawn(values: Floats, odds: Floats) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    """Draws values with these probabilities, by their quantiles: much faster than numpy's ``choice``."""
    below = np.cumsum(odds)
    below[-1] = 1.0

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        found: Floats = values[np.searchsorted(below, generator.random(shape), side="right")]
        return found

    return draw


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=600, help="blocks that are played for each number of players")
    parser.add_argument("--runs", type=int, default=2000, help="simulated tests of each kind")
    call = parser.parse_args()
    for name, players in [(name, players) for name in KINDS for players in (2, 4)]:
        lineups = shared_seats(0, 1, players)
        # Each line-up has deals of its own, and every second block, as in a comparison.
        parts = [play(PAIRS[name], lineup, call.blocks // len(lineups), at) for at, lineup in enumerate(lineups)]
        games = join([renumbered(part, len(parts), at) for at, part in enumerate(parts)])
        found, seats = gain(games), seat_bias(games)[0]
        print(f"{players} players: {name}, {call.blocks} blocks of {players} games")
        print(f"  factor of rotation {found.factor:.2f}; p that no seat is better {seats.p:.3f}")
        print(f"  {'test':<34} {'deviation':>9} {'wrong H1':>9} {'wrong H0':>9} {'blocks':>13} {'expected':>13}")
        for test in KINDS[name]:
            test = SequentialTest(
                low=test.low, high=test.high, unit=test.unit, alpha=test.alpha, beta=test.beta, games=players
            )
            _, values = block_values(games, 0, 1, test.unit)
            ends = []
            for effect in (test.low, test.high):

                def wanted(mean: float, deviation: float, test: SequentialTest = test, effect: float = effect) -> float:
                    return test.effect(mean, deviation) - effect

                odds = tilted(values, wanted)
                mean = float(odds @ values)
                deviation = float(np.sqrt(odds @ (values - mean) ** 2))

                ends.append(
                    (
                        simulate_errors(test, drawn(values, odds), runs=call.runs),
                        expected_blocks(test, effect, deviation),
                    )
                )
            (low, low_expected), (high, high_expected) = ends
            told = f"{test.low:g} … {test.high:g} {test.unit}, {test.alpha:.0%} and {test.beta:.0%}"
            print(
                f"  {told:<34} {deviation:9.3f} {low.h1:9.1%} {high.h0:9.1%} {low.mean:6.0f} {high.mean:6.0f} "
                f"{low_expected:6.0f} {high_expected:6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
