"""Tuning a foreign engine: options and bounds are its own; what it does wrong is told, and costs it games only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from caboose.arena.cli import run as run_cli
from reading_pages import read_page
from studying import run_study

STUDY = """\
format = 1
seed = 1
method = "random"
blocks = 8
batch = 2
in_process = true

[engine]
command = {command}

[parameter.Skill]

[[list]]
players = 2
set = 6
rules = { hand = 3 }
rounds = 1
nodes = 1
guard = 0.3
pool = ["random"]

[verify]
blocks = 0
"""

# Plays the first legal move, or with more skill a later one. ``doing`` is what it does besides with more skill than 6.
ENGINE = """\
import os, sys, time
skill, legal = 2, []
for line in sys.stdin:
    words = line.split()
    if words[0] == "caboose":
        print("id name pupil\\noption name Skill type spin default 2 min 0 max 9\\ncabooseok 1", flush=True)
    elif words[0] == "setoption":
        skill = int(words[-1])
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "go":
        if skill > 6:
            {doing}
        print("bestmove", words[1], legal[min(skill, len(legal) - 1)], flush=True)
    elif words[0] == "quit":
        break
"""


def write(folder: Path, doing: str = "pass") -> Path:
    """The file of a study, and its engine beside it."""
    engine = folder / "pupil.py"
    engine.write_text(ENGINE.replace("{doing}", doing))
    path = folder / "study.toml"
    path.write_text(STUDY.replace("{command}", json.dumps([sys.executable, "-I", "-S", str(engine)])))
    return path


def test_a_foreign_engine_is_tuned_by_name_within_its_own_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace("hand = 3", "hand = 8"))
    study = run_study(path)
    (skill,) = study.space.parameters
    assert (skill.low, skill.high, skill.current, skill.kind) == (0, 9, 2, "spin")
    assert study.games == 2 * len(study.known) > 0 and not study.faults
    # The values reach it: the same deals go otherwise with others.
    first = {piece.values: played.value for piece, played in study.known.items() if piece.number == 0}
    assert len(first) == 3 and len(set(first.values())) > 1
    assert run_cli(["tune", str(path), "--status"]) == 0
    assert "Skill 0 9 2 " in " ".join(capsys.readouterr().out.split())
    path.write_text(path.read_text().replace("[parameter.Skill]", "[parameter.Skill]\nmax = 12"))
    assert run_cli(["tune", str(path), "--json"]) == 2
    assert "parameter.Skill: max: 12, expected 0 to 9, the option's own bounds" in told(capsys)


@pytest.mark.parametrize(
    ("doing", "words"),
    [
        ("os._exit(3)", "dead: it exited with code 3"),
        ("time.sleep(60)", "late: no answer within the guard of 0.3 s; it wrote nothing (does it flush its output?)"),
    ],
)
def test_who_crashes_or_hangs_loses_games_and_the_study_goes_on(
    doing: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, doing)
    study = run_study(path)
    assert study.result is not None and study.recommended is not None
    failed = [played for piece, played in study.known.items() if piece.values[0] > 6]
    assert failed and all(played.faults and played.fault == words for played in failed)
    # The fallback player did better in these games than the engine does, and nobody recommends to crash.
    assert all(played.lost and played.value is not None for played in failed)
    now = {piece.number: played.value for piece, played in study.known.items() if piece.values == (2.0,)}
    assert np.mean([played.value or 0.0 for played in failed]) > np.mean([value or 0.0 for value in now.values()])
    assert study.recommended.values[0] <= 6
    assert run_cli(["tune", str(path), "--status"]) == 0
    assert f"{study.faults} faults, such as {words}" in " ".join(capsys.readouterr().out.split())


def test_an_engine_that_refuses_what_it_is_given_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    engine = tmp_path / "pupil.py"
    engine.write_text(engine.read_text().replace("skill = int(words[-1])", 'print("error no such skill", flush=True)'))
    assert run_cli(["tune", str(path), "--concurrency", "1"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    words = (
        "as none of the 12 games went without a fault, such as start: raised OptionError: pupil refuses an option: no"
    )
    assert f"Nothing is known of any values, {words} such skill." in out and "values than" not in out
    page = read_page((path.with_suffix(".study") / "report.html").read_text())
    assert words in page.text and "values than" not in page.text
    assert run_cli(["tune", str(path), "--status", "--json"]) == 0
    assert words in json.loads(capsys.readouterr().out)["problem"]


def test_an_engine_that_does_not_start_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    (tmp_path / "pupil.py").write_text("raise SystemExit(3)")
    assert run_cli(["tune", str(path), "--json"]) == 1
    assert "engine: the engine does not start: it exited with code 3" in told(capsys)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to standard error, on one line."""
    return " ".join(capsys.readouterr().err.split())
