from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from caboose.engine.rules.rules import Rules

UNITS: int

class Snapshots(NamedTuple):
    """Rounds under way, a row for each seat of each of them.

    ``inputs`` (rows × 26, float32) is what a network is told. ``laps`` (rows, int32) is how many laps had been played,
    ``margins`` (rows, float32) how many pips below the others' mean the seat ended, and ``wins`` (rows, float32) 1.0
    where nobody ended with fewer pips.
    """

    inputs: npt.NDArray[np.float32]
    laps: npt.NDArray[np.int32]
    margins: npt.NDArray[np.float32]
    wins: npt.NDArray[np.float32]

def snapshots(rules: Rules, rounds: int, seed: int = 0) -> Snapshots:
    """Deals so many rounds to planners and looks at each after a random number of turns, where it is not over by then.

    ``seed`` is a whole number of at least 0. Raises ``ValueError`` for numbers that make no sense.
    """

def evaluate(weights: npt.NDArray[np.float32], inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What a network says of ``inputs`` (rows × 26, float32): rows × 2, float32, the pips and the chance to win.

    ``weights`` are its 518 numbers. Raises ``ValueError`` for other sizes.
    """
