"""What networks learn from: rounds looked at in the middle, and what came of them."""

from caboose.engine.rules.tile_sets cimport SEATS, TILE_COUNT, Rng, mix, rng_below, rng_seed, u8, u64
from caboose.engine.rules.dealing cimport deal_round, fill_deck
from caboose.engine.policy.playout cimport TO_THE_END, Plans, forget_plans, play_out_planned
from caboose.engine.policy.policy cimport Weights, set_default_weights
from caboose.engine.rules.round cimport compile_rules
from caboose.engine.rules.state cimport RUNNING, Header, State, hand_score
from caboose.engine.value.network_eval cimport (
    HIDDEN,
    INPUTS,
    OUTPUTS,
    WEIGHTS,
    Hands,
    Network,
    describe,
    look,
    set_weights,
    think,
)

from typing import NamedTuple

import numpy as np

cdef enum:
    LATEST = 22          # laps after which rounds are looked at, at most: about the longest round
    PLAN_NODES = 40      # as in playouts of the search
    NOISE = 4

# In the middle of a network.
UNITS = HIDDEN


class Snapshots(NamedTuple):
    """Rounds under way, a row for each seat of each of them.

    ``inputs`` (rows × 26, float32) is what a network is told. ``laps`` (rows, int32) is how many laps had been played,
    ``margins`` (rows, float32) how many pips below the others' mean the seat ended, and ``wins`` (rows, float32) 1.0
    where nobody ended with fewer pips.
    """

    inputs: np.ndarray
    laps: np.ndarray
    margins: np.ndarray
    wins: np.ndarray


def snapshots(rules, int rounds, seed=0):
    """Deals so many rounds to planners and looks at each after a random number of turns, where it is not over by then.

    ``seed`` is a whole number of at least 0. Raises ``ValueError`` for numbers that make no sense.
    """
    cdef Header header
    cdef u8 deck[TILE_COUNT]
    cdef u8 full_deck[TILE_COUNT]
    cdef State s
    cdef Plans plans
    cdef Weights weights
    cdef Hands hands
    cdef Rng rng
    cdef int scores[SEATS]
    cdef int number, seat, total, least, turns
    cdef int n = 0
    cdef int players = rules.players
    cdef int hand = rules.hand
    cdef bint dealt_hub = rules.hub == "dealt"
    cdef bint holder_starts = rules.starter == "holder"
    if rounds < 0 or seed < 0:
        raise ValueError(f"rounds {rounds}, seed {seed}: expected whole numbers of at least 0")
    header = compile_rules(rules, rules.set)
    cdef int size = fill_deck(full_deck, &header, dealt_hub)
    set_default_weights(&weights)
    cdef u64 first = mix(<u64>(seed & 0xFFFFFFFFFFFFFFFF))
    found = Snapshots(
        np.zeros((rounds * players, INPUTS), np.float32),
        np.zeros(rounds * players, np.int32),
        np.zeros(rounds * players, np.float32),
        np.zeros(rounds * players, np.float32),
    )
    cdef float[:, ::1] inputs = found.inputs
    cdef int[::1] laps = found.laps
    cdef float[::1] margins = found.margins
    cdef float[::1] wins = found.wins
    for number in range(rounds):
        rng_seed(&rng, first + mix(number + 1))
        deck = full_deck
        deal_round(&s, &header, dealt_hub, holder_starts, hand, deck, size, &rng)
        forget_plans(&plans)
        turns = 1 + rng_below(&rng, LATEST * players)
        play_out_planned(&s, &plans, PLAN_NODES, NOISE, &weights, turns, &rng)
        if s.over != RUNNING:
            continue
        look(&s, &plans, &hands)
        for seat in range(players):
            describe(&s, &hands, seat, &inputs[n + seat, 0])
        play_out_planned(&s, &plans, PLAN_NODES, NOISE, &weights, TO_THE_END, &rng)
        total = 0
        least = 1 << 30
        for seat in range(players):
            scores[seat] = hand_score(&s, seat)
            total += scores[seat]
            least = min(least, scores[seat])
        for seat in range(players):
            laps[n + seat] = turns // players
            margins[n + seat] = <float>(total - scores[seat]) / (players - 1) - scores[seat]
            wins[n + seat] = scores[seat] == least
        n += players
    return Snapshots(*(column[:n] for column in found))


def evaluate(weights, inputs):
    """What a network says of ``inputs`` (rows × 26, float32): rows × 2, float32, the pips and the chance to win.

    ``weights`` are its 518 numbers. Raises ``ValueError`` for other sizes.
    """
    cdef Network network
    cdef int i
    if np.shape(weights) != (WEIGHTS,) or np.ndim(inputs) != 2 or np.shape(inputs)[1] != INPUTS:
        raise ValueError(f"expected {WEIGHTS} weights, and rows of {INPUTS} inputs")
    set_weights(&network, weights)
    out = np.zeros((len(inputs), OUTPUTS), np.float32)
    cdef const float[:, ::1] rows = np.ascontiguousarray(inputs, np.float32)
    cdef float[:, ::1] results = out
    for i in range(len(inputs)):
        think(&network, &rows[i, 0], &results[i, 0])
    return out
