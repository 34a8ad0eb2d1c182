"""The check of fit: where ratings foretell the games it says so, and where they do not it says what is off."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from caboose.arena.ladder.report_fit import fit_data, fit_told
from caboose.arena.stats.fit import FEWEST, FirstPlaces, Fit
from caboose.arena.stats.game_table import NOBODY, Games, join
from caboose.arena.stats.ratings import Standings, standings
from simulated import Floats, ladder, with_fault


def fit_of(games: Games, contestants: int) -> Fit:
    found = standings(games, contestants, replicates=2).fit
    assert found is not None
    return found


def staged(strength: Floats, players: int, blocks: int, kappa: float, generator: np.random.Generator) -> Games:
    """Places of Plackett–Luce, but for the first, for which λ count κ times."""
    games = ladder(strength, players, blocks, generator)
    worth = strength[games.player]
    first = (kappa * worth + generator.gumbel(size=worth.shape)).argmax(axis=1)
    score = worth + generator.gumbel(size=worth.shape)
    score[np.arange(len(score)), first] = np.inf
    place = 1 + np.argsort(np.argsort(-score, axis=1), axis=1)
    return replace(games, place=place.astype(np.int16))


def test_games_of_the_model_fit() -> None:
    found = [fit_of(ladder(np.linspace(-1, 1, 8), 4, 400, np.random.default_rng(seed)), 8) for seed in range(12)]
    for fit in found:
        assert (fit.pairs, fit.freedom) == (28, 21)
        assert fit.excess is not None and 0.4 < fit.excess < 2.2 and not fit.doubtful
    assert np.mean([fit.excess for fit in found]) == pytest.approx(1, abs=0.15)
    held = [fit.kappa.low <= 1 <= fit.kappa.high for fit in found]  # type: ignore[operator]
    assert sum(held) >= 9  # 95 % of 12 are 11.4, and fewer than 9 come up once in 500
    # About 95 of 100 intervals of first places hold what is foretold.
    inside = [one.observed.low <= one.foretold <= one.observed.high for fit in found for one in fit.first]  # type: ignore[operator]
    assert 0.88 < np.mean(inside) <= 1


def test_an_engine_that_beats_only_one_is_found() -> None:
    games = ladder(np.zeros(6), 2, 600, np.random.default_rng(1))
    # Contestant 0 wins nearly all against 1, 1 against 2, and 2 against 0: no rating can say so.
    for one, other in ((0, 1), (1, 2), (2, 0)):
        for row in np.flatnonzero((games.player == one).any(axis=1) & (games.player == other).any(axis=1)):
            games.place[row] = np.where(games.player[row] == one, 1, 2)
    fit = fit_of(games, 6)
    assert fit.doubtful and fit.typical is not None and fit.typical > 0.1
    assert {frozenset((each.first, each.second)) for each in fit.worst[:3]} == {
        frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2))
    }
    worst = next(each for each in fit.worst if (each.first, each.second) == (0, 1))
    assert worst.observed.value == 1 and worst.foretold < 0.6 and worst.z > 4


@pytest.mark.parametrize("kappa", [0.5, 2.0])
def test_first_places_that_are_further_apart_are_found(kappa: float) -> None:
    fit = fit_of(staged(np.linspace(-1, 1, 6), 4, 1500, kappa, np.random.default_rng(2)), 6)
    # Pairs take a part of it on themselves, as who is first is before all others.
    assert fit.kappa.low is not None and fit.kappa.high is not None
    assert fit.kappa.low > 1 if kappa > 1 else fit.kappa.high < 1
    for one in fit.first:
        assert one.observed.value == pytest.approx(one.fitted, abs=0.03)
    assert max(abs(one.foretold - one.fitted) for one in fit.first) > 0.02


def test_the_error_of_first_places_is_that_of_simulated_ladders() -> None:
    found = [fit_of(ladder(np.linspace(-1, 1, 5), 3, 80, np.random.default_rng(100 + seed)), 5) for seed in range(40)]
    values = np.array([fit.kappa.value for fit in found], float)
    errors = np.array([fit.kappa.error for fit in found], float)
    assert values.std() == pytest.approx(errors.mean(), rel=0.3)


def test_two_engines_have_nothing_to_check() -> None:
    fit = fit_of(ladder(np.array([0.5, -0.5]), 2, 60, np.random.default_rng(3)), 2)
    assert (fit.pairs, fit.freedom, fit.excess) == (1, 0, None) and not fit.doubtful
    assert fit.kappa.value is None and not fit.first  # a first place is a pair


def test_few_blocks_tell_nothing() -> None:
    games = ladder(np.linspace(-1, 1, 4), 4, FEWEST - 1, np.random.default_rng(4))
    fit = fit_of(games, 4)
    assert (fit.pairs, fit.worst, fit.first) == (0, (), ())
    assert fit_told(fit, list("abcd")) == []
    empty = fit_of(games.select(slice(0, 0)), 4)
    assert (empty.pairs, empty.kappa.value) == (0, None)


def test_first_places_are_counted_by_kind_of_table() -> None:
    generator = np.random.default_rng(5)
    games = join([ladder(np.linspace(-1, 1, 5), size, 10, generator, step=0.5) for size in (3, 4)])
    games = with_fault(games, 3, 0)
    places = FirstPlaces(5, 20)
    block = np.concatenate([games.block[:30], games.block[30:] + 10])
    for first in range(0, len(games), 7):
        places.add(games.select(slice(first, first + 7)), block[first : first + 7])
    found = places.found()
    seats, _ = found.seats()
    clean = np.delete(np.arange(len(games)), 3)
    player = games.player[clean]
    assert (seats == np.bincount(player[player != NOBODY], minlength=5)).all()
    assert found.won.sum() == pytest.approx(len(clean))
    # Odds that are equal share the first places of a table.
    even, _, _ = found.foretold(np.zeros(5))
    assert even.sum(axis=0) == pytest.approx(
        [sum(1 / (row != NOBODY).sum() for row in player for who in row if who == one) for one in range(5)]
    )


def test_what_is_told_has_the_figures() -> None:
    games = ladder(np.linspace(-1, 1, 5), 4, 100, np.random.default_rng(6))
    fit, labels = fit_of(games, 5), list("abcde")
    text = " ".join(fit_told(fit, labels))
    assert f"{fit.excess:.1f} times what chance makes" in text and f"{fit.kappa.value:.2f} ±" in text
    data = fit_data(fit, labels)
    assert data["worst"][0]["first"] in labels and {each["label"] for each in data["first"]} == set(labels)
    assert data["excess"] == fit.excess and data["kappa"]["value"] == fit.kappa.value


def measured(contestants: int, replicates: int) -> tuple[Standings, float]:
    games = ladder(np.linspace(-1, 1, contestants), 4, 500, np.random.default_rng(7))
    tracemalloc.start()
    try:
        found = standings(games, contestants, replicates=replicates)
        assert found.superiority.shape == (contestants, contestants)
        return found, tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("contestants", "replicates"), [(60, 1000), (300, 400)])
def test_memory_has_no_replicates_times_pairs(contestants: int, replicates: int) -> None:
    # The first is solved in each replicate, the second by its derivative: replicates × contestants² would be 27 MiB in
    # one array of the first, of which there were ten, and 275 MiB in one of the second.
    _, mebibytes = measured(contestants, replicates)
    assert mebibytes < (60 if contestants == 60 else 40)
