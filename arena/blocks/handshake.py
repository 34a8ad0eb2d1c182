"""The engines of a match are met before it begins: who does not start, or does not take its options, is found then."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from caboose.arena.blocks.contestants import About, Contestant, Entrant, Setting, make_contestants
from caboose.arena.blocks.labels import command_name
from caboose.arena.errors import CallError, RunError
from caboose.engine.bot_api import OptionError
from caboose.protocol.process.launch import IN_SANDBOX, PLAIN, Launch
from caboose.protocol.process.process import EngineFault, EngineProcess, close_all
from caboose.protocol.referee.timing import TimeControl

_ENDED: Final = "it exited with"
_CHECK: Final = " (`caboose check ENGINE` shows its standard error)"


def meet(
    entrants: Sequence[Entrant], options: Sequence[Setting], control: TimeControl, launch: Launch = PLAIN
) -> tuple[Contestant, ...]:
    """The contestants of a match. Each foreign engine is started once, asked what it is called, given its options and
    ended again.

    Raises ``RunError`` when one does not start, and ``CallError`` for options that mean nobody or are not taken.
    """
    engines = [None if entrant.builtin else entrant.process(control, launch, {}) for entrant in entrants]
    with ExitStack() as stack:
        stack.callback(lambda: close_all(engine for engine in engines if engine is not None))
        abouts = [_ask(entrant, engine) for entrant, engine in zip(entrants, engines, strict=True)]
        contestants = make_contestants(entrants, abouts, options)
        for contestant, engine in zip(contestants, engines, strict=True):
            if engine is not None:
                _give_options(contestant, engine)
    return contestants


def _ask(entrant: Entrant, engine: EngineProcess | None) -> About:
    if engine is None:
        return About()
    try:
        engine.start()
    except EngineFault as fault:
        name = entrant.name or command_name(entrant.command)
        raise RunError(f"{name}: the engine does not start: {fault.detail}{_hint(fault)}") from None
    return About(engine.said_name, engine.version, engine.author)


def _give_options(contestant: Contestant, engine: EngineProcess) -> None:
    try:
        for name, value in contestant.options:
            engine.set_option(name, value)
    except EngineFault as fault:
        raise RunError(f"{contestant.label}: the engine does not start: {fault.detail}{_hint(fault)}") from None
    except OptionError as error:
        raise CallError(f"{contestant.label}: {error}") from None


def _hint(fault: EngineFault) -> str:
    """How to find out why an engine ended, where that was not said: its standard error is thrown away."""
    return _CHECK if _ENDED in fault.detail and IN_SANDBOX not in fault.detail else ""
