"""The report of a check, for people (80 columns) and for programs (one JSON object)."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from caboose.arena.conformance.steps import ADVICE, FAILED, OUTCOMES, PASSED, SKIPPED, Report, Result, Said
from caboose.protocol.notation.lines import printable

_WIDTH: Final = 80
_INDENT: Final = "    "
_LAST: Final = 12  # lines of the exchange that are shown of a step that failed
_STDERR: Final = 6  # lines of standard error that are shown, …
_LONGEST: Final = 400  # … and characters of each
_NAMES: Final = 10  # of steps like one that is shown
_NUMBER: Final = re.compile(r"(?<!line )(?<!code )(?<![\d,.])\d[\d,.]*(?:-\d+(?:@\w+)?)?")  # also a tile and a move
_MANY: Final = re.compile(r"#(?: (?:#|stop|pass))+")
_WORDS: Final = {PASSED: "passed", FAILED: "FAILED", ADVICE: "advice", SKIPPED: "skipped"}
PAGE: Final = "docs/reference/protocol.md"


# --- for people --------------------------------------------------------------------------------------------------


def heading_lines(report: Report) -> Iterator[str]:
    """Which engine it is, as far as it said so."""
    about = report.about
    name = about.get("name", "an engine that does not say its name")
    version = f" {about['version']}" if "version" in about else ""
    author = f", by {about['author']}" if "author" in about else ""
    yield from _wrapped(printable(f"{name}{version}{author}", most=_LONGEST))
    claims = " ".join(report.capabilities) or "none"
    yield from _wrapped(f"capabilities: {claims}; options: {len(report.options)}")


def group_line(results: list[Result]) -> str:
    """How the steps of one group came out."""
    counts = [(sum(r.outcome == outcome for r in results), _WORDS[outcome]) for outcome in OUTCOMES]
    return f"{results[0].step.group:<10}" + ", ".join(f"{count} {word}" for count, word in counts if count)


def step_lines(report: Report, result: Result, *, whole: bool = False) -> Iterator[str]:
    """One step: what was expected, what came of it, what was said, and the page. ``whole`` shows all that was said."""
    step = result.step
    yield from _wrapped(f"{_WORDS[result.outcome]}  {step.name}: {step.what}", hang="        ")
    if result.why:
        yield from _wrapped(result.why, _INDENT)
    if result.outcome == SKIPPED:
        return
    shown = result.exchange if whole else result.exchange[-_LAST:]
    if left := len(result.exchange) - len(shown):
        yield f"{_INDENT}... {left} more lines before (all of them: --step {step.name})"
    for said in shown:
        yield _said_line(said)
    for line in result.stderr.splitlines()[-_STDERR:]:
        yield from _wrapped(f"stderr: {printable(line, most=_LONGEST)}", _INDENT, "  ")
    where = f"{PAGE}, {step.section}" if step.section else PAGE
    yield from _wrapped(f"{where}: {' '.join(step.says.split())}", _INDENT)
    if result.outcome != PASSED and not whole:
        yield from _wrapped(f"again: caboose check --step {step.name} {_called(report)}", _INDENT)


def told_results(report: Report) -> Iterator[tuple[Result, list[Result]]]:
    """What is not as it should be: the first result of each cause, one that failed if there is any, and the others that
    say the same of it but for numbers."""
    causes: dict[str, list[Result]] = {}
    for result in report.results:
        if result.outcome in (FAILED, ADVICE):
            causes.setdefault(_cause(result.why), []).append(result)
    for results in causes.values():
        first = next((result for result in results if result.outcome == FAILED), results[0])
        yield first, [result for result in results if result is not first]


def like_lines(others: list[Result]) -> list[str]:
    """The steps that came out like one that was shown."""
    names = [result.step.name for result in others]
    more = f" and {len(names) - _NAMES} more (--verbose shows all)" if len(names) > _NAMES else ""
    return _wrapped(f"{len(names)} like it: {', '.join(names[:_NAMES])}{more}", _INDENT, "  ") if names else []


def _cause(why: str) -> str:
    """What is the same in the words of failures that have one cause: numbers, moves and lists of them are not."""
    return _MANY.sub("#", _NUMBER.sub("#", why))


def summary_lines(report: Report, seconds: float) -> Iterator[str]:
    """The sum of it."""
    counts = ", ".join(f"{report.count(outcome)} {_WORDS[outcome].lower()}" for outcome in OUTCOMES)
    steps = len(report.results)
    yield f"{steps} step{'' if steps == 1 else 's'}: {counts}; {seconds:.1f} s"
    if report.count(FAILED):
        yield "It does not keep to the protocol."
    elif report.count(PASSED):
        yield "It keeps to the protocol." if steps > 1 else "It does."


def _said_line(said: Said) -> str:
    time = f"{_INDENT}{said.at * 1000:8.1f}"
    if said.note:
        return _cut(f"{time}   ({said.note})")
    return _cut(f"{time} {'>' if said.to else '<'} {printable(said.line, most=_LONGEST)}")


def _called(report: Report) -> str:
    return shlex.join([*report.flags, report.called])


def _wrapped(text: str, indent: str = "", hang: str = "") -> list[str]:
    return textwrap.wrap(printable(text), _WIDTH, initial_indent=indent, subsequent_indent=indent + hang)


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."


# --- for programs ------------------------------------------------------------------------------------------------


def report_object(report: Report, seconds: float, version: str) -> dict[str, Any]:
    """The whole report as JSON values; docs/guides/check.md has the keys."""
    return {
        "caboose": version,
        "command": report.called,
        "engine": {**report.about, "options": report.options, "capabilities": report.capabilities},
        **{outcome: report.count(outcome) for outcome in OUTCOMES},
        "seconds": round(seconds, 3),
        "steps": [_result_object(result) for result in report.results],
    }


def _result_object(result: Result) -> dict[str, Any]:
    step = result.step
    return {
        "name": step.name,
        "what": step.what,
        "must": step.must,
        "outcome": result.outcome,
        "why": result.why,
        "seconds": round(result.seconds, 4),
        "page": {"file": PAGE, "section": step.section, "says": " ".join(step.says.split())},
        "exchange": [_said_object(said) for said in result.exchange],
        "stderr": result.stderr,
    }


def _said_object(said: Said) -> dict[str, Any]:
    ms = round(said.at * 1000, 3)
    if said.note:
        return {"ms": ms, "note": said.note}
    return {"ms": ms, "sent" if said.to else "came": said.line}
