"""A sequential test between two contestants: it looks after every block, and stops as soon as the blocks allow.

A generalized sequential probability ratio test, as chess engines are tested with (Stockfish's fishtest, OpenBench,
fastchess), on the means of blocks instead of pairs of games. With m the mean and v the variance (over n) of n blocks,
and the unknown variance of each hypothesis at its most likely value, the logarithm of the likelihood ratio of normal
distributions is

    n/2 · ln((v + (m − low)²) / (v + (m − high)²))

for the hypotheses that the true mean is ``low`` or ``high`` (``LLR_alt`` of fishtest, after M. Van den Bergh,
cantate.be/Fishtest/support_MLE_multinomial.pdf). The *normalized* hypotheses say instead that the true mean less ½ is t
times the standard deviation d. With q = v + (m − ½)² the most likely d is the positive root of
d² + t (m − ½) d = q, and

    L(t) = −ln d − (q − 2 t (m − ½) d + t² d²) / (2 d²),     ratio = n · (L(t high) − L(t low))

which is what section 4 of M. Van den Bergh, "Comments on normalized Elo"
(cantate.be/Fishtest/normalized_elo_practical.pdf) does for the few values that a pair of games can have, here for a
normal distribution. They ask how clear a difference is, not how large, and so take about as many blocks whatever the
game.

Blocks are seldom normal: where two seldom play differently, most are even and a few are far out. The LLR is that ratio
divided by the product of three factors, all 1 where there are many independent, normal blocks:

- 1 + g · (mid − m) / √v, where g is the skewness of the blocks and mid is half-way between the hypotheses: the variance
  that a distribution has when it is tilted until its mean is mid, over v. It is the first term by which the empirical
  likelihood ratio (Owen, *Empirical Likelihood*, 2001) differs from that of normal distributions. For normalized
  hypotheses it is 1 − g · (t mid + t) / 2 with t = (m − ½) / √v. It is held between ½ and 2.
- 1 + ``CAUTION`` · (k − 1) / n, where k is the kurtosis of the blocks: (k − 1) / n is the relative variance of v, which
  is large where few blocks tell of it. ``CAUTION`` was found by simulation (benchmarks/experiments/errors.py).
- (1 + r) / (1 − r), where r is the correlation of each block with the next, from 0 to ``MOST_SERIAL``: by so much the
  variance of a mean of blocks exceeds v / n that hang together (of first order).

Nothing is decided before ``FEWEST`` blocks had another value than the block before them. Until then Elo, whose scores
are between 0 and 1, goes by the ratio of a win or a loss, n · (m ln(high / low) + (1 − m) ln((1 − high) / (1 − low))):
its exponential is 1 on average at most where H0 holds, whatever the distribution, and so the other way round where H1
does (Ville's inequality). So it may decide at any time, and a contestant who always wins is found to be better.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.bootstrap import Floats, Integers, grouped
from caboose.arena.stats.game_table import NOBODY, Games

UNITS: Final = ("elo", "nelo", "pips")
MOST_ELO: Final = 1000.0  # beyond, scores are 0 or 1 for all that games can tell
MOST_PIPS: Final = 1e12  # and of what else is measured in their place: beyond, squares have no digits left
LEAST_WIDTH: Final = 1e-9  # between the hypotheses
FEWEST: Final = 24  # blocks with another value than that before them, for a verdict
CAUTION: Final = 8.0  # how much an uncertain variance counts
MOST_SERIAL: Final = 0.9  # correlation of a block with the next
_SKEWED: Final = 2.0  # the most by which skewness makes an LLR larger or smaller
_SERIAL: Final = 0.8  # about √(2 / π): how far a correlation of 0 seems above 0 on average, both ways, times √n
_DIGITS: Final = 4  # of a pip
_TINY: Final = 1e-30  # a variance of blocks that differ, whatever is lost in rounding
NORMAL: Final = 3.0  # the kurtosis of a normal distribution
NELO: Final = 800 / math.log(10)  # of one standard deviation of a game

Mask = npt.NDArray[np.bool_]

CONTINUE: Final = "continue"
H0: Final = "H0"
H1: Final = "H1"
VERDICTS: Final = {-1: H0, 0: CONTINUE, 1: H1}


@dataclass(frozen=True, slots=True)
class Moments:
    """What a test goes by, of one row of blocks or of many (all arrays of one shape).

    ``count`` blocks, their ``mean`` and ``variance`` (over ``count``), ``skewness`` and ``kurtosis`` (3 for a normal
    distribution; 0 and 1 without variance), ``serial``: the correlation of a block with the next, less what is expected
    of independent ones (−1 / count); ``changes``: how many blocks differ from the one before.
    """

    count: Floats
    mean: Floats
    variance: Floats
    skewness: Floats
    kurtosis: Floats
    serial: Floats
    changes: Floats


@dataclass(frozen=True, slots=True)
class State:
    """What a test knows of the blocks so far: all that has to be kept to go on later.

    ``count`` blocks, the ``first`` and the ``last``; the sums of their first to fourth powers, and of the products of
    neighbours (``total``, ``squares``, ``cubes``, ``fourths``, ``products``), all of the values less the first;
    ``changes``: how many blocks differ from the one before.
    """

    count: int = 0
    first: float = 0.0
    last: float = 0.0
    total: float = 0.0
    squares: float = 0.0
    cubes: float = 0.0
    fourths: float = 0.0
    products: float = 0.0
    changes: int = 0

    def with_blocks(self, values: Iterable[float]) -> Self:
        """This and more blocks, in their order."""
        count, first, last, changes = self.count, self.first, self.last, self.changes
        total, squares, cubes, fourths = self.total, self.squares, self.cubes, self.fourths
        products = self.products
        for value in values:
            if not count:
                first = last = value
            count += 1
            changes += value != last
            above = value - first
            total += above
            squares += above**2
            cubes += above**3
            fourths += above**4
            products += above * (last - first)
            last = value
        return type(self)(count, first, last, total, squares, cubes, fourths, products, changes)

    @property
    def mean(self) -> float:
        """The mean of the blocks, 0 without any."""
        return self.first + self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """The mean squared deviation of the blocks from their mean, 0 without any."""
        return max(0.0, self.squares / self.count - (self.total / self.count) ** 2) if self.count else 0.0

    @property
    def moments(self) -> Moments:
        """What a test goes by: arrays of one element."""
        return moments_of([self])


_FIELDS: Final = attrgetter(*State.__slots__)


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
        most = MOST_PIPS if self.unit == "pips" else MOST_ELO
        if max(-self.low, self.high) > most:
            raise ValueError(f"H0 and H1 are {self.low:g} and {self.high:g} {self.unit}, expected at most {most:g}")
        if self.high - self.low < LEAST_WIDTH:
            raise ValueError(f"H0 and H1 are {self.high - self.low:g} apart, expected at least {LEAST_WIDTH:g}")
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
        """The logarithm of the likelihood ratio; 0 while the blocks do not differ, but for Elo (see above)."""
        return float(self.llrs(state.moments).item())

    def llrs(self, of: Moments) -> Floats:
        """The same for many tests at once."""
        found: Floats = self.normal_llrs(of) / self.factors(of)
        if self.unit != "elo":
            return found
        low, high = self.level(self.low), self.level(self.high)
        scores = of.mean * math.log(high / low) + (1 - of.mean) * math.log((1 - high) / (1 - low))
        return np.where(of.changes < FEWEST, of.count * scores, found)

    def normal_llrs(self, of: Moments) -> Floats:
        """The logarithms of the likelihood ratios of normal distributions; 0 where the blocks do not differ."""
        low, high = self.level(self.low), self.level(self.high)
        safe = np.where(of.changes > 0, of.variance, 1.0)
        if self.unit == "nelo":
            ratio = of.count * (_normalized(high, of.mean - 0.5, safe) - _normalized(low, of.mean - 0.5, safe))
        else:
            ratio = of.count / 2 * np.log((safe + (of.mean - low) ** 2) / (safe + (of.mean - high) ** 2))
        return np.where(of.changes > 0, ratio, 0.0)

    def factors(self, of: Moments) -> Floats:
        """By what the ratios of normal distributions are divided: skewness, uncertain variance and correlation."""
        middle = (self.level(self.low) + self.level(self.high)) / 2
        deviation = np.sqrt(np.where(of.changes > 0, of.variance, 1.0))
        if self.unit == "nelo":
            skewed = 1 - of.skewness * (middle + (of.mean - 0.5) / deviation) / 2
        else:
            skewed = 1 + of.skewness * (middle - of.mean) / deviation
        uncertain = 1 + CAUTION * (of.kurtosis - 1) / np.maximum(of.count, 1)
        serial = np.clip(of.serial, 0, MOST_SERIAL)
        product: Floats = np.clip(skewed, 1 / _SKEWED, _SKEWED) * uncertain * (1 + serial) / (1 - serial)
        return product

    def verdicts(self, of: Moments) -> Integers:
        """For many tests at once 1 for H1, -1 for H0, 0 for none yet."""
        low, high = self.bounds
        llr = self.llrs(of)
        known = np.ones(llr.shape, np.bool_) if self.unit == "elo" else of.changes >= FEWEST
        return np.where(known, (llr >= high).astype(np.int64) - (llr <= low), 0)

    def verdict(self, state: State) -> str:
        """``H0``, ``H1`` or ``continue``."""
        return VERDICTS[self.verdicts(state.moments).item()]


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


def expected_blocks(
    test: SequentialTest, effect: float, deviation: float, llr: float = 0.0, *, kurtosis: float = NORMAL
) -> float:
    """About how many more blocks the test takes where the truth is ``effect``, blocks have this standard deviation and
    ``kurtosis`` and are independent, and the LLR is ``llr``.

    Wald's approximation: the LLR as a Brownian motion between its bounds, with the drift and the variance of a block;
    and what it takes in addition, since the variance is uncertain and independent blocks seem a little correlated.
    """
    wald = _wald(test, effect, deviation, llr)
    found = wald + CAUTION * (kurtosis - 1) + _SERIAL * math.sqrt(wald)
    return found if llr else max(found, FEWEST + 1.0)


def blocks_to_go(test: SequentialTest, state: State) -> float | None:
    """About how many more blocks the test takes if the truth is what the blocks of ``state`` have shown; None where
    they tell nothing of that, as all are alike."""
    of = state.moments
    deviation = math.sqrt(state.variance)
    effect = test.effect(state.mean, deviation) if state.changes else math.inf
    if not math.isfinite(effect) or deviation == 0:
        return None
    wait = (FEWEST - state.changes) * (state.count - 1) / state.changes
    low, high = test.bounds
    # Without the uncertainty of the variance, which vanishes with more blocks.
    kurtosis = float(of.kurtosis.item())
    factor = float(test.factors(of).item()) / (1 + CAUTION * (kurtosis - 1) / state.count)
    llr = float(test.normal_llrs(of).item()) / factor
    drift, _ = _motion(test, effect, deviation)
    left = CAUTION * (kurtosis - 1)
    if low < llr < high:
        left += factor * _wald(test, effect, deviation, llr)
    elif drift:  # beyond the bound already, but for what is still uncertain
        left -= (abs(llr) - (high if llr > 0 else -low)) * factor / abs(drift)
    return max(left, wait, 1.0)


def _wald(test: SequentialTest, effect: float, deviation: float, llr: float) -> float:
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
    count, first, last, changes = np.zeros(runs), np.zeros(runs), np.zeros(runs), np.zeros(runs)
    sums = np.zeros((5, runs))
    verdict = np.zeros(runs, np.int64)
    left = np.arange(runs)
    while len(left) and count[left[0]] < most:
        step = min(max(64, 250_000 // len(left)), 1024, most - int(count[left[0]]))
        values = draw(generator, (len(left), step))
        if not count[left[0]]:
            first, last = values[:, 0].copy(), values[:, 0].copy()
        before = np.concatenate([last[left, None], values[:, :-1]], axis=1)
        counts = count[left, None] + np.arange(1, step + 1)
        differing = changes[left, None] + np.cumsum(values != before, axis=1)
        above = values - first[left, None]
        terms = (above, above**2, above**3, above**4, above * (before - first[left, None]))
        totals = [one[left, None] + np.cumsum(term, axis=1) for one, term in zip(sums, terms, strict=True)]
        found = test.verdicts(_moments(counts, first[left, None], values, totals, differing))
        ended = found != 0
        at = np.where(ended.any(axis=1), ended.argmax(axis=1), step - 1)
        rows = np.arange(len(left))
        count[left], last[left], changes[left] = counts[rows, at], values[rows, at], differing[rows, at]
        for one, total in zip(sums, totals, strict=True):
            one[left] = total[rows, at]
        verdict[left] = found[rows, at]
        left = left[verdict[left] == 0]
    return Errors(
        float((verdict < 0).mean()), float((verdict > 0).mean()), float(count.mean()), float(np.quantile(count, 0.95))
    )


def moments_of(states: Sequence[State]) -> Moments:
    """What a test goes by, for many states at once."""
    count, first, last, *sums, changes = np.array([_FIELDS(state) for state in states], float).T
    return _moments(count, first, last, sums, changes)


def _moments(count: Floats, first: Floats, last: Floats, sums: Sequence[Floats], changes: Floats) -> Moments:
    """Moments of blocks from the sums that a ``State`` has, in its order."""
    safe_count = np.maximum(count, 1)
    one, two, three, four, lag = (each / safe_count for each in sums)
    differ = changes > 0
    variance = np.where(differ, np.maximum(two - one**2, _TINY), 0.0)
    safe = np.where(differ, variance, 1.0)
    skewness = np.where(differ, (three - 3 * one * two + 2 * one**3) / safe**1.5, 0.0)
    kurtosis = np.where(differ, (four - 4 * one * three + 6 * one**2 * two - 3 * one**4) / safe**2, 1.0)
    # The sum of (x[i] − m) (x[i − 1] − m), where all x are less the first.
    shared = lag - one * (2 * one - (last - first) / safe_count) + (count - 1) / safe_count * one**2
    serial = np.where(differ, shared / safe, 0.0) + 1 / safe_count
    return Moments(count, first + one, variance, skewness, np.maximum(kurtosis, 1.0), serial, changes)


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
