"""What blocks are for: how much luck they took out, and whether a seat is better than another.

Only *whole* blocks are looked at: as many games as seats, the same contestants in all of them, nothing tainted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from caboose.arena.bootstrap import CONFIDENCE, Estimate, Floats, Integers, grouped
from caboose.arena.games import NOBODY, Games
from caboose.arena.luce import distinct

Whole = list[tuple[npt.NDArray[np.intp], Integers]]


@dataclass(frozen=True, slots=True)
class Gain:
    """What playing each deal in all rotations did for the margins.

    ``factor``: so many times more games it would have taken for the same precision had each been a deal of its own;
    None where it is not known: too few blocks, or no luck left at all. ``alone``: the variance that a mean over the
    games of a block would have if they were independent, ``together``: the variance that it has; pips², means over the
    contestants. ``blocks`` were looked at.
    """

    factor: float | None
    alone: float
    together: float
    blocks: int


@dataclass(frozen=True, slots=True)
class Seats:
    """How the seats of the tables with ``seats`` players fared. ``blocks`` were looked at.

    ``margin``: for each seat, pips a round, less the mean over all seats; ``games_won``: its share. ``p``: how likely
    differences of the margins at least as great are if no seat is better than another (Hotelling's T² test); None
    where there are not more blocks than seats, or the margins do not differ at all.
    """

    seats: int
    blocks: int
    margin: tuple[Estimate, ...]
    games_won: tuple[Estimate, ...]
    p: float | None


def gain(games: Games, whole: Whole | None = None) -> Gain:
    """The factor by which blocks cut the variance of margins. ``whole`` is ``whole_blocks(games)``, for who has it.

    For a contestant in one line-up, s² is the variance of its margins in single games, b² that of its means over
    blocks of k games. Games of their own would give s²/k; the factor is Σ s²/k over Σ b², sums over contestants and
    line-ups with at least two blocks.
    """
    alone = together = 0.0
    freedom, blocks = 0.0, 0
    for rows, lineup in whole_blocks(games) if whole is None else whole:
        size = rows.shape[1]
        count = np.bincount(lineup)
        blocks += int(count[count > 1].sum())
        margin, player = games.margin[rows][:, :, :size].astype(float), games.player[rows][:, :, :size]
        members = np.sort(player[:, 0], axis=1)
        for seat in range(size):
            own = player == members[:, None, None, seat]
            # The mean over the seats of a contestant in a game: (blocks, games).
            of_game = (margin * own).sum(axis=2) / own.sum(axis=2)
            # A contestant with copies comes up once for each of them, and counts once.
            share = (count - 1) * np.bincount(lineup, 1 / own[:, 0].sum(axis=1)) / count
            alone += float((share * _variances(of_game, lineup)).sum()) / size
            together += float((share * _variances(of_game.mean(axis=1, keepdims=True), lineup)).sum())
            freedom += float(share.sum())
    if not freedom:
        return Gain(None, 0.0, 0.0, blocks)
    return Gain(alone / together if together > 0 else None, alone / freedom, together / freedom, blocks)


def seat_bias(games: Games, whole: Whole | None = None) -> list[Seats]:
    """How the seats fared, for each number of players at a table. ``whole`` as in ``gain``."""
    return [_seats(games, rows) for rows, _ in (whole_blocks(games) if whole is None else whole)]


def _seats(games: Games, rows: npt.NDArray[np.intp]) -> Seats:
    """The seats of one kind of table; ``rows``: (blocks, games)."""
    blocks, seats = rows.shape
    margin = games.margin[rows][:, :, :seats].astype(float).mean(axis=1)
    margin -= margin.mean(axis=1, keepdims=True)
    won = games.games_won[rows][:, :, :seats].astype(float).mean(axis=1)
    return Seats(
        seats,
        blocks,
        tuple(_t_estimate(margin[:, seat]) for seat in range(seats)),
        tuple(_t_estimate(won[:, seat]) for seat in range(seats)),
        _hotelling(margin[:, :-1]),  # the last one follows from the others
    )


def _variances(values: Floats, lineup: Integers) -> Floats:
    """The variance of the values of each line-up, 0 for a single one. ``values``: (blocks, any)."""
    count = np.bincount(lineup) * values.shape[1]
    values = values - (np.bincount(lineup, values.sum(axis=1)) / count)[lineup, None]
    squares: Floats = np.bincount(lineup, (values**2).sum(axis=1)) / np.maximum(count - 1, 1)
    return squares


def _t_estimate(values: Floats) -> Estimate:
    """The mean of independent values with Student's t interval."""
    if len(values) < 2:
        return Estimate(float(values.mean())) if len(values) else Estimate()
    from scipy.special import stdtrit

    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, error, mean - half, mean + half)


def _hotelling(values: Floats) -> float | None:
    """The p-value of Hotelling's test that the mean of the rows is 0 in all columns; None where it cannot be done."""
    count, columns = values.shape
    if count <= columns:
        return None
    covariance = np.cov(values, rowvar=False).reshape(columns, columns)
    if np.linalg.matrix_rank(covariance) < columns:
        return None
    mean = values.mean(axis=0)
    square = count * float(mean @ np.linalg.solve(covariance, mean))
    from scipy.special import fdtrc

    return float(fdtrc(columns, count - columns, square * (count - columns) / (columns * (count - 1))))


def whole_blocks(games: Games) -> Whole:
    """The whole blocks of each number of seats: the rows of their games, (blocks, games), and their line-ups."""
    if not len(games):
        return []
    there = games.player != NOBODY
    size = there.sum(axis=1)
    whole = (games.counted | ~there).all(axis=1)
    members = np.sort(games.player, axis=1).astype(np.int64)
    base = int(games.player.max(initial=0)) + 2
    _, lineup = distinct([members[:, seat] for seat in range(games.seats)], base)
    block = grouped(games.block).block
    order = np.argsort(block, kind="stable")
    starts = np.flatnonzero(np.diff(block[order], prepend=-1))
    good = np.minimum.reduceat(whole[order].astype(np.int64), starts) > 0
    good &= np.diff(starts, append=len(order)) == size[order][starts]
    good &= np.maximum.reduceat(lineup[order], starts) == np.minimum.reduceat(lineup[order], starts)
    sizes, lineups = size[order][starts], lineup[order][starts]
    kinds = []
    for seats in np.unique(sizes[good]):
        mine = good & (sizes == seats)
        _, number = np.unique(lineups[mine], return_inverse=True)
        kinds.append((order[starts[mine][:, None] + np.arange(seats)], number))
    return kinds
