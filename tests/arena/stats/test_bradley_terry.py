"""Bradley–Terry over pairs of seats: against closed forms, published numbers, choix, and other ways to add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from caboose.arena.stats import bradley_terry
from caboose.arena.stats.bradley_terry import Sums, influences, pairs_of, rated, resolved, strengths
from caboose.arena.stats.game_table import NOBODY, Games, distinct
from simulated import Floats, ladder, with_fault

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


def fit(games: Games, contestants: int, prior: float | None = None) -> Floats:
    met = pairs_of(games, contestants, np.arange(len(games)), len(games))
    ratings: Floats = rated(met, np.ones((1, len(games))), strengths(met, prior)[None], prior)[0]
    return ratings


def pairs(wins: Sequence[Sequence[int]]) -> Games:
    """Games of two: wins[i][j] times i was before j."""
    return table([((i, j), (1, 2)) for i, row in enumerate(wins) for j, count in enumerate(row) for _ in range(count)])


@pytest.mark.parametrize(("won", "lost", "tied"), [(7, 3, 0), (1, 9, 0), (5, 5, 0), (6, 2, 4), (0, 0, 3)])
def test_two_players_have_the_odds_of_their_pairs(won: int, lost: int, tied: int) -> None:
    games = table([((0, 1), (1, 2))] * won + [((1, 0), (1, 2))] * lost + [((0, 1), (1, 1))] * tied)
    worth = fit(games, 2)
    assert worth[0] - worth[1] == pytest.approx(math.log((won + tied / 2) / (lost + tied / 2)), abs=1e-9)
    assert worth.sum() == pytest.approx(0)


def test_who_won_all_has_a_finite_rating() -> None:
    before = 0.0
    for won in (1, 10, 1000):
        worth = fit(table([((0, 1), (1, 2))] * won), 2)
        # By symmetry λ and −λ, where the slope won · (1 − p(2λ)) + ½ − p(λ) is 0.
        expected = brentq(lambda x, won=won: won * expit(-2 * x) + 0.5 - expit(x), 0, 30)
        assert worth == pytest.approx([expected, -expected])
        assert worth[0] > before
        before = worth[0]


@pytest.mark.parametrize(
    ("rows", "linked"),
    [
        ([((0, 1), (1, 2)), ((1, 2), (1, 2)), ((1, 2), (1, 2)), ((2, 0), (1, 2))], True),
        ([((0, 1), (1, 2)), ((1, 2), (1, 2)), ((0, 2), (1, 2))], False),  # 0 won all
        ([((0, 1), (1, 1)), ((2, 3), (1, 1))], False),  # two worlds
        ([((0, 1), (1, 1)), ((1, 2), (1, 1)), ((3, 3), (1, 2))], True),  # copies meet nobody
        ([((0, 1, 2), (1, 2, 3)), ((0, 1, 2), (2, 1, 3)), ((2, 0), (1, 2))], True),
    ],
)
def test_the_ghost_is_there_where_no_finite_rating_is(rows: Sequence[Row], linked: bool) -> None:
    games = table(rows)
    assert pairs_of(games, 4, np.arange(len(rows)), len(rows)).linked == linked
    alone, with_ghost = fit(games, 4), fit(games, 4, prior=1.0)
    # Where all are equal, a ghost changes nothing.
    assert (alone == pytest.approx(with_ghost, abs=1e-6)) == (not linked or not alone.any())


def test_citations_between_journals() -> None:
    # Stigler (1994), as the R package BradleyTerry2 has it: Biometrika, Communications in Statistics, JASA, JRSS-B.
    worth = fit(pairs([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]]), 4)
    assert worth - worth[0] == pytest.approx([0, -2.94907, -0.47957, 0.26895], abs=6e-6)


def test_agrees_with_choix() -> None:
    import choix

    games = ladder(np.linspace(-1, 1, 7), 5, 40, np.random.default_rng(3))
    rankings = [players[np.argsort(places)].tolist() for players, places in zip(games.player, games.place, strict=True)]
    expected = choix.ilsr_pairwise(7, [pair for order in rankings for pair in combinations(order, 2)], tol=1e-12)
    assert fit(games, 7) == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_a_hero_against_copies_has_the_odds_of_its_pairs() -> None:
    rows = [((0, 1, 1, 1), (1, 2, 3, 4))] * 5 + [((1, 0, 1, 1), (1, 2, 3, 4))] * 3 + [((1, 1, 1, 0), (1, 2, 3, 4))] * 2
    worth = fit(table(rows), 2)
    won = 5 * 3 + 3 * 2
    assert worth[0] - worth[1] == pytest.approx(math.log(won / (30 - won)))


def test_copies_alone_say_nothing() -> None:
    assert fit(table([((0, 0, 0), (1, 2, 3))]), 2) == pytest.approx([0, 0])


def test_a_fault_counts_only_for_who_made_it() -> None:
    clean = [((0, 1, 2), (1, 2, 3)), ((0, 1, 2), (2, 1, 3)), ((0, 1, 2), (3, 2, 1)), ((0, 1), (1, 2)), ((3, 1), (1, 2))]
    worth = fit(table(clean), 4, prior=1.0)
    again = fit(table([*clean, ((0, 1, 3), (1, 2, 3))], uncounted=[(5, 0), (5, 1)]), 4, prior=1.0)
    assert again[:3] == pytest.approx(worth[:3])
    assert again[3] < worth[3] - 0.3

    def slope(rating: float) -> float:
        # The own clean pair against 1, two pairs lost in the game with the fault, and the ghost.
        return float(1 - 2 * expit(rating - worth[1]) - expit(rating - worth[0]) + 0.5 - expit(rating))

    assert again[3] == pytest.approx(brentq(slope, -9, 9), abs=1e-8)


def test_many_faults_of_one_leave_the_others_where_they_are() -> None:
    clean: list[Row] = [((0, 1), (1, 2)), ((0, 1), (2, 1)), ((0, 1), (1, 2)), ((2, 0), (1, 2)), ((1, 2), (1, 2))]
    faults: list[Row] = [((0, 1, 2), (2, 1, 3))] * 200
    cells = [(row, seat) for row in range(5, 205) for seat in (0, 1)]
    worth, again = fit(table(clean), 3), fit(table(clean + faults, cells), 3)
    assert again[:2] == pytest.approx(worth[:2])
    assert again[2] < worth[2] - 3
    # It won one of 402 pairs; the others are near 0.
    assert again[2] == pytest.approx(math.log(1 / 401), abs=0.5)


def test_who_never_played_without_a_fault_has_a_finite_rating() -> None:
    clean: list[Row] = [((0, 1), (1, 2)), ((0, 1), (2, 1))]
    again = fit(table([*clean, ((0, 1, 2), (1, 2, 3))], [(2, 0), (2, 1)]), 3)
    assert again[:2] == pytest.approx([0, 0])
    assert again[2] == pytest.approx(brentq(lambda x: -2 * expit(x) + 0.5 - expit(x), -9, 9))


def test_a_game_in_which_all_failed_is_a_tie() -> None:
    clean = [((0, 1), (1, 2)), ((0, 1), (1, 2)), ((0, 1), (2, 1))]
    worth, again = (fit(table([*clean, *more]), 2) for more in ([], [((0, 1), (1, 1))]))
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
    assert fit(turned, 5) == pytest.approx(fit(games, 5))


def test_many_weightings_are_solved_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bradley_terry, "CELLS", 60)  # some at a time
    games = ladder(np.linspace(-1, 1, 5), 3, 12, np.random.default_rng(4), step=0.5)
    games = with_fault(games, 7, 1)
    met = pairs_of(games, 5, games.block, 12)
    weights = np.random.default_rng(5).poisson(1.0, size=(6, 12)).astype(float)
    together = rated(met, weights, resolved(met, weights, strengths(met)))
    for one, worth in zip(weights, together, strict=True):
        rows = np.repeat(np.arange(len(games)), one[games.block].astype(int))
        assert worth == pytest.approx(fit(games.select(rows), 5, prior=1.0), abs=1e-8)


def test_influences_are_derivatives() -> None:
    games = ladder(np.linspace(-1, 1, 4), 3, 30, np.random.default_rng(6))
    games = with_fault(games, 4, 2)
    met = pairs_of(games, 4, games.block, 30)
    worth = strengths(met)
    ratings = rated(met, np.ones((1, 30)), worth[None], None)[0]
    weights = np.ones((30, 30)) + 1e-5 * np.eye(30)
    clean = resolved(met, weights, worth, prior=0.0)
    moved, changed = influences(met, worth, ratings)
    assert moved == pytest.approx((clean - worth) / 1e-5, abs=1e-4)
    assert changed == pytest.approx((rated(met, weights, clean, None) - ratings) / 1e-5, abs=1e-4)


def test_sums_do_not_depend_on_how_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bradley_terry, "_PENDING", 4)
    sums = Sums(2)
    keys = np.random.default_rng(7).integers(0, 50, size=200)
    for part in np.split(keys, 20):
        sums.add(part, np.stack([np.ones(10), part.astype(float)]))
    found, values = sums.total()
    count = np.bincount(keys, minlength=50)
    assert (found == np.flatnonzero(count)).all()
    assert (values == np.stack([count[found], count[found] * found])).all()


def test_distinct_rows() -> None:
    rows = np.random.default_rng(7).integers(-1, 3, size=(500, 40))
    rows[250:] = rows[:250]
    first, kind = distinct([rows[:, k] for k in range(40)], 3)
    assert (rows[first][kind] == rows).all()
    assert len(first) == len(np.unique(rows, axis=0))


def test_no_games() -> None:
    assert fit(table([((0, 1), (1, 2))]).select(slice(0, 0)), 3) == pytest.approx([0, 0, 0])
