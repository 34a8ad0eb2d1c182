"""What the games of a ladder add up to: columns for the statistics, and sums of times and faults for each entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from caboose.arena.blocks.game_rows import Seats, columns
from caboose.arena.ladder.store import Entry, ListRow, Store
from caboose.arena.stats.bootstrap import groups_of
from caboose.arena.stats.game_table import NOBODY, Games, join
from caboose.arena.stats.ratings import Tally
from caboose.arena.stats.seat_bias import FairnessTally


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


@dataclass(slots=True)
class Totals:
    """What the games of some lists add up to: the standings, the variance factor and the seats follow from it.
    Contestant i is ``entries[i]``, whose sums are ``sums[i]``. ``games`` is how many there are."""

    entries: Sequence[Entry]
    sums: Sequence[Sums]
    tally: Tally
    fairness: FairnessTally
    games: int


def read_board(store: Store, lists: Sequence[ListRow], *, times: bool = True) -> Board:
    """Reads all games of ``lists``. Without ``times`` only faults and replays are summed up, which is faster. Raises
    ``RunError``."""
    reading = Reading(store, lists, times=times)
    return Board(reading.entries, join([*reading.parts()]), reading.sums())


def read_totals(store: Store, lists: Sequence[ListRow], *, times: bool = True) -> Totals:
    """The same, added up while it is read: it takes no more memory for more games."""
    reading = Reading(store, lists, times=times)
    tally = Tally(len(reading.entries), groups_of(sum(store.counts(row.id)[0] for row in lists)))
    fairness, games = FairnessTally(), 0
    for part in reading.parts():
        tally.add(part)
        fairness.add(part)
        games += len(part)
    return Totals(reading.entries, reading.sums(), tally, fairness, games)


class Reading:
    """Reads the games of some lists, and sums up what they used."""

    def __init__(self, store: Store, lists: Sequence[ListRow], *, times: bool) -> None:
        self.entries = store.entries()
        self._store, self._lists, self._times = store, lists, times
        self._sums = [Sums() for _ in self.entries]
        self._number = np.full(max([entry.id for entry in self.entries], default=0) + 1, NOBODY, np.int32)
        self._number[[entry.id for entry in self.entries]] = np.arange(len(self.entries), dtype=np.int32)

    def parts(self) -> Iterator[Games]:
        """All games, some blocks at a time; blocks are numbered from 0, all tables as wide as the widest."""
        width = max([row.players for row in self._lists], default=2)
        for first, rows in self._store.all_games(self._lists):
            blocks, games, players = rows.shape
            seats = rows.reshape(blocks * games, players)
            owners = self._number[seats["entry"]]
            yield columns(first + np.repeat(np.arange(blocks), games), owners, seats, width)
            if self._times:
                _add(self._sums, owners.ravel(), seats.ravel())

    def sums(self) -> Sequence[Sums]:
        """What all games that were read come to, with the faults."""
        for row in self._lists:
            for found in self._store.faults(row.id):
                of = self._sums[self._number[found.entry]]
                if found.replayed:
                    of.replays += 1
                else:
                    of.faults[found.fault.kind] += 1
        return self._sums


def block_margins(games: Games, contestants: int) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The margins of each contestant, one for each block in which a game counts for it."""
    counted = (games.player != NOBODY) & games.counted
    _, block = np.unique(games.block, return_inverse=True)
    cell = np.broadcast_to(block[:, None], games.player.shape)[counted] * contestants + games.player[counted]
    size = (int(block.max(initial=-1)) + 1) * contestants
    seats = np.bincount(cell, minlength=size).reshape(-1, contestants)
    pips = np.bincount(cell, games.margin[counted], minlength=size).reshape(-1, contestants)
    return [pips[seats[:, i] > 0, i] / seats[seats[:, i] > 0, i] for i in range(contestants)]


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
