"""The program ``caboose``: ``caboose COMMAND``.

Exit codes: 0 done, 1 the run found a problem or was interrupted, 2 the call was wrong; but for ``compare``, where 1 is
an answer, and 3 is a problem.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Final

from caboose.arena.interrupts import ending_on_interrupt

FAILED: Final = {"compare": 3}
"""The exit code of what went wrong for commands where it is not 1."""


def run(arguments: Sequence[str]) -> int:
    """Runs the command that ``arguments`` ask for; returns the exit code.

    What can go wrong becomes one line on standard error.
    """
    failed = FAILED.get(arguments[0], 1) if arguments else 1
    with ending_on_interrupt(failed):
        from caboose.arena.app import make_app, run_app

        app = make_app(arguments)
    return run_app(app, arguments, failed)


def main() -> None:
    """The program ``caboose``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name ends nothing
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
