"""Many checks at once for the tests: they mostly wait, each for its own engine."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from caboose.arena.conformance.probe import Probe
from caboose.arena.conformance.run import STEPS, check_steps, find_steps
from caboose.arena.conformance.steps import Report
from caboose.arena.conformance.text import report_object

AT_ONCE: Final = 8
UNHURRIED: Final = 2000.0  # ms beyond a limit that are forgiven where it is not the engine's being late that is tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What ``caboose check`` is told: the command line of an engine, names of steps (all without any), and the rest.

    ``start`` and ``patience`` are seconds, ``margin`` milliseconds.
    """

    words: tuple[str, ...]
    steps: tuple[str, ...] = ()
    start: float = 20.0
    patience: float = 20.0
    margin: float = UNHURRIED


def check_all(cases: Mapping[str, Case], folder: Path) -> dict[str, dict[str, Any]]:
    """The report of each case, as ``--json`` prints it."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {
            name: pool.submit(_check, case, folder / f"stderr-{number}")
            for number, (name, case) in enumerate(cases.items())
        }
        return {name: future.result() for name, future in running.items()}


def _check(case: Case, stderr: Path) -> dict[str, Any]:
    probe = Probe(case.words, {}, start=case.start, patience=case.patience, margin=case.margin, stderr=stderr)
    report = Report(shlex.join(case.words))
    steps = find_steps(case.steps) if case.steps else STEPS
    for result in check_steps(probe, steps, stderr):
        report.add(result, probe)
    return report_object(report, 0.0, "")


def outcomes(report: Mapping[str, Any], *wanted: str) -> list[str]:
    """The names of the steps that came out as one of ``wanted``."""
    return [step["name"] for step in report["steps"] if step["outcome"] in wanted]
