"""Samples of studies that play no games: in other processes they are worth the same; and what goes wrong there."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from caboose.arena.errors import CallError, RunError
from caboose.arena.execution import executors
from caboose.arena.execution.executors import PoolExecutor
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.open_study import begin
from caboose.arena.tuning.report import report
from caboose.arena.tuning.run import play
from caboose.cli.main import run as run_cli
from players import is_alive, wait_until
from studies import MADE_UP, Quiet, facts, killed, run_study, write_study


def write_function(folder: Path, body: str) -> Path:
    """A study of a function that does ``body``."""
    path = write_study(folder, MADE_UP, "random")
    (folder / "score.py").write_text(f"def score(options, sample):\n{body}\n")
    return path


def write_suite(folder: Path, more: str = "nodes = 20\npositions = 2") -> Path:
    """A study of the suite of the package."""
    path = write_study(folder, MADE_UP, "spsa", more=f"[verify]\nblocks = 0\n[measure]\n{more}\n")
    path.write_text(path.read_text().replace("score.py:score", "suite").replace("blocks = 150", "blocks = 12"))
    return path


# ----------------------------------------------------------------------------------------------- other processes


def test_a_function_is_worth_the_same_in_other_processes_whoever_is_killed(tmp_path: Path) -> None:
    whole = write_study(tmp_path / "whole", MADE_UP, "spsa")
    run_study(whole)
    broken = write_study(tmp_path / "broken", MADE_UP, "spsa")
    death = tmp_path / "broken" / "death"
    killed(broken, 5, 0.0)
    death.touch()  # of the process that measures sample 60
    run_study(broken, PoolExecutor(2))
    assert not death.exists()
    assert facts(broken) == facts(whole)


def test_a_suite_is_worth_the_same_in_other_processes(tmp_path: Path) -> None:
    here, there = write_suite(tmp_path / "here"), write_suite(tmp_path / "there")
    study = run_study(here)
    assert len({played.value for played in study.known.values()}) > 3 and not study.faults
    run_study(there, PoolExecutor(1))
    assert facts(there) == facts(here)


def test_a_function_that_was_changed_meanwhile_is_as_it_was(tmp_path: Path) -> None:
    path = write_function(tmp_path / "s", "    return 1.5")
    spec = read_study(path)
    spec.folder.mkdir()
    with ExitStack() as stack:
        study, store = begin(spec, stack)
        (path.parent / "score.py").write_text("raise SystemExit")
        assert play(study, store, executors.LocalExecutor(), Quiet()) == ""
    assert {played.value for played in study.known.values()} == {1.5}


def test_an_interrupt_ends_a_function_and_what_it_has_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    body = f"""    import os, subprocess
    child = subprocess.Popen(["sleep", "600"])
    open({str(started)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}\\n")
    child.wait()"""
    spec = read_study(write_function(tmp_path / "s", body))
    spec.folder.mkdir()

    def interrupt() -> None:
        wait_until(lambda: started.exists() and started.read_text().endswith("\n"))
        os.kill(os.getpid(), signal.SIGINT)

    with ExitStack() as stack:
        study, store = begin(spec, stack)
        threading.Thread(target=interrupt, daemon=True).start()
        assert play(study, store, PoolExecutor(1), Quiet()) == "interrupted"
    assert wait_until(lambda: not any(map(is_alive, map(int, started.read_text().split()))))


# ------------------------------------------------------------------------------------------------ wrong functions


@pytest.mark.parametrize(
    ("body", "told"),
    [("import sys; sys.exit(0)", "SystemExit: 0 (line 2)"), ("return -1e200", "-1e+200, expected a number of at most"),
     ("return '12'", "'12', expected a number"), ("return True", "True, expected a number"),
     ("raise KeyboardInterrupt", "KeyboardInterrupt (line 2)"), ("return 1 / 0", "ZeroDivisionError: division by zero"),
     (r"raise ValueError('one\ntwo')", "ValueError: one two (line 2)")],
)  # fmt: skip
def test_a_function_that_ends_the_program_or_says_no_number(
    body: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_function(tmp_path / "s", f"    print('mark'); {body}")
    with pytest.raises(RunError) as error:
        run_study(path)
    assert str(error.value).startswith(f"score.py:score: sample 0: {told}")
    out, err = capsys.readouterr()
    assert (out, err) == ("", "mark\n")


def test_a_wrong_function_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_function(tmp_path / "s", "    import os; os.system('echo aloud'); print('mark'); return sample / 0")
    assert run_cli(["tune", str(path), "--concurrency", "1", "--json"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "aloud\nmark\ncaboose: score.py:score: sample 0: ZeroDivisionError: division by zero (line 2)\n"
    (path.parent / "score.py").write_text("def other(options, sample):\n    return 1\n")
    assert run_cli(["tune", str(path)]) == 2
    assert "there is no function score, expected one: score(options, sample) -> number" in capfd.readouterr().err
    (path.parent / "score.py").write_text("def score(options, sample) return 1\n")
    assert run_cli(["tune", str(path)]) == 2
    assert "score.py: it cannot be loaded: SyntaxError: expected ':'" in capfd.readouterr().err
    (path.parent / "score.py").write_text("import no_such_library as score\n")
    assert run_cli(["tune", str(path)]) == 1
    assert "score.py: it cannot be loaded: ModuleNotFoundError: No module named" in capfd.readouterr().err
    (path.parent / "score.py").write_text("score = 3\n")
    assert run_cli(["tune", str(path)]) == 1
    assert "there is no function score, expected one" in capfd.readouterr().err


def test_a_file_is_run_by_workers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "MAX_LOSSES", 1)
    path = write_function(tmp_path / "s", "    return 1")
    (path.parent / "score.py").write_text("import os\nos.system('echo aloud')\nos._exit(0)\nfrom other import *\n")
    assert run_cli(["tune", str(path), "--json"]) == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["problem"].endswith("workers died of it") and "aloud" in err


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    path = write_function(tmp_path / "s", "    import near_it; return near_it.score(options, sample)")
    (path.parent / "near_it.py").write_text(
        "def score(options, sample):\n    return int(options['Noise']) + sample % 3\n"
    )
    assert run_study(path).recommended is not None


def test_a_function_without_chance_is_told_that_nothing_can_be_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MADE_UP.replace("blocks = 150", "blocks = 40")
    path = write_study(tmp_path / "s", text, "random", more="[verify]\nblocks = 8\n")
    (path.parent / "score.py").write_text("def score(options, sample):\n    return int(options['Noise'])\n")
    study = run_study(path)
    assert run_cli(["tune", str(path), "--status"]) == 0
    assert "all pairs differ by as much" in capsys.readouterr().out and "all pairs differ by as much" in report(study)


def test_a_function_that_ends_its_process_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(executors, "MAX_LOSSES", 1)
    path = write_function(tmp_path / "s", "    import os; os._exit(0)")
    assert run_cli(["tune", str(path), "--concurrency", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problem"] == "score.py:score: sample 0: 1 workers died of it"


# --------------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize("option", [["--dask", "tcp://127.0.0.1:1"], ["--concurrency", "2"], ["--pin"]])
def test_what_is_measured_by_the_clock_is_measured_here(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    path.write_text(path.read_text().replace("score.py:score", "speed"))
    assert run_cli(["tune", str(path), *option]) == 2
    assert f"{option[0]}: speed is measured here, one sample after another" in capsys.readouterr().err


def test_nothing_is_pinned_without_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["tune", str(write_suite(tmp_path / "s")), "--pin"]) == 2
    assert "--pin: the objective suite takes no games: not expected" in capsys.readouterr().err


@pytest.mark.parametrize("guard", ["0", "true", "'1'", "inf", "nan", "-3"])
def test_a_guard_is_a_number_of_seconds(guard: str, tmp_path: Path) -> None:
    path = write_suite(tmp_path / "s", f"guard = {guard}")
    with pytest.raises(CallError, match=r"measure\.guard: .*, expected seconds, a number above 0"):
        run_study(path)
