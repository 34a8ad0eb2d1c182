"""From text as people write it to words that know where they stand; the errors of the notation.

All that the tolerant reader forgives is forgiven here: case, blanks, separators, line breaks, comments, dashes.
What it hands on are the exact words of ``caboose.protocol.notation.words``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple, TypeVar

from caboose.engine.rules.blanks import BLANKS
from caboose.protocol.notation.lines import ProtocolError

# Hyphens, dashes and minus signs that editors and web pages put in the place of "-".
_DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"))
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
# A word of letters may have a colon behind it. Elsewhere, blanks around one of - @ : = do not end a word.
_WORD: Final = re.compile(
    r"([A-Za-z]{2,}):|(/|[^\s,;/]+(?:(?:[ \t]+(?=[-@:=])|(?<=[-@:=])[ \t]+)[^\s,;/]+)*)", re.ASCII
)
# Letters outside of ASCII stay as they are: the small one of a Kelvin sign is a k.
_SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_NO_BLANKS: Final = str.maketrans(dict.fromkeys(BLANKS))
_SHOWN: Final = 400  # characters of each half of an error that a person still reads
_MEXICAN: Final = re.compile(r"(?<![a-z])m(?![a-z])")

_T = TypeVar("_T")


class NotationError(ValueError):
    """Text that cannot be read.

    ``line`` and ``column`` (both from 1, in characters) are where the word begins that cannot be used, or where the
    text ends when something is missing. ``problem`` says what is wrong there, ``expected`` what was expected. The
    whole reads ``line 3, column 14: '5-66' is not a tile: expected two numbers …``.
    """

    def __init__(self, problem: str, expected: str, line: int, column: int) -> None:
        super().__init__(problem, expected, line, column)
        self.problem = problem
        self.expected = expected
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.problem}: expected {self.expected}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."


class Word(str):
    """A word in its exact form, with the line and the column (from 1) where it began in the text."""

    __slots__ = ("column", "line")

    line: int
    column: int

    def __new__(cls, text: str, line: int, column: int) -> Word:
        word = super().__new__(cls, text)
        word.line = line
        word.column = column
        return word

    def __reduce__(self) -> tuple[type[Word], tuple[str, int, int]]:
        return Word, (str(self), self.line, self.column)

    def refused(self, problem: str, expected: str) -> NotationError:
        """The error that this word is."""
        return NotationError(_short(problem), _short(expected), self.line, self.column)


class Scan(NamedTuple):
    """The words of a text, and an empty one for the place after the last of them."""

    words: list[Word]
    end: Word


def scan(text: str) -> Scan:
    """The words of ``text``, exact, without comments and separators. It refuses nothing."""
    words = []
    end = Word("", 1, 1)
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff").translate(_DASHES)), 1):
        for match in _WORD.finditer(line.partition("#")[0]):
            exact = (match[1] or match[2]).translate(_SMALL).translate(_NO_BLANKS)
            if "m" in exact:
                exact = _MEXICAN.sub("M", exact)
            words.append(Word(exact, number, match.start() + 1))
            end = Word("", number, match.end() + 1)
    return Scan(words, end)


def located(error: ValueError, place: Word, otherwise: str) -> NotationError:
    """``error`` as one of the notation, at its word where it has one and else at ``place``.

    ``otherwise`` is what was expected if the error does not say it.
    """
    at = error.word if isinstance(error, ProtocolError) and isinstance(error.word, Word) else place
    problem, found, expected = str(error).rpartition("expected ")
    return at.refused(problem.rstrip(" :,"), expected) if found else at.refused(str(error), otherwise)


def sections(text: Scan, keywords: Collection[str]) -> list[list[Word]]:
    """The words in groups that begin with one of ``keywords``. Raises ``NotationError``."""
    groups: list[list[Word]] = []
    for word in text.words:
        if word in keywords:
            groups.append([word])
        elif groups:
            groups[-1].append(word)
        else:
            raise word.refused(f"{word[:40]!r} stands at the beginning", f"one of {', '.join(keywords)}")
    return groups


def single_sections(text: Scan, keywords: Collection[str], optional: Collection[str] = ()) -> dict[str, list[Word]]:
    """The group of each of ``keywords``, each once; an ``optional`` one may be missing. Raises ``NotationError``."""
    groups: dict[str, list[Word]] = {}
    for group in sections(text, keywords):
        if group[0] in groups:
            raise group[0].refused(f"{group[0]!s} is there twice", "it only once")
        groups[group[0]] = group
    for keyword in keywords:
        if keyword not in groups and keyword not in optional:
            raise text.end.refused(f"{keyword} is missing", f"all of {', '.join(keywords)}")
    return groups


def only(words: Sequence[Word], place: Word, what: str) -> Word:
    """The one word that there must be. Raises ``NotationError`` at the second one, or at ``place`` if there is none."""
    if not words:
        raise place.refused("nothing is there", what)
    if len(words) > 1:
        raise words[1].refused(f"{words[1][:40]!r} is one word too many", f"{what} and nothing more")
    return words[0]


def read_word(parse: Callable[[str], _T], word: Word, what: str) -> _T:
    """``parse`` of a word, which is to be ``what``. Raises ``NotationError``."""
    try:
        return parse(word)
    except ValueError as error:
        raise located(error, word, what) from None
