"""How often sequential tests are wrong, and how long they take, on blocks that bots played and on simulated ones.

    python benchmarks/experiments/errors.py [--blocks N] [--runs N] [--only played|even|simulated]

*played*: plays blocks between two bots, who share the seats as in ``caboose compare``, and draws from them with
replacement. So that the truth is what a hypothesis says, their probabilities are tilted: in proportion to
exp(c · value), with the c that gives the wanted mean. *even*: the same with 1,200 blocks that are mostly even, also
shifted, all or only those that are not even. *simulated*: shares of even blocks from 0 to 99 %, exponential skewness
and serial correlation. The last two show beside the rule the ratio of normal distributions alone from 12 blocks on,
which was the rule before. The figures of docs/explanation/statistics.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq

from caboose.arena.blocks.block_order import shared_seats
from caboose.arena.stats.game_table import Games, join
from caboose.arena.stats.seat_bias import gain, seat_bias
from caboose.arena.stats.sprt import Moments, SequentialTest, block_values, expected_blocks, simulate_errors
from played import renumbered
from rotation import PAIRS, play
from simulated import Draw, Floats, serial, skewed, sparse

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


EVEN = "planner, PlanNodes 10000, 100"
EVEN_BLOCKS = 1200
DEVIATIONS = (10.0, 4.0, 2.0)  # of simulated blocks, for 0 … 1 pips
SHAPES: dict[str, Callable[[float, float], Draw]] = {
    **{
        f"{even:.0%} even": lambda mean, deviation, even=even: sparse(even, mean, deviation)  # type: ignore[misc]
        for even in (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)
    },
    **{
        f"{even:.0%} even, shifted": lambda mean, deviation, even=even: sparse(  # type: ignore[misc]
            even, mean, deviation, shifted=True
        )
        for even in (0.8, 0.95)
    },
    "exponential, upwards": lambda mean, deviation: skewed(1, mean, deviation),
    "exponential, downwards": lambda mean, deviation: skewed(-1, mean, deviation),
    "serial correlation 0.3": serial,
}


class Before(SequentialTest):
    """The rule as it was: the ratio of normal distributions, from 12 blocks on."""

    def verdicts(self, of: Moments) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        low, high = self.bounds
        llr = self.normal_llrs(of)
        return np.where(of.count >= 12, (llr >= high).astype(np.int64) - (llr <= low), 0)


def tilted(values: Floats, wanted: Callable[[float, float], float]) -> Floats:
    """Probabilities of the values under which ``wanted(mean, deviation)`` is 0."""
    scale = values.std()

    def moments(tilt: float) -> tuple[Floats, float, float]:
        odds = np.exp(tilt * (values - values.mean()) / scale)
        odds /= odds.sum()
        mean = float(odds @ values)
        return odds, mean, float(np.sqrt(odds @ (values - mean) ** 2))

    return moments(float(brentq(lambda tilt: wanted(*moments(tilt)[1:]), -5, 5)))[0]


def drawn(values: Floats, odds: Floats) -> Draw:
    """Draws values with these probabilities, by their quantiles: much faster than numpy's ``choice``."""
    below = np.cumsum(odds)
    below[-1] = 1.0

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        found: Floats = values[np.searchsorted(below, generator.random(shape), side="right")]
        return found

    return draw


def shared(pair: str, players: int, blocks: int) -> Games:
    """Blocks between two who share the seats: each line-up has deals of its own, and every second block."""
    lineups = shared_seats(0, 1, players)
    parts = [play(PAIRS[pair], lineup, blocks // len(lineups), at) for at, lineup in enumerate(lineups)]
    return join([renumbered(part, len(parts), at) for at, part in enumerate(parts)])


def played(blocks: int, runs: int) -> None:
    """Prints how tests end on blocks of several pairs."""
    for name, players in [(name, players) for name in KINDS for players in (2, 4)]:
        games = shared(name, players, blocks)
        found, seats = gain(games), seat_bias(games)[0]
        print(f"{players} players: {name}, {blocks} blocks of {players} games")
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
                kurtosis = float(odds @ (values - mean) ** 4) / deviation**4

                ends.append(
                    (
                        simulate_errors(test, drawn(values, odds), runs=runs),
                        expected_blocks(test, effect, deviation, kurtosis=kurtosis),
                    )
                )
            (low, low_expected), (high, high_expected) = ends
            told = f"{test.low:g} … {test.high:g} {test.unit}, {test.alpha:.0%} and {test.beta:.0%}"
            print(
                f"  {told:<34} {deviation:9.3f} {low.h1:9.1%} {high.h0:9.1%} {low.mean:6.0f} {high.mean:6.0f} "
                f"{low_expected:6.0f} {high_expected:6.0f}",
                flush=True,
            )


def moved(values: Floats, how: str, mean: float) -> Draw:
    """Draws ``values`` so that this is their mean: ``tilted``, ``shifted``, or only those shifted that are not 0."""
    even = np.full(len(values), 1 / len(values))
    if how == "tilted":
        return drawn(values, tilted(values, lambda found, _: found - mean))
    if how == "shifted":
        return drawn(values - values.mean() + mean, even)
    odd = values != 0
    return drawn(np.where(odd, values + (mean - values.mean()) / odd.mean(), 0.0), even)


def mostly_even() -> Iterator[tuple[str, SequentialTest, Callable[[float], Draw]]]:
    """Blocks that are mostly even: name, test, and what draws them by the true mean."""
    _, values = block_values(shared(EVEN, 4, EVEN_BLOCKS), 0, 1, "pips")
    print(f"4 players: {EVEN}, {len(values)} blocks, deviation {values.std():.2f}, {np.mean(values == 0):.1%} even")
    for how in ("tilted", "shifted", "odd shifted"):
        for low in (0, -1):
            test = SequentialTest(low=low, high=low + 1, unit="pips")
            yield f"{how}, {low} … {low + 1}", test, lambda mean, how=how: moved(values, how, mean)  # type: ignore[misc]


def simulated() -> Iterator[tuple[str, SequentialTest, Callable[[float], Draw]]]:
    """Simulated blocks, in the same way."""
    for deviation in DEVIATIONS:
        for name, shape in SHAPES.items():
            test = SequentialTest(low=0, high=1, unit="pips")
            draw = lambda mean, shape=shape, deviation=deviation: shape(mean, deviation)  # noqa: E731
            yield f"{name}, deviation {deviation:g}", test, draw


def both(cases: Iterator[tuple[str, SequentialTest, Callable[[float], Draw]]], runs: int) -> None:
    """Prints how the test ends on each, with the rule before and the rule."""
    print(f"  {'blocks':<38} {'before: wrong':>13} {'blocks':>13} {'now: wrong':>13} {'blocks':>13}   H1, H0")
    for name, test, draw in cases:
        told = ""
        for kind in (Before, SequentialTest):
            rule = kind(low=test.low, high=test.high, unit=test.unit)
            low, high = (simulate_errors(rule, draw(mean), runs=runs) for mean in (test.low, test.high))
            told += f" {low.h1:6.1%} {high.h0:6.1%} {low.mean:6.0f} {high.mean:6.0f}"
        print(f"  {name:<38}{told}", flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=600, help="blocks that are played for each number of players")
    parser.add_argument("--runs", type=int, default=2000, help="simulated tests of each kind")
    parser.add_argument("--only", choices=("played", "even", "simulated"), help="one table")
    call = parser.parse_args()
    if call.only in (None, "played"):
        played(call.blocks, call.runs)
    if call.only in (None, "even"):
        both(mostly_even(), call.runs)
    if call.only in (None, "simulated"):
        both(simulated(), call.runs)


if __name__ == "__main__":
    main()
