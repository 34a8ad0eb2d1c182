"""Engines that break the protocol in every way, and what must not be left of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.process import FAULT_KINDS, EngineFault

PYTHON = [sys.executable, "-I", "-S"]
# Seconds beyond the limit within which a fault must be known and the process gone. Promised is 1; what matters is that
# it is less than the minute that they sleep, however busy the machine.
SLACK = 40.0
RULES = Rules.of("family", 2, set=6, hand=6)

HANDSHAKE = """
import os, signal, sys, time
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
def hear():
    return sys.stdin.readline().split()
"""


def children() -> set[int]:
    """The processes that this one has started and not yet reaped."""
    found = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            found |= {int(word) for word in (thread / "children").read_text(encoding="ascii").split()}
    return found


def descriptors() -> set[str]:
    return {f"{fd} {os.readlink(f'/proc/self/fd/{fd}')}" for fd in os.listdir("/proc/self/fd") if _is_open(fd)}


def _is_open(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}") and not os.readlink(f"/proc/self/fd/{fd}").startswith("/proc/")


@contextmanager
def nothing_left() -> Iterator[None]:
    """No process and no descriptor is left behind."""
    before = children(), descriptors()
    yield
    assert (children(), descriptors()) == before


def a_position() -> Observation:
    """What the first seat of a round for two sees at its start."""
    game = Round.deal(RULES, seed=3, starter=0)
    return game.observe(game.turn)


def raw(folder: Path, code: str, name: str = "raw") -> list[str]:
    """The command of a program that does nothing by itself; it may use ``say`` and ``hear``."""
    file = folder / f"{name}.py"
    file.write_text(HANDSHAKE + code, encoding="utf-8")
    return [*PYTHON, str(file)]


def fault_of(call: Callable[[], object]) -> EngineFault:
    with pytest.raises(EngineFault) as raised:
        call()
    fault = raised.value
    assert fault.kind in FAULT_KINDS
    assert fault.detail.isprintable()
    assert str(fault) == f"{fault.kind}: {fault.detail}"
    return fault
