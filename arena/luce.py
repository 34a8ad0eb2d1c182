"""Plackett–Luce: how strong each contestant is, from the orders in which games ended.

The model (Luce 1959, Plackett 1975): a game is a row of choices. The first place is taken by contestant i with the
probability θ_i / Σ θ_j over all at the table, the second place likewise by one of those that are left, and so on. With
λ = ln θ the log-likelihood of many games is

    Σ_i w_i λ_i − Σ_C n_C ln Σ_{j in C} θ_j

where w_i counts the choices that i won, and n_C how often the *choice set* C, those still to be placed, came up. So
the w_i and n_C are all that is kept of the games, however many they are (``Choices``).

- *Ties*: the log-likelihood is averaged over all orders of those that tie; with two players a tie is half a win for
  each. In groups of more than ``WHOLLY`` it is averaged over the turns of one order only, in which each has each place
  once: k orders instead of k!.
- *Copies* of one contestant at a table are members of a choice set like others; where only copies of one are left,
  there is nothing to choose.
- *Faults*: a game with a fault counts only for the seats that made one, as lost. In the same likelihood it would help
  the others; so λ comes from the choices among seats that count alone, and whoever has made a fault is then rated by
  all its own choices, lost games included, with the strengths of the others fixed at their λ (``rated``).
- *Regularisation*: each contestant also has ``PRIOR`` ties against a ghost with λ = 0. So who won or lost all, or never
  met some of the others, has a finite rating. A similar ghost is in Turner et al. (2020).

Solved by Newton's method, many weightings of the same games at once for the bootstrap. The library choix solves the
same model, but takes neither weights nor ties, and goes through the rankings one by one in Python: with a million of
them one fit takes minutes, and a bootstrap a thousand fits. It is what the tests compare with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from caboose.arena.games import NOBODY, Games

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

WHOLLY: Final = 6  # the largest group of ties of which all orders are taken
PRIOR: Final = 1.0  # ties with a ghost of average strength, for each contestant
STEP: Final = 1.0  # the longest step of one iteration in any λ
TOLERANCE: Final = 1e-10  # of the largest step in λ at which an iteration ends
MOST_STEPS: Final = 100
CHUNK: Final = 1 << 16  # games looked at in one go, so that memory does not grow with them

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Choices:
    """What games say about strength, as counts.

    ``members``: (sets, contestants), how many seats of a contestant are in a choice set. ``sets``: (groups, sets), how
    often a set came up in a group of games. ``wins``: (groups, contestants), how many choices were won. All of choices
    among seats that count; the choices in games with a fault are in ``faulty``, where ``own`` says how many of the
    members are seats with a fault, and wins are those of such seats.
    """

    members: csr_matrix
    sets: csr_matrix
    wins: Floats
    faulty: Faulty

    @property
    def contestants(self) -> int:
        """How many contestants there are."""
        return int(self.wins.shape[1])

    def total(self) -> Counts:
        """The counts of all groups: one weighting."""
        parts = (self.sets, self.wins, self.faulty.sets, self.faulty.wins)
        return Counts(*(np.asarray(part.sum(axis=0), float).reshape(1, -1) for part in parts))

    def weighted(self, weights: Floats) -> Counts:
        """The counts where each group counts so many times; ``weights``: (weightings, groups)."""
        parts = (self.sets.toarray(), self.wins, self.faulty.sets.toarray(), self.faulty.wins)
        return Counts(*(weights @ part for part in parts))


@dataclass(frozen=True, slots=True)
class Faulty:
    """The choices in games with a fault, as in ``Choices``."""

    members: csr_matrix
    own: csr_matrix
    sets: csr_matrix
    wins: Floats


@dataclass(frozen=True, slots=True)
class Counts:
    """``sets`` and ``wins`` of ``Choices`` for many weightings of its groups, and those in games with a fault."""

    sets: Floats
    wins: Floats
    faulty_sets: Floats
    faulty_wins: Floats


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The distinct results of games, seats in the order of their places.

    ``player``: (patterns, seats); ``tied``: whether a seat has the place of the one before; ``counted``: which count.
    """

    player: npt.NDArray[np.int32]
    tied: npt.NDArray[np.bool_]
    counted: npt.NDArray[np.bool_]


def choices(games: Games, contestants: int, group: Integers, groups: int) -> Choices:
    """The choices in ``games``. ``group``: (games,), the number of the group of each, below ``groups``."""
    tally = ChoiceTally(contestants, groups)
    tally.add(games, group)
    return tally.choices()


class ChoiceTally:
    """Gathers ``Choices`` from games that come some at a time; it grows with the kinds of games, not with the games.

    Tables are as wide in all parts. In whichever parts games come, the same choices come of them, where there are ties
    but for rounding.
    """

    def __init__(self, contestants: int, groups: int) -> None:
        from scipy.sparse import csr_matrix

        self._contestants = contestants
        self._groups = groups
        self._patterns: dict[bytes, int] = {}
        self._numbers: dict[bytes, int] = {}  # of choice sets
        self._members: list[npt.NDArray[np.int32]] = []  # of each: the players, twice their number, and 1 if counted
        self._of_pattern = csr_matrix((0, 0))  # the choice sets of each pattern: (patterns, sets)
        self._won = [csr_matrix((0, contestants)) for _ in range(2)]  # by each pattern, without and with faults
        self._sets = csr_matrix((groups, 0))
        self._wins = [np.zeros((groups, contestants)) for _ in range(2)]

    def add(self, games: Games, group: Integers) -> None:
        """Counts some games; ``group`` has the group of each."""
        from scipy.sparse import csr_matrix

        for start in range(0, len(games), CHUNK):
            part = slice(start, start + CHUNK)
            patterns, kind = _distinct_patterns(*_ordered(games.select(part)))
            number = self._number(patterns)
            shape = (self._groups, len(self._patterns))
            of_games = csr_matrix((np.ones(len(kind)), (group[part], number[kind])), shape=shape)
            self._sets.resize(self._groups, len(self._numbers))
            self._sets = self._sets + of_games @ self._of_pattern
            for wins, won in zip(self._wins, self._won, strict=True):
                if won.nnz:
                    wins += (of_games @ won).toarray()

    def choices(self) -> Choices:
        """All that was counted."""
        codes = np.stack(self._members) if self._members else np.zeros((0, 1), np.int32)
        order = np.lexsort(codes.T[::-1])
        codes = codes[order]
        member, counted = codes >> 1, (codes & 1).astype(np.bool_)
        sets = self._sets[:, order]
        members = _counts(member, member != NOBODY, self._contestants)
        own = _counts(member, counted, self._contestants)
        clean = (counted | (member == NOBODY)).all(axis=1)
        faulty = Faulty(members[~clean], own[~clean], sets[:, ~clean], self._wins[1])
        return Choices(members[clean], sets[:, clean], self._wins[0], faulty)

    def _number(self, patterns: _Patterns) -> Integers:
        """The number of each pattern; what is new is worked out."""
        codes = patterns.player * 4 + patterns.tied * 2 + patterns.counted
        known = len(self._patterns)
        number = np.array([self._patterns.setdefault(key, len(self._patterns)) for key in _keys(codes)], np.int64)
        new = np.flatnonzero(number >= known)
        if len(new):
            self._expand(_Patterns(patterns.player[new], patterns.tied[new], patterns.counted[new]))
        return number

    def _expand(self, patterns: _Patterns) -> None:
        """Works out the choices of patterns that are new."""
        from scipy.sparse import csr_matrix, vstack

        member, counted, of_pattern, weight, won = _expand(patterns, self._contestants)
        codes = member * 2 + counted
        first, kind = distinct([codes[:, k] for k in range(codes.shape[1])], 2 * self._contestants + 2)
        before = len(self._numbers)
        keys = _keys(codes[first])
        number = np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys], np.int64)
        self._members += list(codes[first[number >= before]])
        shape = (len(patterns.player), len(self._numbers))
        more = csr_matrix((weight, (of_pattern, number[kind])), shape=shape)
        self._of_pattern.resize(self._of_pattern.shape[0], len(self._numbers))
        self._of_pattern = vstack([self._of_pattern, more], format="csr")
        self._won = [vstack(pair, format="csr") for pair in zip(self._won, won, strict=True)]


def _keys(codes: npt.NDArray[np.int32]) -> list[bytes]:
    """Each row as bytes."""
    data, width = codes.astype(np.int32).tobytes(), 4 * codes.shape[1]
    return [data[at : at + width] for at in range(0, len(data), width)]


def _counts(member: npt.NDArray[np.int32], which: npt.NDArray[np.bool_], contestants: int) -> csr_matrix:
    """How often each contestant is in each row, at the places ``which``: (rows, contestants)."""
    from scipy.sparse import csr_matrix

    at, seat = np.nonzero(which)
    return csr_matrix((np.ones(len(at)), (at, member[at, seat])), shape=(len(member), contestants))


def strengths(choices: Choices, prior: float = PRIOR) -> Floats:
    """λ of each contestant: (contestants,). Faults do not matter to it; see ``rated``."""
    worth: Floats = resolved(choices, choices.total(), np.zeros(choices.contestants), prior)[0]
    return worth


def resolved(choices: Choices, counts: Counts, start: Floats, prior: float = PRIOR) -> Floats:
    """λ for many weightings at once: (weightings, contestants). ``start`` is a λ near the solutions."""
    sets, wins = counts.sets, counts.wins
    worth = np.tile(start, (len(wins), 1))
    pairs = _pairs(choices) if len(wins) > 1 else None
    going = np.arange(len(wins))
    for _ in range(MOST_STEPS):
        slope, curvature = _derivatives(choices, sets[going], wins[going], worth[going], prior, pairs)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        length = np.abs(step).max(axis=1, initial=0.0)
        worth[going] += step * np.minimum(1.0, STEP / np.maximum(length, STEP))[:, None]
        going = going[length > TOLERANCE]
        if not len(going):
            break
    return worth


def rated(choices: Choices, counts: Counts, worth: Floats, prior: float = PRIOR) -> Floats:
    """The λ by which all are rated: ``worth``, which ``resolved`` found for ``counts``, less what faults cost."""
    ratings = worth.copy()
    theta = np.exp(worth)
    for contestant in faulty_contestants(choices):
        parts = _own(choices, counts, theta, contestant)
        wins = counts.wins[:, contestant] + counts.faulty_wins[:, contestant]
        for _ in range(MOST_STEPS):
            slope, curvature, _ = _alone(parts, wins, ratings[:, contestant], prior)
            step = slope / curvature
            ratings[:, contestant] += np.clip(step, -STEP, STEP)
            if np.abs(step).max(initial=0.0) <= TOLERANCE:
                break
    return ratings


def faulty_contestants(choices: Choices) -> list[int]:
    """Who made a fault."""
    return [int(i) for i in np.flatnonzero(np.asarray(choices.faulty.own.sum(axis=0)).ravel())]


def influences(choices: Choices, worth: Floats, ratings: Floats, prior: float = PRIOR) -> Floats:
    """How much one more group of games like each would move ``ratings``, to first order: (groups, contestants).

    ``worth`` and ``ratings``, (contestants,), are what ``strengths`` and ``rated`` found.
    """
    counts = choices.total()
    _, curvature = _derivatives(choices, counts.sets, counts.wins, worth[None], prior)
    theta = np.exp(worth)
    expected = choices.sets @ choices.members.multiply(1 / (choices.members @ theta)[:, None]).tocsr()
    slopes = choices.wins - expected.toarray() * theta
    moved: Floats = np.linalg.solve(curvature[0], slopes.T).T
    changed = moved.copy()
    for contestant in faulty_contestants(choices):
        parts = _own(choices, counts, theta[None], contestant)
        _, own_curvature, shares = _alone(parts, np.zeros(1), ratings[None, contestant], prior)
        slope = choices.wins[:, contestant] + choices.faulty.wins[:, contestant]
        towards = np.zeros(len(worth))
        kinds = ((choices.sets, choices.members), (choices.faulty.sets, choices.faulty.members))
        for (came, members), (rows, count, _, _), (own, sums) in zip(kinds, parts, shares, strict=True):
            slope = slope - came[:, rows] @ own[0]
            # What the strength of the others does to the own expectation.
            others = members[rows].toarray() * theta
            others[:, contestant] = 0
            towards += (count[0] * own[0] / sums[0]) @ others
        changed[:, contestant] = (slope + moved @ towards) / own_curvature[0]
    return changed


# The choice sets that a contestant is in: their numbers, how often they came up, how many own seats they have of those
# that matter and in all, as (weightings, sets) or (sets,); and the strength of all others in them.
_Own = list[tuple[Integers, Floats, tuple[Floats, Floats], Floats]]


def _own(choices: Choices, counts: Counts, theta: Floats, contestant: int) -> _Own:
    """The choices of one contestant: those among seats that count, and those in games with its fault."""
    parts = []
    for members, own, came in (
        (choices.members, choices.members, counts.sets),
        (choices.faulty.members, choices.faulty.own, counts.faulty_sets),
    ):
        mine = own[:, [contestant]].toarray()[:, 0]
        rows = np.flatnonzero(mine)
        seats = members[rows][:, [contestant]].toarray()[:, 0]
        others = (members[rows] @ theta.T).T - seats * theta[:, [contestant]]
        parts.append((rows, came[:, rows], (mine[rows], seats), np.maximum(others, 0.0)))
    return parts


def _alone(
    parts: _Own, wins: Floats, rating: Floats, prior: float
) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """The slope of one contestant's own likelihood at ``rating``, (weightings,), and its second derivative, negated.

    Also, for both kinds of choices, the chance to win each, and the strength of all in it: (weightings, sets).
    """
    worth = np.exp(rating)[:, None]
    ghost = worth[:, 0] / (1 + worth[:, 0])
    slope, curvature = wins + prior * (0.5 - ghost), prior * ghost * (1 - ghost)
    shares = []
    for _, count, (mine, seats), others in parts:
        sums = others + seats * worth
        chance = mine * worth / sums
        slope = slope - (count * chance).sum(axis=1)
        curvature = curvature + (count * chance * others / sums).sum(axis=1)
        shares.append((chance, sums))
    return slope, curvature, shares


def _derivatives(
    choices: Choices, sets: Floats, wins: Floats, worth: Floats, prior: float, pairs: csr_matrix | None = None
) -> tuple[Floats, Floats]:
    """The slope of the log-likelihood, (weightings, contestants), and the matrix of its second derivatives, negated.

    More than one weighting need ``pairs``.
    """
    many, contestants = worth.shape
    theta = np.exp(worth)
    sums = (choices.members @ theta.T).T
    rate = sets / sums
    expected = theta * (choices.members.T @ rate.T).T
    if pairs is None:
        weighted = choices.members.multiply((rate / sums).T).tocsr()
        together = (choices.members.T @ weighted).toarray()[None]
    else:
        together = (pairs.T @ (rate / sums).T).T.reshape(many, contestants, contestants)
    curvature = -together * theta[:, :, None] * theta[:, None, :]
    ghost = theta / (1 + theta)
    everyone = np.arange(contestants)
    curvature[:, everyone, everyone] += expected + prior * ghost * (1 - ghost)
    return wins - expected + prior * (0.5 - ghost), curvature


def _pairs(choices: Choices) -> csr_matrix:
    """The products of the members of each set: (sets, contestants²)."""
    from scipy.sparse import csr_matrix

    members = choices.members.toarray()
    return csr_matrix((members[:, :, None] * members[:, None, :]).reshape(len(members), choices.contestants**2))


def distinct(columns: list[npt.NDArray[np.integer]], base: int) -> tuple[Integers, Integers]:
    """The first row of each distinct kind, and the kind of each row.

    ``columns`` have equally many entries, from −``base`` to ``base`` − 1. Much faster than numpy's ``unique`` of rows.
    """
    code = np.zeros(len(columns[0]), np.int64)
    most = 1
    for column in columns:
        if most > 2**62 // (2 * base):
            values, code = np.unique(code, return_inverse=True)
            most = len(values)
        code = code * (2 * base) + (column + base)
        most *= 2 * base
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return first, kind


def _ordered(games: Games) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Who came in by place, who tied with the one before, who is counted: (games, seats)."""
    absent = games.player == NOBODY
    key = np.where(absent, np.int64(2**62), games.place.astype(np.int64) << 32 | games.player)
    order = np.argsort(key, axis=1, kind="stable")
    player = np.take_along_axis(games.player, order, axis=1)
    place = np.take_along_axis(games.place, order, axis=1)
    counted = np.take_along_axis(games.counted & ~absent, order, axis=1)
    tied = np.zeros(player.shape, np.bool_)
    tied[:, 1:] = (place[:, 1:] == place[:, :-1]) & (player[:, 1:] != NOBODY)
    return player, tied, counted


def _distinct_patterns(
    player: npt.NDArray[np.int32], tied: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_]
) -> tuple[_Patterns, Integers]:
    """The distinct rows, and which of them each row is."""
    most = 4 * (int(player.max(initial=0)) + 2)
    columns = [player[:, k].astype(np.int64) * 4 + tied[:, k] * 2 + counted[:, k] for k in range(player.shape[1])]
    first, kind = distinct(columns, most)
    return _Patterns(player[first], tied[first], counted[first]), kind


def _expand(
    patterns: _Patterns, contestants: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], Integers, Floats, list[csr_matrix]]:
    """The choices of each pattern.

    Gives the members of each choice set and which of them count (sets, seats), each row sorted; the pattern and the
    weight of each; and how many choices each contestant won, (patterns, contestants), where all members count and
    where some do not.
    """
    from scipy.sparse import csr_matrix

    seats = patterns.player.shape[1]
    # Choices are about those that share a place, from ``start`` to before ``end``: worked out at once for all patterns
    # in which the same places are shared, with as many seats behind them.
    there = (patterns.player != NOBODY).sum(axis=1)
    row, start = np.nonzero(~patterns.tied & (patterns.player != NOBODY))
    end = np.append(start[1:], 0)
    last = np.flatnonzero(np.diff(row, append=-1))
    end[last] = there[row[last]]
    key = (start * (seats + 1) + end) * (seats + 1) + there[row]
    order = np.argsort(key, kind="stable")
    members, counts, owners, weights = [], [], [], []
    won: list[list[tuple[npt.NDArray[np.int32], Integers, Floats]]] = [[], []]
    for same in np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(order) else []:
        rows, first = row[same], same[0]
        left = range(int(end[first]), int(there[row[first]]))
        for chosen, weight in _subsets(range(int(start[first]), left.start)):
            if len(chosen) + len(left) < 2:
                continue
            places = [*chosen, *left]
            player, counted = patterns.player[rows][:, places], patterns.counted[rows][:, places]
            real = (player != player[:, :1]).any(axis=1) & counted.any(axis=1)
            player, counted, owner = player[real], counted[real], rows[real]
            by_player = np.argsort(player * 2 + counted, axis=1)
            padded = np.full((len(owner), seats), NOBODY, np.int32)
            padded[:, : len(places)] = np.take_along_axis(player, by_player, axis=1)
            members.append(padded)
            flags = np.zeros((len(owner), seats), np.bool_)
            flags[:, : len(places)] = np.take_along_axis(counted, by_player, axis=1)
            counts.append(flags)
            owners.append(owner)
            weights.append(np.full(len(owner), weight))
            clean = counted.all(axis=1)
            for k in range(len(chosen)):
                for kind, of in zip(won, (clean, counted[:, k] & ~clean), strict=True):
                    kind.append((player[of, k], owner[of], np.full(int(of.sum()), weight / len(chosen))))
    wins = []
    for kind in won:
        winners, winning, shares = zip(*kind, strict=True) if kind else ((), (), ())
        cells = (_all(winning, np.int64), _all(winners, np.int64))
        wins.append(csr_matrix((_all(shares, np.float64), cells), shape=(len(patterns.player), contestants)))
    empty = np.zeros((0, seats))
    return (
        np.concatenate(members or [empty.astype(np.int32)]),
        np.concatenate(counts or [empty.astype(np.bool_)]),
        _all(owners, np.int64),
        _all(weights, np.float64),
        wins,
    )


def _subsets(group: range) -> Iterator[tuple[tuple[int, ...], float]]:
    """Which of a group of ties are left when the next is chosen, over the orders of it, and how often."""
    size = len(group)
    if size <= WHOLLY:
        for count in range(size, 0, -1):
            for chosen in combinations(group, count):
                yield chosen, 1 / comb(size, count)
        return
    for count in range(size, 0, -1):
        for turn in range(size):
            yield tuple(group[(turn + k) % size] for k in range(count)), 1 / size


def _all(parts: Sequence[npt.NDArray[Any]], kind: type[Any]) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)
