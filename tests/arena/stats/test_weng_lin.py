"""Skills are followed as openskill does it, so that ladders draw the tables that they drew with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from openskill.models import BradleyTerryFull

from caboose.arena.stats.matchmaking import DEVIATION, MEAN
from caboose.arena.stats.weng_lin import update

MODEL = BradleyTerryFull(mu=MEAN, sigma=DEVIATION, tau=0.0)
SKILLS = st.tuples(st.floats(-200, 200), st.floats(0.01, 20))


@given(st.lists(st.tuples(SKILLS, st.floats(1, 14) | st.integers(1, 4)), min_size=2, max_size=14))
def test_the_same_to_the_last_bit(contestants: list[tuple[tuple[float, float], float]]) -> None:
    skills, places = [skill for skill, _ in contestants], [float(place) for _, place in contestants]
    rated = MODEL.rate([[MODEL.rating(mu=mean, sigma=deviation)] for mean, deviation in skills], ranks=places)
    expected = [(rating.mu, rating.sigma) for (rating,) in rated]
    assert update([mean for mean, _ in skills], [deviation for _, deviation in skills], places) == expected


def test_after_many_results_too() -> None:
    ours = [(MEAN, DEVIATION)] * 3
    theirs = [[MODEL.rating()] for _ in range(3)]
    for number in range(200):
        places = [float(number % 3), 1.0, float(number % 7)]
        ours = update([mean for mean, _ in ours], [deviation for _, deviation in ours], places)
        theirs = MODEL.rate(theirs, ranks=places)
    assert ours == [(rating.mu, rating.sigma) for (rating,) in theirs]
