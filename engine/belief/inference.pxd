# Worlds in the light of how the others played.
#
# A world gives a seat a hand, and so all the hands that it had before: then a planner with that hand would have chosen
# this or that each time. A world in which the seen choices fall short of those, in points of the planner's ranks, is
# less likely: it weighs exp(-weight x points), at most MOST_POINTS for each choice, since nobody is a planner for sure.
#
# Worlds of such weights come from a Metropolis chain. Two tiles change places, and the choices of the seats concerned
# are made again. The chance of the step is drawn first, so that this can end at the first choice that is too bad.

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport (
    SEATS,
    TILE_COUNT,
    WORDS,
    Rng,
    falling,
    lowest32,
    rng_below,
    rng_next,
    u8,
    u16,
    u32,
    u64,
)
from caboose.engine.belief.evidence cimport (
    DEALT,
    MAX_COHORTS,
    NO_COHORT,
    Evidence,
    begin_events,
    follow_event,
    in_set,
    into_set,
)
from caboose.engine.policy.plan cimport Plan, make_plan
from caboose.engine.policy.policy cimport (
    Weights,
    Wishes,
    kind_of_move,
    make_wishes,
    must_hurry,
    planned_rank,
    set_default_weights,
)
from caboose.engine.belief.sampler cimport BONEYARD, Sampler, mover_can_play
from caboose.engine.rules.state cimport (
    EV_DRAW,
    EV_PLAY,
    MAX_MOVES,
    STOP_CODE,
    State,
    code_tile,
    legal_moves,
    on_chain,
)

cdef enum:
    MAX_CHOICES = 190    # a tile is played at each
    MAX_HELD = 96        # tiles of a seat that are looked at
    MOST_POINTS = 30     # by which one choice may speak against a world
    MODEL_PLAN_NODES = 15  # tries for a train: more say no more
    FIRST_STEPS = 1000   # of the chain, before its first world …
    STEPS = 24           # … and between two
    MAX_SLACK = 400      # points

# A choice that was seen, and the table as it was.
cdef struct Choice:
    State table          # hands are filled in by `shortfall`
    u16 code
    u8 seat
    int event
    u64 played[WORDS]    # what the seat plays from its hand, from here to the end of the events

cdef struct Model:
    double weight
    int size
    int short_by[SEATS + 1]    # by how many points each seat falls short in the world where the chain stands
    int acquired[MAX_COHORTS]  # the event with which a cohort came into its hand, -1 for the deal
    Choice choices[MAX_CHOICES]


# Reads the choices of the other seats from the events; see `gather_evidence` for the parameters. Tiles that were drawn
# just before, and chains of a first turn, are no choices between tiles of the hand.
cdef inline void gather_choices(
    Model *m, const Evidence *e, const State *now, int observer, int hand, int starter, const u32 *events, int size
) noexcept nogil:
    cdef State s
    cdef int draws[256]
    cdef int drawn = 0
    cdef int i, c, seat
    cdef bint laid = begin_events(&s, &now.rules, hand, starter, events, size)
    for i in range(size):
        if events[i] >> 24 == EV_DRAW:
            draws[drawn] = i
            drawn += 1
    for c in range(e.cohorts):
        m.acquired[c] = -1 if e.draw[c] == DEALT else draws[e.draw[c]]
    m.size = 0
    for i in range(size):
        seat = (events[i] >> 16) & 255
        if events[i] >> 24 == EV_PLAY and seat != observer and not s.drew and not on_chain(&s):
            m.choices[m.size].table = s
            m.choices[m.size].code = events[i] & 0xFFFF
            m.choices[m.size].seat = seat
            m.choices[m.size].event = i
            m.size += 1
        follow_event(&s, events[i], starter, &laid)
    note_played(m, e, events, size)


# What each seat still plays from its hand at each choice, counted from the end.
cdef inline void note_played(Model *m, const Evidence *e, const u32 *events, int size) noexcept nogil:
    cdef u64 played[SEATS][WORDS]
    cdef int c = m.size - 1
    cdef int i = size - 1
    cdef int tile, seat
    memset(played, 0, sizeof(played))
    while i >= 0 and c >= 0:
        seat = (events[i] >> 16) & 255
        if events[i] >> 24 == EV_PLAY and not (i > 0 and events[i - 1] >> 16 == (<u32>EV_DRAW << 8 | <u32>seat)):
            into_set(played[seat], code_tile(events[i] & 0xFFFF))
        if m.choices[c].event == i:
            m.choices[c].played = played[seat]
            for tile in range(TILE_COUNT):
                # Where it came from may be known to be a later draw.
                if in_set(played[seat], tile) and e.origin[tile] != NO_COHORT and m.acquired[e.origin[tile]] > i:
                    m.choices[c].played[tile >> 6] &= ~(<u64>1 << (tile & 63))
            c -= 1
        i -= 1


# By how many points of rank the choices of `seat` fall short of a planner's with the hand that the world gives it. More
# than `limit` is only said to be more.
cdef inline int shortfall(const Sampler *b, Model *m, int seat, int limit) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef u8 tiles[MAX_HELD]
    cdef int since[MAX_HELD]
    cdef int held = 0
    cdef int total = 0
    cdef int place, i, k, n, rank, best, chosen
    cdef Plan plan
    cdef Weights weights
    cdef Wishes wishes
    cdef State *s
    cdef u64 *hand
    set_default_weights(&weights)
    for place in range(b.places - b.bone):
        if b.owner[place] == seat and in_set(b.hidden, b.tile[place]) and held < MAX_HELD:
            tiles[held] = b.tile[place]
            since[held] = m.acquired[b.cohort[place]]
            held += 1
    for k in range(m.size):
        if m.choices[k].seat != seat:
            continue
        s = &m.choices[k].table
        hand = &s.hand[seat][0]
        for i in range(WORDS):
            hand[i] = m.choices[k].played[i]
        for i in range(held):
            if since[i] < m.choices[k].event:
                hand[tiles[i] >> 6] |= <u64>1 << (tiles[i] & 63)
        n = legal_moves(s, codes)
        if n <= 1:
            continue
        make_plan(&plan, hand, lowest32(s.ends[seat]), MODEL_PLAN_NODES)
        make_wishes(s, &plan, must_hurry(s), &weights, &wishes)
        best = chosen = -100000
        for i in range(n):
            if codes[i] == STOP_CODE:
                continue
            rank = planned_rank(s, code_tile(codes[i]), &wishes, kind_of_move(s, &plan, codes[i]))
            best = max(best, rank)
            if codes[i] == m.choices[k].code:
                chosen = rank
        total += min(best - chosen, MOST_POINTS)
        if total > limit:
            break
    return total


# By how many points the next world may be worse: geometric, with exp(-weight) for each.
cdef inline int slack(Rng *rng, double weight) noexcept nogil:
    cdef double keep = falling(weight)
    cdef double chance = (rng_next(rng) >> 11) * 1.1102230246251565e-16
    cdef double left = keep
    cdef int points = 0
    while chance < left and points < MAX_SLACK:
        points += 1
        left *= keep
    return points


cdef inline bint place_allows(const Sampler *b, int place, int tile) noexcept nogil:
    if place < b.bound:
        return in_set(b.allowed[b.cohort[place]], tile)
    return in_set(b.roaming, tile)


# Begins the chain in the world of the sampler.
cdef inline void infer_start(const Sampler *b, Model *m) noexcept nogil:
    cdef int seat
    for seat in range(b.players):
        m.short_by[seat] = 0 if seat == b.observer else shortfall(b, m, seat, 1 << 30)
    m.short_by[BONEYARD] = 0


# The next world of the chain, after so many tries to exchange two tiles.
cdef inline void infer(Sampler *b, Model *m, int steps, Rng *rng) noexcept nogil:
    cdef int _, one, other, limit, fresh, fresh_other
    cdef int held = b.places - b.bone
    cdef u8 tile
    for _ in range(steps if held else 0):
        one = rng_below(rng, held)
        other = rng_below(rng, b.places)
        # When a seat exchanges tiles with itself, their cohorts change, which choices seldom show.
        if b.owner[one] == b.owner[other]:
            continue
        if not place_allows(b, one, b.tile[other]) or not place_allows(b, other, b.tile[one]):
            continue
        tile = b.tile[one]
        b.tile[one] = b.tile[other]
        b.tile[other] = tile
        limit = m.short_by[b.owner[one]] + m.short_by[b.owner[other]] + slack(rng, m.weight)
        fresh = shortfall(b, m, b.owner[one], limit)
        fresh_other = 0
        if fresh <= limit and b.owner[other] != BONEYARD:
            fresh_other = shortfall(b, m, b.owner[other], limit - fresh)
        if fresh + fresh_other > limit or not mover_can_play(b):
            b.tile[other] = b.tile[one]
            b.tile[one] = tile
        else:
            m.short_by[b.owner[one]] = fresh
            m.short_by[b.owner[other]] = fresh_other
    # The order of the boneyard says nothing.
    for one in range(held, b.places - 1):
        other = one + rng_below(rng, b.places - one)
        tile = b.tile[one]
        b.tile[one] = b.tile[other]
        b.tile[other] = tile
