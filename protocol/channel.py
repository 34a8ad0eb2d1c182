"""A child process and its two pipes, with a deadline on everything and nothing left behind.

It knows nothing of the protocol but that it is made of lines and that ``quit`` ends it.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

from caboose.protocol.lines import LineSplitter
from caboose.protocol.usage import tree_time
from caboose.protocol.watchdog import WATCHDOG, announced

_QUIT_PATIENCE: Final = 0.4  # seconds from quit to SIGTERM
_TERM_PATIENCE: Final = 0.2  # seconds from SIGTERM to SIGKILL
_KILL_PATIENCE: Final = 2.0  # seconds that the kernel is given to carry out a SIGKILL
_STATUS_PATIENCE: Final = 0.2  # seconds from the end of the output to the exit, when a process dies
_CHUNK: Final = 65_536
_UNSENT: Final = 4 << 20  # bytes that may wait for a process that does not read
HELD_UP: Final = 0.005  # seconds after a deadline; a poll that nothing disturbs ends within one millisecond
_SECOND_LOOK: Final = 0.1  # seconds for a process that was stopped as we were


class ChannelTimeout(Exception):
    """The deadline passed."""


class ChannelClosed(Exception):
    """The process is gone or has closed a pipe; the text says which, and how it ended."""


@contextmanager
def signals_held() -> Iterator[None]:
    """Signals that have a Python handler are handled when the block ends, in the main thread (no other has them)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, lambda caught, _: came.append(caught))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for caught in came:
            signal.raise_signal(caught)


def _check_program(name: str) -> None:
    """Raises ``OSError`` for a program that is not there or cannot be run: the shell in between could not say so."""
    if "\0" in name:
        raise ValueError("embedded null byte")
    if shutil.which(name) is None:
        number = errno.EACCES if "/" in name and Path(name).exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


class Channel:
    """A running process. All deadlines are ``time.monotonic`` seconds."""

    __slots__ = (
        "_both", "_input", "_ours", "_output", "_patient", "_poll", "_process", "_splitter", "_unsent", "received",
        "stamp",
    )  # fmt: skip

    def __init__(self, command: Sequence[str], stderr: Path | None = None) -> None:
        """Starts ``command`` in a session of its own. Raises ``OSError`` or ``ValueError``."""
        _check_program(command[0])
        if stderr is not None:
            stderr.open("ab").close()
        try:
            # A signal whose handler raises must not fall between the start of the process and our knowing of it.
            with signals_held():
                self._start(announced(command, stderr))
        except BaseException:
            if hasattr(self, "_both"):
                end([self])
            raise

    def _start(self, command: Sequence[str]) -> None:
        with WATCHDOG.starting() as told:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, bufsize=0, start_new_session=True
            )
            WATCHDOG.watch(self._process.pid)
        self._ours = os.getpid()  # a fork of us has no say over the process
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._both = select.poll()
        self._both.register(self._output, select.POLLIN)
        self._both.register(self._input, select.POLLOUT)
        self._splitter = LineSplitter()
        self._unsent = b""
        self._patient = True
        self.received = 0
        """Bytes that came; the user may set it back."""
        self.stamp = time.monotonic()
        """When the last bytes came, or when a deadline was seen to have passed."""

    @property
    def pid(self) -> int:
        """The process number, which is that of its session and group too."""
        return self._process.pid

    # --- lines ---

    def send(self, data: bytes, deadline: float) -> list[bytes]:
        """Writes all of ``data``; returns the lines that came meanwhile (none, as a rule).

        Raises ``ChannelTimeout`` (the rest is sent before whatever comes next) and ``ChannelClosed``.
        """
        if self._unsent:
            if len(self._unsent) > _UNSENT:
                raise ChannelTimeout
            data = self._unsent + data
        self._unsent = data
        lines: list[bytes] = []
        while True:
            try:
                sent = os.write(self._input, self._unsent)
            except BlockingIOError:
                sent = 0
            except OSError:
                raise self._closed("its input") from None
            self._unsent = self._unsent[sent:]
            if not self._unsent:
                return lines
            # It may be waiting for us to read before it goes on reading.
            left = deadline - time.monotonic()
            if left <= 0:
                self.stamp = time.monotonic()
                raise ChannelTimeout
            if any(fd == self._output for fd, _ in self._both.poll(left * 1000)):
                lines += self._read()

    def receive(self, deadline: float) -> list[bytes]:
        """The next lines, [] when only a piece of one came. Raises ``ChannelTimeout`` and ``ChannelClosed``.

        Where this process was itself held up beyond the deadline (stopped, or without a processor), it reads what has
        come meanwhile, or waits a moment for a child that was held up too: once, until ``forgive`` is called.
        """
        left = (deadline - time.monotonic()) * 1000
        if left <= 0:
            if not self._patient or not self._poll.poll(0):
                self._expire()
            self._patient = False
        elif not self._poll.poll(left):
            if not (self._patient and time.monotonic() > deadline + HELD_UP and self._poll.poll(_SECOND_LOOK * 1000)):
                self._expire()
            self._patient = False
        return self._read()

    def forgive(self) -> None:
        """From now on ``receive`` may look again after a deadline."""
        self._patient = True

    def waiting(self) -> list[bytes]:
        """The lines that are there already. Raises ``ChannelClosed``."""
        return self._read() if self._poll.poll(0) else []

    def _expire(self) -> NoReturn:
        self.stamp = time.monotonic()
        raise ChannelTimeout

    def processor_time(self) -> float:
        """Seconds of processor time that the process, and all that it started, have used so far; 0 where the system
        does not tell (Linux does)."""
        return tree_time(self.pid)

    def say(self, line: bytes) -> None:
        """Writes a short line if that is possible at once."""
        if not self._unsent:
            with suppress(OSError):
                self._unsent = line[os.write(self._input, line) :]

    def _read(self) -> list[bytes]:
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        self.stamp = time.monotonic()
        if not data:
            raise self._closed("its output")
        self.received += len(data)
        return self._splitter.feed(data)

    def _closed(self, what: str) -> ChannelClosed:
        ended = self.wait(time.monotonic() + _STATUS_PATIENCE)
        return ChannelClosed(self.status() if ended else f"it closed {what}, but runs on")

    # --- the end ---

    def status(self) -> str:
        """How the process ended; empty while it runs."""
        if not self._exited():
            return ""
        code = self._process.returncode
        if code is None:
            result = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if result is None:
                return ""
            code = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
        if code >= 0:
            return f"it exited with code {code}"
        with suppress(ValueError):
            return f"it was killed by {signal.Signals(-code).name}"
        return f"it was killed by signal {-code}"

    def say_quit(self) -> None:
        """Asks the process to end, and closes both pipes."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self.say(b"quit\n")
        self.abandon()

    def abandon(self) -> None:
        """Closes our ends of the pipes."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def terminate(self) -> None:
        """SIGTERM, unless it has ended."""
        if not self._exited():
            self._signal(signal.SIGTERM)

    def reap(self) -> None:
        """Kills the whole group, and takes note of its end. After this nothing of it is left."""
        if self._ours != os.getpid() or self._process.returncode is not None:
            return
        # Also when the process has ended: what it started may run on. Its number is not free before it is reaped.
        self._signal(signal.SIGKILL)
        WATCHDOG.release(self.pid)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_PATIENCE)

    def _signal(self, what: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, what)

    def _exited(self) -> bool:
        """Whether the process has ended, without reaping it where the system allows that."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody else has reaped it
            return self._process.poll() is not None

    def wait(self, deadline: float) -> bool:
        """Waits for the end of the process; whether it has ended."""
        pause = 0.0005
        while not self._exited():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, 0.01)
        return True


def end(channels: Sequence[Channel]) -> None:
    """Ends processes, all at once: quit, then SIGTERM, then SIGKILL to their groups, in about half a second."""
    for channel in channels:
        channel.say_quit()
    deadline = time.monotonic() + _QUIT_PATIENCE
    if not all(channel.wait(deadline) for channel in channels):
        for channel in channels:
            channel.terminate()
        deadline = time.monotonic() + _TERM_PATIENCE
        for channel in channels:
            channel.wait(deadline)
    for channel in channels:
        channel.reap()
