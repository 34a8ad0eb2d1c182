"""Counts of instructions: the code at hand needs no more than what is kept, and the comparison says what it must."""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import instructions
from counted import WORKLOADS
from instructions import COLUMNS, COUNTS, build_name, main, read_counts, write_counts

HEADING = "\t".join(COLUMNS)
ROW = "deal-12-4\tround\t1000.0\tthis"
OTHER = "deal-12-4\tround\t500.0\tother"
SAMPLE = ["deal-12-4", "apply-12-4", "search-12-4"]
Count = Callable[[float], None]


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Count:
    """Sets what will be counted, for a build ``this`` whose kept counts are in ``tmp_path``."""

    def set_count(value: float) -> None:
        def counting(names: Iterable[str]) -> dict[str, float]:
            return dict.fromkeys(names, value)

        monkeypatch.setattr(instructions, "count_instructions", counting)

    monkeypatch.setattr(instructions, "COUNTS", tmp_path / "kept.tsv")
    monkeypatch.setattr(instructions, "build_name", lambda: "this")
    (tmp_path / "kept.tsv").write_text(f"{HEADING}\n{OTHER}\n{ROW}\n")
    set_count(1000.0)
    return set_count


def output(capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    """The words of each line that was printed since the last call."""
    for line in capsys.readouterr().out.splitlines():
        assert len(line) <= 80
        yield " ".join(line.split())


def test_no_count_of_this_build_has_grown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A sample that has all layers in it: the rules, playouts and the search. ``make instructions`` counts all."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not here")
    build = build_name()
    if build not in {kept for kept, _ in read_counts(COUNTS)}:
        pytest.skip(f"{COUNTS.name} has no counts of this build: {build}")
    monkeypatch.setattr("instructions.os.cpu_count", lambda: 1)  # in one run: to begin takes longest
    code = main(SAMPLE)
    said = capsys.readouterr()
    assert code == 0, said.out + said.err


def test_the_kept_counts_are_of_all_workloads() -> None:
    counts = read_counts(COUNTS)
    assert {name for _, name in counts} == set(WORKLOADS)


@pytest.mark.parametrize(
    ("value", "code", "row", "said"),
    [
        (1029.0, 0, "deal-12-4 1,000.0 1,029.0 round +2.90%", []),
        (
            1031.0,
            1,
            "deal-12-4 1,000.0 1,031.0 round +3.10% grown",
            ["Some grew by more than 3%. If it is worth that, say why in the commit."],
        ),
        (971.0, 0, "deal-12-4 1,000.0 971.0 round -2.90%", []),
        (969.0, 0, "deal-12-4 1,000.0 969.0 round -3.10% fallen", ["Some fell by more than 3%: keep the gain."]),
    ],
)
def test_growth_over_three_percent_fails_and_a_fall_is_told(
    count: Count, capsys: pytest.CaptureFixture[str], value: float, code: int, row: str, said: list[str]
) -> None:
    count(value)
    assert main(["deal-12-4"]) == code
    lines = list(output(capsys))
    assert row in lines
    assert [line for line in lines if line.startswith("Some")] == said
    assert (lines[-1] == "To keep these counts: make update-instructions") == bool(said)


def test_a_build_without_counts_is_told_and_compared_with_nothing(
    count: Count, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(instructions, "build_name", lambda: "unseen")
    count(9999.0)
    assert main(["deal-12-4", "--json", str(tmp_path / "out.json")]) == 0
    lines = list(output(capsys))
    assert lines[0] == "Build: unseen"
    assert "deal-12-4 9,999.0 round new" in lines
    assert "No counts of this build are kept, so nothing was compared." in lines
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["build"] == "unseen"
    assert found["workloads"]["deal-12-4"]["kept"] is None


def test_a_new_workload_is_told_beside_one_that_grew(count: Count, capsys: pytest.CaptureFixture[str]) -> None:
    count(2000.0)
    assert main(["deal-12-4", "legal-12-4"]) == 1
    lines = list(output(capsys))
    assert "legal-12-4 2,000.0 list new" in lines
    assert "There were no kept counts to compare the new ones with." in lines


def test_update_keeps_the_counts_of_this_build_and_those_of_others(
    count: Count, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with open(tmp_path / "kept.tsv", "a") as file:
        file.write("gone-12-4\tround\t7.0\tthis\n")
    count(2000.0)
    assert main(["--update", "deal-12-4", "legal-12-4"]) == 0
    expected = [HEADING, OTHER, "deal-12-4\tround\t2000.0\tthis", "legal-12-4\tlist\t2000.0\tthis"]
    assert (tmp_path / "kept.tsv").read_text().splitlines() == expected
    capsys.readouterr()
    assert main(["deal-12-4"]) == 0
    assert "deal-12-4 2,000.0 2,000.0 round +0.00%" in output(capsys)


def test_counts_that_are_written_are_read_again(tmp_path: Path) -> None:
    counts = {(build, name): 12.5 for build in ("a, -O3", "b") for name in WORKLOADS}
    write_counts(tmp_path / "kept.tsv", counts)
    assert read_counts(tmp_path / "kept.tsv") == counts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected the columns workload, unit, instructions, build"),
        ("workload\tinstructions\n", "line 1: expected the columns"),
        (f"{HEADING}\n<<<<<<< ours\n", "line 2: 1 fields, expected 4 separated by tabs"),
        (f"{HEADING}\n{ROW}\n{ROW.replace('1000.0', 'many')}\n", "line 3: 'many' instructions: expected a number"),
        (f"{HEADING}\n{ROW.replace('1000.0', '0.0')}\n", "line 2: '0.0' instructions: expected a number above 0"),
        (f"{HEADING}\n{ROW}\n{ROW}\n", "line 3: a second count of deal-12-4 for this build"),
        ("\xff", "kept.tsv: 'utf-8' codec"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(
    count: Count, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "kept.tsv").write_text(text, encoding="latin-1")
    assert main(["deal-12-4"]) == 2
    assert said in capsys.readouterr().err


def test_a_wrong_call_and_a_place_that_cannot_be_written(
    count: Count, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["chess"])
    assert ending.value.code == 2
    assert "unknown workload 'chess': expected some of uniform-9-2" in capsys.readouterr().err
    assert main(["deal-12-4", "--json", str(tmp_path / "no" / "out.json")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_full_disk_costs_no_kept_counts(
    count: Count, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (tmp_path / "kept.tsv").read_text()

    def half(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text.encode(encoding)[: len(text) // 2])
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", half)
    assert main(["deal-12-4", "--update"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.tsv"]
    assert (tmp_path / "kept.tsv").read_text() == kept


def test_a_table_that_nobody_can_read_is_no_success(
    count: Count, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["deal-12-4"]) == 2
        assert "No space left on device" in capsys.readouterr().err
        monkeypatch.undo()
        with suppress(OSError):
            full.close()


def test_without_valgrind_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["deal-12-4"]) == 2
    assert "valgrind is not here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'no such thing' >&2; exit 3", "exit code 3: no such thing"),
        ("kill -ILL $$", "does not know an instruction of this build"),
        ("exit 3", "the workloads failed under valgrind, exit code 3"),
        ("echo deal-12-4 5 50", "callgrind wrote no count at a call of getppid"),
    ],
)
def test_a_valgrind_that_does_not_work_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, script: str, said: str
) -> None:
    (tmp_path / "valgrind").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "valgrind").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["deal-12-4"]) == 2
    assert said in capsys.readouterr().err
