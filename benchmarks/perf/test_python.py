"""The engine as Python uses it: stepping rounds, observing, searching."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from caboose.bots import create
from caboose.engine.belief.belief import determinize
from caboose.engine.bot_api import Limits
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules
from grid import middle_of_a_round, on_the_grid, timed, timed_calls

NODES = 2000


def play_through(rounds: list[Round]) -> int:
    """Plays rounds to their ends by legal moves, and returns how many moves that took."""
    plays = 0
    for round_ in rounds:
        while not round_.over:
            moves = round_.legal_moves()
            round_.apply(moves[plays % len(moves)])
            plays += 1
    return plays


@on_the_grid
def test_stepping(benchmark: BenchmarkFixture, rules: Rules) -> None:
    deals = [Deal.random(rules, seed=seed) for seed in range(8)]

    def rounds() -> tuple[list[Round]]:
        return ([Round(rules, deal) for deal in deals],)

    # A round that was played through is of no more use, so each call gets others.
    timed_calls(benchmark, "plays", int, play_through, 100, rounds)


@on_the_grid
def test_observing(benchmark: BenchmarkFixture, rules: Rules) -> None:
    round_ = middle_of_a_round(rules)
    timed(benchmark, "views", 1, round_.observe, round_.turn)


@on_the_grid
def test_one_world(benchmark: BenchmarkFixture, rules: Rules) -> None:
    round_ = middle_of_a_round(rules)
    timed(benchmark, "worlds", 1, determinize, round_.observe(round_.turn), 1)


@on_the_grid
def test_search(benchmark: BenchmarkFixture, rules: Rules) -> None:
    round_ = middle_of_a_round(rules)
    view = round_.observe(round_.turn)
    # No move leaves the race, so that all nodes are searched.
    bot = create("mcts", Confidence=10_000)
    nodes: list[int] = []
    limits = Limits(nodes=NODES, report=lambda info: nodes.append(info.nodes))
    timed(benchmark, "nodes", lambda _: nodes[-1], bot.choose, view, limits)
