"""Scores as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.table import Table

from caboose.arena import caboose_version
from caboose.arena.console.console import Console, Text
from caboose.arena.console.output import json_text
from caboose.arena.match.standings import Interval
from caboose.arena.suite.figures import QUANTILES, Figures, Step, depth, difference
from caboose.arena.suite.score import MOST_FAULTS, Answer, Score
from caboose.arena.suite.suite import Suite

_FAULTS: Final = 3  # of an engine that are listed
_KINDS: Final = ("phase", "players", "preset")

# ---------------------------------------------------------------------------------------------------- people


def print_scores(
    console: Console, suite: Suite, name: str, numbers: Sequence[int], found: Sequence[Figures], blunder: float
) -> None:
    """Prints the tables of a score."""
    of = "" if len(numbers) == len(suite.positions) else f" of {len(suite.positions):,}"
    _say(console, f"{name}: {len(numbers):,}{of} positions, targets by {suite.header.nodes:,} playouts twice", "bold")
    console.print()
    console.print(_main_table(found))
    console.print()
    _say(
        console,
        "Loss: pips a decision by which moves are worse than the best. Behind: how much more "
        "than the lowest loss, position by position. Same: share of moves that are the best, or may be as good. "
        f"Blunders: moves that cost more than {blunder:g} pips. ± 95 %, over deals.",
    )
    for kinds in (("phase", "players"), ("preset",)):
        table = _parts_table(found, kinds)
        if table is not None:
            console.print()
            console.print(table)
    for each in found:
        if each.steps:
            console.print()
            _print_depth(console, each)
    for each in found:
        if each.faults:
            console.print()
            _print_faults(console, each)


def _main_table(found: Sequence[Figures]) -> Table:
    limits = len({each.limit for each in found}) > 1
    table = _table("engine", "loss ± 95 %", "behind ± 95 %", "same %", "blunders %", "nodes/s", "ms")
    for each in found:
        label = Text(each.label)
        if limits:
            label.append(f"\n  {_short(each.limit)}", style="dim")
        if each.faults:
            label.append("\n  " + _counted(len(each.faults), "fault"), style="bold red")
        lowest = each.behind.mean == 0.0 and not each.behind.half
        table.add_row(
            label,
            _interval(each.loss),
            "" if lowest else _interval(each.behind, signed=True),
            _number(each.agreement.mean, 1, 100),
            _number(each.blunders.mean, 1, 100),
            "" if each.nodes_per_second is None else f"{each.nodes_per_second:,.0f}",
            _number(each.time, 1),
        )
    return table


def _parts_table(found: Sequence[Figures], kinds: Sequence[str]) -> Table | None:
    """The losses of parts of some kinds; None where all positions are alike in them."""
    parts = {(part.kind, part.value) for each in found for part in each.parts if part.kind in kinds}
    shown = [kind for kind in kinds if len({value for other, value in parts if other == kind}) > 1]
    columns = [(part.kind, part.value) for part in max((each.parts for each in found), key=len) if part.kind in shown]
    if not columns:
        return None
    table = _table("loss", *(f"{value} players" if kind == "players" else value for kind, value in columns))
    for each in found:
        means = {(part.kind, part.value): part.loss.mean for part in each.parts}
        table.add_row(Text(each.label), *(_number(means.get(column), 2) for column in columns))
    return table


def _print_depth(console: Console, each: Figures) -> None:
    table = _table(each.label, "loss ± 95 %", "same %", "settled %", "nodes", "ms")
    for step in each.steps:
        table.add_row(
            _short(step.limit),
            _interval(step.loss),
            _number(step.agreement, 1, 100),
            _number(step.settled, 1, 100),
            "" if step.nodes is None else f"{step.nodes:,.0f}",
            _number(step.time, 1),
        )
    console.print(table)
    _say(console, f"Settled: the same there and under all larger limits. {_depth_words(each.steps)}")


def _depth_words(steps: Sequence[Step]) -> str:
    words = []
    for share in QUANTILES:
        step = depth(steps, share)
        where = "not at all" if step is None else f"by {_short(step.limit)}"
        words.append(f"{100 * share:.0f} % {where}")
    return f"Of all positions {', '.join(words)}."


def _print_faults(console: Console, each: Figures) -> None:
    _say(console, f"{each.label}: {_counted(len(each.faults), 'fault')}", "bold red")
    if len(each.faults) >= MOST_FAULTS:
        _say(console, "  It was asked no more after them.")
    for position, what in each.faults[:_FAULTS]:
        _say(console, f"  position {position + 1}: {what}")
    if len(each.faults) > _FAULTS:
        _say(console, f"  and {len(each.faults) - _FAULTS} more")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if number else "left", no_wrap=True)
    return table


def _short(limit: str) -> str:
    return limit.removesuffix(" a move")


def _interval(value: Interval, *, signed: bool = False) -> str:
    if value.mean is None:
        return "-"
    sign = "+" if signed else ""
    half = "" if value.half is None else f" ± {value.half:.2f}"
    return f"{value.mean + 0.0:{sign}.2f}{half}"


def _number(value: float | None, digits: int, factor: float = 1) -> str:
    return "-" if value is None else f"{value * factor + 0.0:.{digits}f}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style))


# -------------------------------------------------------------------------------------------------- programs


def scores_text(
    suite: Suite,
    name: str,
    numbers: Sequence[int],
    scores: Sequence[Score],
    found: Sequence[Figures],
    blunder: float,
    *,
    complete: bool,
) -> Iterator[str]:
    """A score as one JSON object, in pieces: docs/guides/suite.md has its keys."""
    content = {
        "caboose": caboose_version(),
        "kind": "suite score",
        "suite": {"file": name, "digest": suite.digest, **asdict(suite.header)},
        "positions": len(numbers),
        "blunder": blunder,
        "complete": complete,
        "engines": [_engine_object(suite, score, each) for score, each in zip(scores, found, strict=True)],
        "differences": [
            {"engine": one + 1, "other": other + 1, **asdict(difference(scores[other], scores[one], suite))}
            for one in range(len(scores))
            for other in range(one)
        ],
    }
    yield json_text(content)
    yield "\n"


def _engine_object(suite: Suite, score: Score, each: Figures) -> dict[str, Any]:
    content = asdict(each)
    content["faults"] = [{"position": position + 1, "fault": what} for position, what in each.faults]
    content["options"] = dict(score.entry.contestant.options)
    content["seeds"] = list(score.entry.seeds)
    content["answers"] = [
        {"position": number + 1, "moves": [_answer_object(answer) for answer in answers[-1]]}
        for number, answers in zip(score.positions, score.answers, strict=True)
    ]
    return content


def _answer_object(answer: Answer) -> dict[str, Any]:
    loss = answer.loss
    return {
        "move": None if answer.move is None else str(answer.move),
        "loss": None if loss is None else loss.pips,
        "error": None if loss is None else loss.error,
        "time": round(answer.time, 3),
        "nodes": answer.nodes,
    }
