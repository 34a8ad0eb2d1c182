"""A built-in bot as an engine process: ``python -m caboose.arena.blocks.engine_process NAME``.

The same as ``caboose engine NAME`` without loading the rest of the command line, which takes longer than most
games of one round.
"""

from __future__ import annotations

import os
import sys

from caboose.arena import caboose_version
from caboose.arena.console.memory import NO_MEMORY, lacking_space
from caboose.arena.console.output import put_error
from caboose.arena.console.signals import ending_on_interrupt
from caboose.arena.errors import CallError, RunError
from caboose.protocol.process.hide import hide
from caboose.protocol.process.threads import limit_threads


def run_engine(name: str) -> None:
    """Serves the built-in bot ``name`` on standard input and output until the input ends. Others of its user cannot
    look into its memory, where its hand is. Raises ``CallError``."""
    hide()
    for number, stream in enumerate(("standard input", "standard output")):
        try:
            os.fstat(number)
        except OSError:
            raise CallError(f"{stream} is closed: expected a referee, or a person, at its other end") from None
    with ending_on_interrupt():
        from caboose.bots import BotError, create
        from caboose.protocol.server.serve import serve_stdio

        try:
            bot = create(name)
        except BotError as error:
            raise CallError(str(error)) from None
    serve_stdio(bot, version=caboose_version(), author="the Caboose project")


def main() -> None:
    """The program that plays as an engine. Exit code 2: the call was wrong; 1: there is too little memory."""
    try:
        with ending_on_interrupt():
            limit_threads()
            if problem := lacking_space("engine"):
                raise RunError(problem)
        if len(sys.argv) != 2:
            raise CallError("expected one argument, the name of a built-in bot")
        run_engine(sys.argv[1])
    except (CallError, RunError) as error:
        put_error(f"caboose: {error}")
        sys.exit(2 if isinstance(error, CallError) else 1)
    except MemoryError:
        put_error(f"caboose: {NO_MEMORY}")
        sys.exit(1)


if __name__ == "__main__":
    main()
