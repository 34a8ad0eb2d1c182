"""Changes of a ladder by its commands: they keep what was played, and say what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from caboose.arena.errors import CallError, RunError
from caboose.arena.ladder import edit
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.edit import add, rename
from caboose.arena.ladder.list_setups import difference
from caboose.arena.ladder.run import Limit, open_store
from caboose.arena.ladder.store import Store
from caboose.arena.storage.ladder_folder import DATABASE, locked
from kill_ladder import count, facts, make_ladder, play_all
from ladders import told

PAIRS: dict[str, Any] = {"name": "m", "players": 2, "blocks": 2}


# --------------------------------------------------------------------------------------------------------- rename


def test_a_renamed_engine_keeps_its_games_and_goes_on_with_the_same_deals(tmp_path: Path) -> None:
    lists = (
        PAIRS | {"engines": ["greedy", "random", "planner"]},
        {"name": "g", "format": "gauntlet", "players": 3, "heroes": ["greedy"], "blocks": 1},
    )
    folder = tmp_path / "x"
    for name in ("x", "plain"):
        make_ladder(tmp_path / name, *lists)
    play_all(tmp_path / "plain")
    play_all(folder, Limit(blocks=4))
    path = folder / "ladder.toml"
    path.write_text(path.read_text().replace('name = "greedy"', 'name = "greedy"  # the first'))
    rename(folder, "greedy", "best")
    assert 'name = "best"' in path.read_text() and "# the first" in path.read_text()
    spec = read_spec(folder)
    assert spec.lists[0].engines == ("best", "random", "planner") and spec.lists[1].heroes == ("best",)
    assert spec.engine("best").dealt_as == "greedy"
    play_all(folder)
    expected = facts(tmp_path / "plain")
    for game in expected:
        game["lineup"] = ["best" if name == "greedy" else name for name in game["lineup"]]
        for seat in game["seats"]:
            seat["engine"] = "best" if seat["engine"] == "greedy" else seat["engine"]
    assert facts(folder) == expected
    with open_store(folder) as store:
        assert sorted(entry.label for entry in store.entries()) == ["best", "mcts", "planner", "random"]
    # Its old name is free, but not the deals that follow from it.
    with pytest.raises(CallError, match="the deals of best follow from the name 'greedy', expected another name"):
        add(folder, "engine", {"name": "greedy", "builtin": "greedy"})
    rename(folder, "best", "greedy")
    assert "dealt_as" not in path.read_text()
    play_all(folder)
    assert facts(folder) == facts(tmp_path / "plain")


def test_an_engine_that_has_not_played_has_no_other_deals(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", PAIRS)
    rename(tmp_path / "x", "mcts", "search")
    assert "dealt_as" not in (tmp_path / "x" / "ladder.toml").read_text()
    (tmp_path / "x" / DATABASE).unlink()
    rename(tmp_path / "x", "search", "more")
    assert not (tmp_path / "x" / DATABASE).exists()


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("described", [True, False])
def test_a_renaming_that_was_killed_on_its_way_is_done_later(
    again: bool, described: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``described``: the description was changed before; ``again``: by the same call, not by the next run."""
    folder = tmp_path / "x"
    make_ladder(folder, PAIRS)
    play_all(folder)
    blocks = count(folder)

    def kill(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        where: Any = Store if described else edit
        patched.setattr(where, "_rename" if described else "_write", kill)
        with pytest.raises(KeyboardInterrupt):
            rename(folder, "greedy", "best")
    assert ("best" in [engine.name for engine in read_spec(folder).engines]) == described
    if again:
        rename(folder, "greedy", "best")
    assert play_all(folder).blocks == 0 and count(folder) == blocks
    with open_store(folder) as store:
        assert {entry.name for entry in store.entries()} == {
            "best" if again or described else "greedy", "random", "planner", "mcts",
        }  # fmt: skip


def test_another_engine_does_not_get_the_games_of_one_that_was_removed(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", PAIRS)
    play_all(tmp_path / "x")
    edit.remove(tmp_path / "x", "engine", "greedy")
    add(tmp_path / "x", "engine", {"name": "best", "builtin": "mcts"})
    with pytest.raises(CallError, match="there is an engine best: expected another name"):
        rename(tmp_path / "x", "greedy", "best")


def test_names_that_cannot_be_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    make_ladder(folder, PAIRS)
    play_all(folder, Limit(blocks=2))
    before = (folder / "ladder.toml").read_bytes()
    for old, new, why in (
        ("nobody", "best", "there is no engine 'nobody'; there are random, greedy"),
        ("greedy", "planner", "there is an engine planner: expected another name"),
        ("greedy", "greedy", "there is an engine greedy: expected another name"),
        ("greedy", "a b", "the new name 'a b': expected 1 to 16 letters"),
        ("greedy", "", "the new name '': expected 1 to 16 letters"),
    ):
        with pytest.raises(CallError, match=why):
            rename(folder, old, new)
    from caboose.arena.ladder.edit import remove

    remove(folder, "engine", "planner")
    with pytest.raises(CallError, match="an engine has played here that was called planner: expected another name"):
        rename(folder, "greedy", "planner")
    with locked(folder), pytest.raises(RunError, match="another run plays here"):
        rename(folder, "greedy", "best")
    assert (folder / "ladder.toml").read_bytes() != before  # what was removed is
    assert read_spec(folder).engine("greedy")


# ------------------------------------------------------------------------------------------------------ edit-list


def test_a_list_is_changed_in_what_may_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "x"
    make_ladder(folder, PAIRS | {"rules": {"blank": "25"}}, records=False)
    path = folder / "ladder.toml"
    path.write_text(path.read_text().replace("blocks = 2", "blocks = 2  # for now"))
    out, _ = told(
        capsys, "edit-list", str(folder), "m", "--nodes", "11", "--rule", "blank=0", "--rule", "dead_double=hold"
    )
    assert "list m: nodes 10 -> 11; rules blank=25 -> blank=0, dead_double=hold. It has 12 blocks of 2 games." in out
    told(capsys, "run", str(folder), "--concurrency", "1")
    for option, change in (
        (["--nodes", "12"], "nodes 11 -> 12"),
        (["--players", "3"], "players 2 -> 3"),
        (["--movetime", "20"], "movetime none -> 20 ms"),
        (["--rule", "blank=50"], "blank 0 -> 50"),
        (["--format", "random"], "format round-robin -> random"),
        (["--crashed", "replayed"], "crashed lost -> replayed"),
    ):
        before = path.read_bytes()
        _, err = told(capsys, "edit-list", str(folder), "m", "--blocks", "3", *option, code=2)
        assert f"list m has changed since its first block ({change}" in err
        assert "its 12 blocks would not go together with new ones" in err
        assert path.read_bytes() == before
    out, _ = told(capsys, "edit-list", str(folder), "m", "--blocks", "3", "--engine", "greedy", "--engine", "mcts")
    assert "list m: blocks 2 -> 3; engines none -> greedy, mcts. It has 3 blocks of 2 games." in out
    assert "# for now" in path.read_text()
    out, _ = told(capsys, "edit-list", str(folder), "m", "--unset", "engines", "--set-aside", "0")
    assert "set_aside none -> 0" in out and "It has 18 blocks" in out
    assert "is as it was" in told(capsys, "edit-list", str(folder), "m", "--blocks", "3")[0]
    told(capsys, "run", str(folder), "--concurrency", "1")
    assert count(folder) == 18


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["m"], "nothing is to be changed, expected an option such as --blocks 200"),
        (["n", "--blocks", "3"], "there is no list 'n'; there are m"),
        (["m", "--unset", "heroes"], "list m: 'heroes' is not set in it, expected one of its keys: nodes, rounds"),
        (["m", "--unset", "name"], "list m: 'name' is not set in it"),
        (["m", "--unset", "blocks", "--blocks", "2"], "--unset blocks: it is also given a value"),
        (["m", "--engine", "nobody"], "engines: 'nobody', expected names of engines"),
        (["m", "--blocks", "0"], "--blocks"),
        (["m", "--rule", "blank"], "--rule blank: expected NAME=VALUE"),
        (["m", "--rule", "blank=9"], "blank=9"),
        (["m", "--hero", "mcts"], "heroes: ['mcts'], expected that the format is hero or gauntlet"),
        (["m", "--set-aside", "-1"], "--set-aside"),
        (["m", "--tc", "soon"], "tc: soon"),
    ],
)
def test_wrong_changes_of_a_list(
    arguments: list[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_ladder(tmp_path / "x", PAIRS)
    before = (tmp_path / "x" / "ladder.toml").read_bytes()
    assert why in told(capsys, "edit-list", str(tmp_path / "x"), *arguments, code=2)[1]
    assert (tmp_path / "x" / "ladder.toml").read_bytes() == before


def test_a_difference_is_told_key_by_key() -> None:
    time = "TimeControl(movetime=20, nodes=50, clock=None, guard=60000.0)"
    before = f"round-robin | family players=2 set=12 | {time} | fallback | lost"
    assert difference(before, before.replace("nodes=50", "nodes=51")) == "nodes 50 -> 51"
    assert difference(before, before.replace("movetime=20, nodes=50", "movetime=None, nodes=None")) == (
        "movetime 20 ms -> none, nodes 50 -> none"
    )
    after = before.replace("family players=2", "classic players=4").replace("clock=None", "clock=90000.0")
    assert difference(before, after) == "preset family -> classic, players 2 -> 4, base of tc none -> 90 s"
    assert difference(before, before.replace("guard=60000.0", "guard=1500")) == "guard 60 s -> 1.5 s"
    assert difference(before, f"hero{before.removeprefix('round-robin')}") == "format round-robin -> hero"


# -------------------------------------------------------------------------------------------- a file alone, and words


def test_a_description_alone_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_ladder(tmp_path / "x", PAIRS)
    play_all(tmp_path / "x")
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "ladder.toml").write_bytes((tmp_path / "x" / "ladder.toml").read_bytes())
    assert "0 blocks, 0 games" in told(capsys, "status", str(alone))[0]
    assert "No block has been played yet." in told(capsys, "standings", str(alone))[0]
    assert [path.name for path in alone.iterdir()] == ["ladder.toml"]
    told(capsys, "run", str(alone), "--concurrency", "1")
    assert facts(alone) == facts(tmp_path / "x")
    # A database that was lost is no new beginning: the records would be cut off.
    (alone / DATABASE).unlink()
    for beside in alone.glob(f"{DATABASE}-*"):
        beside.unlink()
    for command in ("run", "status"):
        assert "there are games in records/, but no ladder.db" in told(capsys, command, str(alone), code=1)[1]
    assert (alone / "records" / "m.txt").stat().st_size > 0
    (alone / "ladder.toml").write_text("format = 1\n")
    assert "seed is missing" in told(capsys, "run", str(alone), code=2)[1]


def test_commands_say_what_they_did_and_what_is_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "a ladder")
    quoted = f"'{folder}'"
    assert (
        told(capsys, "init", folder)[0]
        == f"{folder}: a new ladder. Next, add engines: `caboose ladder add {quoted} ENGINE`"
    )
    assert (
        f"engine greedy is added. Next, add another one: `caboose ladder add {quoted} ENGINE`"
        in told(capsys, "add", folder, "greedy")[0]
    )
    assert (
        f"Next, add a list of games: `caboose ladder add-list {quoted} NAME`"
        in told(capsys, "add", folder, "random")[0]
    )
    out, _ = told(capsys, "add-list", folder, "main", "--players", "2", "--blocks", "7")
    assert "list main is added: round-robin, 2 players, 20 ms a move. It has 7 blocks of 2 games." in out
    assert f"Next, play: `caboose ladder run {quoted}`" in out
    assert f"Next, play: `caboose ladder run {quoted}`" in told(capsys, "add", folder, "mcts")[0]
    assert "engine mcts is called deep from now on" in told(capsys, "rename", folder, "mcts", "deep")[0]
    assert "engine deep is out from the next run on" in told(capsys, "remove", folder, "deep")[0]
    assert "list main is out from the next run on" in told(capsys, "remove", folder, "main", "--list")[0]
    told(capsys, "remove", folder, "greedy")
    out, _ = told(capsys, "add-list", folder, "alone")  # though its last list and all but one engine are gone
    assert "Before it can be played: list alone: it has 1 engine, expected at least 2" in out


@pytest.mark.parametrize(("anchor", "then"), [("a", "b"), ("a=1500", "b=1500"), ("a#2=0", "b#2=0"), ("ab=7", "ab=7")])
def test_the_anchor_follows_a_renaming(
    anchor: str, then: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x"
    for words in (["init", str(folder), "--seed", "1"], ["add", str(folder), "random", "--name", "a"]):
        told(capsys, *words)
    file = folder / "ladder.toml"
    file.write_text(f'anchor = "{anchor}"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    told(capsys, "rename", str(folder), "a", "b")
    assert f'anchor = "{then}"\n' in file.read_text(encoding="utf-8")
