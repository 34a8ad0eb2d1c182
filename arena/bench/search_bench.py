"""A fixed piece of work: positions searched at fixed nodes, and playouts, to see changes of play and of speed.

The *signature* is one number that changes when a search chooses, visits or values anything otherwise. It is the
same on every machine and in every build, so a commit that changes play says its new one, and one that does not can be
checked.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from caboose.bots import create
from caboose.engine.bot_api import Info, Limits
from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules

NODES: Final = 2000  # of each search
SIMULATED: Final = (("random", 40_000), ("planner", 15_000))  # rounds of family, 4 players, double-12


@dataclass(frozen=True, slots=True)
class Position:
    """A row of ``bench.tsv``: the rules, the deal, and how many choices were made before."""

    rules: Rules
    hub: int
    seed: int
    choices: int

    def observe(self) -> Observation:
        """The position as the seat to move sees it; the choices before were made by a fixed rule of thumb."""
        round_ = Round.deal(self.rules, self.hub, self.seed)
        for number in range(self.choices):
            legal = round_.legal_moves()
            round_.apply(legal[(7 * number + self.seed) % len(legal)])
        return round_.observe(round_.turn)


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What a bench found: the signature, and figures per second of wall-clock time."""

    signature: int
    positions: int
    nodes: int
    seconds: float
    nodes_per_second: float
    playouts_per_second: dict[str, float]  # whole rounds, the deal included, by policy
    plays_per_second: float  # of uniformly random rounds


def positions() -> Iterator[Position]:
    """The fixed list."""
    lines = files("caboose.arena.bench").joinpath("search_bench.tsv").read_text(encoding="ascii").splitlines()
    for line in lines[1:]:
        rules, hub, seed, choices = line.split("\t")
        yield Position(Rules.parse(rules), int(hub), int(seed), int(choices))


def search_text(observation: Observation, nodes: int) -> tuple[str, int]:
    """All that a search of ``mcts`` says about a position, as text, and the nodes that it took."""
    said: list[Info] = []
    move = create("mcts").choose(observation, Limits(nodes=nodes, report=said.append))
    if not said:
        return str(move), 0
    candidates = " ".join(f"{c.move}:{c.visits}:{c.score or 0:.6f}" for c in said[-1].candidates)
    return f"{move} {candidates}", said[-1].nodes


def run_bench(nodes: int = NODES) -> BenchResult:
    """Searches every position at ``nodes`` nodes, then plays the simulated rounds. A second or two."""
    signature = count = total = 0
    start = time.perf_counter()
    for position in positions():
        text, used = search_text(position.observe(), nodes)
        signature = zlib.crc32(text.encode("ascii"), signature)
        total += used
        count += 1
    searching = time.perf_counter() - start
    rates = {}
    plays = 0.0
    for policy, rounds in SIMULATED:
        begun = time.perf_counter()
        result = simulate(Rules.of("family", 4), rounds, policy)
        seconds = time.perf_counter() - begun
        rates[policy] = rounds / seconds
        plays = plays or int(result.plays.sum()) / seconds
    return BenchResult(
        signature=signature,
        positions=count,
        nodes=total,
        seconds=time.perf_counter() - start,
        nodes_per_second=total / searching,
        playouts_per_second=rates,
        plays_per_second=plays,
    )
