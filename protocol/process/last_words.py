"""The end of what an engine wrote to its standard error, and what it tells of a crash."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import tempfile
from typing import Final, NamedTuple

from caboose.protocol.notation.lines import shown

KEPT: Final = 4096  # bytes, as in keeper.c11
_HEAD: Final = struct.Struct("qq")  # how many bytes were written, and when the last were (ns)
_MOST: Final = 200  # characters of a line that are shown
_FRAME: Final = re.compile(r'^\s+File "([^"\n]+)", line (\d+)')
_TRACEBACK: Final = "Traceback (most recent call last)"
_RAISED: Final = "it exited with code 1"  # how Python ends after an exception that nobody caught
_EMPTY: Final = ("note: run with", "Node.js v")  # lines that Rust and Node.js put last, and that say nothing


class Said(NamedTuple):
    """The last bytes that were written, ``KEPT`` at most, and when (by ``time.monotonic``, 0 where that is unknown)."""

    data: bytes = b""
    stamp: float = 0.0


class WordsFile:
    """A file in memory in which a keeper keeps the end of what its program writes to its standard error.

    ``fd`` is its descriptor, above those of the three standard streams. Raises ``OSError`` where there can be none.
    """

    __slots__ = ("fd",)

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            made = os.memfd_create("caboose-words")
        else:  # not Linux
            with tempfile.TemporaryFile() as file:
                made = os.dup(file.fileno())
        try:
            os.ftruncate(made, _HEAD.size + KEPT)
            self.fd = made if made > 2 else fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 3)
        except BaseException:
            os.close(made)
            raise
        if self.fd != made:
            os.close(made)

    def read(self) -> Said:
        """What is in it. While the program runs, a line may be torn where the keeper writes just now."""
        if self.fd < 0:
            return Said()
        raw = os.pread(self.fd, _HEAD.size + KEPT, 0)
        count, stamp = _HEAD.unpack_from(raw)
        ring, at = raw[_HEAD.size :], count % KEPT
        return Said(ring[:count] if count < KEPT else ring[at:] + ring[:at], stamp / 1e9)

    def close(self) -> None:
        """Forgets it. May be called more than once."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def last_line(data: bytes, ended: str = "") -> str:
    """The line of what was written to a standard error that tells most of how a process ``ended``, quoted and
    printable: the last that is not indented, as stack traces are. Of an exception of Python the line that names it, and
    the file and the line of the program where it came from. Empty where nothing was written."""
    lines = [line for line in data.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    if not lines:
        return ""
    told = [line for line in lines if not line[0].isspace() and not line.startswith(_EMPTY)]
    last = told[-1] if told else lines[-1]
    frames = [(number, found) for number, line in enumerate(lines) if (found := _FRAME.match(line))]
    if not frames:
        return shown(last.strip(), _MOST)
    after = [line for line in lines[frames[-1][0] :] if not line[0].isspace()]
    if after and ended == _RAISED:  # the message of an exception may have several lines
        last = after[0]
    if not after or last != after[0]:
        return shown(last.strip(), _MOST)
    starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACK)]
    own = [found for number, found in frames if not starts or number > starts[-1]]
    at = next((found for found in reversed(own) if not is_library(found[1])), own[-1])
    return f"{shown(last.strip(), _MOST)} ({where(at[1], int(at[2]))})"


def is_library(path: str) -> bool:
    """Whether a file of Python is part of Python, of an installed package or of caboose, and not of a bot."""
    return path.startswith(("<", *_HERE)) or "/site-packages/" in path or "/lib/python3" in path


def where(path: str, line: int) -> str:
    """A place in a file of Python, for people: ``bot.py, line 12``."""
    return f"{shown(os.path.basename(path), 60)[1:-1]}, line {line}"


_PACKAGE: Final = os.path.abspath(os.path.join(__file__, "..", "..", ".."))
_HERE: Final = tuple(
    [os.path.join(_PACKAGE, name, "") for name in ("engine", "protocol", "bots", "table", "arena", "cli")]
)
