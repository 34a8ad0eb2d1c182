"""What the games of a ladder add up to: columns for the statistics, and sums of times and faults for each entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from caboose.arena.games import NOBODY, Games
from caboose.arena.ladder.rows import Seats
from caboose.arena.ladder.store import Entry, Integers, ListRow, Store


@dataclass(slots=True)
class Sums:
    """What an entry gathered in all its games, whether they count or not; but ``points`` and ``rounds`` are those of
    games that count for it. Times are ms."""

    games: int = 0
    rounds: int = 0
    points: int = 0
    decisions: int = 0
    time: float = 0.0
    slowest: float = 0.0
    overruns: int = 0
    cpu: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    replays: int = 0

    @property
    def score(self) -> float | None:
        """Pips a round; None without a round."""
        return self.points / self.rounds if self.rounds else None

    @property
    def time_mean(self) -> float | None:
        """Milliseconds a move; None without a move."""
        return self.time / self.decisions if self.decisions else None


@dataclass(slots=True)
class Board:
    """The games of some lists: ``games`` as columns, in which contestant i is ``entries[i]``, whose sums are
    ``sums[i]``."""

    entries: Sequence[Entry]
    games: Games
    sums: Sequence[Sums]


def read_board(store: Store, lists: Sequence[ListRow], *, times: bool = True) -> Board:
    """Reads all games of ``lists``. Without ``times`` only faults and replays are summed up, which is faster. Raises
    ``RunError``."""
    entries = store.entries()
    number = np.full(max([entry.id for entry in entries], default=0) + 1, NOBODY, np.int32)
    number[[entry.id for entry in entries]] = np.arange(len(entries), dtype=np.int32)
    sums = [Sums() for _ in entries]
    # A block has a game for each player, so that all have their place before they are read.
    sizes = [(row.players, store.counts(row.id)[0]) for row in lists]
    players = np.repeat([size for size, _ in sizes], [count for _, count in sizes]).astype(np.int64)
    starts = np.cumsum(players) - players
    games = _room(np.repeat(np.arange(len(players)), players), max([size for size, _ in sizes], default=2))
    for block, game, seats in store.all_games(lists):
        owners = number[seats["entry"]]
        _fill(games, starts[block] + game, owners, seats)
        if times:
            _add(sums, owners.ravel(), seats.ravel())
    for row in lists:
        for found in store.faults(row.id):
            of = sums[number[found.entry]]
            if found.replayed:
                of.replays += 1
            else:
                of.faults[found.fault.kind] += 1
    return Board(entries, games, sums)


def columns(block: Integers, owners: npt.NDArray[np.int32], seats: Seats) -> Games:
    """Games as columns: ``block`` has the block of each, ``seats`` (games, seats) the rows of its seats, ``owners`` the
    contestant on each."""
    games = _room(block, owners.shape[1])
    _fill(games, np.arange(len(block)), owners, seats)
    return games


def block_margins(games: Games, contestants: int) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The margins of each contestant, one for each block in which a game counts for it."""
    counted = (games.player != NOBODY) & games.counted
    _, block = np.unique(games.block, return_inverse=True)
    cell = np.broadcast_to(block[:, None], games.player.shape)[counted] * contestants + games.player[counted]
    size = (int(block.max(initial=-1)) + 1) * contestants
    seats = np.bincount(cell, minlength=size).reshape(-1, contestants)
    pips = np.bincount(cell, games.margin[counted], minlength=size).reshape(-1, contestants)
    return [pips[seats[:, i] > 0, i] / seats[seats[:, i] > 0, i] for i in range(contestants)]


def _room(block: Integers, seats: int) -> Games:
    """Columns for games of these blocks, in which nobody sits yet."""
    shape = (len(block), seats)
    return Games(
        block=block,
        player=np.full(shape, NOBODY, np.int32),
        place=np.zeros(shape, np.int16),
        margin=np.zeros(shape, np.float32),
        rounds_won=np.zeros(shape, np.float32),
        games_won=np.zeros(shape, np.float32),
        counted=np.zeros(shape, np.bool_),
    )


def _fill(games: Games, rows: Integers, owners: npt.NDArray[np.int32], seats: Seats) -> None:
    """Puts some games where they belong."""
    there = slice(owners.shape[1])
    games.player[rows, there] = owners
    for name in ("place", "margin", "rounds_won", "games_won", "counted"):
        getattr(games, name)[rows, there] = seats[name]


def _add(sums: Sequence[Sums], owners: npt.NDArray[np.int32], seats: Seats) -> None:
    counted = seats["counted"] != 0
    slowest = np.zeros(len(sums), np.float32)
    np.maximum.at(slowest, owners, np.ascontiguousarray(seats["slowest"]))
    per = {
        name: np.bincount(owners, seats[name], minlength=len(sums)) for name in ("decisions", "time", "overruns", "cpu")
    }
    games = np.bincount(owners, minlength=len(sums))
    rounds = np.bincount(owners, np.where(counted, seats["rounds"], 0), minlength=len(sums))
    points = np.bincount(owners, np.where(counted, seats["points"], 0), minlength=len(sums))
    for number in np.flatnonzero(games).tolist():
        of = sums[number]
        of.games += int(games[number])
        of.rounds += int(rounds[number])
        of.points += int(points[number])
        of.decisions += int(per["decisions"][number])
        of.overruns += int(per["overruns"][number])
        of.time += float(per["time"][number])
        of.cpu += float(per["cpu"][number])
        of.slowest = max(of.slowest, float(slowest[number]))
