"""All games of a ladder for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, cycle, islice, repeat
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from caboose.arena.errors import RunError
from caboose.arena.ladder.record_files import book_path
from caboose.arena.ladder.store import BlockRow, FaultFound, ListRow, Store
from caboose.arena.storage.csv_cells import cell

SEAT_COLUMNS: Final = (
    "place", "total", "counted", "margin", "rounds_won", "games_won", "rounds", "decisions", "time", "slowest",
    "overruns", "cpu",
)  # fmt: skip
_SOME: Final = 1000  # values by which a column is known to have few different ones
CSV_COLUMNS: Final = ("list", "block", "lineup", "game", "finished", "seat", "engine", "fault", *SEAT_COLUMNS)


def export_csv(store: Store, lists: Sequence[ListRow], file: BinaryIO) -> None:
    """Writes a row for each seat of each game."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        with store.snapshot():
            for row in lists:
                for rows in _csv_rows(store, row):
                    writer.writerows(rows)
        text.flush()
    finally:
        text.detach()  # or it closes the file


def _csv_rows(store: Store, row: ListRow) -> Iterator[Iterator[tuple[object, ...]]]:
    """The rows of a list, some whole blocks at a time: column by column, which is many times as fast as by seats."""
    labels = {entry.id: entry.label for entry in store.entries()}
    cells = {entry: cell(label) for entry, label in labels.items()}
    faults = {(f.block, f.game, f.seat): cell(f.fault.kind) for f in store.faults(row.id) if not f.replayed}
    played = store.blocks(row.id)
    for _, rows in store.all_games([row]):
        count, games, seats = rows.shape
        blocks = list(islice(played, count))
        lineups = [cell(" ".join([labels[entry] for entry in block.key.lineup])) for block in blocks]

        def repeated(values: Iterable[object], times: int = games * seats) -> Iterator[object]:
            return chain.from_iterable(map(repeat, values, repeat(times)))

        kinds: Iterable[object] = repeat("")
        if faults:
            places = [(block.id, game, seat) for block in blocks for game in range(games) for seat in range(seats)]
            kinds = [faults.get(place, "") for place in places]
        yield zip(
            repeat(cell(row.name)),
            repeated(block.key.number + 1 for block in blocks),
            repeated(lineups),
            repeated(islice(cycle(range(1, games + 1)), count * games), seats),
            repeated(cell(str(block.finished)) for block in blocks),
            cycle(range(1, seats + 1)),
            [cells[entry] for entry in rows["entry"].ravel().tolist()],
            kinds,
            *[_column(rows[name].ravel(), name) for name in SEAT_COLUMNS],
            strict=False,  # some go on for ever
        )


def _column(values: npt.NDArray[Any], name: str) -> list[Any]:
    """The values of a column, as they are written."""
    if name == "counted":
        values = values != 0
    listed: list[Any] = values.tolist()
    if values.dtype.kind != "f":
        return listed
    if len(np.unique(values[:_SOME])) > _SOME // 4:
        return [round(value, 6) for value in listed]
    few, places = np.unique(values, return_inverse=True)
    texts = np.array([repr(round(value, 6)) for value in few.tolist()], object)  # which takes longest: once for each
    listed = texts[places].tolist()
    return listed


def export_lines(store: Store, lists: Sequence[ListRow], file: BinaryIO) -> None:
    """Writes a line of JSON for each game."""
    for game in _games(store, lists):
        file.write(json.dumps(game).encode() + b"\n")


def export_records(folder: Path, store: Store, lists: Sequence[ListRow], file: BinaryIO) -> None:
    """Writes the games as text, block by block. Raises ``RunError`` where they are not, or no longer, there."""
    for row in lists:
        path = book_path(folder, row.name)
        blocks = [block for block in store.blocks(row.id) if block.record is not None]
        if not blocks:
            continue
        try:
            with path.open("rb") as book:
                for block in blocks:
                    file.write(_text(path, book, block))
        except FileNotFoundError:
            raise RunError(f"{path}: the games of list {row.name} are not there any more") from None


def _text(path: Path, book: BinaryIO, block: BlockRow) -> bytes:
    assert block.record is not None and block.length is not None
    book.seek(block.record)
    text = book.read(block.length)
    if len(text) != block.length:
        raise RunError(f"{path}: it is shorter than the database says: games are missing")
    return text


def _games(store: Store, lists: Sequence[ListRow]) -> Iterator[dict[str, Any]]:
    """Every game as values, in the order of the lists and blocks; blocks, games and seats are counted from 1."""
    labels = {entry.id: entry.label for entry in store.entries()}
    for row in lists:
        faults: dict[int, list[FaultFound]] = {}
        for found in store.faults(row.id):
            faults.setdefault(found.block, []).append(found)
        for block in store.blocks(row.id):
            of_block = faults.get(block.id, [])
            for number, seats in enumerate(store.games(block.id)):
                told = {f.seat: f.fault.kind for f in of_block if f.game == number and not f.replayed}
                yield {
                    "list": row.name,
                    "block": block.key.number + 1,
                    "lineup": [labels[entry] for entry in block.key.lineup],
                    "game": number + 1,
                    "finished": block.finished,
                    "replays": sum(f.game == number and f.replayed for f in of_block),
                    "seats": [_seat(seats[at], labels, told.get(at)) for at in range(len(seats))],
                }


def _seat(row: Any, labels: dict[int, str], fault: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {"engine": labels[int(row["entry"])], "fault": fault}
    for name in SEAT_COLUMNS:
        value = row[name].item()
        values[name] = bool(value) if name == "counted" else round(value, 6) if isinstance(value, float) else value
    return values
