"""Candidates of which everything is known, as those of a search that has run for some worlds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from caboose.engine.bot_api import Candidate
from caboose.engine.rules.moves import Move


class Tried(NamedTuple):
    """A ``Candidate`` that lacks nothing."""

    move: Move
    visits: int
    score: float
    error: float
    win: float


def tried(candidates: Iterable[Candidate]) -> list[Tried]:
    """The candidates; each must have been tried."""
    found = []
    for move, visits, score, error, win in candidates:
        assert score is not None and error is not None and win is not None, move
        found.append(Tried(move, visits, score, error, win))
    return found
