"""What is asked of a response surface, of whatever kind: the gain at a place, the best place, what matters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from caboose.arena.tuning.space import Floats, Space, Values

STARTS: Final = 2048  # places that are looked at before the best of them are climbed from
CLIMBED: Final = 8
CAUTION: Final = 0.5
LEAST: Final = 1 / 1024  # of the range, that changes of single parameters go down to
KEEPING: Final = 0.05  # of the gain, that leaving parameters as they are may cost
SURE: Final = 1.959963984540054  # standard errors of a 95 % interval


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better something is than the current values: 95 % that it is between ``low`` and ``high``."""

    mean: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - SURE * self.error

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + SURE * self.error


class Response(ABC):
    """What blocks say of each place of ``space``. Places are (points, parameters) of the unit cube, ``places`` those
    that were tried; ``height`` is by how much gains may differ, in the objective's unit."""

    def __init__(self, space: Space, places: Floats, height: float) -> None:
        self.space = space
        self.height = height
        self._places = places

    @abstractmethod
    def gains(self, places: Floats) -> tuple[Floats, Floats]:
        """The expected gain over the current values, and its standard error: (points,) each."""

    @abstractmethod
    def mean(self, places: Floats) -> Floats:
        """The expected gain alone."""

    @abstractmethod
    def rise(self, point: Floats) -> tuple[float, Floats]:
        """At (coordinates,) of a point of the space: the expected gain, but for a constant, and its slope."""

    def gain(self, values: Values) -> Gain:
        """The gain of some values."""
        mean, error = self.gains(self.space.places([values]))
        return Gain(float(mean[0]), float(error[0]))

    def hopeful(self, values: Values) -> bool:
        """Whether a gain less ``CAUTION`` standard errors is expected of some values."""
        return self._height_of(values) > 0

    def peak(self) -> Values:
        """The values with the highest expected gain that a climb from the best candidate leads to."""
        return self.space.values(self._climb(self._places[int(np.argmax(self.mean(self._places)))]))

    def best(self, seed: int) -> Values:
        """What is recommended: the values with the highest expected gain less ``CAUTION`` standard errors, so that no
        place wins because little is known of it; the current ones where that is not above 0.

        Looks at all that was tried and at ``STARTS`` places by a low-discrepancy sequence, and climbs from the best.
        """
        from scipy.stats import qmc

        spread = qmc.Sobol(len(self.space), seed=seed).random(STARTS)
        places = np.vstack([self._places, spread])
        climbed = [self._climb(places[at]) for at in np.argsort(-self.mean(places), kind="stable")[:CLIMBED]]
        places = np.vstack([places, *climbed])
        order = np.argsort(-self._cautious(places), kind="stable")[:CLIMBED]
        found = {self.space.values(places[at]) for at in order} | {self.space.current}
        return self._kept(max((self._stepped(values) for values in sorted(found)), key=self._height_of))

    @cached_property
    def importance(self) -> Floats:
        """For each parameter the share of the variation of the expected gain that it accounts for by itself, over the
        cube (first-order Sobol index, Saltelli 2010). All 0 where the surface is flat."""
        from scipy.stats import qmc

        count = len(self.space)
        draws = qmc.Sobol(2 * count, seed=0).random(1024)
        first, second = draws[:, :count], draws[:, count:]
        here, there = self.mean(first), self.mean(second)
        total = float(np.var(np.concatenate([here, there])))
        shares = np.zeros(count)
        for at in range(count):
            mixed = first.copy()
            mixed[:, at] = second[:, at]
            if total > 0:
                shares[at] = float(np.mean(there * (self.mean(mixed) - here))) / total
        return np.clip(shares, 0.0, 1.0)

    # --- how it is found ---

    def _cautious(self, places: Floats) -> Floats:
        mean, error = self.gains(places)
        return mean - CAUTION * error

    def _height_of(self, values: Values) -> float:
        return float(self._cautious(self.space.places([values]))[0])

    def _climb(self, start: Floats) -> Floats:
        """The top of the hill on which ``start`` lies; choices stay, as there is no slope from one to another."""
        from scipy.optimize import minimize

        ordered = self.space.ordered
        if not ordered.any():
            return start
        point = self.space.points(start[None])[0]
        free = ordered[np.repeat(np.arange(len(self.space)), self.space.widths)]

        def down(moved: Floats) -> tuple[float, Floats]:
            point[free] = moved
            value, slope = self.rise(point)
            return -value, -slope[free]

        bounds = [(0.0, 1.0)] * int(free.sum())
        options = {"maxiter": 100}
        found = minimize(down, start[ordered], jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        place = start.copy()
        place[ordered] = found.x
        return place

    def _stepped(self, values: Values) -> Values:
        """The best that changes of single parameters lead to: first by a 16th of the range, in the end by a step."""
        height, share = self._height_of(values), 1 / 16
        while True:
            near = [
                (*values[:at], value, *values[at + 1 :])
                for at, parameter in enumerate(self.space.parameters)
                for value in parameter.around(values[at], share)
            ]
            heights = self._cautious(self.space.places(near)) if near else np.array([-np.inf])
            at = int(np.argmax(heights))
            if heights[at] > height + 1e-9 * self.height:
                values, height = near[at], float(heights[at])
            elif share > LEAST:
                share /= 2
            else:
                return values

    def _kept(self, values: Values) -> Values:
        """The same with the current value of each parameter that hardly matters, least first: all together may cost
        ``KEEPING`` of the gain."""
        top = self._height_of(values)
        while True:
            back = [
                (*values[:at], value, *values[at + 1 :])
                for at, value in enumerate(self.space.current)
                if values[at] != value
            ]
            best = max(back, key=self._height_of, default=values)
            if not back or self._height_of(best) < (1 - KEEPING) * top:
                return values
            values = best
