"""When engines are restarted, when games are replayed, and what a strict match makes of faults."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.blocks.results import read_result
from caboose.arena.match.match import standings
from caboose.cli.main import run as main
from matches import make_plan, run
from players import engine_command


def starts_of(tmp_path: Path, on_go: str = "pass", *, blocks: int = 2, **more: Any) -> tuple[Any, int]:
    """A match of an engine against ``greedy`` for two, and how often the engine was started to play."""
    log = tmp_path / "starts"
    log.unlink(missing_ok=True)
    command = shlex.join(engine_command(tmp_path, on_go, before=f"open({str(log)!r}, 'a').write('x')\n"))
    result = run(make_plan("greedy", engines=[command], players=2, **more), blocks)
    return result, len(log.read_text(encoding="utf-8")) - 1  # one of them to be introduced


@pytest.mark.parametrize(("restart", "starts"), [("auto", 4), ("on", 4), ("off", 1)])
def test_restarts_between_games(tmp_path: Path, restart: str, starts: int) -> None:
    result, count = starts_of(tmp_path, restart=restart)
    assert count == starts
    assert not any(game.result.tainted for block in result.blocks for game in block.games)
    assert result.restart == restart


def test_built_in_bots_are_restarted_only_if_that_is_wanted() -> None:
    results = {}
    for restart in ("auto", "on"):
        result = run(make_plan("greedy", "random", players=2, in_process=False, restart=restart), 1)
        results[restart] = [game.result.rounds for block in result.blocks for game in block.games]
    assert results["auto"] == results["on"]


@pytest.mark.parametrize(("restart", "starts", "kinds"), [("on", 4, {"dead": 4}), ("off", 1, {"dead": 1, "start": 3})])
def test_restarts_after_a_fault(tmp_path: Path, restart: str, starts: int, kinds: dict[str, int]) -> None:
    result, count = starts_of(tmp_path, "if asked == 2: sys.exit(1)", restart=restart)
    assert count == starts
    assert standings(result)[1].faults == kinds


def test_a_crashed_game_is_replayed_and_its_crashes_are_kept(tmp_path: Path) -> None:
    once = tmp_path / "once"
    crash = f"os.path.exists({str(once)!r}) or (open({str(once)!r}, 'w').close(), sys.exit(9))"
    logs = tmp_path / "logs"
    logs.mkdir()
    result, count = starts_of(tmp_path, crash, crashed="replayed", logs=logs)
    assert sorted(path.name.removesuffix(".log.gz") for path in logs.iterdir()) == [
        "block-00001-game-01",
        "block-00001-game-01-replay-1",
        "block-00001-game-02",
        "block-00002-game-01",
        "block-00002-game-02",
    ]
    said = gzip.decompress((logs / "block-00001-game-01.log.gz").read_bytes()).decode()
    assert "it exited with code 9" in said
    first, *others = [game for block in result.blocks for game in block.games]
    assert [(crash.fault.kind, crash.fault.decision) for crash in first.crashes] == [("dead", 1)]
    assert not first.result.tainted and not any(game.crashes for game in others)
    assert count == 5
    toy = standings(result)[1]
    assert (toy.faults, toy.replays, toy.games) == ({}, 1, 4)


def test_who_crashes_again_and_again_loses(tmp_path: Path) -> None:
    result, count = starts_of(tmp_path, "sys.exit(9)", blocks=1, crashed="replayed")
    assert count == 2 * 3
    for game in result.blocks[0].games:
        assert len(game.crashes) == 2 and game.result.tainted
    assert standings(result)[1].faults == {"dead": 2}


def test_what_is_late_is_not_replayed(tmp_path: Path) -> None:
    result, count = starts_of(tmp_path, "legal[0] = 'banana'", crashed="replayed")
    assert count == 4
    assert standings(result)[1].faults == {"garbled": 4}


Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A match of an engine against ``greedy`` by the command line: the exit code, and what it prints."""
    monkeypatch.setattr("caboose.cli.options.sandbox.hide", lambda: None)  # this process has other tests to run

    def do(on_go: str, *more: str) -> tuple[int, str]:
        engine = shlex.join(engine_command(tmp_path, on_go))
        words = ["match", "greedy", "--engine", engine, "--players", "2", "--rounds", "1", "--set", "9", "--seed", "1"]
        code = main([*words, "--blocks", "4", "--nodes", "5", "--in-process", *more])
        out, err = capsys.readouterr()
        assert err == ""
        return code, out

    return do


def test_strict_lists_every_fault_and_says_so_by_its_exit_code(tmp_path: Path, call: Call) -> None:
    file = tmp_path / "result.json"
    code, out = call("if asked == 2: sys.exit(3)", "--strict", "--json", str(file))
    assert code == 1
    assert out.count("toy: dead (block") == 8 and "more faults" not in out
    assert len(read_result(file).blocks) == 4
    code, out = call("if asked == 2: sys.exit(3)")
    assert code == 0
    assert out.count("toy: dead (block") == 5 and "... and 3 more faults" in out
    # Who lost every game by faults stands below those whom that left without a game.
    rows = [line.split()[0] for line in out.splitlines() if line.startswith(("toy  ", "greedy  "))]
    assert rows == ["greedy", "toy"]
    assert "! toy lost 8 of 8 games by faults: its margin is no measure" in out
    assert "! greedy" not in out
    code, out = call("pass", "--strict", "--blocks", "1")
    assert code == 0 and "!" not in out


def test_a_replayed_crash_is_a_fault_to_a_strict_match(tmp_path: Path, call: Call) -> None:
    once = tmp_path / "once"
    crash = f"os.path.exists({str(once)!r}) or (open({str(once)!r}, 'w').close(), sys.exit(9))"
    code, out = call(crash, "--strict", "--crashed", "replayed")
    assert code == 1
    assert "seat 1, replayed)" in out or "seat 2, replayed)" in out
    assert re.search(r"^toy .* ! .* 0$", out, re.MULTILINE)
    assert "! toy crashed 1 time in games that were played again." in out


def test_overruns_and_busy_engines_are_told(tmp_path: Path, call: Call) -> None:
    file = tmp_path / "result.json"
    burn = "exec('end = time.process_time() + 0.03\\nwhile time.process_time() < end: pass')"
    later = f"say('bestmove ' + words[1] + ' ' + legal[0]) or {burn} or legal.clear() or legal.append('')"
    assert call(later, "--blocks", "1", "--json", str(file))[0] == 0
    rows = json.loads(file.read_text(encoding="utf-8"))["standings"]
    assert rows[1]["cpu_mean"] > 10
    _, out = call("asked == 1 and time.sleep(0.06)", "--blocks", "1", "--movetime", "50", "--margin", "30000")
    assert "toy: " in out and "came after the limit, but within the margin, the worst by" in out
