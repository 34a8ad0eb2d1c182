"""The games of a ladder as columns: what statistics are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class Games:
    """A row is a game, a column of a row a seat. Tables with fewer seats than the widest are padded on the right.

    ``block``: (games,) int64, the number of the block. Games with the same number share their deals, and are one block
    for all statistics: number blocks through all lists of a ladder.
    ``player``: (games, seats) int32, the number of the contestant on a seat, from 0; ``NOBODY`` where there is no seat.
    ``place``: (games, seats) int16, the finishing place from 1, smaller is better; equal places are ties.
    ``margin``: (games, seats) float32, pips a round: the mean score of the seats of other contestants less the own.
    ``rounds_won`` and ``games_won``: (games, seats) float32, shares from 0 to 1; k winners that tie have 1/k each.
    ``counted``: (games, seats) bool, False where the fault of another seat took the game away. A seat with a fault of
    its own is counted, with the last place.
    What stands where there is no seat does not matter.
    Raises ``ValueError`` when the shapes do not agree, or a contestant has a number below ``NOBODY``.
    """

    block: npt.NDArray[np.int64]
    player: npt.NDArray[np.int32]
    place: npt.NDArray[np.int16]
    margin: npt.NDArray[np.float32]
    rounds_won: npt.NDArray[np.float32]
    games_won: npt.NDArray[np.float32]
    counted: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        shape = self.player.shape
        if len(shape) != 2 or self.block.shape != shape[:1]:
            raise ValueError(f"games: blocks {self.block.shape} and players {shape} do not belong together")
        for name in ("place", "margin", "rounds_won", "games_won", "counted"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"games: {name} has the shape {getattr(self, name).shape}, players have {shape}")
        if self.player.size and int(self.player.min()) < NOBODY:
            raise ValueError("games: the number of a contestant is at least 0, or -1 where nobody sits")

    def __len__(self) -> int:
        return len(self.block)

    @property
    def seats(self) -> int:
        """How many seats the widest table has."""
        return int(self.player.shape[1])

    def select(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice) -> Games:
        """Some of the games: a mask, numbers of rows, or a slice."""
        return Games(*(getattr(self, name)[rows] for name in self.__slots__))


def no_games(seats: int = 2) -> Games:
    """Columns without a row."""
    shape = (0, seats)
    return Games(
        block=np.zeros(0, np.int64),
        player=np.zeros(shape, np.int32),
        place=np.zeros(shape, np.int16),
        margin=np.zeros(shape, np.float32),
        rounds_won=np.zeros(shape, np.float32),
        games_won=np.zeros(shape, np.float32),
        counted=np.zeros(shape, np.bool_),
    )


def join(parts: Sequence[Games]) -> Games:
    """The games of all parts in one, as wide as the widest. Numbers of blocks are kept as they are."""
    seats = max((part.seats for part in parts), default=2)
    if not parts:
        return no_games(seats)
    return Games(
        block=np.concatenate([part.block for part in parts]),
        player=np.concatenate([_widened(part.player, seats, NOBODY) for part in parts]),
        place=np.concatenate([_widened(part.place, seats, 0) for part in parts]),
        margin=np.concatenate([_widened(part.margin, seats, 0) for part in parts]),
        rounds_won=np.concatenate([_widened(part.rounds_won, seats, 0) for part in parts]),
        games_won=np.concatenate([_widened(part.games_won, seats, 0) for part in parts]),
        counted=np.concatenate([_widened(part.counted, seats, 0) for part in parts]),
    )


def _widened(column: npt.NDArray[Any], seats: int, filler: int) -> npt.NDArray[Any]:
    return np.pad(column, ((0, 0), (0, seats - column.shape[1])), constant_values=filler)


def distinct(columns: list[npt.NDArray[np.integer]], base: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first row of each distinct kind, and the kind of each row.

    ``columns`` have equally many entries, from −``base`` to ``base`` − 1. Much faster than numpy's ``unique`` of rows.
    """
    code = np.zeros(len(columns[0]), np.int64)
    most = 1
    for column in columns:
        if most > 2**62 // (2 * base):
            values, code = np.unique(code, return_inverse=True)
            most = len(values)
        code = code * (2 * base) + (column + base)
        most *= 2 * base
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return first, kind
