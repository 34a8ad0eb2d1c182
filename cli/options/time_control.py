"""The options by which commands are told what limits the time of engines."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from caboose.arena.blocks import time_control as controls
from caboose.arena.blocks.time_control import parse_tc
from caboose.arena.errors import CallError
from caboose.protocol.referee.timing import TimeControl

PANEL = "The time"

MovetimeOption = Annotated[
    float | None,
    typer.Option(metavar="MS", help="Milliseconds for each move (20 by default).", rich_help_panel=PANEL),
]
TcOption = Annotated[
    str | None,
    typer.Option(
        metavar="BASE+INC", help="Seconds for a seat's whole game, and more with each move.", rich_help_panel=PANEL
    ),
]
AllowanceOption = Annotated[
    float,
    typer.Option(
        metavar="MS",
        help="With --tc: what each move may take before the clock runs, which makes the clock a bank.",
        rich_help_panel=PANEL,
    ),
]
RoundCapOption = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="The most for all moves of a seat in a round.", rich_help_panel=PANEL),
]
GameCapOption = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="The most for all moves of a seat in a game.", rich_help_panel=PANEL),
]
NodesOption = Annotated[
    int | None, typer.Option(help="Search iterations for each move, instead of a time.", rich_help_panel=PANEL)
]
PlayoutsOption = Annotated[
    int | None, typer.Option(help="Rounds played to their end for each move.", rich_help_panel=PANEL)
]
MarginOption = Annotated[
    float,
    typer.Option(metavar="MS", help="How late a reply may come before it is a fault.", rich_help_panel=PANEL),
]
GuardOption = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="The longest a move may take where no time limits it.", rich_help_panel=PANEL),
]
GraceOption = Annotated[
    float,
    typer.Option(metavar="MS", help="What the first move of a seat in a game may take more.", rich_help_panel=PANEL),
]
StartOption = Annotated[
    float, typer.Option(metavar="SECONDS", help="How long an engine may take to start.", rich_help_panel=PANEL)
]


def make_control(*, tc: str | None, **given: Any) -> TimeControl:
    """The time control that a call asks for: the fields of ``TimeControl``, and ``tc`` in seconds for its clock. Raises
    ``CallError``."""
    try:
        if tc is not None:
            given["clock"], given["increment"] = parse_tc(tc)
    except ValueError as error:
        raise CallError(f"--tc {error}") from None
    try:
        return controls.make_control(**given)
    except ValueError as error:
        raise CallError(str(error)) from None
