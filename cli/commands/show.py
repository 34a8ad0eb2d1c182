"""``caboose show``: steps through a recorded game."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import Annotated

import typer

from caboose.arena.console.output import put_line
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError
from caboose.arena.viewer.layout import MIN_WIDTH
from caboose.arena.viewer.plain_text import game_text, picture_text
from caboose.arena.viewer.record_index import RecordFile
from caboose.arena.viewer.replay import Hands, Shown
from caboose.arena.viewer.terminal import Screen, is_terminal
from caboose.arena.viewer.viewer import Place, Viewer, checked_hands, checked_place
from caboose.cli.options.files import open_seekable
from caboose.protocol.records.records import RecordError

START = "Where to start"
HANDS = "Whose hands are shown"


def show(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of games; - is standard input.", show_default=False)
    ],
    game: Annotated[int, typer.Option(help="Which game of the file, from 1.", rich_help_panel=START)] = 1,
    round: Annotated[
        int | None, typer.Option(help="Which round, from 1.", show_default=False, rich_help_panel=START)
    ] = None,
    event: Annotated[
        int | None,
        typer.Option(help="After how many events of the round.", show_default=False, rich_help_panel=START),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(help="The game as this seat saw it: its hand only.", show_default=False, rich_help_panel=HANDS),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="All hands.", rich_help_panel=HANDS)] = False,
    none: Annotated[bool, typer.Option("--none", help="No hands: as a spectator.", rich_help_panel=HANDS)] = False,
) -> None:
    """Step through recorded games in the terminal.

    It shows the table after each event, and the hand of the seat whose turn it is.

    Keys: arrows go by events and turns, r R by rounds, n p by games.
    The space bar lets the game play by itself, a s x choose the hands.
    ? explains all keys and all signs of the picture, q quits.

    Where input or output is no terminal, the game is printed as plain text:
    all of it, one --round, or only the table after one --event.
    """
    hands = chosen_hands(seat, all, none)
    with open_records(file) as records:
        check_game(records, game)
        if is_terminal():
            watch(Viewer(records, Place(game, 1 if round is None else round, event or 0), hands))
        else:
            print_game(records, game, round, event, hands)


def chosen_hands(seat: int | None, all: bool, none: bool) -> Hands:
    """Whose hands a call asks for. Raises ``CallError``."""
    given = [name for name, value in (("--seat", seat is not None), ("--all", all), ("--none", none)) if value]
    if len(given) > 1:
        raise CallError(f"{' and '.join(given)} are given: expected one of --seat, --all and --none")
    if seat is not None:
        return seat - 1
    return "all" if all else "none" if none else "turn"


def open_records(name: str) -> RecordFile:
    """The games of the file ``name``; what is no file is copied to one first. Raises ``CallError``."""
    return RecordFile(open_seekable(name), name)


def check_game(records: RecordFile, number: int) -> None:
    """Raises ``CallError`` when there is no game ``number``, and ``RunError`` when there is none at all."""
    if records.has(number):
        return
    if records.found:
        raise CallError(f"--game {number}: expected 1 to {records.found} for {records.name}")
    raise RunError(f"{records.name}: there is no game in it, expected a line that begins with the word game")


def watch(viewer: Viewer) -> None:
    """Shows what ``viewer`` sees and gives it the keys, until it is done."""
    with interruptible() as shield, Screen() as screen, suppress(EOFError):
        try:
            while not viewer.done:
                screen.show(viewer.lines(screen.pen, screen.size[1]))
                keys = screen.keys(viewer.pace)
                if keys is None:
                    viewer.tick()
                for key in keys or ():
                    viewer.press(key)
        finally:
            shield()


def print_game(records: RecordFile, game: int, round: int | None, event: int | None, hands: Hands) -> None:
    """Prints a game, a round of it, or the table after an event. Raises ``CallError`` and ``RunError``."""
    record = records.game(game)
    if isinstance(record, RecordError):
        raise RunError(str(record))
    shown = Shown(record)
    place = checked_place(shown, Place(game, 1 if round is None else round, event or 0))
    hands = checked_hands(shown, hands)
    width = max(MIN_WIDTH, shutil.get_terminal_size().columns)
    if event is not None:
        lines = picture_text(shown, place.round, event, hands, width)
    else:
        last = len(record.rounds) if round is None else round
        lines = game_text(shown, range(place.round, last + 1), hands, width)
    for line in lines:
        put_line(line)
