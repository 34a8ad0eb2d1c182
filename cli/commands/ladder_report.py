"""``caboose ladder report``: a page that people look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.console.output import put_line
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import FILE, read_spec
from caboose.arena.ladder.rating_reference import MEANS, MIN_BLOCKS, Reference, make_reference
from caboose.arena.ladder.run import open_store
from caboose.arena.storage.files import read_text
from caboose.arena.storage.ladder_folder import runner
from caboose.cli.commands.ladder_edit import FolderArgument
from caboose.cli.commands.ladder_show import (
    AnchorOption,
    ListsOption,
    MeanOption,
    MinBlocksOption,
    checked_mean,
    chosen_lists,
)
from caboose.cli.options.files import output_errors, written

if TYPE_CHECKING:  # slow to load
    from caboose.arena.report.page import Page
    from caboose.arena.report.plots import Figure

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

    It is one HTML file that needs no other file, no network and no script. Of a comparison (`caboose compare --state`)
    it has the verdict, the likelihood ratio after each block, the gain and the blocks.
    """
    from caboose.arena.compare.kept import is_comparison
    from caboose.arena.report.image_files import check_matplotlib, save

    if plots is not None:
        check_matplotlib()
    path = output or folder / PAGE
    if not (folder / FILE).exists() and is_comparison(folder):
        if list:
            raise CallError(f"--list {list[0]}: {folder} is a comparison, which has no lists: not expected")
        if anchor is not None:
            raise CallError(f"--anchor {anchor}: {folder} is a comparison, which has no ratings: not expected")
        figures = write_report(folder, path, named=output is not None)
    else:
        refer = partial(make_reference, anchor=anchor, mean=checked_mean(mean), min_blocks=min_blocks)
        figures = _write_ladder(folder, list or [], path, refer, named=output is not None)
    put_line(f"{path}: the report")
    if plots is not None:
        with output_errors(str(plots)):
            plots.mkdir(parents=True, exist_ok=True)
            for figure in figures:
                save(figure, plots)
        put_line(f"{plots}: {len(figures)} figures, each as SVG and PNG")


def write_report(folder: Path, path: Path, *, named: bool) -> Sequence[Figure]:
    """Writes the report of the comparison in ``folder`` to ``path``, which somebody may have ``named``; returns its
    figures. Raises ``CallError`` and ``RunError``."""
    from caboose.arena.compare.kept import read_kept
    from caboose.arena.compare.report import make_report

    found = make_report(read_kept(folder), _made())
    _write(found.page, path, named=named)
    return found.figures


def _write_ladder(
    folder: Path, lists: list[str], path: Path, refer: Callable[..., Reference], *, named: bool
) -> Sequence[Figure]:
    from caboose.arena.ladder.report import make_report

    spec = read_spec(folder)
    text = read_text(folder / FILE)
    with open_store(folder) as store, store.snapshot():
        rows = chosen_lists(folder, store, lists)
        reference = refer(folder, store, spec=spec)
        found = make_report(
            folder, spec, store, rows, runner=runner(folder), made=_made(), text=text, reference=reference
        )
    _write(found.page, path, named=named)
    return found.figures


def _made() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by Caboose {caboose_version()}"


def _write(page: Page, path: Path, *, named: bool) -> None:
    with output_errors(str(path)), written(path, named=named) as file:
        file.write(page.html().encode())
