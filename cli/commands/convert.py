"""``caboose convert``: recorded games for other programs."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from caboose.arena.console.output import put_error
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError
from caboose.arena.export.formats import FORMATS
from caboose.cli.options.files import opened, output_errors, written
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import RecordError


def convert(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of games; - is standard input.", show_default=False)
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(FORMATS), help="The format; by default what OUT ends in, or jsonl.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="Where to write; by default standard output."),
    ] = None,
) -> None:
    """Convert recorded games to JSON lines, CSV or Parquet.

    JSON lines: all that the record has, a game on each line.

    CSV and Parquet (this needs pyarrow): a flat table, a row for each event.

    game round event    numbers from 1, as in `caboose show`
    hub                 the pips of the double in the middle
    seat player         who, as a number from 1 and by name
    kind                hub, draw, play, stop, mark or pass
    tile                the tile that was played or drawn
    train match         where it was played, and the pips that touch
    legal_moves         how many the seat had when it played or stopped
    time score          of the player: milliseconds, expected score
    hand_size boneyard  tiles of the seat, in the boneyard after the event
    round_score         pips that the seat had left at the end of the round
    game_score place    what the seat came to in the game

    What there is not is left empty: the tile of a pass, for example.

    Games that cannot be read are reported and left out: exit code 1.
    """
    name = chosen_format(to, output)
    if name == "parquet" and output is None and sys.stdout.isatty():
        raise CallError("--to parquet: this is no text, expected a file (-o OUT) or a pipe")
    if output is not None and output.exists() and file != "-" and output.samefile(file):
        raise CallError(f"-o {output}: this is the file that is read, expected another one")
    damaged = 0
    target = "standard output" if output is None else f"-o {output}"
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        source = stack.enter_context(opened(file))
        stack.enter_context(output_errors(target))
        write = stack.enter_context(FORMATS[name](stack.enter_context(written(output))))
        game = 0
        for found in read_records(source, file):
            if isinstance(found, RecordError):
                put_error(f"caboose: {found}")
                damaged += 1
                game += found.begun > 0
            else:
                game += 1
                write(found, game)
    if damaged:
        raise typer.Exit(1)


def chosen_format(to: str | None, output: Path | None) -> str:
    """The format that a call asks for. Raises ``CallError``."""
    suffix = "" if output is None else output.suffix.removeprefix(".").lower()
    name = to or (suffix if suffix in FORMATS else "jsonl")
    if name not in FORMATS:
        raise CallError(f"--to {name}: expected {', '.join(FORMATS)}")
    return name
