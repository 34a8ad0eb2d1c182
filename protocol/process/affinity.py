"""The processor cores that this process may use, and what is bound to some of them (Linux; elsewhere to nothing)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CAN_BIND: Final = sys.platform == "linux"
_CPUS: Final = Path("/sys/devices/system/cpu")

Core = tuple[int, ...]
"""The numbers of a core's processors: more than one with hyperthreading."""


def allowed_cores() -> list[Core]:
    """The cores on which this thread may run, each with those of its processors on which it may."""
    if not CAN_BIND:
        return []
    allowed = os.sched_getaffinity(0)
    return sorted({tuple(sorted((_siblings(cpu) & allowed) | {cpu})) for cpu in allowed})


@contextmanager
def bound(cpus: Sequence[int]) -> Iterator[None]:
    """Binds this thread to processors, and with it all that it starts meanwhile, for good; does nothing for none."""
    if not cpus or not CAN_BIND:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _siblings(cpu: int) -> set[int]:
    """The processors of the core to which one belongs, as far as the system tells."""
    try:
        text = (_CPUS / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text(encoding="ascii")
        return {number for part in text.strip().split(",") for number in _span(part)}
    except (OSError, ValueError):
        return {cpu}


def _span(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)
