"""The program ``caboose``: ``caboose COMMAND``.

Exit codes: 0 done, 1 the run found a problem or was interrupted, 2 the call was wrong; but for ``compare``, where 1 is
an answer, and 3 is a problem.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Final

from caboose.arena.interrupts import ENDING, ending_on_interrupt, interrupted_by

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
    with ending_on_interrupt(failed, also=signals, again=again):
        from caboose.arena.app import make_app, run_app

        app = make_app(arguments)
    with interrupted_by(signals):
        return run_app(app, arguments, failed, again)


def main() -> None:
    """The program ``caboose``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name ends nothing
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
