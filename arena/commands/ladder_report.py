"""``caboose ladder report``: a page that people look at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.commands.files import output_errors, written
from caboose.arena.commands.ladder_edit import FolderArgument
from caboose.arena.commands.ladder_show import (
    AnchorOption,
    ListsOption,
    MeanOption,
    MinBlocksOption,
    checked_mean,
    chosen_lists,
)
from caboose.arena.ladder.config import FILE, read_spec
from caboose.arena.ladder.folder import runner
from caboose.arena.ladder.reference import MEANS, MIN_BLOCKS, make_reference
from caboose.arena.ladder.run import open_store
from caboose.arena.reading import read_text

PAGE: Final = "report.html"


def report(
    folder: FolderArgument,
    list: ListsOption = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help=f"Where to write the page; FOLDER/{PAGE} by default."),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the single figures there, too, each as SVG and PNG. Needs matplotlib: "
            "pip install 'caboose\\[plots]'.",
            show_default=False,
        ),
    ] = None,
    anchor: AnchorOption = None,
    mean: MeanOption = MEANS[0],
    min_blocks: MinBlocksOption = MIN_BLOCKS,
) -> None:
    """Write a page with standings, every pair, margins, seats, times, faults and how ratings settled.

    It is one HTML file that needs no other file, no network and no script.
    """
    from caboose.arena.ladder.report import make_report
    from caboose.arena.pages.pictures import check_matplotlib, save

    if plots is not None:
        check_matplotlib()
    spec = read_spec(folder)
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by Caboose {caboose_version()}"
    text = read_text(folder / FILE)
    with open_store(folder) as store, store.snapshot():
        rows = chosen_lists(folder, store, list or [])
        reference = make_reference(folder, store, anchor, checked_mean(mean), min_blocks, spec)
        found = make_report(folder, spec, store, rows, runner=runner(folder), made=made, text=text, reference=reference)
    path = output or folder / PAGE
    with output_errors(str(path)), written(path, named=output is not None) as file:
        file.write(found.page.html().encode())
    print(f"{path}: the report")
    if plots is not None:
        with output_errors(str(plots)):
            plots.mkdir(parents=True, exist_ok=True)
            for figure in found.figures:
                save(figure, plots)
        print(f"{plots}: {len(found.figures)} figures, each as SVG and PNG")
