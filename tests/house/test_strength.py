"""The curve of strength by playouts: matches are played once, and the picture shows what the file holds."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from paths import ROOT

strength = runpy.run_path(str(ROOT / "benchmarks" / "experiments" / "strength.py"))
main: Callable[[list[str]], int] = strength["main"]


def test_what_was_measured_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.tsv"
    call = ["measure", str(results), "--blocks", "2", "--nodes"]
    assert main([*call, "30"]) == 0
    first = results.read_text()
    assert capsys.readouterr().out.startswith("       30 playouts, 2 blocks: ")
    assert main([*call, "10", "30"]) == 0
    assert capsys.readouterr().out.startswith("       10 playouts, 2 blocks: ")
    lines = results.read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["nodes", "10", "30"]
    assert first.splitlines() == [lines[0], lines[2]]


def test_another_file_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").write_bytes(b"\xff\x00a\tb\n1\t2\n")
    assert main(["measure", str(tmp_path / "other"), "--nodes", "10"]) == 1
    assert capsys.readouterr().err == f"strength: {tmp_path / 'other'}: expected the columns nodes blocks margin half\n"
    assert (tmp_path / "other").read_bytes() == b"\xff\x00a\tb\n1\t2\n"


@pytest.mark.parametrize("line", ["100\t5", "x\t5\t1\t2", ""])
def test_a_damaged_line_is_told(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results"
    results.write_text(f"nodes\tblocks\tmargin\thalf\n100\t10\t1.5\t0.5\n{line}\t\n")
    assert main(["draw", str(results), str(tmp_path / "picture.svg")]) == 1
    assert capsys.readouterr().err == f"strength: {results}: line 3 is damaged: expected four numbers\n"


def test_what_cannot_be_done_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results"
    assert main(["draw", str(results), str(tmp_path / "picture.svg")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
    assert main(["measure", str(results), "--nodes", "10", "--blocks", "1"]) == 1
    assert capsys.readouterr().err == "strength: --blocks 1: expected at least 2, fewer have no interval\n"
    assert not results.exists()


def test_the_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "results").write_text("nodes\tblocks\tmargin\thalf\n100\t10\t1.5\t0.5\n1000\t10\t4.5\t0.6\n")
    assert main(["draw", str(tmp_path / "results"), str(tmp_path / "picture.svg")]) == 0
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").count("<svg") == 1
