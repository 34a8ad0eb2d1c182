# Full worlds that agree with all that is proved, uniformly at random.
#
# A world puts each hidden tile into a place: one of a cohort (`evidence.pxd`) that does not exclude it, or one in the
# boneyard. Played tiles of which the cohort is not known need a place of their seat too. So worlds are the perfect
# matchings of tiles and places, and each deal of the round that agrees with the events is the same number of them.
#
# One matching leads to the next by excursions (Jerrum & Sinclair 1989, Prokof'ev & Svistunov 2001): a tile is taken out
# of its place, which stays empty, and put into a random other place that allows it; the tile that was there is put
# elsewhere in the same way, and so on, until one goes to the empty place. Each step can be gone back with the weight
# with which it was made, so all matchings are equally likely in the long run, and any can be reached: two of them
# differ by cycles, and each cycle is an excursion. One that is too long is taken back, which is as likely for the way
# there as for the way back. Before, what is in no matching at all is taken out of the graph.

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport SEATS, TILE_COUNT, WORDS, Rng, lowest, rng_below, rng_next, u8, u32, u64
from caboose.engine.belief.evidence cimport MAX_COHORTS, Evidence, gather_evidence, in_set, into_set, set_size
from caboose.engine.rules.state cimport NO_TILE, State, hand_add

cdef enum:
    BONEYARD = SEATS     # the owner of a place that is in no hand
    NO_PLACE = 255
    # Measured so that a world tells nothing of the next one (docs/explanation/search.md).
    LEAST_MASS = 16      # of the free places
    CLOSING = 4          # the empty place weighs a quarter of all others
    SWEEPS = 3           # of excursions between two worlds, and more where a sweep is short
    SPARE_STEPS = 12
    FIRST_SWEEPS = 20    # and before the first one
    MOST_STEPS = 255     # of an excursion

cdef struct Sampler:
    int players
    int observer
    int places
    int bound            # so many places, the first ones, do not allow every hidden tile …
    int bone             # … and so many, the last ones, are in the boneyard
    int mass             # the weight of all places from `bound` on together; a bound one weighs 1
    int closing          # the weight of the empty place
    int sweeps           # between two worlds
    int mover            # the seat that must have a playable tile, or -1
    int drawn_place      # the place of the tile that the mover has just drawn, or NO_PLACE
    u64 playable[WORDS]
    u64 hidden[WORDS]
    u64 roaming[WORDS]                   # tiles that the places from `bound` on allow
    u64 allowed[MAX_COHORTS][WORDS]      # and those that each cohort allows
    u8 tile[TILE_COUNT]                  # in each place
    u8 owner[TILE_COUNT]                 # of each place: a seat or BONEYARD
    u8 cohort[TILE_COUNT]                # of each place in a hand
    u8 choices[TILE_COUNT]               # of each tile: how many bound places allow it …
    u8 reach[TILE_COUNT]                 # … and the weight of all that do
    u8 choice[TILE_COUNT][TILE_COUNT]    # … and which they are


# ---- a first matching ------------------------------------------------------------------------------------------

# Finds a place for `tile`; tiles that have one may move to another. Place `barred` is left as it is. Returns whether
# there is a way (the shortest is taken).
cdef inline bint place_tile(Sampler *b, int tile, int barred) noexcept nogil:
    cdef u8 before[TILE_COUNT]   # the place whose tile may move here
    cdef u8 seen[TILE_COUNT]
    cdef u8 queue[TILE_COUNT]
    cdef int head = 0
    cdef int size = 0
    cdef int source = NO_PLACE
    cdef int moving = tile
    cdef int i, n, place
    memset(seen, 0, sizeof(seen))
    if barred != NO_PLACE:
        seen[barred] = 1
    while True:
        n = b.choices[moving]
        if in_set(b.roaming, moving):
            n += b.places - b.bound
        for i in range(n):
            place = b.choice[moving][i] if i < b.choices[moving] else b.bound + i - b.choices[moving]
            if seen[place]:
                continue
            seen[place] = 1
            before[place] = source
            if b.tile[place] == NO_TILE:
                while before[place] != NO_PLACE:
                    b.tile[place] = b.tile[before[place]]
                    place = before[place]
                b.tile[place] = tile
                return True
            queue[size] = place
            size += 1
        if head == size:
            return False
        source = queue[head]
        moving = b.tile[source]
        head += 1


cdef inline bint place_all(Sampler *b, const u64 *tiles) noexcept nogil:
    cdef int word
    cdef u64 rest
    for word in range(WORDS):
        rest = tiles[word]
        while rest:
            if not place_tile(b, word << 6 | lowest(rest), NO_PLACE):
                return False
            rest &= rest - 1
    return True


# Takes out of the graph what is in no matching: a tile can be in another place only where its own can be filled again,
# by a ring of tiles that each take the place of the next.
cdef inline void drop_impossible(Sampler *b) noexcept nogil:
    cdef u64 leads[TILE_COUNT][WORDS]    # from each place to those where its tile may go, or tiles moved on by it
    cdef u64 ring[WORDS]
    cdef int i, k, place, word, tile
    memset(leads, 0, sizeof(leads))
    for place in range(b.places):
        tile = b.tile[place]
        for i in range(b.choices[tile]):
            into_set(leads[place], b.choice[tile][i])
        if in_set(b.roaming, tile):
            for i in range(b.bound, b.places):
                into_set(leads[place], i)
    for k in range(b.places):
        for i in range(b.places):
            if in_set(leads[i], k):
                for word in range(WORDS):
                    leads[i][word] |= leads[k][word]
    # All places of a cohort are on one ring, and so are all that allow every tile.
    for place in range(b.places):
        if 0 < place < b.places - b.bone and b.cohort[place] == b.cohort[place - 1] or place > b.places - b.bone:
            continue
        memset(ring, 0, sizeof(ring))
        for i in range(b.places):
            if in_set(leads[place], i):
                into_set(ring, b.tile[i])
        for word in range(WORDS):
            if place < b.places - b.bone:
                b.allowed[b.cohort[place]][word] &= ring[word]
            if place >= b.bound:
                b.roaming[word] &= ring[word]


# Whether the mover has a tile that can be played.
cdef inline bint mover_can_play(const Sampler *b) noexcept nogil:
    cdef int place
    if b.mover < 0:
        return True
    for place in range(b.places - b.bone):
        if b.owner[place] == b.mover and in_set(b.playable, b.tile[place]):
            return True
    return False


# Gives the mover a tile that can be played. Returns whether there is a way.
cdef inline bint let_mover_play(Sampler *b) noexcept nogil:
    cdef int place, other, tile, moved
    if mover_can_play(b):
        return True
    for place in range(b.places - b.bone):
        if b.owner[place] != b.mover:
            continue
        for other in range(b.places):
            tile = b.tile[other]
            if not in_set(b.playable, tile) or (place < b.bound and not in_set(b.allowed[b.cohort[place]], tile)):
                continue
            moved = b.tile[place]
            b.tile[place] = tile
            b.tile[other] = NO_TILE
            if place_tile(b, moved, place):
                return True
            b.tile[place] = moved
            b.tile[other] = tile
    return False


# ---- the chain of matchings ------------------------------------------------------------------------------------

# An excursion from each bound place. (What does not change is kept in locals: a tile written could be any byte of it.)
cdef inline void sweep(Sampler *b, Rng *rng) noexcept nogil:
    cdef Rng stream = rng[0]
    cdef u8 *tiles = b.tile
    cdef const u8 *choices = b.choices
    cdef const u8 *reach = b.reach
    cdef const u64 *allowed
    cdef u32 bound = b.bound
    cdef u32 free = b.places - b.bound
    cdef u32 closing = b.closing
    cdef u32 empty, place, tile, other, pick
    cdef u64 chance
    cdef u8 path[MOST_STEPS]
    cdef int steps
    for empty in range(bound):
        allowed = b.allowed[b.cohort[empty]]
        tile = tiles[empty]
        steps = 0
        while True:
            chance = rng_next(&stream)
            pick = <u32>((chance >> 32) * (reach[tile] + (closing if in_set(allowed, tile) else 0)) >> 32)
            if pick < choices[tile]:
                place = b.choice[tile][pick]
                if place == empty:
                    break
            elif pick < reach[tile]:
                place = bound + <u32>(<u64><u32>chance * free >> 32)
            else:
                break
            if steps == MOST_STEPS:
                while steps:
                    steps -= 1
                    other = tiles[path[steps]]
                    tiles[path[steps]] = tile
                    tile = other
                break
            path[steps] = place
            steps += 1
            other = tiles[place]
            tiles[place] = tile
            tile = other
        tiles[empty] = tile
    rng[0] = stream


# Places that allow every hidden tile: any order of their tiles is as likely as any other.
cdef inline void shuffle_free(Sampler *b, Rng *rng) noexcept nogil:
    cdef int i, j
    cdef u8 tile
    for i in range(b.bound, b.places - 1):
        j = i + rng_below(rng, b.places - i)
        tile = b.tile[j]
        b.tile[j] = b.tile[i]
        b.tile[i] = tile


# The next matching. Those in which the mover could not play are passed over.
cdef inline void next_matching(Sampler *b, int sweeps, Rng *rng) noexcept nogil:
    cdef int _
    while True:
        for _ in range(sweeps):
            sweep(b, rng)
        shuffle_free(b, rng)
        if mover_can_play(b):
            return


# ---- for the search --------------------------------------------------------------------------------------------

cdef inline void add_place(Sampler *b, int owner, int cohort) noexcept nogil:
    b.tile[b.places] = NO_TILE
    b.owner[b.places] = owner
    b.cohort[b.places] = cohort
    b.places += 1


# The places of each cohort: those that exclude nothing come after the others, and the boneyard last.
cdef inline void add_places(Sampler *b, const Evidence *e) noexcept nogil:
    cdef int c, word, turn, _
    cdef bint free[MAX_COHORTS]
    cdef bint shown = set_size(e.shown_held) > 0
    for c in range(e.cohorts):
        # What all hands allow the boneyard allows too, but not where a hand is shown.
        free[c] = not shown
        for word in range(WORDS):
            b.allowed[c][word] = e.hidden[word] & ~e.excluded[c][word]
            if e.drew and c == e.cohorts - 1:
                b.allowed[c][word] &= e.playable[word]
            b.allowed[c][word] |= e.shown[c][word] & e.unsure[word]
            if b.allowed[c][word] != e.hidden[word]:
                free[c] = False
    for turn in range(2):
        for c in range(e.cohorts):
            if free[c] == turn:
                if e.drew and c == e.cohorts - 1:
                    b.drawn_place = b.places
                for _ in range(e.places[c]):
                    add_place(b, e.seat[c], c)
        if turn == 0:
            b.bound = b.places
    for _ in range(e.boneyard):
        add_place(b, BONEYARD, 0)


# For each tile the bound places that allow it.
cdef inline void list_choices(Sampler *b, const Evidence *e) noexcept nogil:
    cdef int tile, place
    memset(b.choices, 0, sizeof(b.choices))
    memset(b.reach, 0, sizeof(b.reach))
    for tile in range(TILE_COUNT):
        if not in_set(e.hidden, tile) and not in_set(e.unsure, tile):
            continue
        for place in range(b.bound):
            if in_set(b.allowed[b.cohort[place]], tile):
                b.choice[tile][b.choices[tile]] = place
                b.choices[tile] += 1
        b.reach[tile] = b.choices[tile]
        if in_set(b.roaming, tile):
            b.reach[tile] += b.mass


# Makes the sampler of all worlds that agree with `e`. Returns whether there is one. Its first world is one of many that
# are alike: `belief_mix` makes it a random one.
cdef inline bint belief_start(Sampler *b, const Evidence *e, int players, int observer) noexcept nogil:
    cdef int word
    b.players = players
    b.observer = observer
    b.places = 0
    b.bone = e.boneyard
    b.mover = e.mover
    b.drawn_place = NO_PLACE
    b.playable = e.playable
    b.hidden = e.hidden
    b.roaming = e.hidden
    for word in range(WORDS):
        b.roaming[word] &= ~e.shown_held[word]
    add_places(b, e)
    b.mass = min(b.places - b.bound, max(b.bound, LEAST_MASS))
    b.closing = max(1, (b.bound + b.mass) // CLOSING)
    b.sweeps = SWEEPS + (SPARE_STEPS + set_size(e.unsure)) // max(1, b.bound)
    list_choices(b, e)
    if not place_all(b, e.unsure) or not place_all(b, e.hidden):
        return False
    if b.bound:
        drop_impossible(b)
        list_choices(b, e)
    return let_mover_play(b)


cdef inline void belief_mix(Sampler *b, Rng *rng) noexcept nogil:
    next_matching(b, FIRST_SWEEPS, rng)


# A sampler of the worlds that agree with what `observer` knows: the position `now` with its hand, how many tiles were
# dealt to each seat, and the events that it saw. Returns whether there is such a world; without one the sampler must
# not be used.
cdef inline bint belief_build(
    Sampler *b, const State *now, int observer, int hand, int starter, const u32 *events, int size, Rng *rng
) noexcept nogil:
    cdef Evidence e
    if not gather_evidence(&e, now, observer, hand, starter, events, size):
        return False
    if not belief_start(b, &e, now.rules.players, observer):
        return False
    belief_mix(b, rng)
    return True


# Writes the matching into a State that has the table and the observer's hand: the other hands and the boneyard.
cdef inline void write_world(State *s, const Sampler *b) noexcept nogil:
    cdef int seat, place, word
    for seat in range(b.players):
        if seat != b.observer:
            memset(s.hand[seat], 0, sizeof(s.hand[seat]))
    for place in range(b.places - b.bone):
        hand_add(s, b.owner[place], b.tile[place])
    for place in range(b.bone):
        s.bone[s.bone_next + place] = b.tile[b.places - b.bone + place]
    # What was played is in no hand now.
    for seat in range(b.players):
        if seat != b.observer:
            for word in range(WORDS):
                s.hand[seat][word] &= b.hidden[word]
    if b.drawn_place != NO_PLACE:
        s.drawn = b.tile[b.drawn_place]


# The next world.
cdef inline void belief_sample(State *s, Sampler *b, Rng *rng) noexcept nogil:
    next_matching(b, b.sweeps, rng)
    write_world(s, b)
