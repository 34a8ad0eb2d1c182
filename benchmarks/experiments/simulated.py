"""Ladders and blocks with known truth: what the statistics are tried on, in tests and in the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter
from scipy.special import ndtr

from caboose.arena.stats.game_table import NOBODY, Games

PIPS = 20.0  # a round, for one unit of strength, and of luck
SHARED = 0.6  # the part of the variance of luck that the deal has; it gives blocks a factor of 2.5

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
"""Draws blocks for ``simulate_errors``."""

_BEFORE = 20  # blocks until a correlation of neighbours is what it should be


def ladder(
    strength: Floats,
    players: int,
    blocks: int,
    generator: np.random.Generator,
    *,
    shared: float = SHARED,
    step: float = 0.0,
    likely: Floats | None = None,
) -> Games:
    """Blocks of random tables of ``players`` out of the contestants with these λ, drawn with the odds ``likely``.

    Luck is normal with the variance 1, of which the share ``shared`` belongs to the deal and the seat, so that it comes
    again in every rotation. What decides the places is λ plus that luck turned into a Gumbel variable: so each game by
    itself follows Plackett–Luce with these λ exactly. ``step`` rounds it, which makes ties. Pips are λ plus luck.
    """
    odds = np.zeros(len(strength)) if likely is None else np.log(likely)
    # The first of a random order by exponential races: those with high odds are in it more often.
    table = np.argsort(-(odds + generator.gumbel(size=(blocks, len(strength)))), axis=1)[:, :players]
    table = np.take_along_axis(table, np.argsort(generator.random(table.shape), axis=1), axis=1)
    seats = np.arange(players)
    player = table[:, (seats - seats[:, None]) % players]
    deal = generator.normal(size=(blocks, 1, players))
    luck = np.sqrt(shared) * deal + np.sqrt(1 - shared) * generator.normal(size=player.shape)
    score = strength[player] - np.log(-np.log(ndtr(luck)))
    if step:
        score = np.round(score / step)
    return _games(player, score, PIPS * (strength[player] + luck))


def same(blocks: int, players: int, contestants: int, generator: np.random.Generator) -> Games:
    """Blocks between contestants that play alike: who sits on a seat makes no difference to what happens there."""
    table = np.argsort(generator.random((blocks, contestants)), axis=1)[:, :players]
    seats = np.arange(players)
    player = table[:, (seats - seats[:, None]) % players]
    score = np.repeat(generator.integers(0, 100, size=(blocks, 1, players)), players, axis=1).astype(float)
    return _games(player, score, score)


def _games(player: npt.NDArray[np.intp], score: Floats, pips: Floats) -> Games:
    """(blocks, games, seats) as columns; a higher score is better, and pips are those by which one is ahead."""
    players = player.shape[2]
    place = (score[..., None, :] > score[..., :, None]).sum(axis=-1) + 1
    first = place == 1
    won = first / first.sum(axis=-1, keepdims=True)
    margin = pips - (pips.sum(axis=-1, keepdims=True) - pips) / (players - 1)
    return Games(
        block=np.repeat(np.arange(len(player)), players),
        player=player.reshape(-1, players).astype(np.int32),
        place=place.reshape(-1, players).astype(np.int16),
        margin=margin.reshape(-1, players).astype(np.float32),
        rounds_won=won.reshape(-1, players).astype(np.float32),
        games_won=won.reshape(-1, players).astype(np.float32),
        counted=np.ones((player.shape[0] * players, players), np.bool_),
    )


def sparse(even: float, mean: float, deviation: float, *, shifted: bool = False) -> Draw:
    """Blocks of which the share ``even`` is the same, the rest normal: as of two that seldom play differently.

    The even ones are 0, so that the others are far out; or, if ``shifted``, at the mean.
    """

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        odd = generator.normal(0.0, deviation / np.sqrt(1 - even), shape)
        same = generator.random(shape) < even
        if shifted:
            return mean + np.where(same, 0.0, odd)
        return np.where(same, 0.0, mean / (1 - even) + odd)

    return draw


def skewed(sign: int, mean: float, deviation: float) -> Draw:
    """Exponentially distributed blocks, skewed upwards (``sign`` 1) or downwards (-1)."""
    return lambda generator, shape: mean + sign * deviation * (generator.exponential(1.0, shape) - 1)


def serial(mean: float, deviation: float, correlation: float = 0.3) -> Draw:
    """Normal blocks, each of which hangs together with the one before (autoregressive, of first order)."""

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
        noise = generator.normal(0.0, np.sqrt(1 - correlation**2), (shape[0], shape[1] + _BEFORE))
        values: Floats = lfilter([1.0], [1.0, -correlation], noise, axis=1)[:, _BEFORE:]
        return mean + deviation * values

    return draw


def true_means(strength: Floats, players: int) -> tuple[Floats, Floats]:
    """The margin and the share of games won that each has on average at random tables of ``players``."""
    margin, won, tables = np.zeros(len(strength)), np.zeros(len(strength)), np.zeros(len(strength))
    for table in combinations(range(len(strength)), players):
        seats = list(table)
        worth = np.exp(strength[seats])
        margin[seats] += PIPS * (strength[seats] - (strength[seats].sum() - strength[seats]) / (players - 1))
        won[seats] += worth / worth.sum()
        tables[seats] += 1
    return margin / tables, won / tables


def with_fault(games: Games, row: int, seat: int) -> Games:
    """The same games, with a fault of ``seat`` in game ``row``: it is last, and the others do not count."""
    place, counted = games.place.copy(), games.counted.copy()
    there = games.player[row] != NOBODY
    place[row] -= place[row] > place[row, seat]
    place[row, seat] = there.sum()
    counted[row] = False
    counted[row, seat] = True
    margin, won = games.margin.copy(), games.games_won.copy()
    margin[row, seat] = -100
    won[row, seat] = 0
    return Games(games.block, games.player, place, margin, games.rounds_won, won, counted)
