"""What is said between us and one engine process: requests and their answers, each within its time.

Everything that an engine can do wrong while it runs ends here as an ``EngineFault``.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Final, NoReturn

from caboose.engine.moves import Move
from caboose.engine.play import Info, Limits
from caboose.protocol.channel import HELD_UP, Channel, ChannelClosed, ChannelTimeout
from caboose.protocol.faults import EngineFault
from caboose.protocol.lines import MAX_LINE, ProtocolError, shown, text_of
from caboose.protocol.messages import parse_bestmove, parse_info_line
from caboose.protocol.words import WordError, parse_move

_FLOOD: Final = 32 << 20  # bytes of output in answer to one request that are no answer any more
_STOP_TICK: Final = 0.005  # seconds between two looks at Limits.stop
_REMEMBERED: Final = 4  # unknown lines that are kept to explain a fault
_SHORT: Final = 64  # bytes of an answer that has nothing wrong with it
SILENT: Final = "it wrote nothing (does it flush its output?)"


class Conversation:
    """Talks over ``channel``. ``guard`` is that of ``EngineProcess``, in seconds."""

    __slots__ = ("_allowed", "_answer", "_deadline", "_limits", "_notes", "_number", "_over", "_stopped",
                 "channel", "dead", "guard", "info_line", "last_time", "stale")  # fmt: skip

    def __init__(self, channel: Channel, guard: float) -> None:
        self.channel = channel
        self.guard = guard
        self.dead = ""
        """How the process ended; empty while it is not known to have."""
        self.stale = 0
        """How many answers were ignored because they answered nothing."""
        self.last_time = 0.0
        """Seconds from go to its answer or its fault."""
        self.info_line = ""
        """The last info line of the last go, as it came."""
        self._notes: deque[str] = deque(maxlen=_REMEMBERED)
        self._number = 0
        self._answer = b""
        self._limits = Limits()
        self._allowed: float | None = None  # seconds for this go …
        self._over = 0.0  # … and the margin
        self._deadline = 0.0
        self._stopped = False

    # --- go ---

    def ask(self, number: int, data: bytes, limits: Limits, allowed: float | None, margin: float) -> Move:
        """Sends ``data``, which ends with ``go number``, and waits for the move, for ``allowed`` seconds (None: the
        guard) and ``margin``. Raises ``EngineFault``."""
        channel = self.channel
        self._limits, self._allowed, self._over, self._stopped = limits, allowed, margin, False
        self._number = number
        self._answer = answer = b"bestmove %d " % number
        self.info_line = ""
        watched = limits.stop is not None or limits.infinite
        wait = self.guard if allowed is None else allowed + margin
        channel.received = 0
        channel.forgive()
        if self._notes:
            self._notes.clear()
        try:
            lines = None if watched else channel.exchange(data, wait)
            if lines is None:
                channel.stamp = channel.begin = time.monotonic()
                self._begin_request()
                channel.stamp = channel.begin = time.monotonic()
                self._deadline = channel.begin + wait
                lines = channel.send(data, self._deadline)
            self._deadline = channel.begin + wait
            while True:
                for seen, line in enumerate(lines, 1):
                    move = self._take_answer(line) if line.startswith(answer) else self._take(line)
                    if move is not None:
                        if seen < len(lines):
                            self._take_unasked(lines[seen:])
                        return move
                if channel.received > _FLOOD:
                    self._flooded("a bestmove")
                lines = self._receive() if watched else channel.receive(self._deadline)
        except ChannelTimeout:
            self._late()
        except ChannelClosed as closed:
            self._died(str(closed))
        finally:
            self.last_time = channel.stamp - channel.begin

    def _take_answer(self, line: bytes) -> Move | None:
        """The answer that we wait for, at first sight."""
        self._check_time()
        if len(line) <= _SHORT and line.isascii():
            try:
                return parse_move(line[len(self._answer) :].decode("ascii"))
            except WordError:
                pass  # said below, in the words of a whole line
        return self._take(line)

    def _check_time(self) -> None:
        """Raises ``EngineFault`` for an answer that is late, before its move is looked at: late is not illegal.

        An answer that we find because we were held up until long after the deadline counts as having come at the
        deadline: nobody can tell, and an engine does not pay for our stalls.
        """
        channel = self.channel
        if channel.stamp > self._deadline:
            if channel.stamp - self._deadline < HELD_UP:
                self._late()
            channel.stamp = self._deadline

    def _receive(self) -> list[bytes]:
        """The next lines, keeping an eye on ``Limits.stop`` and, for infinite, on the guard."""
        stop = self._limits.stop
        if stop is None or self._stopped:
            tick = self._deadline
        else:
            if stop.is_set():
                self._say_stop(min(self._deadline, time.monotonic() + self._over))
            tick = min(self._deadline, time.monotonic() + _STOP_TICK)
        try:
            return self.channel.receive(tick, final=tick >= self._deadline)
        except ChannelTimeout:
            if self.channel.stamp >= self._deadline:
                if self._stopped or not self._limits.infinite or self._allowed is not None:
                    raise
                self._say_stop(self._deadline + self._over)
            return []

    def _say_stop(self, deadline: float) -> None:
        self.channel.say(b"stop\n")
        self._stopped = True
        self._deadline = deadline

    def _take(self, line: bytes) -> Move | None:
        """One line while a ``go`` runs; the move when it is the answer."""
        if line.startswith(b"info "):
            self._take_info(line)
            return None
        text = self._text(line)
        word = text.split(None, 1)[0] if text else ""
        if word == "bestmove":
            return self._take_bestmove(text)
        if word == "info":
            self._take_info(line)
        elif text.startswith((f"error go {self._number}:", "error go:")):
            raise EngineFault("refused", f"it answered {text[:300]}")
        elif text:
            self._notes.append(shown(text))
        return None

    def _take_info(self, line: bytes) -> None:
        # Read only when somebody wants to know: engines write many of them.
        try:
            text = text_of(line)
            if text.split(None, 2)[1:2] != ["string"]:
                self.info_line = text
            report = self._limits.report
            if report is not None and (info := parse_info_line(text)) is not None:
                report(info)
        except ProtocolError as error:
            self._note_unreadable(line, error)

    def _take_bestmove(self, text: str) -> Move | None:
        number = text.split(None, 2)[1:2]
        if number and number[0].isdigit() and number[0] != str(self._number):
            self.stale += 1
            self._notes.append(shown(text))
            return None
        self._check_time()
        try:
            return parse_bestmove(text)[1]
        except ProtocolError as error:
            raise EngineFault("garbled", str(error)) from None

    def info(self) -> Info | None:
        """The last ``info`` line of the last go; None without one that can be read."""
        try:
            return parse_info_line(self.info_line) if self.info_line else None
        except ProtocolError:
            return None

    # --- requests that have one answer ---

    def request(self, lines: list[str], seconds: float, last: str) -> list[str]:
        """Sends ``lines``; returns what comes up to the line whose word is ``last``. Raises ``EngineFault``."""
        deadline = time.monotonic() + seconds
        answers: list[str] = []
        try:
            self._begin_request()
            came = self.channel.send("\n".join([*lines, ""]).encode("ascii"), deadline)
            while True:
                for line in came:
                    text = self._text(line)
                    word = text.split(None, 1)[0] if text else ""
                    if word == "bestmove":
                        self.stale += 1
                    elif text:
                        answers.append(text)
                    if word == last:
                        return answers
                if self.channel.received > _FLOOD:
                    self._flooded(last)
                came = self.channel.receive(deadline)
        except ChannelClosed as closed:
            self._notes.extend(map(shown, answers[-1:]))
            self._died(str(closed))
        except ChannelTimeout:
            if status := self.channel.status():
                self._died(status)
            self._notes.extend(map(shown, answers[-1:]))
            hint = "" if self.channel.received else f"; {SILENT}"
            raise EngineFault(
                "late", f"no {last} within {seconds:.3g} s of {lines[-1]}{hint}{self._heard()}{self._stops()}"
            ) from None

    def _begin_request(self) -> None:
        """What came when nothing was asked is no answer to what is asked next."""
        if self._notes:
            self._notes.clear()
        self.channel.received = 0
        self.channel.forgive()
        self.channel.begin = time.monotonic()
        try:
            if lines := self.channel.waiting():
                self._take_unasked(lines)
        except ChannelClosed as closed:
            self._died(str(closed))

    def _take_unasked(self, lines: list[bytes]) -> None:
        for line in lines:
            if line.startswith(b"bestmove"):
                self.stale += 1
            elif not line.startswith(b"info"):
                self._notes.append(shown(line))

    # --- what can go wrong ---

    def _text(self, line: bytes) -> str:
        """A line from the engine; empty for one that is to be ignored."""
        try:
            return text_of(line).strip()
        except ProtocolError as error:
            self._note_unreadable(line, error)
            return ""

    def _note_unreadable(self, line: bytes, error: ProtocolError) -> None:
        """A print in some other language is forgiven; a line that is too long or binary, or an answer, is not."""
        if len(line) > MAX_LINE or b"\0" in line or line.split(None, 1)[:1] == [b"bestmove"]:
            raise EngineFault("garbled", str(error)) from None
        self._notes.append(shown(line))

    def _flooded(self, wanted: str) -> NoReturn:
        raise EngineFault("garbled", f"{self.channel.received} bytes of output without {wanted}{self._heard()}")

    def _late(self) -> NoReturn:
        if status := self.channel.status():  # a child of it holds the output open
            self._died(status)
        self.channel.say(b"stop\n")
        allowed, margin = self._allowed, self._over
        hint = "" if self.channel.received else f"; {SILENT}"
        if self._stopped:
            what, hint = f"{margin * 1000:.0f} ms of stop", ""
        elif allowed is None:
            what = f"the guard of {self.guard:g} s"
        else:  # below zero a seat lives on what is left of the margin
            what = f"{max(allowed, 0) * 1000:.0f} ms and a margin of {(margin + min(allowed, 0)) * 1000:.0f} ms"
        raise EngineFault("late", f"no answer within {what}{hint}{self._heard()}{self._stops()}")

    def _died(self, how: str) -> NoReturn:
        self.dead = how
        raise EngineFault("dead", how + self._heard()) from None

    def _stops(self) -> str:
        """Where a late engine was stopped: by itself, or by whoever may send it a signal."""
        stops = self.channel.stops
        if not stops:
            return ""
        return f"; signals had stopped it {'once' if stops == 1 else f'{stops} times or more'}, and it was continued"

    def _heard(self) -> str:
        heard = [*self._notes]
        if rest := self.channel.unfinished:
            heard.append(f"{shown(rest)} without a line end")
        return f"; it wrote {' '.join(heard)}" if heard else ""
