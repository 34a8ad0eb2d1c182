"""A run: the blocks that a ladder lacks are played, and each is kept when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from caboose.arena.blocks import Plan
from caboose.arena.errors import CallError, PlayError, reason
from caboose.arena.executors import Executor, Task
from caboose.arena.ladder.books import Book
from caboose.arena.ladder.config import LadderSpec, ListSpec
from caboose.arena.ladder.folder import DATABASE, LOGS
from caboose.arena.ladder.identity import Identity, changes, identify
from caboose.arena.ladder.left_out import LeftOut
from caboose.arena.ladder.rows import FaultRow, Seats, fault_rows, seat_rows
from caboose.arena.ladder.schedule import Schedule, block_seed, make_schedule
from caboose.arena.ladder.store import BlockKey, Entry, ListRow, Store
from caboose.arena.lineup import Lineup
from caboose.arena.results import Played
from caboose.arena.scaling import HERE, measure_speed
from caboose.protocol.launch import SandboxError, check_sandbox

REFERENCE: Final = "reference speed"  # among the settings of the database


class Watcher(Protocol):
    """Somebody who follows a run."""

    def begin(self, run: Run) -> None:
        """It is going to play."""

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, key: BlockKey, games: Sequence[Seats], faults: Sequence[FaultRow]) -> None:
        """A block was played and is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """When a run ends before all is played: after so many ``blocks``, or so many ``seconds`` after it began. What was
    begun by then is played to its end."""

    blocks: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class OpenList:
    """A list that is played: what it is, and its blocks."""

    spec: ListSpec
    row: ListRow
    schedule: Schedule


@dataclass(slots=True)
class Run:
    """A ladder that is ready to be played: ``roster`` has the entry of each engine, and ``entries`` all that ever were,
    by number. ``news`` are changes that people should know of."""

    folder: Path
    spec: LadderSpec
    store: Store
    roster: Mapping[str, Entry]
    lists: Sequence[OpenList]
    entries: Mapping[int, Entry]
    played: Mapping[str, Played] = field(default_factory=dict)
    news: Sequence[str] = ()

    @property
    def left(self) -> int:
        """How many blocks are not played."""
        return sum(each.schedule.total - each.schedule.played for each in self.lists)

    def plan(self, spec: ListSpec, key: BlockKey) -> Plan:
        """How a block is played."""
        names = [self.entries[entry].name for entry in dict.fromkeys(key.lineup)]
        numbers = {entry: number for number, entry in enumerate(dict.fromkeys(key.lineup))}
        contestants = tuple([self.spec.engine(name).contestant(self.folder) for name in names])
        seats = () if spec.format == "random" else [self.entries[entry].name for entry in key.lineup]
        return Plan(
            rules=spec.rules,
            lineup=Lineup(contestants, tuple([numbers[entry] for entry in key.lineup])),
            control=spec.control,
            seed=block_seed(self.spec.seed, spec.name, seats),
            on_fault=spec.on_fault,
            crashed=spec.crashed,
            in_process=self.spec.in_process,
            recording=self.spec.records,
            logs=self.folder / LOGS / spec.name / "+".join(seats) if self.spec.logs else None,
        )


def prepare(folder: Path, spec: LadderSpec, store: Store) -> Run:
    """Makes a ladder ready to be played: looks at every engine, and keeps those that are new or have changed. Raises
    ``CallError`` and ``RunError``."""
    if not spec.lists:
        raise CallError(f"{folder}: there is no list in it yet: expected one, by `caboose ladder add-list`")
    if store.meta("seed") != str(spec.seed):
        raise CallError(f"{folder}: the seed has changed since the ladder was made: expected {store.meta('seed')}")
    if any(engine.sandbox for engine in spec.engines):
        try:
            check_sandbox()
        except SandboxError as error:
            raise CallError(f"sandbox: {error}") from None
    taking_part = {name for each in spec.lists for name in each.engines}
    startup = max(each.control.startup for each in spec.lists)
    found = {engine.name: identify(engine, startup, folder) for engine in spec.engines if engine.name in taking_part}
    check_lists(folder, spec, store)
    news: list[str] = []
    roster = {name: _entry(store, name, identity, news) for name, identity in found.items()}
    numbers = {name: entry.id for name, entry in roster.items()}
    rows = {row.name: row for row in store.lists()}
    lists = []
    for each in spec.lists:
        row = rows.get(each.name) or store.add_list(each.name, each.rules.players, each.setup())
        lists.append(OpenList(each, row, make_schedule(each, row.id, spec.seed, numbers, store)))
    entries = {entry.id: entry for entry in store.entries()}
    played = {name: identity.played for name, identity in found.items()}
    return Run(folder, spec, store, roster, lists, entries, played, news)


def check_lists(folder: Path, spec: LadderSpec, store: Store) -> None:
    """Raises ``CallError`` for a list whose games would not go together with those that are kept."""
    rows = {row.name: row for row in store.lists()}
    for each in spec.lists:
        row = rows.get(each.name)
        if row is not None and row.setup != each.setup():
            raise CallError(
                f"{folder}: list {each.name} has changed since its first block "
                f"({_difference(row.setup, each.setup())}): expected what it was, or another name"
            )


def play(
    run: Run, executor: Executor, limit: Limit, watcher: Watcher, enough: Callable[[], bool] = lambda: False
) -> str:
    """Plays what is left with ``executor``, and closes it; or until ``enough``, which is asked after each block: then
    what is being played is given up. Returns why it ended early or what it left out, or nothing; in any case what
    was played is kept. Raises ``RunError`` when what was played cannot be kept."""
    by_number = {each.row.id: each for each in run.lists}
    begun: dict[Task, BlockKey] = {}
    books: dict[int, Book] = {}
    left_out = LeftOut(run.store)
    with ExitStack() as stack:
        if run.spec.records:
            for each in run.lists:
                book = Book(run.folder, each.spec.name, run.store.record_end(each.row.id))
                books[each.row.id] = stack.enter_context(book)

        def tasks() -> Iterator[Task | None]:
            end = None if limit.seconds is None else time.monotonic() + limit.seconds
            taken = 0
            while (limit.blocks is None or taken < limit.blocks) and (end is None or time.monotonic() < end):
                key = None if enough() else _next(run.lists)
                if key is not None:
                    each = by_number[key.list]
                    task = Task(run.plan(each.spec, key), key.number)
                    if task.plan.logs is not None:
                        task.plan.logs.mkdir(parents=True, exist_ok=True)
                    if key.list in books:
                        names = [contestant.label for contestant in task.plan.lineup.contestants]
                        books[key.list].begin(task, tuple([run.played[name] for name in names]))
                    begun[task] = key
                    taken += 1
                    yield task
                elif begun:
                    yield None
                else:
                    return

        def give_up(task: Task, why: str) -> None:
            key = begun.pop(task)
            if key.list in books:
                books[key.list].forget(task)
            left_out.add(key, why)
            by_number[key.list].schedule.give_up(key)

        try:
            watcher.begin(run)
            with executor:
                for task, result in executor.run(tasks(), watcher.game_over, give_up):
                    key = begun.pop(task)
                    games = [seat_rows(game, key.lineup) for game in result.games]
                    faults = fault_rows(result)
                    span = books[key.list].write(task, result) if key.list in books else None
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    run.store.commit(key, games, faults, finished=now, record=span, scale=result.scale)
                    left_out.played(key)
                    by_number[key.list].schedule.add(key, np.stack(games))
                    watcher.block_over(key, games, faults)
                    if enough():
                        break
        except KeyboardInterrupt:
            return "interrupted"
        except (OSError, PlayError) as error:
            return reason(error)
    return "; ".join(left_out.told(new=True))


def reference_speed(run: Run, given: float | str | None) -> float | None:
    """The speed in nodes a second to which limits of time are scaled, if they are: that which the ladder keeps, else
    ``given``, a number or ``scaling.HERE``, which is kept from then on. Raises ``CallError`` where they differ."""
    kept = float(run.store.meta(REFERENCE) or 0)
    speed = kept if given is None or (kept and given == HERE) else measure_speed() if given == HERE else float(given)
    if kept and speed != kept:
        raise CallError(
            f"{run.folder}: limits of time are scaled to {kept:,.0f} nodes/s here: expected that, not {speed:,.0f}"
        )
    if speed and not kept:
        speed = float(round(speed))
        run.store.set_meta(REFERENCE, str(speed))
    return speed or None


def open_store(folder: Path, *, writing: bool = False) -> Store:
    """The database of a ladder. Raises ``RunError``."""
    return Store.open(folder / DATABASE, writing=writing)


def _next(lists: Sequence[OpenList]) -> BlockKey | None:
    """The next block, of the list of which the smallest part is played."""
    for each in sorted(lists, key=lambda each: each.schedule.played / max(each.schedule.total, 1)):
        key = each.schedule.take()
        if key is not None:
            return key
    return None


def _entry(store: Store, name: str, identity: Identity, news: list[str]) -> Entry:
    """The entry of an engine as it is now, which is a new one if it is not the same as ever before."""
    editions = [entry for entry in store.entries() if entry.name == name]
    for entry in editions:
        if entry.identity == identity.text:
            return entry
    about = identity.played
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = Entry(0, name, 0, identity.text, about.builtin, about.engine, about.version, about.author, now)
    entry = store.add_entry(new)
    if editions:
        what = changes(editions[-1].identity, identity.text)
        news.append(f"{name} has changed ({what}): from now on it counts as another entry, {entry.label}")
    return entry


def _difference(before: str, after: str) -> str:
    pairs = zip(before.split(" | "), after.split(" | "), strict=False)
    return "; ".join(f"{old} -> {new}" for old, new in pairs if old != new)
