"""All games of a ladder for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from caboose.arena.cells import cell
from caboose.arena.errors import RunError
from caboose.arena.ladder.books import book_path
from caboose.arena.ladder.store import BlockRow, FaultFound, ListRow, Store

SEAT_COLUMNS: Final = (
    "place", "total", "counted", "margin", "rounds_won", "games_won", "rounds", "decisions", "time", "slowest",
    "overruns", "cpu",
)  # fmt: skip
CSV_COLUMNS: Final = ("list", "block", "lineup", "game", "finished", "seat", "engine", "fault", *SEAT_COLUMNS)


def export_csv(store: Store, lists: Sequence[ListRow], file: BinaryIO) -> None:
    """Writes a row for each seat of each game."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        for game in _games(store, lists):
            seats = game.pop("seats")
            lineup = cell(" ".join(game.pop("lineup")))
            played, finished = cell(game["list"]), cell(str(game["finished"]))
            for number, seat in enumerate(seats, 1):
                head = [played, game["block"], lineup, game["game"], finished, number, cell(seat["engine"])]
                writer.writerow([*head, cell(seat["fault"] or ""), *(seat[name] for name in SEAT_COLUMNS)])
    finally:
        text.detach()  # or it closes the file


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
