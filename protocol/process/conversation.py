"""What is said between us and one engine process: requests and their answers, each within its time.

Everything that an engine can do wrong while it runs ends here as an ``EngineFault``.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Final, NoReturn

from caboose.engine.bot_api import Info, Limits
from caboose.engine.rules.moves import Move
from caboose.protocol.messages import parse_bestmove, parse_info_line
from caboose.protocol.notation.lines import MAX_LINE, ProtocolError, text_of
from caboose.protocol.notation.words import WordError, parse_move
from caboose.protocol.process.channel import HELD_UP, Channel, ChannelClosed, ChannelTimeout
from caboose.protocol.process.faults import STRAYED, EngineFault, Wait, explain, heard_text, holds, last_words

_FLOOD: Final = 32 << 20  # bytes of output in answer to one request that are no answer any more
_STOP_TICK: Final = 0.005  # seconds between two looks at Limits.stop
_REMEMBERED: Final = 4  # unknown lines that are kept to explain a fault
_SHORT: Final = 64  # bytes of an answer that has nothing wrong with it
_KEPT: Final = 400  # bytes of an unknown line that are kept
_ANSWERS: Final = (b"bestmove", b"readyok", b"cabooseok")


class Conversation:
    """Talks over ``channel``. ``guard`` is that of ``EngineProcess``, in seconds."""

    __slots__ = ("_allowed", "_answer", "_deadline", "_early", "_first", "_limits", "_more_time", "_near", "_notes",
                 "_number", "_over", "_spoke", "_stopped", "_wanted", "channel", "dead", "guard", "info_line",
                 "last_time", "moved", "stale")  # fmt: skip

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
        self.moved = False
        """Whether it has ever answered a go; the user may know more."""
        self._notes: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._near = b""  # the first line that looks like the answer, and is none
        self._early: deque[bytes] = deque(maxlen=_REMEMBERED)  # answers to nothing that was asked
        self._wanted = ""  # the word with which the answer begins
        self._spoke = False  # it has answered something
        self._first = False  # this go is the first of its game …
        self._more_time = ""  # … and by this name it can be given more time
        self._number = 0
        self._answer = b""
        self._limits = Limits()
        self._allowed: float | None = None  # seconds for this go …
        self._over = 0.0  # … and the margin
        self._deadline = 0.0
        self._stopped = False

    # --- go ---

    def ask(
        self,
        number: int,
        data: bytes,
        limits: Limits,
        allowed: float | None,
        margin: float,
        *,
        first: bool = False,
        grace: str = "",
    ) -> Move:
        """Sends ``data``, which ends with ``go number``, and waits for the move, for ``allowed`` seconds (None: the
        guard) and ``margin``. A fault of the ``first`` move of a game names ``grace``, by which that can be given more
        time. Raises ``EngineFault``."""
        channel = self.channel
        self._first, self._more_time, self._wanted = first, grace, "bestmove"
        self._limits, self._allowed, self._over, self._stopped = limits, allowed, margin, False
        self._number = number
        self._answer = answer = b"bestmove %d " % number
        self.info_line = ""
        watched = limits.stop is not None or limits.infinite
        wait = self.guard if allowed is None else allowed + margin
        channel.received = 0
        channel.forgive()
        if self._notes:
            self._forget()
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
                        self.moved = True
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
            self._note(line)
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
            self._unasked_answer(text.encode("ascii"))
            self._note(text.encode("ascii"))
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

    def request(self, lines: list[str], seconds: float, last: str, more_time: str = "") -> list[str]:
        """Sends ``lines``; returns what comes up to the line whose word is ``last``. ``more_time`` is the name by which
        it can be given more than ``seconds``. Raises ``EngineFault``."""
        deadline = time.monotonic() + seconds
        self._wanted = last
        answers: list[str] = []
        try:
            self._begin_request()
            came = self.channel.send("\n".join([*lines, ""]).encode("ascii"), deadline)
            while True:
                for seen, line in enumerate(came, 1):
                    text = self._text(line)
                    word = text.split(None, 1)[0] if text else ""
                    if word == "bestmove":
                        self._unasked_answer(line)
                    elif text:
                        answers.append(text)
                    if word == last:
                        self._spoke = True
                        self._early = deque((e for e in self._early if e.startswith(b"bestmove")), _REMEMBERED)
                        self._take_unasked(came[seen:])
                        return answers
                if self.channel.received > _FLOOD:
                    self._flooded(last)
                came = self.channel.receive(deadline)
        except ChannelClosed as closed:
            self._notes.extend(answer.encode("ascii") for answer in answers[-1:])
            self._died(str(closed))
        except ChannelTimeout:
            if status := self.channel.status():
                self._died(status)
            self._near = self._near or next((a.encode("ascii") for a in answers if holds(a.encode("ascii"), last)), b"")
            self._notes.extend(answer.encode("ascii") for answer in answers[-1:])
            why = self._why(self._wait(more_time), deadline - seconds)
            raise EngineFault("late", f"no {last} within {seconds:.3g} s of {lines[-1]}{why}{self._stops()}") from None

    def _begin_request(self) -> None:
        """What came when nothing was asked is no answer to what is asked next."""
        self._forget()
        self.channel.received = 0
        self.channel.forgive()
        self.channel.begin = time.monotonic()
        try:
            if lines := self.channel.waiting():
                self._take_unasked(lines)
                self.channel.received = 0
        except ChannelClosed as closed:
            self._died(str(closed))

    def _take_unasked(self, lines: list[bytes]) -> None:
        for line in lines:
            if line.startswith(_ANSWERS):
                self._unasked_answer(line)
            elif not line.startswith(b"info"):
                self._note(line)

    def _unasked_answer(self, line: bytes) -> None:
        self._early.append(line[:_KEPT])
        self.stale += line.startswith(b"bestmove")

    def _note(self, line: bytes) -> None:
        """Keeps a line that is no answer, to explain a fault."""
        self._notes.append(line[:_KEPT])
        if not self._near and holds(line, self._wanted):
            self._near = line[:_KEPT]

    def _forget(self) -> None:
        self._notes.clear()
        self._near = b""

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
            hint = " (it looks like UTF-16)" if line[:_KEPT].count(b"\0") > 1 else ""
            raise EngineFault("garbled", f"{error}{hint}") from None
        self._note(line)

    def _flooded(self, wanted: str) -> NoReturn:
        raise EngineFault("garbled", f"{self.channel.received} bytes of output without {wanted}{self._heard()}")

    def _late(self) -> NoReturn:
        if status := self.channel.status():  # a child of it holds the output open
            self._died(status)
        wait = self._wait("" if self._allowed is None or self._stopped else self._more_time, self._number)
        self.channel.say(b"stop\n")
        allowed, margin = self._allowed, self._over
        if self._stopped:
            what = f"{margin * 1000:.0f} ms of stop"
        elif allowed is None:
            what = f"the guard of {self.guard:g} s"
        else:  # below zero a seat lives on what is left of the margin
            what = f"{max(allowed, 0) * 1000:.0f} ms and a margin of {(margin + min(allowed, 0)) * 1000:.0f} ms"
        why = self._heard() if self._stopped else self._why(wait, self.channel.begin)
        raise EngineFault("late", f"no answer within {what}{why}{self._stops()}")

    def _wait(self, more_time: str, number: int | None = None) -> Wait:
        """What is known of the question, to which no answer came."""
        channel, wanted = self.channel, self._wanted
        own = b"bestmove %d " % number if number is not None else wanted.encode("ascii")
        return Wait(
            wanted=wanted,
            number=number,
            lines=[*([self._near] if self._near and self._near not in self._notes else []), *self._notes],
            rest=channel.unfinished,
            received=channel.received,
            errors=channel.last_words(),
            early=next((line for line in self._early if line.startswith(own)), b""),
            unread=channel.unread,
            spoke=self._spoke,
            answered=self._spoke if number is None else self.moved,
            first=self._first,
            more_time=more_time,
            seconds=self.guard if self._allowed is None else self._allowed,
        )

    @staticmethod
    def _why(wait: Wait, begin: float) -> str:
        """What happened instead, and what it wrote last to its standard error, if that was after ``begin``."""
        why = explain(wait)
        return why if wait.errors.stamp < begin or STRAYED in why else why + last_words(wait.errors, "")

    def _died(self, how: str) -> NoReturn:
        self.dead = how
        raise EngineFault("dead", how + self._heard() + last_words(self.channel.last_words(), how)) from None

    def _stops(self) -> str:
        """Where a late engine was stopped: by itself, or by whoever may send it a signal."""
        stops = self.channel.stops
        if not stops:
            return ""
        return f"; signals had stopped it {'once' if stops == 1 else f'{stops} times or more'}, and it was continued"

    def _heard(self) -> str:
        return heard_text(self._notes, self.channel.unfinished)
