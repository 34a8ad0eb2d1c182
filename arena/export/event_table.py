"""A recorded game as a flat table: one row for each event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import tiles_in_set
from caboose.engine.rules.tiles import train_name
from caboose.protocol.records.records import GameRecord, RoundRecord

Value = int | float | str | None


class Row(NamedTuple):
    """An event with what belongs to it; seats, trains, rounds and events count from 1, as in the record.

    ``legal_moves`` is how many the seat had when it played or stopped; None where the end of a chain was forced, and
    from the first play on that is against the rules. ``hand_size`` and ``boneyard`` are after the event.
    ``round_score``, ``game_score`` and ``place`` are what the seat came to in the end.
    """

    game: int
    round: int
    event: int
    hub: int
    seat: int
    player: str
    kind: str
    tile: str | None
    train: str | None
    match: int | None
    legal_moves: int | None
    time: float | None
    score: float | None
    hand_size: int
    boneyard: int
    round_score: int
    game_score: int
    place: int


COLUMNS: Final = Row._fields
FLOATS: Final = frozenset({"time", "score"})
TEXTS: Final = frozenset({"player", "kind", "tile", "train"})  # all others are whole numbers


def rows(record: GameRecord, game: int) -> Iterator[Row]:
    """The rows of a game, which is number ``game`` of its file."""
    for round in record.rounds:
        yield from _round_rows(record, round, game)


def _round_rows(record: GameRecord, round: RoundRecord, game: int) -> Iterator[Row]:
    rules = record.rules
    table: Round | None = Round(rules, round.deal)
    sizes = [rules.hand] * rules.players
    boneyard = tiles_in_set(rules.set) - (rules.hub == "placed") - rules.hand * rules.players
    for number, (event, time, score, *_) in enumerate(round.events, 1):
        kind, seat, tile, move = event
        legal = None
        if kind == "draw":
            sizes[seat] += 1
            boneyard -= 1
        elif kind == "hub":
            sizes[seat] -= 1
        elif kind in ("play", "stop"):
            sizes[seat] -= kind == "play"
            choice = STOP if move is None else move
            moves = table.legal_moves() if table is not None and table.turn == seat else []
            if table is not None and choice in moves:
                legal = len(moves)
                table.apply(choice)
            elif kind == "play":
                table = None
        yield Row(
            game=game,
            round=round.number,
            event=number,
            hub=round.hub,
            seat=seat + 1,
            player=record.players[seat].name,
            kind=kind,
            tile=None if tile is None else str(tile),
            train=None if move is None else train_name(move.train),
            match=None if move is None else move.match,
            legal_moves=legal,
            time=time,
            score=score,
            hand_size=sizes[seat],
            boneyard=boneyard,
            round_score=round.scores[seat],
            game_score=record.totals[seat],
            place=record.places[seat],
        )
