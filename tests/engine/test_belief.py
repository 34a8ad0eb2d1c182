"""Beliefs: what is proved of hidden tiles, against all deals found by trying, and worlds that admit what was seen."""

from __future__ import annotations

import collections
import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from belief_checks import chance_of, check_world, where
from caboose.engine.belief.belief import Belief, Cohort, determinize
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Event, Observation, Round
from caboose.engine.rules.rules import MAX_PLAYERS, PRESETS, Rules, RulesError
from caboose.engine.rules.tiles import TILES, Tile
from implementations import CoreRound, walk
from staged_rounds import family, play, staged, story, tiles
from strategies import Walk, walks
from worlds import possible_deals, replayed

# Rules, the seed of the deal and of the moves, how many moves, and who looks.
POSITIONS = (
    ("family players=2 set=6 hand=10 double_answer=anywhere", 11, 22, 0),
    ("family players=3 set=6 hand=8 double_answer=anywhere hub=dealt starter=lot", 6, 23, 0),
    ("classic players=3 set=6 hand=7 double_answer=anywhere first_turn_draw=yes", 1, 21, 0),
    ("tournament players=4 set=6 hand=5 double_answer=anywhere extra_after_doubles=first", 18, 23, 3),
    ("family players=2 set=6 hand=12 double_answer=anywhere doubles_order=lifo dead_double=hold", 102, 12, 0),
    ("family players=2 set=6 hand=10 double_answer=own", 6, 15, 0),
    ("classic players=3 set=6 hand=7 double_answer=own first_turn_draw=yes", 3, 18, 2),
    ("family players=2 set=6 hand=12 double_answer=own doubles_order=lifo dead_double=hold", 363, 22, 0),
    ("classic players=3 set=6 hand=6 double_answer=own", 6, 15, 0),
    ("tournament players=4 set=6 hand=5 double_answer=own extra_after_doubles=first", 1, 16, 3),
    ("family players=3 set=6 hand=8 double_answer=chickenfoot hub=dealt starter=lot", 4, 22, 1),
    ("tournament players=4 set=6 hand=5 double_answer=chickenfoot extra_after_doubles=first", 0, 15, 3),
    ("family players=2 set=6 hand=12 double_answer=chickenfoot doubles_order=lifo dead_double=hold", 363, 22, 0),
    ("classic players=3 set=6 hand=6 double_answer=chickenfoot", 7, 21, 0),
)


def round_of(rules: Rules, seed: int, moves: int) -> Round:
    """A round after some random moves."""
    rng = random.Random(seed)
    round_ = Round.deal(rules, seed=seed)
    for _ in range(moves):
        round_.apply(rng.choice(round_.legal_moves()))
    return round_


@cache
def position(number: int) -> tuple[Observation, list[Deal]]:
    """One of POSITIONS, and all deals that are possible there."""
    text, seed, moves, seat = POSITIONS[number]
    view = round_of(Rules.parse(text), seed, moves).observe(seat)
    deals = possible_deals(view, 500_000)
    assert deals is not None
    return view, deals


def mean_over(view: Observation, deals: list[Deal]) -> npt.NDArray[np.float64]:
    """The matrix by its meaning. The order of the boneyard, one of many in ``deals``, is nothing to it."""
    rounds = [replayed(view, deal) for deal in deals]
    mean: npt.NDArray[np.float64] = np.mean([where(round_) for round_ in rounds if round_ is not None], axis=0)
    return mean


# Against all deals.


def test_the_positions_are_of_every_kind() -> None:
    views = [position(number)[0] for number in range(len(POSITIONS))]
    assert {view.rules.double_answer for view in views} == {"anywhere", "own", "chickenfoot"}
    assert {view.rules.preset for view in views} == set(PRESETS)
    assert {view.turn == view.seat for view in views} == {False, True}
    kinds = [{event.kind for event in view.events} for view in views]
    assert all("draw" in kind for kind in kinds)
    assert any("hub" in kind for kind in kinds)
    assert any("stop" in kind for kind in kinds)
    assert any(kind & {"mark", "pass"} for kind in kinds)


@pytest.mark.parametrize("number", range(len(POSITIONS)))
def test_deals_are_uniform_over_all_that_are_possible(number: int) -> None:
    view, deals = position(number)
    assert chance_of(view, deals, 60 * len(deals)) > 1e-3


@pytest.mark.parametrize("number", range(len(POSITIONS)))
def test_the_matrix_is_the_mean_over_all_deals(number: int) -> None:
    view, deals = position(number)
    expected, samples = mean_over(view, deals), 20_000
    error = np.abs(Belief(view).matrix(samples, 1) - expected)
    assert (error <= 5 * np.sqrt(expected * (1 - expected) / samples) + 1e-12).all()


def test_what_is_excluded_is_what_no_deal_has() -> None:
    """Cohort by cohort; that whoever is to move can play says something of a whole hand, and not of a cohort."""
    compared = 0
    for number in range(len(POSITIONS)):
        view, deals = position(number)
        if view.turn != view.seat:
            continue
        draws = [at for at, event in enumerate(view.events) if event.kind == "draw"]
        shown = {event.tile for event in view.events}.union(view.hand, [Tile(view.hub, view.hub)])
        hidden = {tile for deal in deals for hand in (*deal.hands, deal.boneyard) for tile in hand} - shown
        for seat in range(view.rules.players):
            for cohort in Belief(view).cohorts(seat):
                if cohort.event is None:
                    there = {tile for deal in deals for tile in deal.hands[seat]}
                else:
                    there = {deal.boneyard[draws.index(cohort.event)] for deal in deals}
                assert set(cohort.excluded) == hidden - there
                compared += bool(cohort.excluded)
    assert compared > 10


def test_the_rest_of_the_boneyard_lies_in_any_order() -> None:
    deal = staged(family(2, 11), ["6-1", "6-2"])
    belief = Belief(Round(family(2, 11), deal).observe(0))
    orders = [tuple(np.argsort([tile.id for tile in belief.deal(seed).boneyard])) for seed in range(3600)]
    counts = collections.Counter(orders)
    assert len(counts) == 120
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_worlds_that_follow_one_another_are_independent() -> None:
    """The errors of a matrix are those of as many independent worlds."""
    squares: list[float] = []
    for number in range(len(POSITIONS)):
        view, deals = position(number)
        expected = mean_over(view, deals)
        open_cells = (expected > 0) & (expected < 1)
        spread = (expected * (1 - expected))[open_cells]
        for seed in range(20):
            error = (Belief(view).matrix(500, seed) - expected)[open_cells]
            squares.extend(error**2 / spread * 500)
    assert len(squares) > 1500
    assert np.mean(squares) < 1.1


# Never against what was seen.


def test_worlds_admit_what_was_seen_under_any_rules() -> None:
    looked = 0
    for core, rng in walk(250, "beliefs", 0.05):
        round_ = core.round
        scores = [[1] * round_.rules.players] * rng.randrange(3)
        check_world(round_.observe(rng.randrange(round_.rules.players), scores), looked)
        if not round_.over:
            check_world(round_.observe(round_.turn), looked)
        looked += 1
    assert looked > 380


@pytest.mark.parametrize("preset", PRESETS)
def test_worlds_admit_what_was_seen_with_any_number_of_players(preset: str) -> None:
    for players in range(2, MAX_PLAYERS + 1):
        try:
            rules = Rules.of(preset, players)
        except RulesError:
            assert preset == "family" and players > 12
            continue
        for moves in (0, players, 3 * players, 6 * players):
            round_ = round_of(rules, players, moves)
            check_world(round_.observe(moves % players), moves)


@given(walk=walks(), seat=st.integers(0, 13), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=60)
def test_worlds_admit_any_walk(walk: Walk, seat: int, seed: int) -> None:
    last = walk.last()
    assert isinstance(last, CoreRound)
    check_world(last.round.observe(seat % walk.rules.players), seed)


def test_the_same_seed_gives_the_same_world() -> None:
    view, deals = position(0)
    belief = Belief(view)
    assert belief.sample(3) == belief.sample(3) == Belief(view).sample(3) == determinize(view, 3)
    assert (belief.matrix(50, 3) == Belief(view).matrix(50, 3)).all()
    assert len({belief.deal(seed) for seed in range(50)}) > min(10, len(deals) // 2)


# Against what happened.


def games(count: int) -> Iterator[tuple[Belief, Round]]:
    """Beliefs from random games, and how it was."""
    rules = Rules.of("family", 4)
    for seed in range(count):
        moves = random.Random(seed).randrange(20, 70)
        rng = random.Random(seed)
        round_ = Round.deal(rules, seed=seed)
        while not round_.over and moves:
            round_.apply(rng.choice(round_.legal_moves()))
            moves -= 1
        if not round_.over:
            yield Belief(round_.observe(round_.turn)), round_


def test_what_is_said_to_be_likely_happens_as_often() -> None:
    """A uniform belief takes choices for chance; random players' choices do say a little, so a margin is left."""
    said: list[npt.NDArray[np.float64]] = []
    true: list[npt.NDArray[np.float64]] = []
    better = []
    for belief, round_ in games(400):
        matrix, truth = belief.matrix(400, 1), where(round_)
        cells = (matrix > 0) & (matrix < 1)
        said.append(matrix[cells])
        true.append(truth[cells])
        # Against a belief that only counts tiles.
        sizes = np.array([*map(len, round_.hands), len(round_.boneyard)])
        hidden = (matrix[round_.turn] == 0) & (matrix.sum(axis=0) > 0.5)
        counted = np.where(hidden, (sizes / (sizes.sum() - sizes[round_.turn]))[:, None], 0)
        at = (truth == 1) & hidden
        better.append(np.mean(np.log(np.maximum(matrix[at], 1e-3)) - np.log(counted[at])))
    chances, happened = np.concatenate(said), np.concatenate(true)
    tested = 0
    for low in np.arange(0, 1, 0.05):
        cells = (chances >= low) & (chances < low + 0.05)
        count = cells.sum()
        if count < 300:
            continue
        share, expected = happened[cells].mean(), chances[cells].mean()
        assert abs(share - expected) < 0.03 + 3 * np.sqrt(expected * (1 - expected) / count), f"{low:.2f}"
        tested += 1
    assert tested >= 12
    assert np.mean(better) > 0.05


# What is shown to people.


def test_cohorts_say_what_is_proved() -> None:
    """Seat 2 draws and passes when 6, then 5 and 6, then 0 and 6 are open to it."""
    deal = staged(family(2, 5), ["6-1 6-5 5-0 1-2 2-3", "1-1 3-3 4-4 1-3 1-4"], "2-2 2-4 3-4")
    round_ = CoreRound(family(2, 5), deal)
    play(round_, "6-1@1 6-5@2 5-0@2")
    assert story(round_) == "1:6-1@1 2:draw=2-2 2:mark 1:6-5@2 2:draw=2-4 2:pass 1:5-0@2 2:draw=3-4 2:pass"
    belief = Belief(round_.round.observe(0))
    hidden = [tile for tile in TILES[:28] if tile not in tiles("6-6 6-1 6-5 5-0 1-2 2-3")]
    assert belief.cohorts(0) == ()
    assert belief.cohorts(1) == tuple(
        Cohort(event, most, pips, tuple(tile for tile in hidden if set(tile) & set(pips)))
        for event, most, pips in ((None, 5, (0, 5, 6)), (1, 1, (0, 5, 6)), (4, 1, (0, 5, 6)), (7, 1, (0, 6)))
    )


def test_a_tile_that_can_have_come_from_one_cohort_only_did() -> None:
    """Seat 2 had no 6 before its third draw, and plays one later."""
    hands = ["6-1 6-5 6-4 4-2 1-4 0-0", "1-1 3-3 1-3 0-1 0-3 0-2"]
    round_ = CoreRound(family(2, 6), staged(family(2, 6), hands, "2-2 2-3 2-6"))
    play(round_, "6-1@1 6-5@2 6-4@M 4-2@M 2-6@M")
    assert story(round_).count("draw") == 3
    belief = Belief(round_.round.observe(0))
    assert [cohort[:3] for cohort in belief.cohorts(1)] == [(None, 6, (4, 5, 6)), (1, 1, (4, 5, 6)), (4, 1, (4, 5, 6))]
    assert {belief.deal(seed).boneyard[2] for seed in range(20)} == set(tiles("2-6"))


def test_nothing_proved_is_known_exactly() -> None:
    belief = Belief(Round(family(3, 4), staged(family(3, 4), ["6-1", "6-2", "6-3"])).observe(0))
    matrix = belief.matrix(1)
    hidden = matrix[0] == 0
    hidden[TILES.index(tiles("6-6")[0])] = False
    assert matrix[1, hidden] == pytest.approx(4 / 23)
    assert matrix[3, hidden] == pytest.approx(15 / 23)


def test_an_observation_that_no_deal_agrees_with_is_refused() -> None:
    """Of 14 hidden tiles 6 have a 6; 13 are in the hand of seat 2, which passes at 6."""
    rules = family(2, 13)
    sixes = [tile for tile in TILES[:28] if 6 in tile]
    hand = [tile for tile in TILES[:28] if tile not in sixes][:13]
    events = [Event("draw", 1), Event("mark", 1), Event("mark", 0)]
    view = Observation.replay(rules, 6, 0, 1, hand, events)
    with pytest.raises(ValueError, match="no deal agrees with what seat 0 has seen"):
        Belief(view)


def test_bad_numbers_are_refused() -> None:
    belief = Belief(position(0)[0])
    for seat in (-1, 2):
        with pytest.raises(ValueError, match=f"seat {seat}: expected 0 to 1"):
            belief.cohorts(seat)
    with pytest.raises(ValueError, match="samples 0: expected at least 1"):
        belief.matrix(0)
    for inference in (-1, float("nan"), 1001):
        with pytest.raises(ValueError, match=r"inference .*: expected 0 to 1000"):
            belief.matrix(10, inference=inference)
    for seed in (-1, 2**63):
        for call in (belief.sample, belief.deal, lambda seed: belief.matrix(10, seed)):
            with pytest.raises(ValueError, match=f"seed {seed}: expected 0 to 2"):
                call(seed)
