"""The bot that searches, how it spends its time, and how it plays below its strength."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Final, NamedTuple

from caboose.bots.base import SEED, WEIGHT_OPTIONS, BuiltIn, weight_option
from caboose.engine.bot_api import Info, Limits, Option
from caboose.engine.policy.policy_weights import WEIGHTS
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.engine.search.search import INFERENCE, MAX_MEMORY, MAX_THREADS, POLICIES, Search
from caboose.engine.value.networks import is_usual

CHUNK: Final = 32  # playouts between two looks at the clock, at first …
CHUNK_SECONDS: Final = 0.001  # … and then so many as take that long
REPORT_EVERY: Final = 0.5  # seconds between two reports
DEFAULT_NODES: Final = 2000  # when nothing limits the search
DECISIONS_A_ROUND: Final = 10  # real choices of a seat in a round, about; forced moves are never asked
CLEAR_LEAD: Final = 2.0  # standard errors: a closer race is worth more time
MOST_STRETCH: Final = 3.0  # times the usual time for it
FULL_LEVEL: Final = 10
SEARCH_OPTIONS: Final = (
    "Confidence", "WinBonus", "GameWeight", "PlanNodes", "Noise", "Playouts", "Laps", "Growth", "Inference", "Endgame",
    "Hash",
    *(option.name for option in WEIGHT_OPTIONS),
)  # fmt: skip


class Level(NamedTuple):
    """How a level below full strength plays: playouts a move, and the pips by which it may err.

    Of the moves that seem at most ``slip`` pips worse than the best, one is played, with weights exp(score / slip): the
    mistakes are those of someone who judges badly. What seems to be worse is never played.
    """

    nodes: int
    slip: float


LEVELS: Final = {
    1: Level(60, 20.0),
    2: Level(90, 16.0),
    3: Level(130, 13.0),
    4: Level(200, 10.0),
    5: Level(300, 8.0),
    6: Level(450, 6.5),
    7: Level(700, 5.0),
    8: Level(1000, 4.0),
    9: Level(1500, 2.5),
}


# Values of options by preset and players, where nobody has set them: what was found and proven for these very rules.
TUNED: Final[Mapping[tuple[str, int], Mapping[str, int]]] = {
    # `caboose tune benchmarks/studies/mcts-classic-2.toml`: +1.4 ± 1.2 pips a round over 2,546 pairs, with 500
    # nodes a move. Again on other deals, against each other: +1.7 ± 0.9 over 4,367 blocks (docs/guides/tuning.md).
    ("classic", 2): {
        "Confidence": 219,
        "WinBonus": 14,
        "Growth": 12,
        "Inference": 22,
        "Noise": 10,
        "PlanNodes": 112,
        "WeightNext": 14,
        "WeightNextMarked": 78,
        "WeightPlanned": -29,
        "WeightHurry": -28,
        "WeightSpoil": 94,
        "WeightElsewhere": 38,
        "WeightDouble": 33,
        "WeightLoneDouble": 84,
    },
    # `caboose tune benchmarks/studies/mcts-classic-8.toml`: +0.44 ± 0.35 pips a round over 864 pairs, with 500 nodes
    # a move among planners. Again on other deals, in three tests: +0.44 ± 0.23 over 3,532 blocks
    # (docs/guides/tuning.md).
    ("classic", 8): {
        "Confidence": 391,
        "WinBonus": 3,
        "Laps": 2,
        "Growth": 21,
        "Inference": 58,
        "Noise": 7,
        "PlanNodes": 9,
        "WeightNext": 31,
        "WeightNextMarked": 43,
        "WeightPlanned": -57,
        "WeightHurry": -5,
        "WeightSpoil": 4,
        "WeightElsewhere": 26,
        "WeightDouble": 47,
        "WeightLoneDouble": 48,
    },
}


class Budget(NamedTuple):
    """Seconds for a move: usually, and at most where the race is close."""

    usual: float
    most: float


class MctsBot(BuiltIn):
    """Monte Carlo search over worlds that agree with what the seat knows (``docs/explanation/search.md``)."""

    name: ClassVar[str] = "mcts"
    declared: ClassVar[tuple[Option, ...]] = (
        SEED,
        Option("Threads", "spin", default=1, min=1, max=MAX_THREADS, help="processors to use; play is the same"),
        Option("Tuned", "check", default=True, help="values found for the very rules, where none is set"),
        Option("Level", "spin", default=FULL_LEVEL, min=1, max=FULL_LEVEL, help="strength, 1 for beginners to 10"),
        Option("Overhead", "spin", default=2, min=0, max=10_000, help="milliseconds of each move kept back"),
        Option("Confidence", "spin", default=400, min=0, max=10_000, help="1/100 standard errors that drop a move"),
        Option("WinBonus", "spin", default=10, min=0, max=1000, help="pips that winning the round is worth"),
        Option("GameWeight", "spin", default=0, min=0, max=100, help="% that winning the game counts in the end"),
        Option("PlanNodes", "spin", default=40, min=1, max=100_000, help="tries for a long train in playouts"),
        Option("Playouts", "combo", default=POLICIES[0], choices=POLICIES, help="how the players of playouts choose"),
        Option("Laps", "spin", default=3, min=0, max=1000, help="laps of a playout before a network judges it; 0: all"),
        Option(
            "Growth", "spin", default=32, min=0, max=1_000_000, help="worlds until playouts are a lap longer; 0: never"
        ),
        Option("Noise", "spin", default=4, min=0, max=1000, help="chance in playouts, in rank points"),
        *WEIGHT_OPTIONS,
        Option(
            "Inference",
            "spin",
            default=round(1000 * INFERENCE),
            min=0,
            max=1000,
            help="1/1000: what others' choices say of hands",
        ),
        Option("Hash", "spin", default=4, min=1, max=MAX_MEMORY, help="MiB for positions of solved ends"),
        Option("Endgame", "spin", default=9, min=0, max=190, help="tiles of the others from which the end is solved"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._pool: ThreadPoolExecutor | None = None

    def settings(self, rules: Rules | None = None) -> dict[str, Any]:
        """How it searches: the arguments of ``Search`` that the options ``SEARCH_OPTIONS`` say.

        With ``rules`` options that nobody has set are as ``TUNED`` has them.
        """
        tuned = {} if rules is None else self._tuned(rules)

        def number(name: str) -> int:
            return tuned.get(name, self.number(name))

        return {
            "confidence": number("Confidence") / 100,
            "win_bonus": number("WinBonus"),
            "game_weight": number("GameWeight") / 100,
            "plan_nodes": number("PlanNodes"),
            "noise": number("Noise"),
            "weights": {name: number(weight_option(name)) for name in WEIGHTS},
            "policy": self.text("Playouts"),
            "laps": number("Laps"),
            "growth": number("Growth"),
            "inference": number("Inference") / 1000,
            "endgame": number("Endgame"),
            "memory": number("Hash"),
        }

    def _tuned(self, rules: Rules) -> dict[str, int]:
        values = TUNED.get((rules.preset, rules.players), {})
        if not values or not self._values["Tuned"] or not is_usual(rules):
            return {}
        return {name: value for name, value in values.items() if name not in self._chosen}

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return self._decide(observation, limits)

    def _decide(
        self,
        observation: Observation,
        limits: Limits,
        truth: Round | None = None,
        open_boneyard: bool = True,
        shown: float = 1.0,
    ) -> Move:
        """The move; of ``truth``, ``open_boneyard`` and ``shown`` see ``Search``."""
        start = time.perf_counter()
        legal = observation.legal_moves()
        if not legal:
            raise ValueError("the round is over: there is no move to choose")
        if len(legal) == 1 and not limits.infinite:
            return legal[0]
        search = Search(
            observation,
            self.number("Seed"),
            threads=self.number("Threads"),
            truth=truth,
            open_boneyard=open_boneyard,
            shown=shown,
            **self.settings(observation.rules),
        )
        level = LEVELS.get(self.number("Level"))
        budget = self._budget(observation, limits)
        # A node of this search is one playout. One move alone is looked at for ever, unless somebody can stop that.
        most = min((count for count in (limits.nodes, limits.playouts) if count is not None), default=None)
        endless = limits.infinite and (len(legal) > 1 or limits.stop is not None)
        if most is None and budget is None and not endless:
            most = DEFAULT_NODES
        if level is not None:
            most = level.nodes if most is None else min(level.nodes, most)
        self._think(search, start, budget, most, limits)
        if limits.report is not None:
            limits.report(_info(search, start))
        return search.best if level is None else _err(search, level, self.number("Seed"), observation)

    def _budget(self, observation: Observation, limits: Limits) -> Budget | None:
        """The time for this move; None where time does not limit."""
        overhead = self.number("Overhead") / 1000
        in_round = 2 + 0.7 * observation.hand_sizes[observation.seat]  # decisions that are left, about
        in_game = in_round + DECISIONS_A_ROUND * (observation.rules.rounds - len(observation.past_scores) - 1)
        budgets = []
        if limits.movetime is not None:
            budgets.append(Budget(limits.movetime / 1000, limits.movetime / 1000))
        if limits.clock is not None:
            allowance = (limits.allowance or 0) / 1000
            share = _share(limits.clock / 1000, in_game, (limits.increment or 0) / 1000)
            budgets.append(Budget(allowance + share.usual, allowance + share.most))
        if limits.roundcap is not None:
            budgets.append(_share(limits.roundcap / 1000, in_round))
        if limits.gamecap is not None:
            budgets.append(_share(limits.gamecap / 1000, in_game))
        if not budgets:
            return None
        return Budget(
            max(0.0, min(budget.usual for budget in budgets) - overhead),
            max(0.0, min(budget.most for budget in budgets) - overhead),
        )

    def _think(self, search: Search, start: float, budget: Budget | None, most: int | None, limits: Limits) -> None:
        """Runs the search until time, nodes, ``stop`` or its own certainty end it."""
        if search.threads > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(MAX_THREADS - 1)  # it starts a thread only when one is wanted
        begun = now = time.perf_counter()
        next_report = start + REPORT_EVERY
        while True:
            # A world costs a node for each move in the race, and is played whole or not at all.
            chunk = max(CHUNK, search.racing)
            # One that is solved may take as long as many that are played out.
            if search.solving:
                chunk = search.racing
            elif now > begun:
                chunk = max(chunk, int(search.nodes / (now - begun) * CHUNK_SECONDS))
            if most is not None:
                chunk = min(chunk, most - search.nodes)
            before = search.nodes
            search.run(chunk, self._pool)
            if search.nodes == before:
                return
            last, now = now, time.perf_counter()
            if budget is not None:
                # Another chunk takes about as long as the last one.
                spent = 2 * now - last - start
                if spent >= budget.most or (spent >= budget.usual and search.lead > CLEAR_LEAD):
                    return
            if limits.stop is not None and limits.stop.is_set():
                return
            if limits.report is not None and now >= next_report:
                limits.report(_info(search, start))
                next_report = now + REPORT_EVERY


def _share(clock: float, decisions: float, increment: float = 0.0) -> Budget:
    """What a move may have of a clock of so many seconds that must last for so many ``decisions``."""
    usual = min(clock / decisions + 0.8 * increment, 0.5 * clock)
    return Budget(usual, max(usual, min(MOST_STRETCH * usual, 0.3 * clock)))


def _err(search: Search, level: Level, seed: int, observation: Observation) -> Move:
    """A move as the level would choose it. Chance comes from the seed and what the seat sees."""
    rng = random.Random(f"{seed} {len(observation.events)} {observation.hand}")
    scores = {each.move: each.score for each in search.candidates() if each.score is not None}
    if not scores:
        return search.best
    top = max(scores.values())
    scores = {move: score for move, score in scores.items() if top - score <= level.slip}
    weights = [math.exp((score - top) / level.slip) for score in scores.values()]
    return rng.choices([*scores], weights)[0]


def _info(search: Search, start: float) -> Info:
    elapsed = time.perf_counter() - start
    candidates = tuple(search.candidates())
    return Info(
        time=elapsed * 1000,
        nodes=search.nodes,
        nps=int(search.nodes / elapsed) if elapsed > 0 else 0,
        score=candidates[0].score,
        candidates=candidates,
    )
