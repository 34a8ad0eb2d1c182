"""``caboose ladder`` as people meet it: what its commands print and write, and what they say when a call is wrong."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.console.console import Console
from caboose.arena.execution.executors import LocalExecutor
from caboose.arena.ladder import progress
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.progress import LadderProgress
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.ladder.standings_table import standings_data
from caboose.cli.main import run
from kill_ladder import count, make_ladder, play_all, run_command
from players import engine_command, wait_until

TABLES: dict[str, Any] = {"name": "tables", "format": "random", "players": 3, "blocks": 6}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder that was played to its end, in which one engine always fails."""
    folder = tmp_path_factory.mktemp("ladder") / "x"
    make_ladder(folder, TABLES, {"name": "pairs", "players": 2, "blocks": 1, "preset": "classic"}, logs=True)
    broken = tmp_path_factory.mktemp("engine")
    command = engine_command(broken, "sys.exit(3)")
    assert run(["ladder", "add", str(folder), " ".join(command), "--name", "broken"]) == 0
    play_all(folder)
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints, on standard error if it fails."""
    assert run(["ladder", *arguments]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_logs(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = played / "logs" / "tables"
    assert sorted(path.name for path in tables.iterdir())[:2] == [f"block-00001-game-0{n}.log.gz" for n in (1, 2)]
    pairs = {path.parent.name for path in (played / "logs" / "pairs").glob("*/*.gz")}
    assert len(pairs) == 10 and {"random+greedy", "random+broken"} <= pairs
    log = next((played / "logs" / "pairs").glob("*broken*/block-00001-game-01.log.gz"))
    assert run(["log", str(log)]) == 0
    assert "broken -> caboose 1\n" in (shown := capsys.readouterr().out) and "exited with code 3" in shown


def test_a_ladder_from_its_first_command_to_its_standings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "new" / "ladder")
    told(capsys, "init", folder, "--in-process", "--seed", "3")
    told(capsys, "add", folder, "greedy")
    told(capsys, "add", folder, "greedy")
    told(capsys, "add", folder, "mcts", "--option", "Seed=7")
    told(capsys, "add", folder, "sh own.sh", "--max-memory", "900")
    told(capsys, "remove", folder, "own")
    told(capsys, "add-list", folder, "main", "--nodes", "5", "--rounds", "1", "--blocks", "2", "--players", "3")
    spec = read_spec(Path(folder))
    assert [engine.name for engine in spec.engines] == ["greedy", "greedy-2", "mcts"]
    assert spec.engines[2].options == (("Seed", "7"),)
    assert "main  round-robin  family, 3 players  5 nodes a move       0   2" in told(capsys, "status", folder)
    assert "No block has been played yet." in told(capsys, "standings", folder)
    text = told(capsys, "run", folder, "--concurrency", "1")
    assert max(map(len, text.splitlines())) <= 80
    assert [line.split()[0] for line in text.splitlines()[2:5]].count("mcts") == 1
    assert text.split("\n\n")[0] == told(capsys, "standings", folder).split("\n\n")[0]
    told(capsys, "remove", folder, "mcts")
    told(capsys, "remove", folder, "main", "--list")
    assert [engine.name for engine in read_spec(Path(folder)).engines] == ["greedy", "greedy-2"]
    assert "mcts" in told(capsys, "standings", folder)


def test_standings_as_json(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(told(capsys, "standings", str(played), "--json"))
    assert (data["format"], data["format_version"]) == ("caboose ladder standings", 1)
    assert (data["lists"], data["blocks"], data["games"]) == (["tables", "pairs"], 16, 6 * 3 + 10 * 2)
    entries = {entry["label"]: entry for entry in data["entries"]}
    assert data["entries"][-1]["label"] == "broken"
    assert entries["broken"]["faults"] == {"dead": entries["broken"]["games"]}
    assert entries["mcts"]["builtin"] == "mcts" and entries["mcts"]["faults"] == {}
    for entry in data["entries"]:
        assert entry["rating"]["low"] <= entry["rating"]["value"] <= entry["rating"]["high"]
    assert data["superiority"][0][-1] > 0.9
    pairs = json.loads(told(capsys, "standings", str(played), "--json", "--list", "pairs"))
    assert (pairs["lists"], pairs["blocks"]) == (["pairs"], 10)
    with open_store(played) as store:
        assert json.loads(json.dumps(standings_data(store, store.lists()))) == data


def test_tables_for_people_fit_a_terminal(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    standings = told(capsys, "standings", str(played), "--times")
    assert "A game with a fault is lost for the engine at fault" in standings.replace("\n", " ")
    assert "processor" in standings
    status = told(capsys, "status", str(played))
    assert "no run plays here now" in status
    games = told(capsys, "games", str(played), "--faults", "--last", "2", "--engine", "broken")
    assert games.count("dead:") == 2
    for text in (standings, status, games):
        assert max(map(len, text.splitlines())) <= 80
    assert len(told(capsys, "games", str(played), "--last", "500", "--list", "tables").splitlines()) >= 1 + 6 * 3


def test_status_as_json(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(told(capsys, "status", str(played), "--json"))
    assert (data["running"], data["blocks"], data["games"]) == ("", 16, 38)
    assert [(each["name"], each["played"], each["total"]) for each in data["lists"]] == [
        ("tables", 6, 6),
        ("pairs", 10, 10),
    ]
    assert data["faults"] > 0
    assert [engine["entry"] for engine in data["engines"]] == ["random", "greedy", "planner", "mcts", "broken"]


def test_exports(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(csv.DictReader(StringIO(told(capsys, "export", str(played)))))
    games = [json.loads(line) for line in told(capsys, "export", str(played), "--to", "jsonl").splitlines()]
    assert len(games) == 38
    assert len(rows) == sum(len(game["seats"]) for game in games)
    seats = [(game, number, seat) for game in games for number, seat in enumerate(game["seats"], 1)]
    for row, (game, number, seat) in zip(rows, seats, strict=True):
        places = {"list": game["list"], "block": game["block"], "game": game["game"], "finished": game["finished"]}
        texts = {"lineup": " ".join(game["lineup"]), "seat": number, "fault": seat["fault"] or ""}
        assert row == {name: str(value) for name, value in (seat | places | texts).items()}
    monkeypatch.setattr("caboose.arena.ladder.store.CHUNK", 7)  # games that are read at once
    assert list(csv.DictReader(StringIO(told(capsys, "export", str(played))))) == rows
    text = tmp_path / "games.txt"
    told(capsys, "export", str(played), "--to", "records", "-o", str(text), "--list", "pairs")
    assert run(["verify", str(text)]) == 0
    assert "20 games" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["status", "{none}"], 2, "there is no ladder.toml, expected a ladder"),
        (["add", "{none}", "greedy"], 2, "there is no ladder.toml"),
        (["init", "{ladder}"], 2, "there is a ladder already"),
        (["add", "{ladder}", "omniscient"], 2, "omniscient sees"),
        (["add", "{ladder}", "openhands"], 2, "openhands sees"),
        (["add", "{ladder}", "grady"], 2, "did you mean 'greedy'?"),
        (["add", "{ladder}", "mcts", "--name", "a b"], 2, "--name 'a b': expected 1 to 16 letters"),
        (["add", "{ladder}", "mcts", "--name", "mcts"], 2, "there is an engine mcts already"),
        (["add", "{ladder}", "mcts", "--option", "Sed=1"], 2, "Sed"),
        (["add-list", "{ladder}", "more", "--format", "swiss"], 2, "format: 'swiss', expected one of"),
        (["add-list", "{ladder}", "tables"], 2, "list 'tables' is there twice"),
        (["add-list", "{ladder}", "more", "--rule", "hub"], 2, "--rule hub: expected NAME=VALUE"),
        (["add-list", "{ladder}", "more", "--engine", "nobody"], 2, "engines: 'nobody', expected names of engines"),
        (["remove", "{ladder}", "nobody"], 2, "there is no engine 'nobody'; there are random"),
        (["standings", "{ladder}", "--list", "nothing"], 2, "no list 'nothing' has been played; there are tables"),
        (["games", "{ladder}", "--engine", "nobody"], 2, "no engine 'nobody' has played"),
        (["export", "{ladder}", "--to", "xml"], 2, "--to xml: expected csv, jsonl or records"),
        (["export", "{ladder}", "-o", "/no/such/folder/x"], 2, "-o /no/such/folder/x: No such file"),
        (["run", "{ladder}", "--blocks", "0"], 2, "--blocks"),
    ],
)
def test_wrong_calls(
    arguments: list[str], code: int, text: str, played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (played / "ladder.toml").read_bytes()
    words = [word.format(none=tmp_path, ladder=played) for word in arguments]
    assert text in told(capsys, *words, code=code).replace("\n", " ")
    assert (played / "ladder.toml").read_bytes() == before


def test_a_ladder_without_lists_or_engines_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "x")
    told(capsys, "init", folder)
    assert "there is no list in it yet" in told(capsys, "run", folder, code=2)
    told(capsys, "add-list", folder, "main")
    told(capsys, "add", folder, "greedy")
    assert "list main: it has 1 engine, expected at least 2" in told(capsys, "run", folder, code=2)
    assert "list main: it has 1 engine, expected at least 2" in told(capsys, "status", folder)


def test_a_stop_ends_a_run_cleanly(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", TABLES | {"blocks": 100_000})
    process = subprocess.Popen(
        run_command(tmp_path / "x", 2), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: count(tmp_path / "x") > 0, 60)
    shown = subprocess.run(
        [sys.executable, "-m", "caboose.cli.main", "ladder", "status", str(tmp_path / "x"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(shown.stdout)["running"].startswith(f"pid {process.pid} on ")
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "planner" in output
    assert errors.startswith("interrupted: ")
    assert errors.endswith(f" blocks are left; `caboose ladder run {tmp_path / 'x'}` goes on from here\n")
    assert os.listdir(tmp_path / "x" / "records") == ["tables.txt"]


@pytest.mark.parametrize("terminal", [True, False])
def test_progress(terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    make_ladder(tmp_path / "x", TABLES, TABLES | {"name": "more", "blocks": 2})
    console = Console(file=StringIO(), force_terminal=terminal, width=80, highlight=False)
    with open_store(tmp_path / "x", writing=True) as store:
        for limit in (Limit(blocks=3), Limit(seconds=1000)):
            ready = prepare(tmp_path / "x", read_spec(tmp_path / "x"), store)
            with LadderProgress(console, limit) as shown:
                assert play(ready, LocalExecutor(), limit, shown) == ""
                if terminal:
                    console.print(shown._table())
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert "8 of 8 blocks, " in text and "games/min, about 0.0 s left, 0 faults" in text
    if terminal:
        assert "tables 6/6, more 2/2" in text and "± 95 %" in text
    else:
        assert text.count("\n") == 8
        assert "widest interval ± " in text and "\x1b" not in text


def test_the_help_of_reports_names_the_extra(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ladder", "report", "--help"]) == 0
    assert "caboose[plots]" in capsys.readouterr().out
