"""Counts of move sequences: the table in ``engine/perft.tsv``, by the core and by the reference."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from caboose.engine.deal import Deal
from caboose.engine.perft import perft, perft_divide
from caboose.engine.round import Round
from caboose.engine.rules import PRESETS, Rules
from comparing import CoreRound, picture
from reference import ReferenceRound
from reference import perft as reference_perft

TABLE = Path(__file__).parents[1] / "engine" / "perft.tsv"


def rows() -> list[tuple[Rules, Deal, int, int]]:
    """Rules, deal, depth and count of every row."""
    lines = [line for line in TABLE.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
    found = []
    for row in csv.DictReader(lines, delimiter="\t"):
        rules = Rules.parse(row["rules"])
        deal = Deal.random(rules, int(row["hub"]), int(row["seed"]))
        found.append((rules, deal, int(row["depth"]), int(row["count"])))
    return found


@pytest.mark.parametrize("rules, deal, depth, count", rows())
def test_the_core_counts_what_the_table_says(rules: Rules, deal: Deal, depth: int, count: int) -> None:
    assert perft(Round(rules, deal), depth) == count


@pytest.mark.parametrize("rules, deal, depth, count", rows())
def test_the_reference_counts_what_the_table_says(rules: Rules, deal: Deal, depth: int, count: int) -> None:
    assert reference_perft(ReferenceRound(rules, deal), depth) == count


def test_the_table_covers_the_presets_and_the_sets() -> None:
    assert {rules.preset for rules, *_ in rows()} == set(PRESETS)
    assert {rules.set for rules, *_ in rows()} == {6, 9, 12, 15, 18}
    assert {2, 3, 4, 12, 14} <= {rules.players for rules, *_ in rows()}
    assert {rules.double_answer for rules, *_ in rows()} == {"anywhere", "own", "chickenfoot"}


def test_the_counts_of_each_first_move_add_up() -> None:
    for rules, deal, depth, _ in rows():
        round_ = Round(rules, deal)
        depth = min(depth, 4)
        parts = perft_divide(round_, depth)
        assert list(parts) == round_.legal_moves()
        assert sum(parts.values()) == perft(round_, depth)


def test_counting_leaves_the_round_alone() -> None:
    rules, deal, _, _ = rows()[0]
    core = CoreRound(rules, deal)
    before = picture(core)
    perft(core.round, 5)
    assert picture(core) == before


def test_depths() -> None:
    round_ = Round.deal(Rules.of("family", 4), seed=1)
    assert perft(round_, 0) == 1
    assert perft(round_, 1) == len(round_.legal_moves())
    with pytest.raises(ValueError, match="-1"):
        perft(round_, -1)
    with pytest.raises(ValueError, match="0"):
        perft_divide(round_, 0)


def test_a_round_that_is_over_counts_once() -> None:
    round_ = Round.deal(Rules.of("family", 2, set=6, hand=2), seed=4)
    while not round_.over:
        round_.apply(round_.legal_moves()[0])
    assert [perft(round_, depth) for depth in range(4)] == [1, 1, 1, 1]
    assert perft_divide(round_, 3) == {}
