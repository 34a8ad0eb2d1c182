"""Time controls as calls and files give them."""

from __future__ import annotations

from typing import Any, Final

from caboose.protocol.referee.timing import TimeControl

DEFAULT_MOVETIME: Final = 20.0  # ms

_LIMITS: Final = ("movetime", "clock", "roundcap", "gamecap", "nodes", "playouts")


def make_control(**given: Any) -> TimeControl:
    """The time control with the fields ``given``; where they limit nothing, ``DEFAULT_MOVETIME`` for each move. Raises
    ``ValueError``."""
    if all(given.get(name) is None for name in _LIMITS):
        given["movetime"] = DEFAULT_MOVETIME
    try:
        return TimeControl(**given)
    except ValueError as error:
        raise ValueError(f"time control: {error}") from None


def parse_tc(text: str) -> tuple[float, float]:
    """Base and increment in ms of ``BASE+INC`` in seconds. Raises ``ValueError``."""
    base, _, increment = text.partition("+")
    try:
        return float(base) * 1000, float(increment or "0") * 1000
    except ValueError:
        raise ValueError(f"{text}: expected BASE+INC in seconds, such as 60+0.5") from None
