from collections.abc import Iterable, Mapping
from typing import Final

from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.tiles import Tile

POLICIES: Final[tuple[str, ...]]

def policy_move(
    view: Observation,
    policy: str,
    seed: int = 0,
    nodes: int = 10000,
    noise: int = 0,
    weights: Mapping[str, int] | None = None,
) -> Move:
    """The move that a policy chooses: ``random``, ``greedy`` or ``planner``.

    Chance comes from ``seed`` (0 to 2**63 - 1) and the observation, so the same call gives the same move.
    ``nodes`` bounds the planner's search for a train, ``noise`` is the range of chance in its ranks (points)
    and ``weights`` what these are made of, where not as in ``weighing.WEIGHTS``. Raises ``ValueError`` for another
    policy, for wrong weights, or when the seat is not to move.
    """

def longest_train(hand: Iterable[tuple[int, int]], value: int, nodes: int = 10000) -> tuple[Tile, ...]:
    """The heaviest train from an end of ``value`` pips out of ``hand`` that ``nodes`` tries find.

    ``value`` is 0 to 18, ``nodes`` at least 1; raises ``ValueError`` otherwise.
    """
