"""The program ``caboose``: ``caboose COMMAND``.

Exit codes: 0 done, 1 the run found a problem or was interrupted, 2 the call was wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import TextIOWrapper

from caboose.arena.interrupts import ending_on_interrupt


def run(arguments: Sequence[str]) -> int:
    """Runs the command that ``arguments`` ask for; returns the exit code.

    What can go wrong becomes one line on standard error.
    """
    with ending_on_interrupt():
        from caboose.arena.app import make_app, run_app

        app = make_app(arguments)
    return run_app(app, arguments)


def main() -> None:
    """The program ``caboose``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name ends nothing
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
