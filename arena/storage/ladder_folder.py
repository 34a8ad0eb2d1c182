"""The folder of a ladder: what lies where, and who may write to it."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from caboose.arena.errors import RunError, cause

DATABASE: Final = "ladder.db"
RECORDS: Final = "records"
LOGS: Final = "logs"
LOCK: Final = "lock"
_MOST: Final = 200  # bytes of what a lock says


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other runs out of a folder. Raises ``RunError`` when one is there, naming its process.

    The lock is one of the operating system's on an open file: it goes with the process that holds it, however that
    ends. What stands in the file only tells who it is.
    """
    path = folder / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise RunError(f"{path}: {cause(error)}: a run must be able to write to the folder") from None
    try:
        _take(folder, path, file)
        yield
        os.ftruncate(file, 0)
    finally:
        os.close(file)


def _take(folder: Path, path: Path, file: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = os.pread(file, _MOST, 0).decode(errors="replace").strip() or "a process that just starts"
        raise RunError(f"{folder}: another run plays here ({who}): wait for it, or end it") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be locked: {cause(error)}") from None
    with suppress(OSError):  # on a full disk the lock holds all the same
        os.ftruncate(file, 0)
        os.pwrite(file, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)


def runner(folder: Path) -> str:
    """Who runs the ladder now, such as ``pid 5 on host``; empty if nobody."""
    try:
        file = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return ""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(file, _MOST, 0).decode(errors="replace").strip() or "a process that just starts"
    except OSError:
        return ""
    finally:
        os.close(file)
    return ""
