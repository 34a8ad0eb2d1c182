"""``caboose show`` as people meet it: keys, the terminal before and after, and what is printed where there is none."""

from __future__ import annotations

import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.errors import CallError
from caboose.arena.viewer import record_index as recordfile
from caboose.arena.viewer.draw import Pen
from caboose.arena.viewer.help import help_lines
from caboose.arena.viewer.record_index import RecordFile
from caboose.arena.viewer.terminal import split_keys
from caboose.arena.viewer.viewer import BINDINGS, PACES, Place, Viewer
from caboose.cli.main import run
from caboose.engine.rules.rules import Rules
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord, RecordError, record_text
from record_samples import SMALL, play_record

LONG = 20.0  # seconds after which a test gives up waiting
GAMES = [record_text(play_record(SMALL, seed)) for seed in (1, 2, 3)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of three games."""
    path = tmp_path / "three.games"
    path.write_text("".join(GAMES), encoding="utf-8")
    return path


@pytest.fixture
def viewer(file: Path) -> Iterator[Viewer]:
    with RecordFile(file) as records:
        records.has(1)
        yield Viewer(records, Place())


def press(viewer: Viewer, *keys: str) -> str:
    """The screen after some keys."""
    for key in keys:
        viewer.press(key)
    return "\n".join(line.plain.rstrip() for line in viewer.lines(Pen(80), 24))


def where(text: str) -> tuple[int, int, int]:
    """Game, round and event that a screen is about."""
    match = re.search(r"game (\d+).*\n Round (\d+) of.* event (\d+) of", text)
    assert match, text
    return int(match[1]), int(match[2]), int(match[3])


# ---------------------------------------------------------------------------------------------------- the keys


def test_events_and_rounds(viewer: Viewer) -> None:
    assert where(press(viewer)) == (1, 1, 0)
    assert where(press(viewer, "right", "l", "enter")) == (1, 1, 3)
    assert where(press(viewer, "left", "h")) == (1, 1, 1)
    assert where(press(viewer, "page down")) == (1, 2, 0)
    assert where(press(viewer, "right", "page up")) == (1, 2, 0)
    assert where(press(viewer, "R")) == (1, 1, 0)
    assert "first round" in press(viewer, "R")
    assert where(press(viewer, "r", "r")) == (1, 3, 0)
    assert "last round" in press(viewer, "r")


def test_the_ends_of_rounds_and_games(viewer: Viewer) -> None:
    _, _, total = where(press(viewer, "end"))
    assert total > 10
    assert "The round is over" in press(viewer)
    assert where(press(viewer, "right")) == (1, 2, 0)
    assert where(press(viewer, "left")) == (1, 1, total)
    text = press(viewer, "G", "G")
    assert where(text)[:2] == (1, 3) and "the game" in text
    assert "end of the game" in press(viewer, "right")
    assert "end of the game" not in press(viewer, "a")
    assert where(press(viewer, "home")) == (1, 3, 0)
    assert where(press(viewer, "g")) == (1, 1, 0)
    assert "beginning of the game" in press(viewer, "left")


def test_turns(viewer: Viewer) -> None:
    """Each step goes to where another seat comes, or the round ends; back goes the same way."""
    places = [where(press(viewer))]
    while places[-1][1] == 1:
        places.append(where(press(viewer, "down")))
    assert places[-1] == (1, 2, 0)
    record = play_record(SMALL, 1)
    events = [entry.event for entry in record.rounds[0].events]
    for _, _, event in places[1:-2]:
        assert events[event].seat != events[event - 1].seat
    assert places[-2][2] == len(events)
    back = [where(press(viewer, "k")) for _ in places[1:]]
    assert back == places[-2::-1]


def test_games(viewer: Viewer) -> None:
    assert "game 1 of 3" in press(viewer)
    assert where(press(viewer, "right", "n")) == (2, 1, 0)
    assert where(press(viewer, ">")) == (3, 1, 0)
    assert "last game" in press(viewer, "n")
    assert where(press(viewer, "<", "p")) == (1, 1, 0)
    assert "first game" in press(viewer, "p")


def test_hands(viewer: Viewer) -> None:
    record = play_record(SMALL, 1)
    hands = [{f"{tile.low}│{tile.high}" for tile in hand} for hand in record.rounds[0].deal.hands]

    def seen(text: str) -> list[int]:
        return [seat for seat, tiles in enumerate(hands) if all(tile in text for tile in tiles)]

    starter = record.rounds[0].starter
    assert seen(press(viewer)) == [starter]
    assert seen(press(viewer, "a")) == [0, 1, 2]
    assert seen(press(viewer, "a")) == [starter]
    assert seen(press(viewer, "x")) == []
    assert seen(press(viewer, "x")) == [starter]
    assert [seen(press(viewer, "s")) for _ in range(4)] == [[0], [1], [2], [starter]]
    assert seen(press(viewer, "S")) == [2]
    assert seen(press(viewer, "2")) == [1]
    assert seen(press(viewer, "9")) == [1]


def test_playing_by_itself(viewer: Viewer) -> None:
    assert viewer.pace is None
    assert "▶ 1 s" in press(viewer, "space")
    assert viewer.pace == 1.0
    viewer.tick()
    assert where(press(viewer)) == (1, 1, 1)
    press(viewer, "+", "+", "+", "+", "+", "a")
    assert viewer.pace == min(PACES)
    press(viewer, *"-" * 9)
    assert viewer.pace == max(PACES)
    press(viewer, "right")
    assert viewer.pace is None
    press(viewer, "space", "space")
    assert viewer.pace is None
    press(viewer, "end", "end", "space")
    viewer.tick()
    assert viewer.pace is None, "it stops at the end of the game"


def test_help_and_quit(viewer: Viewer) -> None:
    assert " Keys" in press(viewer, "?")
    assert where(press(viewer, "right")) == (1, 1, 0), "a key leaves the help and does nothing else"
    press(viewer, "q")
    assert viewer.done


def test_the_help_has_every_key() -> None:
    told = " ".join(line.plain[:20] for line in help_lines(Pen(80), 24)).lower()
    words = told.replace("pgdn", "page-down").replace("pgup", "page-up").split()
    hidden = {"enter", "backspace", "=", "escape"}  # as everybody expects; and + without the shift key
    keys = {key.replace(" ", "-").lower() for binding in BINDINGS for key in binding.keys}
    assert keys - set(words) == hidden


def test_any_keys_in_any_order(viewer: Viewer) -> None:
    chance = random.Random(1)
    keys = [key for binding in BINDINGS for key in binding.keys if "q" not in binding.keys] + [*"123456789zäQ"]
    for number in range(1500):
        viewer.press(chance.choice(keys))
        if number % 5 == 0:
            viewer.tick()
            lines = viewer.lines(Pen(chance.choice((80, 120))), 24)
            assert len(lines) == 24 and max(line.cell_len for line in lines) <= 120


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"jk", ["j", "k"]),
        (b"\x1b[A\x1b[B\x1bOC\x1b[D", ["up", "down", "right", "left"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~", ["page up", "page down", "home", "end", "home", "end"]),
        (b"\x1b[1;5C", ["right"]),
        (b"\x1b[3~\x1b[15~\x1b[200~", []),  # Delete, F5, the beginning of pasted text
        (b"\x1b", ["escape"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"\x1bj", []),  # Alt-J
        (b" \r\n\x7f\x08", ["space", "enter", "enter", "backspace", "backspace"]),
        ("jäk".encode(), ["j", "k"]),
        (b"\x00\x01\xff", []),
        (b"\x1b[", ["escape", "["]),
    ],
)
def test_keys_from_bytes(data: bytes, keys: list[str]) -> None:
    assert split_keys(data, more=False) == (keys, b"")
    found, rest = [], b""
    for i in range(len(data)):  # byte by byte, as over a slow line
        some, rest = split_keys(rest + data[i : i + 1], more=True)
        found += some
    assert found + split_keys(rest, more=False)[0] == keys


# ------------------------------------------------------------------------------------------------ the terminal


class Window:
    """The command in a terminal of its own."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (24, 80), env: dict[str, str] | None = None) -> None:
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.before = self.modes()
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "caboose.cli.main", *arguments],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - there are no threads here
            env=environment | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | (env or {}),
        )
        self.heard = ""

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.slave)

    def type(self, keys: bytes) -> None:
        self.heard = ""
        os.write(self.master, keys)

    def wait_for(self, text: str) -> str:
        """All that was written since the last key, as soon as ``text`` is in it."""
        return self.wait_until(lambda: text in self.plain(), f"{text!r} was not shown")

    def wait_until(self, condition: Callable[[], object], otherwise: str) -> str:
        end = time.monotonic() + LONG
        while not condition():
            assert time.monotonic() < end, f"{otherwise}: {self.heard!r}"
            if select.select([self.master], [], [], 0.05)[0]:
                self.heard += os.read(self.master, 65_536).decode("utf-8", "replace")
        return self.heard

    def plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.heard)

    def end(self) -> int:
        """Waits for the end; returns the exit code. The terminal must be as it was before."""
        self.wait_until(lambda: self.process.poll() is not None, "it does not end")
        while select.select([self.master], [], [], 0)[0]:
            self.heard += os.read(self.master, 65_536).decode("utf-8", "replace")
        assert self.modes() == self.before
        assert self.heard.count("\x1b[?1049l") == 1 and self.heard.count("\x1b[?25h") == 1
        return self.process.returncode


@contextmanager
def window(*arguments: str, **options: Any) -> Iterator[Window]:
    made = Window(*arguments, **options)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        for end in (made.master, made.slave):
            with suppress(OSError):
                os.close(end)


def test_a_session(file: Path) -> None:
    with window("show", str(file), "--game", "2", "--round", "2", "--event", "3", "--all") as it:
        first = it.wait_for("q quit")
        assert first.startswith("\x1b[?1049h\x1b[?25l"), "the other screen, no cursor"
        assert it.modes() != it.before
        assert "game 2 of 3" in it.plain() and "Round 2 of 3" in it.plain() and "event 3 of" in it.plain()
        it.type(b"\x1b[C")
        it.wait_for("event 4 of")
        it.type(b"\x1b[5~\x1b[5~")
        it.wait_for("Round 1 of 3")
        it.type(b"p")
        it.wait_for("game 1 of 3")
        it.type(b" ")
        it.wait_for("event 1 of")
        it.type(b"q")
        assert it.end() == 0
        assert it.heard.endswith("\x1b[?25h\x1b[?1049l")


def test_escape_alone_quits(file: Path) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        it.type(b"\x1b")
        assert it.end() == 0


def test_ctrl_c(file: Path) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        it.type(b"\x03")
        assert it.end() == 1
        assert "caboose: interrupted" in it.heard and "Traceback" not in it.heard


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals(file: Path, number: signal.Signals) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        it.process.send_signal(number)
        assert it.end() == 1
        assert "Traceback" not in it.heard


def test_a_terminal_that_goes_away(file: Path) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        os.close(it.slave)
        os.close(it.master)
        assert it.process.wait(LONG) in (0, 1)


def test_stopping_and_going_on(file: Path) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        it.type(b"\x1a")
        stopped: list[int] = []

        def has_stopped() -> bool:
            pid, status = os.waitpid(it.process.pid, os.WUNTRACED | os.WNOHANG)
            stopped.extend([status] * (pid != 0))
            return bool(stopped) and os.WIFSTOPPED(stopped[0])

        it.wait_until(has_stopped, "it does not stop")
        it.wait_for("")
        assert it.modes() == it.before
        it.heard = ""
        it.process.send_signal(signal.SIGCONT)
        assert "\x1b[?1049h" in it.wait_for("q quit")
        it.type(b"q")
        assert it.end() == 0


def test_another_size(file: Path) -> None:
    with window("show", str(file)) as it:
        it.wait_for("q quit")
        it.heard = ""
        it.resize(30, 100)
        it.wait_for("━" * 100 if "━" in it.heard else "─" * 100)
        it.heard = ""
        it.resize(10, 40)
        it.wait_for("Make the window larger")
        it.type(b"q")
        assert it.end() == 0


def test_colours_only_where_they_are_wanted(file: Path) -> None:
    with window("show", str(file)) as it:
        assert re.search(r"\x1b\[[0-9;]*(4|10)[0-7]m", it.wait_for("q quit")), "a tile has a ground"
    with window("show", str(file), env={"NO_COLOR": "1"}) as it:
        codes = re.findall(r"\x1b\[([0-9;]*)m", it.wait_for("q quit"))
        assert codes
        assert {number for code in codes for number in code.split(";")} <= {"0", "1", "2", "4", "7"}


def test_terminals_without_utf8_get_ascii(file: Path) -> None:
    with window("show", str(file), env={"PYTHONIOENCODING": "ascii"}) as it:
        assert it.wait_for("q quit").isascii()


def test_a_damaged_game_is_named_and_the_others_are_there(tmp_path: Path) -> None:
    path = tmp_path / "damaged.games"
    path.write_text(GAMES[0].replace("\nresult ", "\nresalt ") + GAMES[1], encoding="utf-8")
    with window("show", str(path)) as it:
        assert "cannot be read" in it.wait_for("q quit")
        it.type(b"n")
        it.wait_for("game 2 of 2")
        it.type(b"q")
        assert it.end() == 0


# ------------------------------------------------------------------------------------------------- no terminal


def caboose(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "caboose.cli.main", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["show", *arguments]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "\x1b" not in told.out and max(map(len, told.out.splitlines())) <= 80
    return told.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    assert run(["show", *arguments]) == code
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("caboose: ") and told.err.count("\n") == 1
    return told.err


def test_without_a_terminal_it_prints(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = printed(capsys, str(file))
    for word in ("a test, game 1", "Round 1 of 3", "Round 3 of 3", "wins the game", "plays", "draws"):
        assert word in whole
    second = printed(capsys, str(file), "--game", "2", "--round", "2")
    assert "game 2" in second and "Round 2 of 3" in second and "Round 1" not in second
    assert "--game" not in second
    moment = printed(capsys, str(file), "--round", "2", "--event", "5")
    assert "event 5 of" in moment and moment.count("\n") < 30
    assert " moves " in printed(capsys, str(file), "--event", "1", "--all") or "cannot play" in moment


def test_the_standard_input_can_be_shown(file: Path) -> None:
    told = caboose("show", "-", "--game", "3", stdin=file.read_bytes())
    assert told.returncode == 0 and b"a test, game 3" in told.stdout and b"\x1b" not in told.stdout


def test_hands_that_are_not_to_be_seen_are_not_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "draws a tile" not in printed(capsys, str(file))
    assert "draws a tile" in printed(capsys, str(file), "--seat", "2")
    assert not re.search(r"draws \d", printed(capsys, str(file), "--none"))


def test_wrong_calls(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(file)
    assert "--game 4: expected 1 to 3" in refused(capsys, name, "--game", "4")
    assert "--game 0: expected 1 to 3" in refused(capsys, name, "--game", "0")
    assert "--round 4: expected 1 to 3 in game 2" in refused(capsys, name, "--game", "2", "--round", "4")
    assert "--event 9999: expected 0 to " in refused(capsys, name, "--event", "9999")
    assert "--event -1: expected 0 to " in refused(capsys, name, "--event", "-1")
    assert "--seat 4: expected 1 to 3" in refused(capsys, name, "--seat", "4")
    assert "--seat 0: expected 1 to 3" in refused(capsys, name, "--seat", "0")
    assert "--seat and --all are given" in refused(capsys, name, "--seat", "1", "--all")
    assert "No such file" in refused(capsys, str(tmp_path / "none"))
    assert "directory" in refused(capsys, str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"\n# nothing\n", b"hello\nworld\n", b"\x00\xff" * 1000, b"games 1\n"])
def test_files_without_a_game(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert "there is no game in it" in refused(capsys, str(path), code=1)


def test_damaged_games_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "damaged.games"
    path.write_text(GAMES[0] + GAMES[1].replace("\nresult ", "\nresalt "), encoding="utf-8")
    (error,) = [found for found in read_records(path) if isinstance(found, RecordError)]
    assert refused(capsys, str(path), "--game", "2", code=1) == f"caboose: {error}\n"
    path.write_text(GAMES[0] + GAMES[1][:-100], encoding="utf-8")
    (error,) = [found for found in read_records(path) if isinstance(found, RecordError)]
    assert refused(capsys, str(path), "--game", "2", code=1) == f"caboose: {error}\n"


def test_a_closed_pipe_is_no_error(file: Path) -> None:
    told = subprocess.run(
        f"{sys.executable} -m caboose.cli.main show {file} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.stdout.count("\n") == 1 and told.stderr == ""


# -------------------------------------------------------------------------------------- finding games in files


@pytest.mark.parametrize("chunk", [*range(40, 70), 101, 1 << 20])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_games_are_found_wherever_they_begin(
    chunk: int, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = [record_text(replace(play_record(Rules.of("classic", 2, set=6, hand=3, rounds=1), s))) for s in range(5)]
    text = (
        f"\ufeff{small[0]}\n\n# game 9 is no game\n{small[1].removesuffix(chr(10))}{small[2]}# x\n"
        f"\ufeff{small[3]}game 7\nnonsense\n  {small[4]}gamegame\nevent game 1\n"
    ).replace("\n", ending)
    path = tmp_path / "games"
    path.write_bytes(text.encode())
    monkeypatch.setattr(recordfile, "_CHUNK", chunk)
    wanted = [found for found in read_records(path) if isinstance(found, GameRecord) or found.begun]
    with RecordFile(path) as records:
        assert records.complete and records.found == len(wanted) == 6
        for number in (3, 1, 6, 2, 5, 4):
            assert records.game(number) == wanted[number - 1]
        assert not records.has(7) and not records.has(0)


def test_large_files_are_searched_only_as_far_as_needed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordfile, "_SEARCHED_AT_ONCE", 0)
    monkeypatch.setattr(recordfile, "_CHUNK", 1024)
    with RecordFile(file) as records:
        assert records.has(1) and records.found == 1 and not records.complete
        viewer = Viewer(records, Place())
        assert "game 1\n" in press(viewer) and "game 2\n" in press(viewer, "n")
        assert "last game" in press(viewer, "n", "n")
        assert "game 3 of 3" in press(viewer)


def test_places_are_checked(file: Path) -> None:
    with RecordFile(file) as records:
        assert records.has(3)
        for place in (Place(1, 4), Place(1, 0), Place(2, 1, 9999), Place(2, 1, -1)):
            with pytest.raises(CallError):
                Viewer(records, place)
