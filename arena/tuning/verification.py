"""The proof: what is recommended against the current values, on deals that the search never saw.

Both play the same fresh units, and the sequential test of ``arena/stats/sprt.py`` looks at their differences, in the
order of the units: H0, no gain, against H1, a gain. The candidate is one and was chosen before, so nothing is won by
trying often."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final

from caboose.arena.stats.sprt import CONTINUE, H1, MOST_PIPS, SequentialTest, State
from caboose.arena.tuning.search import Job
from caboose.arena.tuning.space import Values

LOOKS: Final = 16  # units that are played between two looks at whether to go on; each unit is looked at all the same
SHARE: Final = 0.5  # of the expected gain, that H1 is where nobody says it
LEAST: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the test came to. ``gain`` ± ``half`` (95 %) is the mean difference over the ``units`` that were judged.

    ``blocks`` were played for it. ``wanted`` is H1. ``verdict`` is ``H1``, ``H0`` or ``continue`` where the blocks did
    not suffice."""

    verdict: str
    wanted: float
    llr: float
    bounds: tuple[float, float]
    gain: float
    half: float
    deviation: float
    units: int
    blocks: int

    @property
    def holds(self) -> bool:
        """Whether the gain is proven."""
        return self.verdict == H1


def verification(
    values: Values,
    current: Values,
    *,
    expected: float,
    gain: float | None,
    most: int,
    alpha: float,
    beta: float,
    cost: Callable[[Job], int],
) -> Generator[Sequence[Job], Sequence[float | None], Verdict]:
    """Tests ``values`` against ``current`` with ``most`` blocks at most. ``gain`` is H1, by default half of what is
    ``expected``. Yields and is sent what a search is."""
    wanted = min(max(gain if gain is not None else SHARE * expected, LEAST), MOST_PIPS)
    test = SequentialTest(low=0.0, high=wanted, unit="pips", alpha=alpha, beta=beta)
    state, verdict, unit, blocks = State(), CONTINUE, 0, 0
    while verdict == CONTINUE:
        units = _affordable(values, current, unit, most - blocks, cost)
        if not units:
            break
        jobs = [Job(each, number, True) for each in (values, current) for number in units]
        results = yield jobs
        blocks += sum(map(cost, jobs))
        unit += len(units)
        for mine, theirs in zip(results[: len(units)], results[len(units) :], strict=True):
            if mine is not None and theirs is not None and verdict == CONTINUE:
                state = state.with_blocks([mine - theirs])
                verdict = test.verdict(state)
    return Verdict(
        verdict=verdict,
        wanted=wanted,
        llr=test.llr(state),
        bounds=test.bounds,
        gain=state.mean,
        half=_half(state),
        deviation=math.sqrt(state.variance),
        units=state.count,
        blocks=blocks,
    )


def _affordable(values: Values, current: Values, first: int, left: int, cost: Callable[[Job], int]) -> range:
    """The units from ``first`` on that are played before the next look: ``LOOKS``, or what ``left`` blocks allow."""
    count = 0
    for unit in range(first, first + LOOKS):
        left -= sum(cost(Job(each, unit, True)) for each in (values, current))
        if left < 0:
            break
        count += 1
    return range(first, first + count)


def _half(state: State) -> float:
    """Half of the 95 % interval of the mean (Student t)."""
    if state.count < 2:
        return math.inf
    from scipy.special import stdtrit

    return float(stdtrit(state.count - 1, 0.975)) * math.sqrt(state.variance / (state.count - 1))
