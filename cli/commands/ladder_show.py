"""``caboose ladder status``, ``standings``, ``games`` and ``export``: what a ladder has come to."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose.arena.console.console import Console
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.export import export_csv, export_lines, export_records
from caboose.arena.ladder.rating_reference import MEANS, MIN_BLOCKS, make_reference
from caboose.arena.ladder.run import open_store
from caboose.arena.ladder.standings_table import print_standings, standings_data
from caboose.arena.ladder.status import games_table, print_status, status_data
from caboose.arena.ladder.store import ListRow, Store
from caboose.arena.storage.ladder_folder import runner
from caboose.cli.commands.ladder_edit import FolderArgument
from caboose.cli.options.files import output_errors, written

DEFAULT_LAST: Final = 20
KINDS: Final = ("csv", "jsonl", "records")

ListsOption = Annotated[
    list[str] | None,
    typer.Option("--list", metavar="NAME", help="Only that list; all together if none is named. May be repeated."),
]

AnchorOption = Annotated[
    str | None,
    typer.Option(
        metavar="ENGINE[=RATING]",
        help="Measure all ratings from that engine, whose rating is 0 or RATING (Elo). By default their mean is 0.",
        show_default=False,
    ),
]
MeanOption = Annotated[
    str,
    typer.Option(
        metavar="|".join(MEANS),
        help="Whose mean rating is 0: that of the engines that still take part, as they are now, or also of removed "
        "engines and older editions.",
    ),
]
MinBlocksOption = Annotated[
    int,
    typer.Option(
        metavar="BLOCKS",
        min=1,
        help="Blocks with a game without a fault that an engine needs for a place. With fewer it is provisional, and "
        "in no mean.",
    ),
]


def status(
    folder: FolderArgument,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show what is played, how far it is, and whether a run is going on. No engine is started."""
    spec = read_spec(folder)
    with open_store(folder) as store:
        if json:
            print(json_text.dumps(status_data(folder, spec, store, runner(folder)), indent=1))
        else:
            print_status(Console(highlight=False), folder, spec, store, runner(folder))


def standings(
    folder: FolderArgument,
    list: ListsOption = None,
    times: Annotated[bool, typer.Option("--times", help="Show also what time the engines used.")] = False,
    anchor: AnchorOption = None,
    mean: MeanOption = MEANS[0],
    min_blocks: MinBlocksOption = MIN_BLOCKS,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show how the engines stand, with intervals."""
    with open_store(folder) as store:
        rows = chosen_lists(folder, store, list or [])
        reference = make_reference(folder, store, anchor, checked_mean(mean), min_blocks)
        if json:
            print(json_text.dumps(standings_data(store, rows, reference), indent=1))
        else:
            print_standings(Console(highlight=False), store, rows, times=times, reference=reference)


def games(
    folder: FolderArgument,
    list: ListsOption = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only games of that engine.", show_default=False)
    ] = None,
    faults: Annotated[bool, typer.Option("--faults", help="Only games with a fault; says what it was.")] = False,
    last: Annotated[int, typer.Option(min=1, help="How many at most, the last ones.")] = DEFAULT_LAST,
) -> None:
    """Show the games that were played last."""
    with open_store(folder) as store:
        rows = chosen_lists(folder, store, list or [])
        labels = [entry.label for entry in store.entries()]
        if engine is not None and engine not in labels:
            raise CallError(f"{folder}: no engine {engine!r} has played; there are {', '.join(labels) or 'none'}")
        Console(highlight=False).print(games_table(store, rows, engine, faults, last))


def export(
    folder: FolderArgument,
    to: Annotated[
        str,
        typer.Option(
            metavar="|".join(KINDS),
            help="A row for each seat of each game; a line of JSON for each game; or the games as text, which "
            "`caboose verify`, `show` and `analyse` read.",
        ),
    ] = KINDS[0],
    list: ListsOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write; standard output by default.")
    ] = None,
) -> None:
    """Write all games for other programs."""
    if to not in KINDS:
        raise CallError(f"--to {to}: expected csv, jsonl or records")
    with open_store(folder) as store:
        rows = chosen_lists(folder, store, list or [])
        with output_errors(str(output or "standard output")), written(output) as file:
            if to == "records":
                export_records(folder, store, rows, file)
            else:
                (export_csv if to == "csv" else export_lines)(store, rows, file)


def checked_mean(mean: str) -> str:
    """What ``--mean`` says. Raises ``CallError``."""
    if mean not in MEANS:
        raise CallError(f"--mean {mean}: expected {' or '.join(MEANS)}")
    return mean


def chosen_lists(folder: Path, store: Store, names: list[str]) -> list[ListRow]:
    rows = {row.name: row for row in store.lists()}
    for name in names:
        if name not in rows:
            raise CallError(f"{folder}: no list {name!r} has been played; there are {', '.join(rows) or 'none'}")
    return [rows[name] for name in dict.fromkeys(names)] or [*rows.values()]
