"""All that a study has played, in one SQLite database: a row for each block, committed when it ends."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from caboose.arena.errors import RunError
from caboose.arena.storage.sqlite import create_database, damaged, open_database, told
from caboose.arena.tuning.space import Parameter, Space, Values

DATABASE: Final = "study.db"
APPLICATION: Final = 0x43616254  # "CabT"
SCHEMA: Final = 2
MOST: Final = 1e100  # that anything is worth, either way; squares of it still are numbers
FIELDS: Final = ("name", "low", "high", "step", "current", "log", "kind", "choices")
"""What is kept of a parameter, in this order; ``choices`` may be missing."""

_TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY, fresh INTEGER NOT NULL, candidate TEXT NOT NULL, list INTEGER NOT NULL,
    number INTEGER NOT NULL, value REAL, games INTEGER NOT NULL, faults INTEGER NOT NULL, fault TEXT NOT NULL,
    finished TEXT NOT NULL, lost INTEGER NOT NULL DEFAULT 0, UNIQUE (fresh, candidate, list, number)
);
"""


class Piece(NamedTuple):
    """What is played as one: block ``number`` of the list numbered ``list`` (from 0) by a candidate; ``fresh`` if its
    deals are those of the verification."""

    fresh: bool
    values: Values
    list: int
    number: int


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a piece: its value, None where nothing counts, its games and faults, one of them in words, and how
    many games the candidate lost by a fault of its own."""

    value: float | None
    games: int
    faults: int = 0
    fault: str = ""
    lost: int = 0


class StudyStore:
    """The database of a study. A context manager. Every method raises ``RunError`` where it cannot be read or
    written."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> None:
        """Makes a new database with settings. Raises ``RunError`` and ``OSError``."""
        create_database(path, _TABLES, meta, application=APPLICATION, schema=SCHEMA)

    @classmethod
    def open(cls, path: Path, *, writing: bool = False) -> StudyStore:
        """Opens a database that is there. Raises ``RunError`` for one that is damaged, of a newer Caboose, or none of a
        study."""
        connection = open_database(path, "a study", application=APPLICATION, schema=SCHEMA, writing=writing)
        store = cls(path, connection)
        try:
            if writing and not store._knows_lost():
                store._learn_lost()
        except BaseException:
            connection.close()
            raise
        return store

    def _learn_lost(self) -> None:
        """Makes a database of before into one of now."""
        with told(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ALTER TABLE blocks ADD COLUMN lost INTEGER NOT NULL DEFAULT 0")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
            self._connection.execute("COMMIT")

    def _knows_lost(self) -> bool:
        """Whether it is of a Caboose that kept lost games; one of before (schema 1) has none."""
        with told(self._path):
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        return bool(version > 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def meta(self, key: str) -> str:
        """A setting; empty if it was never set."""
        with told(self._path):
            row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return "" if row is None else str(row[0])

    def meta_data(self, key: str) -> Any:
        """A setting that is JSON. Raises ``RunError`` for one that is none."""
        try:
            return json.loads(self.meta(key))
        except ValueError:
            raise RunError(damaged(self._path, f"{key} cannot be read")) from None

    def space(self) -> Space:
        """The parameters as they were when the study began."""
        found = []
        try:
            for row in self.meta_data("space"):
                told_of = dict(zip(FIELDS, row, strict=False))
                found.append(Parameter(**told_of | {"choices": tuple(told_of.get("choices", ()))}))
        except (TypeError, ValueError):
            raise RunError(damaged(self._path, "its parameters cannot be read")) from None
        return Space(tuple(found))

    def set_meta(self, key: str, value: str) -> None:
        """Keeps a setting."""
        with told(self._path):
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def add(self, piece: Piece, played: Played) -> None:
        """Keeps a block."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = (piece.fresh, json.dumps(piece.values), piece.list, piece.number, played.value, played.games)
        with told(self._path):
            self._connection.execute(
                "INSERT INTO blocks (fresh, candidate, list, number, value, games, faults, fault, finished, lost) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, played.faults, played.fault, now, played.lost),
            )

    def blocks(self) -> Iterator[tuple[Piece, Played]]:
        """All that were played, in the order in which they ended."""
        columns = (
            f"fresh, candidate, list, number, value, games, faults, fault, {'lost' if self._knows_lost() else '0'}"
        )
        with told(self._path):
            for fresh, candidate, list, number, *rest in self._connection.execute(
                f"SELECT {columns} FROM blocks ORDER BY id"
            ):
                try:
                    values = tuple([float(value) for value in json.loads(candidate)])
                    worth = None if rest[0] is None else float(rest[0])
                    if (worth is not None and not abs(worth) <= MOST) or list < 0 or number < 0:
                        raise ValueError(worth)
                    played = Played(worth, int(rest[1]), int(rest[2]), str(rest[3]), int(rest[4]))
                except (ValueError, TypeError):
                    raise RunError(damaged(self._path, "a block that cannot be read")) from None
                yield Piece(bool(fresh), values, list, number), played

    def last(self) -> str:
        """When the last block ended, ISO 8601, UTC; empty if there is none."""
        with told(self._path):
            (last,) = self._connection.execute("SELECT max(finished) FROM blocks").fetchone()
        return last or ""
