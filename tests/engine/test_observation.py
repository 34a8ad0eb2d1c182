"""What a seat may know: all that is public, its own hand, and nothing else; made from a round or from its parts."""

from __future__ import annotations

import pickle
import random

import pytest

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import EVENT_KINDS, Event, Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import TILES, Tile
from implementations import choose, random_rounds, walk
from reference import MEXICAN, whole_set
from staged_rounds import family, staged


def parts_of(seen: Observation, events: tuple[Event, ...] | None = None) -> Observation:
    """The observation made anew from what can be read off it."""
    shown = seen.events if events is None else events
    return Observation.replay(seen.rules, seen.hub, seen.seat, seen.starter, seen.hand, shown, seen.past_scores)


def test_an_observation_is_what_its_parts_say() -> None:
    for core, rng in walk(150, "parts", 0.03):
        past = [[rng.randrange(90) for _ in range(core.rules.players)] for _ in range(rng.randrange(3))]
        for seat in range(core.rules.players):
            seen = core.round.observe(seat, past)
            again = parts_of(seen)
            assert again == seen, (str(core.rules), seat, core.events)
            for both in (seen, again):
                assert (both.turn, both.over, both.blocked, both.starter, both.hub) == (
                    core.turn, core.over, core.blocked, core.starter, core.round.hub
                )  # fmt: skip
                assert both.seat == seat
                assert set(both.hand) == {Tile(*tile) for tile in core.hands[seat]}
                assert both.past_scores == tuple(map(tuple, past))
                assert both.hand_sizes == core.round.hand_sizes
                assert both.boneyard_size == len(core.boneyard)
                assert both.markers == core.round.markers
                assert both.open_doubles == core.round.open_doubles
                assert both.binding == core.round.binding
                assert both.trains == core.round.trains
                for train in [*range(core.rules.players), MEXICAN]:
                    assert both.ends(train) == core.round.ends(train)
                    assert both.started(train) == core.round.started(train)
                if core.turn == seat or core.over:
                    assert [str(move) for move in both.legal_moves()] == core.legal_moves()
                else:
                    with pytest.raises(ValueError):
                        both.legal_moves()


def test_an_observation_hides_what_others_drew_and_nothing_else() -> None:
    for core, _ in walk(150, "hides", 0.03):
        for seat in range(core.rules.players):
            shown = core.round.observe(seat).events
            assert len(shown) == len(core.round.events)
            for theirs, ours in zip(shown, core.round.events, strict=True):
                assert theirs.kind in EVENT_KINDS
                hidden = ours.kind == "draw" and ours.seat != seat
                assert theirs == (ours._replace(tile=None) if hidden else ours)


def test_an_observation_offers_nothing_hidden() -> None:
    seen = Round.deal(Rules.of("family", 4), seed=3).observe(0)
    for name in ("hands", "boneyard", "scores", "deal", "apply", "copy", "observe"):
        assert not hasattr(seen, name)


def test_two_worlds_that_differ_only_in_hidden_tiles_look_the_same() -> None:
    """Swaps two tiles that one seat has not seen and replays the same moves; whenever all that is public stays
    the same, so must the observation."""
    alike = 0
    for rules, deal, style, rng in random_rounds(400, "worlds"):
        round_ = Round(rules, deal)
        moves: list[Move] = []
        while not round_.over and len(moves) < rng.randint(1, 40):
            text = choose([str(m) for m in round_.legal_moves()], round_.turn, style, rng)
            moves.append(Move.parse(text))
            round_.apply(moves[-1])
        seat = rng.randrange(rules.players)
        shown = {event.tile for event in round_.events if event.kind == "play"} | {Tile(deal.hub, deal.hub)}
        mine = {event.tile for event in round_.events if event.kind == "draw" and event.seat == seat}
        mine |= set(deal.hands[seat])
        unseen = [tile for tile in TILES[: len(whole_set(rules.set))] if tile not in shown | mine]
        if len(unseen) < 2:
            continue
        first, second = rng.sample(unseen, 2)
        swap = {first: second, second: first}
        other = Round(
            rules,
            Deal(
                deal.hub,
                tuple(tuple(swap.get(tile, tile) for tile in hand) for hand in deal.hands),
                tuple(swap.get(tile, tile) for tile in deal.boneyard),
                deal.starter,
            ),
        )
        try:
            for move in moves:
                other.apply(move)
        except ValueError:
            continue
        if [e._replace(tile=None) for e in other.events] != [e._replace(tile=None) for e in round_.events]:
            continue
        assert other.observe(seat) == round_.observe(seat)
        alike += other.hands != round_.hands or other.boneyard != round_.boneyard
    assert alike > 50


def test_observations_that_differ_are_not_equal() -> None:
    round_ = Round.deal(Rules.of("family", 3), seed=1)
    seen = round_.observe(round_.turn)
    assert seen == round_.observe(round_.turn)
    assert seen != round_.observe((round_.turn + 1) % 3)
    assert seen != round_.observe(round_.turn, [[1, 2, 3]])
    assert seen != "something else"
    before = round_.observe(round_.turn)
    round_.apply(round_.legal_moves()[0])
    assert before != round_.observe(before.seat)


# What replay refuses.


def damaged(events: list[Event], rng: random.Random) -> list[Event]:
    """The events with one thing wrong."""
    events = list(events)
    index = rng.randrange(len(events))
    event = events[index]
    tile = rng.choice([None, rng.choice(TILES), rng.choice(TILES[:28])])
    anything = rng.choice([None, STOP, *(Move.of(t, rng.choice([0, 1, 13, MEXICAN]), t.low) for t in TILES[:28])])
    elsewhere = rng.choice(events)
    changed = {
        "drop": [],
        "twice": [event, event],
        "exchange": [elsewhere],
        "insert": [event, elsewhere],
        "seat": [event._replace(seat=rng.randint(-2, 16))],
        "kind": [event._replace(kind=rng.choice([*EVENT_KINDS, "", "steal"]))],
        "tile": [event._replace(tile=tile)],
        "move": [event._replace(move=anything)],
        "play": [Event("play", event.seat, None if anything is None else anything.tile, anything)],
        "draw": [Event("draw", event.seat, tile, None)],
    }
    events[index : index + 1] = changed[rng.choice(list(changed))]
    return events[: rng.randrange(len(events) + 1)] if rng.random() < 0.1 else events


def test_a_damaged_story_is_refused_or_makes_sense() -> None:
    """A damaged story may still be a possible one (its last event missing, say). Then what comes out must be sound."""
    refused = 0
    for core, rng in walk(100, "damaged", 0.1):
        if not core.events:
            continue
        seen = core.round.observe(rng.randrange(core.rules.players))
        events = damaged(list(seen.events), rng)
        hand = list(seen.hand)
        if rng.random() < 0.3:
            hand += rng.choice([[], [rng.choice(TILES)], [Tile(seen.hub, seen.hub)]])
            hand[: rng.randrange(2)] = []
        try:
            again = Observation.replay(seen.rules, seen.hub, seen.seat, seen.starter, hand, events)
        except ValueError as error:
            refused += str(error) != ""
            continue
        assert sorted(again.hand) == sorted(hand)
        assert len(again.events) == len(events)
        on_table = {move.tile for moves in again.trains.values() for move in moves} | {Tile(again.hub, again.hub)}
        assert len(on_table) == sum(event.kind == "play" for event in events) + 1
        assert not on_table & set(hand)
        assert again.hand_sizes[again.seat] == len(hand)
        assert len(on_table) + sum(again.hand_sizes) + again.boneyard_size == len(whole_set(again.rules.set))
        assert parts_of(again) == again
        if again.turn == again.seat:
            assert again.legal_moves()
    assert refused > 100


def test_a_replay_with_a_wrong_hand_is_refused() -> None:
    round_ = Round.deal(Rules.of("family", 3), seed=1)
    for _ in range(12):
        round_.apply(round_.legal_moves()[0])
    seen = round_.observe(1)
    lying = next(event.tile for event in seen.events if event.kind == "play")
    assert lying is not None
    other = next(tile for tile in round_.hands[0] if tile not in seen.hand)
    for hand in (seen.hand[:-1], (*seen.hand, other), (*seen.hand[:-1], lying), (*seen.hand[:-1], seen.hand[0])):
        with pytest.raises(ValueError):
            Observation.replay(seen.rules, seen.hub, 1, seen.starter, hand, seen.events)
    for hub, seat, starter in ((13, 1, 0), (-1, 1, 0), (12, 3, 0), (12, -1, 0), (12, 1, 3), (12, 1, -2)):
        with pytest.raises(ValueError):
            Observation.replay(seen.rules, hub, seat, starter, seen.hand, seen.events)
    with pytest.raises(ValueError):
        Observation.replay(seen.rules, seen.hub, 1, seen.starter, seen.hand, seen.events, [[1, 2]])


def test_a_hand_with_a_tile_that_its_seat_has_played_is_refused() -> None:
    round_ = Round.deal(Rules.of("family", 3), seed=1)
    for _ in range(12):
        round_.apply(round_.legal_moves()[0])
    seen = round_.observe(1)
    played = next(event.tile for event in seen.events if event.kind == "play" and event.seat == 1)
    assert played is not None
    with pytest.raises(ValueError):
        Observation.replay(seen.rules, seen.hub, 1, seen.starter, (*seen.hand, played), seen.events)


def test_a_hand_with_the_placed_hub_is_refused() -> None:
    rules = Rules.of("family", 3)
    seen = Round.deal(rules, seed=1, starter=0).observe(1)
    with pytest.raises(ValueError):
        Observation.replay(rules, seen.hub, 1, 0, (*seen.hand[:-1], Tile(12, 12)), seen.events)


def test_draws_for_the_hub_while_the_seat_holds_it_are_refused() -> None:
    rules = Rules.of("classic", 2, set=6, hand=3)
    hub, first, second = Tile(6, 6), Tile(0, 1), Tile(0, 2)
    laid = Event("hub", 0)
    # It was dealt, yet all draw.
    story = [Event("draw", 0, first), Event("draw", 1), Event("draw", 0, second), laid]
    with pytest.raises(ValueError):
        Observation.replay(rules, 6, 0, 0, [Tile(6, 1), Tile(2, 2), first, second], story)
    # It was drawn, yet the drawing goes on.
    story = [Event("draw", 0, hub), Event("draw", 1), Event("draw", 0, second), laid]
    with pytest.raises(ValueError):
        Observation.replay(rules, 6, 0, 0, [Tile(1, 6), Tile(2, 2), Tile(3, 3), second], story)
    # It is laid at the right moment.
    story = [Event("draw", 0, first), Event("draw", 1), Event("draw", 0, hub), laid]
    assert Observation.replay(rules, 6, 0, 0, [Tile(1, 6), Tile(2, 2), Tile(3, 3), first], story).turn == 0


def test_another_tile_than_the_drawn_one_after_a_draw_is_refused() -> None:
    rules = family(2, 4, double_answer="own")
    round_ = Round(rules, staged(rules, ["6-3 3-3 0-0 5-0", "6-5 0-1 0-2 1-1"], boneyard="5-4"))
    for text in ("6-3@1", "6-5@M", "3-3@1"):
        round_.apply(Move.parse(text))
    seen = round_.observe(0)
    assert [str(move) for move in seen.legal_moves()] == ["5-4@M"]
    for text, possible in (("5-4@M", True), ("5-0@M", False)):
        move = Move.parse(text)
        hand = [tile for tile in seen.hand if tile != move.tile]
        events = [*seen.events, Event("play", 0, move.tile, move)]
        if possible:
            assert Observation.replay(rules, 6, 0, 0, hand, events).turn == 1
        else:
            with pytest.raises(ValueError):
                Observation.replay(rules, 6, 0, 0, hand, events)


def test_rounds_and_observations_can_be_copied_compared_and_pickled() -> None:
    for core, _ in walk(40, "pickle", 0.05):
        round_ = core.round
        seen = round_.observe(0, [[3] * core.rules.players])
        for thing in (round_, seen):
            assert pickle.loads(pickle.dumps(thing)) == thing
            assert repr(thing).startswith(f"<{type(thing).__name__} {core.rules.preset}, hub {round_.hub}, ")
        assert round_.copy() == round_
        assert pickle.loads(pickle.dumps(round_)).legal_moves() == round_.legal_moves()
        if not round_.over:
            other = round_.copy()
            other.apply(other.legal_moves()[0])
            assert other != round_
    with pytest.raises(TypeError):
        hash(round_)
