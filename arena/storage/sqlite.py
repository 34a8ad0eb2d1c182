"""What the databases of ladders and studies share: how they are made, opened and checked, and what people are told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from caboose.arena.errors import RunError

NEW: Final = ".new"  # what a database is called besides while it is made
PATIENCE: Final = 30.0  # seconds that a reader or a writer waits for another


def beside(name: str) -> tuple[str, ...]:
    """The files that may be there while the database ``name`` is made."""
    return tuple([f"{name}{NEW}{ending}" for ending in ("", "-wal", "-shm", "-journal")])


def create_database(path: Path, tables: str, meta: Mapping[str, str], *, application: int, schema: int) -> None:
    """Makes a new database in WAL mode: beside its place first, so that it is whole whenever somebody ends this.

    ``tables`` are SQL statements, of which one makes the table ``meta`` (key, value) that the settings ``meta`` go to.
    ``application`` and ``schema`` are what it is known by (SQLite's ``application_id`` and ``user_version``). Raises
    ``RunError``, and ``OSError`` where files cannot be removed or named.
    """
    for name in beside(path.name):
        path.with_name(name).unlink(missing_ok=True)
    new = path.with_name(f"{path.name}{NEW}")
    with told(path):
        connection = sqlite3.connect(new, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in tables.split(";"):
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute(f"PRAGMA application_id = {application}")
            connection.execute(f"PRAGMA user_version = {schema}")
            connection.execute("COMMIT")
        finally:
            connection.close()
    new.replace(path)


def open_database(path: Path, what: str, *, application: int, schema: int, writing: bool) -> sqlite3.Connection:
    """Opens a database that is there. Raises ``RunError`` for one that is damaged, of a newer Caboose, or not of
    ``what``, such as ``a ladder``; for writing also where nothing can be written."""
    with told(path):
        connection = _connect(path, writing)
        try:
            _check(path, connection, what, application, schema)
            if writing:
                connection.execute("PRAGMA synchronous = FULL")
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    raise RunError(damaged(path, found))
                # Also what a full disk or a read-only folder would otherwise tell only after the first block.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
    return connection


def damaged(path: Path, why: str) -> str:
    """What people are told of a damaged database."""
    return (
        f"{path}: the database is damaged ({why}); nothing was changed. Take a copy from before, or save what is left: "
        f"sqlite3 {path.name} .recover"
    )


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Makes what SQLite complains about a ``RunError`` that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            why = "the disk is full; all blocks before are kept. Make room and run again"
        elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            why = f"it cannot be {'written to' if code == sqlite3.SQLITE_READONLY else 'opened'} ({error})"
        elif code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            why = "another program keeps it busy"
        elif code == sqlite3.SQLITE_IOERR:
            why = f"it could not be read or written ({error}); all blocks before are kept"
        else:
            raise RunError(damaged(path, str(error))) from None
        raise RunError(f"{path}: {why}") from None


def _connect(path: Path, writing: bool) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode={'rw' if writing else 'ro'}"
    connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
    if writing:
        return connection
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        # Beside the database SQLite keeps files, also for readers. Where it cannot make them nobody writes now.
        wal = path.with_name(f"{path.name}-wal")
        if not isinstance(error, sqlite3.OperationalError) or (wal.exists() and wal.stat().st_size):
            raise
        return sqlite3.connect(f"{uri}&immutable=1", uri=True, isolation_level=None)
    return connection


def _check(path: Path, connection: sqlite3.Connection, what: str, application: int, schema: int) -> None:
    """Raises ``RunError`` for what is not a database of ``what`` that this Caboose knows."""
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if found != application:
        raise RunError(f"{path}: this is not the database of {what}")
    if version > schema:
        raise RunError(f"{path}: made by a newer Caboose (schema {version}, this one knows {schema}): use that one")
