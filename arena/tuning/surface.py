"""The response surface: what all blocks together say of how good each place of the space is.

A Gaussian process (Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006) over the unit cube, with a
squared exponential kernel of one length for each parameter, seen through the contrasts of ``observations`` with their
known noise: so it knows differences only, and they are all that is asked for. (Libraries take values of points, not
differences.) All choices of an option are equally far apart: no order of theirs is believed in. ``fit`` says how high
it is and how far things are alike, ``average`` what is said at the end."""

from __future__ import annotations

from typing import Final

import numpy as np

from caboose.arena.tuning.observations import Contrasts
from caboose.arena.tuning.space import Floats, Space
from caboose.arena.tuning.surface_queries import Response

JITTER: Final = 1e-9  # of the noise, without which alike candidates make a matrix that has no root


class Surface(Response):
    """The surface of this ``height`` (the deviation of the process, in the objective's unit) and these ``lengths``
    ((parameters,), as shares of the range)."""

    def __init__(self, space: Space, contrasts: Contrasts, height: float, lengths: Floats) -> None:
        from scipy.linalg import solve_triangular
        from scipy.sparse import csr_array

        super().__init__(space, space.places(contrasts.candidates), height)
        self.contrasts = contrasts
        self.lengths = lengths
        self._points = space.points(self._places)
        self._origin = space.points(space.places([space.current]))
        self._owners = np.repeat(np.arange(len(space)), space.widths)  # of the coordinates
        of = contrasts.of
        covariance = of @ self._kernel(self._points, self._points) @ of.T
        covariance[np.diag_indices_from(covariance)] += contrasts.noise
        self._lower = np.asarray(
            np.linalg.cholesky(covariance + JITTER * contrasts.noise * np.eye(len(covariance))), np.float64
        )
        self._weights: Floats = np.dot(of.T, _solved(self._lower, contrasts.seen))
        kernel = self._kernel(self._points, self._points)
        self._half: Floats = solve_triangular(self._lower, of @ kernel, lower=True)
        self._left = csr_array(contrasts.left(kernel @ self._weights))  # few of all candidates play a unit

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

    def mean(self, places: Floats) -> Floats:
        """The expected gain alone."""
        cross = self._kernel(self.space.points(places), self._points) - self._kernel(self._origin, self._points)
        return np.asarray(cross @ self._weights)

    def rise(self, point: Floats) -> tuple[float, Floats]:
        kernel = self._kernel(point[None], self._points)[0] * self._weights
        slope = ((self._points - point) * kernel[:, None]).sum(axis=0)
        return float(kernel.sum()), slope / self.lengths[self._owners] ** 2

    # --- how it is found ---

    def _kernel(self, one: Floats, other: Floats) -> Floats:
        one, other = (points / self.lengths[self._owners] for points in (one, other))
        squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
        return np.asarray(self.height**2 * np.exp(-0.5 * np.maximum(squares, 0.0)))


def _solved(lower: Floats, right: Floats) -> Floats:
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve((lower, True), right))
