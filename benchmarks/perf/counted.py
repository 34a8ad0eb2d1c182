"""The workloads whose instructions ``instructions.py`` counts; run as a program, it is what callgrind looks into.

``python counted.py NAME...`` does the work of each workload three times: once for all that happens only at first, then
for a few units and for many. Each of the last two lies between two calls of a function that nothing else calls, where
callgrind writes down what it counted so far. A line on stdout for each workload says how many units these were.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from caboose.engine.measure.measure import applies, deals, legal_moves, plans, worlds
from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.perft import perft
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.engine.search.search import Search

MARK: Final = "getppid"  # os.getppid calls it, and nothing else does
MARKS: Final = 3  # for each workload: before, between and after what is counted

PAIR: Final = Rules.of("family", 2, set=9, hand=15)
FOUR: Final = Rules.of("family", 4)
# The options of family, which knows no more than 12 players.
CROWD: Final = Rules.of(
    "classic",
    14,
    set=18,
    hand=11,
    hub="placed",
    starter="lot",
    first_turn="single",
    first_turn_places="any",
    first_turn_draw="yes",
    first_turn_finish="now",
)


@dataclass(frozen=True, slots=True)
class Workload:
    """A piece of work: ``run(size)`` does it and returns how many units it did, which grow with ``size``.

    ``few`` and ``many`` are the two sizes whose difference is counted: all that does not grow cancels out.
    """

    unit: str
    few: int
    many: int
    run: Callable[[int], int]


def playouts(rules: Rules, policy: str, few: int, many: int) -> Workload:
    """Whole rounds, the deal included."""
    return Workload("round", few, many, lambda size: len(simulate(rules, size, policy).plays))


def middle(rules: Rules, seed: int, choices: int) -> Round:
    """A round after so many choices, made by a fixed rule of thumb."""
    round_ = Round.deal(rules, seed=seed)
    for number in range(choices):
        legal = round_.legal_moves()
        round_.apply(legal[7 * number % len(legal)])
    return round_


def sequences(round_: Round, depth: int, times: int) -> int:
    """Counts the sequences of moves so many times."""
    return sum(perft(round_, depth) for _ in range(times))


def search(seen: Observation, nodes: int) -> int:
    """One search of about so many nodes."""
    race = Search(seen, seed=1)
    race.run(nodes)
    return race.nodes


MIDDLE: Final = middle(FOUR, seed=8, choices=20)
SEEN: Final = MIDDLE.observe(MIDDLE.turn)

# The names say the work, then the highest double and the players. Where rounds are made first, these cancel out.
WORKLOADS: Final[Mapping[str, Workload]] = {
    "uniform-9-2": playouts(PAIR, "random", 100, 600),
    "uniform-12-4": playouts(FOUR, "random", 100, 500),
    "uniform-18-14": playouts(CROWD, "random", 50, 150),
    "planned-12-4": playouts(FOUR, "planner", 50, 150),
    "deal-12-4": Workload("round", 500, 5000, lambda size: deals(FOUR, size).steps),
    "legal-12-4": Workload("list", 5, 30, lambda size: legal_moves(FOUR, 50, size).steps),
    "apply-12-4": Workload("move", 5, 30, lambda size: applies(FOUR, 50, size).steps),
    "perft-12-4": Workload("sequence", 5, 25, lambda size: sequences(MIDDLE, 6, size)),
    "plan-40-tiles": Workload("hand", 20, 100, lambda size: plans(FOUR, size, 1000, tiles=40).steps),
    "world-12-4": Workload("world", 500, 5000, lambda size: worlds(SEEN, size).steps),
    "search-12-4": Workload("node", 100, 400, lambda size: search(SEEN, size)),
}


def main(names: list[str]) -> None:
    """Does the work of the workloads of these names, with a mark before, between and after what is counted."""
    gc.disable()
    for name in names:
        workload = WORKLOADS[name]
        workload.run(workload.few)
        os.getppid()
        few = workload.run(workload.few)
        os.getppid()
        many = workload.run(workload.many)
        os.getppid()
        print(name, few, many)


if __name__ == "__main__":
    main(sys.argv[1:])
