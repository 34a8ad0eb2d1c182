from typing import NamedTuple

from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules

class Measured(NamedTuple):
    """What was done: the number of ``steps``, and a ``checksum`` (0 to 2**64 - 1) of what came of them."""

    steps: int
    checksum: int

def deals(rules: Rules, rounds: int, seed: int = 0) -> Measured:
    """Deals ``rounds`` random rounds. Counts the rounds."""

def legal_moves(rules: Rules, rounds: int, repeats: int, seed: int = 0) -> Measured:
    """Lists the legal moves at every choice of ``rounds`` random rounds, ``repeats`` times each. Counts the lists."""

def applies(rules: Rules, rounds: int, repeats: int, seed: int = 0) -> Measured:
    """Copies the state and applies a legal move, forced steps included, at every choice of ``rounds`` random rounds,
    ``repeats`` times each. Counts the moves."""

def plans(rules: Rules, hands: int, nodes: int, seed: int = 0, tiles: int | None = None) -> Measured:
    """Looks for a long train from a random value in each of ``hands`` random hands, with at most ``nodes`` tries.

    A hand has as many tiles as ``rules`` deal, or ``tiles``: 1 to 96, and no more than there are. Counts the hands.
    """

def worlds(observation: Observation, count: int, seed: int = 0) -> Measured:
    """Deals ``count`` worlds that agree with ``observation``, after reading its events once. Counts the worlds."""
