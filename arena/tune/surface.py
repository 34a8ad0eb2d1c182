"""The response surface: what all blocks together say of how good each place of the space is.

A Gaussian process (Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006) over the unit cube, with a
squared exponential kernel of one length for each parameter, seen through the contrasts of ``observations`` with their
known noise: so it knows differences only, and they are all that is asked for. (Libraries take values of points, not
differences.) All choices of an option are equally far apart: no order of theirs is believed in. The lengths and the
height are the most likely ones under priors: logarithms of lengths are normal about 0.25 · d^½ for d parameters, since
a surface of many parameters that matters in all of them could never be found (as in Hvarfner, Hellsten & Nardi,
*Vanilla Bayesian optimization performs great in high dimensions*, 2024); that of the height is about 0.6 of the
deviation of a block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from caboose.arena.tune.observations import Contrasts
from caboose.arena.tune.space import Floats, Space, Values

LENGTH: Final = 0.25
LENGTH_SPREAD: Final = 0.7  # of the logarithm
HEIGHT: Final = 0.6
HEIGHT_SPREAD: Final = 1.0
STARTS: Final = 2048  # places that are looked at before the best of them are climbed from
CLIMBED: Final = 8
CAUTION: Final = 0.5
LEAST: Final = 1 / 1024  # of the range, that changes of single parameters go down to
KEEPING: Final = 0.05  # of the gain, that leaving parameters as they are may cost
SURE: Final = 1.959963984540054  # standard errors of a 95 % interval
_JITTER: Final = 1e-9


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


class Surface:
    """A fitted surface over ``space``."""

    def __init__(self, space: Space, contrasts: Contrasts) -> None:
        from scipy.linalg import solve_triangular

        self.space = space
        self.contrasts = contrasts
        self._places = space.places(contrasts.candidates)
        self._points = space.points(self._places)
        self._origin = space.points(space.places([space.current]))
        self._owners = np.repeat(np.arange(len(space)), space.widths)  # of the coordinates
        gaps = self._points[:, None, :] - self._points[None, :, :]
        starts = np.searchsorted(self._owners, np.arange(len(space)))
        self._squares: Floats = np.add.reduceat(np.moveaxis(gaps**2, 2, 0), starts, axis=0)
        self.height, self.lengths = self._fit()
        of = contrasts.of
        covariance = of @ self._kernel(self._points, self._points) @ of.T
        covariance[np.diag_indices_from(covariance)] += contrasts.noise
        self._lower = np.asarray(
            np.linalg.cholesky(covariance + _JITTER * contrasts.noise * np.eye(len(covariance))), np.float64
        )
        self._weights: Floats = np.dot(of.T, _solved(self._lower, contrasts.seen))
        kernel = self._kernel(self._points, self._points)
        self._half: Floats = solve_triangular(self._lower, of @ kernel, lower=True)
        self._left = contrasts.left(kernel @ self._weights)

    # --- what it says ---

    def gains(self, places: Floats) -> tuple[Floats, Floats]:
        """The expected gain over the current values at (points, parameters) of the unit cube, and its standard error.

        The process takes all values of a unit for independent; but candidates that are nearly alike play nearly alike,
        so that the luck of a unit is that of a whole neighbourhood. So the part of the variance that is due to noise
        is taken from how the units really pull at the gain (the sandwich estimator with units as clusters: Liang &
        Zeger, *Longitudinal data analysis using generalized linear models*, 1986), where that is more.
        """
        from scipy.linalg import solve_triangular

        points = self.space.points(places)
        cross = self._kernel(points, self._points) - self._kernel(self._origin, self._points)
        half = solve_triangular(self._lower, self.contrasts.of @ cross.T, lower=True)
        own = 2 * (self.height**2 - self._kernel(points, self._origin)[:, 0])
        variance = np.maximum(own - (half**2).sum(axis=0), 0.0)
        together = (cross - half.T @ self._half) / self.contrasts.noise  # of the gain with each candidate's value
        pulls = ((self._left @ together.T) ** 2).sum(axis=0)
        modelled = ((self.contrasts.of @ together.T) ** 2).sum(axis=0) * self.contrasts.noise
        return cross @ self._weights, np.sqrt(variance + np.maximum(pulls - modelled, 0.0))

    def gain(self, values: Values) -> Gain:
        """The gain of some values."""
        mean, error = self.gains(self.space.places([values]))
        return Gain(float(mean[0]), float(error[0]))

    def mean(self, places: Floats) -> Floats:
        """The expected gain alone."""
        cross = self._kernel(self.space.points(places), self._points) - self._kernel(self._origin, self._points)
        return np.asarray(cross @ self._weights)

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
        point, free = self.space.points(start[None])[0], ordered[self._owners]

        def down(moved: Floats) -> tuple[float, Floats]:
            point[free] = moved
            kernel = self._kernel(point[None], self._points)[0] * self._weights
            slope = ((self._points - point) * kernel[:, None]).sum(axis=0)[free] / self.lengths[ordered] ** 2
            return -float(kernel.sum()), -slope

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

    def _kernel(self, one: Floats, other: Floats) -> Floats:
        gaps = (one[:, None, :] - other[None, :, :]) / self.lengths[self._owners]
        return np.asarray(self.height**2 * np.exp(-0.5 * (gaps**2).sum(axis=2)))

    def _fit(self) -> tuple[float, Floats]:
        from scipy.optimize import minimize

        count = len(self.space)
        centre = np.array([math.log(HEIGHT * math.sqrt(self.contrasts.noise))])
        centre = np.concatenate([centre, np.full(count, math.log(LENGTH * math.sqrt(count)))])
        spread = np.array([HEIGHT_SPREAD, *[LENGTH_SPREAD] * count])
        if not len(self.contrasts.seen):
            return float(np.exp(centre[0])), np.exp(centre[1:])

        def cost(at: Floats) -> tuple[float, Floats]:
            value, slope = self._unlikely(at)
            z = (at - centre) / spread
            return value + 0.5 * float(z @ z), slope + z / spread

        reach = list(zip(centre - 4 * spread, centre + 4 * spread, strict=True))
        found = minimize(cost, centre, jac=True, bounds=reach, method="L-BFGS-B", options={"maxiter": 60})
        return float(np.exp(found.x[0])), np.exp(found.x[1:])

    def _unlikely(self, at: Floats) -> tuple[float, Floats]:
        """Minus the logarithm of the likelihood at (log height, log lengths), and its slope."""
        from scipy.linalg import cho_solve

        of, seen, noise = self.contrasts.of, self.contrasts.seen, self.contrasts.noise
        lengths = np.exp(at[1:])
        kernel = np.exp(2 * at[0] - 0.5 * np.tensordot(1 / lengths**2, self._squares, axes=1))
        covariance = of @ kernel @ of.T
        covariance[np.diag_indices_from(covariance)] += noise * (1 + _JITTER)
        lower = np.linalg.cholesky(covariance)
        inverse = cho_solve((lower, True), np.eye(len(seen)))
        alpha = inverse @ seen
        value = 0.5 * float(seen @ alpha) + float(np.log(np.diag(lower)).sum())
        inner = of.T @ alpha
        shared = (np.outer(inner, inner) - of.T @ inverse @ of) * kernel
        slope = [float(shared.sum())]
        slope += [
            0.5 * float((shared * squares).sum()) / length**2
            for squares, length in zip(self._squares, lengths, strict=True)
        ]
        return value, -np.array(slope)


def _solved(lower: Floats, right: Floats) -> Floats:
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve((lower, True), right))
