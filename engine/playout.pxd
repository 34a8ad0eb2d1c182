from caboose.engine.bits cimport SEATS, Rng, u16
from caboose.engine.plan cimport Plan
from caboose.engine.policy cimport choose_planned, follow
from caboose.engine.state cimport MAX_MOVES, State, apply_move, legal_moves


# What each seat means to do, kept while a round is played out.
cdef struct Plans:
    Plan seats[SEATS]


cdef inline void forget_plans(Plans *plans) noexcept nogil:
    cdef int seat
    for seat in range(SEATS):
        plans.seats[seat].size = 0
        plans.seats[seat].next = 0
        plans.seats[seat].value = 0


# Plays the round to its end with every seat following its plan.
cdef inline void play_out_planned(State *s, Plans *plans, int nodes, int noise, Rng *rng) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef int n, choice
    while not s.over:
        n = legal_moves(s, codes)
        choice = choose_planned(s, codes, n, &plans.seats[s.turn], nodes, noise, rng)
        follow(s, &plans.seats[s.turn], codes[choice])
        apply_move(s, codes[choice], NULL)
