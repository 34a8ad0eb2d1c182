"""What a report tells beyond the standings: every pair, how margins spread, how ratings settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from caboose.arena.stats.bootstrap import CONFIDENCE, Floats, Integers
from caboose.arena.stats.game_table import NOBODY, Games
from caboose.arena.stats.ratings import Mask, Standings, standings

BINS: Final = 40
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
_SHOWN: Final = 0.002  # of all margins are beyond the range of the bins, at each end
_REPLICATES: Final = 200  # for a rating on the way; the last one is that of the standings
_FEWEST: Final = 8  # blocks of the first rating on the way
_STEPS: Final = 9  # between the first and the last rating, at most


@dataclass(frozen=True, slots=True)
class Pairs:
    """How contestants fared against each other in games without a fault: (contestants, contestants).

    ``margin`` of the row's over the column's, pips a round, mean over blocks; ``half`` the half width of its 95 %
    interval (Student's t over blocks); not a number where not known. ``blocks`` in which both played.
    """

    margin: Floats
    half: Floats
    blocks: Integers


@dataclass(frozen=True, slots=True)
class Spread:
    """The margins of a contestant's single games, pips a round: how many there are, their mean, standard deviation and
    ``QUANTILES``, and how many are in each of the bins of ``Spreads``."""

    games: int
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spreads:
    """Of all contestants by number, None without a game that counts. ``edges``: of the bins, ``BINS + 1``."""

    edges: tuple[float, ...]
    spreads: tuple[Spread | None, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The standings when so many blocks and games had been played."""

    blocks: int
    games: int
    standings: Standings


def pair_margins(games: Games, contestants: int) -> Pairs:
    """The margin of each pair.

    A seat's margin M is the mean score of the seats of others less its own. So between two contestants with a and b of
    k seats the mean scores differ by ((k − a) · M_A − (k − b) · M_B) / k: what the others scored falls out.
    """
    there = games.player != NOBODY
    rows = np.flatnonzero((games.counted | ~there).all(axis=1))
    # In a block the same contestants play: sorted, each has the same column in all its games.
    order = np.argsort(np.where(there, games.player, contestants)[rows], axis=1, kind="stable")
    player = np.take_along_axis(games.player[rows], order, axis=1)
    margin = np.take_along_axis(games.margin[rows], order, axis=1)
    _, block = np.unique(games.block[rows], return_inverse=True)
    size = (player != NOBODY).sum(axis=1)
    part, first = np.zeros(margin.shape), np.zeros(margin.shape, np.bool_)
    for seat in range(games.seats):
        own = player == player[:, seat : seat + 1]
        copies = own.sum(axis=1)
        part[:, seat] = (size - copies) * np.where(own, margin, 0).sum(axis=1) / (copies * size)
        first[:, seat] = ~own[:, :seat].any(axis=1) & (player[:, seat] != NOBODY)
    cells = contestants**2
    count, total, squares = np.zeros(cells), np.zeros(cells), np.zeros(cells)
    for one, other in combinations(range(games.seats), 2):
        met = np.flatnonzero(first[:, one] & first[:, other])
        if not len(met):
            continue
        of_block = block[met]
        meetings = np.bincount(of_block)
        sums = np.bincount(of_block, part[met, one] - part[met, other])
        pair = np.zeros(len(meetings), np.int64)
        pair[of_block] = player[met, one].astype(np.int64) * contestants + player[met, other]
        found = np.flatnonzero(meetings)
        means, pair = sums[found] / meetings[found], pair[found]
        count += np.bincount(pair, minlength=cells)
        total += np.bincount(pair, means, minlength=cells)
        squares += np.bincount(pair, means**2, minlength=cells)
    shape = (contestants, contestants)
    count, total, squares = count.reshape(shape), total.reshape(shape), squares.reshape(shape)
    count, total, squares = count + count.T, total - total.T, squares + squares.T
    from scipy.special import stdtrit

    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 where two never met
        mean = total / count
        variance = np.maximum(squares / count - mean**2, 0) * count / (count - 1)
        half = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * np.sqrt(variance / count)
    half[count < 2] = math.nan
    return Pairs(mean, half, count.astype(np.int64))


def spreads(games: Games, contestants: int) -> Spreads:
    """How the margins of each contestant spread."""
    counted = (games.player != NOBODY) & games.counted
    every = games.margin[counted]
    low, high = np.quantile(every, [_SHOWN, 1 - _SHOWN]) if len(every) else (-1.0, 1.0)
    widest = max(abs(float(low)), abs(float(high)), 1.0)
    edges = np.linspace(-widest, widest, BINS + 1)
    found: list[Spread | None] = []
    for contestant in range(contestants):
        own = games.margin[counted & (games.player == contestant)].astype(float)
        if not len(own):
            found.append(None)
            continue
        deviation = float(own.std(ddof=1)) if len(own) > 1 else math.nan
        quantiles = tuple(np.quantile(own, QUANTILES).tolist())
        counts = tuple(np.histogram(own, edges)[0].tolist())
        found.append(Spread(len(own), float(own.mean()), deviation, quantiles, counts))
    return Spreads(tuple(edges.tolist()), tuple(found))


def settling(
    games: Games,
    ended: Integers,
    last: Standings,
    *,
    anchor: int | None = None,
    level: float = 0.0,
    mean_of: Mask | None = None,
) -> list[Checkpoint]:
    """How ratings settled as blocks ended. ``ended``: the numbers of the blocks in that order. ``last`` is the
    standings of all ``games``, and the last checkpoint. The rest is as in ``standings``; before the anchor has played
    there are no ratings.

    Each of the others has the same share of the blocks of the next one: their intervals narrow in even steps, and all
    together cost little more than the last one.
    """
    place = np.zeros(int(ended.max(initial=-1)) + 1, np.int64)
    place[ended] = np.arange(len(ended))
    of_game = place[games.block]
    factor = max((len(ended) / _FEWEST) ** (1 / _STEPS), math.sqrt(2))
    found = [Checkpoint(last.blocks, last.games, last)]
    for step in range(1, _STEPS + 1):
        blocks = round(len(ended) / factor**step)
        if blocks < _FEWEST:
            break
        some = games.select(of_game < blocks)
        if anchor is not None and not ((some.player == anchor) & some.counted).any():
            break
        then = standings(
            some,
            len(last.contestants),
            anchor=anchor,
            level=level,
            mean_of=mean_of,
            replicates=_REPLICATES,
            fit=False,
        )
        found.append(Checkpoint(blocks, len(some), then))
    return found[::-1]


def ranked(found: Standings) -> Sequence[int]:
    """The numbers of the contestants that played, the best first."""
    return [standing.contestant for standing in found.ranked() if standing.games or standing.uncounted]
