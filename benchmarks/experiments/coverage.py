"""How often 95 % intervals hold the truth, in simulated ladders: the figures of docs/explanation/statistics.md.

python benchmarks/experiments/coverage.py [--ladders N] [--replicates N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from caboose.arena.stats.bootstrap import Estimate
from caboose.arena.stats.ratings import ELO, Standings, standings
from simulated import Floats, ladder, true_means


class Case(NamedTuple):
    """A kind of ladder. ``step`` makes ties; ``likely`` says how often each is at a table."""

    name: str
    strength: Floats
    players: int
    blocks: int
    step: float = 0.0
    likely: Floats | None = None


def spread(contestants: int, width: float = 1.0) -> Floats:
    """Strengths λ from −width to width."""
    return np.linspace(-width, width, contestants)


CASES = (
    Case("2 bots, 2 players, 20 blocks", spread(2, 0.2), 2, 20),
    Case("2 bots, 2 players, 100 blocks", spread(2, 0.2), 2, 100),
    Case("4 bots, 4 players, 10 blocks", spread(4), 4, 10),
    Case("4 bots, 4 players, 20 blocks", spread(4), 4, 20),
    Case("4 bots, 4 players, 50 blocks", spread(4), 4, 50),
    Case("4 bots, 4 players, 50 blocks, many ties", spread(4), 4, 50, 0.5),
    Case("8 bots, tables of 4, 50 blocks", spread(8), 4, 50),
    Case("8 bots, tables of 4, 200 blocks", spread(8), 4, 200),
    Case("8 bots, tables of 4, 200 blocks, one seldom there", spread(8), 4, 200, 0.0, np.array([0.05] + [1.0] * 7)),
    Case("12 bots, tables of 4, 3000 blocks in 1000 groups", spread(12), 4, 3000),
    Case("24 bots, tables of 4, 500 blocks", spread(24), 4, 500),
    Case("8 bots, 8 players, 50 blocks", spread(8), 8, 50),
    Case("120 bots, 2 players, 4000 blocks, first order", spread(120), 2, 4000),
)


def coverage(case: Case, ladders: int, replicates: int, seed: int = 0) -> tuple[float, float, float, float]:
    """The shares of intervals that hold the truth: ratings, differences of ratings, margins, games won.

    Shares of games won and ratings have no exact truth under ties, nor margins and shares at tables that are not drawn
    evenly: those are not a number.
    """
    generator = np.random.default_rng(seed)
    elo = (case.strength - case.strength.mean()) * ELO
    margin, won = true_means(case.strength, case.players)
    hits = np.zeros(4)
    tries = np.zeros(4)
    for number in range(ladders):
        games = ladder(case.strength, case.players, case.blocks, generator, step=case.step, likely=case.likely)
        found = standings(games, len(elo), replicates=replicates, seed=number, fit=False)
        for kind, estimate, truth in _claims(found, elo, margin, won):
            if estimate.low is not None and estimate.high is not None:
                tries[kind] += 1
                hits[kind] += estimate.low <= truth <= estimate.high
    if case.step:
        tries[[0, 1, 3]] = 0
    if case.likely is not None:
        tries[[2, 3]] = 0
    rating, difference, pips, share = np.divide(hits, tries, out=np.full(4, np.nan), where=tries > 0).tolist()
    return rating, difference, pips, share


def _claims(found: Standings, elo: Floats, margin: Floats, won: Floats) -> Iterator[tuple[int, Estimate, float]]:
    for standing in found.contestants:
        yield 0, standing.rating, elo[standing.contestant]
        yield 2, standing.margin, margin[standing.contestant]
        yield 3, standing.games_won, won[standing.contestant]
    for one in range(len(elo)):
        for other in range(one):
            yield 1, found.difference(one, other), elo[one] - elo[other]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ladders", type=int, default=500, help="simulated ladders of each kind")
    parser.add_argument("--replicates", type=int, default=1000, help="size of the bootstrap")
    call = parser.parse_args()
    print(f"{'ladder':<55} {'rating':>7} {'differ.':>7} {'margin':>7} {'won':>7}")
    for case in CASES:
        shares = coverage(case, call.ladders, call.replicates)
        print(f"{case.name:<55} " + " ".join("      –" if np.isnan(s) else f"{s:7.1%}" for s in shares), flush=True)


if __name__ == "__main__":
    main()
