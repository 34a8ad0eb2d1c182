"""One refereed game: who moves, how long it may take, what happens when a player fails.

The referee knows players only as ``Bot`` objects, so it treats a built-in player in this process and an engine
process of any origin alike. Engine processes outlive a game, so that one can play many; who made them closes
them (``EngineProcess`` is a context manager, ``close_all`` closes many).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, ParamSpec, TypeVar

from caboose.engine.game import Game, places
from caboose.engine.moves import Move
from caboose.engine.play import Bot, Info, Knowing, Limits
from caboose.protocol.gamelog import GameLog
from caboose.protocol.launch import SandboxError
from caboose.protocol.process import EngineFault, EngineProcess, LackError

if TYPE_CHECKING:
    from caboose.engine.deal import Deal
    from caboose.engine.round import Event, Observation

P = ParamSpec("P")
T = TypeVar("T")

FAULT_POLICIES: Final = ("fallback", "forfeit")
DEFAULT_MARGIN: Final = 50.0  # ms: what the operating system may take between an engine's reply and our stamp
DEFAULT_GUARD: Final = 60_000.0  # ms: the longest that a move may take where no limit is a time
MOST: Final = 1_000_000_000  # of any limit: milliseconds (eleven days), or nodes


# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl:
    """What a seat may use. All times are milliseconds; what is None does not limit.

    ``movetime`` limits each move. ``clock`` is for all moves of a seat in a game, ``increment`` comes on top
    after each move that was asked for. ``nodes`` limits the search and is the engine's to obey. A reply counts as
    late when it comes more than ``margin`` after the limit, or after ``guard`` where nothing limits the time.
    Raises ``ValueError`` for numbers that make no sense.
    """

    movetime: float | None = None
    clock: float | None = None
    increment: float = 0.0
    nodes: int | None = None
    margin: float = DEFAULT_MARGIN
    guard: float = DEFAULT_GUARD

    def __post_init__(self) -> None:
        for name in ("movetime", "clock", "nodes", "guard"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= MOST:
                raise ValueError(f"{name} {value}: expected a number above 0, at most {MOST}")
        for name in ("increment", "margin"):
            if not 0 <= getattr(self, name) <= MOST:
                raise ValueError(f"{name} {getattr(self, name)}: expected a number from 0 to {MOST}")
        if self.increment and self.clock is None:
            raise ValueError("an increment needs a clock")

    def limits(self, left: float) -> Limits:
        """The limits for one move of a seat with ``left`` ms on its clock."""
        return Limits(
            movetime=self.movetime,
            clock=None if self.clock is None else max(left, 0.0),
            increment=None if self.clock is None else self.increment,
            nodes=self.nodes,
        )

    def deadline(self, left: float) -> float:
        """After how many ms the reply of a seat with ``left`` ms on its clock is late; ``left`` is negative while a
        seat lives on the margin."""
        allowed = [t for t in (self.movetime, None if self.clock is None else left) if t is not None]
        return min(allowed) + self.margin if allowed else self.guard

    def __str__(self) -> str:
        parts = []
        if self.movetime is not None:
            parts.append(f"{self.movetime:g} ms a move")
        if self.clock is not None:
            parts.append(f"{self.clock / 1000:g} s a game and {self.increment / 1000:g} s a move")
        if self.nodes is not None:
            parts.append(f"{self.nodes:,} nodes a move")
        return ", ".join(parts) or "no limit"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a seat was taken from its player: what kind (as ``EngineFault``), in words, and when.

    ``round`` counts from 1, and so does ``decision``, the moves that the seat was asked for in the game: 0 is a
    fault before the first.
    """

    kind: str
    detail: str
    round: int
    decision: int


class Decision(NamedTuple):
    """A move that a player was asked for: the number of the event that it became (from 0), the milliseconds that it
    took, and the score that the player expected (as in ``Info``), if it said one."""

    event: int
    time: float
    score: float | None = None


@dataclass(frozen=True, slots=True)
class RoundLog:
    """All that happened in a round: enough to play it again."""

    deal: Deal
    events: tuple[Event, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How a round went. ``scores`` are the pips left in the hands, by seat.

    ``complete`` is False for the round in which a forfeit ended the game.
    """

    hub: int
    starter: int
    scores: tuple[int, ...]
    blocked: bool
    plays: int
    draws: int
    complete: bool = True
    log: RoundLog | None = None


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How a seat fared. ``place`` is 1 for the winner; seats that tie share a place; a seat with a ``fault`` is
    last. ``time`` and ``slowest`` are ms, over the ``decisions`` that its own player was asked for."""

    total: int
    place: int
    time: float
    slowest: float
    decisions: int
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class GameResult:
    """A game that was played: its rounds in order and its seats."""

    rounds: tuple[RoundResult, ...]
    seats: tuple[SeatResult, ...]

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats in first place; several share a win, and nobody wins when every seat has a fault."""
        return tuple(i for i, seat in enumerate(self.seats) if seat.place == 1 and seat.fault is None)

    @property
    def tainted(self) -> bool:
        """Whether a fault touched the game, so that it says little about the other seats."""
        return any(seat.fault for seat in self.seats)


# --------------------------------------------------------------------------------------------------- state


@dataclass(slots=True)
class _Seat:
    """A seat during a game: who plays it now, its clock (ms), what its own player has used."""

    player: Bot
    left: float
    time: float = 0.0
    slowest: float = 0.0
    decisions: int = 0
    fault: Fault | None = None

    def spend(self, used: float) -> None:
        """Counts a decision of the seat's own player."""
        self.time += used
        self.slowest = max(self.slowest, used)
        self.decisions += 1


# --------------------------------------------------------------------------------------------------- logic


def play_game(
    game: Game,
    bots: Sequence[Bot],
    control: TimeControl,
    *,
    fallback: Bot,
    on_fault: str = "fallback",
    recording: bool = False,
    log: GameLog | None = None,
) -> GameResult:
    """Plays ``game`` to its end, with ``bots`` on the seats of the same number, and says how it went.

    A seat with one legal move is not asked, and that costs it nothing. A player that fails (cannot be started,
    dies, is late, gives an illegal move or nonsense; a bot in this process that raises) has a fault: its seat is
    finished by the player ``fallback``, comes last, and its own player is not asked again in this game. With
    ``on_fault="forfeit"`` the game ends there instead. Faults are not raised: they are in the result.

    Engine processes that do not run are started, and those with a fault are closed; the others go on running.
    A player that is ``Knowing`` gets the round itself, and no other does.
    With ``recording`` the result has the log of each round. What engine processes say from now on goes to ``log``, if
    there is one, also after the game. Raises ``ValueError`` for a number of bots that is not the number of players,
    and ``LackError`` and ``SandboxError`` where this process cannot start another.
    """
    if len(bots) != game.rules.players:
        raise ValueError(f"{len(bots)} bots for {game.rules.players} players")
    if on_fault not in FAULT_POLICIES:
        raise ValueError(f"on_fault {on_fault!r}: expected one of {', '.join(FAULT_POLICIES)}")
    return _Referee(game, bots, control, fallback, on_fault == "forfeit", recording, log).play()


class _Referee:
    """One game in progress."""

    def __init__(
        self,
        game: Game,
        bots: Sequence[Bot],
        control: TimeControl,
        fallback: Bot,
        forfeit: bool,
        recording: bool,
        log: GameLog | None,
    ) -> None:
        self.game = game
        self.seats = [_Seat(bot, control.clock or 0.0) for bot in bots]
        self.control = control
        self.fallback = fallback
        self.forfeit = forfeit
        self.recording = recording
        self.log = log
        self.forfeited = False
        self.rounds: list[RoundResult] = []

    def play(self) -> GameResult:
        self.fallback.new_game()
        for number, seat in enumerate(self.seats):
            if self.log is not None and isinstance(seat.player, EngineProcess):
                seat.player.log = self.log.seat(number)
        for seat in self.seats:
            try:
                if isinstance(seat.player, EngineProcess):
                    _guarded("start", seat.player.start)
                _guarded("dead", seat.player.new_game)
            except EngineFault as fault:
                self.take_over(seat, fault)
        while True:
            self.play_round()
            if self.game.over or self.forfeited:
                return GameResult(tuple(self.rounds), self.seat_results())

    def play_round(self) -> None:
        game, round = self.game, self.game.round
        past = game.scores
        decisions: list[Decision] = []
        while not (round.over or self.forfeited):
            moves = round.legal_moves()
            if len(moves) == 1:
                round.apply(moves[0])
                continue
            seat = self.seats[round.turn]
            observation = round.observe(round.turn, past)
            if seat.fault is None:
                try:
                    move, used, score = self.ask(seat, observation, moves)
                except EngineFault as fault:
                    self.take_over(seat, fault)
                    continue
                decisions.append(Decision(len(observation.events), used, score))
            else:
                move = self.fallback.choose(observation, Limits())
            round.apply(move)
        self.rounds.append(self.round_result(decisions))
        if round.over:
            game.finish_round()
        if self.log is not None:
            self.log.flush()

    def ask(self, seat: _Seat, observation: Observation, moves: list[Move]) -> tuple[Move, float, float | None]:
        """The move of the seat's own player, the ms that it took, and the score that it expects, if it is wanted and
        the player says one. Raises ``EngineFault``."""
        player = seat.player
        choose = player.choose
        if isinstance(player, Knowing):
            # A copy, so that nothing it does reaches the game.
            choose = partial(player.choose_knowing, self.game.round.copy())
        deadline = self.control.deadline(seat.left)
        limits = self.control.limits(seat.left)
        reports: list[Info] = []
        if self.recording and not isinstance(player, EngineProcess):
            limits.report = reports.append
        start = time.perf_counter()
        try:
            move = _guarded("dead", choose, observation, limits)
        except EngineFault:
            seat.spend((time.perf_counter() - start) * 1000)
            raise
        # An engine's reply is stamped where it arrives.
        used = player.last_time if isinstance(player, EngineProcess) else (time.perf_counter() - start) * 1000
        seat.spend(used)
        if used > deadline:
            raise EngineFault("late", f"took {used:.1f} ms, allowed were {deadline:.1f} ms with the margin")
        if not isinstance(move, Move):
            raise EngineFault("garbled", f"returned {type(move).__name__}, expected Move")
        if move not in moves:
            raise EngineFault("illegal", f"played {move}, the legal moves were {' '.join(map(str, moves))}")
        if self.control.clock is not None:
            # Below zero is what the margin forgave: it is forgiven once in a game, not at each move.
            seat.left += self.control.increment - used
        if self.recording and isinstance(player, EngineProcess):
            reports += [info for info in [player.last_info] if info is not None]
        return move, used, reports[-1].score if reports else None

    def take_over(self, seat: _Seat, error: EngineFault) -> None:
        """Takes the seat from its player after a fault."""
        seat.fault = Fault(error.kind, error.detail, self.game.number, seat.decisions)
        self.forfeited = self.forfeit
        if self.log is not None:
            number = next(number for number, other in enumerate(self.seats) if other is seat)
            self.log.seat(number).note(f"fault {error}")
        if isinstance(seat.player, EngineProcess):
            seat.player.close()  # or it might think on while others are on the clock

    def round_result(self, decisions: list[Decision]) -> RoundResult:
        round, deal = self.game.round, self.game.deal
        events = round.events
        kinds = [event.kind for event in events]
        return RoundResult(
            hub=round.hub,
            starter=round.starter,
            scores=round.scores,
            blocked=round.blocked,
            plays=kinds.count("play"),
            draws=kinds.count("draw"),
            complete=round.over,
            log=RoundLog(deal, events, tuple(decisions)) if self.recording else None,
        )

    def seat_results(self) -> tuple[SeatResult, ...]:
        faulty = {number for number, seat in enumerate(self.seats) if seat.fault is not None}
        place_of = final_places([round.scores for round in self.rounds], len(self.seats), faulty)
        return tuple(
            SeatResult(
                total=sum(round.scores[number] for round in self.rounds),
                place=place_of[number],
                time=seat.time,
                slowest=seat.slowest,
                decisions=seat.decisions,
                fault=seat.fault,
            )
            for number, seat in enumerate(self.seats)
        )


def final_places(rows: Sequence[Sequence[int]], players: int, faulty: Collection[int]) -> tuple[int, ...]:
    """The place of each seat at the end of a game with these scores, a row of seats for each round.

    The seats in ``faulty`` come last, whatever their scores; the others take their places among themselves.
    """
    clean = [seat for seat in range(players) if seat not in faulty]
    place_of = dict(zip(clean, places([[row[seat] for seat in clean] for row in rows], len(clean)), strict=True))
    return tuple([place_of.get(seat, players) for seat in range(players)])


def _guarded(kind: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``call`` returns; whatever it raises becomes an ``EngineFault``, of ``kind`` unless it is one already;
    what this process lacks is nobody's fault."""
    try:
        return call(*args, **kwargs)
    except (EngineFault, LackError, SandboxError):
        raise
    except Exception as error:
        detail = " ".join(f"raised {type(error).__name__}: {error}".split())
        raise EngineFault(kind, detail) from error
