"""How high a surface is, and how far places on it are alike: the priors, and what is most likely under them.

Logarithms of lengths are normal about 0.25 · d^½ for d parameters, since a surface of many parameters that matters in
all of them could never be found (as in Hvarfner, Hellsten & Nardi, *Vanilla Bayesian optimization performs great in
high dimensions*, 2024); that of the height is about 0.6 of the deviation of a block."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from caboose.arena.tuning.observations import Contrasts
from caboose.arena.tuning.space import Floats, Space
from caboose.arena.tuning.surface import JITTER

LENGTH: Final = 0.25
LENGTH_SPREAD: Final = 0.7  # of the logarithm
HEIGHT: Final = 0.6
HEIGHT_SPREAD: Final = 1.0
REACH: Final = 4.0  # spreads, that what is likely is looked for within
STEPS: Final = 60
NEAR: Final = 0.01  # of the logarithm of the likelihood: steps that gain less are not worth their time


class Fit:
    """The surfaces that ``contrasts`` allow."""

    def __init__(self, space: Space, contrasts: Contrasts) -> None:
        self.contrasts = contrasts
        count = len(space)
        points = space.points(space.places(contrasts.candidates))
        owners = np.repeat(np.arange(count), space.widths)
        self._squares: Floats = np.empty((count, len(points), len(points)))
        for at in range(count):
            own = points[:, owners == at]
            self._squares[at] = ((own[:, None] - own[None]) ** 2).sum(axis=2)
        self._centre = np.full(count, math.log(LENGTH * math.sqrt(count)))
        self._deviation = math.sqrt(contrasts.noise)

    def likeliest(self) -> tuple[float, Floats]:
        """The height and the lengths that are most likely."""
        centre = np.array([math.log(HEIGHT * self._deviation), *self._centre])
        spread = np.array([HEIGHT_SPREAD, *[LENGTH_SPREAD] * len(self._centre)])
        _, found = self._least(centre, centre, spread)
        return float(np.exp(found[0])), np.exp(found[1:])

    def at(self, height: float, lengths: Floats | None = None) -> tuple[float, Floats]:
        """How likely a ``height`` is (in deviations of a block), as the logarithm of the likelihood but for a constant,
        and the lengths that are most likely with it. The search for them begins from ``lengths``."""
        log = math.log(height * self._deviation)
        centre = np.array([log, *self._centre])
        begin = centre if lengths is None else np.array([log, *np.log(lengths)])
        cost, found = self._least(begin, centre, np.array([0.0, *[LENGTH_SPREAD] * len(self._centre)]))
        return -cost, np.exp(found[1:])

    def _least(self, begin: Floats, centre: Floats, spread: Floats) -> tuple[float, Floats]:
        """The least of minus the logarithm of the likelihood, and where it is; what has no spread stays."""
        from scipy.optimize import minimize

        if not len(self.contrasts.seen):
            return 0.0, centre
        unit = np.where(spread > 0, spread, 1.0)

        def cost(at: Floats) -> tuple[float, Floats]:
            value, slope = self._unlikely(at)
            z = (at - centre) / unit
            return value + 0.5 * float(z @ z), slope + z / unit

        begun = cost(begin)

        def cost_again(at: Floats) -> tuple[float, Floats]:
            return begun if np.array_equal(at, begin) else cost(at)

        reach = list(zip(centre - REACH * spread, centre + REACH * spread, strict=True))
        options = {"maxiter": STEPS, "ftol": NEAR / max(abs(begun[0]), 1.0)}
        found = minimize(cost_again, begin, jac=True, bounds=reach, method="L-BFGS-B", options=options)
        return float(found.fun), np.asarray(found.x)

    def _unlikely(self, at: Floats) -> tuple[float, Floats]:
        """Minus the logarithm of the likelihood at (log height, log lengths), and its slope."""
        from scipy.linalg import cho_solve

        of, seen, noise = self.contrasts.of, self.contrasts.seen, self.contrasts.noise
        squares = np.exp(-2 * at[1:])
        kernel = np.exp(2 * at[0] - 0.5 * np.tensordot(squares, self._squares, axes=1))
        covariance = of @ kernel @ of.T
        covariance[np.diag_indices_from(covariance)] += noise * (1 + JITTER)
        lower = np.linalg.cholesky(covariance)
        inverse = cho_solve((lower, True), np.eye(len(seen)))
        alpha = inverse @ seen
        value = 0.5 * float(seen @ alpha) + float(np.log(np.diag(lower)).sum())
        inner = of.T @ alpha
        shared = (np.outer(inner, inner) - of.T @ inverse @ of) * kernel
        slopes = 0.5 * squares * np.tensordot(self._squares, shared, axes=2)
        return value, -np.array([float(shared.sum()), *slopes])
