"""A record file from which any game can be taken: what lies before it is searched, but not read."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from caboose.protocol.records.reader import ENDLESS, read_records
from caboose.protocol.records.records import GameRecord, RecordError

_CHUNK: Final = 1 << 20
_SEARCHED_AT_ONCE: Final = 1 << 26  # bytes: a fraction of a second
_LONGEST: Final = 24  # bytes, more than what ``_BEFORE`` takes, and the word behind it
_WORD: Final = b"game"
_BEFORE: Final = re.compile(rb"\n(?:end)?(?:\xef\xbb\xbf)?[ \t]{0,8}\Z")


class RecordFile:
    """The games of a file by number, from 1. A context manager, which closes the file. Raises ``OSError``.

    The places where games begin are kept as they are found, so that going back and on is quick in a file of any
    size; each game takes some bytes. ``complete`` says that the whole file was searched.
    """

    def __init__(self, source: Path | BinaryIO, name: str = "") -> None:
        self.name = name or str(source)
        self._file = source.open("rb") if isinstance(source, Path) else source
        self._starts: list[tuple[int, int]] = []  # of each game: where it begins, and the number of its first line
        self._search = self._find()
        self.complete = False
        try:
            if self._file.seek(0, os.SEEK_END) <= _SEARCHED_AT_ONCE:
                self.has(sys.maxsize)
        except OSError:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def has(self, number: int) -> bool:
        """Whether there is a game ``number``; searches the file as far as it takes."""
        while len(self._starts) < number:
            start = next(self._search, None)
            if start is None:
                self.complete = True
                return False
            self._starts.append(start)
        return number > 0

    @property
    def found(self) -> int:
        """How many games are known to be there."""
        return len(self._starts)

    def game(self, number: int) -> GameRecord | RecordError:
        """Game ``number``, which must be there, or why it cannot be read."""
        offset, line = self._starts[number - 1]
        self._file.seek(offset)
        return next(read_records(self._file, self.name, line))

    def _find(self) -> Iterator[tuple[int, int]]:
        position, line = -1, 0  # of ``text``, which begins with the end of a line that is not in the file
        text = b"\n"
        rest = 0  # bytes since the last line end
        first = 0  # where games have not been looked for yet; what is before it may belong to the line of one
        while True:
            self._file.seek(position + len(text))
            data = self._file.read(_CHUNK)
            text += data
            searched = 0
            # A game that begins in the last bytes is found with those that follow.
            end = max(first - 1, len(text) - _LONGEST) if data else len(text)
            for begins in _words(text, first, end):
                line += text.count(b"\n", searched, begins)
                searched = begins
                yield position + begins, line
            if not data:
                return
            ended = data.rfind(b"\n") + 1
            rest = rest + len(data) if not ended else len(data) - ended
            if rest > ENDLESS:
                raise OSError(errno.EFBIG, f"a line has more than {ENDLESS >> 20} MiB: expected records", self.name)
            keep = max(searched, end - _LONGEST)
            first = end + 1 - keep
            line += text.count(b"\n", searched, keep)
            position += keep
            text = text[keep:]


def _words(text: bytes, first: int, end: int) -> Iterator[int]:
    """Where the word ``game`` stands first in a line of ``text``, from ``first`` to ``end``."""
    begins = text.find(_WORD, first, end + len(_WORD))
    while begins >= 0:
        start, behind = max(0, begins - _LONGEST), text[begins + len(_WORD) : begins + len(_WORD) + 1]
        if (not behind or behind in b" \t\r\n") and _BEFORE.search(text[start:begins]):
            yield begins
        begins = text.find(_WORD, begins + 1, end + len(_WORD))
