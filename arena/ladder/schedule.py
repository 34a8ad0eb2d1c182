"""Which blocks a list has, and in which order they are played.

What a block is follows from the seed, the list and the number of the block, and for adaptive pairing from the results
of blocks long before it. So a ladder that was killed and goes on plays what it would have played.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Protocol

from numpy.random import PCG64, Generator

from caboose.arena.errors import CallError
from caboose.arena.ladder.config import PAIR, ListSpec
from caboose.arena.ladder.rows import Seats
from caboose.arena.ladder.store import BlockKey, Store
from caboose.arena.pairing import Skills, next_table, unknown

MOST_LINEUPS: Final = 100_000
LAG: Final = 2  # tables are drawn by the results of generations at least that much before, so that nobody waits

Lineup = tuple[int, ...]
"""The entries that play, one for each player of a table."""


class Schedule(Protocol):
    """The blocks of a list. ``total`` is how many there are, ``played`` how many of them were."""

    total: int
    played: int

    def take(self) -> BlockKey | None:
        """The next block that was neither played nor taken; None where there is none, or none yet."""

    def add(self, key: BlockKey, games: Seats) -> None:
        """A block that was taken is played; ``games`` has a row of seats for each of its games."""

    def give_up(self, key: BlockKey) -> None:
        """A block that was taken will not be played this time: nothing waits for it."""


def make_schedule(spec: ListSpec, list: int, seed: int, roster: Mapping[str, int], store: Store) -> Schedule:
    """The schedule of a list, of which ``store`` has the blocks that were played. ``roster`` has the number of each
    engine's entry. Raises ``CallError`` when it has too few engines, or too many line-ups."""
    engines = [roster[name] for name in spec.engines]
    heroes = [roster[name] for name in spec.heroes]
    if len(engines) < 2:
        raise CallError(f"list {spec.name}: it has {len(engines) or 'no'} engine, expected at least 2")
    if spec.format == "random":
        return RandomTables(spec, list, seed, engines, store)
    return AllLineups(spec, list, seed, lineups(spec, engines, heroes), store)


def lineups(spec: ListSpec, engines: Sequence[int], heroes: Sequence[int]) -> list[Lineup]:
    """All line-ups of a list that is not random. Where there are fewer engines than players each sits as often as the
    others, or once more. Raises ``CallError``."""
    players = spec.rules.players
    if spec.format == "round-robin":
        return list(_tables(spec, engines, players))
    if spec.format == "hero":
        pairs = [(hero, other) for hero in heroes for other in engines if other != hero]
        return list(dict.fromkeys((hero, *[other] * (players - 1)) for hero, other in pairs))
    field = [engine for engine in engines if engine not in heroes]
    if spec.format == PAIR:
        one, other = heroes
        if not field:
            return shared_seats(one, other, players)
        return [(one, other, *[field[at % len(field)] for at in range(players - 2)])]
    if not field:
        raise CallError(f"list {spec.name}: all engines are heroes, expected others for them to meet")
    return [(hero, *others) for hero in heroes for others in _tables(spec, field, players - 1)]


def block_seed(seed: int, list: str, lineup: Sequence[str] = ()) -> int:
    """The seed of the blocks of a list, or of those of a line-up of it (names): 128 bits."""
    return _number(f"{seed} deals {list} {' '.join(sorted(lineup))}")


def shared_seats(one: int, other: int, players: int) -> list[Lineup]:
    """How two share a table: one of them has k seats and the other the rest, and the other way round.

    k is as near to half of them as it can be without a divisor in common with their number. Else there would be orders
    round the table in which a rotation seats both where they sat before: the same game twice.
    """
    few = max(k for k in range(1, players // 2 + 1) if math.gcd(k, players) == 1)
    lineups = [(*[a] * few, *[b] * (players - few)) for a, b in ((one, other), (other, one))]
    return lineups[:1] if 2 * few == players else lineups


def block_order(
    seed: int, list: str, lineups: Sequence[Lineup], numbers: Iterable[int]
) -> Iterator[tuple[int, Lineup]]:
    """The order in which the blocks with these numbers are played where each of ``lineups`` has one of each number."""
    for number in numbers:
        for at in _generator(f"{seed} order {list} {number}").permutation(len(lineups)).tolist():
            yield number, lineups[at]


class AllLineups:
    """The same number of blocks for each of many line-ups: all of them once, in an order by lot, then all once more."""

    def __init__(self, spec: ListSpec, list: int, seed: int, lineups: Sequence[Lineup], store: Store) -> None:
        self._list = list
        self._name = spec.name
        self._seed = seed
        self._lineups = lineups
        self._rounds = spec.blocks
        self._seen = {lineup: _Numbers() for lineup in lineups}
        self.total = spec.blocks * len(lineups)
        self.played = 0
        for key in store.played(list):
            if key.lineup in self._seen and key.number < spec.blocks:
                self._seen[key.lineup].add(key.number)
                self.played += 1
        self._next = self._blocks()

    def take(self) -> BlockKey | None:
        return next(self._next, None)

    def add(self, key: BlockKey, games: Seats) -> None:
        self.played += 1

    def give_up(self, key: BlockKey) -> None:
        pass  # nothing waits

    def _blocks(self) -> Iterator[BlockKey]:
        first = min((seen.first for seen in self._seen.values()), default=0)
        for number, lineup in block_order(self._seed, self._name, self._lineups, range(first, self._rounds)):
            if number not in self._seen[lineup]:
                yield BlockKey(self._list, number, lineup)


class RandomTables:
    """Tables drawn by lot, a generation at a time.

    With adaptive pairing those come first of whom there is most to learn (``pairing``), by the results of generations
    at least ``LAG`` before; else those who have sat least.
    """

    def __init__(self, spec: ListSpec, list: int, seed: int, engines: Sequence[int], store: Store) -> None:
        self._list = list
        self._seed = seed
        self._name = spec.name
        self._engines = engines
        self._players = spec.rules.players
        self._size = spec.generation
        self._store = store
        self.total = spec.blocks
        known = {key.number: key.lineup for key in store.played(list) if key.number < spec.blocks}
        self.played = len(known)
        self._known = known  # the line-ups of blocks that were played before, of generations that are not drawn yet
        self._drawn = 0  # generations
        self._missing: dict[int, int] = {}  # how many blocks, of each generation that lacks some
        self._waiting: deque[BlockKey] = deque()
        self._sat = dict.fromkeys(engines, 0)
        self._adaptive = spec.pairing == "adaptive" and self._players % len(engines) > 1
        self._skills = unknown(len(engines))  # by the results of generations that the next one may know
        self._results: dict[int, dict[int, _Result]] = {}  # of those that it may not know
        self._pending: deque[Sequence[Lineup]] = deque(maxlen=LAG - 1)  # their tables
        self._loaded = not known

    def take(self) -> BlockKey | None:
        if not self._loaded and self.played < self.total:
            self._load()
        while not self._waiting:
            if not self._drawable(self._drawn):
                return None
            self._draw_generation()
        return self._waiting.popleft()

    def add(self, key: BlockKey, games: Seats) -> None:
        self.played += 1
        self._keep(key, games)
        self.give_up(key)

    def give_up(self, key: BlockKey) -> None:
        generation = key.number // self._size
        self._missing[generation] -= 1
        if not self._missing[generation]:
            del self._missing[generation]

    def _load(self) -> None:
        """Draws what was drawn before, as far as there are results."""
        self._loaded = True
        if self._adaptive:
            for key, games in self._store.results(self._list):
                generation = key.number // self._size
                while self._drawn <= generation and self._drawable(self._drawn):
                    self._draw_generation()
                self._keep(key, games)

    def _drawable(self, generation: int) -> bool:
        there = generation * self._size < self.total
        return there and not any(missing <= generation - LAG for missing in self._missing)

    def _keep(self, key: BlockKey, games: Seats) -> None:
        if self._adaptive and key.number < self.total:
            of_generation = self._results.setdefault(key.number // self._size, {})
            of_generation[key.number] = _result(games, self._engines)

    def _draw_generation(self) -> None:
        for _, (table, places) in sorted(self._results.pop(self._drawn - LAG, {}).items()):
            if len(table) > 1:
                self._skills = self._skills.after(table, places)
        first = self._drawn * self._size
        numbers = range(first, min(first + self._size, self.total))
        drawing = self._adaptive and any(number not in self._known for number in numbers)
        skills = self._skills
        if drawing:
            skills = self._awaiting(skills, [lineup for lineups in self._pending for lineup in lineups])
        lineups = []
        for number in numbers:
            lineup = self._known.pop(number, None)
            if lineup is None:
                lineup = self._draw(number, skills)
                self._waiting.append(BlockKey(self._list, number, lineup))
                self._missing[self._drawn] = self._missing.get(self._drawn, 0) + 1
            if drawing:
                skills = self._awaiting(skills, [lineup])
            for engine in lineup:
                self._sat[engine] = self._sat.get(engine, 0) + 1
            lineups.append(lineup)
        self._pending.append(lineups)
        self._drawn += 1

    def _draw(self, number: int, skills: Skills) -> Lineup:
        everybody, rest = divmod(self._players, len(self._engines))
        if self._adaptive:
            chosen = next_table(skills, rest, (block_seed(self._seed, self._name), number))
        else:
            lots = _generator(f"{self._seed} tables {self._name} {number}").random(len(self._engines)).tolist()
            order = sorted(range(len(lots)), key=lambda at: (self._sat[self._engines[at]], lots[at]))
            chosen = sorted(order[:rest])
        some = [self._engines[at] for at in chosen]
        return (*some, *[engine for engine in self._engines for _ in range(everybody)])

    def _awaiting(self, skills: Skills, lineups: Sequence[Lineup]) -> Skills:
        """``skills`` as if blocks had ended as expected; engines that take part no more are left out."""
        tables = [[at for at, engine in enumerate(self._engines) if engine in lineup] for lineup in lineups]
        return skills.awaiting(table for table in tables if len(table) > 1)


_Result = tuple[list[int], list[float]]
"""Who played in a block, as ``Skills`` count them, and their mean places."""


def _result(games: Seats, engines: Sequence[int]) -> _Result:
    places: dict[int, list[int]] = {}
    columns = [games[name].ravel().tolist() for name in ("entry", "place", "counted")]
    for entry, place, counted in zip(*columns, strict=True):
        if counted:
            places.setdefault(entry, []).append(place)
    seated = sorted((engines.index(entry), entry) for entry in places if entry in engines)
    return [at for at, _ in seated], [sum(places[entry]) / len(places[entry]) for _, entry in seated]


class _Numbers:
    """A set of numbers of which most are those below ``first``."""

    __slots__ = ("_others", "first")

    def __init__(self) -> None:
        self.first = 0
        self._others: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number < self.first or number in self._others

    def add(self, number: int) -> None:
        self._others.add(number)
        while self.first in self._others:
            self._others.remove(self.first)
            self.first += 1


def _tables(spec: ListSpec, engines: Sequence[int], seats: int) -> Iterator[Lineup]:
    everybody, rest = divmod(seats, len(engines))
    if math.comb(len(engines), rest) > MOST_LINEUPS:
        raise CallError(
            f"list {spec.name}: {len(engines)} engines at tables of {spec.rules.players} have "
            f"{math.comb(len(engines), rest):,} line-ups, at most {MOST_LINEUPS:,} are played: expected format random"
        )
    for some in combinations(engines, rest):
        yield (*some, *[engine for engine in engines for _ in range(everybody)])


def _generator(text: str) -> Generator:
    return Generator(PCG64(_number(text)))


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
