"""What is analysed: one position, as a seat sees it, or the choices of a recorded game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from caboose.arena.errors import CallError, RunError
from caboose.arena.viewer.replay import Shown, game_title
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event, Observation, Round
from caboose.protocol.notation.lines import printable


@dataclass(frozen=True, slots=True)
class Place:
    """A moment of a recorded game; rounds and games from 1."""

    game: int
    round: int
    event: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A position that is to be analysed; ``played`` is what was played there, and ``names`` are empty if unknown."""

    view: Observation
    title: str
    names: Sequence[str] = ()
    place: Place | None = None
    played: Move | None = None


@dataclass(slots=True)
class Scan:
    """The choices of a game that are to be analysed: of one round or all, of one seat (from 1) or all."""

    shown: Shown
    game: int
    round: int | None
    seat: int | None

    @property
    def rounds(self) -> Sequence[int]:
        """The numbers of its rounds."""
        return range(1, len(self.shown.record.rounds) + 1) if self.round is None else [self.round]

    @property
    def seats(self) -> Sequence[int]:
        """Its seats, from 0."""
        return range(len(self.shown.names)) if self.seat is None else [self.seat - 1]

    def choices(self) -> Iterator[tuple[Place, Observation, Move]]:
        """Every choice among several moves: where, what the seat saw, what was played."""
        record = self.shown.record
        for number in self.rounds:
            replay = self.shown.replay(number)
            past = [before.scores for before in record.rounds[: number - 1]]
            for event, position in replay.choices():
                played = _played(replay.events, event)
                if played is not None and position.turn in self.seats and len(position.legal_moves()) > 1:
                    yield Place(self.game, number, event), position.observe(position.turn, past), played


def check_seat(seat: int | None, players: int) -> None:
    """Raises ``CallError`` for a seat that does not exist."""
    if seat is not None and not 1 <= seat <= players:
        raise CallError(f"--seat {seat}: expected 1 to {players}")


def check_round(shown: Shown, game: int, round: int | None, seat: int | None) -> None:
    """Raises ``CallError`` for a round or a seat that does not exist."""
    check_seat(seat, len(shown.names))
    rounds = len(shown.record.rounds)
    if round is not None and not 1 <= round <= rounds:
        raise CallError(f"--round {round}: expected 1 to {rounds} in game {game}")


def subject_of_table(table: Round | Observation, seat: int | None, name: str) -> Subject:
    """A position or an observation, as ``seat`` (from 1) or who is to move sees it."""
    check_seat(seat, table.rules.players)
    if table.over:
        raise RunError(f"{name}: the round is over, expected a position in which somebody is to move")
    if isinstance(table, Observation):
        if seat is not None and seat != table.seat + 1:
            raise CallError(f"--seat {seat}: {name} is what seat {table.seat + 1} sees, expected that seat")
        return Subject(view=table, title=printable(name))
    return Subject(view=table.observe(table.turn if seat is None else seat - 1), title=printable(name))


def subject_of_game(shown: Shown, game: int, round: int | None, event: int, seat: int | None) -> Subject:
    """The position of a game in which somebody had a choice after ``event`` events."""
    record = shown.record
    if round is None:
        if len(record.rounds) > 1:
            raise CallError(f"--event {event}: expected --round too, as the game has {len(record.rounds)} rounds")
        round = 1
    replay = shown.replay(round)
    choices = dict(replay.choices())
    if event not in choices:
        if not choices:
            raise RunError(shown.problem(round) or f"round {round} has no choice")
        near = sorted(sorted(choices, key=lambda number: abs(number - event))[:2])
        told = " or ".join(map(str, near))
        raise CallError(f"--event {event}: nobody has a choice after it in round {round}, expected such as {told}")
    position = choices[event]
    looking = position.turn if seat is None else seat - 1
    past = [before.scores for before in record.rounds[: round - 1]]
    return Subject(
        view=position.observe(looking, past),
        title=f"{game_title(record)}; game {game}, round {round}, after event {event}",
        names=shown.callings,
        place=Place(game, round, event),
        played=_played(replay.events, event) if looking == position.turn else None,
    )


def _played(events: Sequence[Event], at: int) -> Move | None:
    """What was played after ``at`` events; None where the game ended there."""
    return None if at == len(events) else events[at].move or STOP
