"""The simple players' choices, and rounds played out by them."""

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport Rng, mix, rng_seed, u16, u64
from caboose.engine.rules.moves cimport move_of_code
from caboose.engine.policy.plan cimport Plan, make_plan
from caboose.engine.policy.policy cimport Weights, choose_greedy, choose_planned, choose_random, put_weights
from caboose.engine.rules.round cimport Observation, Table
from caboose.engine.rules.state cimport MAX_MOVES, State, legal_moves

from caboose.engine.rules.seats import Seat, SeatError
from caboose.engine.rules.tiles import TILES, tile_of
from caboose.engine.policy.policy_weights import checked_weights

POLICIES = ("random", "greedy", "planner")


# Enough of what a seat sees to tell one decision from another.
cdef u64 observation_hash(Table view) noexcept:
    cdef u64 h = 0
    cdef State *s = &view.state
    cdef int i
    for i in range(3):
        h = mix(h ^ s.hand[s.turn][i]) + s.table[i]
    for i in range(view.log.size):
        h = mix(h + view.log.events[i])
    return mix(h ^ (<u64>s.rules.hub << 8 | s.turn))


def policy_move(Observation view not None, policy, seed=0, int nodes=10000, int noise=0, weights=None):
    """The move that a policy chooses: ``random``, ``greedy`` or ``planner``.

    Chance comes from ``seed`` (0 to 2**63 - 1) and the observation, so the same call gives the same move.
    ``nodes`` bounds the planner's search for a train, ``noise`` is the range of chance in its ranks (points)
    and ``weights`` what these are made of, where not as in ``weighing.WEIGHTS``. Raises ``ValueError`` for another
    policy, for wrong weights, or when the seat is not to move.
    """
    cdef u16 codes[MAX_MOVES]
    cdef Plan plan
    cdef Weights wanted
    cdef Rng rng
    cdef int n, choice
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}: expected one of {', '.join(POLICIES)}")
    if view.state.over or view.state.turn != view.seat:
        raise SeatError("seat {} is not to move", Seat(view.seat))
    rng_seed(&rng, observation_hash(view) ^ mix(seed))
    n = legal_moves(&view.state, codes)
    if policy == "random":
        choice = choose_random(codes, n, &rng)
    elif policy == "greedy":
        choice = choose_greedy(&view.state, codes, n)
    else:
        memset(&plan, 0, sizeof(Plan))
        put_weights(&wanted, checked_weights(weights or {}))
        choice = choose_planned(&view.state, codes, n, &plan, nodes, noise, &wanted, &rng)
    return move_of_code(codes[choice])


def longest_train(hand, int value, int nodes=10000):
    """The heaviest train from an end of ``value`` pips out of ``hand`` that ``nodes`` tries find.

    ``value`` is 0 to 18, ``nodes`` at least 1; raises ``ValueError`` otherwise.
    """
    cdef u64 words[3]
    cdef Plan plan
    if not 0 <= value <= 18 or nodes < 1:
        raise ValueError(f"value {value}, nodes {nodes}: expected 0 to 18 pips and at least 1 node")
    words[0] = words[1] = words[2] = 0
    for low, high in hand:
        number = tile_of(low, high).id
        words[number >> 6] |= <u64>1 << (number & 63)
    make_plan(&plan, words, value, nodes)
    return tuple([TILES[plan.tiles[i]] for i in range(plan.size)])
