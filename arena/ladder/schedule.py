"""Which blocks a list has, and in which order they are played.

What a block is follows from the seed, the list and the number of the block, and for adaptive pairing from the results
of blocks long before it; so does who plays no more since it fails. A ladder that was killed and goes on plays what it
would have played.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, Protocol

from caboose.arena.blocks.block_order import Lineup, block_order, block_seed, shared_seats, text_generator
from caboose.arena.blocks.game_rows import Seats
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import PAIR, ListSpec
from caboose.arena.ladder.duplicate_blocks import same
from caboose.arena.ladder.set_aside import Aside, FaultTally, lost_games
from caboose.arena.ladder.store import BlockKey, Store
from caboose.arena.stats.matchmaking import Skills, next_table, unknown

MOST_LINEUPS: Final = 100_000
LAG: Final = 2  # what is played follows from the results of generations at least that much before: nobody waits


class Schedule(Protocol):
    """The blocks of a list. ``total`` is how many there are, ``played`` how many of them were. ``skipped`` are those
    that were not played, so far, since somebody in them does not start or is set aside."""

    total: int
    played: int
    skipped: int

    def take(self) -> BlockKey | None:
        """The next block that was neither played nor taken; None where there is none, or none yet."""

    def add(self, key: BlockKey, games: Seats) -> None:
        """A block that was taken is played; ``games`` has a row of seats for each of its games."""

    def give_up(self, key: BlockKey) -> None:
        """A block that was taken will not be played this time: nothing waits for it."""

    def aside(self) -> Sequence[Aside]:
        """Who is set aside, as far as the blocks that were taken follow from it."""


def make_schedule(
    spec: ListSpec, list: int, seed: int, roster: Mapping[str, int], store: Store, absent: Collection[int] = ()
) -> Schedule:
    """The schedule of a list, of which ``store`` has the blocks that were played. ``roster`` has the number of each
    engine's entry; blocks with those that are ``absent`` are left for another time. Raises ``CallError`` when the list
    has too few engines, or too many line-ups."""
    engines = [roster[name] for name in spec.engines]
    heroes = [roster[name] for name in spec.heroes]
    if len(engines) < 2:
        raise CallError(f"list {spec.name}: it has {len(engines) or 'no'} engine, expected at least 2")
    if spec.format == "random":
        return RandomTables(spec, list, seed, engines, store, absent)
    return AllLineups(spec, list, seed, lineups(spec, engines, heroes), store, absent)


def count_blocks(spec: ListSpec) -> int:
    """How many blocks a list has. Raises ``CallError`` where ``make_schedule`` would."""
    roster = {name: number for number, name in enumerate(spec.engines)}
    return make_schedule(spec, 0, 0, roster, Store.empty()).total


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


class AllLineups:
    """The same number of blocks for each of many line-ups: all of them once, in an order by lot, then all once more.

    A block was played in whatever order its line-up was named. Whether somebody is set aside when it is the turn of a
    block follows from the results of the blocks at least ``LAG`` generations before it in that order.
    """

    def __init__(
        self,
        spec: ListSpec,
        list: int,
        seed: int,
        lineups: Sequence[Lineup],
        store: Store,
        absent: Collection[int] = (),
    ) -> None:
        self._list = list
        self._name = spec.name
        self._seed = seed
        unique: dict[Lineup, Lineup] = {}
        for lineup in lineups:
            unique.setdefault(same(lineup), lineup)
        self._lineups = [*unique.values()]
        self._rounds = spec.blocks
        self._lag = LAG * spec.generation
        self._store = store
        self._absent = frozenset(absent)
        self._seen = {which: _Numbers() for which in unique}
        self._tally = FaultTally(spec.set_aside)
        self._lost: dict[_Block, dict[int, int]] = {}
        self._flying: set[_Block] = set()
        self._known: set[_Block] = set()  # of these the ones whose result may be known
        self.total = spec.blocks * len(self._lineups)
        self.played = 0
        self.skipped = 0
        for key in store.played(list):
            seen = self._seen.get(same(key.lineup))
            if seen is not None and key.number < spec.blocks and key.number not in seen:
                seen.add(key.number)
                self.played += 1
        self._next = self._blocks()

    def take(self) -> BlockKey | None:
        return next(self._next, None)

    def add(self, key: BlockKey, games: Seats) -> None:
        block, lost = (key.number, same(key.lineup)), lost_games(games)
        self.played += 1
        self._seen[block[1]].add(key.number)
        if lost:
            self._lost[block] = lost
        known = block in self._known
        self.give_up(key)
        if known:
            self._tally.add(block[1], lost)

    def give_up(self, key: BlockKey) -> None:
        block = key.number, same(key.lineup)
        self._flying.discard(block)
        if block in self._known:
            self._known.remove(block)
            self._tally.end(block[1])

    def aside(self) -> Sequence[Aside]:
        return self._tally.found()

    def _blocks(self) -> Iterator[BlockKey | None]:
        """The blocks that are left; None where the next one follows from one that is being played."""
        before: deque[_Block] = deque()  # the last ones, whose results may not be known
        idle, most_idle = 0, 2 * len(self._lineups) + self._lag
        for number, lineup in block_order(self._seed, self._name, self._lineups, range(self._first(), self._rounds)):
            block = number, same(lineup)
            if self._tally.most and len(before) == self._lag:
                self._know(before.popleft())
            if number in self._seen[block[1]]:
                idle = 0
            else:
                while (out := self._out(lineup)) is None:
                    yield None
                if out:
                    self.skipped += 1
                    idle += 1
                else:
                    idle = 0
                    self._flying.add(block)
                    yield BlockKey(self._list, number, lineup)
            if self._tally.most:
                before.append(block)
            if idle > most_idle:  # nobody can play any more, unless one of those that do changes that
                if not self._flying:
                    self.skipped = self.total - self.played
                    return
                while self._flying:
                    yield None
                idle = 0

    def _first(self) -> int:
        """The number from which on the blocks are looked at. What was lost before is known then."""
        first = min((seen.first for seen in self._seen.values()), default=0)
        if not self._tally.most:
            return first
        for key, entry, games in self._store.lost(self._list):
            self._lost.setdefault((key.number, same(key.lineup)), {})[entry] = games
        first = max(first - math.ceil(self._lag / len(self._lineups)), 0)
        for which in self._seen:
            self._tally.add(which, {}, first)
        for (number, which), lost in self._lost.items():
            if number < first and which in self._seen:
                self._tally.lost.update(lost)
        return first

    def _know(self, block: _Block) -> None:
        """The result of a block may be known from now on, or when there is one."""
        number, which = block
        if block in self._flying:
            self._known.add(block)
            self._tally.begin(which)
        elif number in self._seen[which]:
            self._tally.add(which, self._lost.get(block, {}))

    def _out(self, lineup: Lineup) -> bool | None:
        """Whether a block is not played; None where nobody knows yet."""
        if not self._absent.isdisjoint(lineup):
            return True
        aside = [self._tally.aside(entry) for entry in lineup]
        return True if True in aside else None if None in aside else False


_Block = tuple[int, Lineup]
"""The number of a block and its line-up in whatever order."""


class RandomTables:
    """Tables drawn by lot, a generation at a time.

    With adaptive pairing those come first of whom there is most to learn (``pairing``), by the results of generations
    at least ``LAG`` before; else those who have sat least. By the same results those that fail are set aside.
    """

    def __init__(
        self, spec: ListSpec, list: int, seed: int, engines: Sequence[int], store: Store, absent: Collection[int] = ()
    ) -> None:
        self._list = list
        self._seed = seed
        self._name = spec.name
        self._engines = engines
        self._players = spec.rules.players
        self._size = spec.generation
        self._store = store
        self._absent = frozenset(absent)
        self._tally = FaultTally(spec.set_aside)
        self._ended: dict[int, dict[int, tuple[Lineup, dict[int, int]]]] = {}  # blocks that it does not know yet
        self.total = spec.blocks
        self.skipped = 0
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
            if self._over() and not (self._known or self._missing or self._ended):
                self.skipped = self.total - self.played
                return None
            self._draw_generation()
        return self._waiting.popleft()

    def add(self, key: BlockKey, games: Seats) -> None:
        self.played += 1
        self._keep(key, games, lost_games(games))
        self.give_up(key)

    def aside(self) -> Sequence[Aside]:
        return [each for each in self._tally.found() if each.entry in self._engines]

    def give_up(self, key: BlockKey) -> None:
        generation = key.number // self._size
        self._missing[generation] -= 1
        if not self._missing[generation]:
            del self._missing[generation]

    def _load(self) -> None:
        """Draws what was drawn before, as far as there are results."""
        self._loaded = True
        results: Iterable[tuple[BlockKey, Seats | None]] = ()
        if self._adaptive:
            results = self._store.results(self._list)
        elif self._tally.most:
            results = ((key, None) for key in self._store.played(self._list))
        lost: dict[int, dict[int, int]] = {}
        for key, entry, count in self._store.lost(self._list):
            lost.setdefault(key.number, {})[entry] = count
        for key, games in results:
            generation = key.number // self._size
            while self._drawn <= generation and self._drawable(self._drawn):
                self._draw_generation()
            self._keep(key, games, lost.get(key.number, {}))

    def _drawable(self, generation: int) -> bool:
        there = generation * self._size < self.total
        return there and not any(missing <= generation - LAG for missing in self._missing)

    def _keep(self, key: BlockKey, games: Seats | None, lost: dict[int, int]) -> None:
        if key.number >= self.total:
            return
        generation = key.number // self._size
        if self._adaptive or self._tally.most:
            self._ended.setdefault(generation, {})[key.number] = key.lineup, lost
        if self._adaptive and games is not None:
            self._results.setdefault(generation, {})[key.number] = _result(games, self._engines)

    def _over(self) -> bool:
        """Whether no table can be drawn at which all can play."""
        seated = self._seated()
        if len(seated) < 2:
            return True
        there = sum(self._engines[at] not in self._absent for at in seated)
        everybody, rest = divmod(self._players, len(seated))
        return there < len(seated) if everybody else there < rest

    def _seated(self) -> Sequence[int]:
        """The places among the engines of those that are not set aside."""
        return [at for at, engine in enumerate(self._engines) if not self._tally.aside(engine)]

    def _draw_generation(self) -> None:
        for ended, lost in self._ended.pop(self._drawn - LAG, {}).values():
            self._tally.add(ended, lost)
        for _, (table, places) in sorted(self._results.pop(self._drawn - LAG, {}).items()):
            if len(table) > 1:
                self._skills = self._skills.after(table, places)
        first = self._drawn * self._size
        numbers = range(first, min(first + self._size, self.total))
        drawing = self._adaptive and any(number not in self._known for number in numbers)
        skills, over = self._skills, self._over()
        if drawing:
            skills = self._awaiting(skills, [lineup for lineups in self._pending for lineup in lineups])
        lineups = []
        for number in numbers:
            lineup = self._known.pop(number, None)
            if lineup is None:
                if over:
                    self.skipped += 1
                    continue
                lineup = self._draw(number, skills)
                if self._absent.isdisjoint(lineup):
                    self._waiting.append(BlockKey(self._list, number, lineup))
                    self._missing[self._drawn] = self._missing.get(self._drawn, 0) + 1
                else:
                    self.skipped += 1
            if drawing:
                skills = self._awaiting(skills, [lineup])
            for engine in lineup:
                self._sat[engine] = self._sat.get(engine, 0) + 1
            lineups.append(lineup)
        self._pending.append(lineups)
        self._drawn += 1

    def _draw(self, number: int, skills: Skills) -> Lineup:
        seated = self._seated()
        everybody, rest = divmod(self._players, len(seated))
        if self._adaptive and rest > 1:
            out = [at for at in range(len(self._engines)) if at not in seated]
            # Of these nothing is learned, or not yet, so that they would be drawn most.
            even = [at for at in seated if self._tally.fails(self._engines[at]) or self._engines[at] in self._absent]
            seed = (block_seed(self._seed, self._name), number)
            chosen = next_table(skills, rest, seed, out=out, even=even)
        else:
            lots = text_generator(f"{self._seed} tables {self._name} {number}").random(len(self._engines)).tolist()
            order = sorted(seated, key=lambda at: (self._sat[self._engines[at]], lots[at]))
            chosen = sorted(order[:rest])
        some = [self._engines[at] for at in chosen]
        return (*some, *[self._engines[at] for at in seated for _ in range(everybody)])

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
