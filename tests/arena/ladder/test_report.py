"""``caboose ladder report``: a page that is whole, needs nothing else and says what the standings say."""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.number_format import likelihood
from caboose.arena.ladder.report import make_report
from caboose.arena.ladder.report_statistics import BINS, pair_margins, settling, spreads
from caboose.arena.ladder.run import open_store
from caboose.arena.stats.game_table import Games
from caboose.arena.stats.ratings import standings
from caboose.arena.storage.ladder_folder import DATABASE
from caboose.cli.main import run
from kill_ladder import make_ladder, play_all
from page_reader import PageReader, read_page
from paths import ROOT
from players import engine_command
from simulated import ladder

SECTIONS = [
    "Summary", "Standings", "Fit", "Every pair", "Margins", "Seats", "Time", "Faults", "How ratings settled", "Engines",
    "Lists", "To do it again",
]  # fmt: skip
EVIL = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder with two lists, an engine that always fails, and one with a name that is no name."""
    folder = tmp_path_factory.mktemp("ladder") / "x"
    tables = {"name": "tables", "format": "random", "players": 3, "blocks": 12}
    make_ladder(folder, tables, {"name": "pairs", "players": 2, "blocks": 1}, engines=("random", "greedy", "planner"))
    broken = tmp_path_factory.mktemp("engine")
    command = engine_command(broken, "sys.exit(3)")
    assert run(["ladder", "add", str(folder), " ".join(command), "--name", "broken"]) == 0
    play_all(folder)
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute("UPDATE entries SET engine = ?, author = ?, version = ? WHERE name = 'broken'", [EVIL] * 3)
        database.execute("UPDATE faults SET detail = ?", [EVIL])
        database.execute("UPDATE entries SET name = ? WHERE name = 'random'", [EVIL])
    return folder


@pytest.fixture(scope="module")
def page(played: Path) -> PageReader:
    """The page of that ladder."""
    assert run(["ladder", "report", str(played)]) == 0
    return read_page((played / "report.html").read_text())


def by_name(table: list[list[str]]) -> dict[str, list[str]]:
    return {re.sub(r"^\d+\. | \(provisional\)$", "", row[0]): row[1:] for row in table[1:]}


def test_the_page_has_all_its_parts(page: PageReader) -> None:
    assert [text for level, text in page.headings if level == 2] == SECTIONS
    assert {f"figure-{name}" for name in ("ratings", "margins", "seats", "times", "settling")} <= set(page.ids)
    for text in ("Seats at tables of 3", "Seats at tables of 2", "likelihood", "caboose ladder run", 'name = "tables"'):
        assert text in page.text


def test_what_engines_call_themselves_stays_text(played: Path, page: PageReader) -> None:
    html = (played / "report.html").read_text()
    assert "<script" not in html  # read_page knows no script either
    assert page.text.count(EVIL) > 5


def test_figures_are_those_of_the_standings(played: Path, page: PageReader, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ladder", "standings", str(played), "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    stood, pairs = by_name(page.tables[0]), by_name(page.tables[1])
    labels = [entry["label"] for entry in data["entries"]]
    assert list(stood) == list(pairs) == labels == page.tables[1][0][1:]
    for row, entry in enumerate(data["entries"]):
        cells = stood[entry["label"]]
        rating, margin = (float(cells[at].split(" ")[0].replace("\u2212", "-")) for at in (0, 2))
        assert rating == pytest.approx(entry["rating"]["value"], abs=0.51)
        assert margin == pytest.approx(entry["margin"]["value"], abs=0.051)
        assert cells[5:] == [f"{entry['blocks']}", f"{entry['games']}", f"{sum(entry['faults'].values())}"]
        for column, likely in enumerate(data["superiority"][row]):
            if column != row:
                assert pairs[entry["label"]][column].endswith(likelihood(likely))
    for seats in data["seats"]:
        assert f"Seats at tables of {seats['seats']}" in page.text
    faults = sum(sum(entry["faults"].values()) for entry in data["entries"])
    assert f"{faults} faults in {data['tainted']} games" in page.text
    assert f"{data['games']} games in {data['blocks']} blocks" in page.text


def test_engines_and_lists_are_told(page: PageReader) -> None:
    engines, lists = page.tables[-2], by_name(page.tables[-1])
    assert {"greedy", "planner", "broken", EVIL, "random"} == {row[0] for row in engines[1:]}
    assert re.search(r"\b[0-9a-f]{16}\b", " ".join(by_name(engines)["greedy"]))
    assert lists["tables"][0].startswith("random, 3 players")
    assert lists["tables"][2] == "12 of 12"


def test_one_list_alone_and_another_file(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert run(["ladder", "report", str(played), "--list", "pairs", "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: the report\n"
    read = read_page(target.read_text())
    assert "Seats at tables of 2" in read.text and "Seats at tables of 3" not in read.text


def test_pictures(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    call = [
        "ladder",
        "report",
        str(played),
        "--list",
        "pairs",
        "-o",
        os.devnull,
        "--plots",
        str(tmp_path / "new" / "plots"),
    ]
    assert run(call) == 0
    names = sorted(path.name for path in (tmp_path / "new" / "plots").iterdir())
    assert names == [f"{name}.{kind}" for name in ("margins", "ratings", "seats", "times") for kind in ("png", "svg")]


def test_without_matplotlib_pictures_say_what_is_missing(
    played: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert run(["ladder", "report", str(played), "--plots", "plots"]) == 2
    assert "pip install 'caboose[plots]'" in capsys.readouterr().err


def test_what_cannot_be_written_or_read(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (played / "report.html").read_bytes()
    for arguments, code, said in (
        ([str(tmp_path / "nowhere")], 2, "there is no ladder.toml, expected a ladder"),
        ([str(played), "-o", str(tmp_path / "no" / "page.html")], 2, "No such file or directory"),
        ([str(played), "-o", str(tmp_path)], 2, "Is a directory"),
        ([str(played), "-o", "/dev/full"], 1, "No space left on device"),
        ([str(played), "--list", "no"], 2, "no list 'no' has been played"),
    ):
        assert run(["ladder", "report", *arguments]) == code
        assert said in capsys.readouterr().err
    assert (played / "report.html").read_bytes() == before


@pytest.mark.parametrize("engines", [(), ("greedy",)])
def test_a_ladder_without_games(tmp_path: Path, engines: tuple[str, ...]) -> None:
    folder = tmp_path / "x"
    assert run(["ladder", "init", str(folder)]) == 0
    for engine in engines:
        assert run(["ladder", "add", str(folder), engine]) == 0
    assert run(["ladder", "report", str(folder)]) == 0
    read = read_page((folder / "report.html").read_text())
    assert "No block has been played yet" in read.text
    assert ("has not played" in read.text) == bool(engines)


def test_one_block_is_enough(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", {"players": 2, "blocks": 1, "name": "one"}, engines=("greedy", "planner"))
    play_all(tmp_path / "x")
    with open_store(tmp_path / "x") as store:
        spec = read_spec(tmp_path / "x")
        report = make_report(tmp_path / "x", spec, store, store.lists(), runner="pid 5", made="now", text="")
    read = read_page(report.page.html())
    assert "A run is playing now (pid 5)" in read.text and "too few blocks" in read.text
    assert "nan" not in read.text
    assert "too few blocks to say that it leads" in read.text and "99.9" not in read.text


def test_a_report_tells_of_one_moment(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x")
    with open_store(tmp_path / "x") as reader, open_store(tmp_path / "x", writing=True) as writer:
        with reader.snapshot():
            assert not reader.lists()
            writer.add_list("new", 2, "")
            assert not reader.lists()
        assert [row.name for row in reader.lists()] == ["new"]


def two_players(block: list[int], first: list[int], second: list[int], margin: list[float]) -> Games:
    """Games of two, with the margin of the first."""
    player, count = np.array([first, second], np.int32).T, len(block)
    both = np.array([margin, [-value for value in margin]], np.float32).T
    place = np.where(both > 0, 1, 2).astype(np.int16)
    won = (place == 1).astype(np.float32)
    return Games(np.array(block), player, place, both, won, won, np.ones((count, 2), np.bool_))


def test_margins_of_pairs_are_means_over_blocks() -> None:
    games = two_players([0, 0, 1, 1, 2], [0, 1, 0, 1, 2], [1, 0, 1, 0, 0], [4, -2, 1, 3, 5])
    pairs = pair_margins(games, 4)
    assert pairs.margin[0, 1] == -pairs.margin[1, 0] == pytest.approx((3 + -1) / 2)
    # Two blocks with means 3 and -1: t(0.975; 1 degree of freedom) = 12.706 times sqrt(8 / 2).
    assert pairs.half[0, 1] == pairs.half[1, 0] == pytest.approx(12.7062 * 2, rel=1e-4)
    assert pairs.margin[2, 0] == 5 and math.isnan(pairs.half[2, 0])
    assert math.isnan(pairs.margin[1, 2]) and math.isnan(pairs.margin[3, 0])
    assert pairs.blocks.tolist() == [[0, 2, 1, 0], [2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]


def test_margins_of_pairs_with_copies_at_the_table() -> None:
    scores, owners = [3.0, 10.0, 5.0, 20.0], [0, 1, 0, 2]  # a game of one round
    margin = []
    for seat, owner in enumerate(owners):
        others = [score for score, whose in zip(scores, owners, strict=True) if whose != owner]
        margin.append(sum(others) / len(others) - scores[seat])
    shape = np.ones((1, 4))
    games = Games(
        np.zeros(1, np.int64),
        np.array([owners], np.int32),
        shape.astype(np.int16),
        np.array([margin], np.float32),
        shape.astype(np.float32),
        shape.astype(np.float32),
        np.ones((1, 4), np.bool_),
    )
    pairs = pair_margins(games, 3)
    assert pairs.margin[0].tolist()[1:] == pytest.approx([10 - 4, 20 - 4])
    assert pairs.margin[1, 2] == pytest.approx(10)


def test_spreads_hold_all_games() -> None:
    games = ladder(np.linspace(-1, 1, 4), 4, 100, np.random.default_rng(3))
    found = spreads(games, 5)
    assert found.spreads[4] is None and len(found.edges) == BINS + 1
    for contestant, spread in enumerate(found.spreads[:4]):
        own = games.margin[games.player == contestant]
        assert spread is not None and spread.games == len(own) >= sum(spread.counts) > 0.97 * len(own)
        assert spread.mean == pytest.approx(float(own.mean()), abs=1e-4)
        assert spread.quantiles[2] == pytest.approx(float(np.median(own)), abs=1e-4)


def test_ratings_settle_in_the_order_in_which_blocks_ended() -> None:
    games = ladder(np.linspace(-1, 1, 4), 4, 100, np.random.default_rng(3))
    last = standings(games, 4)
    order = np.arange(100)[::-1].copy()
    found = settling(games, order, last)
    assert found[-1].standings is last and found[-1].blocks == 100
    blocks = [each.blocks for each in found]
    assert blocks == sorted(set(blocks)) and blocks[0] >= 8 and len(blocks) <= 10
    assert [each.games for each in found] == [4 * count for count in blocks]
    some = standings(games.select(games.block >= 100 - blocks[0]), 4)
    assert found[0].standings.contestants[1].rating.value == some.contestants[1].rating.value


def test_likelihoods_are_never_certain() -> None:
    told = [likelihood(value) for value in (0.0005, 0.25, 0.9749, 0.9995, math.nan)]
    assert told == ["< 0.1 %", "25.0 %", "97.5 %", "> 99.9 %", "\u2013"]


def test_the_ladder_of_make_ladder_gives_a_page(tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    recipe = makefile[makefile.index("\nladder:") :].partition("\n\n")[0]
    bots = re.findall(r"for bot in ([a-z ]+);", recipe)[0].split()
    folder = str(tmp_path / "ladder")
    for line in re.findall(r"\$\(BIN\)/caboose ([^|;\n]+)", recipe):
        for bot in bots if "$$bot" in line else bots[:1]:
            call = line.replace("$(LADDER)", folder).replace("$$bot", bot).split()
            # The same ladder, but two blocks of it, with less thought and without a process for each bot.
            more = {
                "init": ["--in-process"],
                "add-list": ["--nodes", "5"],
                "run": ["--blocks", "2", "--concurrency", "1"],
            }
            assert run([*call, *more.get(call[1], [])]) == 0
    read = read_page((tmp_path / "ladder" / "report.html").read_text())
    for name in (*bots, "mcts-level-3"):
        assert name in by_name(read.tables[-2])
    assert "8 games in 2 blocks" in read.text
