"""The standings of a ladder: ratings, margins and shares, each with its interval. docs/statistics.md has the formulas.

- *Rating*: λ of Plackett–Luce (``luce``) times 400 / ln 10, so that among any two at a table one with 100 more ends
  before the other in 64 % of games, as in Elo. Anchored: the mean of all is 0, or the rating of one contestant is.
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

from caboose.arena.bootstrap import (
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
from caboose.arena.games import NOBODY, Games
from caboose.arena.luce import PRIOR, Choices, ChoiceTally, influences, rated, resolved, strengths

ELO: Final = 400 / math.log(10)  # of one unit of λ
SAME: Final = 1e-6  # Elo; ratings that differ less are the same but for rounding

# A bootstrap solves the model anew in each replicate while replicates × choice sets are not more; else it goes by the
# first derivative, which is as good with the many blocks that it takes to have so many sets.
_MOST_SOLVED: Final = 2_000_000
_CELLS: Final = 1 << 20  # blocks × contestants looked at in one go


@dataclass(frozen=True, slots=True)
class Standing:
    """How a contestant stands. ``rating`` is Elo-like, ``margin`` pips a round, the shares are 0 to 1.

    ``games`` counts its seats in games that count, ``blocks`` those with such a game, ``uncounted`` its seats in games
    that faults of others took away.
    """

    contestant: int
    games: int
    blocks: int
    uncounted: int
    rating: Estimate
    margin: Estimate
    rounds_won: Estimate
    games_won: Estimate


@dataclass(frozen=True, slots=True)
class Standings:
    """All contestants, by number, and how they compare.

    ``superiority``: (contestants, contestants), the likelihood that the row's is stronger than the column's, 0 to 1.
    ``replicates``: (replicates, contestants), the anchored ratings that came of each drawing of blocks. Of a contestant
    without counted games both are not a number. ``games`` and ``blocks`` were played, ``tainted`` of the games have a
    fault.
    """

    contestants: tuple[Standing, ...]
    superiority: Floats
    replicates: Floats
    games: int
    blocks: int
    tainted: int

    def ranked(self) -> list[Standing]:
        """The contestants from the best rating to the worst; those without one at the end."""
        return sorted(self.contestants, key=lambda one: math.inf if one.rating.value is None else -one.rating.value)

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
    replicates: int = REPLICATES,
    seed: int = 0,
    prior: float = PRIOR,
) -> Standings:
    """How ``contestants`` contestants, numbered from 0, stand after ``games``.

    ``anchor`` is the number of the contestant whose rating is 0; None: the mean of all that played is. ``replicates``
    is the size of the bootstrap, at least 2, ``seed`` its seed, ``prior`` as in ``luce``. Raises ``ValueError`` when a
    number of a contestant is too high, or the anchor has no game that counts.
    """
    groups = grouped(games.block)
    tally = Tally(contestants, groups.of_block)
    for part in by_blocks(games, groups, max(1, _CELLS // contestants)):
        tally.add(part)
    return tally.standings(anchor=anchor, replicates=replicates, seed=seed, prior=prior)


class Tally:
    """Gathers what standings need from games that come some blocks at a time; it does not grow with the games.

    ``of_block`` has the group of each block (``bootstrap.groups_of``).
    """

    def __init__(self, contestants: int, of_block: Integers) -> None:
        groups = int(of_block.max(initial=-1)) + 1
        self._contestants = contestants
        self._of_block = of_block
        self._choices = ChoiceTally(contestants, groups)
        # In how many blocks of each group each contestant counts, and the sums of its means in them: margins, shares of
        # rounds and of games.
        self._blocks = np.zeros((groups, contestants))
        self._sums = np.zeros((3, groups, contestants))
        self._seats = np.zeros(contestants, np.int64)
        self._uncounted = np.zeros(contestants, np.int64)
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
        self._choices.add(games, self._of_block[games.block])
        self._seats += np.bincount(games.player[counted], minlength=contestants)
        self._uncounted += np.bincount(games.player[there & ~games.counted], minlength=contestants)
        self._games += len(games)
        self._tainted += int((there & ~games.counted).any(axis=1).sum())

    def standings(
        self,
        *,
        anchor: int | None = None,
        replicates: int = REPLICATES,
        seed: int = 0,
        prior: float = PRIOR,
    ) -> Standings:
        """As ``standings`` after all games that were counted."""
        contestants, blocks = self._contestants, self._blocks
        played = blocks.sum(axis=0) > 0
        if anchor is not None and not (0 <= anchor < contestants and played[anchor]):
            raise ValueError(f"contestant {anchor} has no game that counts, so the others cannot be rated against it")
        weights = drawn(len(blocks), replicates, seed)
        rating, ratings = _ratings(self._choices.choices(), weights, prior)
        for values in (rating[None], ratings):
            if played.any():
                values -= values[:, played].mean(axis=1, keepdims=True) if anchor is None else values[:, [anchor]]
            values[:, ~played] = math.nan
        with np.errstate(invalid="ignore"):  # 0 / 0 where somebody has no block
            means = self._sums.sum(axis=1) / blocks.sum(axis=0)
            redrawn = (weights @ self._sums) / (weights @ blocks)
        number = blocks.sum(axis=0).astype(int)
        estimates = [
            [estimate(values[i], again[:, i], int(number[i])) for i in range(contestants)]
            for values, again in [(rating, ratings), *zip(means, redrawn, strict=True)]
        ]
        counts = zip(self._seats.tolist(), number.tolist(), self._uncounted.tolist(), strict=True)
        better = superiority(ratings, SAME)
        better[~played] = better[:, ~played] = math.nan
        return Standings(
            contestants=tuple(
                Standing(i, seats, among, lost, *(kind[i] for kind in estimates))
                for i, (seats, among, lost) in enumerate(counts)
            ),
            superiority=better,
            replicates=ratings,
            games=self._games,
            blocks=len(self._of_block),
            tainted=self._tainted,
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


def _ratings(made: Choices, weights: Floats, prior: float) -> tuple[Floats, Floats]:
    """The ratings, (contestants,), and those of each replicate, (replicates, contestants), not yet anchored."""
    worth = strengths(made, prior)
    rating = rated(made, made.total(), worth[None], prior)[0]
    if weights.shape[0] * made.sets.shape[1] <= _MOST_SOLVED:
        counts = made.weighted(weights)
        again = rated(made, counts, resolved(made, counts, worth, prior), prior)
    else:
        again = rating + (weights - 1) @ influences(made, worth, rating, prior)
    return rating * ELO, again * ELO
