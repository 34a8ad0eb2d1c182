"""A built-in bot as an engine process: ``python -m caboose.arena.engine NAME``.

The same as ``caboose engine NAME`` without loading the rest of the command line, which takes longer than most
games of one round.
"""

from __future__ import annotations

import sys

import caboose.bots as bots
from caboose.arena import caboose_version
from caboose.protocol.serve import serve_stdio


def run_engine(name: str) -> None:
    """Serves the built-in bot ``name`` on standard input and output until the input ends. Raises ``BotError``."""
    serve_stdio(bots.create(name), version=caboose_version(), author="the Caboose project")


if __name__ == "__main__":
    run_engine(sys.argv[1])
