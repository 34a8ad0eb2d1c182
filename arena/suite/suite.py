"""What a suite is: positions as a seat sees them, and what each of their moves costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation

FORMAT: Final = 1
PHASES: Final = ("early", "middle", "late")
SURE: Final = 1.96  # standard errors to each side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Loss:
    """How much worse than the best a move is: ``pips``, with the standard error of that.

    Winning the round counts as pips too, as in the search. A move may seem better than the best by chance, its loss is
    below zero then; both numbers are 0 of the best itself.
    """

    pips: float
    error: float

    @property
    def certain(self) -> bool:
        """The move is worse than the best, and that is not noise."""
        return self.pips > SURE * self.error


@dataclass(frozen=True, slots=True)
class Place:
    """A position that is in a suite, or is to be: what a seat sees.

    ``deal`` is the same for positions of one deal and for no others. ``phase`` is one of ``PHASES``: whether a third of
    the round's choices, two or all of them were made when it was over.
    """

    view: Observation
    deal: str
    phase: str


@dataclass(frozen=True, slots=True)
class Position:
    """A place with its target: the ``losses`` of all legal moves, the best move first."""

    place: Place
    losses: Mapping[Move, Loss]

    @property
    def best(self) -> Move:
        """The move with which the others are compared."""
        return next(iter(self.losses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """How a suite was made: by which version, of how many positions, with how many playouts (``nodes``) for the race
    and as many for the comparison, with which seed and options of ``mcts``, and from what."""

    caboose: str
    positions: int
    nodes: int
    seed: int
    options: Mapping[str, str]
    source: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as it is read from a file. ``digest`` are 16 hexadecimal digits of its contents."""

    header: Header
    positions: tuple[Position, ...]
    digest: str
