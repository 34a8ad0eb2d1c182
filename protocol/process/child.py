"""A child process, its keeper and its pipes: started, asked how it fares, ended, and nothing of it left.

``keeper.c11`` tells what a keeper is. All deadlines are ``time.monotonic`` seconds.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from typing import Final

from caboose.protocol.process.last_words import Said, WordsFile
from caboose.protocol.process.os_errors import cause

_KILL_PATIENCE: Final = 2.0  # seconds that a keeper is given to kill all that is there
_STOPPED_PATIENCE: Final = 0.05  # seconds after which a keeper that does not end is continued once more
_NUMBER: Final = 4  # bytes
_TERM: Final = b"T"
_OURS: Final = 65_536
FILTER: Final = 4  # the descriptor where a program that makes a sandbox finds the filter of system calls
_KEEPER: Final = str(Path(__file__).with_name("keeper"))


class LackError(OSError):
    """This process lacks what it takes to start another one (descriptors, processes, memory), whatever that is."""

    def __str__(self) -> str:
        return f"cannot start {self.filename}: {cause(self)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a process may use, and each that it starts; None where there is no limit.

    ``memory`` is address space in bytes, ``cpu`` seconds of processor time, ``file`` the bytes of a file that it
    writes. ``processes`` are those of the whole user (for the superuser there is no limit).
    """

    memory: int | None = None
    processes: int | None = None
    cpu: int | None = None
    file: int | None = None

    def numbers(self) -> list[int]:
        """As the keeper takes them; a core is never written."""
        given = (self.memory, self.processes, self.cpu, self.file, 0)
        return [-1 if limit is None else limit for limit in given]


UNLIMITED: Final = Resources()


class Child:
    """A running process. ``pid`` is its number, and that of its session and group; ``input`` and ``output`` are our
    ends of its pipes, both non-blocking, and ``errors`` is that of its standard error; -1 where there is none."""

    __slots__ = (
        "_control",
        "_keeper",
        "_ours",
        "_stops",
        "_undone",
        "_words",
        "errors",
        "input",
        "output",
        "pid",
        "returncode",
    )

    def __init__(
        self,
        words: Sequence[str],
        resources: Resources = UNLIMITED,
        stderr: Path | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        piped: bool = False,
        filtered: bool = False,
    ) -> None:
        """Starts a program, in our ``environment`` if it is given none. Its standard error is thrown away but for its
        end, which ``last_words`` has, or appended to the file ``stderr``, or a pipe if ``piped``. If ``filtered`` it is
        one that makes a sandbox, which has a session keyring of its own, and the filter of system calls (``filter.h``)
        to read at the descriptor ``FILTER``. Raises ``LackError`` where we cannot start anything, else ``OSError`` and
        ``ValueError``."""
        path = program(words[0])
        if any("\0" in word for word in words):
            raise ValueError("embedded null byte")
        self._ours = os.getpid()  # a fork of us has no say over the process
        self.returncode: int | None = None
        """The exit code, or minus the signal that killed it; None while it is not known to have ended."""
        self._stops = 0  # that its keeper has told
        self._undone = 0  # that we found
        self.errors = -1
        self.pid = 0  # until it has started
        self._words: WordsFile | None = None
        with ExitStack() as theirs, ExitStack() as failing:
            error = None if stderr is None else theirs.enter_context(stderr.open("ab", buffering=0))
            with _lacking(words[0]):
                # By hand: Popen leaves pipes open when it fails (Python 3.11.2).
                self.output, output = _pipe(failing, theirs)
                input_, self.input = _pipe(theirs, failing)
                if piped:
                    self.errors, errors = _pipe(failing, theirs)
                else:
                    errors = (error or theirs.enter_context(open(os.devnull, "wb", buffering=0))).fileno()
                if not piped and error is None:
                    self._words = WordsFile()
                    failing.callback(self._words.close)
                memory = -1 if self._words is None else self._words.fd
                self._control, far = socket.socketpair()
                failing.enter_context(self._control)
                theirs.enter_context(far)
                if far.fileno() <= 2:  # we were started without some of these, which the program shall have
                    far = theirs.enter_context(socket.socket(fileno=fcntl(far, F_DUPFD_CLOEXEC, 3)))
                numbers = (far.fileno(), FILTER if filtered else 0, memory, *resources.numbers())
                self._keeper = subprocess.Popen(
                    [_KEEPER, *map(str, numbers), path, *words],
                    stdin=input_,
                    stdout=output,
                    stderr=errors,
                    env=environment,
                    start_new_session=True,
                    pass_fds=[far.fileno(), *([] if memory < 0 else [memory])],
                )
            far.close()  # so that we see it when the keeper goes
            try:
                self.pid = self._hear_start(words[0])
                self._control.setblocking(False)
                os.set_blocking(self.input, False)
                os.set_blocking(self.output, False)
            except BaseException:
                self.reap()
                raise
            failing.pop_all()

    def _hear_start(self, name: str) -> int:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not poll.poll(_STOPPED_PATIENCE * 1000):
            self._go_on()
        number = int.from_bytes(self._control.recv(_NUMBER), sys.byteorder, signed=True)
        if number > 0:
            return number
        if number == 0:
            raise LackError(errno.ECHILD, "its keeper was killed", name)
        if number < -_OURS:
            raise LackError(-number - _OURS, os.strerror(-number - _OURS), name)
        # That there is a program was seen before.
        hint = f": {_interpreter(name)}" if -number == errno.ENOENT else ""
        raise OSError(-number, os.strerror(-number) + hint, name)

    @property
    def keeper(self) -> int:
        """The number of its keeper, from which it and all that it ever started descend."""
        return self._keeper.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        if self.returncode is None:
            self._hear_all()
        return self.returncode is not None

    @property
    def stops(self) -> int:
        """How often a signal is known to have stopped it; it may have been almost twice as often. Its keeper has
        continued it each time."""
        if self.returncode is None:
            self._hear_all()
        return max(self._stops, self._undone)  # the keeper may have missed those that we found

    def go_on(self) -> bool:
        """Continues it, if it is stopped now, which is when its keeper is stopped as well; whether it was (Linux)."""
        if self.returncode is not None or self._ours != os.getpid() or not _is_stopped(self.pid):
            return False
        self._undone += 1
        self._go_on()
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGCONT)  # a process that stands still: its number is its own
        return True

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
            self._go_on()
            with suppress(OSError):
                self._control.send(_TERM)

    def close_input(self) -> None:
        """Closes our end of its input, which is -1 then: it reads to an end."""
        if self.input >= 0:
            os.close(self.input)
        self.input = -1

    def close_output(self) -> None:
        """Closes our end of its output, which is -1 then: it can write nothing more."""
        if self.output >= 0:
            os.close(self.output)
        self.output = -1

    def close_pipes(self) -> None:
        """Closes our ends of its input and output."""
        self.close_input()
        self.close_output()

    def last_words(self) -> Said:
        """The end of what it wrote to its standard error, where that is neither a file nor a pipe of ours. All that it
        wrote is in it once it has ``ended``; nothing is, when ``close_errors`` was called."""
        return Said() if self._words is None else self._words.read()

    def close_errors(self) -> None:
        """Closes our end of its standard error, if there is one."""
        if self.errors >= 0:
            os.close(self.errors)
        self.errors = -1
        if self._words is not None:
            self._words.close()

    def abandon(self) -> None:
        """In a fork of its owner: lets go of it."""
        self.close_pipes()
        self.close_errors()
        self._control.close()
        self._keeper.returncode = 0  # not ours to wait for

    def reap(self) -> None:
        """Kills it and all that it started, and takes note of its end. After this nothing of it is left."""
        if self._ours != os.getpid() or self._control.fileno() < 0:
            return
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        # The other end closes with the keeper, which goes last.
        deadline = time.monotonic() + _KILL_PATIENCE
        self._control.setblocking(False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while not (gone := self._hear_all()) and (left := deadline - time.monotonic()) > 0:
            self._go_on()
            poll.poll(min(left, _STOPPED_PATIENCE) * 1000)
        self._control.close()
        if self.returncode is None:  # it is in the hands of the kernel, which does not let it go
            self.returncode = -signal.SIGKILL
        if gone:
            self._keeper.wait()

    def _go_on(self) -> None:
        """Continues the keeper, which the process may have stopped."""
        with suppress(OSError):
            os.kill(self._keeper.pid, signal.SIGCONT)  # not waited for yet, so the number is its own

    def _hear(self) -> bool:
        """Reads what the keeper says; False when it is gone. Raises ``BlockingIOError`` when it says nothing."""
        try:
            data = self._control.recv(_NUMBER)
        except ConnectionError:
            data = b""
        if data:
            number = int.from_bytes(data, sys.byteorder, signed=True)
            if number < 0:
                self._stops = -number
            else:
                self.returncode = os.waitstatus_to_exitcode(number)
            return True
        if self.returncode is None:  # somebody has killed the keeper, and by that the process
            self.returncode = -signal.SIGKILL
            if self.pid and self._ours == os.getpid():
                with suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)  # what it had started, as far as we can tell
        return False

    def _hear_all(self) -> bool:
        """Reads all that the keeper has said; whether it is gone."""
        try:
            while self._hear():
                pass
        except BlockingIOError:
            return False
        return True


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """A pipe; each of its ends is closed with a stack."""
    ends = os.pipe()
    reading.callback(os.close, ends[0])
    writing.callback(os.close, ends[1])
    return ends


def _is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal; False where the system does not tell (Linux does)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return file.read(1024).rpartition(b")")[2].split(None, 1)[0] == b"T"
    except (OSError, IndexError):
        return False


def program(name: str) -> str:
    """The path of the program that ``name`` runs. Raises ``OSError`` for one that is not there or cannot be run, and
    ``ValueError``."""
    if "\0" in name:
        raise ValueError("embedded null byte")
    path = shutil.which(name)
    if path is None:
        if "/" not in name or not (place := Path(name)).exists():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        hint = "; expected an executable (chmod +x), or the interpreter before it" if place.is_file() else ""
        raise OSError(errno.EACCES, os.strerror(errno.EACCES) + hint, name)
    return path


def _interpreter(name: str) -> str:
    """What is wrong with the first line of a script that cannot be run."""
    with suppress(OSError, TypeError), open(shutil.which(name) or name, "rb") as file:
        if file.readline(256).endswith(b"\r\n"):
            return "its first line ends with CR LF, expected LF alone"
    return "the interpreter that its first line names"


@contextmanager
def _lacking(name: str) -> Iterator[None]:
    """Every ``OSError`` is a ``LackError``."""
    try:
        yield
    except OSError as error:
        what = _KEEPER if error.filename == _KEEPER else name  # an installation without it
        raise LackError(error.errno, error.strerror, what) from None
