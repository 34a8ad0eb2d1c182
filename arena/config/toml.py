"""TODO."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, overload

from caboose.arena.blocks.labels import MAX_LABEL
from caboose.arena.errors import CallError


def check_name(name: str) -> None:
    """Raises ``ValueError`` for what cannot be the name of an engine or a list."""
    if not name or len(name) > MAX_LABEL or not all(c.isascii() and (c.isalnum() or c in "+-_.") for c in name):
        raise ValueError(f"{name!r}: expected 1 to {MAX_LABEL} letters, digits and + - _ .")
    if not name[0].isalnum():
        raise ValueError(f"{name!r}: expected a letter or a digit first")


class Table:
    """A table of the file, from which keys are taken. ``where`` is how errors name it."""

    def __init__(self, where: str, data: Mapping[str, Any]) -> None:
        self.where = where
        self._file = where
        self._data = dict(data)
        self._known: list[str] = []

    def take(self, key: str, default: Any = ...) -> Any:
        self._known.append(key)
        if key in self._data:
            return self._data.pop(key)
        if default is ...:
            raise CallError(f"{self.where}: {key} is missing")
        return default

    def error(self, key: str, value: Any, expected: str) -> CallError:
        shown = repr(value)
        return CallError(
            f"{self.where}: {key}: {shown if len(shown) <= 100 else shown[:97] + '...'}, expected {expected}"
        )

    def done(self) -> None:
        """Raises ``CallError`` for keys that nobody took."""
        for key in self._data:
            close = difflib.get_close_matches(key, self._known, n=1)
            hint = f"; did you mean {close[0]}?" if close else f", expected one of {', '.join(self._known)}"
            raise CallError(f"{self.where}: there is no key {key}{hint}")

    def name(self, what: str) -> str:
        name = self.text("name")
        try:
            check_name(name)
        except ValueError as error:
            raise CallError(f"{self.where}: name: {error}") from None
        self.where = f"{self._file}: {what} {name}"
        return name

    def text(self, key: str, default: Any = ...) -> str:
        value = self.take(key, default)
        if not isinstance(value, str):
            raise self.error(key, value, "text")
        return value

    def word(self, key: str, words: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in words:
            raise self.error(key, value, f"one of {', '.join(words)}")
        return value

    @overload
    def truth(self, key: str, default: bool) -> bool: ...
    @overload
    def truth(self, key: str, default: None) -> bool | None: ...
    def truth(self, key: str, default: bool | None) -> bool | None:
        value = self.take(key, default)
        if value is not default and not isinstance(value, bool):
            raise self.error(key, value, "true or false")
        return value

    def number(self, key: str, least: int, most: int, default: Any = ...) -> int | None:
        value = self.take(key, default)
        if value is not None and not (type(value) is int and least <= value <= most):
            raise self.error(key, value, f"a whole number from {least} to {most}")
        return value

    def real(self, key: str) -> float | None:
        value = self.take(key, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise self.error(key, value, "a number")
        if value is not None and not abs(value) <= sys.float_info.max:
            raise self.error(key, value, "a finite number")
        return None if value is None else float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, value, "a list of texts")
        return tuple(value)

    def known(self, key: str, names: Sequence[str]) -> tuple[str, ...]:
        chosen = self.texts(key)
        for name in chosen:
            if name not in names:
                raise self.error(key, name, f"names of engines: {', '.join(names) or 'there are none yet'}")
            if chosen.count(name) > 1:
                raise self.error(key, name, "each name once")
        return chosen

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.take(key, {})
        if not isinstance(value, dict):
            raise self.error(key, value, "a table")
        return value

    def tables(self, key: str) -> list[Table]:
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, value, f"tables, each begun by [[{key}]]")
        made = []
        for number, item in enumerate(value, 1):
            table = Table(f"{self.where}: {key} {number}", item)
            table._file = self.where
            made.append(table)
        return made
