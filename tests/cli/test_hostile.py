"""No words from outside are markup, a terminal's commands, HTML or formulas, whoever says them and wherever they are
shown."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.live import Live
from rich.progress import Progress
from rich.table import Table

from caboose.arena.console.console import Console, Text, TextColumn, cut
from caboose.arena.console.output import Shown, json_text, put_error, put_line, put_notes
from caboose.arena.report.page import Cell, Column, Fact, Page
from caboose.arena.storage.csv_cells import cell
from caboose.arena.tuning.config import read_study
from caboose.cli.main import run
from caboose.protocol.notation.lines import printable
from caboose.protocol.records.records import PlayerRecord, record_text
from hostile import EVERY, HEARD, READ, check_json, check_page, check_table, check_terminal, engine_of, uncell
from kill_ladder import make_ladder, play_all
from record_samples import play_record

PAIR = {"name": "pairs", "players": 2, "blocks": 1, "nodes": 1}
each = pytest.mark.parametrize("words", EVERY.values(), ids=EVERY)
read = pytest.mark.parametrize("words", READ.values(), ids=READ)
heard = pytest.mark.parametrize("words", HEARD.values(), ids=HEARD)

Call = Callable[..., str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command; gives what it wrote, in which nothing may harm."""

    def called(*arguments: str | Path, codes: tuple[int, ...] = (0,), width: int | None = None) -> str:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        written = capsys.readouterr()
        assert code in codes, written.err
        check_terminal(written.out, width)
        check_terminal(written.err)
        return written.out + written.err

    return called


# ------------------------------------------------------------------------------------------------- the helpers


@given(st.text(), st.sampled_from(["", "\n"]))
def test_what_is_printable_is_seen(text: str, keep: str) -> None:
    shown = printable(text, keep)
    check_terminal(shown)
    assert printable(shown, keep) == shown, "once is enough"
    assert len(printable(text, most=10)) <= max(10, 10 * len(text[:10]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [/x] é 三 שלום", "plain [/x] é 三 שלום"),
        ("\x1b[1m\n\t\x9b", "\\x1b[1m\\n\\t\\x9b"),
        ("a\u202eb\u200b\U000e0041\ud800", "a\\u202eb\\u200b\\U000e0041\\ud800"),
        ("e\u0301", "e\u0301"),
        ("e" + 5 * "\u0301", "e\u0301\u0301\u0301\\u0301\\u0301"),
        ("\u3164\u2800", "\\u3164\\u2800"),
    ],
)
def test_how_it_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_words_are_cut() -> None:
    assert printable("x" * 50, most=10) == "xxxxxxx..." and printable("x" * 10, most=10) == "x" * 10
    assert cut("x" * 50, 10) == "xxxxxxx..." and cut("三" * 5, 10) == "三" * 5 and cut("三" * 6, 10) == "三三三..."


def rendered(*things: object) -> str:
    target = io.StringIO()
    console = Console(file=target, width=80, force_terminal=False)
    for thing in things:
        console.print(thing)
    return target.getvalue()


@each
def test_a_console_takes_words_as_they_are(words: str) -> None:
    table = Table(title=words, caption=words)
    table.add_column(words, footer=words)
    table.add_column("b")
    table.add_row(words, Text(words))
    text = rendered(words, Text(words), Text("a").append(words), Text.assemble((words, "bold"), words), table)
    check_terminal(text, 80)
    for part in words.split()[:3]:
        if part.isascii() and part.isprintable() and len(part) < 10:
            assert text.count(part) >= 4, "what looks like markup is shown"


@each
def test_what_rich_made_itself_is_looked_at_too(words: str) -> None:
    from rich.text import Text as RichText

    check_terminal(rendered(RichText(words)))


@each
def test_bars_and_live_views(words: str) -> None:
    target = io.StringIO()
    console = Console(file=target, width=80, force_terminal=False)
    with Progress(TextColumn("{task.description} {task.fields[more]}"), console=console) as bar:
        bar.add_task(words, more=words)
    with Live(words, console=console):
        pass
    check_terminal(target.getvalue(), 80)
    assert target.getvalue().strip()


@each
def test_lines(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    put_line(words)
    put_error(words)
    captured = capsys.readouterr()
    assert captured.out.count("\n") == captured.err.count("\n") == 1
    assert len(captured.err) <= 40_000
    check_terminal(captured.out + captured.err)
    put_notes(f"{words}\nend\n")
    Shown().write(words.encode("utf-8", "surrogatepass"))
    captured = capsys.readouterr()
    assert captured.err.endswith("\nend\n")
    check_terminal(captured.out + captured.err)


@each
def test_json_is_data(words: str) -> None:
    for indent in (None, 1):
        assert check_json(json_text({words: [words]}, indent=indent)) == {words: [words]}
    assert "é" in json_text("é")


@each
def test_cells_are_no_formulas_and_lose_nothing(words: str) -> None:
    assert uncell(cell(words)) == words.encode("utf-8", "backslashreplace").decode()
    for number in ("-3.5", "=1", "+1"):
        assert cell(number) == f"'{number}"
    assert cell("caboose") == "caboose"


@each
def test_pages(words: str) -> None:
    page = Page(words, lead=words, foot=words)
    part = page.section(f"a {words}")
    part.text(words)
    part.facts([Fact(words, words, words)])
    part.code(words)
    part.verdict("open", words)
    part.table([Column(words), Column("b")], [[words, Cell(text=words, below=words, code=True)]], caption=words)
    check_page(page.html(), words)


# ----------------------------------------------------------------------------------------------------- engines


@heard
def test_a_match_with_a_hostile_engine(words: str, tmp_path: Path, call: Call) -> None:
    command = shlex.join(engine_of(tmp_path, words))
    record, log = tmp_path / "games.txt", tmp_path / "log"
    told = call(
        "match", command, "random", "--players", "2", "--rounds", "1", "--nodes", "1", "--blocks", "1", "--seed", "1",
        "--record", record, "--log", log, width=80,
    )  # fmt: skip
    assert "hostile" in told or words[:4] in told
    for options in ([], ["--round", "1"], ["--event", "3"]):
        call("show", record, *options, width=80)
    call("verify", record)
    assert words[:100] in call("log", next(log.iterdir()))
    rows = check_table(call("convert", record, "--to", "csv"))
    assert len(rows) > 10
    check_json(call("convert", record, "--to", "jsonl").splitlines()[0])
    call("analyse", record, "--nodes", "1", width=80)


def test_a_hostile_answer(tmp_path: Path, call: Call) -> None:
    words = HEARD["all"]
    command = shlex.join(engine_of(tmp_path, words, answer=f"bestmove {words}", stderr="\x1b]0;t\x07 [/x]\u202e"))
    told = call(
        "match", command, "random", "--players", "2", "--rounds", "1", "--nodes", "1", "--blocks", "1", "--seed", "1",
        "--strict", codes=(1,), width=80,
    )  # fmt: skip
    assert "illegal" in told or "garbled" in told
    steps = ("--step", "start.name", "--step", "play.number")
    told = call("check", command, *steps, codes=(1,))
    assert "FAILED  play.number" in told and words[:10] in told
    check_json(call("check", command, *steps, "--json", codes=(1,)))


@heard
def test_a_ladder_with_a_hostile_engine(words: str, tmp_path: Path, call: Call) -> None:
    command = shlex.join(engine_of(tmp_path, words))
    folder = tmp_path / "ladder"
    call("ladder", "init", folder, "--seed", "1")
    call("ladder", "add", folder, command, "--name", "guest", "--option", f"Book={words}")
    call("ladder", "add", folder, "random")
    call("ladder", "add-list", folder, "main", "--players", "2", "--rounds", "1", "--nodes", "1", "--blocks", "1")
    call("ladder", "run", folder, width=80)
    told = call("ladder", "status", folder, width=80)
    assert words[:7] in told
    look_at(folder, call)
    check_json(call("ladder", "status", folder, "--json"))


def look_at(folder: Path, call: Call) -> None:
    """What a ladder has come to, by all its commands."""
    call("ladder", "standings", folder, "--times", width=80)
    call("ladder", "games", folder, width=80)
    call("ladder", "games", folder, "--faults", width=80)
    check_json(call("ladder", "standings", folder, "--json"))
    assert len(check_table(call("ladder", "export", folder))) > 1
    for line in call("ladder", "export", folder, "--to", "jsonl").splitlines():
        check_json(line)
    page = folder.parent / "page.html"
    call("ladder", "report", folder, "-o", page)
    check_page(page.read_text(encoding="utf-8"), "")


def test_other_commands_with_a_hostile_engine(tmp_path: Path, call: Call) -> None:
    words = HEARD["all"]
    command = shlex.join(engine_of(tmp_path, words))
    table = ("--players", "2", "--rounds", "1", "--nodes", "1")
    told = call("compare", command, "random", *table, "--max-blocks", "2", "--seed", "1", codes=(0, 1, 3))
    assert words[:100] in told
    check_json(
        call("compare", command, "random", *table, "--max-blocks", "2", "--seed", "1", "--json", codes=(0, 1, 3))
    )
    suite = tmp_path / "suite"
    suite.write_text("".join(json.dumps(line) + "\n" for line in one_position()))
    call("suite", "score", suite, command, "random", "--nodes", "1", codes=(0, 1), width=80)
    check_json(call("suite", "score", suite, command, "--nodes", "1", "--json", codes=(0, 1)))
    call("check", command, "--step", "start.name", "--step", "play.number", codes=(0, 1))


@heard
def test_a_study_of_hostile_choices(words: str, tmp_path: Path, call: Call) -> None:
    command = engine_of(tmp_path, words)
    (tmp_path / "score.py").write_text(
        "def score(options, sample):\n    print(chr(27) + ']0;t' + chr(7))\n    return float(sample % 3)\n"
    )
    path = tmp_path / "study.toml"
    path.write_text(
        f"format = 1\nseed = 1\nmethod = 'random'\nobjective = 'score.py:score'\nblocks = 20\n"
        f"[engine]\ncommand = {json.dumps(command)}\n[parameter.Kind]\n[parameter.Deep]\n[verify]\nblocks = 4\n"
    )
    told = call("tune", path, codes=(0, 1), width=80)
    assert "Kind" in told
    call("tune", path, "--status", codes=(0, 1))
    check_json(call("tune", path, "--status", "--json", codes=(0, 1)))
    check_page((read_study(path).folder / "report.html").read_text(encoding="utf-8"), "")


# ----------------------------------------------------------------------------------------------------- files


@read
def test_a_hostile_record(words: str, tmp_path: Path, call: Call) -> None:
    record = play_record()
    players = tuple([PlayerRecord(words, (("engine", words), ("option", words))) for _ in record.players])
    faults = tuple([replace(fault, detail=words) for fault in play_record(on_fault="forfeit").faults])
    text = record_text(replace(record, players=players, faults=faults, event=words, control=words))
    path = tmp_path / "games.txt"
    path.write_bytes(text.encode())
    call("show", path, width=80)
    call("show", path, "--event", "5", width=80)
    call("verify", path, codes=(0, 1))
    assert all(len(row) == 18 for row in check_table(call_bytes(call, tmp_path, path)))
    check_json(call("convert", path, codes=(0,)).splitlines()[0])
    call("analyse", path, "--nodes", "1", "--round", "1", "--seat", "1", width=80)
    check_json(call("analyse", path, "--nodes", "1", "--round", "1", "--seat", "1", "--json"))


def call_bytes(call: Call, folder: Path, path: Path) -> str:
    """What is converted to CSV, from a file: it may hold what a terminal must not see."""
    target = folder / "games.csv"
    call("convert", path, "-o", target)
    return target.read_bytes().decode("utf-8")


@read
def test_raw_bytes_in_records_and_logs(words: str, tmp_path: Path, call: Call) -> None:
    """Not as Caboose writes them."""
    raw = words.encode("utf-8", "surrogatepass")
    path = tmp_path / "file"
    text = record_text(play_record()).encode()
    for place in (b"date ", b"player 1 ", b"result "):
        path.write_bytes(text.replace(place, place + raw, 1))
        call("verify", path, codes=(0, 1))
        call("show", path, codes=(0, 1), width=None)
        call("convert", path, "-o", tmp_path / "games.csv", codes=(0, 1))
    path.write_bytes(
        gzip.compress(b"log 1\ndate " + raw + b"\nplayer 1 " + raw + b"\n\n0.000001 1 > go\n0.5 1 < " + raw + b"\n")
    )
    call("log", path, codes=(0, 2))
    path.write_bytes(
        gzip.compress(b"log 1\nplayer 1 " + raw + b"\n\n0.000001 1 > a " + raw.replace(b"\n", b" ") + b"\n")
    )
    call("log", path, codes=(0, 2))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small ladder in which an engine failed."""
    folder = tmp_path_factory.mktemp("ladder") / "x"
    make_ladder(folder, PAIR, engines=("random", "greedy"))
    play_all(folder)
    with sqlite3.connect(folder / "ladder.db") as base:
        base.execute("INSERT INTO faults SELECT 1, 0, 0, 1, 'crash', 'what', 1, 1, 0")
    base.close()
    return folder


@pytest.fixture
def stranger(played: Path, tmp_path: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """A copy of it, of which the database is to be changed."""
    folder = tmp_path / "ladder"
    folder.mkdir()
    for file in ("ladder.toml", "ladder.db"):
        (folder / file).write_bytes((played / file).read_bytes())
    base = sqlite3.connect(folder / "ladder.db")
    yield folder, base
    base.close()


@read
def test_a_strangers_ladder(words: str, stranger: tuple[Path, sqlite3.Connection], call: Call) -> None:
    folder, base = stranger
    words = words.encode("utf-8", "replace").decode()  # SQLite takes no half of a surrogate pair
    for column in ("name", "identity", "builtin", "engine", "version", "author", "since"):
        base.execute(f"UPDATE entries SET {column} = ? || CASE id WHEN 1 THEN '' ELSE id END", (words,))
    base.execute("UPDATE lists SET name = ?, setup = ?", (words, words))
    base.execute("UPDATE faults SET kind = ?, detail = ?", (words, words))
    base.execute("UPDATE blocks SET finished = ?", (words,))
    base.execute("INSERT OR REPLACE INTO meta VALUES ('caboose', ?)", (words,))
    base.commit()
    call("ladder", "status", folder, width=80)
    check_json(call("ladder", "status", folder, "--json"))
    call("ladder", "standings", folder, "--times", width=80)
    call("ladder", "games", folder, width=80)
    call("ladder", "games", folder, "--faults", width=80)
    check_json(call("ladder", "standings", folder, "--json"))
    target = folder / "games.csv"
    call("ladder", "export", folder, "-o", target)
    rows = check_table(target.read_bytes().decode())
    assert uncell(rows[1][0]) == words
    for line in call("ladder", "export", folder, "--to", "jsonl").splitlines():
        assert isinstance(found := check_json(line), dict) and found["list"] == words
    call("ladder", "export", folder, "--to", "records", codes=(0, 1))
    call("ladder", "standings", folder, "--list", "none", codes=(2,))
    call("ladder", "games", folder, "--engine", "none", codes=(2,))
    page = folder / "page.html"
    call("ladder", "report", folder, "-o", page)
    check_page(page.read_text(encoding="utf-8"), words)


@pytest.mark.parametrize("value", [b"\x00", 7, 1.5])
@pytest.mark.parametrize(
    ("table", "column"),
    [("entries", "name"), ("entries", "version"), ("lists", "name"), ("faults", "detail"), ("entries", "edition")],
)
def test_a_strangers_ladder_with_values_of_another_kind(
    table: str, column: str, value: object, stranger: tuple[Path, sqlite3.Connection], call: Call
) -> None:
    folder, base = stranger
    base.execute("PRAGMA ignore_check_constraints = 1")
    base.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
    base.commit()
    for command in ("status", "standings", "games", "export", "report"):
        call("ladder", command, folder, codes=(0, 1))


def test_a_list_whose_name_leads_elsewhere(stranger: tuple[Path, sqlite3.Connection], call: Call) -> None:
    folder, base = stranger
    (folder.parent / "secret.txt").write_text("secret")
    base.execute("UPDATE lists SET name = '../../secret'")
    base.execute("UPDATE blocks SET record = 0, length = 6")
    base.commit()
    assert "secret\n" not in call("ladder", "export", folder, "--to", "records", codes=(1,))


def test_hostile_descriptions(tmp_path: Path, call: Call) -> None:
    """In every place of ``ladder.toml`` and of a study where text may stand."""
    words = READ["all"]
    text = json.dumps(words.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
    folder = tmp_path / "ladder"
    engine = '[[engine]]\nname = "a"\n'
    for toml in (
        f"format = {text}",
        f"format = 1\nseed = {text}",
        f"format = 1\nseed = 1\n{text} = 1",
        f"format = 1\nseed = 1\n[[engine]]\nname = {text}\nbuiltin = 'random'",
        f"format = 1\nseed = 1\n{engine}builtin = {text}",
        f"format = 1\nseed = 1\n{engine}command = {text}",
        f"format = 1\nseed = 1\n{engine}command = [{text}]",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\noptions = {{ {text} = {text} }}",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = {text}",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = 'b'\nformat = {text}",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = 'b'\nengines = [{text}]",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = 'b'\npreset = {text}\n",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = 'b'\nrules = {{ {text} = {text} }}\n",
        f"format = 1\nseed = 1\n{engine}builtin = 'random'\n[[list]]\nname = 'b'\ntc = {text}\n",
    ):
        if not folder.exists():
            run(["ladder", "init", str(folder), "--seed", "1"])
        (folder / "ladder.toml").write_text(toml, encoding="utf-8")
        call("ladder", "status", folder, codes=(0, 1, 2))
        call("ladder", "add", folder, "greedy", codes=(0, 1, 2))
    study = tmp_path / "study.toml"
    head = "format = 1\nseed = 1\nmethod = 'spsa'\n"
    for toml in (
        f"method = {text}",
        f"{head}objective = {text}",
        f"{head}[engine]\nbuiltin = {text}",
        f"{head}[engine]\nbuiltin = 'mcts'\n[parameter.{text}]\nmin = 1\nmax = 5",
        f"{head}[engine]\nbuiltin = 'mcts'\n[parameter.WinBonus]\nmax = {text}",
        f"{head}objective = 'suite'\nsuite = {text}\n[engine]\nbuiltin = 'mcts'\n[parameter.WinBonus]\nmax = 5",
    ):
        study.write_text(toml, encoding="utf-8")
        call("tune", study, codes=(1, 2))


def one_position() -> tuple[dict[str, Any], dict[str, Any]]:
    """The header of a suite, and its position."""
    packed = files("caboose.arena.suite").joinpath("standard.jsonl.gz").read_bytes()
    head, first = gzip.decompress(packed).splitlines()[:2]
    return {**json.loads(head), "positions": 1}, json.loads(first)


@read
def test_hostile_suites(words: str, tmp_path: Path, call: Call) -> None:
    header, position = one_position()
    path = tmp_path / "suite.jsonl"
    score = ("suite", "score", path, "greedy", "--nodes", "1")
    for changed in (
        ({**header, "source": words, "caboose": words, "options": {words: words}}, position),
        ({**header, words: 1}, position),
        ({**header, "suite": words}, position),
        (header, {**position, "deal": words}),
        (header, {**position, "rules": words}),
        (header, {**position, "events": words}),
        (header, {**position, "phase": words}),
        (header, {**position, "losses": {words: [0, 0]}}),
        (header, {**position, words: 1}),
    ):
        path.write_text("".join(json.dumps(line) + "\n" for line in changed))
        call(*score, codes=(0, 1))
        call(*score, "--json", codes=(0, 1))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"suite": 1' + "0" * 4000 + "}"])
def test_deep_and_large_values(text: str, tmp_path: Path, call: Call) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    call("suite", "score", path, "greedy", "--nodes", "1", codes=(1,))
    path.write_text(f"a = {text[:50_000]}")
    call("tune", path, codes=(2,))
    (tmp_path / "ladder.toml").write_text(f"a = {text[:50_000]}")
    call("ladder", "status", tmp_path, codes=(2,))


# ------------------------------------------------------------------------------------------------------- calls


def test_hostile_arguments(tmp_path: Path, call: Call) -> None:
    words = READ["all"]
    # As the system gives a program what is no UTF-8; it has no NUL.
    words = words.replace("\0", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    wrong = (1, 2, 3)
    for command in ("analyse", "convert", "log", "show", "verify", "tune", "check", "bench"):
        call(command, f"./{words}"[:200], codes=wrong)
    for arguments in (
        ["match", words, "random"],
        ["match", "random", "greedy", "--name", f"1={words}"],
        ["match", "random", "greedy", "--option", words],
        ["match", "random", "greedy", "--option", f"1.{words}={words}"],
        ["match", "random", "greedy", "--seed", words],
        ["match", "random", "greedy", "--preset", words],
        ["match", "random", "greedy", "--rule", f"{words}={words}"],
        ["match", "random", "greedy", "--tc", words],
        ["match", "random", "greedy", "--rounds", words],
        ["match", "random", "greedy", "--nodes", words],
        ["match", "random", "greedy", f"--{words}"],
        ["compare", words, "random"],
        ["compare", "random", "greedy", "--elo0", words],
        ["power", words],
        ["perft", words],
        ["suite", words],
        ["suite", "score", words, "random"],
        ["suite", "score", "standard", words],
        ["check", "--option", words, "true"],
        ["check", "--step", words, "true"],
        ["engine", words],
        ["rules", f"--players={words}"],
        ["convert", "--to", words, os.devnull],
        ["ladder", words],
        ["ladder", "status", f"./{words}"[:200]],
        ["ladder", "add", str(tmp_path), words],
        [words],
        [f"--{words}"],
    ):
        call(*arguments, codes=wrong)
