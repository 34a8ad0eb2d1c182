"""``caboose verify``: recorded games, checked against the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from caboose.arena.console.output import put_error, put_line
from caboose.arena.errors import CallError, cause
from caboose.arena.storage.files import open_input
from caboose.cli.options.files import opened, output_errors
from caboose.protocol.notation.lines import MAX_LINE
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord, RecordError
from caboose.protocol.records.verify import Discrepancy
from caboose.protocol.records.verify import verify as check

_COMMITMENT: Final = re.compile(rb"\bcommit sha256 ([0-9a-f]{64})\b")


@dataclass(slots=True)
class _Counts:
    games: int = 0
    rounds: int = 0
    events: int = 0
    problems: int = 0


def verify(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files of games; - is standard input.", show_default=False),
    ],
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with commitments that were published before the games, such as a copy of the lines "
            "`# commit` from their beginning. Each game must have one of them.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check recorded games against the rules, event by event.

    The first discrepancy of each game is printed with its line, and what was expected there. docs/reference/records.md
    says what is checked.

    Exit code 1: there are discrepancies, or games that cannot be read, or there is no game in a file. Exit code 2: a
    whole file cannot be read.
    """
    counts = _Counts()
    unreadable = False
    commitments = None if published is None else read_commitments(published)
    with output_errors("standard output"):
        for name in files:
            try:
                with opened(name) as file:
                    _verify(_records(file, name), name, counts, commitments)
            except CallError as error:
                put_error(f"caboose: {error}")
                unreadable = True
        numbers = [(counts.games, "game"), (counts.rounds, "round"), (counts.events, "event")]
        told = ", ".join(_counted(count, what) for count, what in numbers)
        put_line(f"{told}: {_counted(counts.problems, 'problem')}", flush=True)
    if unreadable or counts.problems:
        raise typer.Exit(2 if unreadable else 1)


def read_commitments(path: Path) -> frozenset[str]:
    """The commitments in a file, whatever else is in it. Raises ``CallError``."""
    try:
        with open_input(path) as file:  # perhaps a copy of the games: never all of it in memory
            lines = iter(lambda: file.readline(MAX_LINE), b"")
            found = frozenset(match.decode("ascii") for line in lines for match in _COMMITMENT.findall(line))
    except OSError as error:
        raise CallError(f"--published {path}: {cause(error)}") from None
    if not found:
        raise CallError(f"--published {path}: there is no commitment in it, expected commit sha256 and 64 digits")
    return found


def _verify(
    records: Iterator[GameRecord | RecordError], name: str, counts: _Counts, commitments: frozenset[str] | None
) -> None:
    """Prints what is wrong with the games, and counts them; those that cannot be read are only problems, and so is that
    there is none."""
    before = counts.games + counts.problems
    for found in records:
        problem = found if isinstance(found, RecordError) else check(found) or _check_published(found, commitments)
        if isinstance(found, GameRecord):
            counts.games += 1
            counts.rounds += len(found.rounds)
            counts.events += sum(len(round.events) for round in found.rounds)
        if problem is not None:
            counts.problems += 1
            put_line(str(problem))
    if counts.games + counts.problems == before:
        counts.problems += 1
        put_line(f"{name}: there is no game in it")


def _check_published(game: GameRecord, commitments: frozenset[str] | None) -> Discrepancy | None:
    if commitments is None or game.commit in commitments:
        return None
    line = game.lines["commit" if game.commit else "game"]
    what = f"commit sha256 {game.commit}" if game.commit else "a game without a commitment"
    return Discrepancy(game.file, line, what, f"one of the commitments that were published ({len(commitments)})")


def _records(file: BinaryIO, name: str) -> Iterator[GameRecord | RecordError]:
    """What is in a file. Raises ``CallError`` when reading fails."""
    try:
        yield from read_records(file, name)
    except OSError as error:
        raise CallError(f"{name}: {cause(error)}") from None


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
