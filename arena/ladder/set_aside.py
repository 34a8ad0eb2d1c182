"""Which engines of a list play no more, since they fail: by the results of its blocks alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caboose.arena.blocks.game_rows import Seats


@dataclass(frozen=True, slots=True)
class Aside:
    """An entry that was set aside when it had lost ``lost`` of its ``games`` games in a list by its faults."""

    entry: int
    lost: int
    games: int


class FaultTally:
    """How many games each entry played and lost by its faults, in the blocks that may be known.

    An entry with ``most`` lost games or more, that are at least half of its games, is set aside; with 0 none is. Blocks
    that are ``begun`` count when they end: until then an entry may or may not be set aside.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.games: Counter[int] = Counter()
        self.lost: Counter[int] = Counter()
        self._open: Counter[int] = Counter()  # games in blocks that are being played

    def add(self, lineup: Sequence[int], lost: Mapping[int, int], times: int = 1) -> None:
        """Counts a block, or ``times`` blocks without a lost game."""
        for entry in set(lineup):
            self.games[entry] += len(lineup) * times
        self.lost.update(lost)

    def begin(self, lineup: Sequence[int]) -> None:
        """A block is being played whose result may be known."""
        for entry in set(lineup):
            self._open[entry] += len(lineup)

    def end(self, lineup: Sequence[int]) -> None:
        """It is not being played any more."""
        for entry in set(lineup):
            self._open[entry] -= len(lineup)

    def fails(self, entry: int) -> bool:
        """Whether an entry has lost at least half of its games by its faults."""
        return self.lost[entry] > 0 and 2 * self.lost[entry] >= self.games[entry]

    def aside(self, entry: int) -> bool | None:
        """Whether an entry is set aside; None where that follows from blocks that are being played."""
        if not self.most:
            return False
        lost, games, more = self.lost[entry], self.games[entry], self._open[entry]
        if lost + more < self.most or 2 * (lost + more) < games + more:
            return False
        return True if lost >= self.most and 2 * lost >= games + more else None

    def found(self) -> Sequence[Aside]:
        """Who is set aside."""
        entries = [entry for entry in sorted(self.lost) if self.aside(entry)]
        return [Aside(entry, self.lost[entry], self.games[entry]) for entry in entries]


def lost_games(games: Seats) -> dict[int, int]:
    """How many of the games of a block each entry lost by its faults; ``games`` has a row of seats for each."""
    lost: Counter[int] = Counter()
    if games["fault"].any():
        for seats in games:
            rows: Any = seats[seats["fault"] != 0]
            lost.update({int(entry) for entry in rows["entry"]})
    return dict(lost)
