"""Games as they were played, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TextIO

from caboose.arena.results import BlockResult
from caboose.protocol.notation import event_text, tiles_text
from caboose.protocol.referee import RoundResult


def write_block(file: TextIO, block: BlockResult, rules: str, names: Sequence[str]) -> None:
    """Appends the games of a block that was played with recording on; ``names`` has the player of each entry.

    They are written when the whole block is over, since its deals come again in each of its games: a player must
    not be able to look them up.
    """
    for number, game in enumerate(block.games, 1):
        seats = game.result.seats
        line = {
            "block": block.block + 1,
            "game": number,
            "rules": rules,
            "players": [names[entry] for entry in game.seating],
            "rounds": [_round_line(result) for result in game.result.rounds],
            "totals": [seat.total for seat in seats],
            "places": [seat.place for seat in seats],
            "faults": [
                {"seat": i, "kind": seat.fault.kind, "detail": seat.fault.detail, "round": seat.fault.round}
                for i, seat in enumerate(seats, 1)
                if seat.fault is not None
            ],
        }
        file.write(json.dumps(line) + "\n")
    file.flush()


def without_records(block: BlockResult) -> BlockResult:
    """The block with the records of its rounds left out, for keeping."""
    games = []
    for game in block.games:
        rounds = tuple(replace(result, record=None) for result in game.result.rounds)
        games.append(replace(game, result=replace(game.result, rounds=rounds)))
    return replace(block, games=tuple(games))


def _round_line(result: RoundResult) -> dict[str, Any]:
    record = result.record
    assert record is not None
    return {
        "hub": result.hub,
        "starter": result.starter + 1,
        "hands": [tiles_text(hand) for hand in record.deal.hands],
        "boneyard": tiles_text(record.deal.boneyard),
        "events": " ".join(map(event_text, record.events)),
        "times": [[number + 1, round(ms, 3)] for number, ms in record.times],
        "scores": result.scores,
        "blocked": result.blocked,
    }
