"""Processor time as Linux gives it: how soon this process gets some, and how much others have used."""

from __future__ import annotations

import os
import platform
import struct
import time
from contextlib import suppress
from typing import Final

_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
_DEEPEST: Final = 64  # generations of processes that are looked at
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}  # the number of the system call
_RESET_ON_FORK: Final = 1
_SLICE: Final = 100_000  # ns: the shortest that Linux grants


def wake_promptly() -> None:
    """Asks Linux (6.12 or newer) for short turns of the processor, for the calling thread but not for what it starts.

    Who takes short turns gets the next one sooner: where engines work on every processor, the stamps of a referee that
    mostly waits are several times closer. It gets no more of the processor by it. Elsewhere nothing happens.
    """
    number = _SCHED_SETATTR.get(platform.machine()) if platform.system() == "Linux" else None
    if number is None:
        return
    import ctypes  # not for those who only want to know what time others used

    # struct sched_attr: size, policy (as it is), flags, nice, priority, runtime, deadline, period
    attributes = struct.pack("IIQiIQQQ", 48, 0, _RESET_ON_FORK, os.getpriority(os.PRIO_PROCESS, 0), 0, _SLICE, 0, 0)
    ctypes.CDLL(None).syscall(number, 0, ctypes.c_char_p(attributes), 0)


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
