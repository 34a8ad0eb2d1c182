"""Whether ratings fit the games they come from: what they foretell, against what happened.

Ratings promise how often one of two ends before the other, whoever they are, and nothing more. Two questions:

- *Pairs*: is there one number for each contestant from which all pairs follow? Of a pair that met in ``FEWEST`` blocks
  or more, r is the points of the first less those foretold, summed over blocks, and z = Σ r / √Σ r². Where ratings fit,
  z² is 1 on average, less what fitting takes away. ``excess`` is Σ z² / (pairs − contestants + 1): about 1.
  ``typical`` is by how much shares are off beyond what chance does to them: √ of the mean of (Σ r)² − Σ r² over n².
- *First places*: in Plackett–Luce with the same λ a seat has the first place with odds exp(λ). Here with odds exp(κ λ),
  and κ is fitted. Above 1 the stronger ones come first more often than their pairs promise.

Errors count blocks. That of κ has both parts: how much a block says of κ, and how much of λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.bootstrap import CONFIDENCE, Estimate, Floats, Integers
from caboose.arena.stats.bradley_terry import Met, Sums, expit, influences
from caboose.arena.stats.game_table import NOBODY, Games, distinct

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FEWEST: Final = 10  # blocks in which a pair met, or a contestant played, before its shares are compared
_TABLE: Final = 1 << 32  # more than there are kinds of tables
_MOST_STEPS: Final = 50
_LARGEST: Final = 20.0  # κ at which it is called unknown


@dataclass(frozen=True, slots=True)
class PairFit:
    """How often the ``first`` of two ended before the ``second``, ties half: ``observed`` over ``blocks``, with its
    interval, and as ``foretold`` by their ratings. ``z`` is the difference in standard errors."""

    first: int
    second: int
    observed: Estimate
    foretold: float
    z: float
    blocks: int


@dataclass(frozen=True, slots=True)
class FirstFit:
    """The share of first places of a contestant's seats, ``observed``, and as ``foretold`` with κ = 1 and with the
    ``fitted`` κ."""

    contestant: int
    observed: Estimate
    foretold: float
    fitted: float


@dataclass(frozen=True, slots=True)
class Fit:
    """How well ratings fit.

    ``pairs`` were compared, ``freedom`` more of them than ratings need, and those that are furthest off are in
    ``worst``; ``excess`` and ``typical`` are None without freedom. ``kappa`` is that of first places, ``first`` by
    contestant.
    """

    pairs: int
    freedom: int
    excess: float | None
    typical: float | None
    worst: tuple[PairFit, ...]
    kappa: Estimate
    first: tuple[FirstFit, ...]

    @property
    def doubtful(self) -> bool:
        """Whether pairs are further off than chance should let them: by three standard errors."""
        return self.excess is not None and self.excess > 1 + 3 * math.sqrt(2 / self.freedom)


class FirstPlaces:
    """Gathers first places from games that come some at a time; it grows with the kinds of tables, not with games.

    Games count that have more than two seats, not all of one contestant, and no fault. Of two a first place is a pair.
    """

    def __init__(self, contestants: int, groups: int) -> None:
        self._numbers: dict[bytes, int] = {}
        self._tables: list[npt.NDArray[np.int32]] = []
        self._games = Sums(1)
        self._won = np.zeros((groups, contestants))

    def add(self, games: Games, group: Integers) -> None:
        """Counts some games; ``group`` has the group of each."""
        there = games.player != NOBODY
        several = ((games.player != games.player[:, :1]) & there).any(axis=1)
        rows = np.flatnonzero((games.counted | ~there).all(axis=1) & several & (there.sum(axis=1) > 2))
        if not len(rows):
            return
        player, place, there = games.player[rows], games.place[rows], there[rows]
        first = there & (place == np.where(there, place, np.iinfo(np.int16).max).min(axis=1, keepdims=True))
        shares = first / first.sum(axis=1, keepdims=True)
        np.add.at(self._won, (np.broadcast_to(group[rows, None], player.shape)[first], player[first]), shares[first])
        members = np.sort(player, axis=1)[:, ::-1]  # nobody is last
        kinds, kind = distinct([members[:, seat] for seat in range(games.seats)], int(player.max()) + 2)
        number = np.array([self._number(members[row]) for row in kinds], np.int64)[kind]
        self._games.add(group[rows] * _TABLE + number, np.ones((1, len(rows))))

    def _number(self, table: npt.NDArray[np.int32]) -> int:
        code = table[table != NOBODY].astype(np.int32)
        number = self._numbers.setdefault(code.tobytes(), len(self._numbers))
        if number == len(self._tables):
            self._tables.append(code)
        return number

    def found(self) -> Tables:
        """All that was counted."""
        from scipy.sparse import csr_matrix

        keys, (games,) = self._games.total()
        width = max((len(table) for table in self._tables), default=1)
        member = np.full((len(self._tables), width), NOBODY, np.int32)
        for at, table in enumerate(self._tables):
            member[at, : len(table)] = table
        came = csr_matrix((games, (keys // _TABLE, keys % _TABLE)), shape=(len(self._won), len(member)))
        return Tables(member, came, self._won)


@dataclass(frozen=True, slots=True)
class Tables:
    """First places. ``member``: (tables, seats), who sits at each kind of table; ``came``: (groups, tables), in how
    many games; ``won``: (groups, contestants), the first places, shared by those that tie."""

    member: npt.NDArray[np.int32]
    came: csr_matrix
    won: Floats

    def foretold(self, worth: Floats) -> tuple[Floats, Floats, Floats]:
        """What comes of odds exp(``worth``): expected first places (groups, contestants); for each group the mean
        ``worth`` of who is first, added up, and its variance: (groups,) each."""
        odds, value = self._odds(worth)
        mean = (odds * value).sum(axis=1)
        variance = (odds * (value - mean[:, None]) ** 2).sum(axis=1)
        return (self.came @ self._by_contestant(odds)).toarray(), self.came @ mean, self.came @ variance

    def drift(self, worth: Floats, kappa: float) -> Floats:
        """The derivative by each λ of Σ λ of who is first less its expectation at odds exp(κ λ): (contestants,)."""
        odds, value = self._odds(kappa * worth)
        mean = (odds * value).sum(axis=1, keepdims=True)
        count = np.asarray(self.came.sum(axis=0)).ravel()
        total = np.asarray(count @ self._by_contestant(odds * (1 + value - mean)), float)
        found: Floats = self.won.sum(axis=0) - total
        return found

    def seats(self) -> tuple[Floats, Integers]:
        """How many seats each contestant had, and in how many groups it had any."""
        seats = self.came @ self._by_contestant((self.member != NOBODY).astype(float))
        return np.asarray(seats.sum(axis=0)).ravel(), np.asarray((seats > 0).sum(axis=0)).ravel().astype(np.int64)

    def _odds(self, worth: Floats) -> tuple[Floats, Floats]:
        """The chance of each seat to be first, and its ``worth``: (tables, seats) each, 0 where nobody sits."""
        there = self.member != NOBODY
        value = np.where(there, worth[self.member], 0.0)
        odds = np.where(there, np.exp(value - value.max(axis=1, keepdims=True, initial=0.0)), 0.0)
        return odds / odds.sum(axis=1, keepdims=True), value

    def _by_contestant(self, values: Floats) -> csr_matrix:
        """Values of seats, added up by contestant: (tables, contestants)."""
        from scipy.sparse import csr_matrix

        row, column = np.nonzero(self.member != NOBODY)
        cells = (row, self.member[row, column])
        return csr_matrix((values[row, column], cells), shape=(len(self.member), self.won.shape[1]))


def check_fit(met: Met, places: Tables, worth: Floats, most: int = 10) -> Fit:
    """How well ``worth``, the λ that ``strengths`` found for ``met``, fits; ``worst`` has at most so many pairs."""
    return Fit(*_pairs(met, worth, most), *_first(met, places, worth))


def _pairs(met: Met, worth: Floats, most: int) -> tuple[int, int, float | None, float | None, tuple[PairFit, ...]]:
    pairs = met.pairs
    ahead = expit(worth[pairs.first] - worth[pairs.second])
    residuals = (pairs.points - pairs.meetings.multiply(ahead[None])).tocsr()
    off = np.asarray(residuals.sum(axis=0)).ravel()
    squares = np.asarray(residuals.multiply(residuals).sum(axis=0)).ravel()
    points, meetings = pairs.total()
    blocks = np.asarray((pairs.meetings > 0).sum(axis=0)).ravel()
    known = np.flatnonzero((blocks >= FEWEST) & (squares > 0))
    if not len(known):
        return 0, 0, None, None, ()
    z = off[known] / np.sqrt(squares[known])
    freedom = len(known) - len(np.unique([pairs.first[known], pairs.second[known]])) + 1
    excess = typical = None
    if freedom > 0:
        excess = float((z**2).sum()) / freedom
        # The squares of the residuals are too small by what fitting took of them.
        beyond = (off[known] ** 2 - squares[known] * freedom / len(known)) / meetings[known] ** 2
        typical = math.sqrt(max(float(np.average(beyond, weights=meetings[known])), 0.0))
    worst = []
    for at in np.argsort(-np.abs(z), kind="stable")[:most]:
        pair = known[at]
        share, count = points[pair] / meetings[pair], int(blocks[pair])
        column = pairs.points[:, [pair]].toarray()[:, 0] - share * pairs.meetings[:, [pair]].toarray()[:, 0]
        error = math.sqrt(float((column**2).sum()) * count / (count - 1)) / meetings[pair]
        names = int(pairs.first[pair]), int(pairs.second[pair])
        worst.append(PairFit(*names, _student(share, error, count), float(ahead[pair]), float(z[at]), count))
    return len(known), freedom, excess, typical, tuple(worst)


def _first(met: Met, places: Tables, worth: Floats) -> tuple[Estimate, tuple[FirstFit, ...]]:
    kappa = _kappa(places, worth)
    plain = places.foretold(worth)[0]
    fitted = plain if kappa.value is None else places.foretold(kappa.value * worth)[0]
    if kappa.value is not None:
        kappa = _kappa_error(met, places, worth, kappa.value)
    seats, groups = places.seats()
    found = []
    for i in np.flatnonzero(groups >= FEWEST).tolist():
        off = places.won[:, i] - plain[:, i]
        off = off - off.mean()
        error = math.sqrt(float((off**2).sum()) * groups[i] / (groups[i] - 1)) / seats[i]
        share = float(places.won[:, i].sum() / seats[i])
        expected = [float(each[:, i].sum() / seats[i]) for each in (plain, fitted)]
        found.append(FirstFit(i, _student(share, error, int(groups[i])), *expected))
    return kappa, tuple(found)


def _kappa(places: Tables, worth: Floats) -> Estimate:
    """κ by Newton's method; unknown where all are equal, or the strongest is always first."""
    gained = float((places.won @ worth).sum())
    kappa = 1.0
    for _ in range(_MOST_STEPS):
        _, mean, variance = places.foretold(kappa * worth)
        slope = kappa * gained - float(mean.sum())
        curvature = float(variance.sum())
        if curvature <= 1e-12:
            return Estimate()
        # In κ: both have one factor κ too many, or two.
        step = min(max(kappa * slope / curvature, -0.5 * kappa), kappa)
        kappa += step
        if not 1e-3 < kappa < _LARGEST:
            return Estimate()
        if abs(step) < 1e-10:
            return Estimate(kappa)
    return Estimate()


def _kappa_error(met: Met, places: Tables, worth: Floats, kappa: float) -> Estimate:
    """κ with its interval."""
    _, mean, variance = places.foretold(kappa * worth)
    slopes = places.won @ worth - mean / kappa
    curvature = float(variance.sum()) / kappa**2
    moved, _ = influences(met, worth, worth)
    of_group = (slopes + moved @ places.drift(worth, kappa)) / curvature
    count = int((np.abs(places.won).sum(axis=1) > 0).sum())
    if count < FEWEST:
        return Estimate(kappa)
    return _student(kappa, math.sqrt(float((of_group**2).sum()) * count / (count - 1)), count)


def _student(value: float, error: float, count: int) -> Estimate:
    """Student's interval over so many blocks."""
    from scipy.special import stdtrit

    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(float(value), error, float(value) - half, float(value) + half)
