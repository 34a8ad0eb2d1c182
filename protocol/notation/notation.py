"""Everything of the game as text: tiles, moves, events, rules, deals, positions, observations.

``docs/reference/notation.md`` is the contract. What is written has one form; what is read may differ from it in case,
blanks, separators, line breaks and comments. Every reader raises ``NotationError``, which knows line and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from caboose.engine.rules.deal import deal_of
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Event, Observation
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import Tile
from caboose.protocol.notation import words
from caboose.protocol.notation.deal import deal_text, parse_deal
from caboose.protocol.notation.lines import ProtocolError
from caboose.protocol.notation.observation import OBSERVATION_WORDS, ObservationReader, observation_lines
from caboose.protocol.notation.position import parse_position, position_text
from caboose.protocol.notation.scanner import NotationError, located, only, read_word, scan, sections
from caboose.protocol.notation.words import event_text, tiles_text

_T = TypeVar("_T")


def parse_tile(text: str) -> Tile:
    """The tile that ``text`` writes, such as ``3-12``, either end first."""
    return _one(words.parse_tile, text, "a tile such as 3-12")


def parse_tiles(text: str) -> list[Tile]:
    """Any number of tiles."""
    return _many(words.parse_tile, text, "a tile such as 3-12")


def parse_move(text: str) -> Move:
    """The move that ``text`` writes: matching side, open side, train, as in ``5-12@M``; or ``stop``."""
    return _one(words.parse_move, text, "a move such as 5-12@M")


def moves_text(moves: Iterable[Move]) -> str:
    """Moves with blanks between them."""
    return " ".join(map(str, moves))


def parse_moves(text: str) -> list[Move]:
    """Any number of moves."""
    return _many(words.parse_move, text, "a move such as 5-12@M")


def parse_event(text: str) -> Event:
    """The event that ``text`` writes, such as ``2:5-12@M``, ``2:draw=3-4`` or ``2:mark``."""
    return _one(words.parse_event, text, "an event such as 2:5-12@M")


def events_text(events: Iterable[Event]) -> str:
    """Events with blanks between them."""
    return " ".join(map(event_text, events))


def parse_events(text: str) -> list[Event]:
    """Any number of events."""
    return _many(words.parse_event, text, "an event such as 2:5-12@M")


def parse_rules(text: str) -> Rules:
    """Rules: the preset and ``name=value`` options; what is not given is the preset's. ``str`` writes them."""
    found, end = scan(text)
    try:
        return words.parse_rules(found)
    except ValueError as error:
        raise located(error, end, "rules that can be played") from None


def observation_text(observation: Observation) -> str:
    """The lines of the protocol that tell what ``observation`` holds."""
    return "\n".join(observation_lines(observation))


def parse_observation(text: str) -> Observation:
    """The observation that the protocol's lines tell; a line goes on until the next word that begins one."""
    found = scan(text)
    reader = ObservationReader()
    try:
        for group in sections(found, sorted(OBSERVATION_WORDS)):
            reader.take(group)
        return reader.observation()
    except ProtocolError as error:
        raise located(error, found.end, "what agrees with the rules and the other lines") from None


def _one(parse: Callable[[str], _T], text: str, what: str) -> _T:
    try:
        return parse(text)  # nearly always
    except ValueError:
        found, end = scan(text)
        return read_word(parse, only(found, end, what), what)


def _many(parse: Callable[[str], _T], text: str, what: str) -> list[_T]:
    return [read_word(parse, word, what) for word in scan(text).words]


__all__ = [
    "NotationError",
    "deal_of",
    "deal_text",
    "event_text",
    "events_text",
    "moves_text",
    "observation_text",
    "parse_deal",
    "parse_event",
    "parse_events",
    "parse_move",
    "parse_moves",
    "parse_observation",
    "parse_position",
    "parse_rules",
    "parse_tile",
    "parse_tiles",
    "position_text",
    "tiles_text",
]
