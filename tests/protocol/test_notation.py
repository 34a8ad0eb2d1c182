"""The notation: what is written is read back, also in disguise."""

from __future__ import annotations

import random
import re
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caboose.engine.belief.belief import determinize
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import Tile
from caboose.protocol.notation.notation import (
    deal_of,
    deal_text,
    event_text,
    events_text,
    moves_text,
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
    tiles_text,
)
from implementations import STYLES, choose, random_deal, random_rules

FORCED: Final = ("draw", "mark", "pass", "hub")
chances = st.integers(0, 2**32).map(random.Random)
thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def random_position(chance: random.Random) -> Round:
    """A round at any point of it, under any rules."""
    rules = random_rules(chance)
    round_ = Round(rules, random_deal(rules, chance))
    style = chance.choice(STYLES)
    for _ in range(chance.choice((0, chance.randrange(10), chance.randrange(100), 1000))):
        if round_.over:
            break
        text = choose([str(move) for move in round_.legal_moves()], round_.turn, style, chance)
        round_.apply(Move.parse(text))
    return round_


def same(a: Round, b: Round) -> bool:
    """Whether two rounds are equal in all that is seen and hidden."""
    hidden = (a.hands, a.boneyard, a.events) == (b.hands, b.boneyard, b.events)
    return hidden and all(a.observe(seat) == b.observe(seat) for seat in range(a.rules.players))


# --- round trips -------------------------------------------------------------------------------------------------


@given(chances)
@thorough
def test_rules_are_read_back(chance: random.Random) -> None:
    rules = random_rules(chance)
    assert parse_rules(str(rules)) == rules


@given(chances)
@thorough
def test_a_deal_is_read_back_with_its_hands_in_any_order(chance: random.Random) -> None:
    rules = random_rules(chance)
    dealt = random_deal(rules, chance)
    hands = tuple(tuple(chance.sample(hand, len(hand))) for hand in dealt.hands)
    for deal in (dealt, Deal(dealt.hub, hands, dealt.boneyard, dealt.starter)):
        text = deal_text(rules, deal)
        assert parse_deal(rules, text) == deal
        assert deal_text(rules, parse_deal(rules, text)) == text


@given(chances)
@thorough
def test_a_position_is_read_back(chance: random.Random) -> None:
    position = random_position(chance)
    text = position_text(position)
    assert same(parse_position(text), position)
    assert position_text(parse_position(text)) == text


@given(chances)
@thorough
def test_an_observation_is_read_back(chance: random.Random) -> None:
    position = random_position(chance)
    players = position.rules.players
    past = [[chance.randrange(300) for _ in range(players)] for _ in range(chance.randrange(3))]
    observation = position.observe(chance.randrange(players), past)
    text = observation_text(observation)
    assert parse_observation(text) == observation
    assert observation_text(parse_observation(text)) == text


@given(chances)
@thorough
def test_lists_are_read_back(chance: random.Random) -> None:
    position = random_position(chance)
    events = list(position.events)
    seen = list(position.observe(0).events)
    moves = [move for train in position.trains.values() for move in train]
    assert parse_events(events_text(events)) == events
    assert parse_events(events_text(seen)) == seen
    assert parse_moves(moves_text(moves)) == moves
    assert parse_tiles(tiles_text(position.boneyard)) == list(position.boneyard)
    for event in events:
        assert parse_event(event_text(event)) == event


@given(chances)
@thorough
def test_the_deal_of_a_round_is_the_one_that_it_began_with(chance: random.Random) -> None:
    rules = random_rules(chance)
    deal = random_deal(rules, chance)
    round_ = Round(rules, deal)
    while not round_.over:
        assert deal_of(round_) == deal
        round_.apply(chance.choice(round_.legal_moves()))
    assert deal_of(round_) == deal


def test_a_world_that_is_only_thought_of_is_a_position() -> None:
    rules = Rules.of("family", 3, set=6, hand=4)
    round_ = next(r for r in (Round.deal(rules, seed=seed) for seed in range(50)) if r.events)
    assert round_.events[0].kind == "draw"
    world = determinize(round_.observe((round_.events[0].seat + 1) % 3))
    assert parse_position(position_text(world)) == world


def test_a_deal_against_the_rules_is_not_written() -> None:
    rules = Rules.of("family", 3, set=6, hand=4)
    with pytest.raises(ValueError, match="expected 3"):
        deal_text(rules, Deal.random(Rules.of("family", 4, set=6, hand=4)))


def test_reading_does_not_depend_on_what_was_read_before() -> None:
    for _ in range(2):
        for text in ("5-12@M", "5-12@m", "5-12 @ M"):
            assert str(parse_move(text)) == "5-12@M"
        for text in ("2:draw=3-4", "2:DRAW=4-3"):
            assert parse_event(text).tile == Tile(3, 4)


# --- what is forgiven --------------------------------------------------------------------------------------------

BETWEEN: Final = (" ", "  ", "\t", "\n", "\r\n", "\r", ", ", " ; ", " # 5-66 is no tile, they say\n", " \t ", "\n\n")


def disguised(text: str, chance: random.Random) -> str:
    """The same, as somebody might have typed it."""

    def odd(part: re.Match[str]) -> str:
        sign = chance.choice("-\u2010\u2013\u2212") if part[0] == "-" else part[0]
        return chance.choice(("", "", " ", "\t ")) + sign + chance.choice(("", "", "  "))

    words = []
    for word in text.split():
        if chance.random() < 0.3:
            word = re.sub(r"(?<=^)(\d+)-(\d+)$|(?<=draw=)(\d+)-(\d+)$", _turned, word)
        if chance.random() < 0.5:
            word = "".join(chance.choice((letter.upper(), letter)) for letter in word)
        if chance.random() < 0.3:
            word = re.sub("[-@:=]", odd, word)
        if word.islower() and word.isalpha() and chance.random() < 0.3:
            word += ":"
        words.append(word + ("" if "/" in word and chance.random() < 0.5 else chance.choice(BETWEEN)))
    return chance.choice(("", "\ufeff")) + chance.choice(("", "# from memory\n")) + "".join(words)


def _turned(tile: re.Match[str]) -> str:
    low, high = [pips for pips in tile.groups() if pips is not None]
    return f"{high}-{low}"


def in_other_order(text: str, words: str, chance: random.Random) -> str:
    """The parts that begin with one of ``words``, shuffled."""
    parts = re.findall(rf"(?:{words})(?: (?!(?:{words})(?: |$))\S+)*", text.replace("\n", " "))
    assert " ".join(parts) == text.replace("\n", " ")
    return " ".join(chance.sample(parts, len(parts)))


@given(chances)
@thorough
def test_positions_and_deals_are_read_in_any_disguise(chance: random.Random) -> None:
    position = random_position(chance)
    text = in_other_order(position_text(position), "rules|hub|starter|hands|boneyard|events", chance)
    assert same(parse_position(disguised(text, chance)), position)
    text = in_other_order(deal_text(position.rules, deal_of(position)), "hub|starter|hands|boneyard", chance)
    assert parse_deal(position.rules, disguised(text, chance)) == deal_of(position)


@given(chances)
@thorough
def test_observations_and_lists_are_read_in_any_disguise(chance: random.Random) -> None:
    position = random_position(chance)
    observation = position.observe(chance.randrange(position.rules.players))
    assert parse_observation(disguised(observation_text(observation), chance)) == observation
    assert parse_rules(disguised(str(position.rules), chance)) == position.rules
    assert parse_events(disguised(events_text(position.events), chance)) == list(position.events)
    assert parse_tiles(disguised(tiles_text(position.boneyard), chance)) == list(position.boneyard)


@given(chances)
@thorough
def test_what_happens_by_itself_may_be_left_out(chance: random.Random) -> None:
    position = random_position(chance)
    rules, deal, _ = position_text(position).split("\n")
    share = chance.random()
    told = []
    for event in position.events:
        text = event_text(event)
        if event.kind in FORCED:
            if chance.random() < share:
                told.append(text.partition("=")[0] if chance.random() < 0.3 else text)
        elif chance.random() < 0.5:
            told.append(text)
        else:
            told.append(text.partition(":")[2])
    reading = parse_position(f"{rules} {deal} events {' '.join(told)}")
    replayed = position.events[: len(reading.events)]
    assert reading.events == replayed
    assert same(reading, position)


@given(chances)
@thorough
def test_the_moves_that_were_chosen_are_enough(chance: random.Random) -> None:
    rules = random_rules(chance)
    position = Round(rules, random_deal(rules, chance))
    start = position_text(position).rpartition("\nevents")[0]
    chosen: list[Move] = []
    while not position.over and len(chosen) < 60:
        chosen.append(chance.choice(position.legal_moves()))
        position.apply(chosen[-1])
    assert same(parse_position(f"{start}\nevents {moves_text(chosen)}"), position)


def test_a_position_without_events_is_about_to_begin() -> None:
    round_ = Round.deal(Rules.of("classic", 3), seed=4)
    text = position_text(round_).rpartition("\nevents")[0]
    assert same(parse_position(text), round_)
    assert same(parse_position(f"{text} events"), round_)


@pytest.mark.parametrize(
    ("text", "tile"),
    [("12-3", "3-12"), ("  3 -  12 ", "3-12"), ("3\u201312", "3-12"), ("\ufeff0-0 # blank", "0-0")],
)
def test_a_tile_may_be_typed_freely(text: str, tile: str) -> None:
    assert str(parse_tile(text)) == tile
