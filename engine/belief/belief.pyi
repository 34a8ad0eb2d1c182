from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.tiles import Tile

class Cohort(NamedTuple):
    """Tiles that came into a hand together, and what is proved of them.

    ``event`` is the number of the draw among the events of the observation; None for the hand as it was dealt. At most
    ``most`` of the tiles now in the hand are of it. ``without`` are the pips that none of them has (of those that are
    on a hidden tile), ``excluded`` all hidden tiles that they cannot be.
    """

    event: int | None
    most: int
    without: tuple[int, ...]
    excluded: tuple[Tile, ...]

class Belief:
    """What an observation says of the hidden tiles: the rules' proofs, and nothing about how people play.

    All deals that admit what was seen are equally likely. Raises ``ValueError`` when there is none.
    """

    def __init__(self, view: Observation) -> None: ...
    def sample(self, seed: int = 0) -> Round:
        """A full world, uniformly at random: the round as it would stand after one of the deals that are possible.

        The same ``seed`` (0 to 2**63 - 1; ``ValueError`` otherwise) gives the same world.
        """
    def deal(self, seed: int = 0) -> Deal:
        """The deal from which the world of that ``seed`` came: hands as dealt, and the boneyard in its order."""
    def matrix(self, samples: int = 1000, seed: int = 0, inference: float = 0.0) -> npt.NDArray[np.float64]:
        """Where each tile is: an array (players + 1) × tiles of the set, float64, by seats and numbers of tiles.

        A cell is the probability that the seat holds the tile now, in the last row that it is in the boneyard. Rows
        add up to the sizes of the hands, columns to 1, or to 0 for a tile on the table. Probabilities are shares of
        ``samples`` worlds (at least 1), and exact while nothing is proved. The same ``seed`` (0 to 2**63 - 1) gives the
        same array. ``inference`` (0 to 1000) is how much the choices of the others count, as in ``Search``; 0: nothing,
        only proofs do. Raises ``ValueError`` for other numbers.
        """
    def cohorts(self, seat: int) -> tuple[Cohort, ...]:
        """What is proved of the tiles in the hand of ``seat`` (0 to 13), the oldest first; of the own hand nothing.

        Raises ``ValueError`` for a seat that does not exist.
        """

def determinize(view: Observation, seed: int = 0) -> Round:
    """A full world that agrees with ``view``: ``Belief(view).sample(seed)``."""
