"""The program ``caboose``: ``caboose COMMAND``.

Exit codes: 0 done, 1 the run found a problem or was interrupted, 2 the call was wrong; but for ``compare``, where 1 is
an answer, and 3 is a problem.
"""

from __future__ import annotations

import signal
import sys

from caboose.arena.console.memory import NO_MEMORY, for_lack_of_memory, lacking_space
from caboose.arena.console.signals import ENDING, ending_on_interrupt, interrupted_by

TYPE_CHECKING = False  # of typing: nothing that takes time is loaded before Ctrl-C is seen to
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

FAILED: Final = {"compare": 3}
"""The exit code of what went wrong for commands where it is not 1."""

PLAYING: Final = ("match", "compare", "ladder", "tune", "suite")
"""Commands that take long, and say that they were interrupted whatever signal it was."""

AGAIN: Final = {"tune": ": the same call goes on from here"}
"""What commands say more then."""


def run(arguments: Sequence[str]) -> int:
    """Runs the command that ``arguments`` ask for; returns the exit code.

    What can go wrong becomes one line on standard error.
    """
    command = arguments[0] if arguments else ""
    failed, again = FAILED.get(command, 1), AGAIN.get(command, "")
    signals = ENDING if command in PLAYING else ()
    try:
        with ending_on_interrupt(failed, also=signals, again=again):
            if problem := lacking_space(command):
                return _fail(problem, failed)
            from caboose.cli.app import make_app, run_app

            app = make_app(arguments)
        with interrupted_by(signals):
            return run_app(app, arguments, failed, again)
    except KeyboardInterrupt:  # between what sees to it
        return _fail(f"interrupted{again}", failed)
    except (MemoryError, ImportError) as error:
        if not for_lack_of_memory(error):
            raise
        return _fail(NO_MEMORY, failed)


def main() -> None:
    """The program ``caboose``."""
    code = _run_program()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to be guarded: it ends, and without a word
    sys.exit(code)


def _run_program() -> int:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name ends nothing
        from caboose.protocol.process.threads import limit_threads

        limit_threads()
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return _fail("interrupted", 1)
    except MemoryError:
        return _fail(NO_MEMORY, 1)


def _fail(text: str, code: int) -> int:
    sys.stderr.write("caboose: " + text + "\n")  # words of ours alone: nothing is loaded to print them
    return code


if __name__ == "__main__":
    main()
