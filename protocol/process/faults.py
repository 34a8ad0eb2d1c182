"""How an engine process can fail, and the words for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from traceback import extract_tb
from typing import Final

from caboose.engine.rules.seats import written
from caboose.protocol.notation.lines import shown
from caboose.protocol.process.last_words import Said, is_library, last_line, where

FAULT_KINDS: Final = ("start", "dead", "late", "illegal", "garbled", "refused")

_MARKS: Final = ("\xef\xbb\xbf", "\xff\xfe", "\xfe\xff")  # byte order marks, a character for each byte
_ALIKE: Final = 0.8  # how much a misspelt word is like the right one, by difflib
_LONG: Final = 1.0  # seconds that hardly anybody needs who only has to warm up
_DIGITS: Final = 18  # of a number that is shown
_ODD: Final = 2  # letters more or fewer of such a word
_LOOKED_AT: Final = 200  # bytes of a line in which an answer is looked for
STRAYED: Final = "to its standard error, expected on standard output"
_HINT: Final = "does it flush its output?"


class EngineFault(Exception):
    """An engine process broke the protocol.

    ``kind`` is one of ``FAULT_KINDS``:

    - ``start``: it cannot be started, or the handshake went wrong or took too long;
    - ``dead``: it exited or closed its output; ``detail`` has the exit code or the signal, and what it said last;
    - ``late``: no answer within the limit and the margin, or within the guard where nothing limits the time;
    - ``illegal``: its move is well written but not among the legal ones;
    - ``garbled``: a ``bestmove`` that cannot be read, a line that is too long or binary, output without end;
    - ``refused``: it answered ``go`` with an ``error`` line.

    ``detail`` is one line for people. Only after ``late``, ``illegal``, ``garbled`` and ``refused`` does the
    process still run; it can be asked again, or closed and started anew, as observations are complete.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class TimeNames:
    """By which names those who start an engine can give it more time: for the first move of a game, and to start. Empty
    where they cannot."""

    grace: str = "grace"
    startup: str = "start_timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What is known of a question to which no answer came.

    ``wanted`` is the word that the answer begins with, and ``number`` that of the ``go``, or None. ``lines`` came after
    the question, as far as they were kept, and ``rest`` is a line without an end. ``received`` counts all bytes that
    came, and ``errors`` is the end of standard error. ``early`` is an answer that came before the question. ``unread``
    says that the question was not read. ``spoke`` says that the engine has written something since it started, and
    ``answered`` that it has answered such a question. ``first`` is a first move in a game. ``more_time`` is the name
    by which it can be given more, empty where there is none, and ``seconds`` are what it had.
    """

    wanted: str
    number: int | None = None
    lines: Sequence[bytes] = ()
    rest: bytes = b""
    received: int = 0
    errors: Said = Said()  # noqa: RUF009 - it cannot be changed
    early: bytes = b""
    unread: bool = False
    spoke: bool = False
    answered: bool = False
    first: bool = False
    more_time: str = ""
    seconds: float = 0.0


def explain(wait: Wait) -> str:
    """What happened instead of the answer, to be put behind the words of a fault: empty, or ``; …``."""
    if wait.early:
        return f"; it wrote {shown(wait.early)} before it was asked"
    came = [*wait.lines, wait.rest]
    near = next((line for line in came if holds(line, wait.wanted) or _misspelt(line, wait.wanted)), b"")
    if near and (why := _amiss(near, wait)):
        return f"; it wrote {shown(near)}{why}"
    if wait.number is not None and (refused := next((line for line in came if line.startswith(b"error go ")), b"")):
        return f"; it wrote {shown(refused)} where go {wait.number} was asked"
    if strayed := _strayed(wait):
        return f"; it wrote {shown(strayed)} {STRAYED}"
    if heard := heard_text(wait.lines, wait.rest):
        return f"{heard}{_slow(wait)}"
    if wait.received:
        return f"; it wrote no answer yet, only info lines{_slow(wait)}"
    if wait.unread:
        return f"; it has not read the question yet{_slow(wait)}"
    if wait.answered:
        return f"; it wrote nothing{_slow(wait)}"
    if not wait.spoke:
        return f"; it wrote nothing ({_HINT}){_slow(wait)}"
    slow = _slow(wait)
    hint = f" ({_HINT})" if not slow or wait.seconds >= _LONG else ""
    return f"; it has answered no go so far{hint}{slow}"


def holds(line: bytes, wanted: str) -> bool:
    """Whether the word ``wanted`` stands in a line, however it is written. It costs little."""
    return wanted.encode("ascii") in line[:_LOOKED_AT].lower().replace(b" ", b"").replace(b"\0", b"")


def heard_text(lines: Sequence[bytes], rest: bytes) -> str:
    """What an engine wrote that is no answer: empty, or ``; it wrote …``."""
    heard = [shown(line) for line in lines if line.strip()]
    if rest:
        heard.append(f"{shown(rest)} without a line end")
    return f"; it wrote {' '.join(heard)}" if heard else ""


def last_words(said: Said, ended: str) -> str:
    """What an engine that ``ended`` so wrote last to its standard error: empty, or ``; last words: …``."""
    line = last_line(said.data, ended)
    return f"; last words: {line}" if line else ""


def error_text(error: BaseException, bot: object) -> str:
    """An exception that ``bot`` raised, in a line: its type, its message, and the file and line of the bot where it
    came from, such as ``ValueError: no move (bot.py, line 12)``."""
    try:
        text = written(error)
    except Exception:
        text = "its text cannot be told"
    text = " ".join("".join([c if c.isprintable() else " " for c in text]).split())
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:  # of a file that it imports
        return f"{named} ({where(error.filename, error.lineno)})" if error.filename not in text else named
    own = [frame for frame in frames if not is_library(frame.filename)]
    own = own or [frame for frame in frames if frame.filename == _file_of(bot)]  # a bot that is installed
    return f"{named} ({where(own[-1].filename, own[-1].lineno or 0)})" if own else named


def _file_of(bot: object) -> str:
    """The file in which the code of a bot stands; empty where it has none, or is an engine process."""
    if type(bot).__module__.startswith("caboose.protocol"):
        return ""
    code = getattr(getattr(type(bot), "choose", None), "__code__", None)
    return getattr(code, "co_filename", "")


def _slow(wait: Wait) -> str:
    """That it can be given more time, where it can and may need that."""
    if not wait.more_time:
        return ""
    if wait.number is None:
        return f"; {wait.more_time} gives it longer"
    return f"; this was its first move of the game, and {wait.more_time} gives that longer" if wait.first else ""


def _misspelt(line: bytes, wanted: str) -> bool:
    word = line[:_LOOKED_AT].decode("latin-1").lower().partition(" ")[0].strip()
    if abs(len(word) - len(wanted)) > _ODD:
        return False
    return difflib.SequenceMatcher(None, word, wanted).ratio() >= _ALIKE


def _amiss(line: bytes, wait: Wait) -> str:
    """What is wrong with a line that was meant to be the answer; empty where nothing is that we know."""
    text, wanted = line[:_LOOKED_AT].decode("latin-1"), wait.wanted
    ended = "" if line != wait.rest else " without a line end"
    for mark in _MARKS:
        if text.startswith(mark):
            return f"{ended}: a byte order mark stands before it, expected plain ASCII"
    if "\0" in text:
        return f"{ended}: every other byte is NUL, as in UTF-16, expected plain ASCII"
    words = text.split()
    if not words:
        return ""
    if words[0] == wanted:
        number = words[1] if len(words) > 1 else ""
        if wait.number is not None and number.isdigit() and number.lstrip("0") != str(wait.number) and not ended:
            return f": number {number if len(number) < _DIGITS else 'of many digits'} where {wait.number} was asked"
        return ended
    if words[0].lower() == wanted:
        return f"{ended}: expected {wanted} in small letters"
    if text.replace(" ", "").lower().startswith(wanted):
        return f"{ended}: expected {wanted} as a word of its own"
    if wanted in text.lower():
        return f"{ended}: expected {wanted} at the beginning of the line"
    return f"{ended}: expected {wanted}"


def _strayed(wait: Wait) -> bytes:
    """An answer to the question that went to standard error; empty where there is none."""
    if wait.answered and wait.number is None:
        return b""  # it may repeat there what it says, and those have no number
    number = rb"\d+" if wait.number is None else b"%d" % wait.number
    pattern = rb"^\s*(%s\s+%s\b[^\r\n]*)|^\s*(%s)\s*$" % (wait.wanted.encode(), number, wait.wanted.encode())
    found = re.search(pattern, wait.errors.data, re.MULTILINE)
    return found[0].strip() if found and (wait.number is None or found[1]) else b""
