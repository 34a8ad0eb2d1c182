"""Matches for the tests: plans from words, played without a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.contestants import make_entrants, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.blocks.results import MatchResult
from caboose.arena.execution.executors import Executor, LocalExecutor
from caboose.arena.match.match import play_match
from caboose.arena.match.standings import Scoreboard
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl
from players import lineup_of

NODES = TimeControl(nodes=50)


def make_plan(*words: str, players: int | None = None, engines: Iterable[str] = (), **more: Any) -> Plan:
    defaults: dict[str, Any] = {"control": NODES, "seed": 11, "in_process": True}
    contestants = meet(make_entrants(words, list(engines)), parse_options(more.pop("options", [])), NODES)
    lineup = lineup_of(contestants, players)
    rules = Rules.of("family", lineup.players, rounds=more.pop("rounds", 1))
    return Plan(rules=rules, lineup=lineup, **(defaults | more))


class Quiet:
    """A watcher that only counts."""

    def __init__(self) -> None:
        self.games = 0
        self.blocks = 0

    def game_over(self) -> None:
        self.games += 1

    def block_over(self, board: Scoreboard) -> None:
        self.blocks += 1


def run(plan: Plan, blocks: int, executor: Executor | None = None, **more: Any) -> MatchResult:
    return play_match(plan, blocks, executor or LocalExecutor(), more.pop("watcher", Quiet()), **more)
