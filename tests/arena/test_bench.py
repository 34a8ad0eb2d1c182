"""The signature of the search: the same everywhere, and the one that the newest commit that carries one says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from caboose.arena.bench.search_bench import positions, run_bench, search_text
from caboose.cli.main import run
from caboose.engine.rules.rules import PRESETS
from paths import ROOT


def test_the_positions_are_of_all_kinds_and_real_choices() -> None:
    rows = list(positions())
    assert len(rows) >= 40
    assert {row.rules.preset for row in rows} == set(PRESETS)
    assert {2, 3, 4, 6, 8, 10, 12, 14} <= {row.rules.players for row in rows}
    for row in rows:
        assert len(row.observe().legal_moves()) > 1
    shares = [row.choices / (row.rules.players * row.rules.hand) for row in rows]
    assert min(shares) < 0.1
    assert max(shares) > 0.8


def test_bench_prints_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--json", "--nodes", "20"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert run(["bench", "--nodes", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Signature", str(first["signature"])]
    assert first["positions"] == len(list(positions()))
    assert run(["bench", "--nodes", "0"]) == 2


def test_the_signature_tells_one_search_from_another() -> None:
    seen = next(iter(positions())).observe()
    assert search_text(seen, 500) == search_text(seen, 500)
    assert search_text(seen, 500) != search_text(seen, 600)


def test_the_signature_is_the_one_of_the_newest_commit_that_says_one() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%B", "--extended-regexp", "--grep", "^Bench: [0-9]+$"]
    message = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    said = re.search(r"^Bench: (\d+)$", message, re.MULTILINE)
    if said is None:
        pytest.skip("no commit says a signature")
    assert run_bench().signature == int(said[1])
