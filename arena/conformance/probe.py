"""The engine that is checked, and the tape of what was said in the running step. Everything has a deadline."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from caboose.arena.conformance.steps import Broken, Said
from caboose.engine.bot_api import Limits, Option
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.protocol.messages import (
    go_line,
    hello_line,
    parse_bestmove,
    parse_cabooseok,
    parse_id,
    parse_option_line,
    setoption_line,
)
from caboose.protocol.notation.lines import MAX_LINE, ProtocolError, shown, text_of
from caboose.protocol.notation.observation import observation_lines
from caboose.protocol.process.channel import Channel, ChannelClosed, ChannelTimeout, end
from caboose.protocol.process.faults import Wait, explain, last_words
from caboose.protocol.process.launch import IN_SANDBOX, PLAIN, Launch
from caboose.protocol.process.os_errors import cause

_FLOOD: Final = 8 << 20  # bytes of output in one step that are no answer any more
_TAPE: Final = 1000  # lines of a step that are kept
_KEPT: Final = 4096  # characters of a line that are kept
_HEARD: Final = 4  # lines that tell why an answer is missing
_START: Final = "--start-timeout SECONDS"
_BRIEF: Final = Limits(movetime=30.0)  # for positions where it only matters that the move is legal


class CannotRunError(Exception):
    """There is no such program, or it is none."""


class Silent(Broken):
    """Nothing came where something had to."""


@dataclass(slots=True)
class Answer:
    """A legal move, and how many seconds after ``go`` it came. ``before`` are the lines that came first."""

    move: Move
    seconds: float
    before: list[str] = field(default_factory=list)


class Probe:
    """Talks to the engine ``command``, for one step after the other.

    ``start`` is how many seconds the handshake may take, ``patience`` how many an answer may that no limit bounds, and
    ``margin`` how many milliseconds one may come after its limit. ``wanted`` are options that are set at every start.
    Its standard error is appended to ``stderr``. ``launch`` is how it is started.
    All that a step asks for raises ``Broken`` when the engine does not do it.
    """

    def __init__(
        self,
        command: Sequence[str],
        wanted: Mapping[str, str],
        *,
        start: float,
        patience: float,
        margin: float,
        stderr: Path,
        launch: Launch = PLAIN,
    ) -> None:
        self.start = start
        self.patience = patience
        self.margin = margin
        self.about: dict[str, str] = {}
        """What its ``id`` lines said."""
        self.options: dict[str, Option] = {}
        self.option_lines: list[str] = []
        self.capabilities: frozenset[str] = frozenset()
        self.tape: list[Said] = []
        """What was said in this step; its end is left out where it is very long."""
        self._command = list(command)
        self.wanted = dict(wanted)
        self._stderr = stderr
        self._launch = launch
        self._channel: Channel | None = None
        self._waiting: deque[tuple[str, float]] = (
            deque()
        )  # lines that came and nobody has looked at, and when they came
        self._stamp = 0.0  # when the line came that was looked at last
        self._begin = time.monotonic()
        self._odd: deque[bytes] = deque(maxlen=_HEARD)  # lines of this step that are no text
        self._number = 0
        self._answered: set[str] = set()  # with which words it has answered since it started

    # --- its life ---

    @property
    def running(self) -> bool:
        """A process is there and has not ended."""
        return self._channel is not None and not self._channel.status()

    def begin(self) -> None:
        """A new step: an empty tape."""
        self.tape = []
        self._odd.clear()
        self._begin = time.monotonic()
        self._waiting.clear()
        if self._channel is not None:
            self._channel.received = 0

    def launch(self) -> None:
        """A new process that has been told nothing. Raises ``CannotRunError``."""
        self.close()
        try:
            self._channel = Channel(self._command, self._stderr, self._launch)
        except (OSError, ValueError) as error:
            raise CannotRunError(cause(error)) from None
        self._number = 0
        self._answered = set()
        self.note("the engine is started")

    def greet(self) -> list[str]:
        """The handshake, the options that are wanted, and ``readyok``; all lines that came."""
        self.send(hello_line())
        self.about, self.options, self.option_lines, self.capabilities = {}, {}, [], frozenset()
        lines = self.hear("cabooseok", self.start)
        for line in lines:
            self._learn(line)
        self.send(*[setoption_line(name, value) for name, value in self.wanted.items()], "isready")
        answers = self.hear("readyok", self.start)
        for line in answers:
            if line.startswith("error "):
                raise Broken(f"it refuses an option that was wanted: {shown(line, 200)}")
        return lines + answers

    def restart(self) -> None:
        """A new process that has shaken hands."""
        self.launch()
        self.greet()

    def close(self) -> None:
        """Ends the process, in less than a second."""
        if self._channel is not None:
            end([self._channel])
        self._channel = None
        self._waiting.clear()

    def hang_up(self) -> None:
        """Closes the engine's input."""
        self._talk().hang_up()
        self.note("its input is closed")

    def abandon(self) -> None:
        """Closes both pipes, as when the referee is killed."""
        self._talk().hang_up(wholly=True)
        self.note("both pipes are closed")

    def ends(self, seconds: float) -> bool:
        """Whether the process ends within ``seconds``."""
        channel = self._talk()
        ended = channel.wait(time.monotonic() + seconds)
        self.note(channel.status() if ended else "it still runs")
        return ended

    def status(self) -> str:
        """How the process ended; empty while it runs."""
        return self._talk().status()

    def _learn(self, line: str) -> None:
        try:
            word = line.split(None, 1)[0]
            if word == "id":
                what, text = parse_id(line)
                self.about[what] = text
            elif word == "option":
                option = parse_option_line(line)
                self.options[option.name] = option
                self.option_lines.append(line)
            elif word == "capability":
                self.capabilities |= frozenset(line.split()[1:])
            elif word == "cabooseok":
                parse_cabooseok(line)
        except ProtocolError as error:
            raise Broken(f"in the handshake: {error}") from None

    # --- lines ---

    def send(self, *lines: str) -> None:
        """Sends lines, all at once."""
        for line in lines:
            self._tape(True, line)
        self._write("".join([f"{line}\n" for line in lines]).encode("ascii"))

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are; the tape shows them escaped."""
        self._tape(True, shown(data, _KEPT)[1:-1])
        self._write(data)

    def hear(self, word: str, seconds: float | None = None, *, number: int | None = None) -> list[str]:
        """The lines up to the first that begins with ``word``, which is the last. ``seconds`` is ``patience`` unless
        given; ``number`` is that of the ``go`` that is to be answered."""
        wait = self.patience if seconds is None else seconds
        lines: list[str] = []
        for line in self._lines(time.monotonic() + wait):
            lines.append(line)
            if line.split(None, 1)[0] == word:
                self._answered.add(word)
                return lines
            if word == "bestmove" and line.startswith("error go"):
                raise Broken(f"it refuses to move: {shown(line, 300)}")
        raise Silent(f"no {word} within {wait:g} s{self._why(word, lines, number, wait)}")

    def _why(self, word: str, lines: Sequence[str], number: int | None, seconds: float) -> str:
        """What happened instead of an answer."""
        channel = self._talk()
        told = [line for line in lines if line.split(None, 1)[0] != "info"]
        starting = word == "cabooseok" or (word == "readyok" and seconds == self.start)
        return explain(
            Wait(
                wanted=word,
                number=number,
                lines=[*self._odd, *[line.encode("ascii") for line in told[:1] + told[1:][-_HEARD:]]],
                rest=channel.unfinished,
                received=sum(map(len, lines)),
                errors=channel.last_words(),
                unread=channel.unread,
                spoke=bool(self._answered),
                answered=bool(self._answered) if number is None else "bestmove" in self._answered,
                more_time=_START if starting else "",
                seconds=seconds,
            )
        )

    def hear_for(self, seconds: float) -> list[str]:
        """All lines that come within ``seconds``."""
        return list(self._lines(time.monotonic() + seconds))

    def pause(self, seconds: float) -> None:
        """Waits; what comes meanwhile stays there to be heard."""
        deadline = time.monotonic() + seconds
        while self._receive(deadline):
            pass

    def ready(self) -> list[str]:
        """Asks ``isready``; the lines that came before ``readyok``."""
        self.send("isready")
        return self.hear("readyok")[:-1]

    def no_move(self, lines: Iterable[str]) -> None:
        """Raises ``Broken`` when one of ``lines`` is a ``bestmove``, which nobody waits for."""
        for line in lines:
            if line.split(None, 1)[0] == "bestmove":
                raise Broken(f"{shown(line)} came, and no go was running")

    def note(self, text: str) -> None:
        """Puts on the tape what is no line."""
        self._tape(False, "", text)

    def _lines(self, deadline: float) -> Iterator[str]:
        """The lines that come until the deadline, without those that are empty."""
        more = True
        while more:
            more = not self._waiting and self._receive(deadline)
            while self._waiting:
                more = True
                line, self._stamp = self._waiting.popleft()
                yield line

    def _receive(self, deadline: float) -> bool:
        """Takes in what comes next; False when nothing came until the deadline."""
        channel = self._talk()
        try:
            self._take(channel.receive(deadline))
        except ChannelTimeout:
            return False
        except ChannelClosed as closed:
            raise Broken(self._ended(closed)) from None
        return True

    def _write(self, data: bytes) -> None:
        try:
            self._take(self._talk().send(data, time.monotonic() + self.patience))
        except ChannelTimeout:
            raise Silent(f"it has not read its input for {self.patience:g} s") from None
        except ChannelClosed as closed:
            raise Broken(self._ended(closed)) from None

    def _take(self, lines: list[bytes]) -> None:
        channel = self._talk()
        for line in lines:
            text = line[:_KEPT].decode("latin-1") if line.isascii() else shown(line, _KEPT)[1:-1]
            self._tape(False, text, at=channel.stamp)
            if len(line) > MAX_LINE or b"\0" in line:
                raise Broken("a line with a NUL byte" if b"\0" in line else f"a line of more than {MAX_LINE} bytes")
            try:
                if whole := text_of(line).strip():
                    self._waiting.append((whole, channel.stamp))
            except ProtocolError as error:  # a print in some other language is forgiven, an answer is not
                if line.split(None, 1)[:1] == [b"bestmove"]:
                    raise Broken(str(error)) from None
                self._odd.append(line[:_KEPT])
        if channel.received > _FLOOD:
            raise Broken(f"it wrote {channel.received:,} bytes and no answer")

    def _tape(self, to: bool, line: str, note: str = "", at: float | None = None) -> None:
        if len(self.tape) < _TAPE:
            self.tape.append(Said((at or time.monotonic()) - self._begin, to, line[:_KEPT], note))

    def _ended(self, closed: ChannelClosed) -> str:
        self.note(str(closed))
        hint = IN_SANDBOX if self._launch.sandbox and not self._talk().received else ""
        return f"it is gone: {closed}{last_words(self._talk().last_words(), str(closed))}{hint}"

    def _talk(self) -> Channel:
        assert self._channel is not None, "no engine was started"
        return self._channel

    # --- moves ---

    def show(self, observation: Observation) -> None:
        """Sends an observation."""
        self.send(*observation_lines(observation))

    def go(
        self, observation: Observation, limits: Limits = _BRIEF, *, number: int | None = None, shown_: bool = False
    ) -> Answer:
        """Asks for a move; its time is not judged. With ``shown_`` the observation has been sent already."""
        begin = self.ask(observation, limits, number=number, shown_=shown_)
        return self.answer(observation, begin, number=number)

    def ask(
        self, observation: Observation, limits: Limits, *, number: int | None = None, shown_: bool = False
    ) -> float:
        """Sends an observation and ``go``; the moment at which it began to."""
        if number is None:
            number = self._number = self._number + 1
        begin = time.monotonic()
        lines = [] if shown_ else observation_lines(observation)
        self.send(*lines, go_line(number, limits))
        return begin

    def answer(
        self, observation: Observation, begin: float, seconds: float | None = None, *, number: int | None = None
    ) -> Answer:
        """Waits for the answer to the last ``ask``, or to ``go number``, at most ``seconds``; it must be a legal move.

        ``begin`` is the moment from which its time is counted.
        """
        wanted = self._number if number is None else number
        lines = self.hear("bestmove", seconds, number=wanted)
        try:
            given, move = parse_bestmove(lines[-1])
        except ProtocolError as error:
            raise Broken(str(error)) from None
        if given != wanted:
            raise Broken(f"it answered {shown(lines[-1])}: number {given} where {wanted} was asked")
        legal = observation.legal_moves()
        if move not in legal:
            expected = " ".join(map(str, legal))
            raise Broken(f"its move {move} is not legal, expected one of {expected}")
        return Answer(move, self._stamp - begin, lines[:-1])
