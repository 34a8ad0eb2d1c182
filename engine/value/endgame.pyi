from typing import NamedTuple

from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Round

class Solution(NamedTuple):
    """How a round ends if every seat plays what is best for itself.

    ``values`` has for each seat the others' mean score less its own, and the win bonus if nobody has fewer pips.
    ``move`` is the best move of the seat to move. ``nodes`` counts the positions searched, ``solved`` says whether
    they were enough; if not, ``values`` is empty and ``move`` None.
    """

    values: tuple[float, ...]
    move: Move | None
    nodes: int
    solved: bool

def solve(round_: Round, nodes: int = 100_000, *, win_bonus: float = 10.0) -> Solution:
    """Solves a round with an empty boneyard by max^n, searching at most ``nodes`` positions (at least 1).

    A seat that has several moves of equal value takes the one that leaves the next seat the most pips, then the seat
    after it, and so on. ``win_bonus`` is the pips that winning the round is worth besides the score.
    Raises ``ValueError`` when the round is over or there is a boneyard, or for too few nodes.
    """
