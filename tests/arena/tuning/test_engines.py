"""Tuning a foreign engine: options and bounds are its own; what it does wrong is told, and costs it games only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from caboose.arena.errors import RunError
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.open_study import look
from caboose.cli.main import run as run_cli
from page_reader import read_page
from studies import run_study
from tuned_engine import write


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
        ("time.sleep(60)", "late: no answer within the guard of 0.3 s; it "),
    ],
)
def test_who_crashes_or_hangs_loses_games_and_the_study_goes_on(
    doing: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, doing)
    study = run_study(path)
    assert study.result is not None and study.recommended is not None
    failed = [played for piece, played in study.known.items() if piece.values[0] > 6]
    assert failed and all(played.faults and played.fault.startswith(words) for played in failed)
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


# --------------------------------------------------------------------------------------------- without games


SAMPLES = """\
format = 1
seed = 1
method = "{method}"
objective = "{objective}"
blocks = 12
batch = 2

[engine]
command = {command}

[parameter.Skill]
{current}

[measure]
guard = {guard}
{more}

[verify]
blocks = 0
"""


def write_samples(folder: Path, objective: str, doing: str, *, method: str = "random", current: int = 2) -> Path:
    """The same engine where no games are played."""
    path = write(folder, doing)
    command = json.dumps([sys.executable, "-I", "-S", str(folder / "pupil.py")])
    about = {"method": method, "objective": objective, "command": command, "current": f"current = {current}"}
    guard = 1 if "sleep" in doing else 60
    path.write_text(SAMPLES.format(**about, guard=guard, more="positions = 2" if objective == "suite" else ""))
    return path


@pytest.mark.parametrize(
    ("objective", "doing", "words"),
    [
        ("suite", "os._exit(3)", "dead: it exited with code 3"),
        ("time", "legal = ['12-12@M']", "illegal: 12-12@M"),
        ("speed", "time.sleep(60)", "late: no answer within the guard of 1 s"),
    ],
)
def test_a_sample_with_a_fault_is_worth_no_more_than_the_worst_of_others(
    objective: str, doing: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_samples(tmp_path, objective, doing)
    path.write_text(path.read_text().replace("blocks = 12", "blocks = 8"))
    study = run_study(path)
    assert study.result is not None and study.recommended is not None
    failed = {piece: played for piece, played in study.known.items() if piece.values[0] > 6}
    assert failed and all(played.fault.startswith(words) and played.faults == 1 for played in failed.values())
    assert all(played.lost == 1 and played.value is None for played in failed.values())
    for piece in failed:
        worths = {values: study.search.seen.of(values)[piece.number] for values in study.search.seen.candidates}
        others = [played.value for each, played in study.known.items() if each.number == piece.number]
        assert worths[piece.values] == min(value for value in others if value is not None)
    assert study.faults == len(failed)
    assert study.recommended.values[0] <= 6 or objective != "suite"  # the clock says what it likes of the others
    assert run_cli(["tune", str(path), "--status"]) == 0
    assert f"{study.faults} faults, such as {words}" in " ".join(capsys.readouterr().out.split())


def test_an_engine_that_fails_with_its_current_values_ends_the_study(tmp_path: Path) -> None:
    path = write_samples(tmp_path, "suite", "os._exit(3)", current=8)
    told = r"engine: it fails with its current values \(Skill=8\): dead: it exited with code 3"
    for _ in range(2):  # it is not kept, so that it is told again
        with pytest.raises(RunError, match=told):
            run_study(path)
        assert not look(read_study(path)).known


def test_an_engine_that_fails_always_ends_the_study(tmp_path: Path) -> None:
    path = write_samples(tmp_path, "speed", "pass", method="spsa")
    engine = tmp_path / "pupil.py"
    engine.write_text(engine.read_text().replace("skill > 6:\n            pass", "True:\n            os._exit(3)"))
    for count in (6, 7):
        with pytest.raises(RunError, match=rf"it failed in all of the {count} samples so far, the last time: dead: it"):
            run_study(path)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to standard error, on one line."""
    return " ".join(capsys.readouterr().err.split())
