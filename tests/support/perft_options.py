"""Which rows of the perft table decide what an option is: rows whose counts are others when it alone is changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from caboose.arena.bench.perft_table import Row, count_points, round_of_game
from caboose.engine.rules.perft import perft
from caboose.engine.rules.rules import BLANKS, CHOICES, SETS, Rules, RulesError

FEW: Final = 60_000  # sequences are enough to tell: most rows show it early
VALUES: Final[dict[str, tuple[str | int, ...]]] = {**CHOICES, "set": SETS, "blank": BLANKS}


def pairs() -> Iterator[tuple[str, str | int, str | int]]:
    """Every option with two of its values, in both orders."""
    for option, values in VALUES.items():
        for value in values:
            for other in values:
                if other != value:
                    yield option, value, other


def deciding_row(rows: Sequence[Row], option: str, value: str | int, other: str | int) -> Row | None:
    """A row with ``value`` of ``option`` whose counts or points are not those of the same round under ``other``."""
    for row in reversed(rows):  # those that were made for it stand at the end
        if getattr(row.rules, option) == value and differs(row, option, other):
            return row
    return None


def differs(row: Row, option: str, other: str | int) -> bool:
    """Whether the row's counts or points are not those of the same round under ``other``."""
    changed = changed_rules(row.rules, option, other)
    if changed is None or row.hub not in changed.hubs:
        return False
    round_ = round_of_game(changed, row.hub, row.seed)
    shown = [count for count in row.counts[: row.quick] if count <= FEW]
    if any(perft(round_, depth) != count for depth, count in enumerate(shown, 1)):
        return True
    return count_points(round_, row.slow) != row.points


def changed_rules(rules: Rules, option: str, other: str | int) -> Rules | None:
    """The rules with another value of one option; None where it makes no sense without a change of others."""
    try:
        changed = rules.with_options(**{option: other})
    except RulesError:
        return None
    return changed if all(getattr(changed, name) in (getattr(rules, name), other) for name in CHOICES) else None
