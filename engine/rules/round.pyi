from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import Move
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import Tile

EVENT_KINDS: Final[tuple[str, ...]]

class Event(NamedTuple):
    """Something that everybody at the table saw, in the order in which it happened.

    ``seat`` is 0 to 13. ``kind`` is ``hub`` (the seat lays the dealt hub down), ``draw``, ``play``, ``stop``
    (a chain ends, by choice or because nothing fits: nobody can tell), ``mark`` (a pass that puts a new
    marker down) or ``pass`` (a pass of a seat that is marked already). ``tile`` is the tile of a ``play``,
    and of a ``draw`` when the reader may know it; ``move`` is the move of a ``play``.
    """

    kind: str
    seat: int
    tile: Tile | None = None
    move: Move | None = None

class OpenDouble(NamedTuple):
    """A double that still wants tiles: its train (0 to 14), its pips (0 to 18), and how many it needs (1 to 3)."""

    train: int
    pips: int
    need: int

class Table:
    """What lies on the table for all to see. ``Round`` and ``Observation`` share it.

    Equal ones have the same rules, position and events. They can be copied and pickled, but not hashed.
    """

    def __eq__(self, value: object, /) -> bool: ...
    @property
    def rules(self) -> Rules:
        """The rules of the game."""
    @property
    def hub(self) -> int:
        """The pips of the double in the middle."""
    @property
    def starter(self) -> int:
        """The seat that had the first turn."""
    @property
    def turn(self) -> int:
        """The seat that must choose now; -1 when the round is over."""
    @property
    def over(self) -> bool:
        """The round has ended."""
    @property
    def blocked(self) -> bool:
        """The round ended because nobody could play any more."""
    @property
    def hand_sizes(self) -> tuple[int, ...]:
        """For each seat, how many tiles it holds."""
    @property
    def boneyard_size(self) -> int:
        """How many tiles are left to draw."""
    @property
    def markers(self) -> tuple[bool, ...]:
        """For each seat, whether a marker lies on its train."""
    @property
    def open_doubles(self) -> tuple[OpenDouble, ...]:
        """The open doubles, oldest first; ``rules.doubles_order`` says which must be satisfied first."""
    @property
    def binding(self) -> OpenDouble | None:
        """The open double that must be satisfied now before anything else; None in a turn with new doubles."""
    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the round so far. A drawn tile shows only where the reader may know it."""
    @property
    def trains(self) -> dict[int, tuple[Move, ...]]:
        """For each train that was started, the moves that built it, in order."""
    def ends(self, train: int) -> tuple[int, ...]:
        """The pips open on ``train``, ascending; more than one, or one twice, only under chickenfoot."""
    def started(self, train: int) -> bool:
        """Whether a tile was played on ``train``."""
    def legal_moves(self) -> list[Move]:
        """The moves open to the seat whose turn it is, in a fixed order; [] when the round is over.

        Raises ``ValueError`` for an observation of a seat that is not to move.
        """

class Round(Table):
    """One round, with all that is hidden. Forced steps (draws, passes, markers) happen by themselves."""

    @property
    def past_scores(self) -> tuple[tuple[int, ...], ...]:
        """The scores of the game's rounds before this one, a row of seats for each."""
    def __init__(self, rules: Rules, deal: Deal, past_scores: Iterable[Sequence[int]] = ()) -> None:
        """Lays out ``deal`` and runs to the first choice. Raises ``ValueError`` for a deal against the rules.

        ``past_scores`` are the rounds of the game before this one, a row of seats for each.
        """
    @staticmethod
    def deal(rules: Rules, hub: int | None = None, seed: int | Sequence[int] = 0, starter: int | None = None) -> Round:
        """A round from a seed: see ``Deal.random``."""
    @property
    def hands(self) -> tuple[tuple[Tile, ...], ...]:
        """For each seat, the tiles that it holds, by number."""
    @property
    def boneyard(self) -> tuple[Tile, ...]:
        """The tiles not yet drawn, next one first."""
    @property
    def scores(self) -> tuple[int, ...]:
        """The pips left in each hand, 0-0 as the rules count it; the score of the round when it is over."""
    def apply(self, move: Move) -> None:
        """Plays ``move`` for the seat to move, then every forced step. Raises ``ValueError`` when it is not legal."""
    def copy(self) -> Round:
        """An independent round in the same position."""
    def observe(self, seat: int, scores: Iterable[Sequence[int]] | None = None) -> Observation:
        """What ``seat`` knows; ``scores`` are the rounds of the game before this one, by default ``past_scores``."""

class Observation(Table):
    """Exactly what one seat may know: the table, its own hand, the events, the scores of the game so far.

    The tiles that other seats drew are None in its events; hands and boneyard of others are only numbers.
    """

    @property
    def seat(self) -> int: ...
    @property
    def hand(self) -> tuple[Tile, ...]: ...
    @property
    def past_scores(self) -> tuple[tuple[int, ...], ...]:
        """The scores of the rounds before this one, a row of seats for each."""
    @staticmethod
    def replay(
        rules: Rules,
        hub: int,
        seat: int,
        starter: int,
        hand: Iterable[tuple[int, int]],
        events: Iterable[Event],
        past_scores: Iterable[Sequence[int]] = (),
    ) -> Observation:
        """An observation from its parts: what a program knows that is started in mid-round.

        ``hand`` is the seat's hand now. Raises ``ValueError`` naming the first event that the rules do not
        allow, or what does not fit together.
        """
