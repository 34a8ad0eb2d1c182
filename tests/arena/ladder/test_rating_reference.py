"""What ratings are measured from: the mean of who takes part and has a place, or an anchor. All commands agree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ladder as made_up
from caboose.arena.errors import CallError
from caboose.arena.ladder.edit import remove
from caboose.arena.ladder.rating_reference import make_reference, parse_anchor
from caboose.arena.ladder.run import open_store
from caboose.arena.ladder.store import BlockKey, Entry, Store
from caboose.arena.stats.game_table import Games, join
from caboose.arena.stats.ratings import standings
from caboose.arena.storage.ladder_folder import DATABASE
from caboose.cli.main import run
from coverage import spread
from page_reader import read_page
from simulated import ladder

Rows = dict[str, dict[str, Any]]


def with_newcomer(blocks: int) -> tuple[Games, Games]:
    """104 blocks of six contestants, and the same with as many more in which a seventh always wins."""
    games = ladder(spread(6), 4, 104, np.random.default_rng(0))
    more = ladder(spread(6), 4, blocks, np.random.default_rng(1))
    player = more.player.copy()
    player[player == player[::4].repeat(4, axis=0)[:, :1]] = 6
    place = np.argsort(np.argsort(np.where(player == 6, -1, more.place), axis=1), axis=1) + 1
    later = Games(more.block + 104, player, place.astype(np.int16), *(getattr(more, n) for n in Games.__slots__[3:]))
    return games, join([games, later])


def test_a_newcomer_does_not_move_the_others() -> None:
    games, more = with_newcomer(1)
    before = standings(games, 7, replicates=100)
    free, held = (standings(more, 7, fewest=fewest, replicates=100) for fewest in (1, 10))
    moved = [
        max(abs(found.contestants[i].rating.value - before.contestants[i].rating.value) for i in range(6))  # type: ignore[operator]
        for found in (free, held)
    ]
    assert moved[0] > 20 > 2 > moved[1]
    assert free.ranked()[0].contestant == 6
    assert held.ranked()[-1].contestant == 6 and not held.ranked()[-1].ranked
    assert all(each.ranked for each in held.ranked()[:6])
    # Nor are their intervals any wider.
    for i in range(6):
        assert held.contestants[i].rating.half == pytest.approx(before.contestants[i].rating.half, rel=0.25)


def test_a_newcomer_gets_its_place_with_its_blocks() -> None:
    _, more = with_newcomer(10)
    assert standings(more, 7, fewest=10, replicates=2).ranked()[0].contestant == 6


def test_where_nobody_has_a_place_the_mean_is_that_of_all() -> None:
    games = ladder(spread(4), 4, 5, np.random.default_rng(2))
    found = standings(games, 4, fewest=10, replicates=2)
    assert not any(each.ranked for each in found.contestants)
    assert sum(each.rating.value or 0.0 for each in found.contestants) == pytest.approx(0)


def test_an_anchor_and_a_mean_shift_all_alike() -> None:
    games = ladder(spread(4), 4, 40, np.random.default_rng(3))
    free, fixed, part = (
        standings(games, 4, replicates=50, **more)
        for more in ({}, {"anchor": 2, "level": 1500}, {"mean_of": np.array([True, True, False, False])})
    )
    assert fixed.contestants[2].rating.value == 1500 and fixed.contestants[2].rating.half == 0
    assert part.contestants[0].rating.value == pytest.approx(-(part.contestants[1].rating.value or 0))
    for other in (fixed, part):
        assert other.difference(0, 3).value == pytest.approx(free.difference(0, 3).value)
        assert other.superiority == pytest.approx(free.superiority)


# ------------------------------------------------------------------------------------------------ a ladder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up ladder of four engines, one of which has two editions, and one of which is not in its file any more."""
    folder = tmp_path_factory.mktemp("made") / "x"
    made_up.make_ladder(folder, 240, 1, 4)
    for name in ("engine-0", "engine-1", "engine-2"):
        assert run(["ladder", "add", str(folder), "mcts", "--name", name]) == 0
    with Store.open(folder / DATABASE, writing=True) as store:
        new = store.add_entry(Entry(0, "engine-2", 0, "new", "mcts", "", "2", "", "2026-02-01T00:00:00+00:00"))
        old = {entry.name: entry.id for entry in store.entries() if entry.edition == 1}
        blocks = [(row.key, row.id) for row in store.blocks(1)][:12]
        for at, (key, id) in enumerate(blocks):
            games = [seats.copy() for seats in store.games(id)]
            for seats in games:
                seats["entry"][seats["entry"] == old["engine-2"]] = new.id
            lineup = tuple(new.id if entry == old["engine-2"] else entry for entry in key.lineup)
            store.commit(BlockKey(key.list, 1000 + at, lineup), games, [], finished="2026-02-02", record=None)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """One like it, to be changed."""
    return Path(shutil.copytree(made, tmp_path / "x"))


def data(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Rows, dict[str, Any]]:
    capsys.readouterr()
    assert run(["ladder", "standings", str(folder), "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    return {entry["label"]: entry for entry in found["entries"]}, found


def value(rows: Rows, label: str) -> float:
    return float(rows[label]["rating"]["value"])


def test_removed_engines_and_old_editions_are_in_no_mean(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, found = data(folder, capsys)
    assert {label for label, row in rows.items() if row["current"]} == {"engine-0", "engine-1", "engine-2#2"}
    assert value(rows, "engine-0") + value(rows, "engine-1") + value(rows, "engine-2#2") == pytest.approx(0)
    assert found["reference"] == {"anchor": None, "rating": 0.0, "mean": "current", "min_blocks": 10}
    every, _ = data(folder, capsys, "--mean", "all")
    assert sum(value(every, label) for label in every) == pytest.approx(0)
    assert value(every, "engine-0") - value(every, "engine-3") == pytest.approx(
        value(rows, "engine-0") - value(rows, "engine-3")
    )
    assert run(["ladder", "standings", str(folder)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "the mean of the 3 engines that still take part is 0" in text
    assert "Not in the mean, as they do not take part any more:" in text and "engine-3" in text
    # What is removed leaves the mean, and nothing else changes.
    remove(folder, "engine", "engine-1")
    after, _ = data(folder, capsys)
    assert value(after, "engine-0") == pytest.approx(-value(after, "engine-2#2"))


def test_an_edition_that_plays_again_is_the_one_that_takes_part(folder: Path) -> None:
    with Store.open(folder / DATABASE, writing=True) as store:
        row = next(iter(store.blocks(1)))
        store.commit(BlockKey(1, 5000, row.key.lineup), store.games(row.id), [], finished="2026-03-01", record=None)
        current = make_reference(folder, store).current
        labels = {entry.label for entry in store.entries() if current is not None and entry.id in current}
        playing = {entry.label for entry in store.entries() if entry.id in row.key.lineup}
    assert ("engine-2" in labels) == ("engine-2" in playing)


def test_provisional_engines_stand_below(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ladder", "standings", str(folder), "--min-blocks", "20"]) == 0
    text = capsys.readouterr().out
    lines = [line.split(" ")[0] for line in text.split("\n\n")[0].splitlines()]
    assert lines[-2:] == ["provisional", "engine-2#2"]
    assert "Provisional: fewer than 20 blocks" in " ".join(text.split())
    rows, _ = data(folder, capsys, "--min-blocks", "20")
    assert [row["ranked"] for row in rows.values()] == [True] * 4 + [False]


def test_an_anchor_by_call_and_by_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, found = data(folder, capsys, "--anchor", "engine-1=1500")
    assert value(rows, "engine-1") == 1500 and found["reference"]["anchor"] == "engine-1"
    file = folder / "ladder.toml"
    file.write_text(file.read_text().replace('seed = "1"', 'seed = "1"\nanchor = "engine-2#2=100.5"'))
    assert value(data(folder, capsys)[0], "engine-2#2") == 100.5
    assert value(data(folder, capsys, "--anchor", "engine-0")[0], "engine-0") == 0
    # The report measures from the same one.
    assert run(["ladder", "report", str(folder)]) == 0
    page = read_page((folder / "report.html").read_text())
    assert "engine-2#2 has 100.5" in page.text
    # An anchor in the file that has not played yet ends nothing.
    file.write_text(file.read_text().replace("engine-2#2=100.5", "engine-9"))
    capsys.readouterr()
    assert run(["ladder", "standings", str(folder)]) == 0
    assert "engine-9, the anchor, has not played" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--anchor", "nobody"],
            "--anchor nobody: no game of such an engine counts; expected one of engine-0, engine-1",
        ),
        (["--anchor", ""], "--anchor: '': expected the name of an engine, or ENGINE=RATING"),
        (["--anchor", "engine-0="], "--anchor: 'engine-0=': expected"),
        (["--anchor", "engine-0=nan"], "expected the name of an engine, or ENGINE=RATING"),
        (["--anchor", "engine-0=1e300"], "expected the name of an engine, or ENGINE=RATING"),
        (["--anchor", "engine-0=\N{ARABIC-INDIC DIGIT FIVE}"], "expected the name of an engine, or ENGINE=RATING"),
        (["--anchor", "=5"], "expected the name of an engine, or ENGINE=RATING"),
        (["--anchor", "engine-0=5=6"], "expected the name of an engine, or ENGINE=RATING"),
        (["--mean", "some"], "--mean some: expected current or all"),
        (["--min-blocks", "0"], "--min-blocks"),
        (["--min-blocks", "x"], "--min-blocks"),
    ],
)
@pytest.mark.parametrize("command", ["standings", "report"])
def test_wrong_calls(made: Path, words: list[str], said: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["ladder", command, str(made), *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["5", '"x="', "true"])
def test_a_wrong_anchor_in_the_file(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "ladder.toml"
    file.write_text(file.read_text().replace('seed = "1"', f'seed = "1"\nanchor = {text}'))
    assert run(["ladder", "standings", str(folder)]) == 2
    assert "ladder.toml: anchor" in capsys.readouterr().err


def test_anchors_have_a_rating() -> None:
    assert parse_anchor("--anchor", "a") == ("a", 0.0)
    assert parse_anchor("--anchor", "a#2=-12.5") == ("a#2", -12.5)
    with pytest.raises(CallError, match="expected"):
        parse_anchor("--anchor", "a=b")


# ------------------------------------------------------------------------------------------------ one number, one name


@pytest.mark.parametrize("players", ["2", "4", "5"])
def test_compare_and_standings_give_the_same_number(
    players: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "state"
    call = ["compare", "greedy", "random", "--in-process", "--nodes", "1", "--rounds", "1", "--players", players]
    call += ["--pips1", "1", "--max-blocks", "24", "--seed", "3", "--concurrency", "1", "--state", str(folder)]
    assert run([*call, "--json"]) in (0, 1, 3)
    compared = json.loads(capsys.readouterr().out)
    rows, found = data(folder, capsys)
    assert found["blocks"] == compared["blocks"] >= 12
    assert value(rows, "greedy") - value(rows, "random") == pytest.approx(compared["elo"]["value"], abs=1e-6)
    assert value(data(folder, capsys, "--anchor", "random")[0], "greedy") == pytest.approx(compared["elo"]["value"])
    # What is printed is true: the share of pairs is that of the difference.
    won, tied, lost = (compared["pairs"][kind] for kind in ("won", "tied", "lost"))
    share = (won + tied / 2) / (won + tied + lost)
    assert 1 / (1 + 10 ** (-compared["elo"]["value"] / 400)) == pytest.approx(share)
    assert run(["ladder", "standings", str(folder)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"greedy against random: {compared['elo']['value']:+.1f} ±" in text


def test_many_engines_have_their_neighbours(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    made_up.make_ladder(folder, 240, 1, 45)
    assert run(["ladder", "report", str(folder)]) == 0
    page = read_page((folder / "report.html").read_text())
    assert "There are 45 engines, too many for all pairs" in page.text
    assert all(len(row) <= 12 for table in page.tables for row in table)
    with open_store(folder) as store:
        assert len(store.entries()) == 45
