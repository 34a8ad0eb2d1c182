"""What a block is worth to a candidate, by the objective of the study."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from caboose.arena.blocks.game_rows import Seats, fault_rows, seat_rows
from caboose.arena.blocks.results import BlockResult
from caboose.arena.tuning.store import Played

CANDIDATE: Final = 0
OPPONENT: Final = 1
POINTS: Final = 4 * 400 / math.log(10)  # of the rating, for a score of 1 above ½, where few are asked for

UNITS: Final = {
    "margin": "pips a round",
    "rounds-won": "% of rounds",
    "rating": "rating points",
    "speed": "nodes/s",
    "time": "ms",
    "suite": "pips a decision",
    "depth": "halvings",
}
"""In what a gain is told."""


def fair_worth(objective: str, players: int) -> float:
    """What a block against copies of itself is worth to anybody."""
    return 100 / players if objective == "rounds-won" else 0.0


def block_worth(objective: str, block: BlockResult, players: int) -> Played:
    """What a block of a candidate (entry 0 of the line-up) against copies of another is worth to it.

    A game that a fault of others took away does not count. One with a fault of its own is lost; but the fallback player
    may have done well in it, and so the study has a last word on the block (``Study._worth``).
    """
    entries = [CANDIDATE, *[OPPONENT] * (players - 1)]
    faults = fault_rows(block)
    values = [_game(objective, seat_rows(game, entries)) for game in block.games]
    counted = [value for value in values if value is not None]
    told = f"{faults[0].fault.kind}: {faults[0].fault.detail}" if faults else ""
    lost = sum(bool(game.result.seats[game.seating.index(CANDIDATE)].fault) for game in block.games)
    return Played(float(np.mean(counted)) if counted else None, len(block.games), len(faults), told, lost)


def _game(objective: str, seats: Seats) -> float | None:
    rows: Any = seats
    own = rows[rows["entry"] == CANDIDATE][0]
    if not own["counted"] or not own["rounds"]:
        return None
    if objective == "margin":
        return float(own["margin"])
    if objective == "rounds-won":
        return 100 * float(own["rounds_won"])
    others = rows[rows["entry"] != CANDIDATE]["place"].astype(float)
    ahead = np.mean(0.5 + 0.5 * np.sign(others - float(own["place"])))
    return POINTS * (float(ahead) - 0.5)
