"""Lines for people and for programs, on standard output and standard error. Nobody else prints there, but for tables
(``arena.console``).

What is printed may quote an engine, or a file of somebody else: a line of text is made ``printable``, so that nothing
reaches the terminal but what is seen. JSON is data: what cannot be printed stands in it as JSON's own escapes, which
every reader of JSON undoes, so that no terminal is harmed by it either.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
from typing import Any, Final

from caboose.protocol.notation.lines import printable

LONGEST: Final = 4000  # characters of a line that tells an error


def put_line(text: str = "", *, flush: bool = False) -> None:
    """Prints a line. What is in ``text`` and no end of it cannot begin another line."""
    print(printable(text), flush=flush)


def put_error(text: str) -> None:
    """Tells an error, or what else is not the result, in a line on standard error."""
    print(printable(text, most=LONGEST), file=sys.stderr, flush=True)


def json_text(value: Any, **how: Any) -> str:
    """``value`` as JSON with letters as people read them; ``how`` is for ``json.dumps``."""
    return printable(json.dumps(value, ensure_ascii=False, **how), "\n", escape=lambda c: json.dumps(c)[1:-1])


def put_notes(text: str) -> None:
    """Prints lines that end as they do on standard error."""
    print(printable(text, "\n\t"), end="", file=sys.stderr, flush=True)


class Shown(io.RawIOBase):
    """Bytes of text that go to standard output, which is a terminal: lines, and in them only what can be printed."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Shows ``data``; returns how many bytes it has."""
        raw = bytes(data)
        print(printable(self._decoder.decode(raw), "\n"), end="")
        return len(raw)
