"""The report of a comparison: a page from its state, whether it is over, was interrupted or has hardly begun."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from caboose.arena.compare.kept import is_comparison, read_kept
from caboose.arena.compare.run import KEY
from caboose.arena.ladder.edit import init
from caboose.arena.stats.sprt import CONTINUE, State
from caboose.arena.storage.ladder_folder import DATABASE, locked
from caboose.cli.main import run
from page_reader import PageReader, read_page

CALL = "compare planner greedy --in-process --nodes 1 --rounds 1 --players 4 --seed 7 --pips1 9.00000001"
SECTIONS = ["Summary", "Likelihood", "Gain", "Blocks", "Results", "Faults", "Who played", "To do it again"]
EVIL = "<script>alert('x')</script> [/x] \x1b[31m \u202egnp"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison that has come to its verdict."""
    folder = tmp_path_factory.mktemp("comparison") / "x"
    assert run([*CALL.split(), "--state", str(folder)]) in (0, 1)
    return folder


def page_of(path: Path) -> PageReader:
    return read_page(path.read_text(encoding="utf-8"))


def change(folder: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(sql, values)


def copy_of(state: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / DATABASE).write_bytes((state / DATABASE).read_bytes())
    return folder


def test_the_page_says_what_the_summary_says(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of(state / "report.html")
    assert [text for level, text in page.headings if level == 2] == SECTIONS
    capsys.readouterr()
    run([*CALL.split(), "--state", str(state), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert f"{data['verdict']} accepted" in page.text
    assert f"{data['blocks']:,}" in page.text and "Seed: 7" in page.text and "5 %" not in page.text.split("Blocks")[0]
    assert f"{data['llr']:+.2f}".replace("-", "\N{MINUS SIGN}") in page.text
    won = next(table for table in page.tables if table[0][1:4] == ["pairs won", "tied", "lost"])
    counts = [int(cell.split()[0].replace(",", "")) for cell in won[1][1:4]]
    assert counts == list(data["pairs"].values())
    assert re.search(r"\d+ of \d+ blocks \(\d+\.\d %\) were even", page.text)
    # The hypotheses have all their digits, and the judgement is that of the run.
    kept = read_kept(state)
    assert kept.found.comparison.bounds.high == 9.00000001
    assert (kept.found.verdict, kept.found.llr, kept.found.tally.blocks) == (
        data["verdict"], data["llr"], data["blocks"],
    )  # fmt: skip
    assert State().with_blocks(kept.judge.values) == kept.judge.state


def test_a_state_can_be_reported_at_any_time(state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = tmp_path / "short", tmp_path / "page.html"
    short = [*CALL.split(), "--state", str(folder), "--max-blocks", "3", "--report", str(page)]
    assert run(short) == 3
    assert f"Report     {page}" in capsys.readouterr().out
    assert "Undecided (not more than 3 blocks)" in page_of(page).text
    assert not (folder / "report.html").exists()
    # While it plays, and as an older Caboose has kept it, without the call and with fewer digits.
    change(folder, "DELETE FROM meta WHERE key IN ('test', 'call')")
    with locked(folder):
        assert run(["ladder", "report", str(folder)]) == 0
    text = page_of(folder / "report.html").text
    assert "A run is playing now (pid" in text
    assert "Undecided (its blocks so far)" in text
    assert "caboose compare" not in text
    # One block, and none.
    for blocks in (1, 0):
        change(folder, "DELETE FROM games WHERE block > ?", blocks)
        change(folder, "DELETE FROM blocks WHERE id > ?", blocks)
        assert run(["ladder", "report", str(folder), "-o", str(page)]) == 0
        titles = [text for level, text in page_of(page).headings if level == 2]
        assert titles == [title for title in SECTIONS if title not in ("Likelihood", "Gain", "Blocks")]


def test_words_of_engines_are_text(state: Path, tmp_path: Path) -> None:
    folder = copy_of(state, tmp_path / "evil")
    change(folder, "UPDATE entries SET name = ? || id, engine = ?, builtin = '', version = ?", EVIL, EVIL, EVIL)
    change(folder, "INSERT INTO faults SELECT 1, 0, 0, 1, ?, ?, 1, 1, 0", EVIL, EVIL)
    settings = read_kept(state).settings | {"A": EVIL, "B": EVIL, "the time": EVIL}
    change(folder, "UPDATE meta SET value = ? WHERE key = ?", json.dumps(settings), KEY)
    change(folder, "UPDATE meta SET value = ? WHERE key = 'call'", f"caboose {EVIL}")
    assert run(["ladder", "report", str(folder)]) == 0
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in html and "\x1b" not in html and "\u202e" not in html
    assert "alert('x')" in read_page(html).text


def test_states_that_cannot_be_reported(state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ladder = tmp_path / "ladder"
    init(ladder, 1, in_process=True, records=False, logs=False)
    assert not is_comparison(ladder) and is_comparison(state) and not is_comparison(tmp_path / "none")
    broken = {
        "json": ("UPDATE meta SET value = '[' WHERE key = ?", "damaged"),
        "none": ("UPDATE meta SET value = '{}' WHERE key = ?", "has not begun|damaged"),
        "list": ("UPDATE meta SET value = '[1, 2]' WHERE key = ?", "has not begun|damaged"),
        "rules": (
            "UPDATE meta SET value = replace(value, 'family players=4', 'family players=99') WHERE key = ?", "damaged",
        ),
    }  # fmt: skip
    for name, (sql, says) in broken.items():
        folder = copy_of(state, tmp_path / name)
        change(folder, sql, KEY)
        assert run(["ladder", "report", str(folder)]) == 1
        assert re.search(says, capsys.readouterr().err), name
    folder = copy_of(state, tmp_path / "new")
    for table in ("games", "blocks", "lists", "entries"):
        change(folder, f"DELETE FROM {table}")
    assert run(["ladder", "report", str(folder)]) == 1
    assert "the comparison has not begun" in capsys.readouterr().err
    assert run(["ladder", "report", str(state), "--list", "x"]) == 2
    assert "which has no lists" in capsys.readouterr().err


def test_reports_that_cannot_be_written(state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {
        "--report x.html": "--report: expected together with --state",
        f"--state {state} --report {tmp_path}": "this is a folder",
        f"--state {state} --report -": "the summary is on standard output",
        f"--state {state} --report {tmp_path}/none/x.html": "there is no folder",
    }
    for more, says in wrong.items():
        assert run([*CALL.split(), *more.split()]) == 2
        assert says in " ".join(capsys.readouterr().err.split())
    # What goes wrong at the end does not take the answer away.
    folder = copy_of(state, tmp_path / "full")
    (folder / "report.html").mkdir()
    verdict = read_kept(state).found
    assert run([*CALL.split(), "--state", str(folder)]) == (0 if verdict.better else 1)
    assert verdict.verdict != CONTINUE
    assert "the report was not written" in capsys.readouterr().err
