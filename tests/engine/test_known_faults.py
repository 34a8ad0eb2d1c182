"""The faults seen in other Mexican Train programs, each by name: rules, endings, bots, tournaments.

The rounds are laid out by hand and played on both implementations; ``test_rules_cases.py`` has more like them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.bots import BOTS, create
from caboose.engine.bot_api import Limits
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event, Observation, Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from implementations import choose, random_rounds, walk
from players import Scripted, contestants_of, lineup_of
from reference import MEXICAN, whole_set
from staged_rounds import (
    CLOSING,
    CLOSING_HANDS,
    MakeRound,
    doubles,
    family,
    on_both,
    play,
    staged,
    story,
    tail,
    tournament,
)

NODES = Limits(nodes=30)

# The end of a round.


@on_both
@pytest.mark.parametrize("hand, drawn", [(13, 1), (11, 5), (9, 9)])
def test_a_round_is_not_called_blocked_while_the_boneyard_has_tiles(make: MakeRound, hand: int, drawn: int) -> None:
    rules = family(2, hand)
    game = make(rules, staged(rules, CLOSING_HANDS))
    assert len(game.boneyard) == drawn
    play(game, CLOSING)
    assert game.blocked
    assert len(game.boneyard) == 0
    assert sum(kind == "draw" for kind, _, _, _ in game.events) == drawn


def test_every_round_ends_also_when_nobody_can_play_any_more() -> None:
    """Without a rule for it, 7 to 26 of 100 rounds never end."""
    blocked = 0
    for rules, deal, style, rng in random_rounds(1500, "ends"):
        round_ = Round(rules, deal)
        for _ in range(3 * len(whole_set(rules.set))):
            if round_.over:
                break
            legal = {str(move): move for move in round_.legal_moves()}
            assert legal
            round_.apply(legal[choose(list(legal), round_.turn, style, rng)])
        assert round_.over
        assert round_.blocked != any(size == 0 for size in round_.hand_sizes)
        blocked += round_.blocked
    assert blocked > 100


# Markers.


@on_both
def test_a_marker_is_removed_when_its_owner_plays_on_the_own_train(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "6-2 2-3"], boneyard="1-1 6-4"))
    play(game, "6-2@2")
    assert game.markers == [True, False]
    assert game.legal_moves() == ["6-4@1", "6-4@M"]
    play(game, "6-4@1")
    assert game.markers == [False, False]
    assert game.legal_moves() == ["2-3@2"]


@on_both
def test_a_marker_is_not_removed_by_a_play_elsewhere(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "6-2 2-3"], boneyard="1-1 6-4"))
    play(game, "6-2@2 6-4@M")
    assert game.markers == [True, False]


# Doubles.


@on_both
@pytest.mark.parametrize("order, first, second", [("fifo", "3-1@1", "5-2@M"), ("lifo", "5-1@M", "3-2@1")])
def test_not_only_one_open_double_is_remembered(make: MakeRound, order: str, first: str, second: str) -> None:
    rules = family(3, 6, extra_after_doubles="anywhere", doubles_order=order)
    hands = ["6-3 3-3 5-5 6-2 5-0 3-0", "6-5 1-1 2-2 3-1 5-1 0-1", "0-0 1-2 1-4 2-4 4-4 0-2"]
    drawn, _, _ = second.partition("@")
    game = make(rules, staged(rules, hands, boneyard=f"0-4 {drawn}"))
    play(game, "6-3@1 6-5@M 3-3@1 5-5@M 6-2@3")
    assert doubles(game) == [(0, 3, 1), (MEXICAN, 5, 1)]
    assert game.turn == 1
    assert game.legal_moves() == [first]
    play(game, first)
    assert len(doubles(game)) == 1
    assert game.turn == 2
    assert game.legal_moves() == [second]
    play(game, second)
    assert doubles(game) == []


@on_both
@pytest.mark.parametrize("dead_double, left", [("release", []), ("hold", [(0, 3, 1)])])
def test_a_dead_double_does_not_bind_forever_unless_held(
    make: MakeRound, dead_double: str, left: list[tuple[int, int, int]]
) -> None:
    rules = tournament(2, 11, dead_double=dead_double)
    hands = ["6-3 3-0 0-2 2-3 3-1 1-4 4-3 6-5 5-5 3-3 4-4", "6-2 2-1 5-3 1-1"]
    game = make(rules, staged(rules, hands, boneyard="0-0"))
    play(game, "6-3@1 3-0@1 0-2@1 2-3@1 3-1@1 1-4@1 4-3@1 stop 6-2@2 stop 6-5@M 2-1@2 5-5@M 3-3@1")
    assert tail(game, 2) == ["1:draw=0-0", "1:mark"]
    assert doubles(game) == [(MEXICAN, 5, 1), (0, 3, 1)]
    assert all(move.startswith("5-") and move.endswith("@M") for move in game.legal_moves())
    # This tile answers 5-5, and it is the last one with a 3.
    play(game, "5-3@M")
    assert doubles(game) == left
    assert game.blocked is (dead_double == "hold")


# The drawn tile.


@on_both
def test_the_drawn_tile_is_not_skipped(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "6-2 2-3"], boneyard="6-4"))
    assert story(game) == "1:draw=4-6"
    assert game.turn == 0
    assert game.markers == [False, False]
    assert game.legal_moves() == ["6-4@1", "6-4@M"]


# Bots.


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_does_not_read_the_other_hands_or_the_boneyard(name: str) -> None:
    """It chooses the same when the tiles that it cannot see change places, and when all that it is given was made
    anew from what its seat saw."""
    for core, rng in itertools.islice(walk(60, "hidden", 0.1), 60):
        round_ = core.round
        if round_.over:
            continue
        seen = round_.observe(round_.turn)
        events = seen.events
        again = Observation.replay(seen.rules, seen.hub, seen.seat, seen.starter, seen.hand, events)
        assert create(name).choose(again, NODES) == create(name).choose(seen, NODES)

        # At the first choice any other deal of the hidden tiles is as good; with a placed hub nobody has drawn for it.
        deal = Deal.random(Rules.of("family", 3), seed=rng.getrandbits(30), starter=1)
        others = [*deal.hands[0], *deal.hands[2], *deal.boneyard]
        rng.shuffle(others)
        size = len(deal.hands[0])
        mixed = Deal(
            deal.hub,
            (tuple(others[:size]), deal.hands[1], tuple(others[size : 2 * size])),
            tuple(others[2 * size :]),
            1,
        )
        one, other = (Round(Rules.of("family", 3), made) for made in (deal, mixed))
        if one.turn == other.turn == 1 and not one.events:
            assert create(name).choose(one.observe(1), NODES) == create(name).choose(other.observe(1), NODES)


def test_players_are_given_nothing_but_observations() -> None:
    players = [Scripted() for _ in range(3)]
    game = Game(Rules.of("tournament", 3, rounds=1), seed=1)
    play_game(game, players, TimeControl(nodes=1), fallback=create("greedy"))
    for seat, player in enumerate(players):
        assert player.asked
        for seen in player.asked:
            assert type(seen) is Observation and seen.seat == seat
            hidden = [event for event in seen.events if event.kind == "draw" and event.seat != seat]
            assert all(event.tile is None for event in hidden)


# Tournaments.


def match_plan(words: list[str], options: list[str], rules: Rules, in_process: bool = True) -> Plan:
    """A match of built-in bots that writes down its games."""
    lineup = lineup_of(contestants_of(words, [], options), rules.players)
    control = TimeControl(nodes=20)
    return Plan(rules=rules, lineup=lineup, control=control, seed=9, in_process=in_process, recording=True)


def choices(rules: Rules, deal: Deal, events: Sequence[Event]) -> Iterator[tuple[int, Observation, Move]]:
    """Who chose what in a round, and what the chooser saw."""
    position = Round(rules, deal)
    while not position.over:
        seat, legal = position.turn, position.legal_moves()
        told = events[len(position.events)]
        move = STOP if told.kind == "stop" else told.move
        assert move is not None
        if len(legal) > 1:
            yield seat, position.observe(seat), move
        position.apply(move)


@pytest.mark.parametrize("in_process", [True, False])
def test_not_every_bot_of_a_tournament_runs_the_same_settings(in_process: bool) -> None:
    """Two random bots that differ in an option: each choice is that of a bot with its own player's value of it."""
    seeds = "5", "6"
    plan = match_plan(
        ["random"] * 2,
        [f"{n}.Seed={seed}" for n, seed in enumerate(seeds, 1)],
        Rules.of("family", 2, rounds=1),
        in_process,
    )
    with Bench(plan) as bench:
        block = play_block(plan, bench, 0, lambda: None)
    differ = 0
    for game in block.games:
        for played in game.result.rounds:
            assert played.log is not None
            for seat, seen, move in choices(plan.rules, played.log.deal, played.log.events):
                own, other = seeds[game.seating[seat]], seeds[1 - game.seating[seat]]
                assert create("random", Seed=own).choose(seen, NODES) == move
                differ += create("random", Seed=other).choose(seen, NODES) != move
    assert differ > 20


@pytest.mark.parametrize("preset", PRESETS)
def test_not_always_the_same_seat_leads(preset: str) -> None:
    """Four bots alike: each wins as often as the others and has the first turn as often, in every single block."""
    plan = match_plan(["greedy"] * 4, [], Rules.of(preset, 4, rounds=3))
    wins, starts = Counter[int](), Counter[int]()
    with Bench(plan) as bench:
        for number in range(12):
            for game in play_block(plan, bench, number, lambda: None).games:
                wins.update(game.seating[seat] for seat in game.result.winners)
                starts.update(game.seating[played.starter] for played in game.result.rounds)
            assert len(set(wins.values())) == 1 and len(wins) == 4, wins
            assert starts == dict.fromkeys(range(4), 3 * (number + 1))


def test_no_seat_has_the_first_turn_more_often() -> None:
    """Also without the rotations of a match: over many games each seat begins as often as chance has it."""
    for preset in PRESETS:
        rules = Rules.of(preset, 4, rounds=3)
        starts = Counter[int]()
        for seed in range(1000):
            game = Game(rules, seed)
            while not game.over:
                starts[game.round.starter] += 1
                game.finish_round([0] * 4)
        # Rounds under starter=rotate are not independent, but each seat is the first one of a game by lot.
        assert all(abs(count - 750) < 5 * (3 * 1000 * 3 / 16) ** 0.5 for count in starts.values()), starts
