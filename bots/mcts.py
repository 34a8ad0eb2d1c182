"""The bot that searches, and how it spends its time."""

from __future__ import annotations

import time
from typing import ClassVar, Final

from caboose.bots.base import SEED, BuiltIn
from caboose.engine.moves import Move
from caboose.engine.play import Candidate, Info, Limits, Option
from caboose.engine.round import Observation, Round
from caboose.engine.search import Search

CHUNK: Final = 32  # iterations between two looks at the clock
REPORT_EVERY: Final = 0.5  # seconds between two reports
DEFAULT_NODES: Final = 2000  # when nothing limits the search
DECISIONS_A_ROUND: Final = 10  # real choices of a seat in a round, about; forced moves are never asked


class MctsBot(BuiltIn):
    """Monte Carlo search over worlds that agree with what the seat knows (``docs/search.md``)."""

    name: ClassVar[str] = "mcts"
    declared: ClassVar[tuple[Option, ...]] = (
        SEED,
        Option("Overhead", "spin", default=2, min=0, max=10_000, help="milliseconds of each move kept back"),
        Option("Confidence", "spin", default=400, min=0, max=10_000, help="1/100 standard errors that drop a move"),
        Option("WinBonus", "spin", default=10, min=0, max=1000, help="pips that winning the round is worth"),
        Option("PlanNodes", "spin", default=40, min=1, max=100_000, help="tries for a long train in playouts"),
        Option("Noise", "spin", default=4, min=0, max=1000, help="chance in playouts, in rank points"),
    )

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return self._decide(observation, limits)

    def _decide(
        self, observation: Observation, limits: Limits, truth: Round | None = None, open_boneyard: bool = True
    ) -> Move:
        """The move; of ``truth`` and ``open_boneyard`` see ``Search``."""
        start = time.perf_counter()
        legal = observation.legal_moves()
        if not legal:
            raise ValueError("the round is over: there is no move to choose")
        if len(legal) == 1 and not limits.infinite:
            return legal[0]
        search = Search(
            observation,
            self.number("Seed"),
            confidence=self.number("Confidence") / 100,
            win_bonus=self.number("WinBonus"),
            plan_nodes=self.number("PlanNodes"),
            noise=self.number("Noise"),
            truth=truth,
            open_boneyard=open_boneyard,
        )
        budget = self._budget(observation, limits)
        most = limits.nodes
        if most is None and budget is None and not limits.infinite:
            most = DEFAULT_NODES
        self._think(search, start, budget, most, limits)
        if limits.report is not None:
            limits.report(_info(search, start))
        return search.best

    def _budget(self, observation: Observation, limits: Limits) -> float | None:
        """The seconds to spend on this move; None where time does not limit."""
        overhead = self.number("Overhead") / 1000
        budgets = []
        if limits.movetime is not None:
            budgets.append(limits.movetime / 1000 - overhead)
        if limits.clock is not None:
            clock = limits.clock / 1000
            increment = (limits.increment or 0) / 1000
            rounds_left = observation.rules.rounds - len(observation.past_scores) - 1
            decisions = 2 + 0.7 * observation.hand_sizes[observation.seat] + DECISIONS_A_ROUND * rounds_left
            budgets.append(min(clock / decisions + 0.8 * increment, 0.5 * clock) - overhead)
        return max(0.0, min(budgets)) if budgets and not limits.infinite else None

    @staticmethod
    def _think(search: Search, start: float, budget: float | None, most: int | None, limits: Limits) -> None:
        """Runs the search until time, nodes, ``stop`` or its own certainty end it."""
        next_report = start + REPORT_EVERY
        while True:
            # A world costs a node for each move in the race, and is played whole or not at all.
            chunk = max(CHUNK, search.racing)
            if most is not None:
                chunk = min(chunk, most - search.nodes)
            before = search.nodes
            search.run(chunk)
            if search.nodes == before:
                return
            now = time.perf_counter()
            if budget is not None and now - start >= budget:
                return
            if limits.stop is not None and limits.stop.is_set():
                return
            if limits.report is not None and now >= next_report:
                limits.report(_info(search, start))
                next_report = now + REPORT_EVERY


def _info(search: Search, start: float) -> Info:
    elapsed = time.perf_counter() - start
    candidates = tuple(Candidate(move, visits, value) for move, visits, value in search.candidates())
    return Info(
        time=elapsed * 1000,
        nodes=search.nodes,
        nps=int(search.nodes / elapsed) if elapsed > 0 else 0,
        score=candidates[0].value,
        candidates=candidates,
    )
