"""Many rounds at once: deals and playouts in the core, results as numpy arrays."""

from caboose.engine.rules.tile_sets cimport SEATS, TILE_COUNT, WORDS, Rng, mix, popcount, rng_seed, u8, u16, u64
from caboose.engine.rules.dealing cimport deal_round, fill_deck
from caboose.engine.policy.plan cimport Plan
from caboose.engine.policy.playout cimport (
    TO_THE_END,
    Plans,
    forget_plans,
    play_code,
    play_out_greedy,
    play_out_planned,
    play_out_uniform,
)
from caboose.engine.policy.policy cimport Weights, choose_greedy, choose_planned, choose_random, follow, put_weights
from caboose.engine.rules.round cimport compile_rules
from caboose.engine.rules.state cimport BLOCKED, MAX_MOVES, RUNNING, Header, State, forced_step, hand_score, legal_moves
from cpython.exc cimport PyErr_CheckSignals

import os
from concurrent.futures import ThreadPoolExecutor
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence  # now: Ctrl-C while numpy loads it later would be an ImportError

from caboose.engine.rules.rules import Rules
from caboose.engine.policy.policy_weights import checked_weights

POLICIES = ("random", "greedy", "planner")

cdef enum:
    CHUNK = 1024         # rounds that a thread takes at a time, or fewer where plans are searched for longer
    PLAN_NODES = 30
    MAX_NUMBER = 2147483647
    MAX_THREADS = 1024
    UNIFORM = 0
    GREEDY = 1
    PLANNED = 2


class Simulation(NamedTuple):
    """The results of simulated rounds, a row for each.

    ``scores`` (rounds × players, int32) are the pips left in the hands, ``winners`` (rounds × players, bool) who had
    the fewest, ``plays`` and ``draws`` (rounds, int32) how many tiles were played and drawn, ``blocked`` (rounds,
    bool) whether nobody could play any more.
    """

    scores: np.ndarray
    winners: np.ndarray
    plays: np.ndarray
    draws: np.ndarray
    blocked: np.ndarray


# How a seat plays.
cdef struct Player:
    int policy
    int plan_nodes
    Weights weights


# Plays the round to its end, every seat in its own way.
cdef void play_out_mixed(State *s, Plans *plans, const Player *players, Rng *rng) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef const Player *player
    cdef Plan *plan
    cdef int n, choice
    while s.over == RUNNING:
        n = legal_moves(s, codes)
        if n == 0:
            forced_step(s, NULL)
            continue
        player = &players[s.turn]
        if player.policy == UNIFORM:
            choice = choose_random(codes, n, rng)
        elif player.policy == GREEDY:
            choice = choose_greedy(s, codes, n)
        else:
            plan = &plans.seats[s.turn]
            choice = choose_planned(s, codes, n, plan, player.plan_nodes, 0, &player.weights, rng)
            follow(s, plan, codes[choice])
        play_code(s, codes[choice])


cdef class _Batch:
    cdef Header header
    cdef bint dealt_hub
    cdef bint holder_starts
    cdef int hand
    cdef bint mixed      # not all seats play in the same way
    cdef Player players[SEATS]
    cdef int rounds
    cdef int taken       # rounds that a thread has played or plays
    cdef int chunk
    cdef u64 seed
    cdef u8 deck[TILE_COUNT]
    cdef int size
    cdef int[:, ::1] scores
    cdef u8[:, ::1] winners
    cdef int[::1] plays
    cdef int[::1] draws
    cdef u8[::1] blocked

    cdef void play_chunk(self) noexcept:
        cdef int start = self.taken
        cdef int end = start + min(self.chunk, self.rounds - start)
        self.taken = end
        with nogil:
            self.play_rounds(start, end)

    # What a thread does. The GIL is held between chunks, so no chunk is taken twice.
    def _play(self):
        while self.taken < self.rounds:
            self.play_chunk()

    def _stop(self):
        self.taken = self.rounds

    cdef void play_rounds(self, int start, int end) noexcept nogil:
        cdef State s
        cdef Plans plans
        cdef Rng rng
        cdef const Player *all = &self.players[0]
        cdef u8 deck[TILE_COUNT]
        cdef int number, seat, word, score, least
        for number in range(start, end):
            deck = self.deck
            rng_seed(&rng, self.seed + mix(number + 1))
            deal_round(&s, &self.header, self.dealt_hub, self.holder_starts, self.hand, deck, self.size, &rng)
            if self.mixed:
                forget_plans(&plans)
                play_out_mixed(&s, &plans, all, &rng)
            elif all.policy == UNIFORM:
                play_out_uniform(&s, &rng)
            elif all.policy == GREEDY:
                play_out_greedy(&s)
            else:
                forget_plans(&plans)
                play_out_planned(&s, &plans, all.plan_nodes, 0, &all.weights, TO_THE_END, &rng)
            least = 1 << 30
            for seat in range(self.header.players):
                score = hand_score(&s, seat)
                self.scores[number, seat] = score
                least = min(least, score)
            for seat in range(self.header.players):
                self.winners[number, seat] = self.scores[number, seat] == least
            # The hub lies on the table without having been played.
            self.plays[number] = -1
            for word in range(WORDS):
                self.plays[number] += popcount(s.table[word])
            self.draws[number] = s.bone_next
            self.blocked[number] = s.over == BLOCKED


cdef int whole_number(str what, object value, int most, str expected=None) except -1:
    try:
        number = index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise ValueError(f"{what} {value!r}: {expected or f'expected a whole number from 0 to {most}'}")
    return number


# Not by the class Mapping: what that runs in Python can be interrupted, and Cython does not ask whether it was.
cdef bint are_weights(value) except -1:
    return value is None or hasattr(value, "items")


# What is said for all seats at once, or for each, as a list with an item for each seat.
cdef list by_seat(str what, value, bint for_all, int players):
    if for_all:
        return [value] * players
    try:
        values = list(value)
    except TypeError:
        values = [value] * players
    if len(values) != players:
        raise ValueError(f"{what}: {len(values)} for {players} players, expected one for each, or one for all")
    return values


def simulate(rules, rounds, policy="random", seed=0, threads=1, hub=None, plan_nodes=PLAN_NODES, weights=None):
    """Plays many rounds and returns what came of them: the batch interface of the core.

    ``rounds`` is how many (below 2**31), ``policy`` how every seat plays: ``random`` (uniformly), ``greedy`` or
    ``planner``, the latter with ``plan_nodes`` (below 2**31) tries for each train and the ``weights`` of
    ``weighing.WEIGHTS`` but where others are given. Each of the three is for all seats, or a sequence with an item for
    each: with the same ``seed``, deals are the same whoever plays them. ``hub`` is 0 to ``rules.set``, by default the
    highest double. ``threads`` (up to 1024) work without the GIL, 0 means as many as there are processors; the result
    depends on ``seed`` (a whole number of at least 0) alone. Ctrl-C is heard while rounds are played. Raises
    ``ValueError``, ``TypeError`` for ``rules`` of another kind, and ``MemoryError`` where results have no room.
    """
    cdef _Batch batch = _Batch()
    most = 0  # tries for a plan
    if not isinstance(rules, Rules):
        raise TypeError(f"rules {rules!r}: expected Rules, such as Rules.of('classic', 4)")
    batch.rounds = whole_number("rounds", rounds, MAX_NUMBER)
    ways = list(
        zip(
            by_seat("policy", policy, isinstance(policy, (str, bytes)), rules.players),
            by_seat("plan_nodes", plan_nodes, isinstance(plan_nodes, (int, float, str)), rules.players),
            by_seat("weights", weights, are_weights(weights), rules.players),
            strict=True,
        )
    )
    batch.mixed = any([way != ways[0] for way in ways])
    for seat, (name, tries, wanted) in enumerate(ways):
        if name not in POLICIES:
            raise ValueError(f"unknown policy {name!r}: expected one of {', '.join(POLICIES)}")
        batch.players[seat].policy = POLICIES.index(name)
        batch.players[seat].plan_nodes = whole_number("plan_nodes", tries, MAX_NUMBER)
        if not are_weights(wanted):
            raise ValueError(f"weights {wanted!r}: expected a mapping from names to points")
        put_weights(&batch.players[seat].weights, checked_weights(wanted or {}))
        if name == "planner":
            most = max(most, tries)
    if type(threads) is not int or not 0 <= threads <= MAX_THREADS:
        raise ValueError(
            f"threads {threads!r}: expected a number of threads up to {MAX_THREADS}, "
            "or 0 for as many as there are processors"
        )
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed {seed!r}: expected a whole number of at least 0")
    hub = rules.set if hub is None else hub
    hub = whole_number("hub", hub, rules.set, f"a double-{rules.set} set has doubles from 0 to {rules.set}")
    batch.header = compile_rules(rules, hub)
    batch.dealt_hub = rules.hub == "dealt"
    batch.holder_starts = rules.starter == "holder"
    batch.hand = rules.hand
    batch.chunk = max(1, CHUNK // max(1, int(most) // PLAN_NODES))
    batch.seed = SeedSequence(seed).generate_state(1, np.uint64)[0]
    batch.size = fill_deck(batch.deck, &batch.header, batch.dealt_hub)
    result = Simulation(
        np.zeros((batch.rounds, rules.players), np.int32),
        np.zeros((batch.rounds, rules.players), np.bool_),
        np.zeros(batch.rounds, np.int32),
        np.zeros(batch.rounds, np.int32),
        np.zeros(batch.rounds, np.bool_),
    )
    batch.scores = result.scores
    batch.winners = result.winners.view(np.uint8)
    batch.plays = result.plays
    batch.draws = result.draws
    batch.blocked = result.blocked.view(np.uint8)
    # No more threads than chunks.
    threads = min(threads or os.cpu_count() or 1, (batch.rounds - 1) // batch.chunk + 1)
    if threads <= 1:
        while batch.taken < batch.rounds:
            batch.play_chunk()
            PyErr_CheckSignals()
        return result
    with ThreadPoolExecutor(threads) as pool:
        try:
            for future in [pool.submit(batch._play) for _ in range(threads)]:
                future.result()
        finally:
            # After Ctrl-C the threads end with the chunks that they are at.
            batch._stop()
    return result
