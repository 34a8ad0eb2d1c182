"""The built-in players."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final

from caboose.bots.base import BuiltIn
from caboose.bots.mcts import MctsBot
from caboose.bots.simple import GreedyBot, PlannerBot, RandomBot

__all__ = ["BOTS", "BotError", "BuiltIn", "GreedyBot", "MctsBot", "PlannerBot", "RandomBot", "create"]

BOTS: Final[Mapping[str, type[BuiltIn]]] = {bot.name: bot for bot in (RandomBot, GreedyBot, PlannerBot, MctsBot)}


class BotError(ValueError):
    """There is no built-in bot of that name."""


def create(name: str, **options: str | int | bool) -> BuiltIn:
    """A new bot of that name with options set, as text or as values. Raises ``BotError`` or ``OptionError``."""
    if name not in BOTS:
        close = difflib.get_close_matches(name, BOTS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BotError(f"unknown bot {name!r}{hint or '.'} The built-in bots are: {', '.join(BOTS)}")
    bot = BOTS[name]()
    for option, value in options.items():
        bot.set_option(option, str(value).lower() if isinstance(value, bool) else str(value))
    return bot
