"""How soon the choices of an engine are settled, as an objective without games: ``caboose suite score --depth`` as one
number (docs/guides/suite.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from caboose.arena.suite.score import LEAST_MOVETIME, LEAST_NODES, Score, smaller
from caboose.protocol.referee.timing import TimeControl

HALVED_NODES: Final = 2 * LEAST_NODES  # the smallest limits that have a half
HALVED_MOVETIME: Final = 2 * LEAST_MOVETIME


@dataclass(frozen=True, slots=True)
class Depth:
    """What a sample of a suite is worth by when its choices are settled, where an engine is asked under ``control``,
    which has one limit, and under halves of it."""

    control: TimeControl

    @property
    def earlier(self) -> tuple[TimeControl, ...]:
        """The halves, the smallest first."""
        return tuple(smaller(self.control))

    def worth(self, found: Score) -> float:
        """Minus the mean of the log2 of the limits under which choices are settled: 1 more is half the limit.

        A choice that is not settled under the largest limit counts as if it were under twice as much.
        """
        logs = [math.log2(control.nodes or control.movetime or 1) for control in found.entry.controls]
        shares = found.settled()
        first_here = np.diff(shares, axis=1, prepend=0.0, append=1.0)
        return -float(np.mean(first_here @ np.array([*logs, logs[-1] + 1])))
