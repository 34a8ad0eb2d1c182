"""How long players may think: the time control of a match, and the clocks of one seat in one game."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from caboose.engine.bot_api import Limits

DEFAULT_MARGIN: Final = 50.0  # ms: what the operating system may take between an engine's reply and our stamp
DEFAULT_GUARD: Final = 60_000.0  # ms: the longest that a move may take where no limit is a time
DEFAULT_STARTUP: Final = 10_000.0  # ms: for the handshake, and for each later readyok
MOST: Final = 1_000_000_000  # of any limit: milliseconds (eleven days), nodes or playouts
_ABOVE_ZERO: Final = ("movetime", "clock", "roundcap", "gamecap", "nodes", "playouts", "guard", "startup")
_FROM_ZERO: Final = ("increment", "allowance", "margin", "grace")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """What a seat may use. All times are milliseconds; what is None does not limit, and all that limit hold together.

    ``movetime`` limits each move. ``clock`` is for all moves of a seat in a game: ``increment`` comes on top after each
    move that was asked for; ``allowance`` is what each move may take before the clock begins to run, which makes the
    clock a bank for the moves that take longer. ``roundcap`` and ``gamecap`` limit what a seat takes for all its moves
    in a round and in the game. ``nodes`` and ``playouts`` limit the search and are the engine's to obey.

    A reply is late when it comes more than ``margin`` after the limit; the first move of a game is given ``grace``
    more, which costs the seat nothing. Where nothing limits the time a reply is late after ``guard``. ``startup`` is
    how long an engine may take to start, and to be ready for a game. Raises ``ValueError`` for numbers that make no
    sense.
    """

    movetime: float | None = None
    clock: float | None = None
    increment: float = 0.0
    allowance: float = 0.0
    roundcap: float | None = None
    gamecap: float | None = None
    nodes: int | None = None
    playouts: int | None = None
    margin: float = DEFAULT_MARGIN
    guard: float = DEFAULT_GUARD
    grace: float = 0.0
    startup: float = DEFAULT_STARTUP

    def __post_init__(self) -> None:
        for name in _ABOVE_ZERO:
            value = getattr(self, name)
            if value is not None and not 0 < value <= MOST:
                raise ValueError(f"{name} {value}: expected a number above 0, at most {MOST}")
        for name in _FROM_ZERO:
            if not 0 <= getattr(self, name) <= MOST:
                raise ValueError(f"{name} {getattr(self, name)}: expected a number from 0 to {MOST}")
        if self.increment and self.clock is None:
            raise ValueError("an increment needs a clock")
        if self.allowance and self.clock is None:
            raise ValueError("an allowance needs a clock")

    @property
    def timed(self) -> bool:
        """Whether anything limits the time, so that the guard does not."""
        return any(time is not None for time in (self.movetime, self.clock, self.roundcap, self.gamecap))

    def __str__(self) -> str:
        parts = []
        if self.movetime is not None:
            parts.append(f"{self.movetime:g} ms a move")
        if self.clock is not None:
            more = [f" and {self.increment / 1000:g} s a move"] if self.increment or not self.allowance else []
            more += [f" beyond {self.allowance / 1000:g} s a move"] if self.allowance else []
            parts.append(f"{self.clock / 1000:g} s a game{''.join(more)}")
        if self.roundcap is not None:
            parts.append(f"at most {self.roundcap / 1000:g} s a round")
        if self.gamecap is not None:
            parts.append(f"at most {self.gamecap / 1000:g} s a game")
        if self.nodes is not None:
            parts.append(f"{self.nodes:,} nodes a move")
        if self.playouts is not None:
            parts.append(f"{self.playouts:,} playouts a move")
        return ", ".join(parts) or "no limit"


class SeatClock:
    """What a seat has left in a game. For each decision ask ``limits`` and ``allowed``, and tell ``spend``.

    What the margin forgave makes a clock or a cap negative: it is forgiven once in a game, not at each move.
    """

    __slots__ = ("_control", "_first", "_fixed", "_game", "_left", "_round", "_simple")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self._left = control.clock or 0.0
        self._round = control.roundcap or 0.0
        self._game = control.gamecap or 0.0
        self._first = True
        added_up = control.clock, control.roundcap, control.gamecap
        self._simple = all(time is None for time in added_up)  # each move is on its own
        self._fixed = Limits(movetime=control.movetime, nodes=control.nodes, playouts=control.playouts)

    def new_round(self) -> None:
        """Another round begins."""
        self._round = self._control.roundcap or 0.0

    def limits(self) -> Limits:
        """What the player is told for its next move. Not to be changed."""
        if self._simple:
            return self._fixed
        control = self._control
        limits = replace(self._fixed)
        if control.clock is not None:
            limits.clock = max(self._left, 0.0)
            limits.increment = control.increment
            limits.allowance = control.allowance
        if control.roundcap is not None:
            limits.roundcap = max(self._round, 0.0)
        if control.gamecap is not None:
            limits.gamecap = max(self._game, 0.0)
        return limits

    def allowed(self) -> float | None:
        """After how many ms a reply is beyond its limit, the margin not counted; None where no time limits it."""
        control = self._control
        allowed = control.movetime
        if not self._simple:
            times = [] if allowed is None else [allowed]
            if control.clock is not None:
                times.append(self._left + control.allowance)
            if control.roundcap is not None:
                times.append(self._round)
            if control.gamecap is not None:
                times.append(self._game)
            allowed = min(times)
        return allowed + control.grace if self._first and allowed is not None else allowed

    def spend(self, used: float) -> None:
        """A decision took ``used`` ms."""
        control = self._control
        if self._first:
            self._first = False
            used = max(used - control.grace, 0.0)
        if not self._simple:
            self._left += control.increment - max(used - control.allowance, 0.0)
            self._round -= used
            self._game -= used
