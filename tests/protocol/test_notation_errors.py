"""What the notation refuses: at which line and column, for what reason, and that it refuses in no other way."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import OPTIONS, Rules
from caboose.protocol.notation.notation import (
    NotationError,
    deal_of,
    observation_text,
    parse_deal,
    parse_event,
    parse_events,
    parse_move,
    parse_moves,
    parse_observation,
    parse_position,
    parse_rules,
    parse_tile,
    parse_tiles,
    position_text,
)
from caboose.protocol.notation.scanner import Word

SMALL: Final = Rules.of("family", 3, set=6, hand=4)
HELD: Final = Rules.of("classic", 3, set=6, hand=4)
HANDS: Final = "hands 1-3 2-5 3-5 1-6 / 1-1 1-4 2-6 5-6 / 1-2 0-4 0-5 5-5"
BONES: Final = "boneyard 3-6 2-2 0-0 2-4 0-3 1-5 0-1 0-2 3-3 0-6 3-4 4-6 4-5 2-3 4-4"
TABLE: Final = f"rules family players=3 set=6 hand=4\nhub 6 starter 2\n{HANDS}\n{BONES}\n"
VIEW: Final = """rules family players=3 set=6 hand=4
seat 2
round 2 hub 6 starter 1
scores 10 0 33
events 1:6-5@1 2:6-2@2 3:draw 3:mark 1:5-1@1
hand 0-2 2-3 3-4
hands 2 3 5
boneyard 14
train 1 tiles 2 marker no ends 1
train 2 tiles 1 marker no ends 2
train 3 tiles 0 marker yes ends 6
train M tiles 0 marker no ends 6
doubles
legal 2-0@2 2-3@2"""

A_TILE: Final = "two numbers of 0 to 18 pips, such as 3-12"
A_MOVE: Final = "the matching side, the open side and the train, such as 5-12@M or 12-12@3, or stop"
AN_EVENT: Final = "SEAT:WHAT such as 2:5-12@M, 2:draw, 2:draw=3-4, 2:mark, 2:pass, 2:stop or 2:hub"
A_TRAIN: Final = "a seat from 1 to 14, or M for the Mexican train"
NO_MORE: Final = "nothing more, as the round is over"


def deal(text: str) -> Deal:
    return parse_deal(SMALL, text)


def held(text: str) -> Deal:
    return parse_deal(HELD, text)


def playing(events: str) -> str:
    return f"{TABLE}events {events}"


def seeing(line: str) -> str:
    """The observation with one line exchanged for another."""
    word = line.partition(" ")[0]
    return "\n".join(line if old.startswith(f"{word} ") or old == word else old for old in VIEW.split("\n"))


@pytest.mark.parametrize(
    ("read", "text", "line", "column", "problem", "expected"),
    [
        # tiles, moves, events
        (parse_tile, "", 1, 1, "nothing is there", "a tile such as 3-12"),
        (parse_tile, "# 3-4", 1, 1, "nothing is there", "a tile such as 3-12"),
        (parse_tile, "3-4 5-6", 1, 5, "'5-6' is one word too many", "a tile such as 3-12 and nothing more"),
        (parse_tile, " 3-19", 1, 2, "'3-19' is not a tile", A_TILE),
        (parse_tile, "03-9", 1, 1, "'03-9' is not a tile", A_TILE),
        (parse_tile, "3-", 1, 1, "'3-' is not a tile", A_TILE),
        (parse_tile, "\u0663-4", 1, 1, "'\u0663-4' is not a tile", A_TILE),
        (parse_tile, "-3-4", 1, 1, "'-3-4' is not a tile", A_TILE),
        (parse_tile, "3-4 -5", 1, 1, "'3-4-5' is not a tile", A_TILE),
        (parse_tile, "3-4/", 1, 4, "'/' is one word too many", "a tile such as 3-12 and nothing more"),
        (parse_tiles, "3-4,\r\n\t5-6;5-66", 2, 6, "'5-66' is not a tile", A_TILE),
        (parse_tiles, "3-4 # 5-66\r5-67", 2, 1, "'5-67' is not a tile", A_TILE),
        (parse_tiles, "3-4 \u2013 5-6", 1, 1, "'3-4-5-6' is not a tile", A_TILE),
        (parse_tiles, "\ufeff3-4 x", 1, 5, "'x' is not a tile", A_TILE),
        (parse_move, "5-12", 1, 1, "'5-12' is not a move", A_MOVE),
        (parse_moves, "stop 5-12@M 5-12@0", 1, 13, "'0' is not a train", A_TRAIN),
        (parse_moves, "5-12@MM", 1, 1, "'mm' is not a train", A_TRAIN),
        (parse_event, "draw", 1, 1, "'draw' is not an event", AN_EVENT),
        (parse_events, "2:draw 2", 1, 8, "'2' is not an event", AN_EVENT),
        (parse_events, "2:draw 2:draw=5", 1, 8, "'2:draw=5' is not an event: '5' is not a tile", A_TILE),
        (parse_events, "15:pass", 1, 1, "'15:pass' is not an event: '15' is not a seat", "a number from 1 to 14"),
        (parse_events, "2:5-12@X", 1, 1, "'2:5-12@x' is not an event: 'x' is not a train", A_TRAIN),
        (parse_events, "2:play", 1, 1, "'2:play' is not an event", AN_EVENT),
        # rules
        (parse_rules, "", 1, 1, "no rules given", "a preset (classic, tournament, family) and name=value options"),
        (parse_rules, "\nbridge", 2, 1, "unknown preset 'bridge'", "one of classic, tournament, family"),
        (parse_rules, "family players=13", 1, 8, "players=13: family is for 2 to 12 players (classic and tournament go "
         "to 14)", "rules that can be played"),
        (parse_rules, "family\nset=7", 2, 1, "set=7", "one of 6, 9, 12, 15, 18"),
        (parse_rules, "family hand=x", 1, 8, "hand='x'", "a whole number"),
        (parse_rules, "family hub", 1, 8, "rule option 'hub' is not of the form name=value",
         "rules that can be played"),
        (parse_rules, "family set=6 set=9", 1, 14, "rule option 'set' is given twice", "rules that can be played"),
        (parse_rules, "family blank=0, dead_double=maybe", 1, 17, "dead_double='maybe'", "one of release, hold"),
        (parse_rules, "classic hub=placed", 1, 9, "starter=holder needs hub=dealt: a placed hub is in nobody's hand. "
         "Give starter=lot or starter=rotate, or hub=dealt", "rules that can be played"),
        (parse_rules, "family set=6 hand=14", 1, 14, "hand=14: 4 players can draw 1 to 6 tiles each from the 27 tiles "
         "of a double-6 set with hub=placed", "rules that can be played"),
        # deals
        (deal, "", 1, 1, "hub is missing", "all of hub, starter, hands, boneyard"),
        (deal, f"starter 2 hub 6 {HANDS}", 1, 74, "boneyard is missing", "all of hub, starter, hands, boneyard"),
        (deal, "6 starter 2", 1, 1, "'6' stands at the beginning", "one of hub, starter, hands, boneyard"),
        (deal, f"hub 6 {BONES} hub 6", 1, 76, "hub is there twice", "it only once"),
        (deal, f"hub starter 2 {HANDS} {BONES}", 1, 1, "nothing is there",
         "the hub's pips, 0 to 6 with a double-6 set"),
        (deal, f"hub 6-6 starter 2 {HANDS} {BONES}", 1, 5, "'6-6' is not a number of pips", "0 to 18"),
        (deal, f"hub 7 starter 2 {HANDS} {BONES}", 1, 5, "7 is no hub", "the hub's pips, 0 to 6 with a double-6 set"),
        (deal, f"hub 6 7 starter 2 {HANDS} {BONES}", 1, 7, "'7' is one word too many",
         "the hub's pips, 0 to 6 with a double-6 set and nothing more"),
        (deal, f"hub 6 starter holder {HANDS} {BONES}", 1, 15, "'holder' is not a seat", "a number from 1 to 14"),
        (deal, f"hub 6 starter 4 {HANDS} {BONES}", 1, 15, "4 is no seat", "the seat with the first turn, 1 to 3"),
        (held, f"hub 6 starter 2 {HANDS} {BONES}", 1, 15, "'2' is no starter",
         "holder, as the rules have starter=holder"),
        (held, f"hub 6 starter holder {HANDS} {BONES}", 1, 145, "the deal lacks 6-6",
         "every tile of the double-6 set in a hand or in the boneyard"),
        (deal, f"hub 6 starter 2\nhands 1-3\n{BONES}", 2, 7, "the number of hands is 1", "3, with / between them"),
        (deal, f"hub 6 starter 2\n{HANDS} / 4-4\n{BONES}", 2, 59, "the number of hands is 4", "3, with / between them"),
        (deal, f"hub 6 starter 2\n{HANDS.replace(' 1-4', '')}\n{BONES}", 2, 33, "the hand of seat 2 has 3 tiles", "4"),
        (deal, f"hub 6 starter 2\n{HANDS.replace('1-4', '1-4 4-4')}\n{BONES}", 2, 41, "the hand of seat 2 has 5 tiles",
         "4"),
        (deal, "hub 6 starter 2 hands / / boneyard", 1, 17, "the hand of seat 1 has 0 tiles", "4"),
        (deal, f"hub 6 starter 2\n{HANDS.replace('1-4', '1_4')}\n{BONES}", 2, 29, "'1_4' is not a tile", A_TILE),
        (deal, f"hub 6 starter 2\n{HANDS.replace('1-4', '1-7')}\n{BONES}", 2, 29, "there is no 1-7 in a double-6 set",
         "two numbers of 0 to 6"),
        (deal, f"hub 6 starter 2\n{HANDS.replace('1-4', '6-6')}\n{BONES}", 2, 29,
         "6-6 lies in the middle before the deal", "another tile"),
        (deal, f"hub 6 starter 2\n{HANDS.replace('1-4', '5-2')}\n{BONES}", 2, 29, "2-5 is there twice",
         "each tile once"),
        (deal, f"hub 6 starter 2\n{HANDS}\n{BONES} 1-4", 3, 70, "1-4 is there twice", "each tile once"),
        (deal, f"hub 6 starter 2\n{HANDS}\n{BONES} /", 3, 70, "'/' is not a tile", A_TILE),
        (deal, f"hub 6 starter 2\n{HANDS} boneyard", 2, 59,
         "the deal lacks 0-0 0-1 0-2 2-2 0-3 2-3 3-3 2-4 3-4 4-4 1-5 4-5 and 3 more",
         "every tile of the double-6 set in a hand or in the boneyard"),
        # positions
        (parse_position, "", 1, 1, "rules is missing", "all of rules, hub, starter, hands, boneyard, events"),
        (parse_position, TABLE.replace("set=6", "set=8"), 1, 24, "set=8", "one of 6, 9, 12, 15, 18"),
        (parse_position, TABLE.replace("2-3", "2-2"), 4, 62, "2-2 is there twice", "each tile once"),
        (parse_position, TABLE.replace("rules family", "rules"), 1, 7, "unknown preset 'players=3'",
         "one of classic, tournament, family"),
        (parse_position, "rules hub 6 starter 2 hands boneyard", 1, 1, "no rules given",
         "a preset (classic, tournament, family) and name=value options"),
        (parse_position, playing("2:6-2@2 2:6-5@2"), 5, 16, "2:6-5@2 cannot happen here",
         "one of 3:draw=3-6 3:6-3@3 3:6-3@M"),
        (parse_position, playing("2:6-2@2 3:draw=0-0"), 5, 16, "3:draw=0-0 cannot happen here",
         "one of 3:draw=3-6 3:6-3@3 3:6-3@M"),
        (parse_position, playing("2:6-2@2 3:draw 3:draw"), 5, 23, "3:draw cannot happen here",
         "one of 3:6-3@3 3:6-3@M"),
        (parse_position, playing("2:6-2@3"), 5, 8, "2:6-2@3 cannot happen here",
         "one of 2:6-2@2 2:6-5@2 2:6-2@M 2:6-5@M"),
        (parse_position, playing("2-6@2"), 5, 8, "2-6@2 cannot happen here", "one of 2:6-2@2 2:6-5@2 2:6-2@M 2:6-5@M"),
        (parse_position, playing("stop"), 5, 8, "stop cannot happen here", "one of 2:6-2@2 2:6-5@2 2:6-2@M 2:6-5@M"),
        (parse_position, playing("2:6-2@2 mark"), 5, 16, "'mark' is not an event", AN_EVENT),
        (parse_position, playing("2:6-2@2 3-6"), 5, 16, "'3-6' is not an event", AN_EVENT),
        (parse_position, playing("2:6-2@2 3-6@9 5-5"), 5, 16, "3-6@9 cannot happen here",
         "one of 3:draw=3-6 3:6-3@3 3:6-3@M"),
        # observations
        (parse_observation, "", 1, 1, "rules: there is no such line", "at least rules, seat, round and hand"),
        (parse_observation, "rules family\nseat 1 # alone", 2, 7, "round: there is no such line",
         "at least rules, seat, round and hand"),
        (parse_observation, "go 1", 1, 1, "'go' stands at the beginning", "one of boneyard, doubles, events, hand, "
         "hands, legal, observation, round, rules, scores, seat, train"),
        (parse_observation, "observation now", 1, 13, "observation: 'now'", "nothing after this word"),
        (parse_observation, seeing("rules family players=3 sex=6"), 1, 24,
         "rules: unknown rule option 'sex' (did you mean 'set'?); the options are: " + ", ".join(OPTIONS),
         "what agrees with the rules and the other lines"),
        (parse_observation, seeing("seat"), 2, 1, "seat: 0 words", "a seat and nothing more"),
        (parse_observation, seeing("seat 0"), 2, 6, "seat: '0' is not a seat", "a number from 1 to 14"),
        (parse_observation, seeing("seat 1 2"), 2, 8, "seat: 2 words", "a seat and nothing more"),
        (parse_observation, seeing("seat 4"), 2, 6, "seat: 4", "1 to 3 under these rules"),
        (parse_observation, seeing("round two"), 3, 1, "round: 'two'", "NUMBER hub PIPS starter SEAT"),
        (parse_observation, seeing("round 2 hub 66 starter 1"), 3, 13, "round: '66' is not a number of pips",
         "0 to 18"),
        (parse_observation, seeing("round 2 hub 7 starter 1"), 3, 13,
         "round: hub 7: a double-6 set has doubles from 0 to 6", "what agrees with the rules and the other lines"),
        (parse_observation, seeing("round 2 hub 6 starter 4"), 3, 23, "round: starter 4", "1 to 3"),
        (parse_observation, seeing("round 3 hub 6 starter 1"), 3, 7, "scores: 1 lines",
         "2: one for each round before round 3"),
        (parse_observation, seeing("scores 10 0 -33"), 4, 11, "scores: score 2: '0-33' is not a number that fits",
         "a whole number of at least 0, of at most 15 digits"),
        (parse_observation, seeing("scores 10 0"), 4, 1, "scores: scores of round 1",
         "3 numbers of at least 0, got (10, 0)"),
        (parse_observation, seeing("events 1:6-5@1\n  2:6-2@2 3:drew"), 6, 11,
         "events: event 3: '3:drew' is not an event", AN_EVENT),
        (parse_observation, seeing("events 1:6-5@1 2:6-2@2\nevents 3:draw=0-0"), 6, 8,
         "events: event 3: seat 2 cannot know what seat 3 draws", "3:draw"),
        (parse_observation, seeing("events 1:6-5@1 2:6-2@2 1:5-1@1"), 5, 24,
         "events: event 3: it is the turn of seat 3, not of seat 1", "what agrees with the rules and the other lines"),
        (parse_observation, seeing("hand 0-2 2-3 3-x"), 6, 14, "hand: tile 3: '3-x' is not a tile", A_TILE),
        (parse_observation, seeing("hand 0-2 2-3 2-3"), 6, 1, "hand: tile 2-3 is there twice",
         "what agrees with the rules and the other lines"),
        (parse_observation, seeing("hands 2 3 6"), 7, 1, "hands: 2 3 6", "2 3 5 after these events"),
        (parse_observation, seeing("hands 2 3 five"), 7, 11, "hands: count 3: 'five' is not a number that fits",
         "a whole number of at least 0, of at most 15 digits"),
        (parse_observation, seeing("boneyard 15"), 8, 1, "boneyard: 15", "14 after these events"),
        (parse_observation, VIEW.replace("train 3 tiles 0", "train 3 tiles 1"), 11, 7,
         "train 3: tiles 1 marker yes ends 6", "tiles 0 marker yes ends 6 after these events"),
        (parse_observation, VIEW.replace("train M", "train 4"), 12, 7, "train: 4", "1 to 3 or M"),
        (parse_observation, VIEW.replace("train M", "train X"), 12, 7, "train: 'x' is not a train", A_TRAIN),
        (parse_observation, VIEW.replace("marker yes", "marker on"), 11, 1,
         "train: '3 tiles 0 marker on ends 6'", "TRAIN tiles COUNT marker yes|no ends PIPS ..."),
        (parse_observation, seeing("doubles 1:5:1"), 13, 1, "doubles: 1:5:1", "nothing after these events"),
        (parse_observation, seeing("doubles 1:5"), 13, 9, "doubles: double 1: '1:5'", "TRAIN:PIPS:NEED"),
        (parse_observation, seeing("legal 2-0@2 2-3@M"), 14, 13, "legal: move 2: 2-3@M is not legal", "2-0@2 2-3@2"),
        (parse_observation, seeing("legal 2-0@2"), 14, 1, "legal: 2-3@2 is legal too", "2-0@2 2-3@2"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_place(
    read: Callable[[str], Any], text: str, line: int, column: int, problem: str, expected: str
) -> None:
    with pytest.raises(NotationError) as refused:
        read(text)
    error = refused.value
    assert (error.line, error.column, error.problem, error.expected) == (line, column, problem, expected)
    assert str(error) == f"line {line}, column {column}: {problem}: expected {expected}"


def test_the_texts_of_these_tests_are_right() -> None:
    assert deal(f"hub 6 starter 2 {HANDS} {BONES}") == deal_of(parse_position(TABLE))
    assert observation_text(parse_observation(VIEW)).split("\n")[2:] == VIEW.split("\n")[1:]


def test_nothing_happens_after_the_end() -> None:
    position = Round.deal(SMALL, seed=1)
    while not position.over:
        position.apply(position.legal_moves()[0])
    with pytest.raises(NotationError, match=NO_MORE):
        parse_position(f"{position_text(position)} 1:draw")


def test_an_error_is_of_bounded_length_and_can_be_sent_to_another_process() -> None:
    with pytest.raises(NotationError) as refused:
        parse_rules(f"family {'x' * 10**6}")
    assert len(str(refused.value)) < 1000
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value)
    assert (again.line, again.column) == (1, 8)
    word = pickle.loads(pickle.dumps(Word("5-66", 3, 14)))  # it may be in what an error came from
    assert (word, word.line, word.column) == ("5-66", 3, 14)


# --- whatever comes ----------------------------------------------------------------------------------------------

READERS: Final[list[Callable[[str], Any]]] = [
    parse_tile, parse_tiles, parse_move, parse_moves, parse_event, parse_events, parse_rules, deal, held,
    parse_position, parse_observation,
]  # fmt: skip


@given(st.text() | st.text("0123456789-@:=/,;#mM \n\r\t\u2013dra"))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in READERS:
        with suppress(NotationError):
            read(text)


SAMPLES: Final = (playing("2:6-2@2 3:draw=3-6 3:6-3@M 6-1@1"), VIEW, f"hub 6 starter 2 {HANDS} {BONES}")


def refusal(read: Callable[[str], Any], text: str) -> NotationError | None:
    """The error of a text that cannot be read."""
    try:
        read(text)
    except NotationError as error:
        return error
    return None


@given(st.sampled_from(SAMPLES), st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_text_is_read_or_refused_at_a_place_in_it(text: str, data: st.DataObject) -> None:
    pieces = re.findall(r"\w+|\s|[^\w\s]", text)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(pieces)))
        junk = st.sampled_from([*set(pieces), "", "19", "#", "\u2212", "events", "train", "legal", "9" * 30, "\x00"])
        pieces[at : at + data.draw(st.integers(0, 3))] = data.draw(st.lists(junk, max_size=2))
    damaged = "".join(pieces)
    lines = re.split("\r\n|\n|\r", damaged)
    for read in READERS:
        if error := refusal(read, damaged):
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1
            assert str(error).isprintable()
            assert error.problem
            assert error.expected
