"""Bytes to lines and back to something that can be shown: the lowest floor of the protocol."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

VERSION: Final = 1
MAX_LINE: Final = 65_536  # bytes of a line, its end not counted

_MOST_MARKS: Final = 3  # on one letter; more are no writing, but a tower that hides the lines above and below
# Letters and signs that nothing is seen of, although Unicode calls them printable.
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


class ProtocolError(ValueError):
    """A line that cannot be used. The text names the field, says what was wrong and what was expected.

    ``word`` is the word of the line that it is about, as it was given; empty where that is not known.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word


def shown(raw: bytes | str, most: int = 40) -> str:
    """``raw`` in quotes, made printable and cut to ``most`` characters, fit to stand in an error line.

    Other characters are ``\\x1b``, ``\\u0661`` or ``\\U0001f600``, always with so many digits.
    """
    text = raw if isinstance(raw, str) else raw[: most + 1].decode("latin-1")
    cut = len(text) > most
    safe = "".join(c if " " <= c <= "~" else escape(c) for c in text[:most])
    return f"'{safe}{'...' if cut else ''}'"


def _escape(c: str) -> str:
    return c.encode("unicode_escape").decode("ascii")


def printable(text: str, keep: str = "", most: int | None = None, escape: Callable[[str], str] = _escape) -> str:
    """``text`` fit to be shown, whoever wrote it: in one line, from left to right, all of it to be seen.

    Control characters, those that turn the direction round, blanks that are no space, characters without a width and
    halves of surrogate pairs become escapes, such as ``\\x1b``, ``\\n`` and ``\\u202e``; so do more than three marks on
    a letter. Characters in ``keep`` stay. With ``most``, longer text is cut to so many characters, of which the last
    three are dots. ``escape`` makes the escape of a character. A backslash stays as it is: the escapes are for eyes,
    and nothing can be read back from them.
    """
    if most is not None and len(text) > most:
        text = text[:most]  # before the work, whose cost grows with the text
        cut = printable(text, keep, escape=escape)
        return f"{cut[: most - 3]}..."
    if text.isascii() and text.isprintable():
        return text
    shown, marks = [], 0
    for c in text:
        if c in keep:
            marks = 0
        elif not c.isprintable() or c in _UNSEEN:
            c = escape(c)
        elif c > "~" and unicodedata.category(c)[0] == "M":
            marks += 1
            if marks > _MOST_MARKS:
                c = escape(c)
        else:
            marks = 0
        shown.append(c)
    return "".join(shown)


def text_of(line: bytes) -> str:
    """A line as text. Raises ``ProtocolError`` when it is too long or not made of printable ASCII and tabs."""
    if len(line) > MAX_LINE:
        raise ProtocolError(f"{shown(line)}: the line is too long, expected at most {MAX_LINE} bytes")
    text = line.decode("latin-1")
    if text.isascii() and (text.isprintable() or text.replace("\t", " ").isprintable()):
        return text
    at = next(i for i, c in enumerate(text) if c != "\t" and not " " <= c <= "~")
    raise ProtocolError(
        f"{shown(line)}: byte {at + 1} is 0x{line[at]:02x}, expected printable ASCII (0x20 to 0x7e) and tabs"
    )


def escape(c: str) -> str:
    """A character by its number: two hexadecimal digits after ``\\x``, four after ``\\u`` or eight after ``\\U``."""
    number = ord(c)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class LineSplitter:
    """Cuts a stream of bytes into lines without their LF or CRLF, in bounded memory.

    A line of more than ``MAX_LINE`` bytes is given out once, as soon as it is known to be too long, cut to
    ``MAX_LINE + 1`` bytes (so that its length shows it); the rest of it is skipped.
    """

    __slots__ = ("_parts", "_size", "_skipping")

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # the unfinished line, in the pieces in which it came
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes."""
        if not self._size and not self._skipping and 0 < len(data) <= MAX_LINE and data.find(b"\n") == len(data) - 1:
            return [data[:-1].removesuffix(b"\r")]  # one whole line, as an engine's answer is
        *ended, rest = data.split(b"\n")
        lines = []
        if ended:
            if self._skipping:
                self._skipping = False
                del ended[0]
            elif self._parts:
                ended[0] = b"".join([*self._parts, ended[0]])
            self._parts, self._size = [], 0
            for line in ended:
                lines.append(line.removesuffix(b"\r")[: MAX_LINE + 1])
        if rest and not self._skipping:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > MAX_LINE + 1:  # one more than a whole line and its CR
                lines.append(b"".join(self._parts)[: MAX_LINE + 1])
                self._parts, self._size, self._skipping = [], 0, True
        return lines

    @property
    def unfinished(self) -> bytes:
        """The beginning of the line that has not ended yet."""
        return b"".join(self._parts)

    def finish(self) -> list[bytes]:
        """The last line when the stream has ended without a line end; [] when there is none."""
        last = b"".join(self._parts).removesuffix(b"\r")
        self._parts, self._size = [], 0
        return [last] if last else []
