"""The sequential test: its likelihood ratio, its error rates, its state; and how many blocks a fixed test takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from caboose.arena.stats.game_table import Games
from caboose.arena.stats.sprt import (
    CAUTION,
    CONTINUE,
    FEWEST,
    H0,
    H1,
    SequentialTest,
    State,
    block_values,
    blocks_needed,
    blocks_to_go,
    chance_of_h1,
    expected_blocks,
    moments_of,
    simulate_errors,
)
from simulated import Draw, Floats, ladder, same, serial, skewed, sparse, with_fault

PIPS = SequentialTest(low=0, high=2, unit="pips")


def normal(mean: float, deviation: float) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    return lambda generator, shape: generator.normal(mean, deviation, shape)


def likelihood(values: Floats, mean: Callable[[float], float]) -> float:
    """The log-likelihood of the best normal distribution whose mean is ``mean(deviation)``."""

    def unlikely(log: Floats) -> float:
        deviation = math.exp(log[0])
        return float(len(values) * log[0] + ((values - mean(deviation)) ** 2).sum() / (2 * deviation**2))

    return -float(minimize(unlikely, [0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-10}).fun)


def test_the_ratio_is_that_of_the_best_normal_distributions() -> None:
    values = np.random.default_rng(0).normal(0.6, 0.3, 50)
    state = State().with_blocks(values).moments
    pips = SequentialTest(low=0.1, high=0.7, unit="pips")
    expected = likelihood(values, lambda _: 0.7) - likelihood(values, lambda _: 0.1)
    assert pips.normal_llrs(state).item() == pytest.approx(expected, abs=1e-6)
    elo = SequentialTest(low=-20, high=90, unit="elo")
    score = [1 / (1 + 10 ** (-effect / 400)) for effect in (-20, 90)]
    expected = likelihood(values, lambda _: score[1]) - likelihood(values, lambda _: score[0])
    assert elo.normal_llrs(state).item() == pytest.approx(expected, abs=1e-6)
    nelo = SequentialTest(low=-10, high=70, unit="nelo", games=4)
    low, high = (effect * math.log(10) / 800 * 2 for effect in (-10, 70))
    expected = likelihood(values, lambda d: 0.5 + high * d) - likelihood(values, lambda d: 0.5 + low * d)
    assert nelo.normal_llrs(state).item() == pytest.approx(expected, abs=1e-6)


def test_normalized_ratio_is_near_that_of_fishtest() -> None:
    # LLR_normalized_alt of fishtest for pairs of games: n · ln((1 + (t − t0)²) / (1 + (t − t1)²)), t per game.
    values = np.repeat([0, 0.25, 0.5, 0.75, 1], [40, 300, 640, 340, 60])
    nelo = SequentialTest(low=0, high=10, unit="nelo", games=2)
    t, low, high = (values.mean() - 0.5) / (values.std() * math.sqrt(2)), 0, 10 * math.log(10) / 800
    expected = len(values) * math.log((1 + (t - low) ** 2) / (1 + (t - high) ** 2))
    np.random.default_rng(0).shuffle(values)  # in their order they would hang together
    assert nelo.llr(State().with_blocks(values)) == pytest.approx(expected, rel=0.02)


def moments(values: Floats) -> dict[str, float]:
    """What a test goes by, computed another way."""
    away = values - values.mean()
    variance = (away**2).mean()
    serial = (away[1:] * away[:-1]).sum() / (len(values) * variance) + 1 / len(values)
    changes = float((values[1:] != values[:-1]).sum())
    found = {"count": float(len(values)), "mean": values.mean(), "variance": variance, "changes": changes}
    return (
        found
        | {"skewness": (away**3).mean() / variance**1.5, "kurtosis": (away**4).mean() / variance**2}
        | {"serial": serial}
    )


def test_moments_are_those_of_the_blocks() -> None:
    generator = np.random.default_rng(11)
    values = 40 + np.where(generator.random(400) < 0.6, 0, generator.exponential(5, 400))
    found = State().with_blocks(values.tolist()).moments
    for name, expected in moments(values).items():
        assert getattr(found, name).item() == pytest.approx(expected, rel=1e-9), name
    # Many states at once, of none and of one block too, which vary in nothing.
    states = [State(), State().with_blocks([3.0]), State().with_blocks(values.tolist())]
    many = moments_of(states)
    assert many.kurtosis.tolist() == [1.0, 1.0, found.kurtosis.item()]
    assert PIPS.verdicts(many)[:2].tolist() == [0, 0]
    assert PIPS.llrs(many).tolist() == [PIPS.llr(state) for state in states]


def test_the_ratio_is_divided_by_three_factors() -> None:
    values = np.random.default_rng(12).exponential(4, 60) - 3
    (of, at) = State().with_blocks(values.tolist()).moments, moments(values)
    skewed = 1 + at["skewness"] * (1 - at["mean"]) / math.sqrt(at["variance"])
    serial = max(at["serial"], 0)
    expected = min(max(skewed, 0.5), 2) * (1 + CAUTION * (at["kurtosis"] - 1) / 60) * (1 + serial) / (1 - serial)
    assert PIPS.factors(of).item() == pytest.approx(expected)
    assert PIPS.llrs(of).item() == pytest.approx(PIPS.normal_llrs(of).item() / expected)


@pytest.mark.parametrize(
    "draw",
    [
        partial(sparse, 0.5),
        partial(sparse, 0.8),
        partial(sparse, 0.85),
        partial(sparse, 0.95),
        partial(skewed, 1),
        partial(skewed, -1),
        serial,
    ],
    ids=["even 50", "even 80", "even 85", "even 95", "skewed up", "skewed down", "serial"],
)
def test_blocks_that_are_not_normal_are_not_judged_wrongly_more_often(draw: Callable[[float, float], Draw]) -> None:
    # With the ratio of normal distributions alone the larger of the two was 10 % to 34 % here.
    test = SequentialTest(low=0, high=1, unit="pips")
    wrong = (
        simulate_errors(test, draw(0, 4), runs=600, seed=2).h1,
        simulate_errors(test, draw(1, 4), runs=600, seed=3).h0,
    )
    # 5 % of 600, with what chance adds to it in one of a thousand tests; the seed is fixed.
    assert max(wrong) <= 0.08


def _chosen(values: Floats, generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return generator.choice(values, shape)


def test_real_blocks_that_are_mostly_even_are_not_judged_wrongly_more_often() -> None:
    # Like `planner` with 100 nodes against itself: 85 % even, the others far out to one side.
    generator = np.random.default_rng(4)
    values = np.where(generator.random(1200) < 0.85, 0.0, np.round(10 - generator.gamma(2, 7, 1200), 4))
    for low, high in ((0.0, 1.0), (-1.0, 0.0)):
        test = SequentialTest(low=low, high=high, unit="pips")
        for truth, error in ((low, "h1"), (high, "h0")):
            odd = values != 0
            moved = np.where(odd, values + (truth - values.mean()) / odd.mean(), 0.0)
            found = simulate_errors(test, partial(_chosen, moved), runs=300, seed=5)
            assert getattr(found, error) <= 0.06


def test_who_always_wins_is_found_to_be_better_in_elo() -> None:
    elo = SequentialTest(low=0, high=60, unit="elo")
    state = State().with_blocks([1.0] * 18)
    assert elo.verdict(state) == CONTINUE
    assert elo.verdict(state.with_blocks([1.0])) == H1
    assert elo.llr(state) == pytest.approx(18 * math.log(2 * elo.level(60)))
    assert elo.verdict(State().with_blocks([0.5] * 150)) == CONTINUE
    assert elo.verdict(State().with_blocks([0.5] * 250)) == H0
    # No distribution of scores is below it: half 0 and half 1, which has the largest variance that there is.
    found = simulate_errors(elo, lambda at, shape: at.integers(0, 2, shape).astype(float), runs=600, seed=6)
    assert found.h1 <= 0.08


def test_how_long_it_will_take_follows_the_rule() -> None:
    draw = sparse(0.8, 1.0, 4)
    values = draw(np.random.default_rng(7), (1, 4000))[0].tolist()
    test = SequentialTest(low=0, high=1, unit="pips")
    assert blocks_to_go(test, State()) is None
    assert blocks_to_go(test, State().with_blocks([0.0] * 50)) is None
    # As many as it takes until enough differ, however far the ratio is.
    few = State().with_blocks([0.0] * 50 + [30.0] + [0.0] * 49)
    assert few.changes == 2
    assert blocks_to_go(test, few) >= (FEWEST - 2) * 99 / 2  # type: ignore[operator]
    state, left = State().with_blocks(values[:30]), []
    for value in values[30:]:
        if test.verdict(state) != CONTINUE:
            break
        left.append(blocks_to_go(test, state))
        state = state.with_blocks([value])
    assert test.verdict(state) == H1
    assert all(each is not None and 1 <= each < 2000 for each in left)
    # A measured kurtosis makes it longer.
    assert expected_blocks(test, 1, 4, kurtosis=15) == pytest.approx(expected_blocks(test, 1, 4) + 12 * CAUTION)


@pytest.mark.parametrize("unit", ["elo", "nelo", "pips"])
def test_effects_and_levels_are_inverse(unit: str) -> None:
    test = SequentialTest(low=0, high=1, unit=unit, games=4)
    for effect in (-120.0, 0.0, 35.0):
        mean = test.level(effect) if unit != "nelo" else 0.5 + 0.2 * test.level(effect)
        assert test.effect(mean, 0.2) == pytest.approx(effect)
    assert SequentialTest(low=0, high=1).effect(1.0, 0.0) == math.inf
    assert SequentialTest(low=0, high=1, unit="nelo").effect(0.2, 0.0) == -math.inf


def test_wald_bounds() -> None:
    # The bounds that every SPRT of chess engines shows with 5 % and 5 %.
    assert SequentialTest(low=0, high=5).bounds == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert SequentialTest(low=0, high=5, alpha=0.01, beta=0.1).bounds == pytest.approx((-2.293, 4.500), abs=5e-4)


def test_verdicts() -> None:
    generator = np.random.default_rng(1)
    good, bad = generator.normal(3, 4, 200), generator.normal(-1, 4, 200)
    assert PIPS.verdict(State().with_blocks(good)) == H1
    assert PIPS.verdict(State().with_blocks(bad)) == H0
    assert PIPS.verdict(State()) == CONTINUE
    clear = good / 8 + 3
    assert PIPS.llr(State().with_blocks(clear[:FEWEST])) > PIPS.bounds[1]
    assert PIPS.verdict(State().with_blocks(clear[:FEWEST])) == CONTINUE
    assert PIPS.verdict(State().with_blocks(clear[: FEWEST + 1])) == H1
    assert PIPS.verdict(State().with_blocks([0.0] * 100)) == CONTINUE  # nothing varies, so nothing can be said


def test_a_test_goes_on_where_it_was() -> None:
    values = np.random.default_rng(2).normal(1, 4, 60)
    whole = State().with_blocks(values)
    half = State().with_blocks(values[:25])
    again = replace(half).with_blocks(values[25:])
    assert [again.count, again.mean, again.variance] == pytest.approx([60, values.mean(), values.var()])
    assert again == whole
    assert State().with_blocks(values[::-1]).moments.serial.item() == pytest.approx(whole.moments.serial.item())


@pytest.mark.parametrize(
    ("test", "deviation"),
    [
        (SequentialTest(low=0, high=3, unit="pips"), 8.0),
        (SequentialTest(low=0, high=40, unit="elo"), 0.15),
        (SequentialTest(low=0, high=40, unit="nelo", games=4), 0.15),
    ],
)
def test_errors_are_as_rare_as_they_should_be(test: SequentialTest, deviation: float) -> None:
    for effect in (test.low, test.high):
        mean = test.level(effect) if test.unit != "nelo" else 0.5 + deviation * test.level(effect)
        found = simulate_errors(test, normal(mean, deviation), runs=600, seed=1)
        assert found.h0 + found.h1 == 1
        # 5 % of 600, with what chance adds to it in one of a thousand tests; the seed is fixed.
        assert (found.h1 if effect == test.low else found.h0) <= 0.08
        assert found.mean == pytest.approx(expected_blocks(test, effect, deviation), rel=0.2)


def test_simulation_looks_after_each_block_like_the_test() -> None:
    draws = np.random.default_rng(3).normal(1, 6, (1, 5000))
    found = simulate_errors(PIPS, lambda _, shape: draws[:, : shape[1]], runs=1, most=64)
    state, verdict = State(), CONTINUE
    for value in draws[0, :64]:
        state = state.with_blocks([value])
        verdict = PIPS.verdict(state)
        if verdict != CONTINUE:
            break
    assert found.mean == state.count
    assert (found.h0, found.h1) == (float(verdict == H0), float(verdict == H1))


def test_expected_lengths() -> None:
    deviation = 8.0
    assert chance_of_h1(PIPS, 0, deviation) == pytest.approx(0.05)
    assert chance_of_h1(PIPS, 2, deviation) == pytest.approx(0.95)
    assert chance_of_h1(PIPS, 1, deviation) == pytest.approx(0.5)
    assert chance_of_h1(PIPS, -500, deviation) == pytest.approx(0)
    assert chance_of_h1(PIPS, 500, deviation) == pytest.approx(1)
    # Wald's number, what the uncertain variance of normal blocks takes, and their seeming correlation.
    wald = math.log(19) ** 2 / (2 / 8) ** 2
    assert expected_blocks(PIPS, 1, deviation) == pytest.approx(wald + 2 * CAUTION + 0.8 * math.sqrt(wald))
    assert expected_blocks(PIPS, 1 + 1e-7, deviation) == pytest.approx(expected_blocks(PIPS, 1, deviation), rel=1e-3)
    assert expected_blocks(PIPS, 2, deviation) == pytest.approx(expected_blocks(PIPS, 0, deviation))
    wald = 0.9 * math.log(19) * 2 * deviation**2 / 2**2
    for times in (1, 4):
        rest = times * wald + 2 * CAUTION + 0.8 * math.sqrt(times * wald)
        assert expected_blocks(PIPS, 2, math.sqrt(times) * deviation) == pytest.approx(rest)
    assert expected_blocks(PIPS, 2, 1.0) == FEWEST + 1


def test_power_of_a_fixed_number_of_blocks() -> None:
    assert blocks_needed(1, 8) == math.ceil((2 * 1.6448536 * 8) ** 2)
    assert blocks_needed(1, 8, alpha=0.05, power=0.8, two_sided=True) == math.ceil(((1.9599640 + 0.8416212) * 8) ** 2)
    assert blocks_needed(100, 1) == 2
    count = blocks_needed(2, 8, power=0.9)
    means = np.random.default_rng(4).normal(2, 8, (4000, count)).mean(axis=1)
    assert (means > 1.6448536 * 8 / math.sqrt(count)).mean() == pytest.approx(0.9, abs=0.02)
    for wrong in ({"gain": 0.0}, {"gain": 1.0, "power": 1.0}, {"gain": 1.0, "alpha": 0.0}):
        with pytest.raises(ValueError, match=r"must be above 0|between 0 and 1"):
            blocks_needed(**{"deviation": 1.0, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"low": 5, "high": 5}, "H0 must be below H1"),
        ({"high": math.nan}, "H0 must be below H1"),
        ({"alpha": 0.5}, "alpha is between 0 and 0.5, not 0.5"),
        ({"beta": 0}, "beta is between"),
        ({"low": 0, "high": 1e308, "unit": "elo"}, "H0 and H1 are 0 and 1e\\+308 elo, expected at most 1000"),
        ({"unit": "points"}, "the unit is one of elo, nelo, pips, not 'points'"),
        ({"games": 0}, "at least one game"),
    ],
)
def test_tests_that_make_no_sense_are_refused(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SequentialTest(**{"low": 0, "high": 5, **wrong})  # type: ignore[arg-type]


def test_blocks_of_two_contestants() -> None:
    games = ladder(np.array([0.5, 0.0, -0.5]), 3, 40, np.random.default_rng(5), step=0.5)
    blocks, scores = block_values(games, 0, 2, "elo")
    assert blocks.tolist() == list(range(40))
    for block, score in zip(blocks, scores, strict=True):
        rows = games.block == block
        mine, theirs = (np.where(games.player[rows] == who, games.place[rows], 0).sum(axis=1) for who in (0, 2))
        assert score == pytest.approx(((mine < theirs) + 0.5 * (mine == theirs)).mean())
    _, other = block_values(games, 2, 0, "elo")
    assert scores + other == pytest.approx(np.ones(40))
    _, pips = block_values(games, 0, 2, "pips")
    # Of three a margin is (b + c) / 2 - a: one and a half times its distance from the mean.
    mine, theirs = (np.where(games.player == who, games.margin, 0).sum(axis=1).reshape(40, 3) for who in (0, 2))
    assert pips == pytest.approx((mine - theirs).mean(axis=1) * 2 / 3, abs=1e-4)
    assert block_values(games, 2, 0, "pips")[1] == pytest.approx(-pips)
    _, all_pips = block_values(games, 0, None, "pips")
    assert all_pips == pytest.approx(mine.mean(axis=1), abs=1e-4)
    _, against_all = block_values(games, 0, None, "elo")
    assert against_all == pytest.approx((scores + block_values(games, 0, 1, "elo")[1]) / 2)


def test_a_hero_against_copies_is_compared_with_all_of_them() -> None:
    games = ladder(np.zeros(4), 4, 30, np.random.default_rng(6))
    copies = Games(games.block, np.minimum(games.player, 1), *(getattr(games, n) for n in Games.__slots__[2:]))
    _, scores = block_values(copies, 0, 1, "elo")
    place = np.where(copies.player == 0, copies.place, 0).sum(axis=1).reshape(30, 4)
    assert scores == pytest.approx(((4 - place) / 3).mean(axis=1))


def test_blocks_between_the_same_are_even() -> None:
    games = same(20, 4, 4, np.random.default_rng(7))
    assert block_values(games, 0, None, "elo")[1] == pytest.approx(np.full(20, 0.5))
    assert (block_values(games, 0, None, "pips")[1] == 0).all()
    assert (block_values(games, 0, 3, "pips")[1] == 0).all()


def test_faults_in_a_comparison() -> None:
    games = ladder(np.zeros(3), 3, 2, np.random.default_rng(8))
    seat = {who: int(np.flatnonzero(games.player[4] == who)[0]) for who in range(3)}
    clean = block_values(games, 0, 1, "elo")[1]
    places = [{who: games.place[row][games.player[row] == who][0] for who in range(3)} for row in (3, 5)]
    rest = [int(place[0] < place[1]) for place in places]
    assert block_values(with_fault(games, 4, seat[0]), 0, 1, "elo")[1] == pytest.approx([clean[0], sum(rest) / 3])
    assert block_values(with_fault(games, 4, seat[1]), 0, 1, "elo")[1] == pytest.approx([clean[0], (sum(rest) + 1) / 3])
    assert block_values(with_fault(games, 4, seat[2]), 0, 1, "elo")[1] == pytest.approx([clean[0], sum(rest) / 2])
    # In pips the seat at fault counts alone, with the margin that it has: 100 too little, and for the other too much.
    margins = [{who: games.margin[row][games.player[row] == who][0] for who in range(3)} for row in (3, 5)]
    ahead = sum((float(margin[0]) - float(margin[1])) * 2 / 3 for margin in margins)
    assert block_values(with_fault(games, 4, seat[0]), 0, 1, "pips")[1][1] == pytest.approx((ahead - 100) / 3, abs=1e-4)
    assert block_values(with_fault(games, 4, seat[1]), 0, 1, "pips")[1][1] == pytest.approx((ahead + 100) / 3, abs=1e-4)
    assert block_values(with_fault(games, 4, seat[2]), 0, 1, "pips")[1][1] == pytest.approx(ahead / 2, abs=1e-4)
