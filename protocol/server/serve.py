"""The engine's loop: any bot as an engine process.

The caller's thread reads, so that ``stop``, ``quit`` and the end of input act at once; one worker thread does
what the lines say, in order, and thinks. Nothing that comes in ends the loop but ``quit`` and the end of input.
"""

from __future__ import annotations

import difflib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import BinaryIO, Final

from caboose.engine.bot_api import Bot, Info, Limits, OptionError
from caboose.engine.rules.seats import written
from caboose.protocol.messages import (
    bestmove_line,
    capability_line,
    error_line,
    info_line,
    option_line,
    parse_go,
    parse_go_number,
    parse_hello,
    parse_setoption,
)
from caboose.protocol.notation.lines import MAX_LINE, LineSplitter, ProtocolError, shown, text_of
from caboose.protocol.notation.observation import OBSERVATION_WORDS, ObservationReader
from caboose.protocol.process.faults import error_text

_CHUNK: Final = 65_536
_BACKLOG: Final = 32 << 20  # bytes of lines that may wait while the worker thinks; more are read when it is through
_PAUSE: Final = 0.01  # seconds between two looks at whether it is
_PATIENCE: Final = 2.0  # seconds that a bot is given to notice stop when the input has ended

_Batch = tuple[int, list[bytes]] | None  # the number of its first line and the lines; None is the end


def serve(bot: Bot, lines_in: BinaryIO, out: BinaryIO, *, version: str = "", author: str = "") -> None:
    """Speaks the protocol for ``bot`` until ``quit`` or the end of ``lines_in``; then what came before it is answered
    at once and the function returns. A bot that cannot be stopped is left behind on a daemon thread.

    A bot may have an attribute ``capabilities``, a collection of words that the handshake announces.
    """
    _Loop(bot, out, version, author).run(lines_in)


def serve_stdio(bot: Bot, *, version: str = "", author: str = "") -> None:
    """``serve`` on standard input and output. What the bot itself prints goes to standard error instead, to nowhere
    where that is closed. Raises ``OSError`` when one of the two is closed."""
    sys.stdout.flush()
    os.set_blocking(0, True)
    os.set_blocking(1, True)
    try:
        os.fstat(2)
    except OSError:
        os.open(os.devnull, os.O_WRONLY)  # becomes 2, which is the lowest that is free
    with open(os.dup(0), "rb", buffering=0) as lines_in, open(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        with suppress(KeyboardInterrupt):  # somebody at a terminal has had enough
            serve(bot, lines_in, out, version=version, author=author)


class _Loop:
    def __init__(self, bot: Bot, out: BinaryIO, version: str, author: str) -> None:
        self._bot = bot
        self._out = out
        self._about = {"name": bot.name, "author": author, "version": version}
        self._reader = ObservationReader()
        self._batches: queue.SimpleQueue[_Batch] = queue.SimpleQueue()
        self._received = 0  # bytes handed to the worker; only the reading thread writes it
        self._done = 0  # bytes that the worker is through with; only the worker writes it
        self._line_number = 0  # of the line that the worker is at, from 1
        self._stopped_below = 0  # every go whose line has a lower number is to be answered at once
        self._stop: threading.Event | None = None  # of the go that runs
        self._endless = False  # whether only a stop ends that
        self._writing = threading.Lock()  # a bot may report from threads of its own
        self._deaf = False  # nobody reads our output any more
        self._commands: dict[str, Callable[[str], None]] = {
            "caboose": self._hello,
            "setoption": self._set_option,
            "isready": self._is_ready,
            "newgame": self._new_game,
            "go": self._go,
            "stop": _alone,
            "quit": _alone,
        }

    # --- the reading side ---

    def run(self, lines_in: BinaryIO) -> None:
        worker = threading.Thread(target=self._work, name="caboose-engine", daemon=True)
        worker.start()
        try:
            self._read(lines_in)
        finally:
            self._stop_below(sys.maxsize)
            self._batches.put(None)
            worker.join(_PATIENCE)

    def _read(self, lines_in: BinaryIO) -> None:
        """Hands lines on to the worker until ``quit`` or the end."""
        splitter = LineSplitter()
        read: Callable[[int], bytes | None] = getattr(lines_in, "read1", lines_in.read)
        number = 0
        while not self._deaf:
            try:
                data = read(_CHUNK)
            except OSError:  # a terminal that has gone away
                data = None
            lines = splitter.feed(data) if data else splitter.finish()
            first = number
            for line in lines:
                number += 1
                word = line.strip(b" \t")
                if word == b"stop":
                    self._stop_below(number)
                elif word == b"quit":
                    self._hand_on(first, lines[: number - first - 1])
                    return
            self._hand_on(first, lines)
            if not data:
                return

    def _hand_on(self, first: int, lines: list[bytes]) -> None:
        if lines:
            self._received += sum(map(len, lines))
            self._batches.put((first + 1, lines))
        while self._received - self._done > _BACKLOG and not self._deaf:
            # A stop that we do not read would never end a search without limits.
            if self._endless and (running := self._stop) is not None:
                running.set()
            time.sleep(_PAUSE)

    def _stop_below(self, number: int) -> None:
        # In this order: a go that starts meanwhile sees the number, one that has started is told.
        self._stopped_below = number
        running = self._stop
        if running is not None:
            running.set()

    # --- the working side ---

    def _work(self) -> None:
        while (batch := self._batches.get()) is not None:
            self._line_number, lines = batch
            for line in lines:
                try:
                    self._take(text_of(line))
                except ProtocolError as error:
                    self._error(str(error))
                except (Exception, SystemExit) as error:  # whatever it is, the next line has nothing to do with it
                    self._error(f"{shown(line)}: the engine failed: {error_text(error, self._bot)}")
                self._line_number += 1
                self._done += len(line)

    def _take(self, line: str) -> None:
        words = line.split(None, 1)
        if not words:
            return
        word = words[0]
        if word in OBSERVATION_WORDS:
            self._reader.feed(line)
        elif (command := self._commands.get(word)) is not None:
            command(line)
        else:
            known = [*self._commands, *sorted(OBSERVATION_WORDS)]
            close = difflib.get_close_matches(word[:40], known, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise ProtocolError(f"{shown(line)}: unknown command{hint}, expected one of {', '.join(known)}")

    def _hello(self, line: str) -> None:
        version = parse_hello(line)
        capabilities: Iterable[str] = getattr(self._bot, "capabilities", ())
        self._write(
            *[f"id {what} {text}" for what, text in self._about.items() if text],
            *[option_line(option) for option in self._bot.options.values()],
            *([capability_line(capabilities)] if capabilities else []),
            f"cabooseok {version}",
        )

    def _set_option(self, line: str) -> None:
        name, value = parse_setoption(line)
        option = self._bot.options.get(name)
        if option is None:
            known = ", ".join(self._bot.options) or "none: this engine has no options"
            raise ProtocolError(f"setoption: unknown option {shown(name)}, expected one of {known}")
        try:
            option.parse(value)
            self._bot.set_option(name, value)
        except OptionError as error:
            raise ProtocolError(f"setoption: {error}") from None

    def _is_ready(self, line: str) -> None:
        _alone(line)
        self._write("readyok")

    def _new_game(self, line: str) -> None:
        _alone(line)
        self._reader.clear()
        self._bot.new_game()

    def _go(self, line: str) -> None:
        number = parse_go_number(line)
        try:
            self._think(number, parse_go(line)[1])
        except (Exception, SystemExit) as error:
            why = (
                written(error)
                if isinstance(error, ProtocolError)
                else f"the bot failed: {error_text(error, self._bot)}"
            )
            self._error(f"go {number}: {why}")

    def _think(self, number: int, limits: Limits) -> None:
        observation = self._reader.observation()
        if observation.over:
            raise ProtocolError("the round is over after these events")
        try:
            legal = observation.legal_moves()
        except ValueError as error:
            raise ProtocolError(written(error)) from None
        stop = threading.Event()
        self._endless = limits.infinite
        self._stop = stop
        if self._line_number < self._stopped_below:
            stop.set()

        def report(info: Info) -> None:
            if self._stop is stop:
                self._write(info_line(info))

        limits.stop = stop
        limits.report = report
        try:
            move = self._bot.choose(observation, limits)
        finally:
            self._stop = None
        if move not in legal:
            raise ProtocolError(f"the bot chose {shown(str(move))}, expected one of {' '.join(map(str, legal))}")
        self._write(bestmove_line(number, move))

    # --- writing ---

    def _error(self, text: str) -> None:
        self._write(error_line(text))

    def _write(self, *lines: str) -> None:
        """Writes whole lines at once; when nobody reads any more, the reading side ends the loop."""
        data = memoryview("".join([f"{line[:MAX_LINE]}\n" for line in lines]).encode("ascii", "replace"))
        with self._writing:
            try:
                while data:
                    data = data[self._out.write(data) :]
                self._out.flush()
            except (OSError, ValueError):  # a broken pipe, or a file that was closed
                self._deaf = True


def _alone(line: str) -> None:
    word, *more = line.split(None, 1)
    if more:
        raise ProtocolError(f"{word}: {shown(more[0])}, expected nothing after this word")
