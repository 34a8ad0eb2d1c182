"""A sequential test between two contestants: it looks after every block, and stops as soon as the blocks allow.

A generalized sequential probability ratio test, as chess engines are tested with (Stockfish's fishtest, OpenBench,
fastchess), on the means of blocks instead of pairs of games. Blocks are independent, of any distribution; their mean
is about normal. With m the mean and v the variance (over n) of n blocks, and the unknown variance of each hypothesis at
its most likely value, the logarithm of the likelihood ratio is

    LLR = n/2 · ln((v + (m − low)²) / (v + (m − high)²))

for the hypotheses that the true mean is ``low`` or ``high`` (``LLR_alt`` of fishtest, after M. Van den Bergh,
cantate.be/Fishtest/support_MLE_multinomial.pdf). The *normalized* hypotheses say instead that the true mean less ½ is t
times the standard deviation d. With q = v + (m − ½)² the most likely d is the positive root of
d² + t (m − ½) d = q, and

    L(t) = −ln d − (q − 2 t (m − ½) d + t² d²) / (2 d²),     LLR = n · (L(t high) − L(t low))

which is what section 4 of M. Van den Bergh, "Comments on normalized Elo"
(cantate.be/Fishtest/normalized_elo_practical.pdf) does for the few values that a pair of games can have, here for a
normal distribution. They ask how clear a difference is, not how large, and so take about as many blocks whatever the
game.

The test ends with H1 at LLR ≥ ln((1 − beta) / alpha), and with H0 at LLR ≤ ln(beta / (1 − alpha)) (Wald 1945): H1 is
then chosen in about a share alpha of tests at most where H0 holds, and H0 in about beta at most where H1 holds.

Units:

- ``elo``: a block is the mean *score* of the one against the other over all pairs of their seats at one table: 1 for
  who ends before, ½ for a tie. A difference of d on the scale of the ratings is the score 1 / (1 + 10^(−d/400)).
- ``nelo``: the same scores; normalized. t = d · ln 10 / 800 · √games is fastchess's scale, per game of a block.
- ``pips``: a block is by how many pips a round the seats of the one score less than those of the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from caboose.arena.bootstrap import Floats, Integers, grouped
from caboose.arena.games import NOBODY, Games

UNITS: Final = ("elo", "nelo", "pips")
MOST_ELO: Final = 1000.0  # beyond, scores are 0 or 1 for all that games can tell
FEWEST: Final = 12  # blocks before a verdict: the variance of fewer is too uncertain
_DIGITS: Final = 4  # of a pip
NELO: Final = 800 / math.log(10)  # of one standard deviation of a game

Mask = npt.NDArray[np.bool_]

CONTINUE: Final = "continue"
H0: Final = "H0"
H1: Final = "H1"


@dataclass(frozen=True, slots=True)
class State:
    """What a test knows of the blocks so far: all that has to be kept to go on later.

    ``count`` blocks, the sum of their values and of the squares of those.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def with_blocks(self, values: Iterable[float]) -> Self:
        """This and more blocks, in any order."""
        count, total, squares = self.count, self.total, self.squares
        for value in values:
            count += 1
            total += value
            squares += value * value
        return type(self)(count, total, squares)

    @property
    def mean(self) -> float:
        """The mean of the blocks, 0 without any."""
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """The mean squared deviation of the blocks from their mean, 0 without any."""
        return max(0.0, self.squares / self.count - self.mean**2) if self.count else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """Two hypotheses about how much better one contestant is than another.

    ``low`` and ``high`` are what H0 and H1 say, in ``unit``. ``alpha`` is the wanted share of tests that choose H1
    where H0 holds, ``beta`` that of those that choose H0 where H1 holds. ``games`` is the number of games in a block,
    for ``nelo``. Raises ``ValueError`` for what makes no sense.
    """

    low: float
    high: float
    unit: str = "elo"
    alpha: float = 0.05
    beta: float = 0.05
    games: int = 2

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"the unit is one of {', '.join(UNITS)}, not {self.unit!r}")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"H0 must be below H1, and both finite; they are {self.low:g} and {self.high:g}")
        if self.unit != "pips" and max(-self.low, self.high) > MOST_ELO:
            raise ValueError(f"H0 and H1 are {self.low:g} and {self.high:g} {self.unit}, expected at most {MOST_ELO:g}")
        for name, share in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < share < 0.5:
                raise ValueError(f"{name} is between 0 and 0.5, not {share:g}")
        if self.games < 1:
            raise ValueError(f"a block has at least one game, not {self.games}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which H0 is chosen, and that at which H1 is."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def level(self, effect: float) -> float:
        """What an effect in ``unit`` is for blocks: their mean, or for ``nelo`` mean − ½ in deviations."""
        if self.unit == "elo":
            return 1 / (1 + 10 ** (-effect / 400))
        return effect / NELO * math.sqrt(self.games) if self.unit == "nelo" else effect

    def effect(self, mean: float, deviation: float) -> float:
        """The effect in ``unit`` of blocks with this mean and standard deviation; infinite where there is no scale."""
        if self.unit == "pips":
            return mean
        if self.unit == "elo":
            if not 0 < mean < 1:
                return math.copysign(math.inf, mean - 0.5)
            return -400 * math.log10(1 / mean - 1)
        if mean == 0.5:
            return 0.0
        if deviation <= 0:
            return math.copysign(math.inf, mean - 0.5)
        return (mean - 0.5) / deviation * NELO / math.sqrt(self.games)

    def llr(self, state: State) -> float:
        """The logarithm of the likelihood ratio; 0 while the blocks do not differ."""
        return float(self.llrs(np.array(state.count), np.array(state.mean), np.array(state.variance)))

    def llrs(self, count: Integers, mean: Floats, variance: Floats) -> Floats:
        """The same for many tests at once."""
        low, high = self.level(self.low), self.level(self.high)
        safe = np.where(variance > 0, variance, 1.0)
        if self.unit == "nelo":
            ratio = count * (_normalized(high, mean - 0.5, safe) - _normalized(low, mean - 0.5, safe))
        else:
            ratio = count / 2 * np.log((safe + (mean - low) ** 2) / (safe + (mean - high) ** 2))
        return np.where(variance > 0, ratio, 0.0)

    def verdict(self, state: State) -> str:
        """``H0``, ``H1`` or ``continue``. Nothing is decided before ``FEWEST`` blocks."""
        if state.count < FEWEST:
            return CONTINUE
        low, high = self.bounds
        llr = self.llr(state)
        return H1 if llr >= high else H0 if llr <= low else CONTINUE


def block_values(games: Games, one: int, other: int | None, unit: str) -> tuple[Integers, Floats]:
    """The numbers of the blocks that say something about ``one`` against ``other``, and the value of each for a test.

    Scores of seats of ``one`` against those of ``other`` at the same table, or by how many pips a round the seats of
    ``one`` score less on average; ``other`` None stands for all others. A fault of a third takes the game away. Who has
    a fault of its own lost its pairs; in pips the margins of the seats at fault count in that game, and no others.

    Two that play alike are even in every block where all others at the table are theirs. With third ones at it they are
    so in pips, but in scores only on average, since a rotation does not change who sits how far behind whom.
    """
    mine = games.player == one
    theirs = (games.player != NOBODY) & ~mine if other is None else games.player == other
    game = np.flatnonzero(mine.any(axis=1) & theirs.any(axis=1))
    mine, theirs, place = mine[game], theirs[game], games.place[game]
    fine = games.counted[game] | (games.player[game] == NOBODY)
    tainted = ~fine.all(axis=1, keepdims=True)
    faulty = tainted & games.counted[game]
    if unit == "pips":
        margin = games.margin[game].astype(float)
        if other is None:
            values = np.where(mine & games.counted[game], margin, 0.0)
            weight = (mine & games.counted[game]).astype(float)
        else:
            values = _pips(margin, mine, theirs, games.player[game] != NOBODY, tainted, faulty)[:, None]
            weight = (~tainted | (faulty & (mine | theirs)).any(axis=1, keepdims=True)).astype(float)
    else:
        pairs = mine[:, :, None] & theirs[:, None, :]
        ahead = 0.5 + 0.5 * np.sign(place[:, None, :].astype(float) - place[:, :, None])
        # In a tainted game only what a faulty seat lost counts, and only where one of the two is faulty.
        usable = pairs & (~tainted[:, :, None] | faulty[:, :, None] | faulty[:, None, :])
        values = np.where(usable, ahead, 0.0).sum(axis=2)
        weight = usable.sum(axis=2).astype(float)
    groups = grouped(games.block[game], most=len(game) + 1)
    total = np.bincount(groups.block, values.sum(axis=1), minlength=groups.blocks)
    seats = np.bincount(groups.block, weight.sum(axis=1), minlength=groups.blocks)
    known = seats > 0
    mean = total[known] / seats[known]
    # Margins are kept in 24 bits: blocks that are even shall be so exactly.
    return np.unique(games.block[game])[known], np.round(mean, _DIGITS) if unit == "pips" else mean


def expected_blocks(test: SequentialTest, effect: float, deviation: float, llr: float = 0.0) -> float:
    """About how many more blocks the test takes where the truth is ``effect``, blocks have this standard deviation and
    the LLR is ``llr``.

    Wald's approximation: the LLR as a Brownian motion between its bounds, with the drift and the variance of a block.
    """
    low, high = (bound - llr for bound in test.bounds)
    drift, variance = _motion(test, effect, deviation)
    if abs(drift) < 1e-12 * variance or drift == 0:
        return -low * high / variance
    chance = chance_of_h1(test, effect, deviation, llr)
    return (chance * high + (1 - chance) * low) / drift


def chance_of_h1(test: SequentialTest, effect: float, deviation: float, llr: float = 0.0) -> float:
    """About how likely the test ends with H1 where the truth is ``effect``; approximation as in ``expected_blocks``."""
    low, high = (bound - llr for bound in test.bounds)
    drift, variance = _motion(test, effect, deviation)
    slope = 2 * drift / variance
    if abs(slope) < 1e-9:
        return -low / (high - low)
    if slope > 0:
        return math.expm1(-slope * -low) / math.expm1(-slope * (high - low))
    # The same, with both parts divided by what would overflow.
    return (math.exp(slope * high) - math.exp(slope * (high - low))) / -math.expm1(slope * (high - low))


def blocks_needed(
    gain: float, deviation: float, *, alpha: float = 0.05, power: float = 0.95, two_sided: bool = False
) -> int:
    """How many blocks show a gain, in a comparison of a fixed length.

    ``gain`` and ``deviation``, the standard deviation of a block, are in the same unit, pips say. ``alpha`` is the
    chance to find a gain where there is none, ``power`` that to find it where there is. With z the quantiles of the
    normal distribution these are ((z(1 − alpha) + z(power)) · deviation / gain)² blocks, rounded up, alpha halved for
    ``two_sided``; at least 2. Raises ``ValueError`` for a gain or deviation that is not above 0, or shares that are not
    between 0 and 1.
    """
    if not (gain > 0 and deviation > 0):
        raise ValueError(f"the gain and the deviation must be above 0; they are {gain:g} and {deviation:g}")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ValueError(f"alpha and power are between 0 and 1; they are {alpha:g} and {power:g}")
    from scipy.special import ndtri

    quantiles = float(ndtri(1 - alpha / (2 if two_sided else 1))) + float(ndtri(power))
    return max(2, math.ceil((quantiles * deviation / gain) ** 2)) if quantiles > 0 else 2


@dataclass(frozen=True, slots=True)
class Errors:
    """How simulated tests ended: the shares with ``h0`` and ``h1``, the rest had no verdict when they were ended.

    ``mean`` and ``longest``: blocks, longest is that of 95 % of the tests.
    """

    h0: float
    h1: float
    mean: float
    longest: float


def simulate_errors(
    test: SequentialTest,
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats],
    *,
    runs: int = 2000,
    most: int = 100_000,
    seed: int = 0,
) -> Errors:
    """Runs the test many times on blocks that ``draw(generator, shape)`` draws, each for ``most`` blocks at most.

    All runs look at their verdict after each block, as the test does.
    """
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    low, high = test.bounds
    count = np.zeros(runs, np.int64)
    total, squares = np.zeros(runs), np.zeros(runs)
    verdict = np.zeros(runs, np.int64)
    left = np.arange(runs)
    while len(left) and count[left[0]] < most:
        step = min(max(64, 250_000 // len(left)), 1024, most - int(count[left[0]]))
        values = draw(generator, (len(left), step))
        counts = count[left, None] + np.arange(1, step + 1)
        totals = total[left, None] + np.cumsum(values, axis=1)
        sums = squares[left, None] + np.cumsum(values**2, axis=1)
        means = totals / counts
        llr = test.llrs(counts, means, np.maximum(0.0, sums / counts - means**2))
        ended = ((llr >= high) | (llr <= low)) & (counts >= FEWEST)
        at = np.where(ended.any(axis=1), ended.argmax(axis=1), step - 1)
        rows = np.arange(len(left))
        count[left], total[left], squares[left] = counts[rows, at], totals[rows, at], sums[rows, at]
        verdict[left] = np.where(ended[rows, at], np.where(llr[rows, at] >= high, 1, -1), 0)
        left = left[verdict[left] == 0]
    return Errors(
        float((verdict < 0).mean()), float((verdict > 0).mean()), float(count.mean()), float(np.quantile(count, 0.95))
    )


def _normalized(level: float, mean: Floats, variance: Floats) -> Floats:
    """The log-likelihood of a block under the most likely normal distribution whose mean is ``level`` deviations."""
    square = variance + mean**2
    sigma = (-level * mean + np.sqrt((level * mean) ** 2 + 4 * square)) / 2
    likelihood: Floats = -np.log(sigma) - (square - 2 * level * mean * sigma + (level * sigma) ** 2) / (2 * sigma**2)
    return likelihood


def _pips(margin: Floats, mine: Mask, theirs: Mask, there: Mask, tainted: Mask, faulty: Mask) -> Floats:
    """By how many pips a round the seats of the one score less than those of the other, for each game.

    With the sum S of all scores at a table of P, and the mean m of k seats of one contestant, its mean margin is
    M = (S − P m) / (P − k); so two that have means m and n differ by n − m = ((P − k) M − (P − l) N) / P.
    """
    players, ours, others = there.sum(axis=1), mine.sum(axis=1), theirs.sum(axis=1)
    own, their = (margin * mine).sum(axis=1) / ours, (margin * theirs).sum(axis=1) / others
    clean: Floats = ((players - ours) * own - (players - others) * their) / players
    signs = faulty * (mine.astype(float) - theirs)
    lost: Floats = (margin * signs).sum(axis=1) / np.maximum(np.abs(signs).sum(axis=1), 1)
    return np.where(tainted[:, 0], lost, clean)


def _motion(test: SequentialTest, effect: float, deviation: float) -> tuple[float, float]:
    """The drift and the variance of the LLR in one block."""
    scale = 1.0 if test.unit == "nelo" else deviation
    low, high = test.level(test.low) / scale, test.level(test.high) / scale
    return (high - low) * (test.level(effect) / scale - (low + high) / 2), (high - low) ** 2
