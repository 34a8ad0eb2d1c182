# A long train out of one hand: the heaviest trail from a value, found by a depth-first search bounded in nodes.
#
# A hand is a graph: values are its points, tiles its edges. A train is a trail, which uses each edge once. The search
# goes first where most tiles wait, so that its first dive is already long; the bound makes big hands safe.

from libc.string cimport memcpy

from caboose.engine.bits cimport HIGH, LOW, VALUES, WORDS, lowest, lowest32, popcount, tile_number, u8, u32, u64

cdef enum:
    MAX_PLAN = 96        # the longest plan: a hand of two players with a double-18 set; longer trains are cut
    TILE_WORTH = 6       # what a tile of no pips is worth in a plan: one turn

# The tiles of a plan in playing order. `value` is the end that the next one fits.
cdef struct Plan:
    u8 tiles[MAX_PLAN]
    u8 size
    u8 next
    u8 value
    u64 mask[WORDS]      # the tiles from `next` on

cdef struct PlanSearch:
    u32 near[VALUES]     # for each value, the values to which a tile leads
    u8 path[MAX_PLAN]
    u8 best[MAX_PLAN]
    int best_size
    int best_worth
    int nodes            # how many more tiles may be tried


cdef inline void plan_visit(PlanSearch *p, int value, int size, int worth) noexcept nogil:
    cdef bint double = (p.near[value] >> value) & 1
    cdef u32 rest, left
    cdef int near, other, rank, best_rank
    if double and size < MAX_PLAN:
        # A double costs no detour: it is laid as soon as its value is reached.
        p.near[value] ^= <u32>1 << value
        p.path[size] = tile_number(value, value)
        size += 1
        worth += 2 * value + TILE_WORTH
    rest = p.near[value]
    # A double at the end wants an answer that the hand does not have.
    if worth - (TILE_WORTH if double and not rest else 0) > p.best_worth:
        p.best_worth = worth - (TILE_WORTH if double and not rest else 0)
        p.best_size = size
        memcpy(p.best, p.path, size)
    while rest and p.nodes > 0 and size < MAX_PLAN:
        p.nodes -= 1
        near = 0
        best_rank = -1
        left = rest
        while left:
            other = lowest32(left)
            left &= left - 1
            rank = popcount(p.near[other]) * 32 + other
            if rank > best_rank:
                best_rank = rank
                near = other
        rest ^= <u32>1 << near
        p.near[value] ^= <u32>1 << near
        p.near[near] ^= <u32>1 << value
        p.path[size] = tile_number(value, near)
        plan_visit(p, near, size + 1, worth + value + near + TILE_WORTH)
        p.near[value] ^= <u32>1 << near
        p.near[near] ^= <u32>1 << value
    if double:
        p.near[value] |= <u32>1 << value


# Makes `plan` the best train from `value` out of `hand` that at most `nodes` tries find.
cdef inline void make_plan(Plan *plan, const u64 *hand, int value, int nodes) noexcept nogil:
    cdef PlanSearch p
    cdef int word, tile, i
    cdef u64 rest
    for i in range(VALUES):
        p.near[i] = 0
    for word in range(WORDS):
        rest = hand[word]
        while rest:
            tile = word << 6 | lowest(rest)
            rest &= rest - 1
            p.near[LOW[tile]] |= <u32>1 << HIGH[tile]
            p.near[HIGH[tile]] |= <u32>1 << LOW[tile]
        plan.mask[word] = 0
    p.best_size = 0
    p.best_worth = 0
    p.nodes = nodes
    plan_visit(&p, value, 0, 0)
    plan.size = p.best_size
    plan.next = 0
    plan.value = value
    memcpy(plan.tiles, p.best, p.best_size)
    for i in range(plan.size):
        plan.mask[plan.tiles[i] >> 6] |= <u64>1 << (plan.tiles[i] & 63)


# The plan after its next tile was played on the own train.
cdef inline void plan_step(Plan *plan) noexcept nogil:
    cdef int tile = plan.tiles[plan.next]
    plan.next += 1
    plan.value = LOW[tile] + HIGH[tile] - plan.value
    plan.mask[tile >> 6] &= ~(<u64>1 << (tile & 63))
