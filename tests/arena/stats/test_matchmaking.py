"""Who plays next."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from caboose.arena.stats.matchmaking import DEVIATION, MEAN, Skills, next_table, unknown


def test_the_same_arguments_give_the_same_table() -> None:
    tables = [next_table(unknown(10), 4, (7, block)) for block in range(20)]
    assert tables == [next_table(unknown(10), 4, (7, block)) for block in range(20)]
    assert len({tuple(table) for table in tables}) > 10
    for table in tables:
        assert table == sorted(set(table)) and len(table) == 4 and set(table) <= set(range(10))
    assert next_table(unknown(3), 3, (0,)) == [0, 1, 2]


def test_skills_follow_results() -> None:
    skills = unknown(4).after([0, 2, 3], [1.5, 2.0, 2.5])
    assert skills.mean[0] > skills.mean[2] > skills.mean[3]
    assert skills.mean[1] == MEAN and skills.deviation[1] == DEVIATION
    assert all(skills.deviation[i] < DEVIATION for i in (0, 2, 3))
    even = unknown(2).after([0, 1], [1.5, 1.5])
    assert even.mean == pytest.approx((MEAN, MEAN))


def test_the_least_known_play_most() -> None:
    skills = Skills((25.0,) * 8, (1.0,) * 7 + (6.0,))
    played = Counter(i for block in range(300) for i in next_table(skills, 3, (1, block)))
    assert played[7] > 250 and min(played.values()) > 20


def test_open_orders_are_played_more_than_clear_ones() -> None:
    skills = Skills((10.0, 24.9, 25.0, 25.1, 40.0), (1.0,) * 5)
    played = Counter(i for block in range(300) for i in next_table(skills, 2, (1, block)))
    assert min(played[i] for i in (1, 2, 3)) > 4 * max(played[0], played[4])
    assert min(played[0], played[4]) >= 3  # now and then, all the same


def test_tables_being_played_are_taken_into_account() -> None:
    skills = Skills((25.0,) * 6, (3.0, 3.0, 3.0, 2.9, 2.9, 2.9))
    waiting = [[0, 1, 2]] * 20
    after = skills.awaiting(waiting)
    assert after.mean == skills.mean
    assert all(after.deviation[i] < 2.7 for i in (0, 1, 2)) and after.deviation[3:] == skills.deviation[3:]
    played = Counter(i for block in range(200) for i in next_table(skills, 3, (2, block), pending=waiting))
    assert sum(played[i] for i in (3, 4, 5)) > sum(played[i] for i in (0, 1, 2))


def test_pairing_makes_the_order_known_sooner() -> None:
    strength = np.array([-2.0, -1.0, -0.2, 0.0, 0.2, 1.0, 2.0, 3.0])

    def doubt(adaptive: bool) -> float:
        generator = np.random.default_rng(3)
        skills = unknown(8)
        for block in range(150):
            table = next_table(skills if adaptive else unknown(8), 3, (5, block))
            luck = generator.gumbel(size=(3, 3))
            places = np.argsort(np.argsort(-(strength[table] + luck), axis=1), axis=1).mean(axis=0) + 1
            skills = skills.after(table, places.tolist())
        return skills.deviation[2] ** 2 + 2 * skills.deviation[3] ** 2 + skills.deviation[4] ** 2

    assert doubt(adaptive=True) < 0.9 * doubt(adaptive=False)


def test_who_is_out_is_not_drawn_and_who_fails_no_more_than_evenly() -> None:
    skills = Skills((25.0,) * 6, (1.0,) * 5 + (8.0,))
    drawn = Counter(i for block in range(400) for i in next_table(skills, 2, (1, block)))
    assert drawn[5] > 300
    held = Counter(i for block in range(400) for i in next_table(skills, 2, (1, block), even=[5]))
    # A third of 400, with a deviation of 9.4.
    assert 400 / 3 - 3 * 9.4 < held[5] < 400 / 3 + 3 * 9.4
    assert sum(held.values()) == 800
    rest = Counter(i for block in range(400) for i in next_table(skills, 2, (1, block), out=[5, 0]))
    assert set(rest) == {1, 2, 3, 4} and max(rest.values()) < 1.3 * min(rest.values())
    # Where all are held the draw is even; where nobody is, and nobody out, it is what it was.
    alike = Counter(i for block in range(400) for i in next_table(skills, 2, (1, block), even=range(6)))
    assert max(alike.values()) < 1.5 * min(alike.values())
    assert next_table(skills, 2, (1, 7), even=[], out=[]) == next_table(skills, 2, (1, 7))
    assert next_table(unknown(4), 3, (1, 7), out=[2]) == [0, 1, 3]


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="a table of 5 out of 4 contestants: expected 2 to 4 players"):
        next_table(unknown(4), 5, (0,))
    with pytest.raises(ValueError, match="a table of 4 out of 3 contestants: expected 2 to 3 players"):
        next_table(unknown(4), 4, (0,), out=[1])
    for table, places in (([0, 0], [1, 2]), ([0, 1], [1]), ([0], [1])):
        with pytest.raises(ValueError, match="two or more"):
            unknown(3).after(table, places)
