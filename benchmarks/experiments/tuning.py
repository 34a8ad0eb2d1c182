"""How good what a search recommends is: regret on made-up objectives whose optimum is known, with the noise of real
blocks.

    python benchmarks/experiments/tuning.py [--repetitions N] [--seed N] [--parameters 2 5 10] [--methods tpe cma spsa
    random] [--gain PIPS] [--factor X]

An objective has some parameters; its optimum lies somewhere, and is by --gain pips (GAIN) better than the current
values. What a block says of a candidate is that, the luck of the deal, which all have, and noise, of which the part
SMOOTH is much the same for candidates that lie near each other: they mostly play alike. *Regret* is how many pips a
round what was found lies below the optimum. The figures of docs/guides/tuning.md.

A repetition is another objective, and other blocks: those of the seeds N, N + 1, ... The constants of the methods were
chosen on the seeds from 0 on, so that only others are a fair trial. All methods have the same objectives and deals, and
are compared with the first of them, one by one.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from caboose.arena.tuning.methods import make_search, start
from caboose.arena.tuning.search import Job, Recommendation, Search
from caboose.arena.tuning.space import Floats, Parameter, Space, Values

GAIN = 3.0  # pips a round, that are to be found unless --gain says otherwise
# As measured for `mcts` with 100 playouts among planners at 4 players: a block has a deviation of 15.5 pips; values of
# the same block correlate by 0.45 for unlike options, and by 0.8 to 0.99 for some that differ by hundredths of a range.
LUCK = 10.4  # pips: the deviation of what a deal is worth to all candidates
NOISE = 11.5  # pips: that of the rest of a block
SMOOTH = 0.6  # of the variance of the rest
REACH = 0.2  # of the range, over which it is alike
WAVES = 6  # of which the smooth part is made
BUDGETS = {2: 1000, 5: 2000, 10: 4000}  # blocks
METHODS = ("random", "tpe", "cma", "spsa")


class Objective:
    """A made-up objective in the unit cube: a bowl, turned and stretched, that gets flatter outside."""

    def __init__(self, parameters: int, generator: np.random.Generator, gain: float = GAIN) -> None:
        self.space = Space(
            tuple(
                [
                    Parameter(name=f"P{number}", low=0, high=1000, step=1, current=round(1000 * at))
                    for number, at in enumerate(generator.uniform(0.15, 0.85, parameters))
                ]
            )
        )
        self._origin = self.space.places([self.space.current])[0]
        self._best = generator.uniform(0.15, 0.85, parameters)
        turned = np.linalg.qr(generator.normal(size=(parameters, parameters)))[0]
        # Some parameters matter much, some hardly; and they depend on each other, but not much.
        weights = np.exp(generator.normal(0.0, 1.0, parameters))
        mix = 0.3 * turned + 0.7 * np.eye(parameters)
        self._shape = mix.T @ np.diag(weights) @ mix
        self._scale = 1.0
        self._scale = float(self._bowl(self._origin[None])[0])
        self._height = gain / self._flattened(1.0)

    def _bowl(self, places: Floats) -> Floats:
        gaps = places - self._best
        return np.asarray(np.einsum("ni,ij,nj->n", gaps, self._shape, gaps) / self._scale)

    @staticmethod
    def _flattened(bowl: float) -> float:
        return 1 - math.exp(-0.7 * bowl)

    def regret(self, values: Values) -> float:
        """Pips below the optimum."""
        return self._height * self._flattened(float(self._bowl(self.space.places([values]))[0]))


class Deal:
    """The luck of a deal: for all, and a smooth function of where a candidate lies (random waves, Rahimi & Recht
    2007)."""

    def __init__(self, parameters: int, generator: np.random.Generator) -> None:
        self._all = LUCK * float(generator.normal())
        self._waves = generator.normal(size=(WAVES, parameters)) / REACH
        self._phases = generator.uniform(0, 2 * math.pi, WAVES)
        self._heights = generator.normal(size=WAVES) * NOISE * math.sqrt(2 * SMOOTH / WAVES)

    def luck(self, place: Floats) -> float:
        """What it is worth to a candidate."""
        return self._all + float(self._heights @ np.cos(self._waves @ place + self._phases))


def played(objective: Objective, budget: int, method: str, seed: int) -> tuple[Search, Recommendation]:
    """A whole search on made-up blocks."""
    search = make_search(objective.space, seed=seed, budget=budget, cost=lambda job: 1, price=1)
    generator = np.random.default_rng([seed, 7])
    deals: dict[int, Deal] = {}
    flow = start(search, method)
    regrets: dict[Values, float] = {}

    def value(job: Job) -> float:
        if job.values not in regrets:
            regrets[job.values] = objective.regret(job.values)
        deal = deals.setdefault(job.unit, Deal(len(objective.space), np.random.default_rng([seed, 8, job.unit])))
        luck = deal.luck(objective.space.places([job.values])[0])
        return luck - regrets[job.values] + NOISE * math.sqrt(1 - SMOOTH) * float(generator.normal())

    try:
        jobs = next(flow)
        while True:
            jobs = flow.send([value(job) for job in jobs])
    except StopIteration as stop:
        return search, stop.value


def main() -> None:
    """Prints a row for each number of parameters and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="of the first repetition")
    parser.add_argument("--parameters", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--gain", type=float, default=GAIN, help="pips a round, that are to be found")
    parser.add_argument("--factor", type=float, default=1.0, help="of the budget")
    given = parser.parse_args()
    if given.seed < 0 or given.repetitions < 2:
        parser.error("--seed must be 0 or more, and --repetitions 2 or more")
    # As in `caboose tune`: with more threads the small matrices of a surface take twenty times the processor time.
    with threadpool_limits(1, user_api="blas"):
        measure(given)


def measure(given: argparse.Namespace) -> None:
    """Measures what is asked for, and prints each row when it is known."""
    first = given.methods[0]
    print(f"| parameters | blocks | method | recommendation | minus that of {first} | luckiest trial ", end="")
    print("| said gain | true gain | interval holds it | trials | s |")
    for parameters in given.parameters:
        budget = round(given.factor * BUDGETS[parameters])
        yardstick: list[float] = []
        for method in given.methods:
            regrets, lucky, said, gained, held, trials = [], [], [], [], [], []
            begun = time.process_time()
            for seed in range(given.seed, given.seed + given.repetitions):
                objective = Objective(parameters, np.random.default_rng([parameters, seed]), given.gain)
                search, found = played(objective, budget, method, seed)
                regret = objective.regret(found.values)
                regrets.append(regret)
                if method != "spsa":  # which plays no candidate for itself
                    lucky.append(objective.regret(found.luckiest))
                said.append(found.gain.mean)
                gained.append(given.gain - regret)
                held.append(found.gain.low <= gained[-1] <= found.gain.high)
                trials.append(len(search.seen.candidates))
            yardstick = yardstick or regrets
            less = [own - other for own, other in zip(regrets, yardstick, strict=True)] if method != first else []
            spent = (time.process_time() - begun) / given.repetitions
            print(
                f"| {parameters} | {budget} | {method} | {shown(regrets)} | {shown(less)} | {shown(lucky)} "
                f"| {np.mean(said):+.2f} | {np.mean(gained):+.2f} | {np.mean(held):.0%} "
                f"| {np.mean(trials):.0f} | {spent:.1f} |",
                flush=True,
            )


def shown(values: Sequence[float]) -> str:
    """A mean with its 95 % interval."""
    if not values:
        return "–"
    return f"{np.mean(values):.2f} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
