"""The built-in players, and two that only measure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Final, TypeVar

from caboose.bots.base import BuiltIn
from caboose.bots.mcts import MctsBot
from caboose.bots.measuring import MeasuringBot, OmniscientBot, OpenHandsBot
from caboose.bots.simple import GreedyBot, PlannerBot, RandomBot

__all__ = [
    "BOTS",
    "MEASURING",
    "BotError",
    "BuiltIn",
    "GreedyBot",
    "MctsBot",
    "MeasuringBot",
    "OmniscientBot",
    "OpenHandsBot",
    "PlannerBot",
    "RandomBot",
    "create",
    "create_measuring",
]

B = TypeVar("B", bound=BuiltIn)

BOTS: Final[Mapping[str, type[BuiltIn]]] = {bot.name: bot for bot in (RandomBot, GreedyBot, PlannerBot, MctsBot)}

# They see what is hidden, so whatever offers or takes opponents looks in BOTS alone.
MEASURING: Final[Mapping[str, type[MeasuringBot]]] = {bot.name: bot for bot in (OmniscientBot, OpenHandsBot)}


class BotError(ValueError):
    """There is no built-in bot of that name, or it is not for playing."""


def create(name: str, **options: str | int | bool) -> BuiltIn:
    """A new bot of that name with options set, as text or as values. Raises ``BotError`` or ``OptionError``."""
    if name in MEASURING:
        raise BotError(
            f"{name} sees {MEASURING[name].sees} and is no opponent: it only measures, in `caboose match --in-process`"
        )
    if name not in BOTS:
        close = difflib.get_close_matches(name, BOTS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BotError(f"unknown bot {name!r}{hint or '.'} The built-in bots are: {', '.join(BOTS)}")
    return _with_options(BOTS[name](), options)


def create_measuring(name: str, **options: str | int | bool) -> MeasuringBot:
    """A new measuring bot, as ``create`` makes the others. Raises ``BotError`` or ``OptionError``."""
    if name not in MEASURING:
        raise BotError(f"unknown measuring bot {name!r}: expected one of {', '.join(MEASURING)}")
    return _with_options(MEASURING[name](), options)


def _with_options(bot: B, options: Mapping[str, str | int | bool]) -> B:
    for option, value in options.items():
        bot.set_option(option, str(value).lower() if isinstance(value, bool) else str(value))
    return bot
