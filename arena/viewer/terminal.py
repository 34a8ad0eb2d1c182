"""The whole terminal as a screen: keys one by one, pictures in place of scrolling, and all put back at the end."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Final, Self

from caboose.arena.console.console import Console, Text
from caboose.arena.viewer.draw import ASCII, COLOURS, MONOCHROME, UNICODE, Pen

ESCAPE_SECONDS: Final = 0.05  # after an escape that begins a key's sequence the rest comes sooner than this

_OPEN: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"  # the other screen, no cursor
_CLOSE: Final = "\x1b[?25h\x1b[?1049l"
_SEQUENCE: Final = re.compile(rb"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z]|[^\x1b\[O])")
_UNFINISHED: Final = re.compile(rb"\x1b(?:\[[0-9;]*|O)?\Z")
_NAMED: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1": "home",
    "4": "end",
    "5": "page up",
    "6": "page down",
    "7": "home",
    "8": "end",
}
_CONTROLS: Final = {b" ": "space", b"\r": "enter", b"\n": "enter", b"\x7f": "backspace", b"\x08": "backspace"}


def is_terminal() -> bool:
    """Whether pictures can be shown and keys be read: input and output are a terminal that knows more than lines."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb")


def split_keys(data: bytes, *, more: bool) -> tuple[list[str], bytes]:
    """The keys that ``data`` is, by name, and the beginning of a key that is not there as a whole.

    Without ``more`` to come there is no such rest: an escape is then the key of that name. Unknown keys are left out.
    """
    keys: list[str] = []
    while data:
        if data[:1] != b"\x1b":
            key = _CONTROLS.get(data[:1]) or (chr(data[0]) if 0x20 < data[0] < 0x7F else "")
            data = data[1:]
        elif match := _SEQUENCE.match(data):
            key = _sequence_name(match[0])
            data = data[match.end() :]
        elif more and _UNFINISHED.match(data):
            return keys, data
        else:
            key = "escape"
            data = data[1:]
        if key:
            keys.append(key)
    return keys, b""


def _sequence_name(sequence: bytes) -> str:
    text = sequence.decode("latin-1")
    if text[1] not in "[O":
        return ""  # Alt and a character
    return _NAMED.get(text[2:].partition(";")[0].rstrip("~") if text.endswith("~") else text[-1], "")


class Screen:
    """The terminal while something is shown on it. A context manager.

    However it is left, by an exception too, the terminal is as it was before. Ctrl-Z gives it back for as long as
    the program is stopped.
    """

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = sys.stdout.fileno()
        self._encoding = sys.stdout.encoding or "ascii"
        self._before: list[object] = []
        self._rest = b""
        self._wake, self._wake_end = -1, -1
        console = Console(file=sys.stdout)
        colour = not console.no_color
        # Without colours there are still bold and reversed characters, which need the codes too.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            color_system=console.color_system or "standard",
            no_color=not colour,
            highlight=False,
            width=10_000,
        )
        unicode = self._encoding.lower().replace("-", "") == "utf8"
        self._pen = Pen(80, UNICODE if unicode else ASCII, COLOURS if colour else MONOCHROME)

    # --- entering and leaving ---

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._input)
        self._wake, self._wake_end = os.pipe()
        os.set_blocking(self._wake_end, False)
        self._old_wake = signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)
        self._old_handlers = {
            signal.SIGWINCH: signal.signal(signal.SIGWINCH, lambda number, frame: None),
            signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._suspend),
        }
        try:
            self._take()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()
        signal.set_wakeup_fd(self._old_wake)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        os.close(self._wake)
        os.close(self._wake_end)

    def _take(self) -> None:
        tty.setcbreak(self._input, termios.TCSADRAIN)
        attributes = termios.tcgetattr(self._input)
        attributes[6][termios.VQUIT] = b"\0"  # Ctrl-\ would end the program without a chance to put things back
        termios.tcsetattr(self._input, termios.TCSADRAIN, attributes)
        self._write(_OPEN)

    def _give_back(self) -> None:
        with suppress(OSError, termios.error):  # the terminal may be gone
            self._write(_CLOSE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take()

    # --- showing and asking ---

    @property
    def pen(self) -> Pen:
        """How to draw on it, at its present width."""
        self._pen.width = self.size[0]
        return self._pen

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines."""
        try:
            size = os.get_terminal_size(self._output)
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24  # a terminal that nobody told its size has 0

    def show(self, lines: Sequence[Text]) -> None:
        """Draws ``lines``, which fill the screen and are no wider than it."""
        with self._console.capture() as captured:
            for line in lines:
                self._console.print(line, no_wrap=True, crop=False, overflow="ignore")
        drawn = captured.get().removesuffix("\n").split("\n")
        # Each line is cleared before it is written: a full one leaves the cursor where clearing would eat its end.
        self._write("\x1b[H" + "\r\n".join(f"\x1b[2K{line}" for line in drawn))

    def keys(self, seconds: float | None) -> list[str] | None:
        """The keys that were pressed, by name: waits for one, at most ``seconds``; None when that time is over.

        The list is empty when it is only time to draw again: the size has changed. Raises ``EOFError`` when the
        terminal is gone.
        """
        ready, _, _ = select.select([self._input, self._wake], [], [], ESCAPE_SECONDS if self._rest else seconds)
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._input in ready:
            try:
                data = os.read(self._input, 4096)
            except OSError:
                data = b""
            if not data:
                raise EOFError
            keys, self._rest = split_keys(self._rest + data, more=True)
            return keys
        if ready:
            return []
        if not self._rest:
            return None
        keys, self._rest = split_keys(self._rest, more=False)
        return keys

    def _write(self, text: str) -> None:
        data = text.encode(self._encoding, "replace")
        while data:
            data = data[os.write(self._output, data) :]
