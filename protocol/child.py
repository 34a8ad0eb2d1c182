"""A child process, its keeper and its pipes: started, asked how it fares, ended, and nothing of it left.

``keeper.h`` tells what a keeper is. All deadlines are ``time.monotonic`` seconds.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from caboose.protocol.spawning import LackError, spawn

_KILL_PATIENCE: Final = 2.0  # seconds that a keeper is given to kill all that is there
_STATUS_BYTES: Final = 4
_TERM: Final = b"T"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a process may use, and each that it starts; None where there is no limit.

    ``memory`` is address space in bytes, ``cpu`` seconds of processor time, ``file`` the bytes of a file that it writes.
    ``processes`` are those of the whole user (for the superuser there is no limit).
    """

    memory: int | None = None
    processes: int | None = None
    cpu: int | None = None
    file: int | None = None

    def numbers(self) -> list[int]:
        """As ``spawn`` takes them; a core is never written."""
        given = (self.memory, self.processes, self.cpu, self.file, 0)
        return [-1 if limit is None else limit for limit in given]


class Child:
    """A running process. ``pid`` is its number, and that of its session and group; ``input`` and ``output`` are our
    ends of its pipes, both non-blocking, and so is ``errors`` of that for its standard error, or None."""

    __slots__ = ("_control", "_keeper", "_ours", "errors", "input", "output", "pid", "returncode")

    def __init__(
        self, words: Sequence[str], resources: Resources, stderr: Path | None = None, *, piped: bool = False
    ) -> None:
        """Starts a program. Its standard error is thrown away, or appended to the file ``stderr``, or a pipe if
        ``piped``. Raises ``LackError`` where we cannot start anything, else ``OSError`` and ``ValueError``."""
        path = program(words[0])
        ours: list[int] = []
        theirs: list[int] = []
        try:
            try:
                for reading in (True, False):
                    pair = os.pipe()
                    theirs.append(pair[not reading])
                    ours.append(pair[reading])
                if piped:
                    pair = os.pipe()
                    theirs.append(pair[1])
                    ours.append(pair[0])
            except OSError as error:
                raise LackError(error.errno, error.strerror, words[0]) from None
            if not piped:
                flags = os.O_WRONLY | (0 if stderr is None else os.O_APPEND | os.O_CREAT)
                theirs.append(os.open(os.devnull if stderr is None else stderr, flags, 0o666))
            for fd in ours:
                os.set_blocking(fd, False)
            self._keeper, self.pid, control = spawn(path, words, theirs, resources.numbers())
        except BaseException:
            _close(ours)
            raise
        finally:
            _close(theirs)
        self._ours = os.getpid()  # a fork of us has no say over the process
        self._control = socket.socket(fileno=control)
        self._control.setblocking(False)
        self.input, self.output = ours[:2]
        self.errors = ours[2] if piped else None
        self.returncode: int | None = None
        """The exit code, or minus the signal that killed it; None while it is not known to have ended."""

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        if self.returncode is None:
            with suppress(BlockingIOError):
                self._hear()
        return self.returncode is not None

    def wait(self, deadline: float) -> bool:
        """Waits for its end; whether it has ended."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not self.ended:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            poll.poll(left * 1000)
        return True

    def terminate(self) -> None:
        """SIGTERM to its group, unless it has ended."""
        if self.returncode is None and self._ours == os.getpid():
            with suppress(OSError):
                self._control.send(_TERM)

    def close_pipes(self) -> None:
        """Closes our ends of its pipes, but for that of its standard error, which its reader closes."""
        _close([fd for fd in (self.input, self.output) if fd >= 0])
        self.input = self.output = -1

    def abandon(self) -> None:
        """In a fork of its owner: lets go of it."""
        self.close_pipes()
        self._control.close()
        self.returncode = self.returncode or 0

    def reap(self) -> None:
        """Kills it and all that it started, and takes note of its end. After this nothing of it is left."""
        if self._ours != os.getpid() or self._control.fileno() < 0:
            return
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        # The socket closes with the keeper, which goes last.
        deadline = time.monotonic() + _KILL_PATIENCE
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not (gone := self._heard_all()) and (left := deadline - time.monotonic()) > 0:
            poll.poll(left * 1000)
        self._control.close()
        if self.returncode is None:  # it is in the hands of the kernel, which does not let it go
            self.returncode = -signal.SIGKILL
        with suppress(ChildProcessError):
            os.waitpid(self._keeper, 0 if gone else os.WNOHANG)

    def _hear(self) -> bool:
        """Reads what the keeper says; False when it is gone. Raises ``BlockingIOError`` when it says nothing."""
        try:
            data = self._control.recv(_STATUS_BYTES)
        except ConnectionError:
            data = b""
        if data:
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(data, sys.byteorder))
            return True
        if self.returncode is None:  # somebody has killed the keeper, and by that the process
            self.returncode = -signal.SIGKILL
        return False

    def _heard_all(self) -> bool:
        try:
            while self._hear():
                pass
        except BlockingIOError:
            return False
        return True


def program(name: str) -> str:
    """The path of the program that ``name`` runs. Raises ``OSError`` for one that is not there or cannot be run, and
    ``ValueError``."""
    if "\0" in name:
        raise ValueError("embedded null byte")
    path = shutil.which(name)
    if path is None:
        number = errno.EACCES if "/" in name and Path(name).exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)
    return path


def _close(descriptors: Sequence[int]) -> None:
    for fd in descriptors:
        with suppress(OSError):
            os.close(fd)
