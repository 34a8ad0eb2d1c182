"""Which model of finishing orders foretells blocks that it has not seen: the figures of docs/explanation/statistics.md.

    python benchmarks/experiments/models.py LADDER [--folds N]

Takes the games of a ladder that was played, leaves a part of the blocks out, fits each model to the rest, and scores
what each says of those left out: the logarithm of the probability of what happened, mean over pairs of seats and over
first places, less that of plain Plackett–Luce. Errors count blocks.

- ``plain``: Plackett–Luce. Each place is taken with odds exp(λ) among those that are left.
- ``stages``: Plackett–Luce with odds exp(κ λ) and a κ of its own for each place at each size of table, fitted with λ.
- ``first``: the same from first places alone.
- ``pairs``: Bradley–Terry over all pairs of seats, each pair for itself; first places with odds exp(κ λ), κ = 1.
- ``pairs, κ``: the same λ; κ fitted to the first places, one for all tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from caboose.arena.ladder.store import Store
from caboose.arena.ladder.totals import read_board
from caboose.arena.stats.bootstrap import Integers
from caboose.arena.stats.game_table import NOBODY, Games
from caboose.arena.stats.ratings import ELO, crosstable
from caboose.arena.storage.ladder_folder import DATABASE
from simulated import Floats

RIDGE: Final = 1e-3  # of λ², so that there is one solution
Foretold = tuple[Floats, Floats]  # (seats, seats) that the row's ends before the column's, (seats,) first places


class Part:
    """Games of one size of table: who came in, by place, (games, seats), and their blocks. Ties are broken by lot."""

    def __init__(self, games: Games, size: int) -> None:
        rows = np.flatnonzero(((games.player != NOBODY).sum(axis=1) == size) & games.counted[:, :size].all(axis=1))
        lots = np.random.default_rng(0).random((len(rows), size))
        order = np.argsort(games.place[rows][:, :size] + lots / 2, axis=1)
        self.size = size
        self.block = games.block[rows]
        self.player = np.take_along_axis(games.player[rows][:, :size], order, axis=1)


def log_likelihood(parts: Sequence[Part], worth: Floats, stages: dict[int, Floats], most: int) -> float:
    """Of the first ``most`` places; ``stages`` has a κ for each place at each size of table."""
    total = -RIDGE * float((worth**2).sum())
    for part in parts:
        of_seat = worth[part.player]
        for place in range(min(most, part.size - 1)):
            scaled = stages[part.size][place] * of_seat[:, place:]
            total += float((scaled[:, 0] - logsumexp(scaled, axis=1)).sum())
    return total


def fit_luce(
    parts: Sequence[Part], contestants: int, *, staged: bool, most: int = 99
) -> tuple[Floats, dict[int, Floats]]:
    """λ and κ. The κ of the first place at the first size of table is 1."""
    free = sum(part.size - 1 for part in parts) - 1 if staged else 0

    def unpack(values: Floats) -> tuple[Floats, dict[int, Floats]]:
        scales = np.concatenate([[1.0], np.exp(values[contestants:])]) if staged else np.ones(99)
        found, at = {}, 0
        for part in parts:
            found[part.size] = scales[at : at + part.size - 1]
            at += part.size - 1 if staged else 0
        return values[:contestants], found

    done = minimize(
        lambda values: -log_likelihood(parts, *unpack(values), most) / 1000, np.zeros(contestants + free), tol=1e-7
    )
    return unpack(done.x)


def fit_pairs(games: Games, contestants: int) -> Floats:
    """λ of Bradley–Terry over all pairs."""
    points, meetings = crosstable(games, contestants)

    def unlikely(worth: Floats) -> tuple[float, Floats]:
        ahead = expit(worth[:, None] - worth[None])
        value = -float((points * np.log(ahead)).sum()) + RIDGE * float((worth**2).sum())
        return value, -(points - meetings * ahead).sum(axis=1) + 2 * RIDGE * worth

    found: Floats = minimize(unlikely, np.zeros(contestants), jac=True, tol=1e-9).x
    return found


def fit_first(parts: Sequence[Part], worth: Floats) -> float:
    """κ of first places."""
    stages = [np.exp(np.array([at])) for at in np.linspace(-1.5, 1.5, 301)]
    scores = [log_likelihood(parts, worth, {part.size: kappa for part in parts}, 1) for kappa in stages]
    return float(stages[int(np.argmax(scores))][0])


def luce_foretells(strength: Floats, scales: dict[int, Floats], table: Integers) -> Foretold:
    """What staged Plackett–Luce says of the contestants at a table, (seats,): added up over all orders."""
    worth, size, stages = strength[table], len(table), scales[len(table)]
    orders = np.array(list(permutations(range(size))))
    chance = np.ones(len(orders))
    for place in range(size - 1):
        scaled = stages[place] * worth[orders[:, place:]]
        chance *= np.exp(scaled[:, 0] - logsumexp(scaled, axis=1))
    rank = np.argsort(orders, axis=1)
    pairs = np.array([[float(chance[rank[:, i] < rank[:, j]].sum()) for j in range(size)] for i in range(size)])
    return pairs, np.array([float(chance[orders[:, 0] == i].sum()) for i in range(size)])


def pairs_foretell(strength: Floats, kappa: float, table: Integers) -> Foretold:
    """What Bradley–Terry says of the contestants at a table, (seats,)."""
    worth = strength[table]
    odds = np.exp(kappa * worth)
    return expit(worth[:, None] - worth[None]), odds / odds.sum()


def score(parts: Sequence[Part], foretell: Callable[[Integers], Foretold]) -> Floats:
    """Of each block the mean log scores of pairs and of first places, and its pairs and games: (blocks, 4)."""
    rows = []
    for part in parts:
        first, second = np.triu_indices(part.size, 1)
        for block in np.unique(part.block):
            of_block = part.player[part.block == block]
            table = np.sort(of_block[0])
            pairs, won = foretell(table)
            seat = np.array([[int(np.flatnonzero(table == who)[0]) for who in game] for game in of_block])
            ahead = np.log(pairs[seat[:, first], seat[:, second]])
            rows.append([ahead.mean(), np.log(won[seat[:, 0]]).mean(), ahead.size, len(of_block)])
    return np.array(rows)


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    call = parser.parse_args()
    with Store.open(call.ladder / DATABASE) as store:
        board = read_board(store, store.lists())
    games, contestants = board.games, len(board.entries)
    sizes = sorted(np.unique((games.player != NOBODY).sum(axis=1)).tolist())
    fold = np.random.default_rng(0).permutation(int(games.block.max()) + 1) % call.folds
    scores: dict[str, list[Floats]] = {}
    for left_out in range(call.folds):
        kept, other = (games.select(np.flatnonzero((fold[games.block] == left_out) == out)) for out in (False, True))
        parts, unseen = ([Part(some, size) for size in sizes] for some in (kept, other))
        plain, ones = fit_luce(parts, contestants, staged=False)
        staged, kappas = fit_luce(parts, contestants, staged=True)
        first, _ = fit_luce(parts, contestants, staged=False, most=1)
        pairs = fit_pairs(kept, contestants)
        kappa = fit_first(parts, pairs)
        models: dict[str, Callable[[Integers], Foretold]] = {
            "plain": partial(luce_foretells, plain, ones),
            "stages": partial(luce_foretells, staged, kappas),
            "first": partial(luce_foretells, first, ones),
            "pairs": partial(pairs_foretell, pairs, 1.0),
            "pairs, κ": partial(pairs_foretell, pairs, kappa),
        }
        for name, foretell in models.items():
            scores.setdefault(name, []).append(score(unseen, foretell))
        ranges = ", ".join(
            f"{name} {np.ptp(of) * ELO:.0f}" for name, of in (("plain", plain), ("first", first), ("pairs", pairs))
        )
        told = "; ".join(f"{size}: " + " ".join(f"{each:.2f}" for each in kappas[size]) for size in sizes)
        print(
            f"fold {left_out}: best less worst, Elo: {ranges}; κ of stages {told}; κ of pairs {kappa:.2f}", flush=True
        )
    whole = {name: np.concatenate(parts) for name, parts in scores.items()}
    print(f"\n{len(whole['plain'])} blocks, {len(games)} games; score, and 1/1000 of it above plain, ± standard error")
    for name, rows in whole.items():
        cells = []
        for column, weight in ((0, rows[:, 2]), (1, rows[:, 3])):
            difference = rows[:, column] - whole["plain"][:, column]
            mean = np.average(difference, weights=weight)
            error = np.sqrt((weight**2 * (difference - mean) ** 2).sum()) / weight.sum()
            cells.append(f"{np.average(rows[:, column], weights=weight):8.4f} {1000 * mean:+7.2f} ± {1000 * error:.2f}")
        print(f"{name:<10} pairs {cells[0]}   first places {cells[1]}")


if __name__ == "__main__":
    main()
