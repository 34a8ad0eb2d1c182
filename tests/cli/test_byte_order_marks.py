"""Text files of people may begin with a byte order mark, as some editors write one."""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path

import pytest

from caboose.arena.ladder.config import read_spec
from caboose.arena.suite.file import read_suite
from caboose.arena.tuning.config import read_study
from caboose.cli.main import run as run_cli
from studies import GAMES, write_study

MARK = b"\xef\xbb\xbf"


def mark(path: Path) -> Path:
    """The same file with a mark."""
    path.write_bytes(MARK + path.read_bytes())
    return path


def test_a_study(tmp_path: Path) -> None:
    path = write_study(tmp_path / "s", GAMES, "tpe")
    before = read_study(path)
    assert read_study(mark(path)) == before


def test_a_ladder_that_is_read_and_changed(tmp_path: Path) -> None:
    (tmp_path / "ladder.toml").write_text(
        'format = 1\nseed = "1"\n# mine\n[[engine]]\nname = "a"\nbuiltin = "greedy"\n'
    )
    mark(tmp_path / "ladder.toml")
    assert read_spec(tmp_path).seed == 1
    assert run_cli(["ladder", "add", str(tmp_path), "planner", "--name", "b"]) == 0
    assert [engine.name for engine in read_spec(tmp_path).engines] == ["a", "b"]
    assert "# mine" in (tmp_path / "ladder.toml").read_text()


def test_a_suite(tmp_path: Path) -> None:
    text = gzip.decompress(files("caboose.arena.suite").joinpath("standard.jsonl.gz").read_bytes())
    header, first, _ = text.split(b"\n", 2)
    path = tmp_path / "one.jsonl"
    path.write_bytes(header.replace(b'"positions":900', b'"positions":1') + b"\n" + first + b"\n")
    assert read_suite(str(mark(path))).positions == (read_suite("standard").positions[0],)


def test_the_result_of_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    match = ["match", "greedy", "random", "--in-process", "--players", "2", "--rounds", "1", "--blocks", "2"]
    assert run_cli([*match, "--seed", "1", "--json", str(path)]) == 0
    assert run_cli(["power", str(mark(path))]) == 0
    assert "greedy, 2 players, 2 blocks" in capsys.readouterr().out
