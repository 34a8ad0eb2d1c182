"""Searches by trials: candidates are tried in batches, on common deals, and the bad ones are stopped early.

A batch, the current values and the best so far play the same units. After each stage who is clearly worse than the best
of them leaves (races: Maron & Moore, *The racing algorithm*, 1997; López-Ibáñez et al., *The irace package*, 2016). The
next batch plays other units, so that nothing is fitted to a few deals. In the end the surface over all blocks is what
recommends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

import numpy as np

from caboose.arena.tune.search import Asking, Job, Search
from caboose.arena.tune.space import Floats, Values
from caboose.arena.tune.surface import Surface

STAGES: Final = (4, 8, 16)  # units that a candidate has played after each
CLEARLY: Final = 1.3  # standard errors that a candidate must be behind to leave


class Proposer(Protocol):
    """Where candidates come from."""

    def propose(self, count: int, surface: Surface | None) -> Sequence[Floats]:
        """That many places of the unit cube to be tried next; ``surface`` is what is known."""

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """What is now expected of those that were proposed last."""


def race(search: Search, proposer: Proposer) -> Asking:
    """Tries batch after batch until the budget is spent."""
    space, unit = search.space, 0
    surface: Surface | None = None
    leader = space.current
    while search.spent < search.budget:
        places = proposer.propose(search.batch, surface)
        candidates = [space.values(place) for place in places]
        alive = list(dict.fromkeys([space.current, leader, *candidates]))
        played = 0
        for stage in STAGES:
            jobs = [Job(values, number) for values in alive for number in range(unit + played, unit + stage)]
            yield from search.play(jobs)
            played = stage
            left = _survivors(search, alive, range(unit, unit + stage))
            search.dropped += (len(alive) - len(left)) if stage < STAGES[-1] else 0
            alive = left
            if len(alive) < 2 or search.spent >= search.budget:
                break
        unit += STAGES[-1]
        surface = search.surface()
        proposer.told(places, surface.mean(space.places(candidates)).tolist())
        tried = search.seen.candidates
        leader = tried[int(np.argmax(surface.mean(space.places(tried))))]
        search.note(leader)


def _survivors(search: Search, alive: Sequence[Values], units: Iterable[int]) -> list[Values]:
    """Those that are not clearly behind the best, by the units that all of them played."""
    rows = [search.seen.of(values) for values in alive]
    common = [unit for unit in units if all(unit in row for row in rows)]
    if len(common) < 2 or len(alive) < 2:
        return list(alive)
    table = np.array([[row[unit] for unit in common] for row in rows])
    table -= table.mean(axis=0)
    means = table.mean(axis=1)
    noise = float(((table - means[:, None]) ** 2).sum()) / ((len(common) - 1) * (len(alive) - 1))
    behind = means.max() - means
    return [
        values for values, gap in zip(alive, behind, strict=True) if gap <= CLEARLY * np.sqrt(2 * noise / len(common))
    ]


Maker = Callable[[Search], Proposer]
