"""Runs the steps of a check, one after the other, on one engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from caboose.arena.conformance.probe import Probe, Silent
from caboose.arena.conformance.steps import ADVICE, FAILED, PASSED, SKIPPED, Broken, Result, Skip, Step
from caboose.arena.conformance.steps_lines import LINES, OUTPUT
from caboose.arena.conformance.steps_play import PLAY
from caboose.arena.conformance.steps_start import OPTIONS, START
from caboose.arena.conformance.steps_time import END, TIME

STEPS: Final[tuple[Step, ...]] = (*START, *PLAY, *LINES, *OUTPUT, *OPTIONS, *TIME, *END)
START_TIMEOUT: Final = 10.0  # seconds, as a referee gives unless told otherwise
PATIENCE: Final = 5.0  # seconds
MARGIN: Final = 50.0  # milliseconds, as a referee gives unless told otherwise

_MOST_SILENT: Final = 4  # steps in a row without an answer after which nothing more is asked
_STDERR: Final = 2000  # bytes of standard error that are kept for a step


def find_steps(names: Sequence[str]) -> list[Step]:
    """The steps that ``names`` mean, each a step or the part before the dot of several, in the order of a whole check.
    Raises ``KeyError`` with a name that means none."""
    for name in names:
        if not any(name in (step.name, step.group) for step in STEPS):
            raise KeyError(name)
    return [step for step in STEPS if step.name in names or step.group in names]


def check_steps(probe: Probe, steps: Sequence[Step], stderr: Path) -> Iterator[Result]:
    """Runs ``steps`` and gives the result of each when it is known. The process is gone at the end.

    After a gate that fails, and after a few steps in a row to which nothing was answered, the others are skipped.
    Raises ``CannotRunError`` when there is no such program.
    """
    closed = ""
    silent = 0
    try:
        for step in steps:
            if closed:
                yield Result(step, SKIPPED, closed)
                continue
            written = stderr.stat().st_size if stderr.exists() else 0
            result, was_silent = _run(probe, step)
            result.stderr = _tail(stderr, written)
            silent = silent + 1 if was_silent else 0
            if result.outcome == FAILED and step.gate:
                closed = f"{step.name} failed"
            elif silent >= _MOST_SILENT:
                closed = f"nothing was answered in {silent} steps in a row"
            yield result
    finally:
        probe.close()


def _run(probe: Probe, step: Step) -> tuple[Result, bool]:
    """The result of one step, and whether it failed because nothing came. The process stays for the next one unless it
    failed."""
    begin = time.monotonic()
    probe.begin()
    outcome, why, silent = PASSED, "", False
    try:
        if step.fresh:
            probe.launch()
        elif not probe.running:
            probe.restart()
        step.run(probe)
        if probe.running:
            probe.no_move(probe.ready())
    except Skip as skip:
        outcome, why = SKIPPED, str(skip)
    except Broken as broken:
        outcome, why = FAILED if step.must else ADVICE, str(broken)
        silent = isinstance(broken, Silent)
    seconds = time.monotonic() - begin
    if outcome in (FAILED, ADVICE):
        probe.close()
    return Result(step, outcome, why, seconds, probe.tape), silent


def _tail(file: Path, start: int) -> str:
    """The end of what stands in the file after ``start`` bytes."""
    if not file.exists():
        return ""
    with file.open("rb") as stream:
        stream.seek(max(start, file.stat().st_size - _STDERR))
        return stream.read(_STDERR).decode("utf-8", "replace")
