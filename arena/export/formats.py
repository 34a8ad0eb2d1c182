"""Recorded games written in formats for other programs, one game after another, in constant memory."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from itertools import islice
from typing import Any, BinaryIO, Final, TextIO

from caboose.arena.console.output import json_text
from caboose.arena.errors import CallError
from caboose.arena.export.event_table import COLUMNS, FLOATS, TEXTS, Row, rows
from caboose.arena.storage.csv_cells import cell, encodable
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import Tile, train_name
from caboose.protocol.records.records import FORMAT, EventLine, GameRecord, RoundRecord

ROW_GROUP: Final = 65_536  # rows of a Parquet file that are kept in memory

Writer = Callable[[GameRecord, int], None]  # writes a game, which is number so-and-so of its file


# ------------------------------------------------------------------------------------------------- JSON lines


@contextmanager
def json_lines(file: BinaryIO) -> Iterator[Writer]:
    """A writer of a JSON object for each game, on a line of its own, with all that the record has."""
    with _text(file) as text:

        def write(record: GameRecord, game: int) -> None:
            text.write(json_text(game_object(record, game), separators=(",", ":")) + "\n")

        yield write


def game_object(record: GameRecord, game: int) -> dict[str, Any]:
    """A game as values for JSON; seats and trains as in the record's text."""
    return {
        "format": FORMAT,
        "game": game,
        "date": record.date,
        "event": record.event,
        "rules": {f.name: getattr(record.rules, f.name) for f in fields(Rules)},
        "control": record.control,
        "players": [
            {"name": player.name, "fields": [list(pair) for pair in player.fields]} for player in record.players
        ],
        "commit": record.commit,
        "nonce": record.nonce,
        "rounds": [_round_object(round) for round in record.rounds],
        "unplayed": [_deal_object(deal) for deal in record.unplayed],
        "faults": [
            {
                "seat": fault.seat + 1,
                "round": fault.round,
                "decision": fault.decision,
                "kind": fault.kind,
                "detail": fault.detail,
            }
            for fault in record.faults
        ],
        "totals": record.totals,
        "places": record.places,
    }


def _round_object(round: RoundRecord) -> dict[str, Any]:
    return {
        "round": round.number,
        "hub": round.hub,
        "starter": round.starter + 1,
        "deal": _deal_object(round.deal),
        "events": [_event_object(entry) for entry in round.events],
        "scores": round.scores,
        "blocked": round.blocked,
        "finished": round.finished,
    }


def _deal_object(deal: Deal) -> dict[str, Any]:
    starter = deal.starter + 1 or None  # nobody's where the holder of the hub starts
    return {
        "hub": deal.hub,
        "hands": [_tiles(hand) for hand in deal.hands],
        "boneyard": _tiles(deal.boneyard),
        "starter": starter,
    }


def _event_object(entry: EventLine) -> dict[str, Any]:
    kind, seat, tile, move = entry.event
    out: dict[str, Any] = {"seat": seat + 1, "kind": kind}
    if tile is not None:
        out["tile"] = str(tile)
    if move is not None:
        out |= {"train": train_name(move.train), "match": move.match}
    if entry.time is not None:
        out["time"] = entry.time
    if entry.score is not None:
        out["score"] = entry.score
    if entry.over is not None:
        out["over"] = entry.over
    return out


def _tiles(tiles: tuple[Tile, ...]) -> list[str]:
    return [str(tile) for tile in tiles]


# ------------------------------------------------------------------------------------------------------ tables


@contextmanager
def csv_table(file: BinaryIO) -> Iterator[Writer]:
    """A writer of CSV (RFC 4180, but LF): the names of the columns, then a row for each event. No text is a formula
    (``arena.cells``)."""
    with _text(file) as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)

        def write(record: GameRecord, game: int) -> None:
            players = tuple([replace(player, name=cell(player.name)) for player in record.players])
            table.writerows(rows(replace(record, players=players), game))

        yield write


@contextmanager
def parquet_table(file: BinaryIO) -> Iterator[Writer]:
    """A writer of Parquet: a row for each event, in groups of ``ROW_GROUP``. Raises ``CallError`` without pyarrow."""
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise CallError("--to parquet needs pyarrow, which is not installed: expected `pip install pyarrow`") from None
    kinds = {name: arrow.string() if name in TEXTS else arrow.int32() for name in COLUMNS}
    kinds |= dict.fromkeys(FLOATS, arrow.float64())
    schema = arrow.schema(list(kinds.items()))
    waiting: list[Row] = []
    with parquet.ParquetWriter(file, schema, compression="zstd") as table:

        def flush() -> None:
            columns = zip(*waiting, strict=True)
            arrays = [arrow.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
            table.write_batch(arrow.record_batch(arrays, schema=schema), row_group_size=ROW_GROUP)
            waiting.clear()

        def write(record: GameRecord, game: int) -> None:
            players = tuple([replace(player, name=encodable(player.name)) for player in record.players])
            made = rows(replace(record, players=players), game)
            while True:
                waiting.extend(islice(made, ROW_GROUP - len(waiting)))
                if len(waiting) < ROW_GROUP:
                    return
                flush()

        yield write
        if waiting:
            flush()


FORMATS: Final[Mapping[str, Callable[[BinaryIO], AbstractContextManager[Writer]]]] = {
    "jsonl": json_lines,
    "csv": csv_table,
    "parquet": parquet_table,
}


@contextmanager
def _text(file: BinaryIO) -> Iterator[TextIO]:
    """``file`` for text, UTF-8 everywhere; it is flushed and stays open."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()
