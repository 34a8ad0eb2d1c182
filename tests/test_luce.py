"""Plackett–Luce: against closed forms, published numbers, choix, and what is added up by brute force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from caboose.arena.games import NOBODY, Games
from caboose.arena.luce import WHOLLY, choices, distinct, influences, rated, resolved, strengths
from simulated import Floats, ladder, with_fault

NONE = 1e-9  # as good as no regularisation, but solvable


Row = tuple[Sequence[int], Sequence[int]]  # players and places


def table(rows: Sequence[Row], uncounted: Sequence[tuple[int, int]] = ()) -> Games:
    """Games from (players, places), each a block of its own."""
    seats = max(len(players) for players, _ in rows)
    player = np.full((len(rows), seats), NOBODY, np.int32)
    place = np.zeros((len(rows), seats), np.int16)
    for number, (players, places) in enumerate(rows):
        player[number, : len(players)] = players
        place[number, : len(places)] = places
    nothing = np.zeros(player.shape, np.float32)
    counted = np.ones(player.shape, np.bool_)
    for cell in uncounted:
        counted[cell] = False
    return Games(np.arange(len(rows)), player, place, nothing, nothing, nothing, counted)


def fit(games: Games, contestants: int, prior: float = NONE) -> Floats:
    made = choices(games, contestants, np.arange(len(games)), len(games))
    ratings: Floats = rated(made, made.total(), strengths(made, prior)[None], prior)[0]
    return ratings


def pairs(wins: Sequence[Sequence[int]]) -> Games:
    """Games of two: wins[i][j] times i was before j."""
    return table([((i, j), (1, 2)) for i, row in enumerate(wins) for j, count in enumerate(row) for _ in range(count)])


@pytest.mark.parametrize(("won", "lost", "tied"), [(7, 3, 0), (1, 9, 0), (5, 5, 0), (6, 2, 4), (0, 0, 3)])
def test_two_players_are_bradley_terry(won: int, lost: int, tied: int) -> None:
    games = table([((0, 1), (1, 2))] * won + [((1, 0), (1, 2))] * lost + [((0, 1), (1, 1))] * tied)
    worth = fit(games, 2)
    assert worth[0] - worth[1] == pytest.approx(math.log((won + tied / 2) / (lost + tied / 2)), abs=1e-6)


def test_who_won_all_has_a_finite_rating() -> None:
    before = 0.0
    for won in (1, 10, 1000):
        worth = fit(table([((0, 1), (1, 2))] * won), 2, prior=1.0)
        # By symmetry λ and −λ, where the slope won · (1 − p(2λ)) + ½ − p(λ) is 0.
        expected = brentq(lambda x, won=won: won * expit(-2 * x) + 0.5 - expit(x), 0, 30)
        assert worth == pytest.approx([expected, -expected])
        assert worth[0] > before
        before = worth[0]


def test_citations_between_journals() -> None:
    # Stigler (1994), as the R package BradleyTerry2 has it: Biometrika, Communications in Statistics, JASA, JRSS-B.
    worth = fit(pairs([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]]), 4)
    assert worth - worth[0] == pytest.approx([0, -2.94907, -0.47957, 0.26895], abs=6e-6)


def test_five_partial_rankings() -> None:
    # The vignette of the R package PlackettLuce: A > B, C > A, B > A, B > C.
    worth = fit(table([((0, 1), (1, 2)), ((2, 0), (1, 2)), ((1, 0), (1, 2)), ((1, 2), (1, 2))]), 3)
    assert worth - worth[0] == pytest.approx([0, 0.8392, 0.4196], abs=6e-5)


def test_a_season_of_races() -> None:
    # Hunter (2004), "MM algorithms for generalized Bradley–Terry models", table 2: 83 drivers in the 36 races of the
    # NASCAR season of 2002. A line is a race, from the first to the last. Values as in the R package PlackettLuce.
    lines = (Path(__file__).parent / "nascar2002.txt").read_text(encoding="ascii").splitlines()
    races = [[int(driver) - 1 for driver in line.split()] for line in lines]
    worth = fit(table([(race, range(1, len(race) + 1)) for race in races]), 83)
    published = {58: 4.15, 68: 3.62, 51: 2.08, 15: 0.03, 17: -0.31, 40: -0.15, 1: 0.0}
    for driver, value in published.items():
        assert worth[driver - 1] - worth[0] == pytest.approx(value, abs=0.005)


def test_agrees_with_choix() -> None:
    import choix

    games = ladder(np.linspace(-1, 1, 7), 5, 40, np.random.default_rng(3))
    rankings = [players[np.argsort(places)].tolist() for players, places in zip(games.player, games.place, strict=True)]
    expected = choix.ilsr_rankings(7, rankings, tol=1e-12)
    worth = fit(games, 7)
    assert worth - worth.mean() == pytest.approx(expected - expected.mean(), abs=1e-6)


@pytest.mark.parametrize("places", [(1, 1, 3, 4), (1, 2, 2, 2), (1, 1, 3, 3), (1, 1, 1, 1)])
def test_a_tie_is_the_mean_of_its_orders(places: Sequence[int]) -> None:
    rest: list[Row] = [
        ((0, 1, 2, 3), (2, 1, 4, 3)),
        ((3, 0, 1, 2), (1, 2, 3, 4)),
        ((2, 0), (1, 2)),
    ]
    orders = [order for order in permutations(range(4)) if sorted(order, key=places.__getitem__) == list(order)]
    strict: list[Row] = [(order, (1, 2, 3, 4)) for order in orders]
    # The game with ties once, the rest as often as there are orders, and so on: the weights are the same.
    worth, expected = fit(table([((0, 1, 2, 3), places), *rest]), 4), fit(table(strict + rest * len(orders)), 4)
    assert worth - worth[0] == pytest.approx(expected - expected[0], abs=1e-6)


def test_many_that_tie_are_equal() -> None:
    everyone = range(WHOLLY + 2)
    worth = fit(table([(everyone, [1] * len(everyone)), (everyone, [1] * (WHOLLY + 1) + [WHOLLY + 2])]), WHOLLY + 2)
    assert worth[:-1] == pytest.approx(worth[0], abs=0.2)  # the turns of one order are not quite all orders
    assert worth[0] > worth[-1] + 1


def test_a_hero_against_copies() -> None:
    rows = [((0, 1, 1, 1), (1, 2, 3, 4))] * 5 + [((1, 0, 1, 1), (1, 2, 3, 4))] * 3 + [((1, 1, 1, 0), (1, 2, 3, 4))] * 2
    worth = fit(table(rows), 2)

    def unlikely(hero: float) -> float:
        first = [math.log(hero / (hero + copies)) for copies in (3, 2, 1)]
        other = [math.log(1 / (hero + copies)) for copies in (3, 2, 1)]
        return -(5 * first[0] + 3 * (other[0] + first[1]) + 2 * sum(other))

    best = minimize_scalar(unlikely, bounds=(0.01, 100), method="bounded", options={"xatol": 1e-9}).x
    assert worth[0] - worth[1] == pytest.approx(math.log(best), abs=1e-5)


def test_copies_alone_say_nothing() -> None:
    assert fit(table([((0, 0, 0), (1, 2, 3))]), 2, prior=1.0) == pytest.approx([0, 0])


def test_a_fault_counts_only_for_who_made_it() -> None:
    clean = [((0, 1, 2), (1, 2, 3)), ((0, 1, 2), (2, 1, 3)), ((0, 1, 2), (3, 2, 1)), ((0, 1), (1, 2)), ((3, 1), (1, 2))]
    worth = fit(table(clean), 4, prior=1.0)
    again = fit(table([*clean, ((0, 1, 3), (1, 2, 3))], uncounted=[(5, 0), (5, 1)]), 4, prior=1.0)
    assert again[:3] == pytest.approx(worth[:3])
    assert again[3] < worth[3] - 0.3

    def slope(rating: float) -> float:
        zero, one = (rating - np.log(np.exp(rating) + np.exp(w).sum()) for w in (worth[:2], worth[1:2]))
        # The own clean win against 1, two choices lost in the game with the fault, and the ghost.
        return float(1 - np.exp(one) - np.exp(zero) - np.exp(one) + 0.5 - expit(rating))

    assert again[3] == pytest.approx(brentq(slope, -9, 9), abs=1e-8)


def test_many_faults_of_one_leave_the_others_where_they_are() -> None:
    clean: list[Row] = [((0, 1), (1, 2)), ((0, 1), (2, 1)), ((0, 1), (1, 2)), ((2, 0), (1, 2)), ((1, 2), (1, 2))]
    faults: list[Row] = [((0, 1, 2), (2, 1, 3))] * 200
    cells = [(row, seat) for row in range(5, 205) for seat in (0, 1)]
    worth, again = fit(table(clean), 3, prior=1.0), fit(table(clean + faults, cells), 3, prior=1.0)
    assert again[:2] == pytest.approx(worth[:2])
    assert -8 < again[2] < worth[2] - 3


def test_a_game_in_which_all_failed_is_a_tie() -> None:
    clean = [((0, 1), (1, 2)), ((0, 1), (1, 2)), ((0, 1), (2, 1))]
    worth, again = (fit(table([*clean, *more]), 2, prior=1.0) for more in ([], [((0, 1), (1, 1))]))
    assert 0 < again[0] - again[1] < worth[0] - worth[1]


def test_tables_of_different_sizes_and_padding() -> None:
    rows = [((0, 1, 2), (1, 2, 3)), ((2, 0), (1, 2)), ((1, 0), (1, 2)), ((2, 1), (2, 1))]
    games = table(rows)
    wide = Games(
        games.block,
        np.pad(games.player, ((0, 0), (0, 4)), constant_values=NOBODY),
        *(np.pad(getattr(games, name), ((0, 0), (0, 4)), constant_values=1) for name in Games.__slots__[2:]),
    )
    assert fit(wide, 3) == pytest.approx(fit(games, 3))


def test_the_order_of_seats_and_games_does_not_matter() -> None:
    games = ladder(np.linspace(-1, 1, 5), 4, 20, np.random.default_rng(1), step=0.7)
    generator = np.random.default_rng(2)
    turned = games.select(generator.permutation(len(games)))
    order = generator.permuted(np.tile(np.arange(4), (len(games), 1)), axis=1)
    turned = Games(
        turned.block, *(np.take_along_axis(getattr(turned, name), order, axis=1) for name in Games.__slots__[1:])
    )
    assert fit(turned, 5, prior=1.0) == pytest.approx(fit(games, 5, prior=1.0))


def test_many_weightings_are_solved_like_one() -> None:
    games = ladder(np.linspace(-1, 1, 5), 3, 12, np.random.default_rng(4), step=0.5)
    games = with_fault(games, 7, 1)
    made = choices(games, 5, games.block, 12)
    weights = np.random.default_rng(5).poisson(1.0, size=(6, 12)).astype(float)
    counts = made.weighted(weights)
    together = rated(made, counts, resolved(made, counts, strengths(made)))
    for one, worth in zip(weights, together, strict=True):
        rows = np.repeat(np.arange(len(games)), one[games.block].astype(int))
        assert worth == pytest.approx(fit(games.select(rows), 5, prior=1.0), abs=1e-8)


def test_influences_are_derivatives() -> None:
    games = ladder(np.linspace(-1, 1, 4), 3, 30, np.random.default_rng(6))
    games = with_fault(games, 4, 2)
    made = choices(games, 4, games.block, 30)
    worth = strengths(made)
    ratings = rated(made, made.total(), worth[None])[0]
    counts = made.weighted(np.ones((30, 30)) + 1e-5 * np.eye(30))
    moved = rated(made, counts, resolved(made, counts, worth))
    assert influences(made, worth, ratings) == pytest.approx((moved - ratings) / 1e-5, abs=1e-4)


def test_distinct_rows() -> None:
    rows = np.random.default_rng(7).integers(-1, 3, size=(500, 40))
    rows[250:] = rows[:250]
    first, kind = distinct([rows[:, k] for k in range(40)], 3)
    assert (rows[first][kind] == rows).all()
    assert len(first) == len(np.unique(rows, axis=0))


def test_no_games() -> None:
    assert fit(table([((0, 1), (1, 2))]).select(slice(0, 0)), 3, prior=1.0) == pytest.approx([0, 0, 0])
