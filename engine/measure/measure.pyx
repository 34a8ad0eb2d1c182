"""Single steps of the core in loops, so that one call from Python measures the step and not the call.

Each function does its step many times and returns how often, with a checksum: a number that depends on all that was
done, so that no compiler can leave any of it out, and that is the same on every machine. The hub is the set's highest
double, and chance comes from ``seed`` alone, a whole number of at least 0. All raise ``ValueError`` for numbers that
make no sense.
"""

from caboose.engine.rules.tile_sets cimport TILE_COUNT, WORDS, Rng, mix, rng_below, rng_seed, u8, u16, u64
from caboose.engine.rules.dealing cimport deal_round, fill_deck
from caboose.engine.policy.plan cimport MAX_PLAN, Plan, make_plan
from caboose.engine.policy.policy cimport choose_random
from caboose.engine.rules.round cimport Observation, compile_rules
from caboose.engine.belief.sampler cimport Sampler, belief_build, belief_sample
from caboose.engine.rules.state cimport MAX_MOVES, Header, State, advance, apply_move
from caboose.engine.rules.state cimport legal_moves as list_moves

from typing import NamedTuple

from caboose.engine.rules.seats import Seat, SeatError

cdef enum:
    MAX_CHOICES = 208    # in a round: each is a tile, of which there are 190, or one of at most 14 stops


class Measured(NamedTuple):
    """What was done: the number of ``steps``, and a ``checksum`` (0 to 2**64 - 1) of what came of them."""

    steps: int
    checksum: int


cdef u64 seed_of(object seed) except? 0:
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed {seed!r}: expected a whole number of at least 0")
    return mix(<u64>(seed & 0xFFFFFFFFFFFFFFFF))


cdef int check_count(str what, object count) except -1:
    if type(count) is not int or not 0 <= count < 1 << 31:
        raise ValueError(f"{what} {count!r}: expected a whole number from 0 to {(1 << 31) - 1}")
    return 0


# What deals are made of.
cdef class _Dealer:
    cdef Header header
    cdef bint dealt_hub
    cdef bint holder_starts
    cdef int hand
    cdef int size
    cdef u8 deck[TILE_COUNT]

    def __cinit__(self, rules):
        self.header = compile_rules(rules, rules.set)
        self.dealt_hub = rules.hub == "dealt"
        self.holder_starts = rules.starter == "holder"
        self.hand = rules.hand
        self.size = fill_deck(self.deck, &self.header, self.dealt_hub)

    cdef void deal(self, State *s, Rng *rng) noexcept nogil:
        deal_round(s, &self.header, self.dealt_hub, self.holder_starts, self.hand, self.deck, self.size, rng)


# All choices of a random round: the states in which there was one, and the moves that were chosen.
cdef class _Choices:
    cdef State states[MAX_CHOICES]
    cdef u16 chosen[MAX_CHOICES]
    cdef int size

    cdef void play(self, _Dealer dealer, Rng *rng) noexcept nogil:
        cdef State s
        cdef u16 codes[MAX_MOVES]
        cdef int n
        self.size = 0
        dealer.deal(&s, rng)
        advance(&s, NULL)
        while not s.over:
            n = list_moves(&s, codes)
            self.states[self.size] = s
            self.chosen[self.size] = codes[choose_random(codes, n, rng)]
            apply_move(&s, self.chosen[self.size], NULL)
            self.size += 1


def deals(rules, rounds, seed=0):
    """Deals ``rounds`` random rounds. Counts the rounds."""
    cdef _Dealer dealer = _Dealer(rules)
    cdef State s
    cdef Rng rng
    cdef u64 total = 0
    cdef int _, n
    check_count("rounds", rounds)
    rng_seed(&rng, seed_of(seed))
    n = rounds
    with nogil:
        for _ in range(n):
            dealer.deal(&s, &rng)
            total = total * 31 + s.hand[s.turn][0] + s.bone[s.bone_next]
    return Measured(rounds, total)


def legal_moves(rules, rounds, repeats, seed=0):
    """Lists the legal moves at every choice of ``rounds`` random rounds, ``repeats`` times each. Counts the lists."""
    cdef _Dealer dealer = _Dealer(rules)
    cdef _Choices choices = _Choices()
    cdef u16 codes[MAX_MOVES]
    cdef Rng rng
    cdef u64 total = 0
    cdef long count = 0
    cdef int _round, _repeat, i, n, round_count, repeat_count
    check_count("rounds", rounds)
    check_count("repeats", repeats)
    rng_seed(&rng, seed_of(seed))
    round_count = rounds
    repeat_count = repeats
    with nogil:
        for _round in range(round_count):
            choices.play(dealer, &rng)
            for _repeat in range(repeat_count):
                for i in range(choices.size):
                    n = list_moves(&choices.states[i], codes)
                    total = total * 31 + n + codes[n >> 1]
            count += <long>choices.size * repeat_count
    return Measured(count, total)


def applies(rules, rounds, repeats, seed=0):
    """Copies the state and applies a legal move, forced steps included, at every choice of ``rounds`` random rounds,
    ``repeats`` times each. Counts the moves."""
    cdef _Dealer dealer = _Dealer(rules)
    cdef _Choices choices = _Choices()
    cdef State s
    cdef Rng rng
    cdef u64 total = 0
    cdef long count = 0
    cdef int _round, _repeat, i, round_count, repeat_count
    check_count("rounds", rounds)
    check_count("repeats", repeats)
    rng_seed(&rng, seed_of(seed))
    round_count = rounds
    repeat_count = repeats
    with nogil:
        for _round in range(round_count):
            choices.play(dealer, &rng)
            for _repeat in range(repeat_count):
                for i in range(choices.size):
                    s = choices.states[i]
                    apply_move(&s, choices.chosen[i], NULL)
                    total = total * 31 + s.markers + s.ends[s.turn] + s.bone_next
            count += <long>choices.size * repeat_count
    return Measured(count, total)


def plans(rules, hands, nodes, seed=0, tiles=None):
    """Looks for a long train from a random value in each of ``hands`` random hands, with at most ``nodes`` tries.

    A hand has as many tiles as ``rules`` deal, or ``tiles``: 1 to 96, and no more than there are. Counts the hands.
    """
    cdef _Dealer dealer = _Dealer(rules)
    cdef Plan plan
    cdef Rng rng
    cdef u64 hand[WORDS]
    cdef u64 total = 0
    cdef int _, i, j, hand_count, tile_count, node_count
    cdef u8 tile
    check_count("hands", hands)
    check_count("nodes", nodes)
    tiles = rules.hand if tiles is None else tiles
    if type(tiles) is not int or not 1 <= tiles <= min(MAX_PLAN, dealer.size):
        raise ValueError(f"tiles {tiles!r}: expected a whole number from 1 to {min(MAX_PLAN, dealer.size)}")
    rng_seed(&rng, seed_of(seed))
    hand_count = hands
    tile_count = tiles
    node_count = nodes
    with nogil:
        for _ in range(hand_count):
            hand[0] = hand[1] = hand[2] = 0
            for i in range(tile_count):
                j = i + rng_below(&rng, dealer.size - i)
                tile = dealer.deck[j]
                dealer.deck[j] = dealer.deck[i]
                dealer.deck[i] = tile
                hand[tile >> 6] |= <u64>1 << (tile & 63)
            make_plan(&plan, hand, rng_below(&rng, dealer.header.top + 1), node_count)
            total = total * 31 + plan.size + plan.mask[0] + plan.mask[1] + plan.mask[2]
    return Measured(hands, total)


def worlds(Observation observation not None, count, seed=0):
    """Deals ``count`` worlds that agree with ``observation``, after reading its events once. Counts the worlds."""
    cdef State s = observation.state
    cdef Sampler sampler
    cdef Rng rng
    cdef u64 total = 0
    cdef int _, seat, world_count
    check_count("count", count)
    rng_seed(&rng, seed_of(seed))
    world_count = count
    if not belief_build(
        &sampler,
        &s,
        observation.seat,
        observation.rules.hand,
        observation.starter,
        observation.log.events,
        observation.log.size,
        &rng,
    ):
        raise SeatError("no deal agrees with what seat {} has seen", Seat(observation.seat))
    with nogil:
        for _ in range(world_count):
            belief_sample(&s, &sampler, &rng)
            for seat in range(s.rules.players):
                total = total * 31 + s.hand[seat][0]
    return Measured(count, total)
