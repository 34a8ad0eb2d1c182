"""Searches by trials: candidates are tried in batches, on common deals, and the bad ones are stopped early.

A batch, the current values and the best so far play the same units. After each stage who is clearly worse than the best
of them leaves (races: Maron & Moore, *The racing algorithm*, 1997; López-Ibáñez et al., *The irace package*, 2016). The
next batch plays other units, so that nothing is fitted to a few deals. In the end the surface over all blocks is what
recommends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

import numpy as np

from caboose.arena.tuning.search import Asking, Job, Search
from caboose.arena.tuning.space import Floats, Space, Values
from caboose.arena.tuning.surface import Surface

NEAR: Final = 0.5  # of a batch, that is tried around the best besides
REACH: Final = 0.12  # of each range
STAGES: Final = (4, 8, 16)  # units that a candidate has played after each
FEWEST_UNITS: Final = 2  # for a whole batch, the current values and the best, or no batch is begun
CLEARLY: Final = 1.3  # standard errors that a candidate must be behind to leave


class Proposer(Protocol):
    """Where candidates come from."""

    def propose(self, count: int, surface: Surface | None, share: float) -> Sequence[Floats]:
        """That many places of the unit cube to be tried next; ``surface`` is what is known, and ``share`` of the budget
        is spent."""

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """What is now expected of those that were proposed last."""


def race(search: Search, proposer: Proposer, *, near: bool) -> Asking:
    """Tries batch after batch until the budget is spent; with ``near`` also candidates around the best so far, in pairs
    on either side of it, which say in which direction it gets better."""
    space, unit = search.space, 0
    generator = np.random.default_rng([search.seed, 1])
    surface: Surface | None = None
    leader = space.current
    while (search.budget - search.spent) // search.price >= FEWEST_UNITS * (search.batch + 2):
        places = proposer.propose(search.batch, surface, search.spent / search.budget)
        candidates = [space.values(place) for place in places]
        more = _around(space, leader, near_count(search.batch), generator) if near and surface is not None else []
        alive = list(dict.fromkeys([space.current, leader, *candidates, *more]))
        played = 0
        for stage in STAGES:
            most = played + (search.budget - search.spent) // (search.price * len(alive))
            until = min(stage, most)
            if until == played or len(alive) < 2:
                break
            yield from search.play([Job(values, unit + at) for values in alive for at in range(played, until)])
            played = until
            if stage < STAGES[-1]:
                left = _survivors(search, alive, range(unit, unit + played))
                search.dropped |= set(alive) - set(left)
                alive = left
        unit += STAGES[-1]
        surface = search.surface()
        proposer.told(places, surface.mean(space.places(candidates)).tolist())
        leader = surface.peak()
        search.note(leader)


def near_count(batch: int) -> int:
    """How many candidates are tried near the best, besides the batch: an even number."""
    return 2 * round(NEAR * batch / 2)


def _around(space: Space, leader: Values, count: int, generator: np.random.Generator) -> list[Values]:
    """Candidates around the best, with its choices, in pairs that lie opposite each other."""
    place, ordered = space.places([leader])[0], space.ordered
    centre = np.clip(place, REACH, 1 - REACH)
    signs = generator.choice([-1.0, 1.0], size=(count // 2, len(space)))
    return [space.values(np.where(ordered, centre + way * REACH * sign, place)) for sign in signs for way in (1, -1)]


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
