"""TODO."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence

from numpy.random import PCG64, Generator

Lineup = tuple[int, ...]
"""The entries that play, one for each player of a table."""


def block_seed(seed: int, list: str, lineup: Sequence[str] = ()) -> int:
    """The seed of the blocks of a list, or of those of a line-up of it (names): 128 bits."""
    return text_number(f"{seed} deals {list} {' '.join(sorted(lineup))}")


def shared_seats(one: int, other: int, players: int) -> list[Lineup]:
    """How two share a table: one of them has k seats and the other the rest, and the other way round.

    k is as near to half of them as it can be without a divisor in common with their number. Else there would be orders
    round the table in which a rotation seats both where they sat before: the same game twice.
    """
    few = max(k for k in range(1, players // 2 + 1) if math.gcd(k, players) == 1)
    lineups = [(*[a] * few, *[b] * (players - few)) for a, b in ((one, other), (other, one))]
    return lineups[:1] if 2 * few == players else lineups


def block_order(
    seed: int, list: str, lineups: Sequence[Lineup], numbers: Iterable[int]
) -> Iterator[tuple[int, Lineup]]:
    """The order in which the blocks with these numbers are played where each of ``lineups`` has one of each number."""
    for number in numbers:
        for at in text_generator(f"{seed} order {list} {number}").permutation(len(lineups)).tolist():
            yield number, lineups[at]


def text_generator(text: str) -> Generator:
    return Generator(PCG64(text_number(text)))


def text_number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
