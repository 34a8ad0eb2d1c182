from typing import Final

from caboose.engine.rules.tiles import Tile

class Move:
    """A move: a tile laid on a train with the side ``match`` touching, or ``stop``, which ends a chain.

    Moves are values: immutable, hashable, one object for each. ``code`` orders and names them in the core.
    """

    @property
    def code(self) -> int: ...
    @property
    def tile(self) -> Tile | None:
        """The tile; None for ``stop``."""
    @property
    def train(self) -> int:
        """The train: a seat from 0, or ``MEXICAN``; -1 for ``stop``."""
    @property
    def match(self) -> int:
        """The pips that touch the train; -1 for ``stop``."""
    @property
    def open(self) -> int:
        """The pips that the tile leaves open; -1 for ``stop``."""
    @staticmethod
    def of(tile: tuple[int, int], train: int, match: int) -> Move:
        """The move that lays ``tile`` on ``train`` with ``match`` touching. Raises ``ValueError``."""
    @staticmethod
    def parse(text: str) -> Move:
        """The move that ``text`` writes: ``5-12@M``, ``12-12@3`` or ``stop``. Raises ``ValueError``."""

STOP: Final[Move]
