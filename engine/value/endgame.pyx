"""Rounds solved to their end, for one who sees all hands and an empty boneyard."""

from libc.stdlib cimport calloc, free

from caboose.engine.rules.tile_sets cimport u16
from caboose.engine.rules.moves cimport Move, move_of_code
from caboose.engine.rules.round cimport Round
from caboose.engine.rules.state cimport MAX_MOVES, legal_moves

from typing import NamedTuple

cdef enum:
    LEAST_ENTRIES = 1 << 12
    MOST_ENTRIES = 1 << 18


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


def solve(Round round_ not None, long nodes=100_000, *, double win_bonus=10.0):
    """Solves a round with an empty boneyard by max^n, searching at most ``nodes`` positions (at least 1).

    A seat that has several moves of equal value takes the one that leaves the next seat the most pips, then the seat
    after it, and so on. ``win_bonus`` is the pips that winning the round is worth besides the score.
    Raises ``ValueError`` when the round is over or there is a boneyard, or for too few nodes.
    """
    cdef u16 codes[MAX_MOVES]
    cdef Solver solver
    cdef Outcome out
    cdef u64 entries = LEAST_ENTRIES
    cdef bint solved
    if nodes < 1:
        raise ValueError(f"nodes {nodes}: expected at least 1")
    if round_.state.over:
        raise ValueError("the round is over: there is nothing to solve")
    if not is_endgame(&round_.state):
        raise ValueError(f"there are {round_.boneyard_size} tiles in the boneyard: only rounds without can be solved")
    while entries < MOST_ENTRIES and entries < 2 * <u64>nodes:
        entries *= 2
    solver.table = <Entry *>calloc(entries, sizeof(Entry))
    if solver.table == NULL:
        raise MemoryError
    solver.mask = entries - 1
    solver.bonus = win_bonus
    with nogil:
        solved = solve_state(&solver, &round_.state, nodes, &out)
    free(solver.table)
    if not solved:
        return Solution((), None, solver.nodes, False)
    # A move without a choice is no position of the search.
    if legal_moves(&round_.state, codes) == 1:
        out.move = codes[0]
    values = tuple([out.margin[seat] + win_bonus * out.won[seat] for seat in range(round_.state.rules.players)])
    return Solution(values, move_of_code(out.move), solver.nodes, True)
