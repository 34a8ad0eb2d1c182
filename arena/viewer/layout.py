"""How the lines of a screen are shared out between the parts of a picture.

The shares depend on the screen and the number of players only, not on the position, so that nothing jumps about
while somebody steps through a game.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

HandsShown = Literal["none", "one", "all"]

MIN_WIDTH: Final = 60
_MOST: Final = 10_000  # lines, where nothing limits them
_LONG_TRAIN: Final = 150  # columns: few trains are longer


@dataclass(slots=True)
class Layout:
    """Lines for each part; ``train`` and ``hand`` are for each of them.

    ``hand`` is 0 where no hands are drawn, and also where they are drawn ``in_place`` of the trains, as there is no
    room for both. ``padded`` parts take all their lines, others only what they need.
    """

    train: int = 1
    hand: int = 0
    log: int = 0
    rules: int = 0
    in_place: bool = False
    padded: bool = True


def least_height(players: int) -> int:
    """The lines below which no picture is drawn."""
    return _fixed(players) + 2


def plan(height: int | None, players: int, hands: HandsShown, train_width: int) -> Layout:
    """The shares of a screen of ``height`` lines, at least ``least_height``; None is paper without an end.

    ``train_width`` is how wide a line of a train is.
    """
    shown = hands != "none"
    if height is None:
        return Layout(train=_MOST, hand=_MOST * shown, log=_MOST, padded=False)
    layout = Layout()
    left = height - _fixed(players)  # one line for a hand is among the fixed ones
    if hands == "one":
        layout.hand = 1
    elif hands == "all" and left + 1 - players >= 1:
        layout.hand = 1
        left += 1 - players
    elif hands == "all":
        layout.in_place = True
        left += 1
    hand_cost = players if hands == "all" else 1

    def want(part: str, most: int, cost: int = 1) -> None:
        nonlocal left
        while getattr(layout, part) < most and left >= cost:
            setattr(layout, part, getattr(layout, part) + 1)
            left -= cost

    want("log", 2)
    want("rules", 1)
    want("log", 3)
    if not layout.in_place:
        want("train", 2, players + 1)
    if layout.hand:
        want("hand", 2, hand_cost)
    want("rules", 2)
    want("log", 5)
    want("train", math.ceil(_LONG_TRAIN / train_width), players + 1)
    want("log", 16)
    return layout


def _fixed(players: int) -> int:
    """Title, round, heads of columns, situation, a hand, keys; and a line for each train."""
    return 6 + players + 1
