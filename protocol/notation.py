"""Tiles, moves and events as text, one at a time and in lists.

Single tiles and moves are written and read by ``caboose.engine``; this adds the events and the lists, whose
errors say which entry is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

from caboose.engine.moves import Move
from caboose.engine.round import Event
from caboose.engine.tiles import MEXICAN, Tile, parse_pips, parse_tile, parse_train, train_name

PLAIN_EVENTS: Final = ("mark", "pass", "stop", "hub")  # kinds that are written as the bare word
_EVENT_FORMS: Final = "expected SEAT:WHAT such as 2:5-12@M, 2:draw, 2:draw=3-4, 2:mark, 2:pass, 2:stop or 2:hub"
_CACHED: Final = 8192  # more than the different moves and events of a whole game

_T = TypeVar("_T")


class NotationError(ValueError):
    """Text that is not a tile, move, event or number; says which entry, what it was and what was expected."""


def parse_number(text: str, least: int = 0, most: int = 10**15 - 1) -> int:
    """A whole number of at most fifteen digits, without a sign. Raises ``NotationError``."""
    if text.isdigit() and len(text) <= 15 and text.isascii() and least <= int(text) <= most:
        return int(text)
    limits = f"from {least} to {most}" if most < 10**15 - 1 else f"of at least {least}, of at most 15 digits"
    raise NotationError(f"{text[:40]!r} is not a number that fits: expected a whole number {limits}")


def parse_pip_count(text: str) -> int:
    """Pips of one side of a tile, 0 to 18. Raises ``NotationError``."""
    pips = parse_pips(text)
    if pips is None:
        raise NotationError(f"{text[:40]!r} is not a number of pips: expected 0 to 18")
    return pips


def parse_seat(text: str) -> int:
    """A seat, from 0, that text writes from 1. Raises ``NotationError``."""
    if text.isdigit() and len(text) <= 2 and text.isascii() and 1 <= int(text) <= MEXICAN:
        return int(text) - 1
    raise NotationError(f"{text[:40]!r} is not a seat: expected a number from 1 to {MEXICAN}")


@lru_cache(_CACHED)
def parse_move(text: str) -> Move:
    """``Move.parse``, remembered. Raises ``NotationError``."""
    try:
        return Move.parse(text)
    except ValueError as error:
        raise NotationError(str(error)) from None


@lru_cache(_CACHED)
def event_text(event: Event) -> str:
    """An event as the protocol writes it; ``parse_event`` reads it back."""
    kind, seat, tile, move = event
    if kind == "play":
        return f"{seat + 1}:{move}"
    if tile is not None and kind == "draw":
        return f"{seat + 1}:draw={tile}"
    return f"{seat + 1}:{kind}"


@lru_cache(_CACHED)
def parse_event(text: str) -> Event:
    """The event that ``text`` writes. Raises ``NotationError``."""
    who, colon, what = text.partition(":")
    if not colon or not what:
        raise NotationError(f"{text[:40]!r} is not an event: {_EVENT_FORMS}")
    try:
        seat = parse_seat(who)
        if what in PLAIN_EVENTS:
            return Event(what, seat)
        if what == "draw":
            return Event("draw", seat)
        if what.startswith("draw="):
            return Event("draw", seat, parse_tile(what[5:]))
        if "@" not in what:
            raise NotationError(_EVENT_FORMS)
        move = Move.parse(what)
        return Event("play", seat, move.tile, move)
    except ValueError as error:
        raise NotationError(f"{text[:40]!r} is not an event: {error}") from None


def parse_each(parse: Callable[[str], _T], words: Sequence[str], what: str, first: int = 1) -> list[_T]:
    """``parse`` of every word. Raises ``NotationError`` naming the entry, as ``what`` and its number."""
    try:
        return [parse(word) for word in words]
    except ValueError:
        for number, word in enumerate(words, first):
            try:
                parse(word)
            except ValueError as error:
                raise NotationError(f"{what} {number}: {error}") from None
        raise


def tiles_text(tiles: Iterable[Tile]) -> str:
    """Tiles with blanks between them."""
    return " ".join([f"{low}-{high}" for low, high in tiles])


def parse_tiles(words: Sequence[str]) -> list[Tile]:
    """The tiles that the words write. Raises ``NotationError`` naming the first bad one."""
    return parse_each(parse_tile, words, "tile")


def parse_moves(words: Sequence[str]) -> list[Move]:
    """The moves that the words write. Raises ``NotationError`` naming the first bad one."""
    return parse_each(parse_move, words, "move")


def parse_events(words: Sequence[str], first: int = 1) -> list[Event]:
    """The events that the words write, numbered from ``first``. Raises ``NotationError`` naming the first bad one."""
    return parse_each(parse_event, words, "event", first)


__all__ = [
    "NotationError",
    "event_text",
    "parse_event",
    "parse_events",
    "parse_move",
    "parse_moves",
    "parse_number",
    "parse_pip_count",
    "parse_seat",
    "parse_tile",
    "parse_tiles",
    "parse_train",
    "tiles_text",
    "train_name",
]
