"""The Bradley–Terry model of Weng and Lin (2011, algorithm 1): skills that are followed from result to result.

openskill has it too (``BradleyTerryFull``), and a test compares them, to the last bit. But it copies objects, which
takes most of its time, and a run of a large ladder begins with tens of thousands of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from typing import Final

BETA: Final = 25 / 6
"""The deviation of a performance from the skill behind it."""
_LEAST: Final = 0.0001  # to which a variance may shrink at once, as a factor


def update(means: Sequence[float], deviations: Sequence[float], places: Sequence[float]) -> list[tuple[float, float]]:
    """The mean and the standard deviation of each of some contestants after a result. ``places`` are their places in
    it, of which less is better and equal ones are a tie. Numbers in units of openskill."""
    order = sorted(range(len(places)), key=places.__getitem__)
    variances = [sqrt(deviation * deviation) ** 2 for deviation in deviations]
    noise = 2 * BETA**2
    found = [(0.0, 0.0)] * len(places)
    for i in order:
        mean, variance, place = means[i], variances[i], places[i]
        deviation = sqrt(variance)
        gain = shrinking = 0.0
        for other in order:
            if other == i:
                continue
            c = sqrt(variance + variances[other] + noise)
            chance = 1 / (1 + exp((means[other] - mean) / c))
            part = variance / c
            score = 1.0 if places[other] > place else 0.5 if places[other] == place else 0.0
            gain += part * (score - chance)
            shrinking += deviation / c * part / c * chance * (1 - chance)
        own = sqrt(deviations[i] * deviations[i])
        found[i] = mean + gain, own * sqrt(max(1 - shrinking, _LEAST))
    return found
