"""The core by itself: steps, deals and playouts, measured in loops without Python in between."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from caboose.engine.measure import measure
from caboose.engine.measure.measure import Measured
from caboose.engine.policy.simulate import POLICIES, Simulation, simulate
from caboose.engine.rules.rules import Rules
from grid import middle_of_a_round, on_the_grid, timed

ROUNDS = {"random": 512, "greedy": 512, "planner": 128}  # a few milliseconds each


def steps(measured: Measured) -> int:
    return measured.steps


@on_the_grid
def test_deal(benchmark: BenchmarkFixture, rules: Rules) -> None:
    timed(benchmark, "deals", steps, measure.deals, rules, 4096, 1)


@on_the_grid
def test_legal_moves(benchmark: BenchmarkFixture, rules: Rules) -> None:
    timed(benchmark, "lists", steps, measure.legal_moves, rules, 32, 32, 1)


@on_the_grid
def test_apply(benchmark: BenchmarkFixture, rules: Rules) -> None:
    timed(benchmark, "moves", steps, measure.applies, rules, 32, 32, 1)


@on_the_grid
@pytest.mark.parametrize("policy", POLICIES)
def test_playouts(benchmark: BenchmarkFixture, rules: Rules, policy: str) -> None:
    rounds = ROUNDS[policy]
    done: Simulation = timed(benchmark, "rounds", rounds, simulate, rules, rounds, policy, 1)
    benchmark.extra_info["plays"] = int(done.plays.sum())


@pytest.mark.parametrize("tiles", [15, 25, 40])
@pytest.mark.parametrize(("nodes", "hands"), [(40, 2048), (10_000, 128)])
def test_long_trains(benchmark: BenchmarkFixture, tiles: int, nodes: int, hands: int) -> None:
    rules = Rules.of("family", 2)
    timed(benchmark, "plans", steps, measure.plans, rules, hands, nodes, 1, tiles)


@on_the_grid
def test_worlds(benchmark: BenchmarkFixture, rules: Rules) -> None:
    round_ = middle_of_a_round(rules)
    timed(benchmark, "worlds", steps, measure.worlds, round_.observe(round_.turn), 4096, 1)
