"""Dataclasses to and from the values that JSON knows."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class DecodeError(ValueError):
    """A value that is not what its place asks for. The text says where and what was expected."""


def encode(value: object) -> Any:
    """``value`` for ``json.dumps``. A field that is None, and is so by default, is left out."""
    if is_dataclass(value):
        named = ((f, getattr(value, f.name)) for f in fields(value))
        return {f.name: encode(item) for f, item in named if item is not None or f.default is not None}
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def decode(kind: type[T], data: object, where: str = "") -> T:
    """The ``kind`` that ``encode`` made ``data`` from: a dataclass of numbers, text, tuples and dataclasses. A
    ``Sequence`` becomes a tuple.

    Raises ``DecodeError``, and what the dataclasses raise for values that they refuse.
    """
    value: T = _decode(kind, data, where)
    return value


def _decode(kind: Any, data: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in arguments:
            return None
        (kind,) = [k for k in arguments if k is not type(None)]
        return _decode(kind, data, where)
    if origin in (tuple, Sequence):
        _expect(isinstance(data, list), where, "a list")
        if origin is Sequence or (len(arguments) == 2 and arguments[1] is Ellipsis):
            return tuple(_decode(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(data))
        _expect(len(data) == len(arguments), where, f"a list of {len(arguments)}")
        return tuple(_decode(k, item, f"{where}[{i}]") for i, (k, item) in enumerate(zip(arguments, data, strict=True)))
    if is_dataclass(kind):
        return _decode_fields(kind, data, where)
    if kind is float:
        _expect(isinstance(data, (int, float)) and not isinstance(data, bool), where, "a number")
        return float(data)
    _expect(type(data) is kind, where, {int: "a whole number", str: "text", bool: "true or false"}.get(kind, kind))
    return data


def _decode_fields(kind: Any, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), where, "an object")
    hints = typing.get_type_hints(kind)
    values = {}
    for f in fields(kind):
        place = f"{where}.{f.name}" if where else f.name
        if f.name in data:
            values[f.name] = _decode(hints[f.name], data[f.name], place)
        else:
            _expect(f.default is not MISSING, place, "a value, it is missing")
    unknown = data.keys() - {f.name for f in fields(kind)}
    _expect(not unknown, where, f"no field {', '.join(sorted(unknown))}")
    return kind(**values)


def _expect(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise DecodeError(f"{where or 'the value'}: expected {what}")
