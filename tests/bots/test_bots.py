"""The built-in bots: legal, reproducible, within their limits, each better than the one before."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import pytest

from caboose.bots import BOTS, BotError, create
from caboose.bots.mcts import TUNED, MctsBot
from caboose.engine.belief.belief import determinize
from caboose.engine.bot_api import Bot, Info, Limits, OptionError
from caboose.engine.policy.playout import longest_train, policy_move
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.engine.rules.tiles import TILES, Tile, tile_of
from caboose.engine.search.search import Search
from implementations import random_deal, random_rules


def positions(count: int, seed: str) -> Iterator[tuple[Round, Observation]]:
    """Choices of random rounds under random rules, seen by the seat that has them."""
    rng = random.Random(seed)
    for _ in range(count):
        rules = random_rules(rng)
        round_ = Round(rules, random_deal(rules, rng))
        for _ in range(rng.randrange(60)):
            if round_.over:
                break
            round_.apply(rng.choice(round_.legal_moves()))
        if not round_.over:
            yield round_, round_.observe(round_.turn)


def test_every_bot_is_a_bot() -> None:
    assert list(BOTS) == ["random", "greedy", "planner", "mcts"]
    for name in BOTS:
        assert isinstance(create(name), Bot)
        assert create(name).name == name


@pytest.mark.parametrize("name", BOTS)
def test_choices_are_legal_and_come_again_under_all_rules(name: str) -> None:
    bot = create(name)
    for _, seen in positions(150, name):
        limits = Limits(nodes=60)
        move = bot.choose(seen, limits)
        assert move in seen.legal_moves()
        bot.new_game()
        assert bot.choose(seen, limits) is move
        assert create(name).choose(seen, limits) is move


@pytest.mark.parametrize("name", ["random", "mcts"])
def test_the_seed_matters(name: str) -> None:
    seen = Round.deal(Rules.of("family", 2), seed=4).observe(Round.deal(Rules.of("family", 2), seed=4).turn)
    others = [create(name, Seed=str(seed)).choose(seen, Limits(nodes=8)) for seed in range(60)]
    assert len(set(others)) > 1


def test_a_bot_refuses_what_it_has_not() -> None:
    with pytest.raises(BotError, match="did you mean 'planner'"):
        create("planer")
    with pytest.raises(OptionError, match="its options are Seed"):
        create("random", Sed="1")
    with pytest.raises(OptionError, match="expected a whole number from 0"):
        create("mcts", Seed="-1")
    seen = Round.deal(Rules.of("family", 2), seed=4).observe(0)
    other = Round.deal(Rules.of("family", 2), seed=4).observe(1)
    for name in BOTS:
        with pytest.raises(ValueError, match="not to move"):
            create(name).choose(seen if other.turn == 1 else other, Limits())
    create("mcts", Seed=str(2**63 - 1)).choose(other if other.turn == 1 else seen, Limits(nodes=5))


@pytest.mark.parametrize("nodes", [1, 2, 10, 100, 1000])
def test_the_search_keeps_to_its_nodes_and_reports_them(nodes: int) -> None:
    for _, seen in positions(20, "nodes"):
        said: list[Info] = []
        move = create("mcts").choose(seen, Limits(nodes=nodes, report=said.append))
        if len(seen.legal_moves()) == 1:
            assert said == []
            continue
        assert said[-1].nodes <= nodes
        assert sum(candidate.visits for candidate in said[-1].candidates) == said[-1].nodes
        assert {candidate.move for candidate in said[-1].candidates} == set(seen.legal_moves())
        assert said[-1].candidates[0].move is move or said[-1].nodes == 0


def test_stop_ends_a_search_without_limits() -> None:
    stop = threading.Event()
    stop.set()
    for _, seen in positions(5, "stop"):
        assert create("mcts").choose(seen, Limits(infinite=True, stop=stop)) in seen.legal_moves()


def test_a_search_does_not_depend_on_how_it_is_cut() -> None:
    for _, seen in positions(10, "cuts"):
        whole, parts = Search(seen, 3), Search(seen, 3)
        whole.run(600)
        while parts.nodes < whole.nodes and (parts.size == 1 or not parts.decided):
            parts.run(max(parts.racing, min(17, 600 - parts.nodes)))
        assert parts.candidates()[0] == whole.candidates()[0]


def turns(world: Round, seat: int) -> int:
    """In how many ways ``seat`` can go on until its turn is over or a forced step comes."""
    count = 0
    for move in world.legal_moves():
        after = world.copy()
        after.apply(move)
        forced = len(after.events) > len(world.events) + 1
        count += 1 if after.over or after.turn != seat or forced else turns(after, seat)
    return count


@pytest.mark.parametrize("preset", ["family", "classic"])
def test_the_race_is_between_whole_turns(preset: str) -> None:
    """A double counts as often as there are moves after it, and a chain as often as there are chains."""
    longer = 0
    for seed in range(8):
        round_ = Round.deal(Rules.of(preset, 4, set=12, hand=8), seed=seed)
        while not round_.over:
            moves = round_.legal_moves()
            count = turns(round_, round_.turn)
            if len(moves) > 1 and count <= 16:
                search = Search(round_.observe(round_.turn))
                assert search.size == search.racing == count
                longer += count > len(moves)
            round_.apply(moves[0])
    assert longer > 10


def test_worlds_agree_with_the_observation() -> None:
    for number, (round_, seen) in enumerate(positions(300, "worlds")):
        world = determinize(seen, number)
        assert world.observe(seen.seat) == seen
        assert world.turn == round_.turn
        assert world.legal_moves() == round_.legal_moves()
        assert world.hand_sizes == tuple(map(len, world.hands))
        held = [tile for hand in world.hands for tile in hand] + list(world.boneyard)
        really = [tile for hand in round_.hands for tile in hand] + list(round_.boneyard)
        assert sorted(held) == sorted(really)
        assert determinize(seen, number).hands == world.hands
        while not world.over:
            world.apply(world.legal_moves()[-1])


def test_worlds_respect_what_draws_and_passes_prove() -> None:
    """Whoever has just passed holds nothing for the places that were open, in every world."""
    checked = 0
    for seed in range(150):
        round_ = Round.deal(Rules.of("family", 3, set=9), seed=seed)
        while not round_.over:
            before = len(round_.events)
            round_.apply(round_.legal_moves()[0])
            passed = [event.seat for event in round_.events[before:] if event.kind in ("mark", "pass")]
            if round_.over or len(passed) != 1 or round_.binding is None:
                continue
            # A binding double was there at the pass and is there still.
            seen = round_.observe(round_.turn)
            world = determinize(seen, seed)
            assert all(round_.binding.pips not in tile for tile in world.hands[passed[0]])
            checked += 1
    assert checked > 100


def brute_force(tiles: frozenset[Tile], end: int) -> int:
    """The most that a train from ``end`` can be worth: pips, and six points a tile."""
    return max(
        (
            sum(tile) + 6 + brute_force(tiles - {tile}, sum(tile) - end)
            for tile in tiles
            if end in tile
        ),
        default=0,
    )  # fmt: skip


def test_longest_trains_are_trains_and_the_best_ones() -> None:
    rng = random.Random(5)
    for _ in range(200):
        hand = rng.sample(TILES[:28], rng.randint(1, 8))
        end = start = rng.randrange(7)
        train = longest_train(hand, start)
        assert len(set(train)) == len(train)
        assert set(train) <= set(hand)
        for tile in train:
            assert end in tile
            end = sum(tile) - end
        worth = sum(sum(tile) + 6 for tile in train)
        # A double at the end that nothing in the hand answers costs six points.
        assert worth in range(brute_force(frozenset(hand), start) - 12, brute_force(frozenset(hand), start) + 1)


def test_a_huge_hand_is_no_trouble() -> None:
    """All tiles of a double-12 set: far beyond what an unbounded search ends with."""
    assert len(longest_train(TILES[:91], 12, nodes=1000)) > 60
    for nodes in (1, 10):
        assert longest_train([tile_of(3, 4), tile_of(4, 5)], 3, nodes)[:1] == (tile_of(3, 4),)
    with pytest.raises(ValueError, match="at least 1 node"):
        longest_train([], 3, 0)


def test_a_planner_keeps_its_train_and_dumps_the_rest() -> None:
    rules = Rules.of("family", 2, set=6, hand=4)
    # 6-5 5-4 is the train; 6-0 is not in it and goes on the Mexican train first, being all that does not fit.
    round_ = next(r for r in (Round.deal(rules, seed=s) for s in range(20000)) if fits(r))
    seen = round_.observe(round_.turn)
    assert policy_move(seen, "planner") is Move.parse("6-0@M")


def fits(round_: Round) -> bool:
    """The seat to move has the hand of the test above."""
    return not round_.events and set(round_.hands[round_.turn]) == {(5, 6), (4, 5), (3, 4), (0, 6)}


@pytest.mark.parametrize("preset", ["classic", "tournament"])
def test_planners_do_not_stop_a_chain_early(preset: str) -> None:
    for seed in range(20):
        round_ = Round.deal(Rules.of(preset, 4), seed=seed)
        for _ in range(40):
            if round_.over:
                break
            move = policy_move(round_.observe(round_.turn), "planner")
            assert move is not STOP
            round_.apply(move)


def margin(hero: str, other: str, rules: Rules, deals: int, limits: Limits) -> float:
    """The hero's mean margin in pips over whole blocks, in this process."""
    total = 0.0
    bots = create(hero), create(other)
    for seed in range(deals):
        for seat in range(rules.players):
            round_ = Round.deal(rules, seed=[99, seed])
            while not round_.over:
                round_.apply(bots[round_.turn != seat].choose(round_.observe(round_.turn), limits))
            others = sum(round_.scores) - round_.scores[seat]
            total += others / (rules.players - 1) - round_.scores[seat]
    return total / deals / rules.players


@pytest.mark.parametrize(("hero", "other"), [("greedy", "random"), ("planner", "greedy")])
@pytest.mark.parametrize("preset", PRESETS)
def test_each_bot_is_better_than_the_one_before(hero: str, other: str, preset: str) -> None:
    """A fixed set of deals, so the result is always the same; margins proper come from ``caboose match``."""
    assert margin(hero, other, Rules.of(preset, 4), 60, Limits()) > 0


def test_the_search_is_better_than_the_planner() -> None:
    assert margin("mcts", "planner", Rules.of("family", 4), 30, Limits(nodes=200)) > 0


@pytest.mark.parametrize(("preset", "players"), TUNED)
def test_values_are_tuned_for_the_very_rules_where_none_is_set(preset: str, players: int) -> None:
    declared = {option.name: option for option in MctsBot.declared}
    for name, value in TUNED[preset, players].items():
        assert declared[name].parse(str(value)) == value != declared[name].default
    rules = Rules.of(preset, players)
    bot = MctsBot()
    plain, tuned = bot.settings(), bot.settings(rules)
    assert plain != tuned == bot.settings(Rules.of(preset, players, rounds=1))
    assert plain == bot.settings(Rules.of(preset, players, blank=0 if rules.blank else 50))
    assert plain == bot.settings(Rules.of(preset, players + 1))
    # What is set holds, also where it is the default.
    bot.set_option("Growth", str(declared["Growth"].default))
    assert bot.settings(rules) == tuned | {"growth": plain["growth"]}
    bot.set_option("Tuned", "false")
    assert bot.settings(rules) == plain
    # And it is what plays.
    seen = Round.deal(rules, seed=3).observe(Round.deal(rules, seed=3).turn)
    moves = set()
    for options in ({}, {"Tuned": "false"}, {"Noise": "900", "Tuned": "true"}):
        told: list[Info] = []
        bot = MctsBot()
        for name, text in options.items():
            bot.set_option(name, text)
        bot.choose(seen, Limits(nodes=200, report=told.append))
        moves.add(tuple(candidate.score for candidate in told[-1].candidates))
    assert len(moves) == 3
