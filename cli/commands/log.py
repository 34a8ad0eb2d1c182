"""``caboose log``: what was said in a game, to be read."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated, Final

import typer

from caboose.arena.console.output import put_line
from caboose.arena.errors import CallError, RunError
from caboose.cli.options.files import opened, output_errors
from caboose.engine.rules.rules import MAX_PLAYERS
from caboose.protocol.notation.lines import printable
from caboose.protocol.process.gamelog import CAME, ERROR, NOTE, SENT, LogError, LogLine, LogTorn, read_log

_MARKS: Final = {SENT: "->", CAME: "<-", ERROR: "!!", NOTE: "**"}
_LEAST: Final = 60  # characters of a line that are shown, however narrow the terminal
_NAME: Final = 40  # characters of a name that are shown
_PLAYER: Final = "player "


def log(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A log that a match wrote; - is standard input.", show_default=False)
    ],
    seat: Annotated[int | None, typer.Option(min=1, help="Only this seat.", show_default=False)] = None,
) -> None:
    """Show what was said in a game: when, how long after the line before, to (->) and from (<-) whom.

    Lines of an engine's standard error have !! and those of the referee **. In a terminal lines are cut at its width.

    Exit code 1: the log is torn off, or the game has no such seat. Exit code 2: the file is no log.
    """
    width = max(shutil.get_terminal_size().columns, _LEAST) if sys.stdout.isatty() else None
    names: dict[int, str] = {}
    before = None
    with output_errors("standard output"), opened(file) as source:
        try:
            for line in read_log(source, file):
                if isinstance(line, str):
                    put_line(line)
                    if line.startswith(_PLAYER) and len(names) < MAX_PLAYERS:
                        name = line.removeprefix(_PLAYER).partition(" ")[2].partition(" | ")[0]
                        names[len(names)] = printable(name, most=_NAME)
                elif seat is None or line.seat == seat - 1:
                    if before is None:
                        put_line()
                    put_line(printable(_shown(line, line.time if before is None else before, names))[:width])
                    before = line.time
        except LogTorn as error:
            raise RunError(str(error)) from None
        except LogError as error:
            raise CallError(str(error)) from None
    if seat is not None and seat > len(names):
        raise RunError(f"--seat {seat}: {file} has {len(names)} seats")


def _shown(line: LogLine, before: float, names: dict[int, str]) -> str:
    who = f"{line.seat + 1} {names.get(line.seat, '?'):<{max(map(len, names.values()), default=1)}}"
    more = " ..." if line.cut else ""
    return f"{line.time:12.6f} {line.time - before:+10.6f}  {who} {_MARKS[line.mark]} {line.text}{more}"
