"""What was said in a game, line by line, for a compressed file: ``docs/guides/untrusted.md`` has the format.

While somebody is on the clock a log only takes note of pieces of text; they become lines, and are compressed, when a
round is over. It stays in memory until it is saved: all hands are in it.
"""

from __future__ import annotations

import gzip
import re
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

FORMAT: Final = 1
SENT: Final = ">"  # to an engine
CAME: Final = "<"  # from an engine
ERROR: Final = "!"  # from its standard error
NOTE: Final = "*"  # of the referee
CUT: Final = "~"  # after one of these: the text goes on without the end of a line
MOST: Final = 16 << 20  # bytes of a seat in a game; what comes after them is only counted
A_LINE: Final = 24  # bytes that a line counts besides its own: stamp, seat and mark
A_PIECE: Final = 160  # bytes that a piece of text counts besides its own: it may be of one byte
_LONGEST: Final = 1 << 16  # bytes of a line that are kept together
_MEMBER: Final = 4 << 20  # bytes that are compressed together, about
_MOST_LINE: Final = 1 << 22  # bytes of a line that is read; those that are written are far shorter
_LEVEL: Final = 1  # of compression: a third of the time of the usual one, and a tenth more text
_PLAIN: Final = bytes(byte for byte in range(0x20, 0x7F) if byte != 0x5C)
_ESCAPED: Final = tuple(
    [b"\\\\" if b == 0x5C else bytes([b]) if 0x20 <= b < 0x7F else b"\\x%02x" % b for b in range(256)]
)
_LINE: Final = re.compile(r"(\d{1,12}\.\d{6}) (\d{1,6}) ([<>!*])(~?)(?: (.*))?\Z", re.ASCII)


class GameLog:
    """The log of one game. ``about`` are lines that stand first.

    What seats say may come from several threads; all else is for one.
    """

    def __init__(self, about: Iterable[str]) -> None:
        self._began = time.monotonic()
        self._members: list[bytes] = []
        self._pieces: deque[tuple[float, int, str, bytes]] = deque()
        self._begun_lines: dict[tuple[int, str], bytes] = {}
        self._seats: dict[int, SeatLog] = {}
        date = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        head = [f"log {FORMAT}", f"date {date}", *about, ""]
        self._compress([escaped(line.encode()) + b"\n" for line in head])

    def seat(self, number: int) -> SeatLog:
        """The part of a seat, from 0."""
        if number not in self._seats:
            self._seats[number] = SeatLog(number, self._pieces)
        return self._seats[number]

    def flush(self) -> None:
        """Compresses what there is."""
        pieces = []
        while self._pieces:
            pieces.append(self._pieces.popleft())
        pieces.sort(key=lambda piece: piece[0])  # other threads stamp before they put
        lines: list[bytes] = []
        size = 0
        for piece in pieces:
            lines.append(self._lines(*piece))
            size += len(lines[-1])
            if size > _MEMBER:  # what many seats flood is never all there as lines
                self._compress(lines)
                lines, size = [], 0
        self._compress(lines)

    def save(self, path: Path) -> None:
        """Writes the whole log to a file; nothing may come after that. Raises ``OSError``."""
        now = time.monotonic()
        for seat in self._seats.values():
            if seat.left_out:
                seat.note(f"{seat.left_out} bytes more were not kept")
        self.flush()
        rest = sorted(self._begun_lines.items())
        self._begun_lines.clear()
        self._compress([self._lines(now, seat, mark + CUT, data + b"\n") for (seat, mark), data in rest])
        try:
            path.write_bytes(b"".join(self._members))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None

    def _lines(self, stamp: float, seat: int, mark: str, data: bytes) -> bytes:
        """The lines that are whole with this piece."""
        data = self._begun_lines.pop((seat, mark), b"") + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > _LONGEST:
            data, mark, end = data + b"\n", mark + CUT, len(data) + 1
        if end < len(data):
            self._begun_lines[seat, mark] = data[end:]
        if not end:
            return b""
        prefix = f"{max(stamp - self._began, 0):.6f} {seat + 1} {mark} ".encode("ascii")
        text = data[: end - 1]
        if text.translate(None, _PLAIN + b"\n"):
            text = b"\n".join([escaped(line) for line in text.split(b"\n")])
        return b"%s%s\n" % (prefix, text.replace(b"\n", b"\n" + prefix))

    def _compress(self, lines: Iterable[bytes]) -> None:
        if text := b"".join(lines):
            self._members.append(gzip.compress(text, _LEVEL))


class SeatLog:
    """What one seat is told and says."""

    __slots__ = ("_kept", "_number", "_pieces", "left_out")

    def __init__(self, number: int, pieces: deque[tuple[float, int, str, bytes]]) -> None:
        self._number = number
        self._pieces = pieces
        self._kept = 0
        self.left_out = 0
        """Bytes that were not kept."""

    def put(self, stamp: float, mark: str, data: bytes) -> None:
        """A piece of text that was sent or came at ``stamp`` (of ``time.monotonic``)."""
        if self._kept > MOST:
            self.left_out += len(data)
            return
        self._kept += len(data) + A_LINE * data.count(b"\n") + A_PIECE
        self._pieces.append((stamp, self._number, mark, data))

    def note(self, text: str) -> None:
        """Something that the referee has to say of the seat."""
        self._pieces.append((time.monotonic(), self._number, NOTE, f"{text}\n".encode()))


def escaped(line: bytes) -> bytes:
    """A line in printable ASCII; ``\\xHH`` is a byte that is not, and ``\\\\`` a backslash."""
    return b"".join([_ESCAPED[byte] for byte in line]) if line.translate(None, _PLAIN) else line


# ------------------------------------------------------------------------------------------------- reading


class LogError(ValueError):
    """A file that is no log. The text says where and why."""


class LogTorn(LogError):
    """A log that does not go on, though it should."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log: seconds since the game began, the seat (from 0), what kind (``SENT`` and the others), the text
    as it stands in the log, and whether its end is missing."""

    time: float
    seat: int
    mark: str
    text: str
    cut: bool


def read_log(file: BinaryIO, name: str) -> Iterator[str | LogLine]:
    """The head of a log as text, then its lines. Raises ``LogError``, ``LogTorn`` after all that
    can be read, and ``OSError``."""
    number = 0
    head = True
    lines = gzip.GzipFile(fileobj=file)
    try:
        for number, raw in enumerate(iter(lambda: lines.readline(_MOST_LINE), b""), 1):
            if len(raw) == _MOST_LINE and not raw.endswith(b"\n"):
                raise LogError(f"{name}:{number}: the line is too long, expected less than {_MOST_LINE >> 20} MiB")
            line = raw.decode("ascii", "backslashreplace").rstrip("\n")
            if number == 1 and line != f"log {FORMAT}":
                raise LogError(f"{name}: {line[:40]!r}: expected a log of a game, which begins with 'log {FORMAT}'")
            if head:
                head = bool(line)
                if line:
                    yield line
                continue
            found = _LINE.match(line)
            if found is None:
                raise LogError(f"{name}:{number}: {line[:60]!r}: expected SECONDS SEAT MARK TEXT")
            yield LogLine(float(found[1]), int(found[2]) - 1, found[3], found[5] or "", bool(found[4]))
        if not number:
            raise LogError(f"{name}: it is empty, expected a log of a game")
    except gzip.BadGzipFile as error:
        raise LogError(f"{name}: not a log: {error}") from None
    except (EOFError, zlib.error):
        raise LogTorn(f"{name}: the log is torn off after line {number}") from None
