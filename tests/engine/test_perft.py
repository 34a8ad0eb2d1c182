"""Counts of move sequences: the table in ``engine/rules/perft.tsv`` by the core and by the reference, and the
command."""

from __future__ import annotations

import dataclasses
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import caboose.cli.commands.perft as command
from caboose.arena.bench.perft_table import COLUMNS, Row, count_points, read_table, round_of_game
from caboose.cli.main import run
from caboose.engine.rules.perft import perft, perft_divide
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import OPTIONS, PRESETS, SETS, Rules
from implementations import CoreRound, picture
from option_table import TESTS, rows_for
from perft_options import VALUES, deciding_row, pairs
from perft_rows import TABLE, start
from reference import perft_points

ROWS = read_table()
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"row {row.number}")


# The table.


@each_row
def test_the_core_counts_what_the_table_says(row: Row) -> None:
    round_ = row.round()
    assert [perft(round_, depth) for depth in range(1, row.quick + 1)] == list(row.counts[: row.quick])
    assert count_points(round_, row.slow) == row.points


@each_row
def test_the_reference_counts_what_the_table_says(row: Row) -> None:
    assert perft_points(start(row.rules, row.hub, row.seed), row.slow) == (row.counts[row.slow - 1], row.points)


def test_the_table_covers_everything() -> None:
    assert len(ROWS) >= 44
    presets = {(row.rules.preset, row.rules.players) for row in ROWS}
    assert {row.rules.players for row in ROWS} == set(range(2, 15))
    for preset in PRESETS:
        assert {players for name, players in presets if name == preset} >= {2, 3, 4, 6, 8}
    assert {row.rules.set for row in ROWS} == set(SETS)
    for option, values in VALUES.items():
        assert {getattr(row.rules, option) for row in ROWS} == set(values)
    assert {row.rules.rounds for row in ROWS} >= {1, 3, 7, 13, 19}
    assert {row.hub for row in ROWS} >= {0, 6, 9, 12, 15, 18}


def test_the_table_goes_as_deep_as_it_says() -> None:
    for row in ROWS:
        assert 1 <= row.slow <= row.quick <= row.depth
        assert row.slow <= row.confirmed <= row.depth
        assert list(row.counts) == sorted(row.counts)
        if row.counts[-1] < 1_000_000:
            assert perft(row.round(), row.depth + 30) == row.counts[-1], "these are whole rounds"
    lines = TABLE.read_text(encoding="ascii").splitlines()
    assert lines[len(lines) - len(ROWS) - 1].split("\t") == list(COLUMNS)


@pytest.mark.parametrize("option, value, other", list(pairs()))
def test_each_value_of_an_option_makes_a_difference_in_some_row(option: str, value: str, other: str) -> None:
    assert deciding_row(ROWS, option, value, other)


def test_the_number_of_rounds_makes_a_difference_in_some_row() -> None:
    """It does nothing within a round, but a game that is over has no more of them."""
    short = [row for row in ROWS if row.rules.rounds < row.rules.set + 1]
    assert {row.rules.rounds for row in short} >= {1, 3}
    for row in short:
        assert row.hub == row.rules.hubs[-1]
        with pytest.raises(ValueError, match=f"hub {row.hub - 1}: "):
            round_of_game(row.rules, row.hub - 1, row.seed)
        assert round_of_game(row.rules.with_options(rounds=row.rules.rounds + 1), row.hub - 1, row.seed)


# Counting.


def test_the_counts_of_each_first_move_add_up() -> None:
    for row in ROWS:
        round_ = row.round()
        depth = min(row.slow, 4)
        parts = perft_divide(round_, depth)
        assert list(parts) == round_.legal_moves()
        assert sum(parts.values()) == row.counts[depth - 1]


def test_counting_leaves_the_round_alone() -> None:
    core = CoreRound.of(ROWS[0].round())
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


# The command.


def numbers(text: str) -> list[int]:
    """The counts in what ``caboose perft`` prints for one round, in order."""
    return [int(line.split()[1].replace(",", "")) for line in text.splitlines()[2:]]


def test_one_round_by_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--set", "9", "--players", "2", "--hub", "5", "--seed", "3", "--rule", "blank=25"]
    assert run(["perft", "4", *words]) == 0
    counts = numbers(capsys.readouterr().out)
    round_ = round_of_game(Rules.of("family", 2, set=9, blank=25), 5, 3)
    assert counts == [perft(round_, depth) for depth in range(1, 5)]
    assert run(["perft", "4", *words, "--divide"]) == 0
    out = capsys.readouterr().out
    assert numbers(out) == [*perft_divide(round_, 4).values(), counts[3]]
    assert [line.split()[0] for line in out.splitlines()[2:]] == [*map(str, round_.legal_moves()), "all"]


def test_counting_in_pieces_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    row = next(row for row in ROWS if row.quick > 9)
    assert run(["perft", "9", "--row", str(row.number)]) == 0
    assert numbers(capsys.readouterr().out) == list(row.counts[:9])


def test_one_row_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    row = ROWS[0]
    assert run(["perft", "3", "--row", "1", "--divide"]) == 0
    out = capsys.readouterr().out
    assert f"row 1: {row.text}, hub {row.hub}, seed {row.seed}" in out
    assert numbers(out)[-1] == row.counts[2]


def test_the_whole_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "3", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [int(line.split()[5].replace(",", "")) for line in lines[1:-1]] == [
        row.counts[min(3, row.depth) - 1] for row in ROWS
    ]
    assert re.fullmatch(rf"[\d,]+ sequences in [\d.]+ s, [\d,]+ per second: all {len(ROWS)} rows agree", lines[-1])


def test_a_difference_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    good = dataclasses.replace(ROWS[2], counts=ROWS[2].counts[:5], slow=3, points=count_points(ROWS[2].round(), 3))
    counts = list(good.counts)
    counts[1] += 1
    wrong_count = dataclasses.replace(good, counts=tuple(counts[:2]), slow=1, points=count_points(good.round(), 1))
    wrong_points = dataclasses.replace(good, points=good.points - 1)
    monkeypatch.setattr(command, "read_table", lambda: [good, wrong_count, wrong_points])
    assert run(["perft", "--all"]) == 1
    out = capsys.readouterr().out
    assert "2 of 3 rows differ" in out
    assert f"differs at depth 2: {counts[1] - 1:,} sequences, expected {counts[1]:,}" in out
    assert f"differs at depth 3: {good.points:,} pips in all hands, expected {good.points - 1:,}" in out
    assert run(["perft", "--row", "1"]) == 0
    assert run(["perft", "--row", "2"]) == 1
    assert f"depth 2: {counts[1] - 1:,}, expected {counts[1]:,}" in capsys.readouterr().out
    assert run(["perft", "--row", "2", "--divide"]) == 1


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "Expected DEPTH, or --row or --all"),
        (["0"], "DEPTH"),
        (["3", "--hub", "13"], "hub 13: a game of 13 rounds with a double-12 set has the hubs 12 to 0"),
        (["3", "--hub", "11", "--rule", "rounds=1"], "hub 11: a game of 1 rounds"),
        (["--row", "9999"], f"the table has the rows 1 to {len(ROWS)}"),
        (["--row", "1", "--seed", "3"], "--seed cannot be given with --row"),
        (["--all", "--row", "1"], "--row cannot be given with --all"),
        (["--all", "--divide"], "--divide cannot be given with --all"),
        (["--all", "--preset", "classic"], "--preset cannot be given with --all"),
    ],
)
def test_calls_that_make_no_sense(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", *words]) == 2
    assert told in capsys.readouterr().err


def test_every_value_of_every_option_has_a_test_and_rows() -> None:
    """The table of ``option_table.py``, but for the soak, has nothing empty, and its tests exist."""
    for (option, value), test in TESTS.items():
        file, _, name = test.partition("::")
        assert f"\ndef {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8"), test
        assert rows_for(ROWS, option, value), f"{option}={value}"
    assert {option for option, _ in TESTS} == {"preset", "players", *OPTIONS}
    for option, values in VALUES.items():
        assert {value for name, value in TESTS if name == option} == set(map(str, values))


def test_ctrl_c_ends_a_count_before_its_time() -> None:
    """Nobody could wait for the sequences of sixty moves."""
    code = """if True:
        from caboose.engine import Round, Rules, perft
        print("ready", flush=True)
        perft(Round.deal(Rules.of("family", 4), seed=1), 60)
    """
    command = [sys.executable, "-P", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.endswith("KeyboardInterrupt\n")
