# A long train out of one hand: the heaviest trail from a value, found by a depth-first search bounded in nodes.
#
# A hand is a graph: values are its points, tiles its edges. A train is a trail, which uses each edge once. The search
# goes first where most tiles wait, so that its first dive is already long; the bound makes big hands safe.

from libc.string cimport memcpy

from caboose.engine.rules.tile_sets cimport (
    HIGH,
    LOW,
    VALUES,
    WITH,
    WORDS,
    lowest,
    lowest32,
    popcount,
    tile_number,
    u8,
    u32,
    u64,
)

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

# Where the search stands: the trail so far, and for each step back the tiles not yet tried from there.
cdef struct PlanStep:
    u32 rest             # values to which a tile not yet tried leads
    u8 value             # the end of the trail
    u8 size              # tiles in the trail, the double of `value` included
    u8 double            # the double of `value` was laid here
    int worth


cdef struct PlanSearch:
    u32 near[VALUES]     # for each value, the values to which an unused tile leads
    PlanStep steps[MAX_PLAN + 1]
    u8 path[MAX_PLAN + 1]  # the values that the trail comes to, its start first; one twice in a row where a double lies
    u8 best[MAX_PLAN + 1]
    int best_size        # tiles
    int best_worth
    int most_worth       # of all tiles that can be reached: no train is worth more
    int nodes            # how many more tiles may be tried


# Comes to `value` with a trail of `size` tiles. A double costs no detour: it is laid as soon as its value is reached.
cdef inline void plan_enter(PlanSearch *p, PlanStep *step, int value, int size, int worth) noexcept nogil:
    step.value = value
    p.path[size] = value
    step.double = (p.near[value] >> value) & 1 and size < MAX_PLAN
    if step.double:
        p.near[value] ^= <u32>1 << value
        size += 1
        p.path[size] = value
        worth += 2 * value + TILE_WORTH
    step.size = size
    step.worth = worth
    step.rest = p.near[value] if size < MAX_PLAN else 0
    # Each tile adds worth, so only the ends of trails compare. A double at the end wants an answer that the hand lacks.
    if step.rest == 0 or p.nodes == 0:
        if step.double and p.near[value] == 0:
            worth -= TILE_WORTH
        if worth > p.best_worth:
            p.best_worth = worth
            p.best_size = size
            memcpy(p.best, p.path, size + 1)


# The neighbour from which most tiles go on, the higher one of equals.
cdef inline int plan_next(const PlanSearch *p, u32 rest) noexcept nogil:
    cdef int other, rank
    cdef int best = 0
    cdef int best_rank = -1
    while rest:
        other = lowest32(rest)
        rest &= rest - 1
        rank = popcount(p.near[other]) * 32 + other
        if rank > best_rank:
            best_rank = rank
            best = other
    return best


# What all tiles that some trail from `value` comes to are worth together.
cdef inline int reachable_worth(const PlanSearch *p, int value) noexcept nogil:
    cdef u32 reached = 0
    cdef u32 rest = <u32>1 << value
    cdef int worth = 0
    while rest:
        value = lowest32(rest)
        reached |= <u32>1 << value
        rest = (rest | p.near[value]) & ~reached
        # Each tile counts from both its ends.
        worth += popcount(p.near[value]) * (2 * value + TILE_WORTH)
        if (p.near[value] >> value) & 1:
            worth += 2 * value + TILE_WORTH
    return worth // 2


cdef inline void plan_search(PlanSearch *p, int value) noexcept nogil:
    cdef PlanStep *step = &p.steps[0]
    cdef int near
    plan_enter(p, step, value, 0, 0)
    while p.nodes > 0 and p.best_worth < p.most_worth:
        if step.rest:
            p.nodes -= 1
            value = step.value
            near = plan_next(p, step.rest)
            step.rest ^= <u32>1 << near
            p.near[value] ^= <u32>1 << near
            p.near[near] ^= <u32>1 << value
            plan_enter(p, step + 1, near, step.size + 1, step.worth + value + near + TILE_WORTH)
            step += 1
        elif step == &p.steps[0]:
            break
        else:
            if step.double:
                p.near[step.value] |= <u32>1 << step.value
            near = step.value
            step -= 1
            p.near[step.value] |= <u32>1 << near
            p.near[near] |= <u32>1 << step.value


# Makes `plan` the best train from `value` out of `hand` that at most `nodes` tries find.
cdef inline void make_plan(Plan *plan, const u64 *hand, int value, int nodes) noexcept nogil:
    cdef PlanSearch p
    cdef int word, tile, i
    cdef u64 rest
    cdef u64 fits = 0
    plan.size = 0
    plan.next = 0
    plan.value = value
    for word in range(WORDS):
        plan.mask[word] = 0
        fits |= hand[word] & WITH[value][word]
    if not fits:
        return
    for i in range(VALUES):
        p.near[i] = 0
    for word in range(WORDS):
        rest = hand[word]
        while rest:
            tile = word << 6 | lowest(rest)
            rest &= rest - 1
            p.near[LOW[tile]] |= <u32>1 << HIGH[tile]
            p.near[HIGH[tile]] |= <u32>1 << LOW[tile]
    p.most_worth = reachable_worth(&p, value)
    p.best_size = 0
    p.best_worth = 0
    p.nodes = nodes
    plan_search(&p, value)
    plan.size = p.best_size
    for i in range(p.best_size):
        tile = tile_number(p.best[i], p.best[i + 1])
        plan.tiles[i] = tile
        plan.mask[tile >> 6] |= <u64>1 << (tile & 63)


# The plan after its next tile was played on the own train.
cdef inline void plan_step(Plan *plan) noexcept nogil:
    cdef int tile = plan.tiles[plan.next]
    plan.next += 1
    plan.value = LOW[tile] + HIGH[tile] - plan.value
    plan.mask[tile >> 6] &= ~(<u64>1 << (tile & 63))
