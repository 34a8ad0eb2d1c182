# Random deals in the core: which tiles there are to deal, a round dealt from them, and a boneyard in a new order.

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport TILE_COUNT, Rng, rng_below, u8
from caboose.engine.rules.state cimport (
    Header,
    State,
    clear,
    draw_tile,
    hand_add,
    hand_remove,
    holds,
    lay_hub,
    rules_hub_tile,
)


# The tiles to deal, in order: a hub that is placed is not among them. Returns how many; `deck` has room for TILE_COUNT.
cdef inline int fill_deck(u8 *deck, const Header *rules, bint dealt_hub) noexcept nogil:
    cdef int hub = rules_hub_tile(rules)
    cdef int tile, size = 0
    for tile in range((rules.top + 1) * (rules.top + 2) // 2):
        if dealt_hub or tile != hub:
            deck[size] = tile
            size += 1
    return size


cdef inline void shuffle(u8 *tiles, int size, Rng *rng) noexcept nogil:
    cdef int i, j
    cdef u8 tile
    for i in range(size):
        j = i + rng_below(rng, size - i)
        tile = tiles[j]
        tiles[j] = tiles[i]
        tiles[i] = tile


# The boneyard in a random order, which its present one has no part in.
cdef inline void shuffle_boneyard(State *s, Rng *rng) noexcept nogil:
    cdef u8 there[TILE_COUNT]
    cdef int i, tile, end = s.bone_next
    memset(there, 0, sizeof(there))
    for i in range(s.bone_next, s.bone_end):
        there[s.bone[i]] = 1
    for tile in range(TILE_COUNT):
        if there[tile]:
            s.bone[end] = tile
            end += 1
    shuffle(&s.bone[s.bone_next], end - s.bone_next, rng)


# A random deal. `deck` holds the tiles to deal, and is left shuffled.
cdef inline void deal_round(
    State *s, const Header *rules, bint dealt_hub, bint holder_starts, int hand, u8 *deck, int size, Rng *rng
) noexcept nogil:
    cdef int seat, i, _
    cdef int at = 0
    clear(s, rules)
    shuffle(deck, size, rng)
    for seat in range(rules.players):
        s.count[seat] = hand
        for _ in range(hand):
            hand_add(s, seat, deck[at])
            at += 1
    for i in range(at, size):
        s.bone[i - at] = deck[i]
    s.bone_end = size - at
    if dealt_hub:
        take_hub(s)
    lay_hub(s)
    if not holder_starts:
        s.turn = rng_below(rng, rules.players)
    s.drew = 0
    s.drawn = 0


# The dealt hub leaves the hand that holds it; while nobody does, the seats draw in turn. The turn is its holder's then.
cdef inline void take_hub(State *s) noexcept nogil:
    cdef int hub = rules_hub_tile(&s.rules)
    cdef int seat
    s.turn = 0
    for seat in range(s.rules.players):
        if holds(s, seat, hub):
            s.turn = seat
    while not holds(s, s.turn, hub):
        draw_tile(s, NULL)
        if not holds(s, s.turn, hub):
            s.turn = s.turn + 1 if s.turn + 1 < s.rules.players else 0
    hand_remove(s, s.turn, hub)
    s.count[s.turn] -= 1
