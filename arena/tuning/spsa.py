"""SPSA: simultaneous perturbation stochastic approximation (Spall 1992; gains after Spall, *Implementation of the
simultaneous perturbation algorithm*, 1998).

Each iteration moves all parameters a little, by lot up or down, and plays both this and its opposite on the same deals;
the difference is a slope, which all parameters follow. As in OpenBench and fishtest the result of a pair counts in
deviations, so that gains need no tuning, and the size of the moves is told by where they end, as a share of each range.
Step sizes are chosen so that chance alone, without any slope, would make a walk of ``WALK`` of the range in all
iterations together.

The recommendation is the mean of the iterates of the last half (Polyak & Juditsky 1992), never the last or the best;
where the surface expects nothing of it, the current values.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from caboose.arena.tuning.search import Asking, Job, Search
from caboose.arena.tuning.space import Floats, Values

ALPHA: Final = 0.602  # how fast steps get smaller
GAMMA: Final = 0.101  # how fast moves do
STABILITY: Final = 0.1  # A, of the iterations
MOVE: Final = 0.15  # c at the end, of the range
WALK: Final = 0.3  # of the range
LAST: Final = 0.5  # of the iterations, that the recommendation is the mean of
FEWEST: Final = 2  # pairs of an iteration: what they differ by tells the noise
_DRAWS: Final = 4  # pairs before the deviation is told from them alone


def spsa(search: Search) -> Asking:
    """Iterates until the budget is spent; what it recommends is the last of ``search.steps``."""
    space = search.space
    generator = np.random.default_rng(search.seed)
    pairs = pairs_of(search)
    iterations = search.budget // (2 * pairs * search.price)
    if not iterations:
        search.note(space.current)
        return
    steps, moves = gains(iterations, pairs)
    place = np.clip(space.places([space.current])[0], 0.0, 1.0)
    differences: list[float] = []
    mean, counted, unit = place.copy(), 0, 0
    for number in range(iterations):
        sign = generator.choice([-1.0, 1.0], size=len(space))
        up, down = perturbed(search, place, moves[number] * sign)
        jobs = [Job(values, unit + pair) for values in (up, down) for pair in range(pairs)]
        yield from search.play(jobs)
        above, below = search.seen.of(up), search.seen.of(down)
        both = [above[at] - below[at] for at in range(unit, unit + pairs) if at in above and at in below]
        unit += pairs
        differences += both
        deviation = float(np.sqrt(np.mean(np.square(differences)))) if differences else 0.0
        if both and deviation > 0 and len(differences) >= _DRAWS:
            gap = np.subtract(*space.places([up, down]))
            slope = np.divide(np.mean(both) / deviation, gap, out=np.zeros(len(space)), where=gap != 0)
            place = np.clip(place + steps[number] * slope, 0.0, 1.0)
        if number >= (1 - LAST) * iterations - 1:
            counted += 1
            mean += (place - mean) / counted
        search.note(space.values(mean if counted else place))


def pairs_of(search: Search) -> int:
    """How many pairs an iteration has."""
    return max(FEWEST, search.batch // 2)


def gains(iterations: int, pairs: int) -> tuple[Floats, Floats]:
    """The step and the move of each iteration, as shares of the range; a step is for a slope in deviations."""
    numbers = np.arange(iterations)
    moves = MOVE * (iterations / (numbers + 1.0)) ** GAMMA
    steps = 1 / (numbers + 1.0 + STABILITY * iterations) ** ALPHA
    # A pair without any slope has a difference of one deviation, a mean of several of 1/√pairs.
    walk = np.sqrt(np.sum((steps / (2 * moves)) ** 2) / pairs)
    return steps * WALK / walk, moves


def perturbed(search: Search, place: Floats, move: Floats) -> tuple[Values, Values]:
    """What lies a move above and below; allowed values that differ at least by a step."""
    ups, downs = [], []
    for parameter, at, by in zip(search.space.parameters, place, move, strict=True):
        # At the border both are moved, so that they stay apart.
        centre = min(max(at, abs(by)), 1 - abs(by)) if abs(by) < 0.5 else 0.5
        up, down = parameter.value(centre + by), parameter.value(centre - by)
        if up == down:
            other = parameter.neighbours(up)
            if other:
                near = min(other, key=lambda value: abs(parameter.place(value) - at))
                up, down = (max(up, near), min(down, near)) if by > 0 else (min(up, near), max(down, near))
        ups.append(up)
        downs.append(down)
    return tuple(ups), tuple(downs)
