"""What a study says at the end: the surfaces of several heights, each as far as it is likely.

What is recommended was chosen because its blocks looked good, and the same blocks judge it. A surface of one height
believes them too much when that height is the likeliest one by luck; where all heights are kept, and low ones among
them, chance is told from gain as far as the blocks can tell it (Bayesian model averaging: Hoeting et al., *Bayesian
model averaging: a tutorial*, 1999). The logarithm of the height is normal about that of 0.15 deviations of a block."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from caboose.arena.tuning.observations import Contrasts
from caboose.arena.tuning.space import Floats, Space
from caboose.arena.tuning.surface import Surface
from caboose.arena.tuning.surface_fit import Fit
from caboose.arena.tuning.surface_queries import Response

HEIGHTS: Final = (1.28, 0.64, 0.32, 0.16, 0.08, 0.04, 0.02)  # deviations of a block
LIKELY: Final = 0.15
SPREAD: Final = 1.0
LEAST_WEIGHT: Final = 1e-3  # that a surface is kept with


class Averaged(Response):
    """The mean of the surfaces that ``contrasts`` allow over ``space``; ``heights`` and ``weights`` say of which."""

    def __init__(self, space: Space, contrasts: Contrasts) -> None:
        fit = Fit(space, contrasts)
        found: list[Floats] = []
        logs = []
        for height in HEIGHTS:
            likely, lengths = fit.at(height, found[-1] if found else None)
            logs.append(likely - 0.5 * (math.log(height / LIKELY) / SPREAD) ** 2)
            found.append(lengths)
        weights = np.exp(np.array(logs) - max(logs))
        weights /= weights.sum()
        kept = np.flatnonzero(weights >= LEAST_WEIGHT)
        self.weights: Floats = weights[kept] / weights[kept].sum()
        deviation = math.sqrt(contrasts.noise)
        self._surfaces = [Surface(space, contrasts, HEIGHTS[at] * deviation, found[at]) for at in kept]
        self.heights = [surface.height for surface in self._surfaces]
        super().__init__(space, space.places(contrasts.candidates), float(self.weights @ self.heights))

    def gains(self, places: Floats) -> tuple[Floats, Floats]:
        means, errors = map(np.array, zip(*[surface.gains(places) for surface in self._surfaces], strict=True))
        mean = self.weights @ means
        return mean, np.sqrt(self.weights @ (errors**2 + (means - mean) ** 2))

    def mean(self, places: Floats) -> Floats:
        return np.asarray(self.weights @ np.array([surface.mean(places) for surface in self._surfaces]))

    def rise(self, point: Floats) -> tuple[float, Floats]:
        values, slopes = map(np.array, zip(*[surface.rise(point) for surface in self._surfaces], strict=True))
        return float(self.weights @ values), self.weights @ slopes
