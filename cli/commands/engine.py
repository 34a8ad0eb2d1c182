"""``caboose engine``: a built-in bot as an engine process."""

from __future__ import annotations

from typing import Annotated

import typer

from caboose import bots
from caboose.arena.blocks.engine_process import run_engine


def engine(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(bots.BOTS)}.", show_default=False)],
) -> None:
    """Run a built-in bot as an engine: it speaks the protocol on standard input and output.

    docs/reference/protocol.md shows what to type.
    """
    run_engine(name)
