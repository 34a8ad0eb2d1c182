"""Games for the tests: refereed in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caboose.engine.bot_api import Bot
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.referee import GameResult, play_game
from caboose.protocol.referee.timing import TimeControl
from players import Scripted

RELAXED = TimeControl(nodes=1)  # nothing but the guard limits the time


def play(
    bots: Sequence[Bot],
    *,
    seed: int = 1,
    rounds: int = 1,
    control: TimeControl = RELAXED,
    preset: str = "family",
    **more: Any,
) -> GameResult:
    game = Game(Rules.of(preset, len(bots), rounds=rounds), seed=seed)
    return play_game(game, bots, control, fallback=more.pop("fallback", Scripted()), **more)
