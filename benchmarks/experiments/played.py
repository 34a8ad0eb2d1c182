"""Blocks that the built-in bots really played, as columns for the statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caboose.arena.blocks.results import BlockResult
from caboose.arena.stats.game_table import Games


def renumbered(games: Games, step: int, first: int) -> Games:
    """The same games, with every ``step``-th number for their blocks."""
    return Games(games.block * step + first, *(getattr(games, name) for name in Games.__slots__[1:]))


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
