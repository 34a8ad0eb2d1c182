"""How sure a statistic is: the bootstrap over blocks.

Games with the same deals are not independent; blocks are. So blocks are drawn with replacement, as many as there are,
and the statistic is computed anew from what was drawn, many times over (Efron 1979; clusters: Davison & Hinkley 1997,
section 3.8). The 95 % interval of a statistic is the range of its values between two quantiles. They are a little
further out than 2.5 % and 97.5 %, as Student's t is wider than the normal distribution, since few blocks differ less
among themselves than the blocks they stand for (the *expanded* percentile interval of Hesterberg 2015):

    tail = Φ(−t_{n−1; 0.975} · √(n / (n − 1))) for n blocks, at each end.

More than ``MOST_GROUPS`` blocks are put into that many groups by lot, and groups are drawn instead of blocks: so the
work does not grow with the blocks, while the width of the intervals is still known to 2 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

CONFIDENCE: Final = 0.95
MOST_GROUPS: Final = 1000
REPLICATES: Final = 1000

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its standard error and its 95 % confidence interval from ``low`` to ``high``.

    None stands for what is not known: the value without a counted game, the rest with fewer than two blocks.
    """

    value: float | None = None
    error: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Groups:
    """Blocks, or groups of blocks, that are drawn together.

    ``block``: (games,), the number of the block of each game, from 0 without gaps; ``of_block``: (blocks,), its group.
    """

    block: Integers
    of_block: Integers
    count: int

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self.of_block)

    @property
    def of_game(self) -> Integers:
        """The group of each game."""
        return self.of_block[self.block]


def grouped(block: Integers, most: int = MOST_GROUPS) -> Groups:
    """The groups of games with these numbers of blocks: a block each, or ``most`` equal ones, by lot."""
    numbers, place = np.unique(block, return_inverse=True)
    return Groups(place.astype(np.int64), groups_of(len(numbers), most), min(len(numbers), most))


def groups_of(blocks: int, most: int = MOST_GROUPS) -> Integers:
    """The group of each of so many blocks, as ``grouped`` puts them."""
    of_block = np.arange(blocks)
    if blocks > most:
        of_block = np.random.Generator(np.random.PCG64(0)).permutation(of_block) % most
    return of_block.astype(np.int64)


def drawn(groups: int, replicates: int, seed: int) -> Floats:
    """How often each group is drawn in each replicate: (replicates, groups), each row adds up to ``groups``."""
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    if not groups:
        return np.zeros((replicates, 0))
    return generator.multinomial(groups, np.full(groups, 1 / groups), size=replicates).astype(float)


def estimate(value: float, replicates: Floats, blocks: int) -> Estimate:
    """``value`` with the interval from its ``replicates``, of which those that are not a number do not count."""
    if not np.isfinite(value):
        return Estimate()
    replicates = replicates[np.isfinite(replicates)]
    if blocks < 2 or len(replicates) < 2:
        return Estimate(float(value))
    from scipy.special import ndtr, stdtrit

    quantile = stdtrit(blocks - 1, (1 + CONFIDENCE) / 2) * np.sqrt(blocks / (blocks - 1))
    tail = float(ndtr(-quantile))
    low, high = np.quantile(replicates, [tail, 1 - tail])
    error = replicates.std() * np.sqrt(blocks / (blocks - 1))
    return Estimate(float(value), float(error), float(low), float(high))


def superiority(replicates: Floats, tolerance: float) -> Floats:
    """The share of replicates in which the row's contestant is above the column's: (contestants, contestants).

    ``replicates``: (replicates, contestants); those in which one of the two is not a number do not count. Differences
    up to ``tolerance`` are ties and count half; so does the diagonal. With n replicates, a share is known no closer to
    0 and 1 than 1/(2n), and says so. Not a number where one is in none.
    """
    contestants = replicates.shape[1]
    shares = np.full((contestants, contestants), 0.5)
    known = np.isfinite(replicates)
    shares[~known.any(axis=0)] = shares[:, ~known.any(axis=0)] = np.nan
    columns = np.ascontiguousarray(replicates.T)  # a column is gone through at once
    with np.errstate(invalid="ignore", divide="ignore"):
        for one in range(contestants - 1):
            difference = columns[one] - columns[one + 1 :]
            above = np.count_nonzero(difference > tolerance, axis=1)
            below = np.count_nonzero(difference < -tolerance, axis=1)
            count = np.count_nonzero(np.isfinite(difference), axis=1)
            share = np.clip((above + 0.5 * (count - above - below)) / count, 0.5 / count, 1 - 0.5 / count)
            shares[one, one + 1 :], shares[one + 1 :, one] = share, 1 - share
    return shares
