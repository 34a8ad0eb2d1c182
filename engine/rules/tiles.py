"""Tiles and trains as Python sees them.

A tile has a number: tile ``a-b`` with a ≤ b is number b(b+1)/2 + a. So each smaller set is the beginning of
each larger one, and the tables below serve every set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MAX_PIPS: Final = 18
MEXICAN: Final = 14  # the Mexican train; trains 0 to 13 belong to the seats of the same number


class Tile(NamedTuple):
    """A domino; ``low`` ≤ ``high``, each 0 to 18 pips."""

    low: int
    high: int

    @property
    def id(self) -> int:
        """The tile's number, 0 to 189."""
        return self.high * (self.high + 1) // 2 + self.low

    @property
    def is_double(self) -> bool:
        """Both ends alike."""
        return self.low == self.high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


TILES: Final = tuple(Tile(low, high) for high in range(MAX_PIPS + 1) for low in range(high + 1))


def tile_of(a: int, b: int) -> Tile:
    """The tile with ``a`` and ``b`` pips, in either order. Raises ``ValueError`` outside 0 to 18."""
    low, high = min(a, b), max(a, b)
    if low < 0 or high > MAX_PIPS:
        raise ValueError(f"no tile {a}-{b}: an end has 0 to {MAX_PIPS} pips")
    return TILES[high * (high + 1) // 2 + low]


def parse_pips(text: str) -> int | None:
    """The pips that ``text`` writes: 0 to 18 without leading zeros; None for anything else."""
    if text.isascii() and text.isdigit() and len(text) <= 2 and int(text) <= MAX_PIPS and str(int(text)) == text:
        return int(text)
    return None


def parse_tile(text: str) -> Tile:
    """The tile that ``text`` names, ends in either order. Raises ``ValueError``."""
    left, _, right = text.partition("-")
    a, b = parse_pips(left), parse_pips(right)
    if a is None or b is None:
        raise ValueError(f"{text[:40]!r} is not a tile: expected two numbers of 0 to {MAX_PIPS} pips, such as 3-12")
    return tile_of(a, b)


def train_name(train: int) -> str:
    """A train as text names it: the seat's number from 1, or ``M`` for the Mexican train."""
    return "M" if train == MEXICAN else str(train + 1)


def parse_train(text: str) -> int:
    """The train that ``text`` names. Raises ``ValueError``."""
    if text == "M":
        return MEXICAN
    if (number := parse_pips(text)) is not None and 1 <= number <= MEXICAN:
        return number - 1
    raise ValueError(f"{text[:40]!r} is not a train: expected a seat from 1 to {MEXICAN}, or M for the Mexican train")
