"""What was played: the value of each candidate on each unit, and what that says of differences between candidates.

A unit has the same deals for all who play it, so its luck is common to them. The model is value = f(candidate) + luck
of the unit + noise; the luck is taken out exactly, by comparing only within units (a two-way layout with fixed
effects). What is left of many blocks is then no longer than the list of candidates:

    precision L = diag(n) − Σ s sᵀ / |s|,   right side b = Σ (values of a unit less their mean),

over units, with s the candidates of a unit and n how many units each played. L f = b are the normal equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from caboose.arena.tuning.space import Floats, Values

_TINY: Final = 1e-9  # of the largest eigenvalue: a direction of which nothing is known
_ROUNDING: Final = 1e-12  # of all squares: what is left of them is due to rounding, and no noise
_SMALLEST: Final = 1e-200  # a variance below is taken for none: it could not be divided by


@dataclass(frozen=True, slots=True)
class Contrasts:
    """All that blocks say of differences: ``seen`` = ``of`` · f + noise, independent, of the variance ``noise``.

    ``of``: (contrasts, candidates), rows add up to 0. ``spare`` is how many further contrasts told the variance.
    ``there`` and ``centred``: (units, candidates), 1 for who played a unit, and its value less the mean of the unit.
    """

    candidates: tuple[Values, ...]
    of: Floats
    seen: Floats
    noise: float
    spare: int
    there: Floats
    centred: Floats

    def left(self, expected: Floats) -> Floats:
        """(units, candidates): what is left of values where (candidates,) is expected, within each unit."""
        sizes = np.maximum(self.there.sum(axis=1), 1.0)
        means = self.there @ expected / sizes
        left: Floats = (self.centred - expected[None, :] + means[:, None]) * self.there
        return left


class Observations:
    """The values that were played, by unit and candidate."""

    def __init__(self) -> None:
        self._units: dict[int, dict[Values, float]] = {}
        self._numbers: dict[Values, int] = {}
        self.count = 0  # of what was added

    def add(self, values: Values, unit: int, value: float | None) -> None:
        """A candidate has this value on a unit; None where nothing came of it."""
        self._numbers.setdefault(values, len(self._numbers))
        self.count += 1
        if value is not None:
            self._units.setdefault(unit, {})[values] = value

    @property
    def candidates(self) -> tuple[Values, ...]:
        """All that were tried, in the order in which they came."""
        return tuple(self._numbers)

    def of(self, values: Values) -> Mapping[int, float]:
        """What one has on each unit that it played."""
        return {unit: row[values] for unit, row in self._units.items() if values in row}

    def difference(self, one: Values, other: Values) -> tuple[int, float, float]:
        """Over the units that both played: how many, the mean of one less the other, its standard error (infinite
        with fewer than two)."""
        both = [row[one] - row[other] for row in self._units.values() if one in row and other in row]
        if len(both) < 2:
            return len(both), sum(both), float("inf")
        return len(both), float(np.mean(both)), float(np.std(both, ddof=1) / np.sqrt(len(both)))

    def contrasts(self) -> Contrasts:
        """What all units together say."""
        count = len(self._numbers)
        rows = [row for row in self._units.values() if len(row) > 1]
        there = np.zeros((len(rows), count))
        values = np.zeros((len(rows), count))
        for number, row in enumerate(rows):
            for candidate, value in row.items():
                at = self._numbers[candidate]
                there[number, at], values[number, at] = 1.0, value
        sizes = there.sum(axis=1)
        centred = (values - values.sum(axis=1, keepdims=True) / sizes[:, None]) * there if rows else values
        precision = np.diag(there.sum(axis=0)) - (there / sizes[:, None]).T @ there
        right = centred.sum(axis=0)
        weights, vectors = np.linalg.eigh(precision)
        known = weights > max(_TINY * max(float(weights[-1]), 1.0), 0.0) if count else np.zeros(0, bool)
        roots = np.sqrt(weights[known])
        of = roots[:, None] * vectors[:, known].T
        seen = (vectors[:, known].T @ right) / roots
        spare = int(sizes.sum()) - len(rows) - int(known.sum())
        squares = float((centred**2).sum())
        left = squares - float((seen**2).sum())
        if spare > 0 and left > _ROUNDING * squares:
            noise = left / spare
        else:  # nobody played twice, or all play alike: all differences may be noise
            noise = float(np.mean(seen**2)) if len(seen) else 0.0
        noise = noise if noise > _SMALLEST else 1.0
        return Contrasts(self.candidates, of, seen, noise, max(spare, 0), there, centred)
