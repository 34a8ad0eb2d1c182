"""Time limits in proportion to how fast a machine is (``--scale-tc``), as OpenBench and fishtest do.

A short run of ``caboose bench`` says how many nodes a second the search does here. Where that is half of the reference,
all time limits are twice as long: so an engine gets about the same work done on all machines, though not exactly. What
the operating system may take (margin, start, guard) is not scaled.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cache
from typing import Final

from caboose.arena.errors import CallError
from caboose.protocol.referee.timing import TimeControl

LEAST: Final = 0.2  # factors beyond these are refused: such machines do not mix
MOST: Final = 5.0
HERE: Final = "here"  # as reference: the speed of this machine
_NODES: Final = 300  # of each search of the bench
_RUNS: Final = 3
_SCALED: Final = ("movetime", "clock", "increment", "allowance", "roundcap", "gamecap")


@cache
def measure_speed() -> float:
    """How many nodes ``mcts`` searches in a second of processor time here, which is measured once: the best of some
    runs, since what else runs on the machine shall not count."""
    from caboose.arena.bench.search_bench import positions, search_text

    observations = [position.observe() for position in positions()]
    rates = []
    for _ in range(_RUNS):
        begun = time.process_time()
        nodes = sum(search_text(observation, _NODES)[1] for observation in observations)
        rates.append(nodes / (time.process_time() - begun))
    return max(rates)


def scale_factor(reference: float, speed: float) -> float:
    """By how much time limits are longer on a machine of ``speed`` than on one of ``reference``, both in nodes a
    second; to three digits. Raises ``ValueError`` beyond ``LEAST`` and ``MOST``."""
    factor = reference / speed
    if not LEAST <= factor <= MOST:
        raise ValueError(
            f"{speed:,.0f} nodes/s against {reference:,.0f} of the reference would make time limits {factor:.3g} times "
            f"as long: expected {LEAST:g} to {MOST:g} times"
        )
    return float(f"{factor:.3g}")


def scaled(control: TimeControl, factor: float) -> TimeControl:
    """A time control with all limits of time ``factor`` times as long."""
    given = {name: getattr(control, name) for name in _SCALED}
    return replace(control, **{name: value * factor for name, value in given.items() if value})


def parse_reference(name: str, value: object) -> float | str:
    """The speed that a call or a file gives as reference: a number, or ``HERE``. Raises ``CallError``."""
    if value == HERE:
        return HERE
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        speed = float(value)
        if not (math.isfinite(speed) and speed > 0):
            raise ValueError
        return speed
    except ValueError:
        raise CallError(f"{name} {value}: expected {HERE}, or nodes a second as `caboose bench` tells them") from None
