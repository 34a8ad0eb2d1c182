"""What blocks gain, and whether a seat is better than another."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from caboose.arena.stats.game_table import Games, join, no_games
from caboose.arena.stats.seat_bias import LEVEL, FairnessTally, gain, seat_bias
from simulated import ladder, same, with_fault


def with_bias(games: Games, seat: int, pips: float) -> Games:
    margin = games.margin.copy()
    margin[:, seat] += pips
    return Games(games.block, games.player, games.place, margin, games.rounds_won, games.games_won, games.counted)


@pytest.mark.parametrize(("shared", "factor"), [(0.0, 1.0), (0.6, 2.5), (0.875, 8.0)])
def test_the_factor_is_what_deals_share(shared: float, factor: float) -> None:
    # All that the deal does cancels in the mean over the rotations, so the factor is 1 / (1 − shared).
    games = ladder(np.linspace(-1, 1, 6), 4, 1500, np.random.default_rng(0), shared=shared)
    found = gain(games)
    assert found.factor == pytest.approx(factor, rel=0.08)
    assert found.alone == pytest.approx(20**2 * (1 + 1 / 3) / 4, rel=0.08)
    assert found.blocks == 1500


def test_copies_count_once() -> None:
    games = ladder(np.zeros(4), 4, 1500, np.random.default_rng(1))
    player = np.minimum(games.player, 1)
    luck = games.margin / (4 / 3)  # the own luck less the mean of all
    hero = (player == 0).astype(np.float32)
    of_hero = (luck * hero).sum(axis=1, keepdims=True)
    margin = np.where(player == 0, luck + of_hero / 3, luck - of_hero)
    copies = Games(games.block, player, games.place, margin, games.rounds_won, games.games_won, games.counted)
    assert gain(copies).factor == pytest.approx(2.5, rel=0.1)


def test_the_same_in_all_seats_leaves_no_luck() -> None:
    found = gain(same(50, 3, 3, np.random.default_rng(2)))
    assert found.together == pytest.approx(0, abs=1e-9) and found.alone > 1
    assert gain(no_games()).factor is None
    # Nor is there where margins differ by no more than they are rounded by.
    noisy = same(50, 3, 3, np.random.default_rng(2))
    noisy.margin[:] += np.random.default_rng(3).choice([0, 2e-5], size=noisy.margin.shape)
    assert 0 < gain(noisy).together < 1e-9
    assert gain(noisy).factor is None


def test_games_may_come_some_at_a_time() -> None:
    small, large = (ladder(np.linspace(-1, 1, 5), size, 60, np.random.default_rng(size)) for size in (3, 4))
    large = with_fault(large, 9, 0)
    games = join([small, Games(large.block + 60, *(getattr(large, name) for name in Games.__slots__[1:]))])
    tally = FairnessTally()
    for first in range(0, 120, 7):
        tally.add(games.select((games.block >= first) & (games.block < first + 7)))
    assert asdict(tally.gain()) == pytest.approx(asdict(gain(games)))
    for found, expected in zip(tally.seats(), seat_bias(games), strict=True):
        assert (found.seats, found.blocks) == (expected.seats, expected.blocks)
        assert found.p == pytest.approx(expected.p)
        for one, other in zip((*found.margin, *found.games_won), (*expected.margin, *expected.games_won), strict=True):
            assert asdict(one) == pytest.approx(asdict(other))


def test_no_seat_is_better_by_chance_alone() -> None:
    # p is even between 0 and 1 where there is nothing to find.
    values = [seat_bias(ladder(np.linspace(-1, 1, 4), 4, 40, np.random.default_rng(seed)))[0].p for seed in range(200)]
    assert 0.02 <= np.mean([p is not None and p < 0.05 for p in values]) <= 0.09
    assert np.mean([p for p in values if p is not None]) == pytest.approx(0.5, abs=0.07)


def test_a_better_seat_is_found() -> None:
    games = with_bias(ladder(np.linspace(-1, 1, 5), 3, 400, np.random.default_rng(3)), 1, 6)
    (found,) = seat_bias(games)
    assert (found.seats, found.blocks) == (3, 400)
    assert found.p is not None and found.p < 1e-4
    for seat, expected in enumerate((-2, 4, -2)):
        low, high = found.margin[seat].low, found.margin[seat].high
        assert low is not None and high is not None and low < expected < high
    assert sum(one.value or 0 for one in found.games_won) == pytest.approx(1, abs=1e-6)
    assert sum(one.value or 0 for one in found.margin) == pytest.approx(0, abs=1e-6)


def test_a_strong_hero_is_no_seat_bias() -> None:
    games = ladder(np.array([2.0, 0, 0, 0]), 4, 300, np.random.default_rng(4))
    copies = Games(games.block, np.minimum(games.player, 1), *(getattr(games, n) for n in Games.__slots__[2:]))
    p = seat_bias(copies)[0].p
    assert p is not None and p > 0.01


def test_only_whole_blocks_are_looked_at() -> None:
    generator = np.random.default_rng(5)
    four, two = ladder(np.zeros(6), 4, 30, generator), ladder(np.zeros(6), 2, 20, generator)
    two = Games(two.block + 30, *(getattr(two, name) for name in Games.__slots__[1:]))
    games = join([four, two])
    assert [(one.seats, one.blocks) for one in seat_bias(games)] == [(2, 20), (4, 30)]
    assert [one.blocks for one in seat_bias(with_fault(games, 5, 0))] == [20, 29]
    assert [one.blocks for one in seat_bias(games.select(slice(1, None)))] == [20, 29]
    swapped = games.player.copy()
    swapped[0] = np.roll(np.setdiff1d(np.arange(6), games.player[0, :1])[:4], 1)
    assert sorted(swapped[0]) != sorted(games.player[0])
    other = Games(games.block, swapped, *(getattr(games, name) for name in Games.__slots__[2:]))
    assert [one.blocks for one in seat_bias(other)] == [20, 29]


def test_too_little_for_a_test() -> None:
    games = ladder(np.zeros(4), 4, 3, np.random.default_rng(6))
    assert seat_bias(games)[0].p is None
    assert seat_bias(games.select(games.block == 0))[0].margin[0].low is None
    assert seat_bias(no_games()) == []
    still = Games(games.block, games.player, games.place, games.margin * 0, *(games.margin * 0,) * 2, games.counted)
    assert seat_bias(still)[0].p is None


def test_a_test_says_what_bias_it_would_find() -> None:
    # With that bias on a seat it is found in four ladders of five, or in more where another seat is harder to tell.
    ladders = [ladder(np.linspace(-1, 1, 5), 4, 30, np.random.default_rng(seed)) for seed in range(150)]
    least = float(np.median([seat_bias(games)[0].finds or 0 for games in ladders]))
    found = [
        seat_bias(with_bias(games, 1, least * 4 / 3))[0].p for games in ladders
    ]  # of which 3 / 4 are above the mean
    assert 0.72 <= np.mean([p is not None and p < LEVEL for p in found]) <= 0.95
    half = [seat_bias(with_bias(games, 1, least * 2 / 3))[0].p for games in ladders]
    assert np.mean([p is not None and p < LEVEL for p in half]) < 0.5
    # It narrows with the root of the blocks, and nothing is said where nothing can be found.
    (many,) = seat_bias(ladder(np.linspace(-1, 1, 5), 4, 3000, np.random.default_rng(9)))
    assert many.finds == pytest.approx(least / 10, rel=0.25)
    (few,) = seat_bias(ladder(np.linspace(-1, 1, 5), 4, 4, np.random.default_rng(9)))
    assert few.p is not None and few.finds is None
    (fewer,) = seat_bias(ladder(np.linspace(-1, 1, 5), 4, 3, np.random.default_rng(9)))
    assert fewer.p is None and fewer.finds is None
