# Rounds played to their end: by uniformly random moves, by the heaviest tiles, or with every seat following its plan.
#
# A playout looks for the mover's tiles once and takes the forced step when there are none, where `advance` followed by
# `legal_moves` would look twice.

from caboose.engine.rules.tile_sets cimport (
    HIGH,
    LOW,
    SEATS,
    TRAINS,
    WITH,
    WORDS,
    Rng,
    lowest,
    lowest32,
    nth_bit,
    popcount,
    rng_below,
    rng_next,
    u8,
    u16,
    u32,
    u64,
)
from caboose.engine.policy.plan cimport Plan, plan_step
from caboose.engine.policy.policy cimport (
    ELSEWHERE,
    NEXT,
    OWN_TRAIN,
    PLANNED,
    Weights,
    Wishes,
    choose_greedy,
    choose_planned,
    follow,
    is_planned,
    make_wishes,
    must_hurry,
    next_tile,
    planned_rank,
    rank_noise,
    refresh_plan,
)
from caboose.engine.rules.state cimport (
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
    on_chain,
    placing,
    play_tile,
    stop_chain,
    targets,
    usable_trains,
)


cdef enum:
    TO_THE_END = 1 << 30  # turns: more than any round has


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


# Plays the round for so many turns, or to its end, with every seat following its plan; the choices are those of
# `choose_planned`. Where every train has one end (`plain`), sets do what a list of moves would do: the tiles that fit
# the own train and those that fit any other, and each of these tiles is ranked once.
cdef inline void play_out_planned_as(
    State *s, Plans *plans, int nodes, int noise, const Weights *weights, int turns, int words, bint plain, Rng *rng
) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef u64 tiles[WORDS]
    cdef u64 own[WORDS]
    cdef u64 other[WORDS]
    cdef Plan *plan
    cdef int n, choice, mode, word
    cdef int tile = 0
    cdef int place = 0
    cdef int mover = s.turn
    cdef u32 trains, fits
    while s.over == RUNNING:
        if s.turn != mover:
            mover = s.turn
            turns -= 1
            if turns == 0:
                return
        plan = &plans.seats[s.turn]
        mode = placing(s, &place)
        if not plain or mode == AT_USABLE_DOUBLES or on_chain(s):
            n = legal_moves(s, codes)
            if n == 0:
                forced_step(s, NULL)
                continue
            choice = choose_planned(s, codes, n, plan, nodes, noise, weights, rng)
            follow(s, plan, codes[choice])
            play_code(s, codes[choice])
            continue
        trains = usable_trains(s) if mode == AT_USABLE else <u32>1 << s.queue_train[place]
        fitting_tiles(s, trains, words, own, other)
        n = 0
        for word in range(words):
            tiles[word] = own[word] | other[word]
            if tiles[word]:
                tile = word << 6 | lowest(tiles[word])
                n += 2 if tiles[word] & (tiles[word] - 1) else 1
        if n == 0:
            forced_step(s, NULL)
            continue
        if n > 1:
            refresh_plan(s, plan, nodes)
            tile = best_planned(s, plan, tiles, own, other, words, noise, weights, rng)
        fits = fitting_trains(s, trains, tile)
        if n == 1 and fits & (fits - 1):
            refresh_plan(s, plan, nodes)
        play_planned(s, plan, tile, fits)


# The tiles of the mover that fit its own train and those that fit another of `trains`.
cdef inline void fitting_tiles(const State *s, u32 trains, int words, u64 *own, u64 *other) noexcept nogil:
    cdef const u64 *hand = &s.hand[s.turn][0]
    cdef int value, word
    cdef u32 ends = 0
    value = lowest32(s.ends[s.turn])
    for word in range(words):
        own[word] = hand[word] & WITH[value][word] if trains >> s.turn & 1 else 0
        other[word] = 0
    trains &= ~(<u32>1 << s.turn)
    while trains:
        ends |= s.ends[lowest32(trains)]
        trains &= trains - 1
    while ends:
        value = lowest32(ends)
        ends &= ends - 1
        for word in range(words):
            other[word] |= hand[word] & WITH[value][word]


# The tile that the mover wants most to lay. Only the plan's next tile is better on the own train than on another.
cdef inline int best_planned(
    const State *s,
    const Plan *plan,
    const u64 *tiles,
    const u64 *own,
    const u64 *other,
    int words,
    int noise,
    const Weights *weights,
    Rng *rng,
) noexcept nogil:
    cdef int best = 0
    cdef int best_rank = -1000000
    cdef int word, tile, rank, kind
    cdef int following = next_tile(plan)
    cdef Wishes wishes
    cdef u64 rest, bit
    cdef u64 chance = rng_next(rng) if noise else 0
    cdef bint hurry = False
    for word in range(words):
        if tiles[word] & plan.mask[word]:
            hurry = must_hurry(s)
            break
    make_wishes(s, plan, hurry, weights, &wishes)
    for word in range(words):
        rest = tiles[word]
        while rest:
            bit = rest & -rest
            tile = word << 6 | lowest(rest)
            rest ^= bit
            kind = ELSEWHERE if other[word] & bit else OWN_TRAIN
            if plan.mask[word] & bit:
                kind = NEXT if tile == following and own[word] & bit else PLANNED
            rank = planned_rank(s, tile, &wishes, kind)
            if noise:
                rank += rank_noise(chance, tile, noise)
            if rank > best_rank:
                best_rank = rank
                best = tile
    return best


# Those of `trains` on which `tile` fits.
cdef inline u32 fitting_trains(const State *s, u32 trains, int tile) noexcept nogil:
    cdef u32 ends = <u32>1 << LOW[tile] | <u32>1 << HIGH[tile]
    cdef u32 fits = 0
    cdef u32 bit
    while trains:
        bit = trains & -trains
        if s.ends[lowest32(trains)] & ends:
            fits |= bit
        trains ^= bit
    return fits


# Lays `tile` where `planned_rank` likes it best of the trains `fits`, on the first such train.
cdef inline void play_planned(State *s, Plan *plan, int tile, u32 fits) noexcept nogil:
    cdef u32 own = <u32>1 << s.turn
    cdef int train
    if fits & own and tile == next_tile(plan):
        fits = own
        plan_step(plan)
    elif fits & ~own and not is_planned(plan, tile):
        fits &= ~own
    train = lowest32(fits)
    lay_tile(s, tile, train, lowest32(s.ends[train]), NULL)


# The one branch of a round: as in `play_out_uniform`.
cdef inline void play_out_planned(
    State *s, Plans *plans, int nodes, int noise, const Weights *weights, int turns, Rng *rng
) noexcept nogil:
    if s.rules.answer != ANYWHERE:
        play_out_planned_as(s, plans, nodes, noise, weights, turns, WORDS, False, rng)
    elif s.rules.top <= 9:
        play_out_planned_as(s, plans, nodes, noise, weights, turns, 1, True, rng)
    elif s.rules.top <= 12:
        play_out_planned_as(s, plans, nodes, noise, weights, turns, 2, True, rng)
    else:
        play_out_planned_as(s, plans, nodes, noise, weights, turns, 3, True, rng)


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
    cdef u8 trains_at[TRAINS]
    cdef u16 up_to[MAX_TARGETS]
    cdef u64 hand[WORDS]
    cdef u64 fits[WORDS]
    cdef const u64 *same
    cdef int n, i, word, pick, total, mode, train, value
    cdef int place = 0
    cdef u32 trains
    cdef bint stop, listed
    while s.over == RUNNING:
        total = 0
        n = 0
        mode = placing(s, &place)
        listed = not plain or mode == AT_USABLE_DOUBLES
        if listed:
            n = targets(s, places)
            considered(s, hand)
            for i in range(n):
                for word in range(words):
                    total += popcount(fitting(hand, &places[i], word))
                up_to[i] = total
        else:
            for word in range(words):
                hand[word] = s.hand[s.turn][word]
            trains = usable_trains(s) if mode == AT_USABLE else <u32>1 << s.queue_train[place]
            while trains:
                train = lowest32(trains)
                trains &= trains - 1
                same = &WITH[lowest32(s.ends[train])][0]
                total += popcount(hand[0] & same[0])
                if words > 1:
                    total += popcount(hand[1] & same[1])
                if words > 2:
                    total += popcount(hand[2] & same[2])
                trains_at[n] = train
                up_to[n] = total
                n += 1
        if total == 0:
            forced_step(s, NULL)
            continue
        stop = may_stop(s)
        pick = rng_below(rng, total + stop) if total + stop > 1 else 0
        if stop and pick == total:
            stop_chain(s, NULL)
            continue
        i = 0
        while pick >= up_to[i]:
            i += 1
        if i:
            pick -= up_to[i - 1]
        if listed:
            train = places[i].train
            value = places[i].value
            for word in range(words):
                fits[word] = fitting(hand, &places[i], word)
        else:
            train = trains_at[i]
            value = lowest32(s.ends[train])
            for word in range(words):
                fits[word] = hand[word] & WITH[value][word]
        word = 0
        while word < words - 1 and pick >= popcount(fits[word]):
            pick -= popcount(fits[word])
            word += 1
        lay_tile(s, word << 6 | nth_bit(fits[word], pick), train, value, NULL)


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
