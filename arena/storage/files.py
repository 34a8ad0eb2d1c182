"""Files that people name, read with an end: a device has none, a small packed file may be huge, nobody may write to a
pipe."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, AnyStr, BinaryIO, Final

from caboose.arena.console.output import put_error

MOST: Final = 1 << 22  # bytes or characters of what people write by hand; a thousand engines take 200 KB
WAIT: Final = 1.0  # seconds until people are told that nobody has written to a pipe yet


def open_input(path: str | Path) -> io.BufferedReader:
    """Opens a file for reading. Raises ``OSError``, also for a device without an end.

    Where nobody writes to a pipe that has a name, this waits for somebody, and says so.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = _check_kind(descriptor, str(path))
        if stat.S_ISFIFO(mode) and not select.select([descriptor], [], [], WAIT)[0]:
            put_error(f"caboose: {path}: nobody writes to this pipe yet; waiting (Ctrl-C ends it)")
            select.select([descriptor], [], [])
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def standard_input() -> BinaryIO:
    """The bytes of standard input. Raises ``OSError`` where that is a device without an end."""
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, io.UnsupportedOperation):  # none, or a program's own
        descriptor = None
    if descriptor is not None:
        _check_kind(descriptor, "standard input")
    return sys.stdin.buffer


def _check_kind(descriptor: int, name: str) -> int:
    """The mode of an open file; raises ``OSError`` for what cannot be read to its end."""
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    empty = os.stat(os.devnull).st_rdev
    if stat.S_ISBLK(found.st_mode) or (
        stat.S_ISCHR(found.st_mode) and found.st_rdev != empty and not os.isatty(descriptor)
    ):
        raise OSError(errno.EINVAL, "it is a device, no file", name)
    return found.st_mode


def read_whole(file: IO[AnyStr], most: int = MOST) -> AnyStr:
    """What a file has, at most ``most`` bytes or characters. Raises ``OSError`` where it is more."""
    data = file.read(most + 1)
    if len(data) > most:
        raise too_large(most)
    return data


def read_text(path: Path, most: int = MOST) -> str:
    """A text in UTF-8, without the byte order mark that some editors begin it with. Raises ``OSError`` and
    ``UnicodeDecodeError``."""
    with io.TextIOWrapper(open_input(path), encoding="utf-8-sig") as file:
        return read_whole(file, most)


def read_lines(file: BinaryIO, longest: int, most: int) -> Iterator[bytes]:
    """The lines of a file with their ends, one in memory at a time. The last is cut off, with no end, where it has
    more than ``longest`` bytes. Raises ``OSError`` where all have more than ``most``."""
    size = 0
    while line := file.readline(longest + 1):
        size += len(line)
        if size > most:
            raise too_large(most)
        yield line
        if len(line) > longest:
            return


def too_large(most: int) -> OSError:
    """The error for a file with more than ``most`` bytes."""
    return OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")


def open_read(path: str, flags: int) -> int:
    """An opener for ``open``: a pipe that nobody reads is an ``OSError``, and nothing to wait for."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise OSError(errno.ENXIO, "nobody reads this pipe", path) from None
    os.set_blocking(descriptor, True)
    return descriptor


def temporary_beside(path: Path) -> Path:
    """Where a file is written before it gets its name ``path``."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
