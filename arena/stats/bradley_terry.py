"""Bradley–Terry over pairs of seats: how strong each contestant is, from who ended before whom.

The model (Zermelo 1929, Bradley & Terry 1952): a seat of contestant i ends before one of j with the probability
1 / (1 + exp(λ_j − λ_i)). A game of k seats has k(k − 1)/2 pairs, and each is looked at for itself: the log-likelihood

    Σ_{i<j} s_ij ln p_ij + s_ji ln(1 − p_ij)

where s_ij counts how often i ended before j, ties half, is a *composite* one (Varin, Reid & Firth 2011): pairs of a
game hang together, which changes nothing about where its maximum is, and the bootstrap over blocks tells how sure that
is. All that is kept of the games is the points and the meetings of each pair (``Pairs``).

Of two contestants it is the logarithm of the odds of their pairs: the Elo that ``sequential`` tests. The Plackett–Luce
model, in which pairs have the same probabilities, is not used: it says more, namely how often each is first, second and
so on in a whole table, and where that is wrong its λ do not foretell pairs any more (docs/explanation/statistics.md).

- *Copies* of one contestant at a table are no pair.
- *Faults*: a game with a fault counts only for the seats that made one, as lost. In the same likelihood it would help
  the others; so λ comes from pairs of seats that both count, and whoever made a fault is then rated by all its own
  pairs, lost games included, with the strengths of the others fixed at their λ (``rated``).
- *Regularisation*: where the games do not link all to all by points (someone won or lost all, some never met others,
  not even through third ones), there is no finite maximum (Ford 1957); then each contestant has ``PRIOR`` ties
  against a ghost with λ = 0, as in Turner et al. (2020). Where there is one, nobody has.

Solved by Newton's method, many weightings of the same games at once for the bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.game_table import NOBODY, Games

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PRIOR: Final = 1.0  # ties with a ghost of average strength, for each contestant, where a ghost is needed
STEP: Final = 1.0  # the longest step of one iteration in any λ
TOLERANCE: Final = 1e-10  # of the largest step in λ at which an iteration ends
MOST_STEPS: Final = 100
CHUNK: Final = 1 << 16  # games looked at in one go, so that memory does not grow with them
CELLS: Final = 1 << 20  # numbers of an array for many weightings at once, at most
_PENDING: Final = 1 << 19  # sums that wait to be merged

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Sums:
    """Sums by key, of some columns. Grows with the keys, not with what is added."""

    def __init__(self, columns: int) -> None:
        self._keys = np.zeros(0, np.int64)
        self._values = np.zeros((columns, 0))
        self._new: list[tuple[Integers, Floats]] = []
        self._pending = 0

    def add(self, keys: Integers, values: Floats) -> None:
        """Adds ``values``, (columns, entries), to the sums of ``keys``, (entries,)."""
        self._new.append(_merged([(keys, values)]))
        self._pending += len(self._new[-1][0])
        if self._pending > max(_PENDING, len(self._keys)):
            self.total()

    def total(self) -> tuple[Integers, Floats]:
        """The keys, ascending, and their sums: (columns, keys)."""
        if self._new:
            self._keys, self._values = _merged([(self._keys, self._values), *self._new])
            self._new, self._pending = [], 0
        return self._keys, self._values


def _merged(parts: list[tuple[Integers, Floats]]) -> tuple[Integers, Floats]:
    keys, place = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    values = np.concatenate([values for _, values in parts], axis=1)
    return keys, np.stack([np.bincount(place, column, minlength=len(keys)) for column in values])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of contestants and how they fared in groups of games.

    ``first`` and ``second``: (pairs,), who they are. ``points`` of the first against the second, ties half, and
    ``meetings`` of their seats: (groups, pairs).
    """

    first: Integers
    second: Integers
    points: csr_matrix
    meetings: csr_matrix

    def total(self) -> tuple[Floats, Floats]:
        """Points and meetings of all groups: (pairs,) each."""
        points, meetings = (np.asarray(part.sum(axis=0), float).ravel() for part in (self.points, self.meetings))
        return points, meetings

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """The same where each group counts so many times, ``weights``: (weightings, groups); (weightings, pairs)."""
        points, meetings = ((part.T @ weights.T).T for part in (self.points, self.meetings))
        return points, meetings


@dataclass(frozen=True, slots=True)
class Met:
    """What games say about strength. ``pairs`` of seats that both count, the first contestant below the second;
    ``lost``: of a seat with a fault, the first, against one that its fault took the game from, without points."""

    contestants: int
    pairs: Pairs
    lost: Pairs
    incidence: csr_matrix
    """(pairs, contestants): 1 for the first of a pair, −1 for the second."""

    @property
    def linked(self) -> bool:
        """Whether points lead from each contestant that met another one to each other one, so that λ is finite."""
        points, meetings = self.pairs.total()
        first, second = self.pairs.first, self.pairs.second
        if not len(first):
            return False
        up, down = points > 0, points < meetings
        winner = np.concatenate([first[up], second[down]])
        loser = np.concatenate([second[up], first[down]])
        met = np.zeros(self.contestants, np.bool_)
        met[first] = met[second] = True
        return all((_reached(int(first[0]), *way, len(met)) == met).all() for way in ((winner, loser), (loser, winner)))


def _reached(start: int, source: Integers, target: Integers, count: int) -> npt.NDArray[np.bool_]:
    """Who can be reached from ``start`` by steps from ``source`` to ``target``, itself included."""
    found = np.zeros(count, np.bool_)
    found[start] = True
    before = 0
    while (now := int(found.sum())) > before:
        before = now
        found[target[found[source]]] = True
    return found


class PairTally:
    """Gathers ``Met`` from games that come some at a time; it grows with the pairs, not with the games."""

    def __init__(self, contestants: int, groups: int) -> None:
        self._contestants = contestants
        self._groups = groups
        self._pairs, self._lost = Sums(2), Sums(2)

    def add(self, games: Games, group: Integers) -> None:
        """Counts some games; ``group`` has the group of each."""
        for start in range(0, len(games), CHUNK):
            part = slice(start, start + CHUNK)
            self._add(games.select(part), group[part])

    def met(self) -> Met:
        """All that was counted."""
        pairs = self._matrices(self._pairs)
        return Met(self._contestants, pairs, self._matrices(self._lost), _incidence(pairs, self._contestants))

    def _add(self, games: Games, group: Integers) -> None:
        many = self._contestants
        keys: dict[bool, list[Integers]] = {False: [], True: []}
        points: dict[bool, list[Floats]] = {False: [], True: []}
        for mine in range(games.seats):
            for theirs in range(mine + 1, games.seats):
                one, other = games.player[:, mine].astype(np.int64), games.player[:, theirs].astype(np.int64)
                there = (one != NOBODY) & (other != NOBODY) & (one != other)
                counts, others_counts = games.counted[:, mine], games.counted[:, theirs]
                at = np.flatnonzero(there & counts & others_counts)
                ahead = 0.5 + 0.5 * np.sign(games.place[at, theirs].astype(np.int64) - games.place[at, mine])
                low, high = np.minimum(one[at], other[at]), np.maximum(one[at], other[at])
                keys[False].append((group[at] * many + low) * many + high)
                points[False].append(np.where(one[at] == low, ahead, 1 - ahead))
                at = np.flatnonzero(there & (counts != others_counts))
                owner = np.where(counts[at], one[at], other[at])
                keys[True].append((group[at] * many + owner) * many + one[at] + other[at] - owner)
                points[True].append(np.zeros(len(at)))
        for faulty, sums in ((False, self._pairs), (True, self._lost)):
            if keys[faulty]:
                won = np.concatenate(points[faulty])
                sums.add(np.concatenate(keys[faulty]), np.stack([won, np.ones(len(won))]))

    def _matrices(self, sums: Sums) -> Pairs:
        from scipy.sparse import csr_matrix

        many = self._contestants
        keys, (points, meetings) = sums.total()
        codes, pair = np.unique(keys % many**2 if many else keys, return_inverse=True)
        cells = (keys // many**2 if many else keys, pair)
        shape = (self._groups, len(codes))
        made = [csr_matrix((values, cells), shape=shape) for values in (points, meetings)]
        return Pairs(codes // max(many, 1), codes % max(many, 1), made[0], made[1])


def pairs_of(games: Games, contestants: int, group: Integers, groups: int) -> Met:
    """What ``games`` say. ``group``: (games,), the number of the group of each, below ``groups``."""
    tally = PairTally(contestants, groups)
    tally.add(games, group)
    return tally.met()


def strengths(met: Met, prior: float | None = None) -> Floats:
    """λ of each contestant, (contestants,), without what faults cost; see ``rated``. The mean of those that met others
    is 0 where there is no ghost; ``prior`` None: a ghost is there only if it is needed."""
    points, meetings = met.pairs.total()
    found: Floats = _solved(met, points[None], meetings[None], np.zeros(met.contestants), _ghost(met, prior))[0]
    return found


def resolved(met: Met, weights: Floats, start: Floats, prior: float = PRIOR) -> Floats:
    """λ for many weightings, (weightings, groups), of the same games: (weightings, contestants). ``start`` is a λ near
    the solutions."""
    found = [
        _solved(met, *met.pairs.weighted(weights[part]), start, prior)
        for part in _chunks(len(weights), max(len(met.pairs.first), met.contestants**2))
    ]
    return np.concatenate(found) if found else np.zeros((0, met.contestants))


def rated(met: Met, weights: Floats, worth: Floats, prior: float | None = PRIOR) -> Floats:
    """The λ by which all are rated: ``worth``, which was found for ``weights``, less what faults cost; (weightings,
    contestants). ``prior`` None: a ghost is there only for who lost or won all its pairs."""
    ratings = worth.copy()
    for contestant in faulty_contestants(met):
        for part in _chunks(len(weights), max(len(met.pairs.first), 1)):
            won, meetings, others = _own(met, weights[part], worth[part], contestant)
            points = won.sum(axis=1)
            ghost = np.full(len(won), 0.0 if prior is None else prior)
            if prior is None:
                ghost[(points <= 0) | (points >= meetings.sum(axis=1))] = PRIOR
            rating = ratings[part, contestant]
            for _ in range(MOST_STEPS):
                slope, curvature, _ = _alone(points, meetings, others, rating, ghost)
                step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
                rating = rating + np.clip(step, -STEP, STEP)
                if np.abs(step).max(initial=0.0) <= TOLERANCE:
                    break
            ratings[part, contestant] = rating
    return ratings


def faulty_contestants(met: Met) -> list[int]:
    """Who made a fault that took a game from another."""
    return [int(i) for i in np.unique(met.lost.first)]


def influences(met: Met, worth: Floats, ratings: Floats, prior: float | None = None) -> tuple[Floats, Floats]:
    """How much one more group of games like each would move λ and the ratings, to first order: (groups, contestants)
    each. ``worth`` and ``ratings``, (contestants,), are what ``strengths`` and ``rated`` found."""
    points, meetings = met.pairs.total()
    first, second = met.pairs.first, met.pairs.second
    ahead = expit(worth[first] - worth[second])
    _, curvature = _derivatives(met, points[None], meetings[None], worth[None], _ghost(met, prior))
    slopes = np.asarray((_residuals(met.pairs, ahead) @ met.incidence).todense(), float)
    moved: Floats = np.linalg.solve(curvature[0], slopes.T).T
    changed = moved.copy()
    everything = np.ones((1, met.pairs.points.shape[0]))
    for contestant in faulty_contestants(met):
        won, counts, others = _own(met, everything, worth[None], contestant)
        own_points = won.sum(axis=1)
        lost_all = bool(own_points[0] <= 0 or own_points[0] >= counts.sum())
        ghost = np.full(1, PRIOR if lost_all and not prior else prior or 0.0)
        _, own_curvature, chance = _alone(own_points, counts, others, ratings[[contestant]], ghost)
        slope = np.zeros(len(moved))
        towards = np.zeros(len(worth))
        at = 0
        for pairs in (met.pairs, met.lost):
            for mine, theirs, sign in ((pairs.first, pairs.second, 1), (pairs.second, pairs.first, -1)):
                if pairs is met.lost and sign < 0:
                    continue
                cells = np.flatnonzero(mine == contestant)
                expected = chance[0, at : at + len(cells)]
                own = pairs.points[:, cells] if sign > 0 else pairs.meetings[:, cells] - pairs.points[:, cells]
                slope += np.asarray(own.sum(axis=1)).ravel() - pairs.meetings[:, cells] @ expected
                # What the strength of the others does to the own expectation.
                count = counts[0, at : at + len(cells)]
                np.add.at(towards, theirs[cells], count * expected * (1 - expected))
                at += len(cells)
        changed[:, contestant] = (slope + moved @ towards) / own_curvature[0]
    return moved, changed


def _residuals(pairs: Pairs, ahead: Floats) -> csr_matrix:
    """Points less those expected where the first ends before the second with the chance ``ahead``: (groups, pairs)."""
    return (pairs.points - pairs.meetings.multiply(ahead[None])).tocsr()


def _own(met: Met, weights: Floats, worth: Floats, contestant: int) -> tuple[Floats, Floats, Floats]:
    """The pairs of one contestant, with those that its faults lost: its points, the meetings and the λ of the other;
    (weightings, pairs) each."""
    won, counts, others = [], [], []
    for pairs in (met.pairs, met.lost):
        for mine, theirs, sign in ((pairs.first, pairs.second, 1), (pairs.second, pairs.first, -1)):
            if pairs is met.lost and sign < 0:
                continue
            cells = np.flatnonzero(mine == contestant)
            points, meetings = ((part[:, cells].T @ weights.T).T for part in (pairs.points, pairs.meetings))
            won.append(points if sign > 0 else meetings - points)
            counts.append(meetings)
            others.append(worth[:, theirs[cells]])
    return np.concatenate(won, axis=1), np.concatenate(counts, axis=1), np.concatenate(others, axis=1)


def _alone(
    points: Floats, meetings: Floats, others: Floats, rating: Floats, ghost: Floats
) -> tuple[Floats, Floats, Floats]:
    """The slope of one contestant's own likelihood at ``rating``, (weightings,), its second derivative, negated, and
    the chances of its pairs, (weightings, pairs)."""
    chance = expit(rating[:, None] - others)
    own = expit(rating)
    slope = points - (meetings * chance).sum(axis=1) + ghost * (0.5 - own)
    curvature = (meetings * chance * (1 - chance)).sum(axis=1) + ghost * own * (1 - own)
    return slope, curvature, chance


def _ghost(met: Met, prior: float | None) -> float:
    return (0.0 if met.linked else PRIOR) if prior is None else prior


def _solved(met: Met, points: Floats, meetings: Floats, start: Floats, prior: float) -> Floats:
    """λ for some weightings at once: (weightings, contestants)."""
    worth = np.tile(start, (len(points), 1))
    going = np.arange(len(points))
    for _ in range(MOST_STEPS):
        slope, curvature = _derivatives(met, points[going], meetings[going], worth[going], prior)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1, initial=0.0)
        worth[going] += step * np.minimum(1.0, STEP / np.maximum(length, STEP))[:, None]
        going = going[length > TOLERANCE]
        if not len(going):
            break
    return worth


def _derivatives(met: Met, points: Floats, meetings: Floats, worth: Floats, prior: float) -> tuple[Floats, Floats]:
    """The slope of the log-likelihood, (weightings, contestants), and the matrix of its second derivatives, negated."""
    many, contestants = worth.shape
    first, second = met.pairs.first, met.pairs.second
    ahead = expit(worth[:, first] - worth[:, second])
    slope = (met.incidence.T @ (points - meetings * ahead).T).T
    weight = meetings * ahead * (1 - ahead)
    curvature = np.zeros((many, contestants, contestants))
    curvature[:, first, second] = curvature[:, second, first] = -weight
    everyone = np.arange(contestants)
    curvature[:, everyone, everyone] = (abs(met.incidence).T @ weight.T).T
    if prior:
        ghost = expit(worth)
        slope = slope + prior * (0.5 - ghost)
        curvature[:, everyone, everyone] += prior * ghost * (1 - ghost)
    else:
        # Only differences of λ matter: their sum stays what it is. Who met nobody stays, too.
        met_others = np.zeros(contestants, np.bool_)
        met_others[first] = met_others[second] = True
        at = np.flatnonzero(met_others)
        curvature[:, at[:, None], at] += 1 / max(len(at), 1)
        curvature[:, ~met_others, ~met_others] = 1.0
    return slope, curvature


def _incidence(pairs: Pairs, contestants: int) -> csr_matrix:
    from scipy.sparse import csr_matrix

    count = len(pairs.first)
    cells = (np.tile(np.arange(count), 2), np.concatenate([pairs.first, pairs.second]))
    return csr_matrix((np.repeat([1.0, -1.0], count), cells), shape=(count, contestants))


def expit(value: Floats) -> Floats:
    """1 / (1 + exp(−``value``))."""
    return 1 / (1 + np.exp(-value))


def _chunks(weightings: int, cells: int) -> Iterator[slice]:
    """Some weightings at a time, each of which takes so many numbers."""
    size = max(1, CELLS // max(cells, 1))
    for start in range(0, weightings, size):
        yield slice(start, start + size)
