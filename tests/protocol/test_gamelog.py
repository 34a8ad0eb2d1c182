"""Logs: every line in and out with its stamp, what engines write to their standard error, and how they are read."""

from __future__ import annotations

import gzip
import io
import os
import re
import shlex
import threading
import time
from pathlib import Path

import pytest

from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.cli.main import run
from caboose.engine.bot_api import Limits
from caboose.engine.rules.rules import Rules
from caboose.protocol.process import gamelog
from caboose.protocol.process.gamelog import CAME, ERROR, NOTE, SENT, GameLog, LogError, LogLine, LogTorn, read_log
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.timing import TimeControl
from fault_engines import a_position, nothing_left
from players import contestants_of, engine_command, lineup_of, wait_until

RULES = Rules.of("family", 2, set=6, hand=6, rounds=1)


def lines_of(path: Path) -> list[LogLine]:
    with path.open("rb") as file:
        return [line for line in read_log(file, "x") if isinstance(line, LogLine)]


def texts(lines: list[LogLine], seat: int, mark: str) -> list[str]:
    return [line.text for line in lines if (line.seat, line.mark) == (seat, mark)]


def logged_match(tmp_path: Path, on_go: str = "pass", before: str = "") -> list[list[LogLine]]:
    """A block of greedy against an engine, and its logs."""
    logs = tmp_path / "logs"
    logs.mkdir()
    command = shlex.join(engine_command(tmp_path, on_go, before=before))
    lineup = lineup_of(contestants_of(["greedy"], [command], []), 2)
    plan = Plan(rules=RULES, lineup=lineup, control=TimeControl(movetime=60_000), seed=4, logs=logs)
    with Bench(plan) as bench:
        play_block(plan, bench, 6, lambda: None)
    paths = sorted(logs.iterdir())
    assert [path.name for path in paths] == ["block-00007-game-01.log.gz", "block-00007-game-02.log.gz"]
    return [lines_of(path) for path in paths]


def test_a_log_has_what_was_said(tmp_path: Path) -> None:
    """What an engine notes of its own input and output is what stands in its log."""
    heard = tmp_path / "heard"
    before = (
        "import sys\nclass Ear:\n    def __iter__(self): return self\n    def __next__(self):\n"
        "        line = self.file.readline()\n        if not line: raise StopIteration\n"
        f"        open({str(heard)!r}, 'a').write('> ' + line)\n        return line\n"
        "class Mouth:\n    def write(self, text):\n"
        f"        open({str(heard)!r}, 'a').write(''.join('< ' + line + chr(10) for line in text.splitlines()))\n"
        "        self.file.write(text)\n    def flush(self): self.file.flush()\n"
        "ear, mouth = Ear(), Mouth()\near.file, mouth.file = sys.stdin, sys.stdout\n"
        "sys.stdin, sys.stdout = ear, mouth\n"
    )
    games = logged_match(tmp_path, before=before)
    said = [
        f"{line.mark} {line.text}"
        for game in games
        for line in game
        if line.mark in (SENT, CAME) and _is_toys(game, line)
    ]
    assert said == heard.read_text(encoding="ascii").splitlines()
    for game in games:
        stamps = [line.time for line in game]
        assert stamps == sorted(stamps)
        assert not any(line.cut for line in game)


def _is_toys(game: list[LogLine], line: LogLine) -> bool:
    toy = next(line.seat for line in game if line.text == "id name toy")
    return line.seat == toy


def test_standard_error_and_faults_are_in_it(tmp_path: Path) -> None:
    on_go = "sys.stderr.write(f'thinking {asked}\\n'); sys.stderr.flush(); asked == 3 and 1 / 0"
    for game in logged_match(tmp_path, on_go):
        toy = next(line.seat for line in game if line.text == "id name toy")
        errors = texts(game, toy, ERROR)
        assert errors[:3] == ["thinking 1", "thinking 2", "thinking 3"]
        assert errors[-1] == "ZeroDivisionError: division by zero"
        (note,) = texts(game, toy, NOTE)
        told = (
            r"fault dead: it exited with code 1; last words: 'ZeroDivisionError: division by zero' \(toy.py, line \d+\)"
        )
        assert re.fullmatch(told, note)
        assert texts(game, 1 - toy, ERROR) == []


def test_without_a_log_nobody_here_reads_standard_error(tmp_path: Path) -> None:
    with nothing_left():
        before = threading.active_count(), len(os.listdir("/proc/self/fd"))
        with EngineProcess(engine_command(tmp_path)) as engine:
            assert threading.active_count() == before[0]
            assert len(os.listdir("/proc/self/fd")) == before[1] + 4  # input, output, control, the last words
            pipe = Path(f"/proc/{engine.pid}/fd/2").readlink()
            ours = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd > "2"
                    and os.path.lexists(f"/proc/self/fd/{fd}")}  # fmt: skip
            assert str(pipe).startswith("pipe:") and str(pipe) not in ours


def test_a_flood_of_errors_neither_stops_nor_fills_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamelog, "MOST", 100_000)
    log, position = GameLog([]), a_position()
    flood = (
        "import os, threading\ndef flood():\n    while True: os.write(2, b'x' * 999 + b'\\n')\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
    )
    with nothing_left():
        engine = EngineProcess(engine_command(tmp_path, before=flood))
        engine.log = log.seat(0)
        with engine:
            assert wait_until(lambda: log.seat(0).left_out > 0)
            assert engine.choose(position, Limits(movetime=60_000)) == position.legal_moves()[0]
    log.save(tmp_path / "log")
    lines = lines_of(tmp_path / "log")
    assert sum(len(line.text) for line in lines) < 300_000
    assert re.fullmatch(r"\d+ bytes more were not kept", lines[-1].text)


@pytest.mark.parametrize(("data", "most"), [(b"\n" * 1000, 4), (b"x", 622)])
def test_a_flood_counts_with_what_it_costs_to_keep(
    tmp_path: Path, data: bytes, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gamelog, "MOST", 100_000)
    log = GameLog([])
    for _ in range(1000):
        log.seat(0).put(time.monotonic(), CAME, data)
    assert log.seat(0).left_out == (1000 - most) * len(data)
    log.save(tmp_path / "log")
    assert sum(line.mark == CAME for line in lines_of(tmp_path / "log")) == (most * 1000 if len(data) > 1 else 1)


def test_a_long_log_is_compressed_in_parts_and_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamelog, "_MEMBER", 100)
    log = GameLog([])
    for number in range(50):
        log.seat(0).put(time.monotonic(), CAME, b"info nodes %d\nin" % number)
    log.save(tmp_path / "log")
    lines = [line.text for line in lines_of(tmp_path / "log")]
    assert lines == ["info nodes 0", *(f"ininfo nodes {number}" for number in range(1, 50)), "in"]


def test_stamps_are_those_of_the_referee(tmp_path: Path) -> None:
    log = GameLog([])
    begin = time.monotonic()
    engine = EngineProcess(engine_command(tmp_path, "time.sleep(0.1)"))
    engine.log = log.seat(0)
    with engine:
        engine.choose(a_position(), Limits(movetime=60_000))
        used = engine.last_time / 1000
    log.save(tmp_path / "log")
    lines = lines_of(tmp_path / "log")
    asked = next(line.time for line in lines if line.text.startswith("go "))
    answered = next(line.time for line in lines if line.text.startswith("bestmove "))
    assert 0.1 <= answered - asked <= used + 2e-6  # both are whole microseconds
    assert lines[-1].time <= time.monotonic() - begin


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain [text] ~", "plain [text] ~"),
        (b"back\\slash", r"back\\slash"),
        (b"\0\x7f\xff\r", r"\x00\x7f\xff\x0d"),
        ("Müller".encode(), r"M\xc3\xbcller"),
        (b"", ""),
    ],
)
def test_what_cannot_be_printed_is_escaped(tmp_path: Path, data: bytes, text: str) -> None:
    log = GameLog(["a \u00fc"])
    for piece in (data[:2], data[2:] + b"\n", data):  # in pieces, and without an end
        log.seat(1).put(time.monotonic(), CAME, piece)
    log.save(tmp_path / "log")
    with (tmp_path / "log").open("rb") as file:
        head = [line for line in read_log(file, "x") if isinstance(line, str)]
    assert (head[0], head[2]) == ("log 1", r"a \xc3\xbc")
    whole, *rest = lines_of(tmp_path / "log")
    assert (whole.seat, whole.mark, whole.text, whole.cut) == (1, CAME, text, False)
    assert [(line.text, line.cut) for line in rest] == ([(text, True)] if data else [])


def test_nothing_is_on_disk_before_the_block_is_over(tmp_path: Path) -> None:
    # Its games have the same deals.
    seen = f"import os\nif os.listdir({str(tmp_path / 'logs')!r}): sys.stderr.write('found')\n"
    for game in logged_match(tmp_path, before=f"import sys\n{seen}"):
        assert "found" not in [line.text for line in game]


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("kept")
    logged_match(folder, "sys.stderr.write('hm\\n')")
    return (folder / "logs" / "block-00007-game-01.log.gz").read_bytes()


@pytest.fixture
def a_log(tmp_path: Path, kept_log: bytes) -> Path:
    file = tmp_path / "block-00007-game-01.log.gz"
    file.write_bytes(kept_log)
    return file


def test_the_transcript(a_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["log", str(a_log)]) == 0
    head, _, body = capsys.readouterr().out.partition("\n\n")
    lines = lines_of(a_log)
    assert head.startswith("log 1\ndate 20")
    assert "\ngame block 7, game 1\n" in head and "\nplayer 1 " in head
    shown = body.splitlines()
    assert len(shown) == len(lines)
    assert re.fullmatch(r" +\d+\.\d{6} +\+0\.000000  [12] \w+ +-> caboose 1", shown[0])
    toy = next(line for line in lines if line.text == "id name toy").seat + 1
    assert any(re.search(rf"  {toy} toy +<- bestmove \d+ ", line) for line in shown)
    assert any(re.search(rf"  {toy} toy +!! hm$", line) for line in shown)

    assert run(["log", str(a_log), "--seat", str(toy)]) == 0
    only = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert len(only) == sum(line.seat == toy - 1 for line in lines)
    assert run(["log", str(a_log), "--seat", "3"]) == 1
    assert "has 2 seats" in capsys.readouterr().err


def test_a_log_is_plain_text_for_others(a_log: Path) -> None:
    text = gzip.decompress(a_log.read_bytes()).decode("ascii")
    assert re.search(r"^\d+\.\d{6} [12] < bestmove \d+ \S+$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("data", "code", "why"),
    [
        (b"", 2, "expected a log of a game"),
        (b"text", 2, "x.gz: not a log: Not a gzipped file"),
        (gzip.compress(b"game 1\n"), 2, "'game 1': expected a log of a game, which begins with 'log 1'"),
        (gzip.compress(b"log 1\n\n0.1 1 > x\n"), 2, "x.gz:3: '0.1 1 > x': expected SECONDS SEAT MARK TEXT"),
        (gzip.compress(b"log 1\nplayer one\n\n"), 0, ""),
    ],
)
def test_files_that_are_no_logs(
    tmp_path: Path, data: bytes, code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.gz"
    file.write_bytes(data)
    assert run(["log", str(file)]) == code
    assert why in capsys.readouterr().err


def test_a_log_that_is_torn_off_is_shown_as_far_as_it_goes(a_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = lines_of(a_log)
    data = a_log.read_bytes()
    a_log.write_bytes(data[: len(data) // 2])
    assert run(["log", str(a_log)]) == 1
    out, err = capsys.readouterr()
    assert re.search(r"the log is torn off after line \d+$", err.strip())
    assert 0 < len(out.partition("\n\n")[2].splitlines()) < len(whole)
    with pytest.raises(LogTorn):
        list(read_log(io.BytesIO(data[:-3]), "x"))
    assert issubclass(LogTorn, LogError)
