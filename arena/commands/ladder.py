"""``caboose ladder``: engines in a folder that play each other for as long as one wants."""

from __future__ import annotations

import typer

from caboose.arena.commands.ladder_edit import add, init, remove, rename
from caboose.arena.commands.ladder_lists import add_list, edit_list
from caboose.arena.commands.ladder_report import report
from caboose.arena.commands.ladder_run import run
from caboose.arena.commands.ladder_show import export, games, standings, status

ladder = typer.Typer(
    name="ladder",
    help="Engines in a folder that play each other for days: ratings, all games kept, killed and resumed at will.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
for command in (init, add, run, status, standings, games, report, export, rename, remove):
    ladder.command()(command)
ladder.command("add-list")(add_list)
ladder.command("edit-list")(edit_list)
