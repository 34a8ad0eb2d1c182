"""What the blocks of a comparison say, looked at in the order in which they are dealt out.

Blocks that are played at the same time end in any order. A verdict that took them as they come would depend on the
machine, and would hear of short blocks first. So a block waits here for those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from caboose.arena.blocks.block_order import Lineup
from caboose.arena.blocks.game_rows import Seats, columns
from caboose.arena.stats.game_table import NOBODY, Games
from caboose.arena.stats.sprt import CONTINUE, VERDICTS, SequentialTest, State, block_values, blocks_to_go, moments_of

Place = tuple[int, Lineup]
"""Which block: its number, and who plays (entries)."""

TOLD: Final = 12  # blocks, before it is told how many more it will take
UNITS: Final = ("pips", "elo")  # in which blocks are valued; ``nelo`` has the values of ``elo``


@dataclass(frozen=True, slots=True)
class Block:
    """A block that was played. ``values`` has its value for each of ``UNITS``, None where faults of the pool left none.

    ``pairs``: how often a seat of the one ended before, level with and behind one of the other, in ``games`` without a
    fault. ``first``: the shares of first places of the one and of the other in them. ``faults`` by engine: the one, the
    other, the pool.
    """

    values: tuple[float | None, ...]
    pairs: tuple[int, int, int]
    first: tuple[float, float]
    games: int
    faults: tuple[int, int, int]


@dataclass(slots=True)
class Tally:
    """What all blocks so far add up to, in their order. ``states`` has one for each of ``UNITS``; the others as in
    ``Block``, but ``games`` counts all and ``clean`` those without a fault."""

    states: list[State]
    blocks: int = 0
    games: int = 0
    clean: int = 0
    pairs: tuple[int, int, int] = (0, 0, 0)
    first: tuple[float, float] = (0.0, 0.0)
    faults: tuple[int, int, int] = (0, 0, 0)

    def add(self, block: Block, games: int) -> None:
        """One more block, with that many games."""
        for at, value in enumerate(block.values):
            if value is not None:
                self.states[at] = self.states[at].with_blocks([value])
        self.blocks += 1
        self.games += games
        self.clean += block.games
        self.pairs = _sum3(self.pairs, block.pairs)
        self.first = self.first[0] + block.first[0], self.first[1] + block.first[1]
        self.faults = _sum3(self.faults, block.faults)


class Judge:
    """Takes blocks as they end, and says when the test is over.

    ``order`` is the order of all blocks, ``one`` and ``other`` are the numbers of the two entries. After ``most``
    blocks it is over without a verdict, under ``strict`` also with a fault. What comes after that does not count.
    ``values`` are those of the blocks that the test has seen, in its unit.
    """

    def __init__(
        self, test: SequentialTest, order: Iterator[Place], one: int, other: int, *, most: int, strict: bool = False
    ) -> None:
        self.test = test
        self.tally = Tally([State() for _ in UNITS])
        self.verdict = CONTINUE
        self.values: list[float] = []
        self._owners = {one: 0, other: 1}
        self._order = order
        self._next = next(order, None)
        self._waiting: dict[Place, Block] = {}
        self._most = most
        self._strict = strict
        self._unit = UNITS.index("pips" if test.unit == "pips" else "elo")

    @property
    def state(self) -> State:
        """What the test knows."""
        return self.tally.states[self._unit]

    @property
    def llr(self) -> float:
        """The logarithm of the likelihood ratio."""
        return self.test.llr(self.state)

    @property
    def over(self) -> bool:
        """Whether there is a verdict, or there will be none."""
        stopped = self._strict and any(self.tally.faults)
        return self.verdict != CONTINUE or stopped or self.tally.blocks >= self._most or self._next is None

    @property
    def to_go(self) -> float | None:
        """About how many more blocks it takes if the truth is what they have shown; None before it can be told."""
        return None if self.state.count < TOLD else blocks_to_go(self.test, self.state)

    def add(self, places: Sequence[Place], seats: Seats, replays: Sequence[tuple[int, int, int]]) -> None:
        """Blocks that were played, with the rows of their seats: (blocks, games, seats). ``replays`` has for each how
        many games were played again because of the one, the other and the pool."""
        if self.over:
            return
        self._waiting |= zip(places, values_of(seats, self._owners, replays), strict=True)
        ready: list[Block] = []
        while self._next in self._waiting and self.tally.blocks + len(ready) < self._most:
            assert self._next is not None
            ready.append(self._waiting.pop(self._next))
            self._next = next(self._order, None)
        if not ready:
            return
        # All at once: a comparison that goes on after 100,000 blocks would be slow to begin one by one.
        states = [self.state]
        for block in ready:
            value = block.values[self._unit]
            states.append(states[-1] if value is None else states[-1].with_blocks([value]))
        for block, verdict in zip(ready, self.test.verdicts(moments_of(states[1:])).tolist(), strict=True):
            self.tally.add(block, seats.shape[1])
            value = block.values[self._unit]
            if value is not None:
                self.values.append(value)
            self.verdict = VERDICTS[verdict]
            if self.verdict != CONTINUE or (self._strict and any(self.tally.faults)):
                break


def values_of(seats: Seats, owners: dict[int, int], replays: Sequence[tuple[int, int, int]]) -> list[Block]:
    """What blocks say; ``seats``: (blocks, games, seats). ``owners`` has 0 for the entry of the one and 1 for that of
    the other; all else are the pool."""
    blocks, games, players = seats.shape
    rows = seats.reshape(blocks * games, players)
    entry = rows["entry"]
    who = np.full(entry.shape, 2, np.int32)
    for number, place in owners.items():
        who[entry == number] = place
    played = columns(np.repeat(np.arange(blocks), games), who, rows, players)
    values: list[list[float | None]] = []
    for unit in UNITS:
        of_unit: list[float | None] = [None] * blocks
        for block, value in zip(*block_values(played, 0, 1, unit), strict=True):
            of_unit[int(block)] = float(value)
        values.append(of_unit)
    pairs, first, clean = _places(played)
    faulty = (rows["fault"] != 0).reshape(blocks, -1)
    faults = np.stack([(faulty & (who == kind).reshape(blocks, -1)).sum(axis=1) for kind in range(3)], axis=1)
    faults = faults + np.array(replays, np.int64).reshape(blocks, 3)
    per = (blocks, games)
    return [
        Block(tuple(value), _three(pair), (float(share[0]), float(share[1])), int(fine), _three(fault))
        for value, pair, share, fine, fault in zip(
            zip(*values, strict=True),
            pairs.reshape(*per, 3).sum(axis=1).tolist(),
            first.reshape(*per, 2).sum(axis=1).tolist(),
            clean.reshape(per).sum(axis=1).tolist(),
            faults.tolist(),
            strict=True,
        )
    ]


def _places(
    games: Games,
) -> tuple[
    np.ndarray[tuple[int, int], np.dtype[np.int64]],
    np.ndarray[tuple[int, int], np.dtype[np.float64]],
    np.ndarray[tuple[int], np.dtype[np.bool_]],
]:
    """For each game how pairs of seats of the two ended, (games, 3), their shares of the first place, and whether it is
    without a fault; without one all is 0."""
    clean = (games.counted | (games.player == NOBODY)).all(axis=1)
    mine, theirs = (games.player == who for who in (0, 1))
    pairs = mine[:, :, None] & theirs[:, None, :] & clean[:, None, None]
    ahead = np.sign(games.place[:, None, :].astype(np.int64) - games.place[:, :, None])
    counts = np.stack([(pairs & (ahead == sign)).sum(axis=(1, 2)) for sign in (1, 0, -1)], axis=1)
    won = games.games_won.astype(float) * clean[:, None]
    first = np.stack([(won * of).sum(axis=1) for of in (mine, theirs)], axis=1)
    return counts, first, clean


def _three(values: Sequence[int]) -> tuple[int, int, int]:
    first, second, third = values
    return first, second, third


def _sum3(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
