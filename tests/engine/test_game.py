"""Whole games: the countdown, who starts, totals, and who wins (RULES.md §2)."""

from __future__ import annotations

import itertools
import pickle
import random

import pytest

from caboose.engine.belief.belief import Belief
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.protocol.notation.observation import observation_lines
from reference import ReferenceGame


def finish(round_: Round, rng: random.Random) -> None:
    """Plays a round to its end."""
    while not round_.over:
        round_.apply(rng.choice(round_.legal_moves()))


def scored(rows: list[list[int]]) -> Game:
    """A finished game with these scores, a row for each round."""
    game = Game(Rules.of("family", len(rows[0]), rounds=len(rows)), seed=1)
    for row in rows:
        game.finish_round(row)
    assert game.over
    return game


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 5, 12])
def test_a_whole_game(preset: str, players: int) -> None:
    rng = random.Random(f"{preset}/{players}")
    rules = Rules.of(preset, players)
    game = Game(rules, seed=players)
    hubs: list[int] = []
    rows: list[list[int]] = []
    while not game.over:
        assert game.number == len(hubs) + 1
        assert game.winners == ()
        hubs.append(game.round.hub)
        finish(game.round, rng)
        rows.append(list(game.round.scores))
        game.finish_round()
        assert [list(row) for row in game.scores] == rows
        assert list(game.totals) == ReferenceGame(players, rows).totals
    assert hubs == list(range(rules.set, -1, -1))
    reference = ReferenceGame(players, rows)
    assert list(game.winners) == reference.winners
    assert list(game.places) == reference.places


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_short_game_plays_the_first_rounds_of_the_countdown(rounds: int) -> None:
    game = Game(Rules.of("tournament", 3, rounds=rounds), seed=1)
    hubs = []
    while not game.over:
        hubs.append(game.round.hub)
        game.finish_round([1, 2, 3])
    assert hubs == [9, 8, 7][:rounds]
    assert game.number == rounds


# Who starts.


@pytest.mark.parametrize("players", [2, 3, 7])
def test_rotate_goes_on_to_the_next_seat_each_round(players: int) -> None:
    firsts = set()
    for seed in range(12):
        game = Game(Rules.of("family", players), seed=seed)
        starters = []
        while not game.over:
            starters.append(game.round.starter)
            game.finish_round([1] * players)
        assert starters == [(starters[0] + number) % players for number in range(13)]
        firsts.add(starters[0])
    assert len(firsts) > 1, "the first starter is drawn by lot"


def test_lot_draws_every_round() -> None:
    seen, steps = set(), set()
    for seed in range(6):
        game = Game(Rules.of("tournament", 4), seed=seed)
        starters = []
        while not game.over:
            starters.append(game.round.starter)
            game.finish_round([1] * 4)
        seen |= set(starters)
        steps |= {(after - before) % 4 for before, after in itertools.pairwise(starters)}
    assert seen == steps == {0, 1, 2, 3}


def test_the_holder_of_the_hub_starts_every_round() -> None:
    game = Game(Rules.of("classic", 4), seed=3)
    drawn = 0
    while not game.over:
        laid = [event for event in game.round.events if event.kind == "hub"]
        assert len(laid) == 1
        assert laid[0].seat == game.round.starter
        held = [seat for seat, hand in enumerate(game.deal.hands) if (game.round.hub, game.round.hub) in hand]
        drawn += not held
        assert held in ([], [game.round.starter])
        game.finish_round([1] * 4)
    assert drawn > 0, "in one round or other nobody holds the hub"


def test_lots_are_fair() -> None:
    counts = [0] * 4
    rules = Rules.of("tournament", 4, rounds=1)
    for seed in range(4000):
        counts[Deal.random(rules, seed=seed).starter] += 1
    # Five standard deviations of a fair lot.
    assert all(abs(count - 1000) < 5 * 27.4 for count in counts)


# Who wins.


def test_the_lowest_total_wins() -> None:
    game = scored([[10, 5, 0], [0, 4, 20]])
    assert game.totals == (10, 9, 20)
    assert game.winners == (1,)
    assert game.places == (2, 1, 3)


def test_a_tie_goes_to_more_rounds_with_zero() -> None:
    game = scored([[0, 5, 9], [12, 0, 9], [0, 7, 0]])
    assert game.totals == (12, 12, 18)
    assert game.winners == (0,)
    assert game.places == (1, 2, 3)


def test_then_to_the_lowest_single_round_other_than_zero() -> None:
    game = scored([[0, 0, 9], [6, 2, 9], [6, 10, 0]])
    assert game.totals == (12, 12, 18)
    assert game.winners == (1,)


def test_then_it_is_shared() -> None:
    game = scored([[0, 2, 9], [2, 0, 9], [10, 10, 9]])
    assert game.winners == (0, 1)
    assert game.places == (1, 1, 3)


def test_nobody_scores_anything() -> None:
    assert scored([[0, 0], [0, 0]]).winners == (0, 1)


def test_winners_and_places_as_the_reference_has_them() -> None:
    rng = random.Random(1)
    for _ in range(1000):
        players, rounds = rng.randint(2, 6), rng.randint(1, 4)
        rows = [[rng.choice((0, 0, 1, 2, 3, 4)) for _ in range(players)] for _ in range(rounds)]
        game, reference = scored(rows), ReferenceGame(players, rows)
        assert (list(game.totals), list(game.winners), list(game.places)) == (
            reference.totals,
            reference.winners,
            reference.places,
        ), rows


# Seeds, given deals, and what is refused.


def test_the_same_seed_gives_the_same_game_and_another_seed_another() -> None:
    rules = Rules.of("family", 4)

    def deals(seed: int | list[int]) -> list[Deal]:
        game, found = Game(rules, seed), []
        while not game.over:
            found.append(game.deal)
            game.finish_round([1] * 4)
        return found

    assert deals(5) == deals(5) == deals([5])
    assert deals(5)[0] != deals(6)[0]
    assert deals([5, 1])[0] != deals([1, 5])[0]
    # Rounds are dealt independently: the same tile does not come back to the same place.
    hands = [deal.hands for deal in deals(5)]
    assert all(one != other for one, other in itertools.pairwise(hands))


def test_a_game_of_given_deals() -> None:
    rules = Rules.of("family", 3, rounds=2)
    deals = [Deal.random(rules, hub, seed=hub, starter=2) for hub in (12, 11)]
    game = Game(rules, deals=deals)
    assert (game.deal, game.round.hands, game.round.starter) == (deals[0], deals[0].hands, 2)
    game.finish_round([1, 2, 3])
    assert (game.deal, game.round.starter) == (deals[1], 2)
    for wrong in (deals[:1], deals[::-1], [*deals, deals[0]], []):
        with pytest.raises(ValueError, match="12 11"):
            Game(rules, deals=wrong)


def test_a_round_is_written_down_when_it_is_over() -> None:
    game = Game(Rules.of("family", 4), seed=1)
    with pytest.raises(ValueError, match="round 1 is not over"):
        game.finish_round()
    assert game.number == 1 and game.scores == ()


def test_bad_scores_are_refused() -> None:
    game = Game(Rules.of("family", 4), seed=1)
    for scores in ([1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 3, -4], []):
        with pytest.raises(ValueError):
            game.finish_round(scores)
    assert game.number == 1 and game.scores == ()


def test_nothing_comes_after_the_last_round() -> None:
    game = scored([[1, 2]])
    assert game.round.hub == 12
    with pytest.raises(ValueError, match="over"):
        game.finish_round([1, 2])


def test_what_a_seat_sees_in_a_later_round_has_the_scores_before_it() -> None:
    """However one asks: a game, its round, a copy or a pickle of that, or a world that agrees with what was seen."""
    game = Game(Rules.of("family", 3, set=6, hand=4), seed=3)
    assert game.observe(0).past_scores == ()
    rows = [[1, 2, 3], [4, 0, 6]]
    for row in rows:
        game.finish_round(row)
    round_ = game.round
    seen = game.observe(1)
    assert seen.past_scores == game.scores == ((1, 2, 3), (4, 0, 6))
    for other in (round_, round_.copy(), pickle.loads(pickle.dumps(round_)), Belief(seen).sample(5)):
        assert other.past_scores == game.scores
        assert other.observe(1) == seen
    assert round_.observe(1, [[0, 0, 0]]).past_scores == ((0, 0, 0),)
    lines = observation_lines(seen)
    assert f"round 3 hub 4 starter {round_.starter + 1}" in lines
    assert [line for line in lines if line.startswith("scores")] == ["scores 1 2 3", "scores 4 0 6"]


def test_scores_that_a_round_does_not_take() -> None:
    game = Game(Rules.of("family", 3, set=6, hand=4), seed=3)
    for rows in ([[1, 2]], [[1, 2, -3]], [[1, 2, 3], []]):
        with pytest.raises(ValueError, match="scores of round"):
            Round(game.rules, game.deal, rows)
    for seat in (-1, 3):
        with pytest.raises(ValueError, match="expected 0 to 2"):
            game.observe(seat)
