"""Game records: what is written is read again, and whatever happens to a file, what is whole in it is read."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caboose.engine.rules.round import Event
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import (
    EventLine,
    GameRecord,
    RecordError,
    commitment,
    escaped,
    event_line_text,
    make_nonce,
    opening_text,
    record_text,
    unescaped,
    write_record,
)
from implementations import random_rules
from paths import DOCS, TESTS
from record_samples import SMALL, games, play_record, problems, read

GOLDEN = TESTS / "golden" / "records.txt"
PAGE = (DOCS / "reference" / "records.md").read_text(encoding="utf-8")
REGENERATE = os.environ.get("REGENERATE_GOLDEN") == "1"

GAME = play_record()
TEXT = record_text(GAME)
LINES = TEXT.splitlines()
BYTES = TEXT.encode()
OTHER = play_record(seed=2, on_fault="forfeit")
TWO = TEXT + record_text(OTHER)


def number_of(beginning: str) -> int:
    """The number of the first line of ``TEXT`` that begins so."""
    return next(number for number, line in enumerate(LINES, 1) if line.startswith(beginning))


def replaced(beginning: str, *lines: str) -> str:
    """``TEXT`` with other lines in the place of the first one that begins so."""
    at = number_of(beginning)
    return "\n".join([*LINES[: at - 1], *lines, *LINES[at:], ""])


# ---------------------------------------------------------------------------------------------- round trip


@pytest.mark.parametrize("seed", range(40))
def test_what_is_written_is_read_again(seed: int) -> None:
    rules = random_rules(random.Random(seed))
    rules = rules.with_options(rounds=min(rules.rounds, 1 + seed % 3))
    record = play_record(rules, seed, committed=seed % 4 > 0, on_fault=("", "fallback", "forfeit")[seed % 3])
    text = record_text(record)
    assert games(text) == [record]
    assert record_text(games(text)[0]) == text
    assert games(text * 3) == [record] * 3


def test_the_lines_of_everything_are_known() -> None:
    whole = TEXT + "\n# more\n" + record_text(OTHER)
    lines = ["", *whole.splitlines()]
    for game in read(whole):
        assert isinstance(game, GameRecord) and game.file == "file"
        for word in ("game", "rules", "commit", "result", "open", "end"):
            assert lines[game.lines[word]].split()[0] == word
        for seat, player in enumerate(game.players, 1):
            assert lines[player.line].startswith(f"player {seat}")
        for round in game.rounds:
            assert lines[round.line].startswith(f"round {round.number}")
            assert lines[round.scores_line].startswith("scores")
            assert lines[round.deal_line].startswith(f"deal hub {round.hub} ")
            for number, entry in enumerate(round.events, round.line + 1):
                assert entry.line == number
                assert lines[number].startswith(f"{entry.event.seat + 1} {entry.event.kind}")
        for fault in game.faults:
            assert lines[fault.line].startswith(f"fault {fault.seat + 1}")


def test_a_file_can_be_read_from_the_middle() -> None:
    (record,) = read_records(io.BytesIO(BYTES), first_line=1000)
    assert isinstance(record, GameRecord)
    assert (record.lines["game"], record.lines["end"]) == (1000, 999 + len(LINES))
    (error,) = read_records(io.BytesIO(BYTES[:-4]), "name", first_line=1000)
    assert isinstance(error, RecordError) and (error.file, error.begun) == ("name", 1000)


def test_a_path_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "games é.txt"
    with path.open("wb") as file:
        write_record(file, GAME)
        file.write(b"nonsense")
    for source in (path, str(path)):
        game, error = read_records(source)
        assert isinstance(game, GameRecord) and game.file == str(path)
        assert str(error) == f"{path}:{len(LINES) + 1}: 'nonsense' stands outside of games, expected game 1"


@given(st.text())
@example(" a ")
@example("   ")
@example("\\n | \\| \\\\x41 \\")
@example("\ud800\U0010ffff\u2028\xa0")
def test_free_text_is_read_again(text: str) -> None:
    line = escaped(text)
    assert line.isprintable() and line == line.strip() and "|" not in line.replace("\\|", "")
    assert unescaped(line) == text


def test_a_backslash_that_begins_no_escape_is_one() -> None:
    assert unescaped(r"C:\programs \x4 \uD \U00110000 \q") == r"C:\programs \x4 \uD \U00110000 \q"
    assert unescaped(r"\x41\u00e9\n\\n\|") == "Aé\n\\n|"


def test_times_and_scores_have_at_most_three_decimals() -> None:
    event = Event("stop", 0)
    assert event_line_text(EventLine(event, 1.23456, -0.0001)) == "1 stop time 1.235 score 0"
    assert event_line_text(EventLine(event, 1e6, -12.5)) == "1 stop time 1000000 score -12.5"
    assert event_line_text(EventLine(event, 0.0)) == "1 stop time 0"


def test_golden_records() -> None:
    text = "\n".join(record_text(play_record(SMALL, 3, on_fault=how)) for how in ("", "fallback", "forfeit"))
    if REGENERATE:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text
    assert problems(text) == []


# ------------------------------------------------------------------------------- the page and the commitment


def test_the_game_on_the_page_is_right() -> None:
    example = re.search(r"```record\n(.*?)```", PAGE, re.S)
    assert example is not None
    (game,) = games(example[1])
    assert problems(example[1]) == []
    assert game.commit == commitment(game.rules, game.nonce, [round.deal for round in game.rounds])


def test_the_command_on_the_page_gives_the_commitment(tmp_path: Path) -> None:
    command = re.search(r"```sh\n(sed .*?)\n```", PAGE)
    assert command is not None
    if shutil.which("sha256sum") is None:
        pytest.skip("needs sha256sum")
    (tmp_path / "GAME").write_bytes(BYTES)
    told = subprocess.run(command[1], shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.split()[0] == GAME.commit


def test_the_commitment_is_to_nonce_and_deals() -> None:
    deals = [round.deal for round in GAME.rounds]
    nonce = make_nonce()
    assert re.fullmatch("[0-9a-f]{32}", nonce) and nonce != make_nonce()
    text = opening_text(GAME.rules, nonce, deals)
    assert text.startswith(f"open {nonce}\ndeal hub 6 ") and text.count("\n") == 1 + len(deals)
    made = {
        commitment(GAME.rules, nonce, deals),
        commitment(GAME.rules, make_nonce(), deals),
        commitment(GAME.rules, nonce, deals[::-1]),
        commitment(GAME.rules, nonce, deals[:-1]),
    }
    assert len(made) == 4 and all(re.fullmatch("[0-9a-f]{64}", commit) for commit in made)


# ---------------------------------------------------------------------------------------- what is forgiven


def spaced(line: str) -> str:
    """With blanks and tabs wherever they may be; those inside free text stay."""
    return f"  {line} " if line.startswith(("event", "control", "player")) else "  " + " \t ".join([*line.split(), ""])


HEADER = LINES[1 : number_of("round") - 1]
COMMENT = "# 10 MB " + "x" * 10_000_000

FORGIVEN = {
    "CR LF": TEXT.replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + TEXT,
    "a byte order mark before a comment": "\ufeff# by hand\n" + TEXT,
    "no line end at the end": TEXT.rstrip("\n"),
    "empty lines and comments": "\n \t\n" + TEXT.replace("\n", "\n\n  # a comment\n#\n\t\n"),
    "blanks and tabs": "\n".join(map(spaced, LINES)),
    "a comment of 10 MB": TEXT.replace("\nround", f"\n{COMMENT}\nround"),
    "a blank line of 10 MB": " " * 10_000_000 + "\n" + TEXT,
    "digits of hashes in capitals": re.sub("[0-9a-f]{32,}", lambda m: m[0].upper(), TEXT),
    "the larger side first in draws": re.sub(r"(?<=draw )(\d+)-(\d+)", r"\2-\1", TEXT),
    "zeros in front": TEXT.replace(" time ", " time 00"),
    "score before time": re.sub(r"(time \S+) (score \S+)", r"\2 \1", TEXT),
    "another order in the header": "\n".join([LINES[0], *HEADER[::-1], *LINES[len(HEADER) + 1 :]]),
}


@pytest.mark.parametrize("text", FORGIVEN.values(), ids=FORGIVEN)
def test_what_is_forgiven(text: str) -> None:
    assert games(text) == [GAME]
    assert problems(text) == []


def test_a_name_with_odd_blanks_is_read() -> None:
    (game,) = games(replaced("player 2", "player 2 Zoë\xa0\u2028B. | bot | note a  b|x"))
    assert game.players[1].name == "Zoë\xa0\u2028B."
    assert game.players[1].fields == (("bot", ""), ("note", "a  b"), ("x", ""))
    assert games(record_text(game)) == [game]


@pytest.mark.parametrize("glue", ["", "\n", "\ufeff", "\r\n\ufeff# next\r\n", "\n\0\n", "\n" + "y" * 10_000_000 + "\n"])
def test_files_put_together(glue: str) -> None:
    texts = [record_text(record).rstrip("\n") for record in (GAME, OTHER, GAME)]
    assert games(glue.join(texts)) == [GAME, OTHER, GAME]


# ---------------------------------------------------------------------------------------- what is refused

REFUSED: list[tuple[str, str, str]] = [
    # the line that is replaced, by what, and what is said of it
    ("game", "game", "game: version '', expected 1"),
    ("game", "game 2", "game: version '2', expected 1"),
    ("date", "date yesterday", "date: 'yesterday', expected one such as 2026-11-29 or 2026-11-29T22:51:03Z"),
    ("date", "data 2026-11-29", "'data', expected rules, player, date, event, control, commit, round"),
    ("rules", "event again", "event: this line is there twice, expected it once"),
    ("rules", "rules klassic", "unknown preset 'klassic'"),
    ("rules", "rules classic players=3 set=6 hand=77", "hand=77: 3 players can draw 2 to 9 tiles each"),
    ("player 2", "player 1 Bob", "player: seat 1 is given twice"),
    ("player 2", "player 0 Bob", "'0' is not a seat"),
    ("player 2", "player 2 Bob | Bot x", "player: 'Bot x', expected KEY TEXT"),
    ("player 2", "player 2 B\0b", "control character 0x00, expected printable text"),
    ("player 2", "player 2 B\x85b", "control character 0x85, expected printable text"),
    ("commit", "commit sha256 abc", "commit: 'sha256 abc', expected sha256 and 64 hexadecimal digits"),
    ("commit", "commit md5 " + "0" * 64, "expected sha256 and 64 hexadecimal digits"),
    ("round 1", "round 1", "round: '1', expected NUMBER hub PIPS starter SEAT"),
    ("round 1", "round x hub 6 starter 1", "'x' is not a number that fits"),
    ("round 1", "round 1 hub 19 starter 1", "'19' is not a number of pips"),
    ("round 1", "round 1 hub 6 starter 4", "seat 4: there are 3 players, expected 1 to 3"),
    ("round 2", "runde 2", "'runde', expected round, fault, result"),
    ("1 play", "1 play 7-6@1", "there is no tile 6-7 in a double-6 set"),
    ("1 play", "1 play 6-5@4", "train 4: expected 1 to 3 or M"),
    ("1 play", "1 play 6-5", "'6-5' is not a move"),
    ("1 play", "1 play stop", "'1 play stop' is not an event: expected SEAT and play MOVE, draw TILE, mark"),
    ("1 play", "1 plays 6-5@1", "'1 plays 6-5@1' is not an event"),
    ("1 play", "1 play 6-5@1 times 5", "'times', expected time MS, score PIPS and over MS"),
    ("1 play", "1 play 6-5@1 time", "time: '' is not a number such as 18.25"),
    ("1 play", "1 play 6-5@1 time 1 time 2", "'time', expected time MS, score PIPS and over MS, each once"),
    ("1 play", "1 play 6-5@1 time -1", "time: '-1' is not a number such as 18.25"),
    ("1 play", "1 play 6-5@1 score nan", "score: 'nan' is not a number such as 18.25"),
    ("1 play", "1 play 6-5@1 score 1e5", "score: '1e5' is not a number"),
    ("1 play", "4 play 6-5@1", "seat 4: there are 3 players"),
    ("1 play", "1", "'1' is not an event"),
    ("1 play", "one play 6-5@1", "'one', expected scores"),
    ("1 draw", "1 draw 6-7", "there is no tile 6-7 in a double-6 set"),
    ("1 draw", "1 draw", "'1 draw' is not an event"),
    ("1 draw", "1 draw 1-2 time 5", "is not an event"),
    ("1 draw", "1 mark time 5", "is not an event"),
    ("scores", "scores 1 2", "scores: there are 2 numbers, expected 3, one for each seat"),
    ("scores", "scores 1 2 3 4", "scores: '4' after 3 numbers, expected blocked, unfinished or nothing"),
    ("scores", "scores 1 2 3 blocked unfinished", "expected blocked, unfinished or nothing"),
    ("scores", "scores 1 2 x", "scores: number 3: 'x' is not a number"),
    ("result", "fault 1 round 1", "fault: '1 round 1', expected SEAT round NUMBER decision NUMBER KIND TEXT"),
    ("result", "fault 1 round 1 decision 2 lazy", "fault: 'lazy', expected one of start, dead, late"),
    ("result", "fault 9 round 1 decision 2 late", "seat 9: there are 3 players"),
    ("result", "result 1 2 3", "result: '1 2 3', expected totals NUMBER ... places NUMBER ..."),
    ("result", "result totals 1 2 3 places 1 2", "places: there are 2 numbers, expected 3"),
    ("result", "round 4 hub 3 starter 1", "round: the rules have 3 and they are over, expected fault or result"),
    ("open", "open", "open: '', expected the commitment's nonce, 32 hexadecimal digits"),
    ("open", "open 123", "open: '123', expected the commitment's nonce"),
    ("open", "opened", "'opened', expected open"),
    ("deal", "deal", "deal: column"),
    ("deal", "deal  hub 6 starter holder hands 0-0", "deal: column 37: boneyard is missing, expected all of hub"),
    ("deal", "deals", "'deals', expected deal"),
    ("end", "end of game", "'end of game', expected end"),
    ("end", "ende", "'ende', expected end"),
    ("end", "deal hub 6", "'deal hub 6', expected end"),
]


@pytest.mark.parametrize(("beginning", "line", "message"), REFUSED, ids=[row[1][:50] for row in REFUSED])
def test_what_is_refused(beginning: str, line: str, message: str) -> None:
    first, second = read(replaced(beginning, line) + record_text(OTHER))
    assert isinstance(first, RecordError)
    at = number_of(beginning)
    assert message in first.text and str(first).startswith(f"file:{at}: ")
    assert first.begun == 1 and first.text.isprintable()
    assert isinstance(second, GameRecord)  # reading goes on with the next game
    assert second.lines["game"] == len(LINES) + 1


@pytest.mark.parametrize("word", ["rules", "player 3", "round 1", "scores", "result", "open", "deal", "end"])
def test_a_line_that_is_missing(word: str) -> None:
    first, second = read(replaced(word) + TEXT)
    assert isinstance(first, RecordError) and "expected" in first.text and first.begun == 1
    assert number_of(word) <= first.line <= len(LINES)
    assert isinstance(second, GameRecord)


def test_a_fault_twice() -> None:
    line = "fault 2 round 1 decision 0 start"
    (error,) = read(replaced("result", line, line, LINES[number_of("result") - 1]))
    assert str(error).endswith("fault: seat 2 has one already, expected one at most")
    assert isinstance(error, RecordError) and error.line == number_of("result") + 1


def test_a_nonce_without_a_commitment() -> None:
    (error,) = read(replaced("commit"))
    assert "expected nothing more, as there is no commit line" in str(error)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"player 2 B\xf6b", "'player 2 B\\xf6b': byte 11 is 0xf6, expected UTF-8"),
        (b"player 2 " + b"b" * 10_000_000, "the line is too long, expected at most 65536 bytes"),
        (b"player 2 " + b"\xe7\x8e\xb2" * 3_000_000, "the line is too long, expected at most 65536 bytes"),
        (b"\xff\xfep\0l\0", "byte 1 is 0xff, expected UTF-8"),
    ],
)
def test_lines_that_are_no_text(raw: bytes, message: str) -> None:
    data = b"\n".join([raw if line.startswith("player 2") else line.encode() for line in LINES]) + b"\n"
    first, second = read(data + BYTES)
    assert isinstance(first, RecordError) and message in first.text and first.line == number_of("player 2")
    assert isinstance(second, GameRecord) and second.lines["game"] == len(LINES) + 1


@pytest.mark.parametrize(
    "data",
    [TEXT.encode("utf-16"), b"\0" * 100_000, bytes(range(256)) * 50, b"PK\3\4", b"<html>\n<body>\n", b"z" * 10_000_000],
    ids=["UTF-16", "zeros", "all bytes", "zip", "html", "10 MB"],
)
def test_what_is_no_record_at_all_is_one_error(data: bytes) -> None:
    (error,) = read(data)
    assert isinstance(error, RecordError)
    assert error.line == 1 and error.begun == 0
    assert error.text.endswith("stands outside of games, expected game 1") and len(error.text) < 240


def test_an_empty_file() -> None:
    assert read(b"") == read(b"\n\r\n# nothing\n") == []


# ---------------------------------------------------------------------------------- cut, damaged, endless


def test_cut_off_anywhere() -> None:
    data = TWO.encode()
    whole, other = read(data)
    for size in range(len(data)):
        told = read(data[:size])
        complete = [whole] if size >= len(BYTES) - 1 else []
        assert told[: len(complete)] == complete
        errors = told[len(complete) :]
        if size in (0, len(BYTES) - 1, len(BYTES)):  # the last line end may be missing
            assert errors == []
        elif size == len(data) - 1:
            assert errors == [other]
        else:
            (error,) = errors
            assert isinstance(error, RecordError)
            assert error.line in (data.count(b"\n", 0, size), data.count(b"\n", 0, size) + 1)


@given(st.data())
def test_damaged_anywhere(data: st.DataObject) -> None:
    """Never more than an error, and the game after the damage is read."""
    start = data.draw(st.integers(0, len(BYTES)))
    end = data.draw(st.integers(start, min(start + 200, len(BYTES))))
    junk = data.draw(st.binary(max_size=40) | st.text(max_size=20).map(lambda s: s.encode(errors="replace")))
    *_, last = games(BYTES[:start] + junk + BYTES[end:] + b"\n" + BYTES)
    assert last == GAME


@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_lines_in_any_order(lines: list[str]) -> None:
    *_, last = games("\n".join([*lines, TEXT]))
    assert last == GAME


class Endless(io.RawIOBase):
    """A file of any size: ``head``, then ``body`` over and over."""

    def __init__(self, head: bytes, body: bytes, times: int) -> None:
        self.parts = iter([head, *[body] * times])
        self.rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self.rest) < size and (part := next(self.parts, None)) is not None:
            self.rest += part
        data, self.rest = self.rest[:size], self.rest[size:]
        return data


@pytest.mark.parametrize(
    ("head", "body", "times", "games", "errors"),
    [
        (b"", BYTES, 1000, 1000, 0),
        (b"", BYTES[:-4], 1000, 0, 1000),
        (BYTES[: BYTES.index(b"scores")], b"1 mark\n" * 1000, 300, 0, 1),
        (BYTES[: BYTES.index(b"result")], b"fault 1 round 1 decision 1 late\n" * 1000, 300, 0, 1),
        (b"game 1\n", b"player 2 B\n" * 1000, 300, 0, 1),
        (b"game 1\nevent ", b"x" * 10_000, 1000, 0, 1),
        (b"", b"junk\n" * 1000, 1000, 0, 1),
        (b"# ", b"x" * 10_000, 1000, 0, 0),
    ],
    ids=["games", "unfinished games", "events", "faults", "players", "text", "junk", "comment"],
)
def test_memory_is_constant(head: bytes, body: bytes, times: int, games: int, errors: int) -> None:
    counts = {GameRecord: 0, RecordError: 0}
    tracemalloc.start()
    try:
        for record in read_records(Endless(head, body, times), "endless"):  # type: ignore[arg-type]
            counts[type(record)] += 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counts == {GameRecord: games, RecordError: errors}
    assert peak < 8_000_000
