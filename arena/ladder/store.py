"""All results of a ladder, in one SQLite database: a row for each game, a block in one piece.

Whatever ends the process, a block is there whole or not at all. The columns are told in ``docs/guides/ladder.md``.

A block that was played twice, as earlier Cabooses did when engines changed their order, is read once: a view without
the second one stands before the table ``blocks``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from caboose.arena.blocks.game_rows import SEAT, FaultRow, Seats
from caboose.arena.errors import RunError
from caboose.arena.ladder.duplicate_blocks import hide_twice, lineup_of, lineup_text
from caboose.arena.storage.sqlite import create_database, damaged, open_database, told
from caboose.protocol.referee.referee import Fault

APPLICATION: Final = 0x4361624C  # "CabL", by which a database is known to be a ladder's
SCHEMA: Final = 1
CHUNK: Final = 20_000  # games that are read at once
_CACHE: Final = -16_384  # KiB
_IN_MEMORY: Final = ":memory:"
_RENAMING: Final = "renaming"
_ORDER: Final = "order of list "  # of engines; a setting for each list

Integers = npt.NDArray[np.int64]

_TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, edition INTEGER NOT NULL, identity TEXT NOT NULL, builtin TEXT NOT NULL,
    engine TEXT NOT NULL, version TEXT NOT NULL, author TEXT NOT NULL, since TEXT NOT NULL, UNIQUE (name, edition)
);
CREATE TABLE lists (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, players INTEGER NOT NULL, setup TEXT NOT NULL);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists, number INTEGER NOT NULL, lineup TEXT NOT NULL,
    finished TEXT NOT NULL, record INTEGER, length INTEGER, UNIQUE (list, number, lineup)
);
CREATE TABLE games (
    block INTEGER NOT NULL REFERENCES blocks, game INTEGER NOT NULL, seats BLOB NOT NULL, PRIMARY KEY (block, game)
) WITHOUT ROWID;
CREATE TABLE faults (
    block INTEGER NOT NULL REFERENCES blocks, game INTEGER NOT NULL, seat INTEGER NOT NULL, entry INTEGER NOT NULL,
    kind TEXT NOT NULL, detail TEXT NOT NULL, round INTEGER NOT NULL, decision INTEGER NOT NULL,
    replayed INTEGER NOT NULL
);
CREATE INDEX faults_of_block ON faults (block);
"""

# Only where it is needed, so that a Caboose that does not know it can use the others.
_SCALES: Final = """
CREATE TABLE IF NOT EXISTS scales (block INTEGER PRIMARY KEY REFERENCES blocks, factor REAL NOT NULL)
"""

_KINDS: Final = {"i": int, "s": str}


@dataclass(frozen=True, slots=True)
class Entry:
    """An engine as it played, from ``since`` (ISO 8601, UTC) on. The first of its name has ``edition`` 1."""

    id: int
    name: str
    edition: int
    identity: str
    builtin: str
    engine: str
    version: str
    author: str
    since: str

    @property
    def label(self) -> str:
        """What it is called, which is the same as long as the ladder lasts."""
        return self.name if self.edition == 1 else f"{self.name}#{self.edition}"


@dataclass(frozen=True, slots=True)
class ListRow:
    """A list whose games are kept."""

    id: int
    name: str
    players: int
    setup: str


class BlockKey(NamedTuple):
    """What names a block: its list, its number, and the entries that play (one for each player)."""

    list: int
    number: int
    lineup: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block that was played. Its games stand in the list's record file, ``length`` bytes from ``record`` on; both are
    None where none are kept."""

    id: int
    key: BlockKey
    finished: str
    record: int | None
    length: int | None


@dataclass(frozen=True, slots=True)
class FaultFound:
    """A fault as it is kept: in which block and game (from 0), on which seat (from 0), of which entry."""

    block: int
    game: int
    seat: int
    entry: int
    fault: Fault
    replayed: bool


class Store:
    """The database of a ladder. A context manager. Every method raises ``RunError`` where it cannot be read or written,
    and then nothing was changed."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._twice = False

    @classmethod
    def create(cls, path: Path, meta: dict[str, str]) -> None:
        """Makes a new database with the settings ``meta``."""
        create_database(path, _TABLES, meta, application=APPLICATION, schema=SCHEMA)

    @classmethod
    def open(cls, path: Path, *, writing: bool = False) -> Store:
        """Opens a database that is there. Raises ``RunError`` for one that is damaged, or of a newer Caboose."""
        if not path.is_file():
            raise RunError(f"{path}: there is no such database: expected a ladder")
        connection = open_database(path, "a ladder", application=APPLICATION, schema=SCHEMA, writing=writing)
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
        store = cls(path, connection)
        try:
            store._hide_twice()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def empty(cls, path: Path = Path(_IN_MEMORY), meta: Mapping[str, str] = MappingProxyType({})) -> Store:
        """What a new database at ``path`` would be, in memory alone."""
        connection = sqlite3.connect(_IN_MEMORY, isolation_level=None)
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        return cls(path, connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the use of the database. What was kept is kept."""
        self._connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Within it all is read as it was at the first look, whatever a run keeps meanwhile."""
        with told(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    # --- what it is about ---

    def meta(self, key: str) -> str:
        """A setting; empty if it was never set."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return next((str(value) for (value,) in rows), "")

    def setting(self, key: str, default: Any) -> Any:
        """A setting that is kept as JSON, of the type of ``default``, which it is if it was never set."""
        text = self.meta(key)
        try:
            value = json.loads(text) if text else default
        except ValueError:
            value = None
        if type(value) is not type(default):
            raise self.damaged(key)
        return value

    def damaged(self, key: str) -> RunError:
        """What is raised for a setting that makes no sense."""
        return RunError(damaged(self._path, f"the setting {key!r} cannot be read"))

    def set_meta(self, key: str, value: str) -> None:
        """Keeps a setting."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def entries(self) -> list[Entry]:
        """All that ever took part, in the order in which they came."""
        columns = "id, name, edition, identity, builtin, engine, version, author, since"
        return [Entry(*row) for row in self._typed("isissssss", f"SELECT {columns} FROM entries ORDER BY id")]

    def add_entry(self, entry: Entry) -> Entry:
        """Keeps an entry; its ``id`` and ``edition`` are chosen here."""
        with self._writing() as connection:
            (last,) = connection.execute("SELECT max(edition) FROM entries WHERE name = ?", (entry.name,)).fetchone()
            row = (entry.name, (last or 0) + 1, entry.identity, entry.builtin, entry.engine, entry.version)
            done = connection.execute(
                "INSERT INTO entries (name, edition, identity, builtin, engine, version, author, since) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, entry.author, entry.since),
            )
            assert done.lastrowid is not None
            return Entry(done.lastrowid, *row, entry.author, entry.since)

    def lists(self) -> list[ListRow]:
        """All lists of which there are games, in the order in which they came."""
        return [ListRow(*row) for row in self._typed("isis", "SELECT id, name, players, setup FROM lists ORDER BY id")]

    def add_list(self, name: str, players: int, setup: str) -> ListRow:
        """Keeps a list."""
        with self._writing() as connection:
            sql = "INSERT INTO lists (name, players, setup) VALUES (?, ?, ?)"
            done = connection.execute(sql, (name, players, setup))
            assert done.lastrowid is not None
            return ListRow(done.lastrowid, name, players, setup)

    def change_list(self, list: int, players: int, setup: str) -> None:
        """Keeps what a list is now, of which there are no blocks yet."""
        with self._writing() as connection:
            connection.execute("UPDATE lists SET players = ?, setup = ? WHERE id = ?", (players, setup, list))

    def begin_renaming(self, old: str, new: str) -> None:
        """Keeps that an engine is going to be renamed, in its description first."""
        self.set_meta(_RENAMING, json.dumps([old, new]))

    def end_renaming(self, described: Collection[str]) -> Sequence[str]:
        """Ends a renaming that was begun, or forgets it if the description, which has these engines, did not change.
        Returns the old name and the new one where there was something to end."""
        renaming = [str(name) for name in self.setting(_RENAMING, [])]
        if not renaming:
            return ()
        old, new = renaming
        names = {entry.name for entry in self.entries()}
        if new in described and old not in described and old in names and new not in names:
            self._rename(old, new)
            return old, new
        self.set_meta(_RENAMING, "")
        return ()

    def _rename(self, old: str, new: str) -> None:
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '')", (_RENAMING,))
            connection.execute("UPDATE entries SET name = ? WHERE name = ?", (new, old))
            for row in connection.execute("SELECT id FROM lists").fetchall():
                order = [new if name == old else name for name in self.order(row[0])]
                self._set_order(connection, row[0], order)

    def order(self, list: int) -> Sequence[str]:
        """The engines of a list in the order in which they came to it, which is their order in its line-ups."""
        found = self.setting(f"{_ORDER}{list}", [])
        return [str(name) for name in found]

    def set_order(self, list: int, names: Sequence[str]) -> None:
        """Keeps the order of a list's engines."""
        with self._writing() as connection:
            self._set_order(connection, list, names)

    @staticmethod
    def _set_order(connection: sqlite3.Connection, list: int, names: Sequence[str]) -> None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{_ORDER}{list}", json.dumps(names)))

    # --- blocks ---

    def commit(
        self,
        key: BlockKey,
        games: Sequence[Seats],
        faults: Sequence[FaultRow],
        *,
        finished: str,
        record: tuple[int, int] | None,
        scale: float = 1.0,
    ) -> int:
        """Keeps a whole block, in one piece; returns its number in the database. ``record`` is where its games stand in
        the list's file, and how many bytes they take. ``scale`` says how much longer limits of time were."""
        with self._writing() as connection:
            at, length = record or (None, None)
            lineup = lineup_text(key.lineup)
            done = connection.execute(
                "INSERT INTO main.blocks (list, number, lineup, finished, record, length) VALUES (?, ?, ?, ?, ?, ?)",
                (key.list, key.number, lineup, finished, at, length),
            )
            block = done.lastrowid
            assert block is not None
            if scale != 1:
                connection.execute(_SCALES)
                connection.execute("INSERT INTO scales VALUES (?, ?)", (block, scale))
            rows = [(block, number, seats.tobytes()) for number, seats in enumerate(games)]
            connection.executemany("INSERT INTO games VALUES (?, ?, ?)", rows)
            for row in faults:
                fault = row.fault
                entry = int(games[row.game][row.seat]["entry"])
                values = (fault.kind, fault.detail, fault.round, fault.decision, row.replayed)
                connection.execute(
                    "INSERT INTO faults VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (block, row.game, row.seat, entry, *values)
                )
            return block

    def played(self, list: int) -> Iterator[BlockKey]:
        """The blocks of a list that were played, by number."""
        sql = "SELECT number, lineup FROM blocks WHERE list = ? ORDER BY number, lineup"
        for number, lineup in self._rows(sql, list):
            yield BlockKey(list, number, self._lineup(lineup))

    def blocks(self, list: int | None = None) -> Iterator[BlockRow]:
        """The blocks, all or those of a list, by list, number and line-up."""
        where = "" if list is None else "WHERE list = ?"
        sql = f"""SELECT id, list, number, lineup, finished, record, length FROM blocks {where}
            ORDER BY list, number, lineup"""
        for id, owner, number, lineup, *rest in self._rows(sql, *([] if list is None else [list])):
            yield BlockRow(id, BlockKey(owner, number, self._lineup(lineup)), *rest)

    def block(self, id: int) -> BlockRow:
        """The block with this number in the database, which must be there."""
        sql = "SELECT id, list, number, lineup, finished, record, length FROM blocks WHERE id = ?"
        ((_, owner, number, lineup, *rest),) = self._rows(sql, id)
        return BlockRow(id, BlockKey(owner, number, self._lineup(lineup)), *rest)

    def latest(self, *, faulty: bool = False) -> Iterator[BlockRow]:
        """All blocks, or those with a fault, the one that ended last first."""
        where = "WHERE id IN (SELECT block FROM faults)" if faulty else ""
        sql = f"SELECT id, list, number, lineup, finished, record, length FROM blocks {where} ORDER BY id DESC"
        for id, owner, number, lineup, *rest in self._rows(sql):
            yield BlockRow(id, BlockKey(owner, number, self._lineup(lineup)), *rest)

    def counts(self, list: int | None = None) -> tuple[int, int]:
        """How many blocks there are, and games."""
        sql = """SELECT count(*), coalesce(sum(players), 0) FROM blocks JOIN lists ON lists.id = list
            WHERE list = ?1 OR ?1 IS NULL"""
        ((blocks, games),) = self._rows(sql, list)
        return blocks, games

    def twice(self) -> Mapping[str, int]:
        """How many blocks of each list are there a second time, and are read once; only lists that have some."""
        if not self._twice:
            return {}
        sql = """SELECT name, count(*) FROM twice JOIN main.blocks ON blocks.id = twice.id
            JOIN lists ON lists.id = list GROUP BY list ORDER BY list"""
        return dict(self._rows(sql))

    def lost(self, list: int) -> Iterator[tuple[BlockKey, int, int]]:
        """How many games an entry lost by its faults in a block of a list: the block, the entry, the games."""
        sql = """SELECT number, lineup, entry, count(DISTINCT game) FROM faults JOIN blocks ON blocks.id = block
            WHERE list = ? AND NOT replayed GROUP BY block, entry ORDER BY number, lineup"""
        for number, lineup, entry, games in self._rows(sql, list):
            yield BlockKey(list, number, self._lineup(lineup)), entry, games

    def games(self, block: int) -> list[Seats]:
        """The games of a block: a row for each seat."""
        rows = self._rows("SELECT seats FROM games WHERE block = ? ORDER BY game", block)
        return [_seats(self._path, seats) for (seats,) in rows]

    def results(self, list: int) -> Iterator[tuple[BlockKey, Seats]]:
        """The blocks of a list by number, and the rows of seats of all games of each, game after game."""
        sql = """SELECT number, lineup, seats FROM blocks JOIN games ON block = id WHERE list = ?
            ORDER BY number, lineup, game"""
        key: BlockKey | None = None
        text, data = "", b""
        for number, lineup, more in self._rows(sql, list):
            if key is None or number != key.number or lineup != text:
                if key is not None:
                    yield key, _seats(self._path, data).reshape(-1, len(key.lineup))
                key, text, data = BlockKey(list, number, self._lineup(lineup)), lineup, more
            else:
                data += more
        if key is not None:
            yield key, _seats(self._path, data).reshape(-1, len(key.lineup))

    def all_games(self, lists: Sequence[ListRow]) -> Iterator[tuple[int, Seats]]:
        """All games of ``lists``, some whole blocks at a time: the number of the first block, and the rows of seats,
        (blocks, games, seats). Blocks are numbered from 0 through the lists, in the order of ``blocks``."""
        sql = """SELECT seats FROM blocks CROSS JOIN games ON block = id WHERE list = ?
            ORDER BY number, lineup, game"""
        first = 0
        for row in lists:
            end = first + self.counts(row.id)[0]
            of_block = row.players * row.players  # a game for each player
            with told(self._path):
                cursor = self._connection.execute(sql, (row.id,))
                while first < end and (some := cursor.fetchmany(max(CHUNK // row.players, 1) * row.players)):
                    seats = _seats(self._path, b"".join([data for (data,) in some]))
                    if len(seats) % of_block:
                        break
                    blocks = min(len(seats) // of_block, end - first)  # a run may have added some
                    yield first, seats[: blocks * of_block].reshape(blocks, row.players, row.players)
                    first += blocks
            if first != end:
                raise RunError(damaged(self._path, "a block of a wrong length"))

    def ended(self, lists: Sequence[ListRow]) -> Integers:
        """The numbers that ``all_games`` gives the blocks of ``lists``, in the order in which the blocks ended."""
        sql = "SELECT id FROM blocks WHERE list = ? ORDER BY number, lineup"
        return np.argsort(np.array([id for row in lists for (id,) in self._rows(sql, row.id)], np.int64))

    def faults(self, list: int | None = None) -> Iterator[FaultFound]:
        """The faults, all or those of a list, in the order of the blocks."""
        sql = """SELECT block, game, seat, entry, kind, detail, round, decision, replayed
            FROM faults JOIN blocks ON blocks.id = block WHERE list = ?1 OR ?1 IS NULL
            ORDER BY list, number, lineup, game, faults.rowid"""
        for block, game, seat, entry, kind, detail, round, decision, replayed in self._typed("iiiissiii", sql, list):
            yield FaultFound(block, game, seat, entry, Fault(kind, detail, round, decision), bool(replayed))

    def scales(self) -> tuple[int, float, float]:
        """Of how many blocks the limits of time were scaled, and the least and the largest factor; 1 for none."""
        if not list(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'scales'")):
            return 0, 1.0, 1.0
        sql = "SELECT count(*), min(factor), max(factor) FROM scales JOIN blocks ON blocks.id = block"
        ((count, least, most),) = self._rows(sql)
        return int(count), float(least or 1), float(most or 1)

    def record_end(self, list: int) -> int:
        """Where the games of a list end that stand in its record file and belong to blocks that are kept."""
        # Of all blocks: what stands behind that will be cut off.
        ((end,),) = self._rows("SELECT coalesce(max(record + length), 0) FROM main.blocks WHERE list = ?", list)
        return int(end)

    # --- the ways to it ---

    def _hide_twice(self) -> None:
        """Hides blocks that are there a second time, with their engines in another order."""
        with told(self._path):
            self._twice = hide_twice(self._connection, self._lineup)

    def _lineup(self, text: Any) -> tuple[int, ...]:
        try:
            return lineup_of(text)
        except (AttributeError, ValueError):
            raise RunError(damaged(self._path, "a line-up that is none")) from None

    def _rows(self, sql: str, *values: object) -> Iterator[tuple]:  # type: ignore[type-arg]
        with told(self._path):
            yield from self._connection.execute(sql, values)

    def _typed(self, kinds: str, sql: str, *values: object) -> Iterator[tuple]:  # type: ignore[type-arg]
        """Rows of whole numbers (i) and text (s), which SQLite does not insist on: others may have made the file."""
        for row in self._rows(sql, *values):
            if any(type(value) is not _KINDS[kind] for value, kind in zip(row, kinds, strict=True)):
                raise RunError(damaged(self._path, "a value of a wrong kind"))
            yield row

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with told(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have ended it itself
                    self._connection.execute("ROLLBACK")
                raise


def _seats(path: Path, data: bytes) -> Seats:
    try:
        return np.frombuffer(data, SEAT)
    except ValueError:
        raise RunError(damaged(path, "a game of a wrong length")) from None
