"""Observations as text: complete, secret, and checked line by line and all together."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import CHOICES, Rules, RulesError
from caboose.engine.rules.tiles import Tile
from caboose.protocol.notation import notation
from caboose.protocol.notation.lines import MAX_LINE, ProtocolError, text_of
from caboose.protocol.notation.observation import ObservationReader, observation_lines
from paths import DOCS

LEFT_OUT = 0.8  # of the positions of a random round
PROTOCOL_PAGE = DOCS / "reference" / "protocol.md"


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    preset = draw(st.sampled_from(["classic", "tournament", "family"]))
    players = draw(st.integers(2, 12 if preset == "family" else 14))
    given_options = {name: draw(st.none() | st.sampled_from(values)) for name, values in CHOICES.items()}
    try:
        return Rules.of(preset, players, **given_options)
    except RulesError:
        return Rules.of(preset, players)


def positions(rules: Rules, seed: int) -> Iterator[Round]:
    """A random round, before each of its choices and at its end. The same object at every step."""
    choose = random.Random(seed)
    game = Round.deal(rules, seed=seed)
    yield game
    while not game.over:
        game.apply(choose.choice(game.legal_moves()))
        yield game


def read(lines: list[str]) -> Observation:
    reader = ObservationReader()
    for line in lines:
        reader.feed(line)
    return reader.observation()


# --- complete ---


@given(some_rules(), st.integers(0, 1000), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_observation_is_read_back_at_any_step_by_any_seat(rules: Rules, seed: int, pick: random.Random) -> None:
    past = [[pick.randrange(200) for _ in range(rules.players)] for _ in range(pick.randrange(3))]
    for game in positions(rules, seed):
        if pick.random() < LEFT_OUT and not game.over:
            continue
        for seat in {pick.randrange(rules.players), max(game.turn, 0)}:
            observation = game.observe(seat, past)
            lines = observation_lines(observation)
            assert all(len(line) <= MAX_LINE and text_of(line.encode("ascii")) == line for line in lines)
            order = lines[1:]
            repeated = [line for line in order if line.startswith("scores")]
            pick.shuffle(order)  # only the rounds' scores have an order among themselves
            mixed = iter(repeated)
            order = [next(mixed) if line.startswith("scores") else line for line in order]
            assert read(order) == observation
            assert (lines[-1].startswith("legal ")) == (game.turn == seat)


def test_events_may_come_in_several_lines() -> None:
    *_, game = positions(Rules.of("classic", 3), 5)
    observation = game.observe(1)
    lines = []
    for line in observation_lines(observation):
        entries = line.split()[1:]
        if line.startswith("events"):
            lines += [f"events {' '.join(entries[start : start + 3])}" for start in range(0, len(entries), 3)]
        else:
            lines.append(line)
    assert read(lines) == observation


# --- secrecy -----------------------------------------------------------------------------------------------------


@given(some_rules(), st.integers(0, 1000), st.integers(0, 13))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_line_names_a_tile_that_the_seat_cannot_know(rules: Rules, seed: int, seat: int) -> None:
    seat %= rules.players
    for step, game in enumerate(positions(rules, seed)):
        if step % 3 and not game.over:
            continue
        observation = game.observe(seat)
        known = set(observation.hand)
        known |= {event.tile for event in observation.events if event.kind == "play" and event.tile}
        for line in observation_lines(observation):
            for text in re.findall(r"(?<![\w:])(?:\d+:draw=)?(\d+-\d+)(?:@\w+)?", line):
                assert notation.parse_tile(text) in known | {Tile(game.hub, game.hub)}


@given(st.integers(2, 6), st.integers(0, 1000), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_deals_that_differ_only_in_the_hidden_send_the_same_lines(players: int, seed: int, mix: random.Random) -> None:
    rules = Rules.of("family", players)
    deal = Deal.random(rules, seed=seed, starter=0)
    hidden = [tile for hand in deal.hands[1:] for tile in hand] + list(deal.boneyard)
    mix.shuffle(hidden)
    size = rules.hand
    others = tuple(tuple(hidden[i * size : (i + 1) * size]) for i in range(players - 1))
    mixed = Deal(deal.hub, (deal.hands[0], *others), tuple(hidden[(players - 1) * size :]), 0)
    games = [Round(rules, deal), Round(rules, mixed)]
    if any(games[0].events or game.turn != 0 for game in games):
        return  # a draw at once makes the boneyard public
    first, second = (observation_lines(game.observe(0)) for game in games)
    assert first == second


# --- what cannot be read -----------------------------------------------------------------------------------------

POSITION = """rules family players=3 set=6 hand=4
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


def test_the_position_of_these_tests_is_right() -> None:
    observation = read(POSITION.splitlines())
    assert observation.past_scores == ((10, 0, 33),)
    assert observation_lines(observation)[2:] == POSITION.splitlines()[1:]


@pytest.mark.parametrize(
    ("line", "names", "expected"),
    [
        ("seat 4", "seat: 4", "expected 1 to 3"),
        ("round 3 hub 6 starter 1", "scores: 1 lines", "expected 2"),
        ("round 2 hub 7 starter 1", "round: hub 7", "double-6"),
        ("round 2 hub 6 starter 4", "round: starter 4", "expected 1 to 3"),
        ("round 2 hub 6 starter 3", "events: event 1", "turn of seat 3"),
        ("scores 1 2 3", "scores: 2 lines", "expected 1"),
        ("events 3:pass", "events: event 6", "turn of seat 2"),
        ("events 2:2-5@2", "hand: 3 tiles", "expected 4"),
        ("events 2:draw=1-1", "hand: tile 1-1", "was drawn"),
        ("events 2:2-3@2 3:draw=1-1", "events: event 7", "expected 3:draw"),
        ("events 9:draw", "events: event 6", "turn of seat 2"),
        ("events 1:hub", "events: event 6", ""),
        ("hand 0-2 2-3", "hand: 2 tiles", "expected 4"),
        ("hand 0-2 2-3 2-3", "hand: tile 2-3", "twice"),
        ("hand 0-2 2-3 3-9", "hand:", "double-6"),
        ("hand 0-2 2-3 5-6", "events: event 1", "5-6 is in the hand"),
        ("hands 3 3 5", "hands: 3 3 5", "expected 2 3 5"),
        ("hands 2 3", "hands: 2 3", "expected 2 3 5"),
        ("boneyard 13", "boneyard: 13", "expected 14"),
        ("train 3 tiles 0 marker no ends 6", "train 3", "expected tiles 0 marker yes ends 6"),
        ("train 1 tiles 1 marker no ends 1", "train 1", "expected tiles 2"),
        ("train M tiles 0 marker no ends 6 6", "train M", "ends 6 after"),
        ("train 4 tiles 0 marker no ends 6", "train: 4", "expected 1 to 3 or M"),
        ("doubles 1:5:1", "doubles: 1:5:1", "expected nothing"),
        ("legal 2-0@2", "legal: 2-3@2 is legal too", "expected 2-0@2 2-3@2"),
        ("legal 2-0@2 2-3@2 6-5@M", "legal: move 3", "expected 2-0@2 2-3@2"),
        ("legal 2-0@2 2-3@2 2-0@2", "legal: move 3", "twice"),
    ],
)
def test_lines_that_do_not_fit_together_are_named(line: str, names: str, expected: str) -> None:
    reader = ObservationReader()
    for good in POSITION.splitlines():
        reader.feed(good)
    reader.feed(line)
    with pytest.raises(ProtocolError) as refused:
        reader.observation()
    assert names in str(refused.value)
    assert expected in str(refused.value)


@pytest.mark.parametrize("word", ["rules", "seat", "round", "hand"])
def test_a_line_that_is_missing_is_named(word: str) -> None:
    with pytest.raises(ProtocolError, match=f"^{word}: there is no such line"):
        read([line for line in POSITION.splitlines() if not line.startswith(word)])


def test_the_lines_that_only_repeat_may_be_missing() -> None:
    extra = ("hands", "boneyard", "train", "doubles", "legal")
    bare = [line for line in POSITION.splitlines() if not line.startswith(extra)]
    assert read(bare) == read(POSITION.splitlines())


@pytest.mark.parametrize(
    ("line", "names", "expected"),
    [
        ("observation now", "observation: 'now'", "expected nothing"),
        ("rules", "rules: no rules", "expected a preset"),
        ("rules bridge", "rules: unknown preset 'bridge'", "classic, tournament, family"),
        ("rules family players=4 seat=12", "rules: unknown rule option 'seat'", "did you mean 'set'"),
        ("rules family players=99", "rules: players=99", "2 to 12"),
        ("seat", "seat: 0 words", "expected a seat"),
        ("seat 0", "seat: '0'", "1 to 14"),
        ("seat M", "seat: 'M'", "1 to 14"),
        ("seat 1 2", "seat: 2 words", "expected a seat"),
        ("round 1", "round: '1'", "NUMBER hub PIPS starter SEAT"),
        ("round 0 hub 6 starter 1", "round: '0'", "at least 1"),
        ("round 1 hub 19 starter 1", "round: '19'", "0 to 18"),
        ("round 1 hub 6 starter x", "round: 'x'", "1 to 14"),
        ("scores 1 -2 3", "scores: score 2: '-2'", "whole number"),
        ("events 1:6-5@1 2:6-2", "events: event 2: '2:6-2'", "2:5-12@M"),
        ("events 1:6-5@1 2:6-2@X", "events: event 2: '2:6-2@X'", "expected a seat from 1 to 14, or M"),
        ("events 1", "events: event 1: '1'", "SEAT:WHAT"),
        ("events :draw", "events: event 1", "not a seat"),
        ("events 1:drawn", "events: event 1", "SEAT:WHAT"),
        ("events 1:draw=", "events: event 1", "not a tile"),
        ("events 15:draw", "events: event 1", "1 to 14"),
        ("hand 1-2 3_4", "hand: tile 2: '3_4'", "such as 3-12"),
        ("hand 1-2 3-19", "hand: tile 2: '3-19'", "0 to 18"),
        ("hand 1-2 --3", "hand: tile 2", "0 to 18"),
        ("hands 1 two", "hands: count 2: 'two'", "whole number"),
        ("hands 1 9999999999999999", "hands: count 2", "15 digits"),
        ("boneyard", "boneyard: 0 words", "expected a number"),
        ("boneyard -1", "boneyard: '-1'", "whole number"),
        ("train 1 ends 5", "train: '1 ends 5'", "TRAIN tiles COUNT"),
        ("train 1 tiles 3 marker maybe ends 5", "train: ", "yes|no"),
        ("train 0 tiles 3 marker no ends 5", "train: '0'", "1 to 14, or M"),
        ("train 1 tiles 3 marker no ends", "train: ", "ends PIPS"),
        ("train 1 tiles 3 marker no ends 5 five", "train: end 2: 'five'", "0 to 18"),
        ("doubles 1:5", "doubles: double 1: '1:5'", "TRAIN:PIPS:NEED"),
        ("doubles 1:5:1 1:5:0", "doubles: double 2: '0'", "at least 1"),
        ("legal 5-12@M 5-12", "legal: move 2: '5-12'", "such as 5-12@M"),
        ("legal 5-12@M \t 5-12@15", "legal: move 2: '15'", "1 to 14"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_must_come_again(line: str, names: str, expected: str) -> None:
    reader = ObservationReader()
    word = line.split(maxsplit=1)[0]
    for good in POSITION.splitlines():
        if not good.startswith(word + " "):
            reader.feed(good)
    with pytest.raises(ProtocolError) as refused:
        reader.feed(line)
    assert names in str(refused.value)
    assert expected in str(refused.value)
    with pytest.raises(ProtocolError, match=f"^{word}: this line was refused, expected it again"):
        reader.observation()
    reader.feed("observation")
    for good in POSITION.splitlines():
        reader.feed(good)
    assert reader.observation() == read(POSITION.splitlines())


def test_a_line_that_is_sent_again_replaces_the_refused_one() -> None:
    reader = ObservationReader()
    for good in POSITION.splitlines():
        reader.feed(good)
    with pytest.raises(ProtocolError):
        reader.feed("hand 0-2 2-3 3-x")
    reader.feed("hand 0-2 2-3 3-4")
    assert reader.observation() == read(POSITION.splitlines())


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_whatever_comes_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    lines = POSITION.splitlines()
    pieces = st.sampled_from([*POSITION.split(), "9999999", "-", "@", ":", "M", "draw", "x" * 50, "19-19", "1:stop"])
    reader = ObservationReader()
    for number in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(lines) - 1), label=f"line {number}")
        entries = lines[where].split()
        cut = data.draw(st.integers(1, len(entries)))
        entries[cut : cut + data.draw(st.integers(0, 2))] = data.draw(st.lists(pieces, max_size=3))
        lines[where] = " ".join(entries)
    for line in lines:
        with suppress(ProtocolError):
            reader.feed(line)
    with suppress(ProtocolError):
        observation = reader.observation()
        assert read(observation_lines(observation)) == observation


def test_the_example_of_the_page_is_an_observation() -> None:
    text = PROTOCOL_PAGE.read_text(encoding="utf-8")
    example = text.partition("> observation\n> rules")[2].partition("```")[0]
    lines = [line.removeprefix("> ").replace(" …", "") for line in f"> rules{example}".splitlines()]
    assert lines.pop().startswith("go 17")
    observation = read(lines)
    assert observation.turn == observation.seat
    assert observation_lines(observation)[2:] == lines[1:]
