"""An engine process seen from outside: it is a bot like any other, and nothing that it does can hang us.

No threads and no event loop: raw descriptors, one poll, and a deadline on every read and write. A process that
misbehaves gives an ``EngineFault`` whose ``kind`` says how. What a fault costs is the referee's business.
"""

from __future__ import annotations

import atexit
import os
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self

from caboose.engine.bot_api import Info, Limits, Option, OptionError
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.protocol.messages import (
    go_line,
    hello_line,
    parse_cabooseok,
    parse_id,
    parse_option_line,
    setoption_line,
)
from caboose.protocol.notation.lines import MAX_LINE, ProtocolError, shown
from caboose.protocol.notation.observation_writer import observation_bytes
from caboose.protocol.process.channel import Channel, end
from caboose.protocol.process.child import LackError
from caboose.protocol.process.conversation import Conversation
from caboose.protocol.process.faults import FAULT_KINDS, EngineFault
from caboose.protocol.process.gamelog import SeatLog
from caboose.protocol.process.launch import IN_SANDBOX, PLAIN, Launch
from caboose.protocol.process.os_errors import cause

__all__ = ["FAULT_KINDS", "EngineFault", "EngineProcess", "LackError", "close_all"]
_KNOWN: Final = 500  # characters of a list of options that an error shows


class EngineProcess:
    """An engine process as a ``Bot``. Use it as a context manager, or call ``start`` and ``close``.

    ``command`` is a command line (split as a shell does) or its words. ``options`` are set at every start.
    ``start_timeout`` (seconds) bounds the handshake, and every later wait for ``readyok``. ``margin``
    (milliseconds) is what an answer may take beyond its limit. ``guard`` (seconds) bounds a ``go`` that no time
    limits (nodes, playouts, infinite). ``name`` is used instead of the name that the engine gives. The engine's
    standard error is thrown away, or appended to the file ``stderr``. ``launch`` says what it may use and see. Who is
    ``trusted`` is one of our own: its memory is hidden once it has started, and it does not stop itself.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        options: Mapping[str, str] | None = None,
        *,
        start_timeout: float = 10.0,
        margin: float = 50.0,
        guard: float = 60.0,
        name: str | None = None,
        stderr: Path | None = None,
        launch: Launch = PLAIN,
        trusted: bool = False,
    ) -> None:
        self._command = command
        self._wanted = dict(options or {})
        self._start_timeout = start_timeout
        self._margin = margin / 1000
        self._guard = guard
        self._given_name = name
        self._stderr = stderr
        self._launch = launch
        self._trusted = trusted
        self._log: SeatLog | None = None
        self._about: dict[str, str] = {}
        self._options: dict[str, Option] = {}
        self._capabilities: frozenset[str] = frozenset()
        self._talk: Conversation | None = None  # with the last process that was started
        self._told_new_game = False
        self._first = True  # the next go is the first of its game
        self._moved = False  # it has answered a go, in whatever process
        self._number = 0
        self._barred = ""

    # --- what it is ---

    @property
    def name(self) -> str:
        """The name given, or the one that the engine gave, or the command's."""
        if self._given_name is not None:
            return self._given_name
        if self.said_name:
            return self.said_name
        try:
            return os.path.basename(self._words()[0])
        except EngineFault:  # what is wrong with the command is for start to say
            return str(self._command)

    @property
    def said_name(self) -> str:
        """What the engine says it is called; empty if nothing."""
        return self._about.get("name", "")

    @property
    def version(self) -> str:
        """What the engine says of its version; empty if nothing."""
        return self._about.get("version", "")

    @property
    def author(self) -> str:
        """What the engine says of its author; empty if nothing."""
        return self._about.get("author", "")

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that the engine declared; empty before the first start."""
        return MappingProxyType(self._options)

    @property
    def capabilities(self) -> frozenset[str]:
        """The words of its ``capability`` lines."""
        return self._capabilities

    @property
    def running(self) -> bool:
        """Started, not closed, and not known to be dead."""
        return self._talk is not None and not self._talk.dead

    @property
    def pid(self) -> int | None:
        """The process number while it runs."""
        return None if self._talk is None or self._talk.dead else self._talk.channel.pid

    @property
    def last_time(self) -> float:
        """Milliseconds from the moment ``go`` was sent until the answer to the last ``choose`` arrived, or until
        the fault was seen."""
        return 0.0 if self._talk is None else self._talk.last_time * 1000

    @property
    def processor_time(self) -> float:
        """Milliseconds of processor time that it and all that it started have used since its start; 0 when it does not
        run, and where the system does not tell (Linux does)."""
        return 0.0 if self._talk is None or not self.running else self._talk.channel.processor_time() * 1000

    @property
    def trusted(self) -> bool:
        """Whether it is one of our own."""
        return self._trusted

    @property
    def stops(self) -> int:
        """How often a signal is known to have stopped it since its start; it was continued each time."""
        return 0 if self._talk is None else self._talk.channel.stops

    @property
    def last_info(self) -> Info | None:
        """The last ``info`` line of the last ``choose`` but ``info string``; None without one that can be read."""
        return None if self._talk is None else self._talk.info()

    @property
    def stale(self) -> int:
        """How many ``bestmove`` lines since the start were ignored because they answered no running ``go``."""
        return 0 if self._talk is None else self._talk.stale

    @property
    def log(self) -> SeatLog | None:
        """Where all that is said goes. The standard error of a process that was started without one is not in it."""
        return self._log

    @log.setter
    def log(self, log: SeatLog | None) -> None:
        self._log = log
        if self._talk is not None:
            self._talk.channel.log = log

    # --- its life ---

    def start(self) -> None:
        """Starts the process, shakes hands, sets the options and waits for ``readyok``.

        Does nothing when it runs already; after ``close`` or a fault it starts a fresh process. Raises
        ``EngineFault`` (``start``), ``OptionError`` for an option that the engine does not declare or a value that it
        does not take, ``LackError`` and ``SandboxError`` where it is not its fault; then no process is left.
        """
        if self.running:
            return
        self.close()
        if self._barred:
            raise EngineFault("start", self._barred)
        self._about, self._options, self._capabilities = {}, {}, frozenset()
        self._told_new_game = False
        deadline = time.monotonic() + self._start_timeout
        try:
            talk = self._spawn()
            self._shake_hands(talk)
            lines = []
            for name, value in self._wanted.items():
                self._check_option(name, value)
                lines.append(setoption_line(name, value))
            errors = _synchronize(talk, lines, deadline - time.monotonic(), self._launch.times.startup)
            if errors:
                raise OptionError(f"{self.name} refuses an option: {'; '.join(errors)}")
        except EngineFault as fault:
            self.close()
            hint = IN_SANDBOX if self._launch.sandbox and "it exited with" in fault.detail else ""
            raise EngineFault("start", fault.detail + hint) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the process: quit, then SIGTERM, then SIGKILL to its whole group, in less than a second; reaps it.

        May be called at any time and more than once.
        """
        close_all([self])

    def bar(self, why: str) -> None:
        """Ends the process for good: every later ``start`` is an ``EngineFault`` that says ``why``."""
        self.close()
        self._barred = why

    def __enter__(self) -> Self:
        """Starts it."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def _words(self) -> list[str]:
        if not isinstance(self._command, str):
            words = list(self._command)
        else:
            try:
                words = shlex.split(self._command)
            except ValueError as error:
                raise EngineFault("start", f"command line {shown(self._command, 200)}: {error}") from None
        if not words:
            raise EngineFault("start", "the command line is empty, expected the program and its arguments")
        return words

    def _spawn(self) -> Conversation:
        words = self._words()
        try:
            channel = Channel(words, self._stderr, self._launch, self._log, trusted=self._trusted)
        except LackError:
            raise
        except (OSError, ValueError) as error:
            why = cause(error)
            raise EngineFault("start", f"cannot run {shown(shlex.join(words), 200)}: {why}") from None
        self._talk = Conversation(channel, self._guard)
        _OPEN.add(self)
        return self._talk

    def _shake_hands(self, talk: Conversation) -> None:
        try:
            for line in talk.request([hello_line()], self._start_timeout, "cabooseok", self._launch.times.startup):
                word = line.split(None, 1)[0]
                if word == "id":
                    what, text = parse_id(line)
                    self._about[what] = text
                elif word == "option":
                    option = parse_option_line(line)
                    self._options[option.name] = option
                elif word == "capability":
                    self._capabilities |= frozenset(line.split()[1:])
                elif word == "cabooseok":
                    parse_cabooseok(line)
        except ProtocolError as error:
            raise EngineFault("start", f"in the handshake: {error}") from None

    def _check_option(self, name: str, value: str) -> None:
        option = self._options.get(name)
        if option is None:
            known = ", ".join(self._options)[:_KNOWN] or "none"
            raise OptionError(f"{self.name} has no option {name[:40]!r}: its options are: {known}")
        option.parse(value)
        if len(setoption_line(name, value)) > MAX_LINE:
            raise OptionError(f"option {name}: {shown(value)}: {len(value)} characters, a line has {MAX_LINE} at most")
        if not value.isascii() or not (value.isprintable() or not value):
            raise OptionError(f"option {name}: {shown(value)}: expected printable ASCII")

    # --- what it is asked ---

    def set_option(self, name: str, value: str) -> None:
        """Sets an option, now and at every later start.

        Raises ``OptionError`` when the engine does not take it, ``EngineFault`` (``dead``, ``late``,
        ``garbled``).
        """
        talk = self._alive()
        self._check_option(name, value)
        errors = _synchronize(talk, [setoption_line(name, value)], self._start_timeout, self._launch.times.startup)
        if errors:
            raise OptionError(f"{self.name} refuses option {name}: {'; '.join(errors)}")
        self._wanted[name] = value

    def new_game(self) -> None:
        """Says ``newgame`` and waits for ``readyok``. Raises ``EngineFault`` (``dead``, ``late``, ``garbled``)."""
        talk = self._alive()
        talk.channel.renew_excuses()
        _synchronize(talk, ["newgame"], self._start_timeout, self._launch.times.startup)
        self._told_new_game = self._first = True

    def choose(self, observation: Observation, limits: Limits) -> Move:
        """The engine's move. Raises ``EngineFault`` (any kind but ``start``; ``dead`` when it does not run).

        Within limit + margin (or guard) it returns or raises. Once ``limits.stop`` is set, ``stop`` is sent and
        the engine has ``margin`` to answer. With ``infinite`` and nobody to set ``stop``, the guard sends it.
        """
        times = [time for time in (limits.movetime, limits.roundcap, limits.gamecap) if time is not None]
        if limits.clock is not None:
            times.append(limits.clock + (limits.allowance or 0.0))
        return self._ask(observation, limits, min(times, default=None), observation.legal_moves(), "")

    def ask(self, observation: Observation, limits: Limits, allowed: float | None, legal: Sequence[Move]) -> Move:
        """As ``choose``, for callers who know better when an answer is late: after ``allowed`` ms and the margin (below
        zero the margin is shorter by that), or after the guard if it is None; and what the ``legal`` moves are."""
        return self._ask(observation, limits, allowed, legal, self._launch.times.grace)

    def _ask(
        self, observation: Observation, limits: Limits, allowed: float | None, legal: Sequence[Move], grace: str
    ) -> Move:
        """``grace`` is what those who ask call the time that the first move of a game may take more, if they do."""
        talk = self._alive()
        self._number += 1
        said = observation_bytes(observation) + f"{go_line(self._number, limits)}\n".encode("ascii")
        if not self._told_new_game:  # started anew in mid-game
            said = b"newgame\n" + said
            self._told_new_game = True
        first, self._first = self._first, False
        talk.moved = talk.moved or self._moved
        seconds = None if allowed is None else allowed / 1000
        move = talk.ask(self._number, said, limits, seconds, self._margin, first=first, grace=grace)
        self._moved = True
        if move not in legal:
            raise EngineFault("illegal", f"{move}, expected one of {' '.join(map(str, legal))}")
        return move

    def _alive(self) -> Conversation:
        if self._talk is None or self._talk.dead:
            why = "it was not started" if self._talk is None else self._talk.dead
            raise EngineFault("dead", f"{self.name} does not run: {why}")
        return self._talk


def _synchronize(talk: Conversation, lines: list[str], seconds: float, more_time: str) -> list[str]:
    """Sends ``lines`` and ``isready``; returns the errors that came before ``readyok``."""
    answers = talk.request([*lines, "isready"], seconds, "readyok", more_time)
    return [answer[6:] for answer in answers if answer.startswith("error ")]


def close_all(engines: Iterable[EngineProcess]) -> None:
    """Closes many at once: all together are given the time that ``close`` gives one."""
    talks = []
    for engine in engines:
        if engine in _OPEN:
            _OPEN.discard(engine)
            if engine._talk is not None:
                engine._talk.dead = engine._talk.dead or "it was closed"
                talks.append(engine._talk)
    end([talk.channel for talk in talks])


_OPEN: Final[set[EngineProcess]] = set()  # those with a process that was not yet reaped


def _abandon_all() -> None:
    """In a forked child: the engines are the parent's."""
    for engine in _OPEN:
        if engine._talk is not None:
            engine._talk.dead = "it belongs to the parent process"
            engine._talk.channel.abandon()
    _OPEN.clear()


atexit.register(lambda: close_all(list(_OPEN)))
os.register_at_fork(after_in_child=_abandon_all)
