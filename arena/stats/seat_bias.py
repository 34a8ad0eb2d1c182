"""What blocks are for: how much luck they took out, and whether a seat is better than another.

Only *whole* blocks are looked at: as many games as seats, the same contestants in all of them, nothing tainted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.bootstrap import CONFIDENCE, Estimate, Floats, Integers, grouped
from caboose.arena.stats.game_table import NOBODY, Games, distinct

LEVEL: Final = 0.01  # a p-value below which seats are told to differ
POWER: Final = 0.8  # the likelihood with which a test finds a bias that it can be said to have looked for
_FARTHEST: Final = 1e4  # noncentrality up to which scipy looks
_ROUNDING: Final = 1e-10  # of a variance: margins are kept in 24 bits

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
    where there are not more blocks than seats, or the margins do not differ at all. ``finds``: the least bias that the
    test finds with a likelihood of ``POWER`` or more, whichever seat has it: pips a round by which its margin is better
    than the mean of all seats; None where ``p`` is, and with so few blocks that hardly any would be found.
    """

    seats: int
    blocks: int
    margin: tuple[Estimate, ...]
    games_won: tuple[Estimate, ...]
    p: float | None
    finds: float | None


def gain(games: Games) -> Gain:
    """The factor by which blocks cut the variance of margins.

    For a contestant in one line-up, s² is the variance of its margins in single games, b² that of its means over
    blocks of k games. Games of their own would give s²/k; the factor is Σ s²/k over Σ b², sums over contestants and
    line-ups with at least two blocks.
    """
    tally = FairnessTally()
    tally.add(games)
    return tally.gain()


def seat_bias(games: Games) -> list[Seats]:
    """How the seats fared, for each number of players at a table."""
    tally = FairnessTally()
    tally.add(games)
    return tally.seats()


class FairnessTally:
    """Gathers what ``gain`` and ``seat_bias`` need from games that come some blocks at a time; it grows with the
    line-ups, not with the games."""

    def __init__(self) -> None:
        self._blocks = 0
        self._numbers: dict[int, dict[bytes, int]] = {}  # of line-ups, by the size of the table
        self._lineups: dict[int, _Lineups] = {}
        self._margins: dict[int, _Moments] = {}
        self._won: dict[int, _Moments] = {}

    def add(self, games: Games) -> None:
        """Looks at some blocks; all games of each."""
        for rows, lineup in whole_blocks(games):
            size = rows.shape[1]
            margin = games.margin[rows][:, :, :size].astype(float)
            self._add_lineups(margin, games.player[rows][:, :, :size], lineup)
            seats = margin.mean(axis=1)
            won = games.games_won[rows][:, :, :size].astype(float).mean(axis=1)
            for moments, values in ((self._margins, seats - seats.mean(axis=1, keepdims=True)), (self._won, won)):
                moments.setdefault(size, _Moments(size)).add(values)

    def gain(self) -> Gain:
        """As ``gain`` of all games that were looked at."""
        alone = together = freedom = 0.0
        blocks = 0
        for size, lineups in self._lineups.items():
            count = lineups.count
            blocks += int(count[count > 1].sum())
            # A contestant with copies comes up once for each of them, and counts once.
            share = np.maximum(count - 1, 0)[:, None] / lineups.copies
            alone += float((share * lineups.of_games / np.maximum(count * size - 1, 1)[:, None]).sum()) / size
            together += float((share * lineups.of_blocks / np.maximum(count - 1, 1)[:, None]).sum())
            freedom += float(share.sum())
        if not freedom:
            return Gain(None, 0.0, 0.0, blocks)
        # Where nothing is left but rounding, nothing is known.
        factor = alone / together if together > _ROUNDING * alone else None
        return Gain(factor, alone / freedom, together / freedom, blocks)

    def seats(self) -> list[Seats]:
        """As ``seat_bias`` of all games that were looked at."""
        found = []
        for size, margin in sorted(self._margins.items()):
            won = self._won[size]
            estimates = [tuple(_t_estimate(each, seat) for seat in range(size)) for each in (margin, won)]
            p, finds = _hotelling(margin)
            found.append(Seats(size, margin.count, estimates[0], estimates[1], p, finds))
        return found

    def _add_lineups(self, margin: Floats, player: npt.NDArray[np.int32], lineup: Integers) -> None:
        """``margin`` and ``player``: (blocks, games, seats); ``lineup``: the number of each block's here."""
        size = margin.shape[2]
        members = np.sort(player[:, 0], axis=1)
        of_lineup = np.unique(lineup, return_index=True)[1]
        part = _Lineups(len(of_lineup), size)
        part.count = np.bincount(lineup)
        for seat in range(size):
            own = player == members[:, None, None, seat]
            # The mean over the seats of a contestant in a game: (blocks, games).
            of_game = (margin * own).sum(axis=2) / own.sum(axis=2)
            part.copies[:, seat] = own[of_lineup, 0].sum(axis=1)
            for mean, squares, values in (
                (part.mean_games, part.of_games, of_game),
                (part.mean_blocks, part.of_blocks, of_game.mean(axis=1, keepdims=True)),
            ):
                mean[:, seat] = np.bincount(lineup, values.sum(axis=1)) / (part.count * values.shape[1])
                squares[:, seat] = np.bincount(lineup, ((values - mean[lineup, None, seat]) ** 2).sum(axis=1))
        known = self._numbers.setdefault(size, {})
        number = np.array([known.setdefault(row.tobytes(), len(known)) for row in members[of_lineup]], np.int64)
        whole = self._lineups.setdefault(size, _Lineups(0, size))
        whole.grow(len(known))
        whole.merge(part, number, size)


class _Lineups:
    """For each line-up of one size of table: ``count``, its blocks; and for each of its members (line-ups, members)
    how many ``copies`` it has, and the means and the sums of squared deviations of its margins, of games and of
    blocks."""

    def __init__(self, lineups: int, size: int) -> None:
        self.count = np.zeros(lineups, np.int64)
        self.copies = np.ones((lineups, size))
        self.mean_games, self.of_games, self.mean_blocks, self.of_blocks = np.zeros((4, lineups, size))

    def grow(self, lineups: int) -> None:
        """Makes room."""
        for name, value in vars(self).items():
            room = [(0, lineups - len(value)), *[(0, 0)] * (value.ndim - 1)]
            setattr(self, name, np.pad(value, room))

    def merge(self, part: _Lineups, number: Integers, size: int) -> None:
        """Adds other blocks of the line-ups with these numbers (Chan, Golub & LeVeque 1983)."""
        before, more = self.count[number][:, None].astype(float), part.count[:, None].astype(float)
        for mean, squares, part_mean, part_squares, times in (
            (self.mean_games, self.of_games, part.mean_games, part.of_games, size),
            (self.mean_blocks, self.of_blocks, part.mean_blocks, part.of_blocks, 1),
        ):
            step = np.where(before > 0, part_mean - mean[number], 0.0)
            squares[number] += part_squares + step**2 * (times * before * more / (before + more))
            mean[number] = np.where(before > 0, mean[number] + step * (more / (before + more)), part_mean)
        self.count[number] += part.count
        self.copies[number] = part.copies


class _Moments:
    """The mean of rows of ``columns`` values and the sums of products of their deviations from it."""

    def __init__(self, columns: int) -> None:
        self.count = 0
        self.mean = np.zeros(columns)
        self.products = np.zeros((columns, columns))

    def add(self, rows: Floats) -> None:
        """Adds rows (Chan, Golub & LeVeque 1983)."""
        more = len(rows)
        mean = rows.mean(axis=0)
        rest = rows - mean
        total = self.count + more
        step = mean - self.mean if self.count else np.zeros_like(mean)
        self.products += rest.T @ rest + np.outer(step, step) * (self.count * more / total)
        self.mean = self.mean + step * (more / total) if self.count else mean
        self.count = total


def _t_estimate(moments: _Moments, column: int) -> Estimate:
    """The mean of independent values with Student's t interval."""
    count, mean = moments.count, float(moments.mean[column])
    if count < 2:
        return Estimate(mean)
    from scipy.special import stdtrit

    error = math.sqrt(moments.products[column, column] / (count - 1) / count)
    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, error, mean - half, mean + half)


def _hotelling(moments: _Moments) -> tuple[float | None, float | None]:
    """The p-value of Hotelling's test that the mean of the rows is 0 in all columns, of which the last follows from the
    others, and the least bias of a column that it finds with ``POWER``; None where it cannot be done."""
    count, columns = moments.count, len(moments.mean) - 1
    if count <= columns:
        return None, None
    covariance = moments.products[:-1, :-1] / (count - 1)
    if np.linalg.matrix_rank(covariance) < columns:
        return None, None
    from scipy.special import fdtrc, fdtri, ncfdtrinc

    mean = moments.mean[:-1]
    square = count * float(mean @ np.linalg.solve(covariance, mean))
    freedom = count - columns
    p = float(fdtrc(columns, freedom, square * freedom / (columns * (count - 1))))
    # Under a bias the statistic has a noncentral F distribution with n · bias' covariance⁻¹ bias (Anderson 2003, 5.4).
    noncentral = float(ncfdtrinc(columns, freedom, 1 - POWER, fdtri(columns, freedom, 1 - LEVEL)))
    if not noncentral < _FARTHEST:
        return p, None
    # One seat is better than the mean of all by a pip, which the others lose alike.
    biases = np.eye(columns + 1) - (1 - np.eye(columns + 1)) / columns
    weights = [float(bias[:-1] @ np.linalg.solve(covariance, bias[:-1])) for bias in biases]
    return p, math.sqrt(noncentral / (count * min(weights)))


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
