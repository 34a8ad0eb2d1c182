# What the hidden hands may be, and full worlds drawn to agree with it.
#
# A draw or a pass proves that nothing in the hand fitted any place that was legal then. So each hidden tile of a hand
# is a slot with the values that it cannot have: what was proved since it came into the hand. A played tile leaves a
# slot that allowed it; which one is not known, so that is drawn anew for each `Slots`.

from libc.string cimport memset

from caboose.engine.bits cimport (
    DOUBLES,
    HIGH,
    LOW,
    SEATS,
    TILE_COUNT,
    WORDS,
    Rng,
    lowest,
    rng_below,
    u8,
    u16,
    u32,
    u64,
)
from caboose.engine.state cimport (
    EV_DRAW,
    EV_HUB,
    EV_MARK,
    EV_PASS,
    EV_PLAY,
    EV_STOP,
    MAX_TARGETS,
    NO_TILE,
    Header,
    Log,
    State,
    Target,
    clear,
    code_tile,
    hand_add,
    lay_hub,
    pass_turn,
    play_tile,
    stop_chain,
    targets,
)

cdef enum:
    HAND_ROOM = 192

# Of each hidden tile, the values that it cannot have (a bit each), and those of which it is not the double.
cdef struct Slots:
    u32 banned[SEATS][HAND_ROOM]
    u32 banned_double[SEATS][HAND_ROOM]
    u8 size[SEATS]


cdef inline bint slot_allows(u32 banned, u32 banned_double, int tile) noexcept nogil:
    cdef u32 ends = <u32>1 << LOW[tile] | <u32>1 << HIGH[tile]
    if banned & ends:
        return False
    return LOW[tile] != HIGH[tile] or not banned_double & ends


# The tiles of `seat` from slot `start` on fit none of the places open to it.
cdef inline void ban_targets(Slots *slots, const State *s, int seat, int start) noexcept nogil:
    cdef Target list[MAX_TARGETS]
    cdef int n = targets(s, list)
    cdef u32 any_tile = 0
    cdef u32 double_only = 0
    cdef int i
    for i in range(n):
        if list[i].doubles == 1:
            double_only |= <u32>1 << list[i].value
        else:
            # Where doubles may not go, the only one that fits lies on the table: the ban is no more than the truth.
            any_tile |= <u32>1 << list[i].value
    for i in range(start, slots.size[seat]):
        slots.banned[seat][i] |= any_tile
        slots.banned_double[seat][i] |= double_only


cdef inline void drop_slot(Slots *slots, int seat, int index) noexcept nogil:
    slots.size[seat] -= 1
    slots.banned[seat][index] = slots.banned[seat][slots.size[seat]]
    slots.banned_double[seat][index] = slots.banned_double[seat][slots.size[seat]]


# `seat` shows `tile` from its hand: one of the slots that allow it is gone.
cdef inline void show_tile(Slots *slots, int seat, int tile, Rng *rng) noexcept nogil:
    cdef int i, fitting = 0, pick
    for i in range(slots.size[seat]):
        if slot_allows(slots.banned[seat][i], slots.banned_double[seat][i], tile):
            fitting += 1
    if fitting == 0:
        # An earlier choice of slots was wrong about this tile.
        drop_slot(slots, seat, rng_below(rng, slots.size[seat]))
        return
    pick = rng_below(rng, fitting)
    for i in range(slots.size[seat]):
        if slot_allows(slots.banned[seat][i], slots.banned_double[seat][i], tile):
            if pick == 0:
                drop_slot(slots, seat, i)
                return
            pick -= 1


# The slots of all hands but the observer's, from the events that it saw. `hand` is how many tiles were dealt.
cdef inline void make_slots(
    Slots *slots, const Header *rules, int observer, int hand, int starter, const u32 *events, int size, Rng *rng
) noexcept nogil:
    cdef State s
    cdef int i, seat, kind, argument
    cdef bint laid = True
    clear(&s, rules)
    # A hub that is dealt is laid down by an event.
    for i in range(size):
        if events[i] >> 24 == EV_HUB:
            laid = False
    memset(slots, 0, sizeof(Slots))
    for seat in range(rules.players):
        s.count[seat] = hand
        slots.size[seat] = hand
    if laid:
        lay_hub(&s)
        s.turn = starter
    # With a boneyard that never ends no pass ends the round, which goes on where the observation was made.
    s.bone_end = 255
    for i in range(size):
        kind = events[i] >> 24
        seat = (events[i] >> 16) & 255
        argument = events[i] & 0xFFFF
        if kind == EV_DRAW:
            if laid:
                ban_targets(slots, &s, seat, 0)
                s.drew = 1
            slots.banned[seat][slots.size[seat]] = 0
            slots.banned_double[seat][slots.size[seat]] = 0
            slots.size[seat] += 1
            s.count[seat] += 1
        elif kind == EV_HUB:
            if i > 0:
                slots.size[seat] -= 1
            else:
                drop_slot(slots, seat, 0)
            s.count[seat] -= 1
            lay_hub(&s)
            laid = True
            s.turn = starter
        elif kind == EV_PLAY:
            if s.drew:
                # What is played right after a draw is the tile drawn.
                slots.size[seat] -= 1
            else:
                show_tile(slots, seat, code_tile(argument), rng)
            play_tile(&s, argument, NULL)
        elif kind == EV_STOP:
            stop_chain(&s, NULL)
        else:
            # After a draw only the drawn tile was tried; the others were at the draw.
            ban_targets(slots, &s, seat, slots.size[seat] - 1 if s.drew else 0)
            pass_turn(&s, NULL)
    slots.size[observer] = 0


# Deals the hidden tiles to the slots and the rest to the boneyard: a random tile for each slot, one that the slot
# allows where there is one, or else in exchange with an earlier slot. `pool` holds the hidden tiles and is left
# shuffled. Returns how many slots hold a tile that they do not allow (nearly always 0).
cdef inline int deal_world(State *s, const Slots *slots, u8 *pool, int size, Rng *rng) noexcept nogil:
    cdef int seat, i, j, k, _, at, wrong = 0
    cdef int first
    cdef u8 tile
    cdef u32 banned, banned_double
    cdef u32 slot_banned[TILE_COUNT]
    cdef u32 slot_double[TILE_COUNT]
    at = 0
    for seat in range(s.rules.players):
        for i in range(slots.size[seat]):
            banned = slots.banned[seat][i]
            banned_double = slots.banned_double[seat][i]
            slot_banned[at] = banned
            slot_double[at] = banned_double
            j = at + rng_below(rng, size - at)
            if banned | banned_double and not slot_allows(banned, banned_double, pool[j]):
                j = fitting_tile(pool, at, size, banned, banned_double, rng)
            if j < 0:
                j = at
                wrong += 1
                for k in range(at):
                    # An earlier slot may hold what fits here and be content with what is left.
                    if slot_allows(banned, banned_double, pool[k]) and slot_allows(
                        slot_banned[k], slot_double[k], pool[at]
                    ):
                        j = k
                        wrong -= 1
                        break
            tile = pool[j]
            pool[j] = pool[at]
            pool[at] = tile
            at += 1
    first = 0
    for seat in range(s.rules.players):
        if slots.size[seat]:
            memset(s.hand[seat], 0, sizeof(s.hand[seat]))
        for _ in range(slots.size[seat]):
            hand_add(s, seat, pool[first])
            first += 1
    for i in range(first, size):
        j = i + rng_below(rng, size - i)
        tile = pool[j]
        pool[j] = pool[i]
        pool[i] = tile
        s.bone[s.bone_next + i - first] = tile
    return wrong


# A random place of `pool` from `start` on whose tile the slot allows, or -1.
cdef inline int fitting_tile(
    const u8 *pool, int start, int size, u32 banned, u32 banned_double, Rng *rng
) noexcept nogil:
    cdef int n = size - start
    cdef int offset = rng_below(rng, n)
    cdef int _, j
    for _ in range(8):
        j = start + rng_below(rng, n)
        if slot_allows(banned, banned_double, pool[j]):
            return j
    for _ in range(n):
        j = start + offset
        offset = offset + 1 if offset + 1 < n else 0
        if slot_allows(banned, banned_double, pool[j]):
            return j
    return -1


# The tiles that lie neither on the table nor in the observer's hand. Returns how many.
cdef inline int hidden_tiles(const State *s, int observer, u8 *pool) noexcept nogil:
    cdef int count = (s.rules.top + 1) * (s.rules.top + 2) // 2
    cdef int tile, size = 0
    cdef u64 seen[WORDS]
    cdef int word
    for word in range(WORDS):
        seen[word] = s.table[word] | s.hand[observer][word]
    for tile in range(count):
        if not seen[tile >> 6] >> (tile & 63) & 1:
            pool[size] = tile
            size += 1
    return size
