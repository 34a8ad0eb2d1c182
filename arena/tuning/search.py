"""What a search is: something that asks for blocks, is given their values, and in the end recommends values.

A search is a generator. It yields jobs, in batches, and is sent what came of them. What it asks for next follows from
its seed and from what it was sent before, and from nothing else: not from the clock, nor from the order in which blocks
ended. So a study that was killed is taken up by running its search again from the start with the results that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from caboose.arena.tuning.observations import Observations
from caboose.arena.tuning.space import Space, Values
from caboose.arena.tuning.surface import Surface
from caboose.arena.tuning.surface_average import Averaged
from caboose.arena.tuning.surface_fit import Fit
from caboose.arena.tuning.surface_queries import Gain


class Job(NamedTuple):
    """A candidate is to play unit ``unit``, with ``fresh`` one of the deals that are kept for verification. A unit is a
    block of each list of the study, or a sample of a measure."""

    values: Values
    unit: int
    fresh: bool = False


Asking = Generator[Sequence[Job], Sequence[float | None], None]
"""Yields jobs; is sent their values in the same order, None where nothing came of one."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What a search recommends, and the gain over the current values that is expected of it. ``luckiest`` is the
    candidate with the best mean in its blocks, and ``lucky`` by how much that was better than the current values'."""

    values: Values
    gain: Gain
    luckiest: Values
    lucky: float


@dataclass(frozen=True, slots=True)
class Step:
    """What a search thought best when it had spent ``blocks``."""

    blocks: int
    values: Values


@dataclass(slots=True)
class Search:
    """A search and what it has seen. ``budget`` and ``spent`` are blocks; ``cost`` says how many a job takes,
    ``price`` how many a unit takes for candidates that are not free. ``batch`` candidates are played at once."""

    space: Space
    seed: int
    budget: int
    cost: Callable[[Job], int]
    price: int
    batch: int
    seen: Observations = field(default_factory=Observations)
    steps: list[Step] = field(default_factory=list)
    spent: int = 0
    dropped: set[Values] = field(default_factory=set)  # candidates that were stopped early, once at least
    _averaged: tuple[int, Averaged] | None = None

    def play(self, jobs: Sequence[Job]) -> Asking:
        """Asks for ``jobs``, and keeps what comes of them."""
        results = yield jobs
        for job, value in zip(jobs, results, strict=True):
            self.seen.add(job.values, job.unit, value)
            self.spent += self.cost(job)

    def surface(self) -> Surface:
        """The likeliest of what all that was seen allows: where to look next."""
        contrasts = self.seen.contrasts()
        return Surface(self.space, contrasts, *Fit(self.space, contrasts).likeliest())

    def averaged(self) -> Averaged:
        """All that is likely by what was seen: what to say of it. Kept until more is seen."""
        if self._averaged is None or self._averaged[0] != self.seen.count:
            self._averaged = self.seen.count, Averaged(self.space, self.seen.contrasts())
        return self._averaged[1]

    def note(self, values: Values) -> None:
        """Keeps what is thought best now."""
        self.steps.append(Step(self.spent, values))

    def recommend(self, values: Values) -> Recommendation:
        """Recommends ``values``."""
        luckiest, lucky = self.space.current, 0.0
        for candidate in self.seen.candidates:
            count, mean, _ = self.seen.difference(candidate, self.space.current)
            if count and mean > lucky:
                luckiest, lucky = candidate, mean
        return Recommendation(values, self.averaged().gain(values), luckiest, lucky)
