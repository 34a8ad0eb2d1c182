"""Processor time that processes have used, as Linux tells it."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Final

_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
_DEEPEST: Final = 64  # generations of processes that are looked at


def tree_time(pid: int) -> float:
    """Seconds of processor time of a process and all that it started: those that it waited for, and those that run. 0
    where the system does not tell.

    A process that was left by its parent is not found, nor is one that has been reaped by another.
    """
    total = 0.0
    generation = [pid]
    for _ in range(_DEEPEST):
        children: list[int] = []
        for number in generation:
            total += _own_time(number)
            children += _children(number)
        if not children:
            break
        generation = children
    return total


def _own_time(pid: int) -> float:
    """Seconds of a process itself, and of its children that are no more."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read(1024).rpartition(b")")[2].split()
        own, reaped = (int(fields[11]) + int(fields[12])) * _TICK, (int(fields[13]) + int(fields[14])) * _TICK
    except (OSError, IndexError, ValueError):
        return 0.0
    # To the nanosecond, where there is such a clock: the number of a process makes the number of its clock.
    with suppress(OSError):
        own = max(own, time.clock_gettime(~pid << 3 | 2))
    return own + reaped


def _children(pid: int) -> list[int]:
    """The processes that the threads of a process have started and that are still there."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found += [int(word) for word in file.read(65_536).split()]
    return found
