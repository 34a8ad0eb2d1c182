"""Only ASCII blanks separate and only ASCII digits count in text from outside; and escapes are unambiguous."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

import pytest

from caboose.engine.rules.blanks import BLANKS, words_of
from caboose.engine.rules.rules import Rules, RulesError
from caboose.protocol import messages
from caboose.protocol.notation import notation
from caboose.protocol.notation.lines import ProtocolError, escape, shown
from caboose.protocol.notation.observation import ObservationReader
from caboose.protocol.records.records import GameRecord, RecordError, escaped, record_text, unescaped
from record_samples import play_record, read

# What str.split, str.strip or \s take for blanks besides the six of ASCII, and what looks like one.
NO_BLANKS = [chr(c) for c in range(0x11000) if (chr(c).isspace() or re.match(r"\s", chr(c))) and chr(c) not in BLANKS]
NO_BLANKS += ["\u200b", "\u2060", "\ufeff", "\u3164"]
SOME_BLANKS = ["\xa0", "\x1c", "\x85", "\u2003", "\u2028", "\u202f", "\u3000", "\u200b"]
# For each digit, what str.isdigit takes for one, or int.
DIGITS = ["\u0661", "\u06f1", "\u0967", "\uff11", "\xb9", "\u2460", "\U0001d7cf"]


@pytest.mark.parametrize("blank", NO_BLANKS, ids=ascii)
def test_other_blanks_are_part_of_a_word(blank: str) -> None:
    assert words_of(f"a{blank}b") == [f"a{blank}b"]
    assert words_of(f" {blank}a b\t{blank} ", 1) == [f"{blank}a", f"b\t{blank} "]


@pytest.mark.parametrize("text", ["", "  ", "a", " a  b ", "a\tb\r\n", "\va\fb", "a  ", "a b c d  "])
@pytest.mark.parametrize("end", ["", "\u00e9"])
@pytest.mark.parametrize("most", [-1, 0, 1, 2, 9])
def test_ascii_blanks_separate_as_python_has_it(text: str, end: str, most: int) -> None:
    assert words_of(text + end, most) == (text + end).split(None, most)


READERS: list[tuple[Callable[[str], Any], str]] = [
    (Rules.parse, "family players=4 blank=25"),
    (notation.parse_rules, "family players=4 blank=25"),
    (notation.parse_tiles, "3-12 4-5"),
    (notation.parse_moves, "5-12@M 3-4@1"),
    (notation.parse_move, "5-12@M"),
    (notation.parse_events, "1:draw 1:mark"),
    (messages.parse_hello, "caboose 1"),
    (messages.parse_cabooseok, "cabooseok 1"),
    (messages.parse_id, "id name Somebody"),
    (messages.parse_option_line, "option name A type spin default 1 min 1 max 11"),
    (messages.parse_option_line, "option name A type combo default x var x"),
    (messages.parse_setoption, "setoption name A value x"),
    (messages.parse_go, "go 1 nodes 11"),
    (messages.parse_bestmove, "bestmove 1 5-12@1"),
    (messages.parse_info_line, "info time 1 nodes 1 nps 1 score 1.5 candidates 5-12@1:1:1.5"),
    (lambda line: ObservationReader().feed(line), "round 1 hub 1 starter 1"),
    (lambda line: ObservationReader().feed(line), "train 1 tiles 1 marker no ends 1"),
    (lambda line: ObservationReader().feed(line), "doubles 1:1:1"),
]


@pytest.mark.parametrize("read, text", READERS, ids=[text for _, text in READERS])
def test_no_reader_takes_other_blanks_or_digits(read: Callable[[str], Any], text: str) -> None:
    read(text)
    for blank in SOME_BLANKS:
        for place in [at for at, c in enumerate(text) if c == " "]:
            wrong = text[:place] + blank + text[place + 1 :]
            if read is messages.parse_id and place > 6:
                continue  # in the name itself every character is welcome
            with pytest.raises((RulesError, ProtocolError, notation.NotationError)):
                read(wrong)
    for digit in DIGITS:
        for place in [at for at, c in enumerate(text) if c == "1"]:
            with pytest.raises((RulesError, ProtocolError, notation.NotationError)):
                read(text[:place] + digit + text[place + 1 :])


def test_a_reader_of_people_makes_no_letters_of_others_small() -> None:
    """The small letter of a Kelvin sign is a k, and that of an I with a dot begins with an i."""
    assert notation.parse_event("1:MARK") == notation.parse_event("1:mark")
    for text in ("1:mar\u212a", "1:MAR\u212a"):
        with pytest.raises(notation.NotationError, match="is not an event"):
            notation.parse_event(text)
    with pytest.raises(notation.NotationError):
        notation.parse_tile("5\xa0-6")
    assert notation.parse_tile("5 - 6") == notation.parse_tile("5\u20136") == (5, 6)  # a dash of an editor


TEXT = record_text(play_record())


@pytest.mark.parametrize("blank", SOME_BLANKS, ids=ascii)
def test_other_blanks_do_not_separate_in_records(blank: str) -> None:
    assert all(isinstance(game, GameRecord) for game in read(TEXT))
    lines = TEXT.splitlines()
    seen = set()
    for number, line in enumerate(lines):
        word, gap, rest = line.partition(" ")
        if not gap or word in seen or word == "#":
            continue
        seen.add(word)
        for changed in (f"{word}{blank}{rest}", f"{line}{blank}" if word in ("game", "round", "scores") else ""):
            if changed:
                found = read("\n".join([*lines[:number], changed, *lines[number + 1 :]]) + "\n")
                assert any(isinstance(game, RecordError) for game in found), changed


def test_a_line_of_other_blanks_is_no_empty_line() -> None:
    for blank in ("\x0b", "\x0c", "\x1c", "\xa0", "\u2003"):
        (error, *_) = read(f"{blank}\n{TEXT}")
        assert isinstance(error, RecordError) and error.line == 1, ascii(blank)
    assert all(isinstance(game, GameRecord) for game in read(f" \t\n\n\t\n{TEXT}"))


@pytest.mark.parametrize(
    "c", ["\x00", "\x1b", "\x7f", "\x85", "\xa0", "\xff", "\u0661", "\u202e", "\uffff", "\U0001f600"]
)
def test_an_escape_says_which_character_it_is_whatever_comes_after(c: str) -> None:
    for after in ("1", "a", "F", "", "z"):
        text = f"{c}{after}"
        assert unescaped(escape(c) + after) == text
        assert shown(text) == f"'{escape(c)}{after}'"
        assert unescaped(escaped(text)) == text
    width = {"x": 2, "u": 4, "U": 8}[escape(c)[1]]
    assert len(escape(c)) == 2 + width and set(escape(c)[2:]) <= set(string.hexdigits.lower())
    assert shown("\u0661") == r"'\u0661'"
