"""What a file that is to be analysed holds, where it is not recorded games: a position or an observation."""

from __future__ import annotations

from typing import BinaryIO, Final

from caboose.arena.errors import RunError
from caboose.engine.rules.round import Observation, Round
from caboose.protocol.notation.notation import NotationError, parse_observation, parse_position
from caboose.protocol.notation.observation import OBSERVATION_WORDS
from caboose.protocol.notation.scanner import scan

_MOST: Final = 1 << 20  # bytes; the longest position has some 20 KB
_POSITION_WORDS: Final = frozenset({"rules", "hub", "starter", "hands", "boneyard", "events"})
_OBSERVED: Final = frozenset({"observation", "seat", "hand"})  # words that no position has
_EXPECTED: Final = "a recorded game, a position or an observation"


def read_table(file: BinaryIO, name: str) -> Round | Observation:
    """The position or observation that ``file`` holds in notation. Raises ``RunError`` with line and column."""
    file.seek(0)
    data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise RunError(f"{name}: the file is too long for a position and has no game, expected {_EXPECTED}")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is 0x{data[error.start]:02x}, which is no UTF-8"
        raise RunError(f"{name}: {what}: expected {_EXPECTED}") from None
    words = scan(text).words
    if not words:
        raise RunError(f"{name}: it is empty, expected {_EXPECTED}")
    if words[0] not in _POSITION_WORDS | set(OBSERVATION_WORDS):
        where = f"line {words[0].line}, column {words[0].column}"
        raise RunError(f"{name}: {where}: {words[0][:40]!r} stands at the beginning: expected {_EXPECTED}")
    try:
        return parse_observation(text) if _OBSERVED.intersection(words) else parse_position(text)
    except NotationError as error:
        raise RunError(f"{name}: {error}") from None
