"""What a study came to, as values for JSON and as text for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from rich.table import Table

from caboose.arena.console.console import Console, Text, cut
from caboose.arena.stats.sprt import CONTINUE
from caboose.arena.tuning.objective import UNITS
from caboose.arena.tuning.run import Result, Study
from caboose.arena.tuning.space import Parameter
from caboose.arena.tuning.surface_queries import Response
from caboose.arena.tuning.verification import Verdict

FORMAT: Final = "caboose tune"
FORMAT_VERSION: Final = 1
NAME: Final = 24  # columns of a parameter's name in the table
VALUE: Final = 14  # columns of a value there


def unit_of(study: Study) -> str:
    """In what gains of a study are told; empty where only its function knows."""
    return UNITS.get(study.spec.objective, "")


def in_unit(study: Study) -> str:
    """The same as it follows a number."""
    unit = unit_of(study)
    return f" {unit}" if unit else ""


def study_data(study: Study, *, running: str = "", problem: str = "") -> dict[str, Any]:
    """A study as JSON values, whether it is over or not."""
    search, space = study.search, study.space
    data: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "file": str(study.spec.path),
        "running": running,
        "problem": problem or spoiled(study),
        "method": study.spec.method,
        "objective": study.spec.objective,
        "unit": unit_of(study),
        "seed": study.spec.seed,
        "state": state_word(study),
        "budget": search.budget,
        "blocks": len(study.known),
        "games": study.games,
        "faults": study.faults,
        "candidates": len(search.seen.candidates),
        "stopped": len(search.dropped),
        "current": dict(space.options(space.current)),
        "best": dict(space.options(search.steps[-1].values)) if search.steps else None,
        "recommendation": None,
        "verification": None,
    }
    if study.recommended is not None:
        found = study.recommended
        importance = search.averaged().importance
        data["recommendation"] = {
            "values": dict(space.options(found.values)),
            "gain": {
                "value": found.gain.mean,
                "error": found.gain.error,
                "low": found.gain.low,
                "high": found.gain.high,
            },
            "luckiest": {"values": dict(space.options(found.luckiest)), "gain": found.lucky},
            "importance": dict(zip(space.names, importance.tolist(), strict=True)),
        }
    if study.result is not None and study.result.verdict is not None:
        verdict = study.result.verdict
        data["verification"] = {
            "holds": verdict.holds,
            "verdict": verdict.verdict,
            "wanted": verdict.wanted,
            "gain": {
                "value": verdict.gain if verdict.units else None,
                "low": _finite(verdict.gain - verdict.half),
                "high": _finite(verdict.gain + verdict.half),
            },
            "deviation": verdict.deviation,
            "llr": verdict.llr,
            "bounds": list(verdict.bounds),
            "units": verdict.units,
            "blocks": verdict.blocks,
        }
    return data


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def state_word(study: Study) -> str:
    """How far a study is, in a word."""
    if study.result is not None:
        return "done"
    return "verification" if study.recommended is not None else "search"


def spoiled(study: Study) -> str:
    """What is wrong where no game went without a fault, so that nothing is known of any values; else empty."""
    played = study.known.values()
    if not study.games or not all(each.faults and (each.value is None or each.lost == each.games) for each in played):
        return ""
    games = f"none of the {_counted(study.games, 'game')} went without a fault"
    return f"nothing is known of any values, as {games}, such as {study.fault}"


def proven(study: Study) -> bool:
    """Whether a study ended well: with a gain that holds, or with one that nobody wanted to have tested."""
    if study.result is None or spoiled(study):
        return False
    if study.result.recommendation.values == study.space.current:
        return False
    return study.result.verdict is None or study.result.verdict.holds


def print_study(console: Console, study: Study, *, running: str = "") -> None:
    """Prints how a study stands, or what it came to."""
    search, spec = study.search, study.spec
    known = sum(not piece.fresh for piece in study.known)
    head = f"{spec.path}: {spec.method}, {spec.objective}; {known:,} of {search.budget:,} {spec.pieces}"
    head += f", {_counted(len(search.seen.candidates), 'candidate')}, {len(search.dropped)} stopped early"
    if running:
        head += f"; running ({running})"
    _say(console, head)
    if wrong := spoiled(study):
        _say(console, f"{wrong[0].upper()}{wrong[1:]}.", "bold red")
        return
    if study.faults:
        _say(console, f"{_counted(study.faults, 'fault')}, such as {study.fault}", "bold red")
    if study.recommended is None:
        if search.steps:
            _say(console, f"Best so far: {study.space.told(search.steps[-1].values)}")
        return
    _print_recommendation(console, study, search.averaged())
    if study.result is None:
        fresh = sum(piece.fresh for piece in study.known)
        _say(console, f"The verification is going on: {fresh:,} {spec.pieces} on {spec.fresh} so far.")
        return
    _print_verdict(console, study, study.result)


def _print_recommendation(console: Console, study: Study, surface: Response) -> None:
    found, space = study.recommended, study.space
    assert found is not None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("parameter", no_wrap=True)
    for title in ("from", "to", "now", "recommended", "matters"):
        table.add_column(title, justify="right", no_wrap=True)
    for at, parameter in enumerate(space.parameters):
        values = [cut(parameter.text(value), VALUE) for value in (parameter.current, found.values[at])]
        table.add_row(cut(parameter.name, NAME), *range_texts(parameter), *values, f"{surface.importance[at]:.0%}")
    console.print()
    console.print(table)
    console.print()
    unit = in_unit(study)
    if found.values == space.current:
        _say(console, "No better values than the current ones were found.", "bold")
    else:
        _say(
            console,
            f"Recommended: {space.told(found.values)}, expected gain {gain_text(found.gain.mean)}{unit} "
            f"(95 %: {gain_text(found.gain.low)} to {gain_text(found.gain.high)})",
            "bold",
        )
    if found.lucky > 0:
        _say(
            console,
            f"Not recommended, the luckiest candidate: {space.told(found.luckiest)}, {gain_text(found.lucky)}{unit} "
            f"in its {study.spec.pieces}; the surface expects {gain_text(surface.gain(found.luckiest).mean)} of it.",
        )


def _print_verdict(console: Console, study: Study, result: Result) -> None:
    verdict = result.verdict
    if verdict is None:
        if result.recommendation.values != study.space.current:
            _say(
                console,
                f"It was not tested on {study.spec.fresh} (verify.blocks is 0), so that no gain is proven.",
                "bold",
            )
        return
    for line in verdict_lines(study, verdict):
        _say(console, line)
    word = "The gain holds." if verdict.holds else "The gain does not hold: keep the current values."
    if not verdict.holds and verdict.verdict == CONTINUE:
        word = undecided(study, verdict)
    _say(console, word, "bold green" if verdict.holds else "bold red")


def undecided(study: Study, verdict: Verdict) -> str:
    """Why a test has come to no verdict."""
    if verdict.units > 1 and not verdict.deviation:
        return (
            "The gain is not proven: all pairs differ by as much, and where there is no chance nothing can be tested. "
            "Say verify.blocks = 0."
        )
    return f"The gain is not proven: the {study.spec.pieces} for the test are used up (verify.blocks)."


def verdict_lines(study: Study, verdict: Verdict) -> Sequence[str]:
    """What the test found, as text."""
    unit = in_unit(study)
    low, high = verdict.bounds
    games = (
        f", {sum(played.games for piece, played in study.known.items() if piece.fresh):,} games"
        if study.spec.games
        else ""
    )
    late = "A test stops when the difference looks large, so that its mean is on the large side."
    return [
        f"Verified on {study.spec.fresh}: {gain_text(verdict.gain)} ± {number(verdict.half)}{unit} over "
        f"{_counted(verdict.units, 'pair')}, {verdict.blocks:,} {study.spec.pieces}{games}.",
        f"Test of 0 against {gain_text(verdict.wanted)}: {verdict.verdict}, LLR {verdict.llr:.2f} ({low:.2f}, "
        f"{high:.2f}).{f' {late}' if verdict.holds else ''}",
    ]


def range_texts(parameter: Parameter) -> tuple[str, str]:
    """From where to where a parameter goes; choices have no ends."""
    if parameter.choices:
        return "one of", f"{len(parameter.choices)} choices"
    return parameter.text(parameter.low), parameter.text(parameter.high)


def gain_text(value: float) -> str:
    """A gain with its sign, to three digits."""
    text = number(abs(value))
    sign = "-" if value < 0 and text != "0.00" else "+"
    return f"{sign}{text}"


def number(value: float) -> str:
    """A number above 0 to three digits, but never with more than two behind the point."""
    if not math.isfinite(value):
        return "?"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style))
