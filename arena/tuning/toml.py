"""Tables of a study's file, which name the line of what is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from caboose.arena.config.toml import Table
from caboose.arena.errors import CallError, cause
from caboose.arena.storage.files import read_text

Path_ = tuple[str | int, ...]
"""Where something stands: names of tables and keys, and numbers of tables of a list, from 0."""

_WORD: Final = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_HEADER: Final = re.compile(rf"\s*(\[\[?)\s*({_WORD}(?:\s*\.\s*{_WORD})*)\s*\]")
_KEY: Final = re.compile(rf"\s*({_WORD}(?:\s*\.\s*{_WORD})*)\s*=")


class Lines:
    """The lines on which the keys of a TOML text stand; of what a single line holds together, that line."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Path_, int] = {}
        counts: dict[tuple[str, ...], int] = {}
        table: Path_ = ()
        for number, line in enumerate(text.splitlines(), 1):
            if header := _HEADER.match(line):
                names = _names(header[2])
                table = names
                if header[1] == "[[":
                    counts[names] = counts.get(names, -1) + 1
                    table = (*names, counts[names])
                self._lines.setdefault(table, number)
            elif key := _KEY.match(line):
                self._lines.setdefault((*table, *_names(key[1])), number)

    def of(self, path: Path_) -> int:
        """The line of what stands there, or of what it stands in; 1 if that is unknown too."""
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return 1


class LinedTable(Table):
    """A table whose errors name the file, the line and the key. ``named`` is its name where the file gives it none."""

    def __init__(self, file: Path, lines: Lines, path: Path_, data: Mapping[str, Any], named: str = "") -> None:
        super().__init__(f"{file}: line {lines.of(path)}: {_shown(path)}" if path else str(file), data)
        self._of = file
        self._lines = lines
        self._path = path
        self._named = named

    def take(self, key: str, default: Any = ...) -> Any:
        """The value of a key. Raises ``CallError`` where it is missing and there is no default."""
        try:
            return super().take(key, default)
        except CallError:
            raise CallError(f"{self.where}: the key {key} is missing") from None

    def error(self, key: str, value: Any, expected: str) -> CallError:
        """What is wrong with a key."""
        shown = repr(value)
        shown = shown if len(shown) <= 100 else f"{shown[:97]}..."
        return CallError(f"{self.place(key)}: {shown}, expected {expected}")

    def place(self, key: str) -> str:
        """The file, the line and the name of a key, as errors begin."""
        path = (*self._path, *key.split("."))
        return f"{self._of}: line {self._lines.of(path)}: {_shown(path)}"

    def done(self) -> None:
        """Raises ``CallError`` for keys that nobody took."""
        try:
            super().done()
        except CallError as error:
            (key, *_) = self._data
            raise CallError(f"{self.place(key)}: {str(error).removeprefix(f'{self.where}: ')}") from None

    def name(self, what: str) -> str:
        """What it is called."""
        return self._named or super().name(what)

    def value(self, key: str) -> float | str | None:
        """A number or a text; None if there is none."""
        given = self._data.get(key)
        if isinstance(given, (list, dict, bool)):
            raise self.error(key, given, "a number or a text")
        return self.text(key) if isinstance(given, str) else self.real(key)

    def table(self, key: str, named: str = "") -> LinedTable:
        """The table under a key, empty if there is none."""
        value = self.take(key, {})
        if not isinstance(value, dict):
            raise self.error(key, value, f"a table, begun by [{_shown((*self._path, key))}]")
        return LinedTable(self._of, self._lines, (*self._path, key), value, named)

    def listed(self, key: str) -> list[LinedTable]:
        """The tables of a list."""
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, value, f"tables, each begun by [[{key}]]")
        return [LinedTable(self._of, self._lines, (*self._path, key, at), item) for at, item in enumerate(value)]

    @property
    def keys(self) -> list[str]:
        """The keys that nobody took yet."""
        return list(self._data)


def read_toml(path: Path) -> LinedTable:
    """A file as a table. Raises ``CallError``."""
    try:
        text = read_text(path)
    except OSError as error:
        raise CallError(f"{path}: {cause(error)}: expected the file of a study") from None
    except UnicodeDecodeError as error:
        raise CallError(f"{path}: byte {error.start + 1}: expected UTF-8") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CallError(f"{path}: {error}") from None
    except RecursionError:
        raise CallError(f"{path}: too many lists in lists, expected the file of a study") from None
    return LinedTable(path, Lines(text), (), data)


def _names(text: str) -> tuple[str, ...]:
    return tuple([word.strip("\"'") for word in re.findall(_WORD, text)])


def _shown(path: Path_) -> str:
    """``list 2: nodes`` for the second list."""
    text = ""
    for part in path:
        text += f" {part + 1}" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text
