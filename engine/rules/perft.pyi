from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Round

def perft(round: Round, depth: int) -> int:
    """How many sequences of ``depth`` moves there are; a round that ends earlier counts once.

    Forced steps (draws, passes) are no moves. Raises ``ValueError`` for a negative depth.
    """

def perft_divide(round: Round, depth: int) -> dict[Move, int]:
    """``perft`` of each legal move by itself: the counts add up to the whole. ``depth`` is at least 1."""
