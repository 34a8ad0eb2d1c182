"""A child process and its two pipes, with a deadline on everything and nothing left behind.

It knows nothing of the protocol but that it is made of lines and that ``quit`` ends it.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path
from typing import Final, NoReturn

from caboose.protocol.notation.lines import LineSplitter
from caboose.protocol.process.affinity import bound
from caboose.protocol.process.child import Child
from caboose.protocol.process.gamelog import CAME, ERROR, SENT, SeatLog
from caboose.protocol.process.last_words import KEPT, Said
from caboose.protocol.process.launch import PLAIN, Launch
from caboose.protocol.process.pipes import exchange, hear
from caboose.protocol.process.usage import tree_time

_QUIT_PATIENCE: Final = 0.4  # seconds from quit to SIGTERM
_TERM_PATIENCE: Final = 0.2  # seconds from SIGTERM to SIGKILL
_STATUS_PATIENCE: Final = 0.2  # seconds from the end of the output to the exit, when a process dies
_CHUNK: Final = 65_536
_LAST_PATIENCE: Final = 0.05  # seconds that the reader is given for what a process wrote before it ended
_READER_PATIENCE: Final = 1.0  # seconds from the end of a process to the end of what its standard error still holds
_MANY_ERRORS: Final = 4096  # bytes at once, after which we rest: who floods its standard error has to wait for us
_ERROR_PAUSE: Final = 0.005  # seconds
_UNSENT: Final = 4 << 20  # bytes that may wait for a process that does not read
_BY_SIGNAL: Final = 128  # and a signal's number: how bubblewrap, as shells do, tells of a signal
HELD_UP: Final = 0.005  # seconds after a deadline; a poll that nothing disturbs ends within one millisecond
_SECOND_LOOK: Final = 0.1  # seconds for a process that was stopped as we were
_EXCUSES: Final = 3  # times in a game that a process which stands still when its time is over has that time again


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


class Channel:
    """A running process. All deadlines are ``time.monotonic`` seconds."""

    __slots__ = (
        "_both",
        "_child",
        "_errors_file",
        "_excuses",
        "_extended",
        "_input",
        "_output",
        "_patient",
        "_poll",
        "_reader",
        "_said",
        "_sandboxed",
        "_shift",
        "_splitter",
        "_trusted",
        "_unsent",
        "begin",
        "log",
        "received",
        "stamp",
    )

    def __init__(
        self,
        words: Sequence[str],
        stderr: Path | None = None,
        launch: Launch = PLAIN,
        log: SeatLog | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        """Starts a command in a session of its own; with a ``log`` its standard error is read for that, unless it goes
        to a file. In any case ``last_words`` has its end. Who is ``trusted`` does not stop itself. Raises
        ``SandboxError``, ``LackError``, ``OSError`` and ``ValueError``."""
        self._sandboxed = launch.sandbox
        self._trusted = trusted
        self.log = log
        """Where all that is said goes, if anywhere; may be changed."""
        self._reader: threading.Thread | None = None
        self._said = Said()  # the end of what was read for the log
        self._errors_file = stderr, 0
        try:
            # A signal whose handler raises must not fall between the start of the process and our knowing of it.
            with signals_held():
                self._start(words, stderr, launch)
        except BaseException:
            if hasattr(self, "_child"):
                end([self])
            raise

    def _start(self, words: Sequence[str], stderr: Path | None, launch: Launch) -> None:
        command, resources, environment = launch.command(words), launch.keeper_limits(), launch.environment()
        piped = self.log is not None and stderr is None
        if stderr is not None and stderr.exists():
            self._errors_file = stderr, stderr.stat().st_size
        with bound(launch.cpus):
            self._child = child = Child(command, resources, stderr, environment, piped=piped, filtered=launch.sandbox)
        if child.errors >= 0:
            self._reader = threading.Thread(target=self._read_errors, args=(child.errors,), daemon=True)
            self._reader.start()
        self._input, self._output = child.input, child.output
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._both = select.poll()
        self._both.register(self._output, select.POLLIN)
        self._both.register(self._input, select.POLLOUT)
        self._splitter = LineSplitter()
        self._unsent = b""
        self._patient = True
        self._excuses = _EXCUSES
        self._extended = 0.0  # until when a process that stood still has time
        self._shift = 0.0  # seconds that do not count because it did
        self.received = 0
        """Bytes that came; the user may set it back."""
        self.begin = 0.0
        """When the last request was sent; the user sets it where ``exchange`` does not."""
        self.stamp = time.monotonic()
        """When the last bytes came, or when a deadline was seen to have passed."""

    @property
    def pid(self) -> int:
        """The process number, which is that of its session and group too."""
        return self._child.pid

    @property
    def stops(self) -> int:
        """How often a signal is known to have stopped the process; it was continued each time."""
        return self._child.stops

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line of which the end has not come."""
        return self._splitter.unfinished

    # --- lines ---

    def send(self, data: bytes, deadline: float) -> list[bytes]:
        """Writes all of ``data``; returns the lines that came meanwhile (none, as a rule).

        Raises ``ChannelTimeout`` (the rest is sent before whatever comes next) and ``ChannelClosed``.
        """
        if self.log is not None:
            self.log.put(time.monotonic(), SENT, data)
        if len(self._unsent) > _UNSENT:
            raise ChannelTimeout
        self._unsent += data
        return self._push(deadline)

    def _push(self, deadline: float) -> list[bytes]:
        """Writes all that is unsent, and reads what comes meanwhile."""
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
                self._expire()
            if any(fd == self._output for fd, _ in self._both.poll(left * 1000)):
                lines += self._read()

    def exchange(self, data: bytes, wait: float) -> list[bytes] | None:
        """``send`` and ``receive`` in one, for ``wait`` seconds from now; ``begin`` is when that was. Raises the same.

        None where that is not possible, and nothing was sent: something waits on either side.
        """
        if self._unsent:
            return None
        try:
            sent, begin, stamp, came = exchange(self._input, self._output, data, wait)
        except OSError:
            self.begin = self.stamp = time.monotonic()
            raise self._closed("its input") from None
        if sent < 0:
            return None
        self.begin = begin
        if self.log is not None:
            self.log.put(begin, SENT, data)
        if came is not None:
            self.stamp = stamp
            return self._take(came)
        if sent < len(data):
            self._unsent = data[sent:]
            return self._push(begin + wait)
        return self.receive(begin + wait)

    def receive(self, deadline: float, *, final: bool = True) -> list[bytes]:
        """The next lines, [] when only a piece of one came. Raises ``ChannelTimeout`` and ``ChannelClosed``.

        Where this process was itself held up beyond the deadline (stopped, or without a processor), it reads what has
        come meanwhile, or waits a moment for a child that was held up too: once, until ``forgive`` is called. When that
        came nobody can tell; it is stamped with the deadline.

        A process that stands still at a ``final`` deadline was stopped by a signal, and its keeper too, or that would
        have continued it. It is continued, and has its time once more; what it says then is stamped with the deadline.
        For one that is trusted the time before does not count at all, and the stamp is earlier by it.
        """
        while True:
            end = max(deadline, self._extended)
            if (left := end - time.monotonic()) > 0:
                try:
                    stamp, came = hear(self._output, left)
                except OSError:
                    stamp, came = time.monotonic(), b""
                if came is not None:
                    self.stamp = stamp
                    return self._take_in_time(came, deadline)
            if not (final and self._excuse(deadline)):
                break
        held_up = left <= 0 or time.monotonic() > end + HELD_UP
        if not (held_up and self._patient and self._poll.poll(_SECOND_LOOK * 1000 if left > 0 else 0)):
            self._expire()
        self._patient = False
        lines = self._read()
        self.stamp = min(self.stamp - self._shift, deadline)
        return lines

    def _take_in_time(self, data: bytes, deadline: float) -> list[bytes]:
        """The lines of what came before the deadline, or while there was more time."""
        lines = self._take(data)
        if self._extended:
            self.stamp = min(self.stamp - self._shift, deadline)
        return lines

    def _excuse(self, deadline: float) -> bool:
        """Gives more time to a process that stands still."""
        if self._excuses <= 0 or not self._child.go_on():
            return False
        self._excuses -= 1
        now = time.monotonic()
        self._extended = now + max(deadline - self.begin, _SECOND_LOOK)
        if self._trusted:
            self._shift = now - self.begin
        return True

    def forgive(self) -> None:
        """A new request begins: ``receive`` may look again after its deadline."""
        self._patient = True
        self._extended = self._shift = 0.0

    def renew_excuses(self) -> None:
        """A new game begins: who stood still in the last one may have more time again."""
        self._excuses = _EXCUSES

    def waiting(self) -> list[bytes]:
        """The lines that are there already. Raises ``ChannelClosed``."""
        return self._read() if self._poll.poll(0) else []

    def _expire(self) -> NoReturn:
        self.stamp = time.monotonic()
        raise ChannelTimeout

    def processor_time(self) -> float:
        """Seconds of processor time that the process, and all that it started, have used so far; 0 where the system
        does not tell (Linux does)."""
        return tree_time(self._child.keeper)

    def say(self, line: bytes) -> None:
        """Writes a short line if that is possible at once."""
        if not self._unsent:
            if self.log is not None:
                self.log.put(time.monotonic(), SENT, line)
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
        return self._take(data)

    def _take(self, data: bytes) -> list[bytes]:
        """The lines of what was read just now."""
        if not data:
            raise self._closed("its output")
        self.received += len(data)
        if self.log is not None:
            self.log.put(self.stamp, CAME, data)
        return self._splitter.feed(data)

    def _closed(self, what: str) -> ChannelClosed:
        ended = self.wait(time.monotonic() + _STATUS_PATIENCE)
        return ChannelClosed(self.status() if ended else f"it closed {what}, but runs on")

    def _read_errors(self, errors: int) -> None:
        """In a thread of its own: what the process writes to its standard error goes to the log."""
        with suppress(OSError):
            while data := os.read(errors, _CHUNK):
                now = time.monotonic()
                self._said = Said((self._said.data + data)[-KEPT:], now)
                if self.log is not None:
                    self.log.put(now, ERROR, data)
                if len(data) > _MANY_ERRORS:
                    time.sleep(_ERROR_PAUSE)

    # --- what is known of it ---

    def last_words(self) -> Said:
        """The end of what the process wrote to its standard error; until ``reap``, but for what goes to a file."""
        path, start = self._errors_file
        if path is not None:
            if not path.is_file():  # a pipe would block
                return Said()
            with suppress(OSError), path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(start, size - KEPT))
                return Said(file.read(KEPT))
            return Said()
        if self._reader is None:
            return self._child.last_words()
        if self._child.ended:
            self._reader.join(_LAST_PATIENCE)  # unless a child of it holds the pipe open
        return self._said

    @property
    def unread(self) -> bool:
        """Whether the process has not read all that it was sent, as far as the system tells that."""
        if self._unsent:
            return True
        with suppress(OSError):
            return any(ioctl(self._input, termios.FIONREAD, bytes(4)))
        return False

    # --- the end ---

    def status(self) -> str:
        """How the process ended; empty while it runs."""
        code = self._child.returncode if self._child.ended else None
        if code is None:
            return ""
        if self._sandboxed and _BY_SIGNAL < code < _BY_SIGNAL + signal.NSIG:
            code = _BY_SIGNAL - code
        if code >= 0:
            return f"it exited with code {code}"
        with suppress(ValueError):
            return f"it was killed by {signal.Signals(-code).name}"
        return f"it was killed by signal {-code}"

    def say_quit(self) -> None:
        """Asks the process to end, and closes both pipes."""
        if self._child.input >= 0:
            self.say(b"quit\n")
        self._child.close_pipes()

    def hang_up(self, *, wholly: bool = False) -> None:
        """Closes its input, ``wholly`` its output too. Nothing can be sent after this."""
        self._child.close_input()
        self._input = -1
        if wholly:
            self._child.close_output()
            self._output = -1

    def abandon(self) -> None:
        """In a fork of the process's owner: lets go of it."""
        self._child.abandon()

    def terminate(self) -> None:
        """SIGTERM, unless it has ended."""
        self._child.terminate()

    def reap(self) -> None:
        """Kills all that is left of the process and what it started."""
        self._child.reap()
        if self._reader is not None:
            self._reader.join(_READER_PATIENCE)  # the pipe has no writers any more
            self._reader = None
        self._child.close_errors()

    def wait(self, deadline: float) -> bool:
        """Waits for the end of the process; whether it has ended."""
        return self._child.wait(deadline)


def end(channels: Sequence[Channel]) -> None:
    """Ends processes, all at once: quit, then SIGTERM, then SIGKILL to all that is left, in about half a second."""
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
