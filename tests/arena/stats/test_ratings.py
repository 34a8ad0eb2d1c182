"""The standings: ratings, margins, shares and their intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from caboose.arena.match.standings import t_interval
from caboose.arena.stats import ratings
from caboose.arena.stats.bootstrap import Estimate, drawn, estimate, grouped, groups_of, superiority
from caboose.arena.stats.game_table import NOBODY, Games, join, no_games
from caboose.arena.stats.ratings import ELO, Standings, crosstable, standings
from coverage import Case, coverage, spread
from simulated import ladder, same, true_means, with_fault


def values(found: Standings, what: str) -> list[float]:
    return [getattr(one, what).value for one in found.contestants]


def held(one: Estimate, truth: float) -> bool:
    assert one.low is not None and one.high is not None
    return one.low <= truth <= one.high


def test_recovers_what_was_put_in() -> None:
    strength = np.linspace(-1, 1, 6)
    found = standings(ladder(strength, 4, 4000, np.random.default_rng(0)), 6)
    margins, won = true_means(strength, 4)
    assert values(found, "rating") == pytest.approx(strength * ELO, abs=4)
    assert values(found, "margin") == pytest.approx(margins, abs=0.5)
    assert values(found, "games_won") == pytest.approx(won, abs=0.01)
    assert [one.contestant for one in found.ranked()] == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    "case",
    [
        Case("few blocks", spread(4), 4, 15),
        Case("tables out of many", spread(6), 3, 60),
    ],
)
def test_intervals_hold_the_truth_about_as_often_as_they_say(case: Case) -> None:
    # 240 and 360 intervals that hang together; benchmarks/experiments/coverage.py has thousands. The seed is fixed.
    assert all(0.91 <= share <= 0.99 for share in coverage(case, 60, 300))


def test_intervals_shrink_with_the_root_of_the_blocks() -> None:
    games = ladder(spread(4), 4, 1600, np.random.default_rng(1))
    few = standings(games.select(games.block < 100), 4)
    many = standings(games, 4)
    for what in ("rating", "margin", "rounds_won"):
        ratio = [
            getattr(a, what).half / getattr(b, what).half
            for a, b in zip(few.contestants, many.contestants, strict=True)
        ]
        assert np.mean(ratio) == pytest.approx(4, rel=0.2)


def test_margins_are_as_in_a_match() -> None:
    games = ladder(spread(4), 4, 40, np.random.default_rng(2))
    found = standings(games, 4, replicates=4000)
    for one in found.contestants:
        blocks = np.where(games.player == one.contestant, games.margin, 0).sum(axis=1).reshape(40, 4).mean(axis=1)
        expected = t_interval(blocks.tolist())
        assert one.margin.value == pytest.approx(expected.mean)
        assert one.margin.half == pytest.approx(expected.half, rel=0.1)


def test_contestants_that_play_alike_are_equal() -> None:
    found = standings(same(60, 4, 6, np.random.default_rng(3)), 6)
    for one in found.contestants:
        assert one.rating.value == pytest.approx(0, abs=1e-6)
        assert one.rating.half == pytest.approx(0, abs=1e-6)
        assert (one.margin.value, one.margin.low, one.margin.high) == pytest.approx((0, 0, 0), abs=1e-5)
    assert found.superiority == pytest.approx(np.full((6, 6), 0.5))


def test_contestants_of_the_same_strength_are_equal_within_the_interval() -> None:
    found = standings(ladder(np.array([0.4, 0.4, -0.8]), 3, 300, np.random.default_rng(4)), 3)
    assert held(found.difference(0, 1), 0)
    assert 0.05 < found.superiority[0, 1] < 0.95
    assert found.superiority[0, 2] > 0.99
    assert found.superiority + found.superiority.T == pytest.approx(np.ones((3, 3)))
    difference = found.difference(0, 2)
    assert difference.value == pytest.approx(1.2 * ELO, abs=25)
    assert held(difference, 1.2 * ELO)
    assert difference.error == pytest.approx(
        math.sqrt(found.covariance[0, 0] + found.covariance[2, 2] - 2 * found.covariance[0, 2]), rel=0.01
    )


def test_an_anchor_has_the_rating_0() -> None:
    games = ladder(spread(4), 4, 50, np.random.default_rng(5))
    free, fixed = standings(games, 4), standings(games, 4, anchor=2)
    assert fixed.contestants[2].rating == Estimate(0.0, 0.0, 0.0, 0.0)
    assert np.array(values(fixed, "rating")) - np.array(values(free, "rating")) == pytest.approx(
        -values(free, "rating")[2]
    )
    assert fixed.superiority == pytest.approx(free.superiority)
    assert sum(values(free, "rating")) == pytest.approx(0)


def test_first_order_replicates_are_near_the_solved_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    games = ladder(spread(5), 4, 300, np.random.default_rng(6))
    for row in range(0, 1200, 60):
        games = with_fault(games, row, int(np.flatnonzero(games.player[row] == games.player[0, 0]).sum()))
    solved = standings(games, 5)
    monkeypatch.setattr(ratings, "_MOST_SOLVED", 0)
    for one, other in zip(solved.contestants, standings(games, 5).contestants, strict=True):
        assert other.rating.value == one.rating.value
        assert other.rating.low == pytest.approx(one.rating.low, abs=2.0)
        assert other.rating.high == pytest.approx(one.rating.high, abs=2.0)
        assert other.margin == one.margin


def test_blocks_in_groups_give_the_same_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    games = ladder(spread(4), 4, 800, np.random.default_rng(7))
    single = standings(games, 4)
    monkeypatch.setattr(ratings, "grouped", lambda block: grouped(block, 200))
    for one, other in zip(single.contestants, standings(games, 4).contestants, strict=True):
        assert other.blocks == one.blocks == 800
        for what in ("rating", "margin", "games_won"):
            assert getattr(other, what).value == pytest.approx(getattr(one, what).value)
            assert getattr(other, what).half == pytest.approx(getattr(one, what).half, rel=0.25)


def test_large_ladders_go_through_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    games = ladder(spread(5), 3, 30, np.random.default_rng(8))
    shuffled = games.select(np.random.default_rng(9).permutation(len(games)))
    whole = standings(games, 5, replicates=50)
    monkeypatch.setattr(ratings, "_CELLS", 20)
    monkeypatch.setattr("caboose.arena.stats.bradley_terry.CHUNK", 7)
    parts = standings(shuffled, 5, replicates=50)
    for one, other in zip(whole.contestants, parts.contestants, strict=True):
        assert other.games == one.games
        for what in ("rating", "margin", "games_won"):
            assert getattr(other, what).high == pytest.approx(getattr(one, what).high)


def test_games_may_come_some_at_a_time() -> None:
    # Ties, faults, and tables of two sizes, of which a kind of choice comes up late.
    small, large = (ladder(spread(5), size, 40, np.random.default_rng(size), step=0.5) for size in (3, 4))
    for row in (20, 50):
        large = with_fault(large, row, 2)
    games = join([small, Games(large.block + 40, *(getattr(large, name) for name in Games.__slots__[1:]))])
    tally = ratings.Tally(5, groups_of(80, 20))
    for first in range(0, 80, 7):
        tally.add(games.select((games.block >= first) & (games.block < first + 7)))
    at_once = ratings.Tally(5, groups_of(80, 20))
    at_once.add(games)
    found, expected = tally.standings(replicates=20), at_once.standings(replicates=20)
    for one, other in zip(found.contestants, expected.contestants, strict=True):
        assert one.rating.high == pytest.approx(other.rating.high)
        assert replace(one, rating=other.rating) == other
    assert found.replicates == pytest.approx(expected.replicates)
    assert (found.games, found.blocks, found.tainted) == (280, 80, 2)


def test_blocks_may_have_any_numbers() -> None:
    games = ladder(spread(4), 4, 20, np.random.default_rng(10))
    names = np.random.default_rng(11).permutation(1000)[:20] * 10**12
    renamed = Games(names[games.block], *(getattr(games, name) for name in Games.__slots__[1:]))
    assert values(standings(renamed, 4), "rating") == pytest.approx(values(standings(games, 4), "rating"))


def test_tainted_games_count_only_for_the_fault() -> None:
    games = ladder(spread(4), 4, 20, np.random.default_rng(12))
    seat = 2
    faulty = int(games.player[9, seat])
    before, after = standings(games, 4), standings(with_fault(games, 9, seat), 4)
    assert (before.tainted, after.tainted) == (0, 1)
    for new in after.contestants:
        own = new.contestant == faulty
        assert (new.games, new.uncounted) == ((80, 0) if own else (79, 1))
        assert new.blocks == 20
    ratings = np.array(values(after, "rating")) - np.array(values(before, "rating"))
    assert ratings[faulty] < -3
    assert values(after, "margin")[faulty] < values(before, "margin")[faulty] - 1


def test_what_is_not_known_is_none() -> None:
    games = ladder(spread(3), 3, 1, np.random.default_rng(13))
    found = standings(games, 4)
    assert found.contestants[3].rating == Estimate() == found.contestants[3].margin
    assert found.contestants[0].rating.value is not None
    assert found.contestants[0].rating.low is None and found.contestants[0].rating.half is None
    assert found.difference(0, 3) == Estimate() and found.difference(0, 1).low is None
    assert np.isnan(found.superiority[3]).all() and not np.isnan(found.superiority[:3, :3]).any()
    assert found.ranked()[-1].contestant == 3
    empty = standings(no_games(4), 2)
    assert [one.rating for one in empty.contestants] == [Estimate(), Estimate()]
    assert (empty.games, empty.blocks, empty.tainted) == (0, 0, 0)


def test_wrong_calls_are_refused() -> None:
    games = ladder(spread(3), 3, 4, np.random.default_rng(14))
    with pytest.raises(ValueError, match="there are 2 contestants, but games of number 2"):
        standings(games, 2)
    with pytest.raises(ValueError, match="contestant 3 has no game that counts"):
        standings(games, 4, anchor=3)
    with pytest.raises(ValueError, match="margin has the shape"):
        Games(games.block, games.player, games.place, games.margin[:, :2], *(games.margin,) * 2, games.counted)
    with pytest.raises(ValueError, match="do not belong together"):
        Games(games.block[1:], *(getattr(games, name) for name in Games.__slots__[1:]))
    with pytest.raises(ValueError, match="at least 0"):
        Games(games.block, games.player - 2, *(getattr(games, name) for name in Games.__slots__[2:]))


def test_parts_of_a_ladder_are_joined() -> None:
    generator = np.random.default_rng(15)
    two, four = ladder(spread(5), 2, 6, generator), ladder(spread(5), 4, 3, generator)
    shifted = Games(four.block + 6, *(getattr(four, name) for name in Games.__slots__[1:]))
    both = join([two, shifted])
    assert len(both) == 24 and both.seats == 4
    assert (both.player[:12, 2:] == NOBODY).all()
    assert standings(both, 5).blocks == 9
    assert len(join([])) == 0


def test_who_ended_before_whom() -> None:
    games = ladder(spread(4), 3, 30, np.random.default_rng(16), step=0.5)
    games = with_fault(games, 5, 1)
    points, meetings = np.zeros((4, 4)), np.zeros((4, 4))
    for players, places, counted in zip(games.player, games.place, games.counted, strict=True):
        for i in range(3):
            for j in range(3):
                if i != j and counted[i] and counted[j]:
                    meetings[players[i], players[j]] += 1
                    points[players[i], players[j]] += 1.0 if places[i] < places[j] else 0.5 * (places[i] == places[j])
    found = crosstable(games, 4)
    assert (found[0] == points).all() and (found[1] == meetings).all()
    assert (points + points.T == meetings).all()


def test_groups_are_equal_and_keep_blocks_together() -> None:
    block = np.repeat(np.arange(103) * 7, 3)
    groups = grouped(block, 10)
    assert groups.blocks == 103 and groups.count == 10
    assert set(np.bincount(groups.of_block)) == {10, 11}
    assert (groups.of_game.reshape(103, 3) == groups.of_game.reshape(103, 3)[:, :1]).all()
    assert (grouped(block, 200).of_block == np.arange(103)).all()


def test_replicates_are_drawn_alike_each_time() -> None:
    weights = drawn(50, 400, seed=3)
    assert (weights == drawn(50, 400, seed=3)).all() and (weights != drawn(50, 400, seed=4)).any()
    assert (weights.sum(axis=1) == 50).all()
    assert weights.var() == pytest.approx(1, abs=0.05)


def test_an_interval_of_a_mean_is_that_of_student() -> None:
    blocks = np.random.default_rng(17).normal(3, 2, size=8)
    found = estimate(float(blocks.mean()), drawn(8, 20000, 0) @ blocks / 8, 8)
    expected = t_interval(blocks.tolist())
    assert expected.half is not None
    assert found.error == pytest.approx(float(blocks.std(ddof=1)) / math.sqrt(8), rel=0.03)
    assert found.half == pytest.approx(expected.half, rel=0.1)


def test_likelihood_of_superiority_never_says_never() -> None:
    replicates = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 1e-9]])
    assert superiority(replicates, 1e-6) == pytest.approx(
        np.array([[0.5, 0.75, 0.75], [0.25, 0.5, 0.5], [0.25, 0.5, 0.5]])
    )
