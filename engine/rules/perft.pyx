"""Counting move sequences: the usual check that two rules engines are the same."""

from caboose.engine.rules.tile_sets cimport u16, u64
from caboose.engine.rules.moves cimport move_of_code
from caboose.engine.rules.round cimport Round
from caboose.engine.rules.state cimport MAX_MOVES, State, apply_move, legal_moves
from cpython.exc cimport PyErr_CheckSignals

cdef enum:
    UNBROKEN = 4         # moves to look ahead at most without a look at signals


cdef u64 count_sequences(const State *s, int depth) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef State next_state
    cdef u64 total = 0
    cdef int n, i
    if s.over:
        return 1
    n = legal_moves(s, codes)
    if depth == 1:
        return n
    for i in range(n):
        next_state = s[0]
        apply_move(&next_state, codes[i], NULL)
        total += count_sequences(&next_state, depth - 1)
    return total


# The same, and raises `KeyboardInterrupt` after Ctrl-C.
cdef u64 count_breakably(const State *s, int depth) except? 0:
    cdef u16 codes[MAX_MOVES]
    cdef State next_state
    cdef u64 total = 0
    cdef int n, i
    if depth <= UNBROKEN or s.over:
        PyErr_CheckSignals()
        with nogil:
            total = count_sequences(s, depth)
        return total
    n = legal_moves(s, codes)
    for i in range(n):
        next_state = s[0]
        apply_move(&next_state, codes[i], NULL)
        total += count_breakably(&next_state, depth - 1)
    return total


def perft(Round round not None, int depth):
    """How many sequences of ``depth`` moves there are; a round that ends earlier counts once.

    Forced steps (draws, passes) are no moves. Raises ``ValueError`` for a negative depth.
    """
    if depth < 0:
        raise ValueError(f"depth {depth}: expected at least 0")
    if depth == 0:
        return 1
    return count_breakably(&round.state, depth)


def perft_divide(Round round not None, int depth):
    """``perft`` of each legal move by itself: the counts add up to the whole. ``depth`` is at least 1."""
    cdef u16 codes[MAX_MOVES]
    cdef Round after
    cdef int n = 0
    cdef int i
    if depth < 1:
        raise ValueError(f"depth {depth}: expected at least 1")
    if not round.state.over:
        n = legal_moves(&round.state, codes)
    counts = {}
    for i in range(n):
        move = move_of_code(codes[i])
        after = round.copy()
        after.apply(move)
        counts[move] = perft(after, depth - 1)
    return counts
