"""Blocks that the built-in bots really played, as columns for the statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caboose.arena.blocks import Plan
from caboose.arena.executors import LocalExecutor, Task
from caboose.arena.games import Games
from caboose.arena.lineup import About, Lineup, make_contestants, make_entrants, make_entries
from caboose.arena.results import BlockResult
from caboose.engine.rules import Rules
from caboose.protocol.timing import TimeControl


def play(bots: Sequence[str], players: int, blocks: int, *, nodes: int = 1, seed: int = 1) -> Games:
    """``blocks`` blocks of one round a game under the rules ``family``, in this process."""
    contestants = make_contestants(make_entrants(bots, ()), [About()] * len(bots), ())
    lineup = Lineup(contestants, make_entries(len(bots), players))
    rules = Rules.of("family", players, rounds=1)
    plan = Plan(rules=rules, lineup=lineup, control=TimeControl(nodes=nodes), seed=seed, in_process=True)
    with LocalExecutor() as executor:
        done = executor.run((Task(plan, block) for block in range(blocks)), lambda: None)
        return columns([result for _, result in done], lineup.entries)


def columns(blocks: Sequence[BlockResult], entries: Sequence[int]) -> Games:
    """Blocks without a fault as columns. ``entries`` has the number of a contestant for each player."""
    games = [(block.block, game) for block in blocks for game in block.games]
    player = np.array([[entries[entry] for entry in game.seating] for _, game in games])
    scores = np.array([np.mean([one.scores for one in game.result.rounds], axis=0) for _, game in games])
    place = np.array([[seat.place for seat in game.result.seats] for _, game in games])
    others = player[:, :, None] != player[:, None, :]
    margin = (others * scores[:, None, :]).sum(axis=2) / others.sum(axis=2) - scores
    won = place == 1
    share = (won / won.sum(axis=1, keepdims=True)).astype(np.float32)
    return Games(
        block=np.array([block for block, _ in games], np.int64),
        player=player.astype(np.int32),
        place=place.astype(np.int16),
        margin=margin.astype(np.float32),
        rounds_won=share,
        games_won=share,
        counted=np.ones(player.shape, np.bool_),
    )
