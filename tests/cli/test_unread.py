"""Matches whose standings nobody reads, as behind ``| head``: what goes into files is finished, and nobody is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from caboose.arena.blocks.results import read_result

CALL = [sys.executable, "-m", "caboose.cli.main", "match", "greedy", "random", "--players", "2", "--rounds", "1"]
CALL += ["--in-process", "--nodes", "1"]


def unread(*more: str, stream: str = "stdout") -> tuple[int, str]:
    """The exit code of a match one of whose streams is a pipe that nobody reads, and what comes out of the other."""
    read, write = os.pipe()
    os.close(read)
    try:
        out, err = (write, subprocess.PIPE) if stream == "stdout" else (subprocess.PIPE, write)
        done = subprocess.run([*CALL, *more], stdout=out, stderr=err, text=True, timeout=120, check=False)
    finally:
        os.close(write)
    return done.returncode, done.stderr if stream == "stdout" else done.stdout


def test_what_goes_into_files_is_finished(tmp_path: Path) -> None:
    games, result = tmp_path / "games", tmp_path / "result"
    assert unread("--blocks", "3", "--record", str(games), "--json", str(result)) == (0, "")
    assert len(read_result(result).blocks) == 3
    assert games.read_text(encoding="ascii").count("\nend\n") == 6


def test_without_files_it_ends_and_says_nothing() -> None:
    # All of these would take longer than the test may.
    assert unread("--blocks", "100000000") == (1, "")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_json_for_standard_output(tmp_path: Path, stream: str) -> None:
    code, said = unread("--blocks", "2", "--json", "-", stream=stream)
    if stream == "stdout":  # the standings go to standard error, and only those can be read
        assert code == 1 and "greedy" in said and "Broken pipe" not in said
    else:
        (tmp_path / "result").write_text(said, encoding="utf-8")
        assert code == 0 and len(read_result(tmp_path / "result").blocks) == 2
