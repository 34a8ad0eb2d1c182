"""What a player is: an object that is given an observation and limits, and returns a move.

Everything that can take a seat fits ``Bot``: the built-in players, and an engine process seen through
``caboose.protocol``. Code above cannot tell the difference.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from caboose.engine.rules.moves import Move
    from caboose.engine.rules.round import Observation, Round

OPTION_TYPES: Final = ("check", "spin", "combo", "string", "button")
_TIMES: Final = ("movetime", "clock", "increment", "allowance", "roundcap", "gamecap")
_COUNTS: Final = ("nodes", "playouts")


class OptionError(ValueError):
    """An option that does not exist or a value that it does not take."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option that a bot declares, as in UCI.

    ``type`` is ``check`` (bool), ``spin`` (int from ``min`` to ``max``), ``combo`` (one of ``choices``),
    ``string`` or ``button`` (no value). ``help`` is one line for people.
    """

    name: str
    type: str
    default: bool | int | str | None = None
    min: int | None = None
    max: int | None = None
    choices: tuple[str, ...] = ()
    help: str = ""

    def parse(self, text: str) -> bool | int | str | None:
        """``text`` as this option's value. Raises ``OptionError`` saying what is expected."""
        if self.type == "check":
            if text not in ("true", "false"):
                raise OptionError(f"option {self.name}: {text!r} is not a check value: expected true or false")
            return text == "true"
        if self.type == "spin":
            digits = text.removeprefix("-")
            ok = digits.isascii() and digits.isdigit() and len(digits) <= 19
            if not ok or not (self.min or 0) <= int(text) <= (self.max or 0):
                raise OptionError(
                    f"option {self.name}: {text[:40]!r} is not a value of this spin: "
                    f"expected a whole number from {self.min} to {self.max}"
                )
            return int(text)
        if self.type == "combo":
            if text not in self.choices:
                raise OptionError(f"option {self.name}: {text[:40]!r} is not one of {', '.join(self.choices)}")
            return text
        if self.type == "button":
            if text:
                raise OptionError(f"option {self.name} is a button and takes no value")
            return None
        return text


@dataclass(slots=True)
class Limits:
    """How long a bot may think about one move. What is None does not limit; all times are milliseconds.

    ``clock`` is what the seat has left for the rest of the game, ``increment`` what each move adds to it, and
    ``allowance`` what each move may take before the clock begins to run. ``roundcap`` and ``gamecap`` are what the seat
    may still take for all its moves in this round and in the game. ``nodes`` counts search iterations, ``playouts``
    rounds that are played to their end. All that are given hold together. With ``infinite`` the bot thinks until
    ``stop`` is set or another limit is reached, with none of them as long as it sees fit; a bot that does not search
    answers at once. ``report`` takes what the bot wants to say meanwhile.

    Times are numbers of at least 0, ``nodes`` and ``playouts`` whole numbers of at least 1. Raises ``ValueError`` for
    others.
    """

    movetime: float | None = None
    clock: float | None = None
    increment: float | None = None
    allowance: float | None = None
    roundcap: float | None = None
    gamecap: float | None = None
    nodes: int | None = None
    playouts: int | None = None
    infinite: bool = False
    stop: threading.Event | None = None
    report: Callable[[Info], None] | None = None

    def __post_init__(self) -> None:
        for name in _TIMES:
            if (value := getattr(self, name)) is not None and not _is_time(value):
                raise ValueError(f"{name} {_shown(value)}: expected milliseconds, a number of at least 0, or None")
        for name in _COUNTS:
            if (value := getattr(self, name)) is not None and not _is_count(value):
                raise ValueError(f"{name} {_shown(value)}: expected a whole number of at least 1, or None")
        if not isinstance(self.infinite, bool):
            raise ValueError(f"infinite {_shown(self.infinite)}: expected True or False")
        if self.stop is not None and not callable(getattr(self.stop, "is_set", None)):
            raise ValueError(f"stop {_shown(self.stop)}: expected a threading.Event, or None")
        if self.report is not None and not callable(self.report):
            raise ValueError(f"report {_shown(self.report)}: expected what can be called with an Info, or None")


def _is_time(value: Any) -> bool:
    try:
        return _is(value, Real) and float(value) >= 0  # so not NaN either
    except OverflowError:
        return False


def _is_count(value: Any) -> bool:
    return _is(value, Integral) and bool(value >= 1)


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


class Candidate(NamedTuple):
    """A move that was considered: its visits, and what they say.

    ``score`` is the pips by which the seat is expected to end below the others' mean (more is better), ± ``error``
    (95 %); ``win`` (0 to 1) is the chance that nobody ends with fewer pips. What is not known is None: everything after
    0 visits, the error after one, and error and win where an engine's ``info`` line tells of the move.
    """

    move: Move
    visits: int
    score: float | None = None
    error: float | None = None
    win: float | None = None


@dataclass(frozen=True, slots=True)
class Info:
    """What a search says of itself: milliseconds, nodes, nodes per second, the expected score of the best
    move (pips below the others' mean; None where nothing is known of it) and the candidates, best first."""

    time: float = 0.0
    nodes: int = 0
    nps: int = 0
    score: float | None = None
    candidates: Sequence[Candidate] = field(default_factory=tuple)


@runtime_checkable
class Bot(Protocol):
    """A player. One object plays one seat of one game at a time."""

    @property
    def name(self) -> str:
        """The name under which it plays."""

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that it declares, by name."""

    def set_option(self, name: str, value: str) -> None:
        """Sets an option from text; raises ``OptionError``."""

    def new_game(self) -> None:
        """Forgets everything of earlier games; options stay."""

    def choose(self, observation: Observation, limits: Limits) -> Move:
        """A legal move for the seat whose observation it is."""


@runtime_checkable
class Knowing(Protocol):
    """A player that is told what is hidden: never an opponent, only a measure of what knowing would be worth.

    Only a player in the referee's own process can be one. It is a ``Bot`` too, whose ``choose`` is not called.
    """

    def choose_knowing(self, round_: Round, observation: Observation, limits: Limits) -> Move:
        """A legal move for the seat whose observation it is, in ``round_``, a copy of the round being played."""
