"""One refereed game: who moves, how long it may take, what happens when a player fails.

The referee knows players only as ``Bot`` objects, so it treats a built-in player in this process and an engine
process of any origin alike. Engine processes outlive a game, so that one can play many; who made them closes
them (``EngineProcess`` is a context manager, ``close_all`` closes many).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from caboose.engine.bot_api import Bot, Info, Knowing, Limits
from caboose.engine.rules.game import Game, places
from caboose.engine.rules.moves import Move
from caboose.protocol.process.faults import error_text
from caboose.protocol.process.gamelog import GameLog
from caboose.protocol.process.launch import SandboxError
from caboose.protocol.process.process import EngineFault, EngineProcess, LackError
from caboose.protocol.referee.timing import SeatClock, TimeControl

if TYPE_CHECKING:
    from caboose.engine.rules.deal import Deal
    from caboose.engine.rules.round import Event, Observation

T = TypeVar("T")

FAULT_POLICIES: Final = ("fallback", "forfeit")


# --------------------------------------------------------------------------------------------- value types


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
    took, the score that the player expected (as in ``Info``), if it said one, and the milliseconds by which it
    came after its limit, but within the margin."""

    event: int
    time: float
    score: float | None = None
    over: float = 0.0


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
    last. ``time`` and ``slowest`` are ms, over the ``decisions`` that its own player was asked for. ``overruns`` of
    them came after their limit, but within the margin, the worst by ``worst_overrun`` ms. ``cpu`` are the milliseconds
    of processor time that an engine process and all that it started used in the game; 0 where that is not known. A
    signal stopped it ``stops`` times, or more (less than twice that)."""

    total: int
    place: int
    time: float
    slowest: float
    decisions: int
    fault: Fault | None = None
    overruns: int = 0
    worst_overrun: float = 0.0
    cpu: float = 0.0
    stops: int = 0


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


class _Seat:
    """A seat during a game: its player, its clock, what its own player has used (ms)."""

    __slots__ = (
        "clock",
        "cpu",
        "decisions",
        "engine",
        "fault",
        "knowing",
        "overruns",
        "player",
        "slowest",
        "stops",
        "time",
        "worst",
    )

    def __init__(self, player: Bot, control: TimeControl) -> None:
        self.player = player
        self.engine = player if isinstance(player, EngineProcess) else None
        self.knowing = player if isinstance(player, Knowing) else None
        self.clock = SeatClock(control)
        self.fault: Fault | None = None
        self.decisions = 0
        self.time = 0.0
        self.slowest = 0.0
        self.overruns = 0
        self.worst = 0.0
        self.cpu = 0.0
        self.stops = 0

    def spend(self, used: float) -> None:
        """Counts a decision of the seat's own player."""
        self.clock.spend(used)
        self.time += used
        self.decisions += 1
        if used > self.slowest:
            self.slowest = used

    def overrun(self, over: float) -> None:
        """A reply came ``over`` ms after its limit, but within the margin."""
        self.overruns += 1
        self.worst = max(self.worst, over)

    def begin_counts(self) -> None:
        """From here on the processor time of its engine counts, and how often that is stopped."""
        self.cpu, self.stops = 0.0, 0
        if self.engine is not None and self.fault is None:
            self.cpu, self.stops = -self.engine.processor_time, -self.engine.stops

    def end_counts(self) -> None:
        """No more than this; a process that is gone says no more what it used."""
        if self.engine is not None:
            self.cpu = max(self.cpu + self.engine.processor_time, 0.0)
            self.stops = max(self.stops + self.engine.stops, 0)


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
        self.seats = [_Seat(bot, control) for bot in bots]
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
            if self.log is not None and seat.engine is not None:
                seat.engine.log = self.log.seat(number)
        # Our own first: what others could read of them is hidden when they have started.
        for seat in sorted(self.seats, key=lambda seat: seat.engine is not None and not seat.engine.trusted):
            try:
                if seat.engine is not None:
                    _guarded("start", seat.player, seat.engine.start)
                _guarded("dead", seat.player, seat.player.new_game)
            except EngineFault as fault:
                self.take_over(seat, fault)
            seat.begin_counts()
        while True:
            self.play_round()
            if self.game.over or self.forfeited:
                break
        for seat in self.seats:
            if seat.fault is None:
                seat.end_counts()
        return GameResult(tuple(self.rounds), self.seat_results())

    def play_round(self) -> None:
        game, round = self.game, self.game.round
        past = game.scores
        decisions: list[Decision] = []
        for seat in self.seats:
            seat.clock.new_round()
        while not (round.over or self.forfeited):
            moves = round.legal_moves()
            if len(moves) == 1:
                round.apply(moves[0])
                continue
            seat = self.seats[round.turn]
            observation = round.observe(round.turn, past)
            if seat.fault is None:
                try:
                    if seat.engine is not None:
                        move = self.ask_engine(seat, seat.engine, observation, moves, decisions)
                    else:
                        move = self.ask_bot(seat, observation, moves, decisions)
                except EngineFault as fault:
                    self.take_over(seat, fault)
                    continue
            else:
                move = self.fallback.choose(observation, Limits())
            round.apply(move)
        self.rounds.append(self.round_result(decisions))
        if round.over:
            game.finish_round()
        if self.log is not None:
            self.log.flush()

    def ask_engine(
        self,
        seat: _Seat,
        engine: EngineProcess,
        observation: Observation,
        moves: list[Move],
        decisions: list[Decision],
    ) -> Move:
        """The move of an engine process. Raises ``EngineFault``."""
        allowed = seat.clock.allowed()
        try:
            move = engine.ask(observation, seat.clock.limits(), allowed, moves)
        finally:
            used = engine.last_time  # its reply is stamped where it arrives
            seat.spend(used)
        over = 0.0
        if allowed is not None and used > allowed:
            over = used - allowed
            seat.overrun(over)
        if self.recording:
            info = engine.last_info
            decisions.append(Decision(len(observation.events), used, None if info is None else info.score, over))
        return move

    def ask_bot(self, seat: _Seat, observation: Observation, moves: list[Move], decisions: list[Decision]) -> Move:
        """The move of a player in this process. Raises ``EngineFault``."""
        choose = seat.player.choose
        if seat.knowing is not None:
            # A copy, so that nothing it does reaches the game.
            choose = partial(seat.knowing.choose_knowing, self.game.round.copy())
        limits, allowed = replace(seat.clock.limits()), seat.clock.allowed()  # a bot may do with its own what it likes
        reports: list[Info] = []
        if self.recording:
            limits.report = reports.append
        start = time.perf_counter()
        try:
            move = _guarded("dead", seat.player, lambda: choose(observation, limits))
        finally:
            used = (time.perf_counter() - start) * 1000
            seat.spend(used)
        over = 0.0
        if allowed is None:
            if used > self.control.guard:
                raise EngineFault("late", f"took {used:.1f} ms, allowed was the guard of {self.control.guard:g} ms")
        elif used > allowed:
            over, most = used - allowed, allowed + self.control.margin
            if used > most:
                raise EngineFault("late", f"took {used:.1f} ms, allowed were {most:.1f} ms with the margin")
            seat.overrun(over)
        if not isinstance(move, Move):
            raise EngineFault("garbled", f"returned {type(move).__name__}, expected Move")
        if move not in moves:
            raise EngineFault("illegal", f"played {move}, the legal moves were {' '.join(map(str, moves))}")
        if self.recording:
            decisions.append(Decision(len(observation.events), used, reports[-1].score if reports else None, over))
        return move

    def take_over(self, seat: _Seat, error: EngineFault) -> None:
        """Takes the seat from its player after a fault."""
        seat.fault = Fault(error.kind, error.detail, self.game.number, seat.decisions)
        self.forfeited = self.forfeit
        if self.log is not None:
            number = next(number for number, other in enumerate(self.seats) if other is seat)
            self.log.seat(number).note(f"fault {error}")
        if seat.engine is not None:
            seat.end_counts()
            seat.engine.close()  # or it might think on while others are on the clock

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
                overruns=seat.overruns,
                worst_overrun=seat.worst,
                cpu=seat.cpu,
                stops=seat.stops,
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


def _guarded(kind: str, player: Bot, call: Callable[[], T]) -> T:
    """What ``call`` returns; what it raises becomes an ``EngineFault`` of ``player``, of ``kind`` unless it is one
    already. What this process lacks is no player's fault."""
    try:
        return call()
    except (EngineFault, LackError, SandboxError):
        raise
    except Exception as error:
        raise EngineFault(kind, f"raised {error_text(error, player)}") from error
