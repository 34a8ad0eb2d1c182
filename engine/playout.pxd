# Rounds played to their end: by uniformly random moves, by the heaviest tiles, or with every seat following its plan.
#
# A playout looks for the mover's tiles once and takes the forced step when there are none, where `advance` followed by
# `legal_moves` would look twice.

from caboose.engine.bits cimport SEATS, WITH, WORDS, Rng, lowest32, nth_bit, popcount, rng_below, u8, u16, u32, u64
from caboose.engine.plan cimport Plan
from caboose.engine.policy cimport choose_greedy, choose_planned, follow
from caboose.engine.state cimport (
    ANYWHERE,
    AT_USABLE,
    AT_USABLE_DOUBLES,
    MAX_MOVES,
    MAX_TARGETS,
    RUNNING,
    STOP_CODE,
    State,
    Target,
    considered,
    fitting,
    forced_step,
    lay_tile,
    legal_moves,
    may_stop,
    placing,
    play_tile,
    stop_chain,
    targets,
    usable_trains,
)


# What each seat means to do, kept while a round is played out.
cdef struct Plans:
    Plan seats[SEATS]


cdef inline void forget_plans(Plans *plans) noexcept nogil:
    cdef int seat
    for seat in range(SEATS):
        plans.seats[seat].size = 0
        plans.seats[seat].next = 0
        plans.seats[seat].value = 0


cdef inline void play_code(State *s, u16 code) noexcept nogil:
    if code == STOP_CODE:
        stop_chain(s, NULL)
    else:
        play_tile(s, code, NULL)


# Plays the round to its end with every seat following its plan.
cdef inline void play_out_planned(State *s, Plans *plans, int nodes, int noise, Rng *rng) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef int n, choice
    while s.over == RUNNING:
        n = legal_moves(s, codes)
        if n == 0:
            forced_step(s, NULL)
            continue
        choice = choose_planned(s, codes, n, &plans.seats[s.turn], nodes, noise, rng)
        follow(s, &plans.seats[s.turn], codes[choice])
        play_code(s, codes[choice])


cdef inline void play_out_greedy(State *s) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef int n
    while s.over == RUNNING:
        n = legal_moves(s, codes)
        if n == 0:
            forced_step(s, NULL)
        else:
            play_code(s, codes[choose_greedy(s, codes, n)])


# Uniformly random moves. A move is picked by counting, not by making a list: count what fits each place, draw a number,
# and find the place and then the tile that it means. `words` (how many words the set needs) and `plain`
# (double_answer=anywhere: every train has one end) are constants where this is called, so that each case is compiled by
# itself and pays nothing for the others.
cdef inline void play_out_uniform_as(State *s, int words, bint plain, Rng *rng) noexcept nogil:
    cdef Target places[MAX_TARGETS]
    cdef u8 counts[MAX_TARGETS]
    cdef u64 hand[WORDS]
    cdef u64 fits[WORDS]
    cdef const u64 *tiles
    cdef const u64 *same
    cdef int n, i, word, pick, total, count, mode, train, value
    cdef int place = 0
    cdef u32 trains
    cdef bint stop
    while s.over == RUNNING:
        total = 0
        n = 0
        mode = placing(s, &place)
        if plain and mode != AT_USABLE_DOUBLES:
            tiles = &s.hand[s.turn][0]
            trains = usable_trains(s) if mode == AT_USABLE else <u32>1 << s.queue_train[place]
            while trains:
                train = lowest32(trains)
                trains &= trains - 1
                value = lowest32(s.ends[train])
                same = &WITH[value][0]
                count = popcount(tiles[0] & same[0])
                if words > 1:
                    count += popcount(tiles[1] & same[1])
                if words > 2:
                    count += popcount(tiles[2] & same[2])
                places[n].train = train
                places[n].value = value
                places[n].doubles = 0
                counts[n] = count
                total += count
                n += 1
        else:
            n = targets(s, places)
            considered(s, hand)
            tiles = hand
            for i in range(n):
                count = 0
                for word in range(words):
                    count += popcount(fitting(hand, &places[i], word))
                counts[i] = count
                total += count
        if total == 0:
            forced_step(s, NULL)
            continue
        stop = may_stop(s)
        pick = rng_below(rng, total + stop) if total + stop > 1 else 0
        if stop and pick == total:
            stop_chain(s, NULL)
            continue
        i = 0
        while pick >= counts[i]:
            pick -= counts[i]
            i += 1
        for word in range(words):
            fits[word] = fitting(tiles, &places[i], word)
        word = 0
        while word < words - 1 and pick >= popcount(fits[word]):
            pick -= popcount(fits[word])
            word += 1
        lay_tile(s, word << 6 | nth_bit(fits[word], pick), places[i].train, places[i].value, NULL)


# The one branch of a round: which of the cases above it is.
cdef inline void play_out_uniform(State *s, Rng *rng) noexcept nogil:
    if s.rules.answer != ANYWHERE:
        play_out_uniform_as(s, WORDS, False, rng)
    elif s.rules.top <= 9:
        play_out_uniform_as(s, 1, True, rng)
    elif s.rules.top <= 12:
        play_out_uniform_as(s, 2, True, rng)
    else:
        play_out_uniform_as(s, 3, True, rng)
