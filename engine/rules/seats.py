"""Errors that name seats, trains and moves: as Python counts them, from 0, and as text writes them, from 1.

The engine raises them to people who write Python, and ``caboose.protocol`` shows the same errors to people who write
lines. Each of the two kinds of readers gets the numbers that it uses itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from caboose.engine.rules.moves import Move
from caboose.engine.rules.tiles import MEXICAN, train_name


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat of the core, from 0."""

    number: int

    def __str__(self) -> str:
        return str(self.number)

    def written(self) -> str:
        """As text has it, from 1."""
        return str(self.number + 1)


@dataclass(frozen=True, slots=True)
class Places:
    """Ends of trains, each as its train (0 to 14) and its pips."""

    ends: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return ", ".join(f"{pips} on {_train(train)}" for train, pips in self.ends)

    def written(self) -> str:
        """As text has them: ``6@1 3@M``."""
        return " ".join(sorted(f"{pips}@{train_name(train)}" for train, pips in self.ends))


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves, one or more."""

    moves: tuple[Move, ...]

    def __str__(self) -> str:
        return ", ".join(map(_move, self.moves))

    def written(self) -> str:
        """As text has them: ``6-5@1 6-3@M``."""
        return " ".join(map(str, self.moves))


class SeatError(ValueError):
    """An error that names seats, trains or moves: ``form`` with ``{}`` in the place of each of ``parts``.

    ``str`` counts seats and trains from 0, as Python does; ``written`` counts them from 1, as text does.
    """

    def __init__(self, form: str, *parts: Seat | Places | Moves) -> None:
        super().__init__(form, *parts)
        self.form = form
        self.parts = parts

    def __str__(self) -> str:
        return self.form.format(*self.parts)

    def written(self) -> str:
        """The error for people who read and write text."""
        return self.form.format(*[part.written() for part in self.parts])


def written(error: BaseException) -> str:
    """What ``error`` says, with seats, trains and moves as text writes them."""
    return error.written() if isinstance(error, SeatError) else str(error)


def moves_of(moves: Iterable[Move]) -> Moves:
    """``moves`` as a part of an error."""
    return Moves(tuple(moves))


def _train(train: int) -> str:
    return "MEXICAN" if train == MEXICAN else f"train {train}"


def _move(move: Move) -> str:
    return "stop" if move.tile is None else f"{move.match}-{move.open} on {_train(move.train)}"
