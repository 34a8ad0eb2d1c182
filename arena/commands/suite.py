"""``caboose suite``: positions with targets from a long search, and how engines fare on them."""

from __future__ import annotations

import typer

from caboose.arena.commands.suite_make import make
from caboose.arena.commands.suite_score import score

suite = typer.Typer(
    name="suite",
    help="Positions with what each move costs, by a long search: engines are scored on them in minutes.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
suite.command()(make)
suite.command()(score)
