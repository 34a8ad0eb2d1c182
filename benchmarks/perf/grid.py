"""What the benchmarks share: the tables at which the core is measured, and benchmarks that know their rates."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules

ROOT: Final = Path(__file__).parents[2]

# The rules of the yardstick (benchmarks/perf/yardstick.c11), on top of a preset that allows so many players.
YARDSTICK_OPTIONS: Final = {
    "hub": "placed",
    "starter": "lot",
    "first_turn": "single",
    "first_turn_draw": "yes",
    "first_turn_finish": "now",
    "first_turn_places": "any",
    "double_answer": "anywhere",
    "doubles_order": "fifo",
    "extra_after_doubles": "anywhere",
    "dead_double": "release",
    "blank": 50,
}

_T = TypeVar("_T")


def yardstick_rules(top: int, players: int, hand: int) -> Rules:
    """The rules that the yardstick plays, with a double-``top`` set."""
    preset = "family" if players <= 12 else "classic"
    return Rules.of(preset, players, set=top, hand=hand, **YARDSTICK_OPTIONS)


GRID: Final = (
    Rules.of("classic", 2, set=6),
    Rules.of("family", 2, set=9),
    Rules.of("family", 4),
    Rules.of("family", 8),
    Rules.of("family", 10),
    Rules.of("classic", 14),
)


def table_name(rules: Rules) -> str:
    """A table as the names of benchmarks have it, such as ``12x4``: the set's highest double and the players."""
    return f"{rules.set}x{rules.players}"


on_the_grid = pytest.mark.parametrize("rules", GRID, ids=table_name)


def timed(
    benchmark: BenchmarkFixture, unit: str, count: int | Callable[[_T], int], work: Callable[..., _T], *args: Any
) -> _T:
    """Benchmarks ``work(*args)``, of which a call does ``count`` of ``unit``, and returns what it returned.

    A function as ``count`` is asked about the result.
    """
    result: _T = benchmark(work, *args)
    _note_rate(benchmark, unit, count, result)
    return result


def timed_calls(
    benchmark: Any,
    unit: str,
    count: int | Callable[[_T], int],
    work: Callable[..., _T],
    calls: int,
    arguments: Callable[[], tuple[Any, ...]] = tuple,
) -> _T:
    """``timed`` with exactly so many ``calls``, each with fresh ``arguments``, whose making is not measured."""
    result: _T = benchmark.pedantic(work, setup=lambda: (arguments(), {}), rounds=calls)
    _note_rate(benchmark, unit, count, result)
    return result


def _note_rate(benchmark: BenchmarkFixture, unit: str, count: int | Callable[[_T], int], result: _T) -> None:
    benchmark.extra_info["unit"] = unit
    benchmark.extra_info["count"] = count if isinstance(count, int) else count(result)
    benchmark.extra_info["flags"] = build_flags()


def write_whole(path: Path, text: str) -> None:
    """Writes a file of UTF-8 text, or leaves what was there where that fails. Raises ``OSError``."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def build_flags() -> str:
    """The compiler flags of the modules that are measured, as setup.py recorded them; empty when that is not known."""
    path = ROOT / f"build/flags-{sys.implementation.cache_tag}"
    return path.read_text(encoding="ascii") if path.exists() else ""


def middle_of_a_round(rules: Rules, seed: int = 1) -> Round:
    """A round after as many choices as a hand has tiles, each made by a fixed rule of thumb; never a round that is
    over."""
    round_ = Round.deal(rules, seed=seed)
    for number in range(rules.hand):
        legal = round_.legal_moves()
        after = round_.copy()
        after.apply(legal[7 * number % len(legal)])
        if after.over:
            break
        round_ = after
    return round_
