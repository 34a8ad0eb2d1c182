"""A run: the blocks that a ladder lacks are played, and each is kept when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from caboose.arena import caboose_version
from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.block_order import block_seed
from caboose.arena.blocks.contestants import Lineup
from caboose.arena.blocks.game_rows import FaultRow, Seats, fault_rows, seat_rows
from caboose.arena.blocks.results import Played
from caboose.arena.blocks.time_scaling import HERE, measure_speed
from caboose.arena.config.engine_identity import Identity, changes, identify
from caboose.arena.errors import CallError, PlayError, RunError, cause, reason
from caboose.arena.execution.executors import Executor, Task
from caboose.arena.ladder.config import FILE, PAIR, LadderSpec, ListSpec, read_spec
from caboose.arena.ladder.list_setups import check_lists
from caboose.arena.ladder.notices import aside_text, keep_absent, keep_aside, kept_aside, notices
from caboose.arena.ladder.record_files import Book
from caboose.arena.ladder.schedule import Schedule, make_schedule
from caboose.arena.ladder.skipped_blocks import LeftOut
from caboose.arena.ladder.store import BlockKey, Entry, ListRow, Store
from caboose.arena.storage.ladder_folder import DATABASE, LOGS, RECORDS
from caboose.protocol.process.launch import SandboxError, check_sandbox

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
    by number. ``news`` are changes that people should know of; more may come while it plays. ``absent`` has those that
    do not start, and what is told of them."""

    folder: Path
    spec: LadderSpec
    store: Store
    roster: Mapping[str, Entry]
    lists: Sequence[OpenList]
    entries: Mapping[int, Entry]
    played: Mapping[str, Played] = field(default_factory=dict)
    news: list[str] = field(default_factory=list)
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """How many blocks are not played, without those that are known to be skipped."""
        return sum(each.schedule.total - each.schedule.played - each.schedule.skipped for each in self.lists)

    def plan(self, spec: ListSpec, key: BlockKey) -> Plan:
        """How a block is played."""
        names = [self.entries[entry].name for entry in dict.fromkeys(key.lineup)]
        numbers = {entry: number for number, entry in enumerate(dict.fromkeys(key.lineup))}
        contestants = tuple([self.spec.engine(name).contestant(self.folder) for name in names])
        seats = () if spec.format == "random" else [self.entries[entry].name for entry in key.lineup]
        dealt = [self.spec.engine(name).dealt for name in seats]
        return Plan(
            rules=spec.rules,
            lineup=Lineup(contestants, tuple([numbers[entry] for entry in key.lineup])),
            control=spec.control,
            seed=block_seed(self.spec.seed, spec.name, dealt),
            on_fault=spec.on_fault,
            crashed=spec.crashed,
            in_process=self.spec.in_process,
            recording=self.spec.records,
            logs=self.folder / LOGS / spec.name / "+".join(seats) if self.spec.logs else None,
        )


def prepare(folder: Path, spec: LadderSpec, store: Store, *, leave_out: bool = False) -> Run:
    """Makes a ladder ready to be played: looks at every engine, and keeps those that are new or have changed. With
    ``leave_out`` engines that do not start are left out, as long as two do. Raises ``CallError`` and ``RunError``."""
    if not spec.lists:
        raise CallError(f"{folder}: there is no list in it yet: expected one, by `caboose ladder add-list`")
    store.end_renaming([engine.name for engine in spec.engines])
    if store.meta("seed") != str(spec.seed):
        raise CallError(f"{folder}: the seed has changed since the ladder was made: expected {store.meta('seed')}")
    if any(engine.sandbox for engine in spec.engines):
        try:
            check_sandbox()
        except SandboxError as error:
            raise CallError(f"sandbox: {error}") from None
    found, absent = _identities(folder, spec, leave_out)
    check_lists(folder, spec, store)
    if leave_out:
        keep_absent(store, absent)
    news = notices(store) if store.twice() else []
    roster = {name: _entry(store, name, identity, news) for name, identity in found.items()}
    # Who does not start is taken for what it was: so line-ups are what they are when it does.
    numbers = {name: -1 - at for at, name in enumerate(absent)}
    numbers |= {entry.name: entry.id for entry in store.entries() if entry.name in absent}
    away = frozenset(numbers.values())
    numbers |= {name: entry.id for name, entry in roster.items()}
    rows = {row.name: row for row in store.lists()}
    lists = []
    for each in spec.lists:
        row, setup = rows.get(each.name), each.setup()
        if row is None:
            row = store.add_list(each.name, each.rules.players, setup)
        elif row.setup != setup:
            store.change_list(row.id, each.rules.players, setup)
            row = replace(row, players=each.rules.players, setup=setup)
        ordered = _in_order(store, row, each)
        lists.append(OpenList(ordered, row, make_schedule(ordered, row.id, spec.seed, numbers, store, away)))
    entries = {entry.id: entry for entry in store.entries()}
    played = {name: identity.played for name, identity in found.items()}
    return Run(folder, spec, store, roster, lists, entries, played, news, absent)


def _identities(folder: Path, spec: LadderSpec, leave_out: bool) -> tuple[dict[str, Identity], dict[str, str]]:
    """The engines of all lists as they are, and those that do not start, with what is told of them."""
    taking_part = {name for each in spec.lists for name in each.engines}
    startup = max(each.control.startup for each in spec.lists)
    found, absent = {}, {}
    for engine in spec.engines:
        if engine.name not in taking_part:
            continue
        try:
            found[engine.name] = identify(engine, startup, folder)
        except RunError as error:
            if not leave_out:
                raise
            absent[engine.name] = str(error)
    if absent and len(found) < 2:
        raise RunError(
            f"{folder}: {len(found) or 'no'} engine starts, expected at least 2. {'; '.join(absent.values())}"
        )
    return found, absent


def _in_order(store: Store, row: ListRow, spec: ListSpec) -> ListSpec:
    """A list with its engines in the order in which they came to it, whatever their order is in the file now: so the
    line-ups stay what they are."""
    if spec.format == PAIR:
        return spec
    kept = store.order(row.id)
    order = [*kept, *[name for name in spec.engines if name not in kept]]
    if len(order) > len(kept):
        store.set_order(row.id, order)
    return replace(
        spec,
        engines=tuple(sorted(spec.engines, key=order.index)),
        heroes=tuple(sorted(spec.heroes, key=order.index)),
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
    aside = dict(kept_aside(run.store))
    with ExitStack() as stack:
        if run.spec.records:
            for each in run.lists:
                book = Book(run.folder, each.spec.name, run.store.record_end(each.row.id))
                books[each.row.id] = stack.enter_context(book)

        def tell_aside(each: OpenList) -> None:
            found, before = each.schedule.aside(), aside.get(each.spec.name, ())
            if [*found] != [*before]:
                keep_aside(run.store, each.row.id, found)
                aside[each.spec.name] = found
                known = {one.entry for one in before}
                labels = {one: entry.label for one, entry in run.entries.items()}
                run.news += [aside_text(each.spec.name, labels[e.entry], e) for e in found if e.entry not in known]

        def tasks() -> Iterator[Task | None]:
            end = None if limit.seconds is None else time.monotonic() + limit.seconds
            taken = 0
            while (limit.blocks is None or taken < limit.blocks) and (end is None or time.monotonic() < end):
                key = None if enough() else _next(run.lists)
                for each in [by_number[key.list]] if key else [one for one in run.lists if one.schedule.skipped]:
                    tell_aside(each)
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
    """The database of a ladder. Where there is none yet beside its description, one is made for ``writing``, and
    otherwise an empty one is read. Raises ``RunError``, and ``CallError`` for a wrong description."""
    path = folder / DATABASE
    if path.exists() or not (folder / FILE).is_file():
        return Store.open(path, writing=writing)
    meta = new_meta(read_spec(folder).seed)
    try:
        if (folder / RECORDS).is_dir() and any((folder / RECORDS).iterdir()):
            raise RunError(
                f"{folder}: there are games in {RECORDS}/, but no {DATABASE} that tells which they are: expected both, "
                "or neither"
            )
        if writing:
            Store.create(path, meta)
            return Store.open(path, writing=True)
    except OSError as error:
        raise RunError(f"{folder}: {cause(error)}") from None
    return Store.empty(path, meta)


def new_meta(seed: int) -> dict[str, str]:
    """The settings of a new database."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"seed": str(seed), "created": now, "caboose": caboose_version()}


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
