"""Ladders whose engines change their order, fail or do not start: nothing is played or counted twice, others play."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.execution.executors import LocalExecutor
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.edit import add, edit_list
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.ladder.store import Store
from caboose.arena.ladder.totals import read_totals
from caboose.arena.storage.ladder_folder import DATABASE
from kill_ladder import Quiet, count, facts, make_ladder, play_all, recorded
from ladders import told
from players import engine_command


def by_name(folder: Path) -> set[tuple[Any, ...]]:
    """Which blocks are kept: number and engines."""
    with open_store(folder) as store:
        names = {entry.id: entry.label for entry in store.entries()}
        return {(row.key.number, *(names[entry] for entry in row.key.lineup)) for row in store.blocks()}


# ------------------------------------------------------------------------------------------------------ the order


def test_engines_that_are_taken_out_and_added_again_play_nothing_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "R")
    told(capsys, "init", folder, "--in-process", "--seed", "7")
    told(capsys, "add", folder, "random")
    told(capsys, "add", folder, "greedy")
    options = "--format round-robin --players 2 --rounds 1 --nodes 1 --blocks 10"
    told(capsys, "add-list", folder, "main", *options.split())
    before, _ = told(capsys, "run", folder, "--concurrency", "1")
    told(capsys, "remove", folder, "random")
    told(capsys, "add", folder, "random")
    assert [engine.name for engine in read_spec(Path(folder)).engines] == ["greedy", "random"]
    assert told(capsys, "run", folder, "--concurrency", "1") == (before, "")
    assert count(Path(folder)) == 10


@pytest.mark.parametrize("keys", [{"players": 2}, {"players": 3}, {"players": 3, "format": "gauntlet"}])
def test_a_list_goes_on_as_it_would_have_when_engines_change_places(keys: dict[str, Any], tmp_path: Path) -> None:
    keys = {"name": "m", "blocks": 2, "nodes": 1, **keys}
    engines = ("random", "greedy", "planner", "mcts")
    if keys.get("format") == "gauntlet":
        keys["heroes"] = ["greedy"]
    make_ladder(tmp_path / "x", keys, engines=engines)
    play_all(tmp_path / "x")
    make_ladder(tmp_path / "swapped", keys, engines=engines)
    play_all(tmp_path / "swapped", Limit(blocks=3))
    path = tmp_path / "swapped" / "ladder.toml"
    head, *tables, lists = path.read_text().replace("[[list]]", "[[engine]]").split("[[engine]]")
    path.write_text("".join([head, *[f"\n[[engine]]{table}" for table in reversed(tables)], f"\n[[list]]{lists}"]))
    assert [engine.name for engine in read_spec(tmp_path / "swapped").engines] == [*reversed(engines)]
    play_all(tmp_path / "swapped")
    assert facts(tmp_path / "swapped") == facts(tmp_path / "x")
    assert recorded(tmp_path / "swapped") == recorded(tmp_path / "x")


@pytest.fixture
def doubled(tmp_path: Path) -> Path:
    """A ladder in which two of four blocks are there twice, as an earlier Caboose left it."""
    folder = tmp_path / "doubled"
    make_ladder(folder, {"name": "m", "players": 2, "blocks": 4}, engines=("greedy", "random"))
    play_all(folder)
    with sqlite3.connect(folder / DATABASE) as connection:
        for block in (2, 4):
            connection.execute(
                "INSERT INTO blocks SELECT id + 10, list, number, '2 1', finished, record + 100000, length FROM blocks "
                "WHERE id = ?",
                (block,),
            )
            connection.execute("INSERT INTO games SELECT block + 10, game, seats FROM games WHERE block = ?", (block,))
        fault = "INSERT INTO faults VALUES (12, 0, 0, 1, 'dead', 'it ended', 1, 2, 0)"
        connection.execute(fault)
    connection.close()
    return folder


def test_blocks_that_are_there_twice_count_once_and_are_told(
    doubled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_ladder(tmp_path / "once", {"name": "m", "players": 2, "blocks": 4}, engines=("greedy", "random"))
    play_all(tmp_path / "once")
    assert facts(doubled) == facts(tmp_path / "once")
    assert len(recorded(doubled)) == 8
    notice = "List m: 2 blocks are there twice, since an earlier Caboose played line-ups again"
    with open_store(doubled) as store:
        assert store.counts() == store.counts(1) == (4, 8)
        assert store.twice() == {"m": 2}
        totals = read_totals(store, store.lists())
        assert (totals.games, totals.tally.standings(replicates=20).blocks) == (8, 4)
        assert not any(sums.faults for sums in totals.sums)
        assert len([*store.latest()]) == len([*store.results(1)]) == 4
        assert store.record_end(1) > 100_000  # nothing that stands in the record file is cut off
    for command in ("status", "standings", "run"):
        assert notice in told(capsys, command, str(doubled))[0]
    assert json.loads(told(capsys, "status", str(doubled), "--json")[0])["twice"] == {"m": 2}
    assert notice in json.loads(told(capsys, "standings", str(doubled), "--json")[0])["notices"][0]
    told(capsys, "report", str(doubled))
    assert notice in (doubled / "report.html").read_text()
    assert len(told(capsys, "export", str(doubled), "--to", "jsonl")[0].split('"seats"')) == 1 + 8
    edit_list(doubled, "m", {"blocks": 5})
    play_all(doubled)
    with open_store(doubled) as store:
        assert store.counts() == (5, 10)


def test_a_ladder_without_such_blocks_hides_nothing(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1})
    play_all(tmp_path / "x")
    with open_store(tmp_path / "x") as store:
        assert store.twice() == {}
        assert not store._connection.execute("SELECT * FROM sqlite_temp_master").fetchall()


# ---------------------------------------------------------------------------------------- those that fail or are away


def test_an_engine_that_always_fails_is_set_aside_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "x"
    keys = {"name": "tables", "format": "random", "players": 2, "blocks": 40, "generation": 2, "set_aside": 4}
    make_ladder(folder, keys, engines=("greedy", "random"), records=False)
    add(folder, "engine", {"name": "broken", "command": [*engine_command(tmp_path, "sys.exit(3)")]})
    out, err = told(capsys, "run", str(folder), "--concurrency", "1")
    notice = "List tables: broken is set aside, since "
    assert notice in err and notice in out  # when it happens, and with the standings
    for command in ("status", "standings"):
        assert notice in told(capsys, command, str(folder))[0]
    status = json.loads(told(capsys, "status", str(folder), "--json")[0])
    ((aside,),) = status["set_aside"].values()
    assert aside["entry"] == "broken" and 4 <= aside["lost"] == aside["games"] <= 16
    assert status["blocks"] == 40
    told(capsys, "report", str(folder))
    assert notice in (folder / "report.html").read_text()
    # Where it is not set aside any more it plays again.
    edit_list(folder, "tables", {"set_aside": 0, "blocks": 60})
    played = sum("broken" in block for block in by_name(folder))
    assert notice not in told(capsys, "run", str(folder), "--concurrency", "1")[0]
    assert sum("broken" in block for block in by_name(folder)) > played


def test_the_others_play_when_an_engine_does_not_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, command = tmp_path / "x", engine_command(tmp_path)
    lists = ({"name": "m", "players": 2, "blocks": 2}, {"name": "t", "format": "random", "players": 2, "blocks": 12})
    make_ladder(folder, *lists, engines=("greedy", "random"))
    add(folder, "engine", {"name": "own", "command": [*command]})
    program = Path(command[-1])
    program.rename(tmp_path / "away")
    out, err = told(capsys, "run", str(folder), "--concurrency", "1", code=1)
    assert err.startswith("Warning: own: the engine does not start: ")
    assert "The others play; games with own wait for a run in which it starts." in err
    assert "own did not play in the last run. own: the engine does not start" in out
    assert "own did not play in the last run" in told(capsys, "status", str(folder))[0]
    first = by_name(folder)
    assert first and not any("own" in block for block in first)
    (tmp_path / "away").rename(program)
    out, err = told(capsys, "run", str(folder), "--concurrency", "1")
    assert "own did not play" not in out and err == ""
    assert first < by_name(folder)
    assert count(folder) == 3 * 2 + 12
    # It plays all that it would have played.
    make_ladder(tmp_path / "always", lists[0], engines=("greedy", "random"))
    add(tmp_path / "always", "engine", {"name": "own", "command": [*command]})
    play_all(tmp_path / "always")
    mine = [game for game in facts(folder) if game["list"] == "m"]
    totals = [[(seat["engine"], seat["total"]) for seat in game["seats"]] for game in mine]
    assert sorted(totals) == sorted(
        [(seat["engine"], seat["total"]) for seat in game["seats"]] for game in facts(tmp_path / "always")
    )


def test_where_fewer_than_two_start_nothing_is_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2}, engines=("greedy",))
    for name in ("one", "other"):
        add(tmp_path / "x", "engine", {"name": name, "command": [f"/no/such/{name}"]})
    _, err = told(capsys, "run", str(tmp_path / "x"), code=1)
    assert "1 engine starts, expected at least 2. one: the engine does not start: " in err and "; other: " in err
    assert count(tmp_path / "x") == 0


def test_an_engine_that_plays_and_then_does_not_start_keeps_its_line_ups(tmp_path: Path) -> None:
    folder, command = tmp_path / "x", engine_command(tmp_path)
    make_ladder(folder, {"name": "m", "players": 3, "blocks": 2}, engines=("greedy", "random", "planner"))
    add(folder, "engine", {"name": "own", "command": [*command]})
    play_all(folder, Limit(blocks=4))
    Path(command[-1]).rename(tmp_path / "away")
    with open_store(folder, writing=True) as store:
        ready = prepare(folder, read_spec(folder), store, leave_out=True)
        assert [*ready.absent] == ["own"] and sorted(ready.roster) == ["greedy", "planner", "random"]
        assert play(ready, LocalExecutor(), Limit(), Quiet()) == ""
        assert ready.left == 0 and ready.lists[0].schedule.skipped == 8 - count(folder)
    (tmp_path / "away").rename(command[-1])
    play_all(folder)
    assert count(folder) == 8
    with Store.open(folder / DATABASE) as store:
        assert store.twice() == {}


def test_adding_a_command_that_does_not_start_warns_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "x")
    make_ladder(Path(folder))
    out, err = told(capsys, "add", folder, "/no/such/program", "--name", "gone")
    assert "engine gone is added" in out
    assert err.startswith("Warning: gone: the engine does not start: ")
    assert f"take it out with `caboose ladder remove {folder} gone`" in err
    assert told(capsys, "add", folder, "/no/such/program", "--name", "gone2", "--no-check")[1] == ""
    command = " ".join(engine_command(tmp_path))
    assert told(capsys, "add", folder, command, "--name", "own")[1] == ""
    assert (
        "Warning: own2: toy has no option 'Depth'"
        in told(capsys, "add", folder, command, "--name", "own2", "--option", "Depth=1")[1]
    )
    assert [engine.name for engine in read_spec(Path(folder)).engines][4:] == ["gone", "gone2", "own", "own2"]


@pytest.mark.parametrize("key", ["set aside", "not started", "left out"])
@pytest.mark.parametrize("text", ["[1", "7", "[[1, 2]]", '{"1": [[99, 5]]}', '{"1": 3}', "null"])
def test_settings_that_make_no_sense_are_told(
    key: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1}, engines=("greedy", "random"))
    play_all(tmp_path / "x")
    with open_store(tmp_path / "x", writing=True) as store:
        store.set_meta(key, text)
    sound = key == "not started" and text.startswith("{")  # names, and whatever is told of them
    err = told(capsys, "status", str(tmp_path / "x"), code=0 if sound else 1)[1]
    assert sound or f"the database is damaged (the setting '{key}' cannot be read)" in err


@pytest.mark.parametrize("twice", [True, False])
@pytest.mark.parametrize("lineup", ["x", "1 2 x"])
def test_a_line_up_that_makes_no_sense_is_told(
    lineup: str, twice: bool, doubled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(doubled / DATABASE) as connection:
        connection.execute("UPDATE blocks SET lineup = ? WHERE id = 1", (lineup,))
        if not twice:
            connection.execute("DELETE FROM blocks WHERE id > 10")
    connection.close()
    # Where nothing hints at blocks that are there twice only those look at line-ups who need them.
    for command in ("status", "run", "standings")[: 3 if twice else 2]:
        assert "the database is damaged (a line-up that is none)" in told(capsys, command, str(doubled), code=1)[1]
