"""A game of a block as a row: what statistics need of each seat, in a fixed number of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from caboose.arena.blocks.results import BlockResult, GameInBlock
from caboose.arena.stats.bootstrap import Integers
from caboose.arena.stats.game_table import NOBODY, Games
from caboose.protocol.referee.referee import Fault

# Little-endian, without gaps; docs/guides/ladder.md tells the columns. A change is a new schema of the database.
SEAT: Final = np.dtype(
    [
        ("entry", "<i4"),
        ("total", "<i4"),  # pips of the game
        ("points", "<i4"),  # the same, but where the seat has a fault the worst at the table in each round
        ("place", "u1"),
        ("fault", "u1"),
        ("counted", "u1"),  # 0 where the fault of another seat took the game away
        ("rounds", "u1"),
        ("margin", "<f4"),  # pips a round
        ("rounds_won", "<f4"),  # share of the rounds
        ("games_won", "<f4"),
        ("decisions", "<u4"),
        ("time", "<f4"),  # ms in all
        ("slowest", "<f4"),  # ms
        ("overruns", "<u4"),
        ("cpu", "<f4"),  # ms in all
    ]
)

TIMES: Final = ("time", "slowest", "overruns", "cpu")
"""The columns that differ when a game is played again."""

Seats = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A fault on a seat (from 0) of a game (from 0); ``replayed`` if the game was played again for it."""

    game: int
    seat: int
    fault: Fault
    replayed: bool


def seat_rows(game: GameInBlock, entries: Sequence[int]) -> Seats:
    """A row for each seat. ``entries`` has the number of the ladder's entry for each player of the line-up."""
    result = game.result
    owners = [entries[player] for player in game.seating]
    rounds = len(result.rounds)
    winners = result.winners
    rows = np.zeros(len(owners), SEAT)
    for seat, (owner, fared) in enumerate(zip(owners, result.seats, strict=True)):
        faulty = fared.fault is not None
        others = [other for other, whose in enumerate(owners) if whose != owner]
        points, pips, won = 0, 0, 0.0
        for round in result.rounds:
            own = max(round.scores) if faulty else round.scores[seat]
            points += own
            pips += sum(round.scores[other] for other in others) - len(others) * own
            won += 0.0 if faulty else shares(round.scores)[seat]
        row: Any = rows[seat]
        row["entry"] = owner
        row["total"] = fared.total
        row["points"] = points
        row["place"] = fared.place
        row["fault"] = faulty
        row["counted"] = faulty or not result.tainted
        row["rounds"] = rounds
        row["margin"] = pips / (len(others) * rounds) if rounds else 0.0
        row["rounds_won"] = won / rounds if rounds else 0.0
        row["games_won"] = 1 / len(winners) if seat in winners else 0.0
        row["decisions"] = fared.decisions
        row["time"] = fared.time
        row["slowest"] = fared.slowest
        row["overruns"] = fared.overruns
        row["cpu"] = fared.cpu
    return rows


def fault_rows(block: BlockResult) -> list[FaultRow]:
    """All faults of a block."""
    rows = []
    for number, game in enumerate(block.games):
        rows += [FaultRow(number, crash.seat, crash.fault, True) for crash in game.crashes]
        faults = enumerate(seat.fault for seat in game.result.seats)
        rows += [FaultRow(number, seat, fault, False) for seat, fault in faults if fault is not None]
    return rows


def columns(block: Integers, owners: npt.NDArray[np.int32], seats: Seats, width: int) -> Games:
    """Games as columns for tables of ``width`` seats: ``block`` has the block of each, ``seats`` (games, seats) the
    rows of its seats, ``owners`` the contestant on each."""

    def column(values: npt.NDArray[Any], kind: type[np.generic], filler: int = 0) -> npt.NDArray[Any]:
        wide = np.full((len(block), width), filler, kind)
        wide[:, : owners.shape[1]] = values
        return wide

    return Games(
        block=block,
        player=column(owners, np.int32, NOBODY),
        place=column(seats["place"], np.int16),
        margin=column(seats["margin"], np.float32),
        rounds_won=column(seats["rounds_won"], np.float32),
        games_won=column(seats["games_won"], np.float32),
        counted=column(seats["counted"], np.bool_),
    )


def shares(scores: Sequence[int]) -> list[float]:
    """What each seat has of a round that the lowest score wins: 1 for a single winner, 1/k for each of k."""
    best = min(scores)
    winners = scores.count(best)
    return [1 / winners if score == best else 0.0 for score in scores]
