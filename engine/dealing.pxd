# Random deals in the core: which tiles there are to deal, and a round dealt from them.

from caboose.engine.bits cimport Rng, rng_below, u8
from caboose.engine.state cimport (
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


# A random deal. `deck` holds the tiles to deal, and is left shuffled.
cdef inline void deal_round(
    State *s, const Header *rules, bint dealt_hub, bint holder_starts, int hand, u8 *deck, int size, Rng *rng
) noexcept nogil:
    cdef int seat, i, j, _
    cdef int at = 0
    cdef u8 tile
    clear(s, rules)
    for i in range(size):
        j = i + rng_below(rng, size - i)
        tile = deck[j]
        deck[j] = deck[i]
        deck[i] = tile
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
