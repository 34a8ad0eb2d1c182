"""The standings of a ladder: ratings, margins, shares and their intervals. docs/explanation/statistics.md has the
formulas.

- *Rating*: λ of Bradley–Terry over pairs of seats (``bradley_terry``) times 400 / ln 10, so that of any two with 100
  points between them the stronger one ends before the other in 64 % of their pairs, as in Elo. Of two contestants alone
  it is exactly the Elo of ``sequential``. Only differences mean something: the mean of some contestants is 0, or the
  rating of one is given.
- *Margin*, *rounds won*, *games won*: of a contestant in a block the mean over its seats that count; of a contestant
  the mean over its blocks. A block is one deal, whatever the number of games in it.

All intervals, and the likelihood that one is better than another, come from one bootstrap over blocks (``bootstrap``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.bootstrap import (
    REPLICATES,
    Estimate,
    Floats,
    Groups,
    Integers,
    drawn,
    estimate,
    grouped,
    superiority,
)
from caboose.arena.stats.bradley_terry import PRIOR, Met, PairTally, influences, rated, resolved, strengths
from caboose.arena.stats.fit import FirstPlaces, Fit, check_fit
from caboose.arena.stats.game_table import NOBODY, Games

ELO: Final = 400 / math.log(10)  # of one unit of λ
SAME: Final = 1e-6  # Elo; ratings that differ less are the same but for rounding

# A bootstrap solves the model anew in each replicate while replicates × (contestants² + pairs) are not more; else it
# goes by the first derivative, which costs next to nothing.
_MOST_SOLVED: Final = 4_000_000
Mask = npt.NDArray[np.bool_]
_CELLS: Final = 1 << 20  # blocks × contestants looked at in one go


@dataclass(frozen=True, slots=True)
class Standing:
    """How a contestant stands. ``rating`` is Elo-like, ``margin`` pips a round, the shares are 0 to 1.

    ``games`` counts its seats in games that count, ``blocks`` those with such a game, ``uncounted`` its seats in games
    that faults of others took away. ``ranked``: whether it has enough blocks for a place; else it is provisional.
    """

    contestant: int
    games: int
    blocks: int
    uncounted: int
    ranked: bool
    rating: Estimate
    margin: Estimate
    rounds_won: Estimate
    games_won: Estimate


@dataclass(frozen=True, slots=True)
class Standings:
    """All contestants, by number, and how they compare.

    ``replicates``: (replicates, contestants), the anchored ratings that came of each drawing of blocks; not a number
    where no block of a contestant was drawn. ``games`` and ``blocks`` were played, ``tainted`` of the games have a
    fault. ``fit`` says how well ratings foretell the games, if that was asked.
    """

    contestants: tuple[Standing, ...]
    replicates: Floats
    games: int
    blocks: int
    tainted: int
    fit: Fit | None

    def ranked(self) -> list[Standing]:
        """The contestants from the best rating to the worst; then those that are provisional, and without a rating."""
        return sorted(
            self.contestants,
            key=lambda one: (not one.ranked, math.inf if one.rating.value is None else -one.rating.value),
        )

    @property
    def superiority(self) -> Floats:
        """The likelihood that the row's is stronger than the column's, 0 to 1: (contestants, contestants); not a number
        without counted games. It is worked out each time."""
        return superiority(self.replicates, SAME)

    def better(self, one: int, other: int) -> float:
        """A single cell of ``superiority``."""
        return float(superiority(self.replicates[:, [one, other]], SAME)[0, 1])

    @property
    def covariance(self) -> Floats:
        """Of the ratings: (contestants, contestants), Elo²."""
        contestants = len(self.contestants)
        return np.asarray(np.cov(self.replicates, rowvar=False)).reshape(contestants, contestants)

    def difference(self, one: int, other: int) -> Estimate:
        """How much higher the rating of ``one`` is than that of ``other``."""
        ratings = self.contestants[one].rating.value, self.contestants[other].rating.value
        if ratings[0] is None or ratings[1] is None:
            return Estimate()
        blocks = min(self.contestants[one].blocks, self.contestants[other].blocks)
        return estimate(ratings[0] - ratings[1], self.replicates[:, one] - self.replicates[:, other], blocks)


def standings(
    games: Games,
    contestants: int,
    *,
    anchor: int | None = None,
    level: float = 0.0,
    mean_of: Mask | None = None,
    fewest: int = 1,
    replicates: int = REPLICATES,
    seed: int = 0,
    prior: float | None = None,
    fit: bool = True,
) -> Standings:
    """How ``contestants`` contestants, numbered from 0, stand after ``games``.

    ``anchor`` is the number of the contestant whose rating is ``level``; None: the mean of those in ``mean_of``, a mask
    of the contestants, that have ``fewest`` blocks is; of all that played where there is none. Only blocks with a game
    without a fault count for that, and who has fewer is provisional. ``replicates`` is the size of the bootstrap, at
    least 2, ``seed`` its seed, ``prior`` as in ``bradley_terry.strengths``; ``fit`` asks how well it fits. Raises
    ``ValueError`` when a number of a contestant is too high, or the anchor has no game that counts.
    """
    groups = grouped(games.block)
    tally = Tally(contestants, groups.of_block)
    for part in by_blocks(games, groups, max(1, _CELLS // contestants)):
        tally.add(part)
    return tally.standings(
        anchor=anchor,
        level=level,
        mean_of=mean_of,
        fewest=fewest,
        replicates=replicates,
        seed=seed,
        prior=prior,
        fit=fit,
    )


class Tally:
    """Gathers what standings need from games that come some blocks at a time; it does not grow with the games.

    ``of_block`` has the group of each block (``bootstrap.groups_of``).
    """

    def __init__(self, contestants: int, of_block: Integers) -> None:
        groups = int(of_block.max(initial=-1)) + 1
        self._contestants = contestants
        self._of_block = of_block
        self._pairs = PairTally(contestants, groups)
        self._places = FirstPlaces(contestants, groups)
        # In how many blocks of each group each contestant counts, and the sums of its means in them: margins, shares of
        # rounds and of games.
        self._blocks = np.zeros((groups, contestants))
        self._sums = np.zeros((3, groups, contestants))
        self._seats = np.zeros(contestants, np.int64)
        self._uncounted = np.zeros(contestants, np.int64)
        self._clean = np.zeros(contestants, np.int64)  # blocks with a game without a fault
        self._games = self._tainted = 0

    def add(self, games: Games) -> None:
        """Counts some blocks, in the order of their numbers, which go from 0 without gaps; all games of each. Raises
        ``ValueError`` when a number of a contestant is too high."""
        contestants = self._contestants
        if int(games.player.max(initial=NOBODY)) >= contestants:
            raise ValueError(f"there are {contestants} contestants, but games of number {int(games.player.max())}")
        if not len(games):
            return
        first, count = int(games.block.min()), int(np.ptp(games.block)) + 1
        there = games.player != NOBODY
        counted = there & games.counted
        cell = ((games.block - first)[:, None] * contestants + games.player)[counted]
        seats = np.bincount(cell, minlength=count * contestants)
        some = np.flatnonzero(seats)
        into = self._of_block[first + some // contestants] * contestants + some % contestants
        # One after the other, so that it does not matter to the last digit in which parts blocks come.
        np.add.at(self._blocks.reshape(-1), into, 1.0)
        for sums, column in zip(self._sums, (games.margin, games.rounds_won, games.games_won), strict=True):
            total = np.bincount(cell, column[counted], minlength=count * contestants)
            np.add.at(sums.reshape(-1), into, total[some] / seats[some])
        self._pairs.add(games, self._of_block[games.block])
        self._places.add(games, self._of_block[games.block])
        self._seats += np.bincount(games.player[counted], minlength=contestants)
        self._uncounted += np.bincount(games.player[there & ~games.counted], minlength=contestants)
        self._games += len(games)
        fine = (counted == there).all(axis=1, keepdims=True) & there
        cell = np.unique(((games.block - first)[:, None] * contestants + games.player)[fine])
        self._clean += np.bincount(cell % contestants, minlength=contestants)
        self._tainted += int((there & ~games.counted).any(axis=1).sum())

    @property
    def played(self) -> Mask:
        """Which contestants have a block that counts: (contestants,)."""
        played: Mask = self._blocks.sum(axis=0) > 0
        return played

    def standings(
        self,
        *,
        anchor: int | None = None,
        level: float = 0.0,
        mean_of: Mask | None = None,
        fewest: int = 1,
        replicates: int = REPLICATES,
        seed: int = 0,
        prior: float | None = None,
        fit: bool = True,
    ) -> Standings:
        """As ``standings`` after all games that were counted."""
        contestants, blocks = self._contestants, self._blocks
        number = blocks.sum(axis=0).astype(int)
        played, ranked = number > 0, self._clean >= max(fewest, 1)
        if anchor is not None and not (0 <= anchor < contestants and played[anchor]):
            raise ValueError(f"contestant {anchor} has no game that counts, so the others cannot be rated against it")
        weights = drawn(len(blocks), replicates, seed)
        met = self._pairs.met()
        worth, rating, ratings = _ratings(met, weights, prior)
        among = weights @ blocks
        ratings[among == 0] = math.nan
        rating[~played] = math.nan
        current = np.ones(contestants, np.bool_) if mean_of is None else mean_of
        base = next((some for some in (current & ranked, current & played, played) if some.any()), played)
        if anchor is not None:
            base = np.arange(contestants) == anchor
        if played.any():
            rating += level - rating[base].mean()
            known = np.isfinite(ratings) & base
            count = known.sum(axis=1, keepdims=True)
            with np.errstate(invalid="ignore"):  # 0 / 0 where none of them was drawn
                ratings += level - np.where(known, ratings, 0.0).sum(axis=1, keepdims=True) / count
        estimates = [_estimates(rating, ratings, number)]
        with np.errstate(invalid="ignore"):  # 0 / 0 where somebody has no block
            for sums in self._sums:
                estimates.append(_estimates(sums.sum(axis=0) / number, (weights @ sums) / among, number))
        counts = zip(self._seats.tolist(), number.tolist(), self._uncounted.tolist(), ranked.tolist(), strict=True)
        return Standings(
            contestants=tuple(
                Standing(i, seats, count, lost, is_ranked, *(kind[i] for kind in estimates))
                for i, (seats, count, lost, is_ranked) in enumerate(counts)
            ),
            replicates=ratings,
            games=self._games,
            blocks=len(self._of_block),
            tainted=self._tainted,
            fit=check_fit(met, self._places.found(), worth) if fit else None,
        )


def crosstable(games: Games, contestants: int) -> tuple[Floats, Floats]:
    """Who ended before whom: points of the row's contestant against the column's, and how many meetings there were.

    Both are (contestants, contestants). A pair of seats that both count is a meeting; ties are half a point.
    """
    points, meetings = np.zeros(contestants**2), np.zeros(contestants**2)
    for one in range(games.seats):
        for other in range(games.seats):
            if one == other:
                continue
            mine, theirs = games.player[:, one], games.player[:, other]
            both = (mine != NOBODY) & (theirs != NOBODY) & games.counted[:, one] & games.counted[:, other]
            both &= mine != theirs
            pair = mine[both].astype(np.int64) * contestants + theirs[both]
            ahead = np.sign(games.place[both, other] - games.place[both, one])
            points += np.bincount(pair, 0.5 + 0.5 * ahead, minlength=contestants**2)
            meetings += np.bincount(pair, minlength=contestants**2)
    return points.reshape(contestants, contestants), meetings.reshape(contestants, contestants)


def by_blocks(games: Games, groups: Groups, blocks: int) -> Iterator[Games]:
    """The games of so many ``blocks`` at a time, in their order and numbered as in ``groups``."""
    order = np.argsort(groups.block, kind="stable")
    block = groups.block[order]
    for first in range(0, groups.blocks, blocks):
        start, end = np.searchsorted(block, [first, first + blocks])
        part = games.select(order[start:end])
        yield Games(block[start:end], *(getattr(part, name) for name in Games.__slots__[1:]))


def _ratings(met: Met, weights: Floats, prior: float | None) -> tuple[Floats, Floats, Floats]:
    """λ without faults, (contestants,); the ratings, likewise, and those of each replicate, (replicates, contestants),
    not yet anchored."""
    everything = np.ones((1, weights.shape[1]))
    worth = strengths(met, prior)
    rating = rated(met, everything, worth[None], prior)[0]
    if len(weights) * (met.contestants**2 + len(met.pairs.first)) <= _MOST_SOLVED:
        # Replicates may lack what links all to all, so they have the ghost; what that does to all games is taken off.
        ghost = PRIOR if prior is None else prior
        again, base = (rated(met, some, resolved(met, some, worth, ghost), ghost) for some in (weights, everything))
        again += rating - base
    else:
        again = rating + (weights - 1) @ influences(met, worth, rating, prior)[1]
    return worth, rating * ELO, again * ELO


def _estimates(values: Floats, replicates: Floats, blocks: npt.NDArray[np.int_]) -> list[Estimate]:
    return [estimate(values[i], replicates[:, i], int(blocks[i])) for i in range(len(values))]
