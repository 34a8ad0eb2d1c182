"""What a match says about its contestants: formulas against published and hand-made numbers, and simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from caboose.arena.blocks.game_rows import shares
from caboose.arena.blocks.results import BlockResult, Crash, GameInBlock
from caboose.arena.match.console_report import is_marked, standings_table
from caboose.arena.match.standings import Scoreboard, Standing, t_interval
from caboose.engine.rules.game import places
from caboose.protocol.referee.referee import Fault, GameResult, RoundResult, SeatResult


def game(seating: Sequence[int], *rounds: Sequence[int], faulty: Sequence[int] = (), time: float = 10.0) -> GameInBlock:
    """A game with these scores by seat in each round; each seat took 5 decisions and ``time`` ms."""
    clean = [seat for seat in range(len(seating)) if seat not in faulty]
    ranks = dict(zip(clean, places([[row[s] for s in clean] for row in rounds], len(clean)), strict=True))
    seats = tuple(
        SeatResult(
            total=sum(row[seat] for row in rounds),
            place=ranks.get(seat, len(seating)),
            time=time,
            slowest=time / 2,
            decisions=5,
            fault=Fault("late", "slept", 1, 5) if seat in faulty else None,
        )
        for seat in range(len(seating))
    )
    told = tuple(RoundResult(12, 0, tuple(row), False, 9, 3, True) for row in rounds)
    return GameInBlock(tuple(seating), GameResult(told, seats))


def table(labels: Sequence[str], entries: Sequence[int], *blocks: Sequence[GameInBlock]) -> list[Standing]:
    board = Scoreboard(labels, entries)
    for number, games in enumerate(blocks):
        board.add(BlockResult(number, tuple(games)))
    return board.standings()


# ------------------------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # The two-sided 95 % column of Student's table (NIST/SEMATECH e-Handbook, 1.3.6.7.2).
    [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (19, 2.093), (30, 2.042), (60, 2.000), (100, 1.984)],
)
def test_the_interval_uses_students_t(freedom: int, quantile: float) -> None:
    count = freedom + 1
    values = [float(i) for i in range(count)]
    deviation = math.sqrt(count * (count + 1) / 12)  # of 0, 1, ... count - 1, in closed form
    interval = t_interval(values)
    assert interval.mean == (count - 1) / 2
    assert interval.half == pytest.approx(quantile * deviation / math.sqrt(count), rel=3e-4)
    assert interval.count == count


def test_few_values_give_no_interval() -> None:
    assert t_interval([]).mean is None
    assert (t_interval([3.0]).mean, t_interval([3.0]).half) == (3.0, None)
    assert (t_interval([3.0, 3.0]).mean, t_interval([3.0, 3.0]).half) == (3.0, 0.0)


def test_95_percent_of_intervals_hold_the_truth() -> None:
    generator = np.random.default_rng(7)
    samples = generator.normal(1.5, 20, size=(4000, 8))
    hits = 0
    for sample in samples:
        interval = t_interval(sample.tolist())
        assert interval.mean is not None and interval.half is not None
        hits += abs(interval.mean - 1.5) <= interval.half
    assert 0.94 < hits / len(samples) < 0.96  # 3 standard errors are 0.010


# ---------------------------------------------------------------------------------------- scores and margins


def test_shares_of_a_round() -> None:
    assert shares([4, 0, 9]) == [0, 1, 0]
    assert shares([0, 0, 9, 0]) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    assert shares([5, 5]) == [0.5, 0.5]


def test_a_hero_against_copies_by_hand() -> None:
    hero, copies = table(
        ["hero", "copy"],
        [0, 1, 1],
        [
            game([0, 1, 2], (10, 20, 0), (0, 30, 6)),
            game([2, 0, 1], (12, 0, 7), (9, 9, 40)),
            game([1, 2, 0], (1, 2, 3), (0, 5, 0)),
        ],
    )
    # Hero: 10 + 0 + 0 + 9 + 3 + 0 in 6 rounds. The others: (20 0) (30 6) (12 7) (9 40) (1 2) (0 5).
    assert hero.score == pytest.approx(22 / 6)
    assert hero.margin.mean == pytest.approx((10 + 18 + 9.5 + 24.5 + 1.5 + 2.5 - 22) / 6)
    assert hero.rounds_won == pytest.approx((0 + 1 + 1 + 1 / 2 + 0 + 1 / 2) / 6)
    # Totals: 10 50 6, 21 9 47, 1 7 3.
    assert hero.games_won == pytest.approx(1 / 3)
    assert (hero.games, hero.rounds, hero.seats) == (3, 6, 1)
    assert copies.score == pytest.approx((20 + 0 + 30 + 6 + 12 + 7 + 9 + 40 + 1 + 2 + 0 + 5) / 12)
    assert (copies.games, copies.rounds, copies.seats) == (6, 12, 2)
    assert copies.margin.mean == -hero.margin.mean  # type: ignore[operator]
    assert copies.games_won == pytest.approx((1 - 1 / 3) / 2)


def test_every_other_contestant_counts_alike() -> None:
    a, b, c = table(["a", "b", "c"], [0, 1, 2], [game([2, 0, 1], (30, 0, 6))])
    assert (a.margin.mean, b.margin.mean, c.margin.mean) == (18, 9, -27)


def test_the_interval_is_over_blocks() -> None:
    blocks = [[game([0, 1], (0, margin)), game([1, 0], (margin, 0))] for margin in (2, 4, 9)]
    hero, other = table(["a", "b"], [0, 1], *blocks)
    assert hero.margin == t_interval([2, 4, 9])
    assert other.margin == t_interval([-2, -4, -9])


def test_players_that_play_alike_have_a_margin_of_exactly_zero() -> None:
    generator = np.random.default_rng(3)
    for players in range(2, 15):
        rows = generator.integers(0, 200, size=(5, players)).tolist()
        turns = [[(seat + turn) % players for seat in range(players)] for turn in range(players)]
        for entries in ([0] + [1] * (players - 1), list(range(players))):
            labels = [str(number) for number in range(max(entries) + 1)]
            for standing in table(labels, entries, [game(turn, *rows) for turn in turns]):
                assert standing.margin.mean == 0


def test_times() -> None:
    games = [game([0, 1, 2], (1, 2, 3), time=10), game([1, 2, 0], (1, 2, 3), time=20)]
    hero, copies = table(["a", "b"], [0, 1, 1], games)
    assert (hero.decisions, copies.decisions) == (10, 20)
    assert hero.time_mean == copies.time_mean == 3.0
    assert hero.time_max == copies.time_max == 10.0


# ----------------------------------------------------------------------------------------------------- faults


def test_a_fault_is_a_lost_game_and_counts_for_nobody_else() -> None:
    a, b = table(["a", "b"], [0, 1], [game([0, 1], (0, 40), (7, 30), faulty=[0]), game([1, 0], (10, 4))])
    # The game with the fault: a's rounds count as 40 and 30, the worst of the table.
    assert a.faults == {"late": 1} and a.uncounted == 0
    assert (a.games, a.rounds, a.games_won) == (2, 3, 0.5)
    assert a.score == pytest.approx((40 + 30 + 4) / 3)
    assert a.rounds_won == pytest.approx(1 / 3)
    assert a.margin.mean == pytest.approx((0 + 0 + 6) / 3)
    assert b.faults == {} and b.uncounted == 1
    assert (b.games, b.rounds, b.score, b.margin.mean) == (1, 1, 10, -6)
    assert a.decisions == b.decisions == 10  # times cover all games


def test_a_fault_of_a_copy_is_the_second_contestants() -> None:
    hero, copies = table(["a", "b"], [0, 1, 1], [game([0, 1, 2], (6, 3, 3), faulty=[2])])
    assert (hero.games, hero.uncounted, hero.score, hero.margin.mean, hero.games_won) == (0, 1, None, None, None)
    assert (copies.games, copies.uncounted, copies.score) == (1, 1, 6)
    assert copies.games_won == 0 and copies.rounds_won == 0
    assert copies.margin == t_interval([0.0])


def test_blocks_without_a_game_that_counts_are_no_values() -> None:
    blocks = [[game([0, 1], (5, 1), faulty=[0])], [game([0, 1], (0, 8))], [game([0, 1], (0, 4))]]
    a, b = table(["a", "b"], [0, 1], *blocks)
    assert a.margin == t_interval([-4.0, 8.0, 4.0])
    assert b.margin == t_interval([-8.0, -4.0])


def test_who_had_faults_stands_below_the_others_and_is_marked() -> None:
    """Also where the fallback player has played so well that its margin is the best."""
    tried, first, second = game([0, 1, 2], (9, 9, 9)), game([1, 2, 0], (3, 0, 90)), game([2, 0, 1], (0, 80, 9))
    again = replace(tried, crashes=(Crash(2, Fault("dead", "it exited", 1, 1)),))
    games = [again, first, second, game([0, 1, 2], (0, 30, 30), faulty=[1])]
    standings = table(["a", "b", "c"], [0, 1, 2], games)
    a, b, c = standings
    assert b.margin.mean > a.margin.mean and c.margin.mean > b.margin.mean  # type: ignore[operator]
    assert [is_marked(standing) for standing in standings] == [False, True, True]
    rows = list(standings_table(standings).columns[0].cells)
    assert rows == ["c", "a", "b"]
    margins = [str(cell) for cell in standings_table(standings).columns[4].cells]
    assert [text.rstrip().endswith(" !") for text in margins] == [True, False, True]
    assert len({len(text) - len(text.rstrip()) for text in margins}) == 2  # so that the numbers stand below one another
    clean = table(["a", "b", "c"], [0, 1, 2], [first, second])
    assert not any("!" in str(cell) for cell in standings_table(clean).columns[4].cells)
