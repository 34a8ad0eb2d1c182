from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from caboose.engine.rules.rules import Rules

POLICIES: tuple[str, ...]

class Simulation(NamedTuple):
    """The results of simulated rounds, a row for each.

    ``scores`` (rounds × players, int32) are the pips left in the hands, ``winners`` (rounds × players, bool) who had
    the fewest, ``plays`` and ``draws`` (rounds, int32) how many tiles were played and drawn, ``blocked`` (rounds,
    bool) whether nobody could play any more.
    """

    scores: npt.NDArray[np.int32]
    winners: npt.NDArray[np.bool_]
    plays: npt.NDArray[np.int32]
    draws: npt.NDArray[np.int32]
    blocked: npt.NDArray[np.bool_]

def simulate(
    rules: Rules,
    rounds: int,
    policy: str | Sequence[str] = "random",
    seed: int = 0,
    threads: int = 1,
    hub: int | None = None,
    plan_nodes: int | Sequence[int] = 30,
    weights: Mapping[str, int] | Sequence[Mapping[str, int]] | None = None,
) -> Simulation:
    """Plays many rounds and returns what came of them: the batch interface of the core.

    ``rounds`` is how many (below 2**31), ``policy`` how every seat plays: ``random`` (uniformly), ``greedy`` or
    ``planner``, the latter with ``plan_nodes`` (below 2**31) tries for each train and the ``weights`` of
    ``weighing.WEIGHTS`` but where others are given. Each of the three is for all seats, or a sequence with an item for
    each: with the same ``seed``, deals are the same whoever plays them. ``hub`` is 0 to ``rules.set``, by default the
    highest double. ``threads`` (up to 1024) work without the GIL, 0 means as many as there are processors; the result
    depends on ``seed`` (a whole number of at least 0) alone. Ctrl-C is heard while rounds are played. Raises
    ``ValueError``, ``TypeError`` for ``rules`` of another kind, and ``MemoryError`` where results have no room.
    """
