"""The bots that do not search: they look at the table and their own hand, and answer at once."""

from __future__ import annotations

from typing import ClassVar

from caboose.bots.base import SEED, WEIGHT_OPTIONS, BuiltIn
from caboose.engine.bot_api import Limits, Option
from caboose.engine.policy.playout import policy_move
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation


class RandomBot(BuiltIn):
    """Any legal move, each as likely as the others."""

    name: ClassVar[str] = "random"
    declared: ClassVar[tuple[Option, ...]] = (SEED,)

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return policy_move(observation, "random", self.number("Seed"))


class GreedyBot(BuiltIn):
    """The heaviest tile, doubles before others."""

    name: ClassVar[str] = "greedy"

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return policy_move(observation, "greedy")


class PlannerBot(BuiltIn):
    """A long own train first in mind, everything else dumped on other trains first.

    The honest baseline: every claim about the search is a margin over it.
    """

    name: ClassVar[str] = "planner"
    declared: ClassVar[tuple[Option, ...]] = (
        Option("PlanNodes", "spin", default=10_000, min=1, max=10_000_000, help="tries when it looks for a long train"),
        *WEIGHT_OPTIONS,
    )

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return policy_move(observation, "planner", nodes=self.number("PlanNodes"), weights=self.weights())
