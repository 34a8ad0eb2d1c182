"""What a planner's wishes are made of in playouts: the names, defaults and bounds of the numbers in ``policy.pxd``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Weight(NamedTuple):
    """Points of a wish; a pip of the tile is one point, too."""

    default: int
    min: int
    max: int
    help: str


# The bounds see to it that the plan's next tile is wanted on the own train, and what is not in it rather elsewhere.
WEIGHTS: Final[Mapping[str, Weight]] = {
    "next": Weight(10, 0, 500, "the plan's next tile on the own train"),
    "next_marked": Weight(60, 0, 500, "more for it where the train is marked"),
    "planned": Weight(-60, -500, -1, "other tiles of the plan"),
    "hurry": Weight(-10, -500, -1, "the same when another seat is nearly out"),
    "own_marked": Weight(10, 0, 19, "what is not in the plan, on the own train where it is marked"),
    "spoil": Weight(30, 0, 500, "less for it where a plan is spoiled"),
    "elsewhere": Weight(40, 20, 500, "what is not in the plan, on another train"),
    "double": Weight(40, -500, 500, "more for a double that another tile can answer"),
    "lone_double": Weight(5, -500, 500, "more for a double that none can"),
}


def checked_weights(weights: Mapping[str, int]) -> list[int]:
    """All weights in the order of ``WEIGHTS``: those given, and the defaults of the others.

    Raises ``ValueError`` for a name that is none, and for anything but a whole number within its bounds.
    """
    for name, value in weights.items():
        if name not in WEIGHTS:
            raise ValueError(f"weight {name!r}: expected one of {', '.join(WEIGHTS)}")
        weight = WEIGHTS[name]
        if type(value) is not int:
            raise ValueError(f"weight {name} {value!r}: expected a whole number from {weight.min} to {weight.max}")
        if not weight.min <= value <= weight.max:
            raise ValueError(f"weight {name} {value}: expected {weight.min} to {weight.max}")
    return [weights.get(name, weight.default) for name, weight in WEIGHTS.items()]
