"""Many rounds at once: deals and playouts in the core, results as numpy arrays."""

from caboose.engine.bits cimport TILE_COUNT, WORDS, Rng, mix, popcount, rng_seed, u8, u64
from caboose.engine.dealing cimport deal_round, fill_deck
from caboose.engine.playout cimport Plans, forget_plans, play_out_greedy, play_out_planned, play_out_uniform
from caboose.engine.round cimport compile_rules
from caboose.engine.state cimport BLOCKED, Header, State, hand_score

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

POLICIES = ("random", "greedy", "planner")

cdef enum:
    CHUNK = 1024         # rounds that a thread takes at a time
    PLAN_NODES = 30
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


cdef class _Batch:
    cdef Header header
    cdef bint dealt_hub
    cdef bint holder_starts
    cdef int hand
    cdef int policy
    cdef int rounds
    cdef int plan_nodes
    cdef u64 seed
    cdef u8 deck[TILE_COUNT]
    cdef int size
    cdef int[:, ::1] scores
    cdef u8[:, ::1] winners
    cdef int[::1] plays
    cdef int[::1] draws
    cdef u8[::1] blocked

    def _play(self, int start):
        cdef int end = min(start + CHUNK, self.rounds)
        with nogil:
            self.play_rounds(start, end)

    cdef void play_rounds(self, int start, int end) noexcept nogil:
        cdef State s
        cdef Plans plans
        cdef Rng rng
        cdef u8 deck[TILE_COUNT]
        cdef int number, seat, word, score, least
        for number in range(start, end):
            deck = self.deck
            rng_seed(&rng, self.seed + mix(number + 1))
            deal_round(&s, &self.header, self.dealt_hub, self.holder_starts, self.hand, deck, self.size, &rng)
            if self.policy == UNIFORM:
                play_out_uniform(&s, &rng)
            elif self.policy == GREEDY:
                play_out_greedy(&s)
            else:
                forget_plans(&plans)
                play_out_planned(&s, &plans, self.plan_nodes, 0, &rng)
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


def simulate(rules, int rounds, policy="random", seed=0, threads=1, hub=None, int plan_nodes=PLAN_NODES):
    """Plays many rounds and returns what came of them: the batch interface of the core.

    ``rounds`` is how many, ``policy`` how every seat plays: ``random`` (uniformly), ``greedy`` or ``planner``, the
    latter with ``plan_nodes`` tries for each train. ``hub`` is 0 to ``rules.set``, by default the highest double.
    ``threads`` work without the GIL, 0 means as many as there are processors; the result depends on ``seed`` (a
    whole number of at least 0) alone. Raises ``ValueError``.
    """
    cdef _Batch batch = _Batch()
    if rounds < 0:
        raise ValueError(f"rounds {rounds}: expected at least 0")
    if policy not in POLICIES:
        raise ValueError(f"unknown policy {policy!r}: expected one of {', '.join(POLICIES)}")
    if type(threads) is not int or threads < 0:
        raise ValueError(f"threads {threads!r}: expected a number of threads, or 0 for as many as there are processors")
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed {seed!r}: expected a whole number of at least 0")
    hub = rules.set if hub is None else hub
    if not 0 <= hub <= rules.set:
        raise ValueError(f"hub {hub}: a double-{rules.set} set has doubles from 0 to {rules.set}")
    batch.header = compile_rules(rules, hub)
    batch.dealt_hub = rules.hub == "dealt"
    batch.holder_starts = rules.starter == "holder"
    batch.hand = rules.hand
    batch.policy = POLICIES.index(policy)
    batch.rounds = rounds
    batch.plan_nodes = plan_nodes
    batch.seed = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    batch.size = fill_deck(batch.deck, &batch.header, batch.dealt_hub)
    result = Simulation(
        np.zeros((rounds, rules.players), np.int32),
        np.zeros((rounds, rules.players), np.bool_),
        np.zeros(rounds, np.int32),
        np.zeros(rounds, np.int32),
        np.zeros(rounds, np.bool_),
    )
    batch.scores = result.scores
    batch.winners = result.winners.view(np.uint8)
    batch.plays = result.plays
    batch.draws = result.draws
    batch.blocked = result.blocked.view(np.uint8)
    threads = threads or os.cpu_count()
    if threads == 1:
        for start in range(0, rounds, CHUNK):
            batch._play(start)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(batch._play, range(0, rounds, CHUNK)))
    return result
