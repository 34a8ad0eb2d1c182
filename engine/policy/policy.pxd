# How the simple players choose: functions of the state that look at the mover's own hand and at what is public only.

from caboose.engine.rules.tile_sets cimport (
    HIGH,
    LOW,
    TILE_COUNT,
    WITH,
    WORDS,
    Rng,
    lowest32,
    popcount,
    rng_below,
    rng_next,
    u16,
    u32,
    u64,
)
from caboose.engine.policy.plan cimport Plan, make_plan, plan_step
from caboose.engine.rules.state cimport NO_TILE, STOP_CODE, State, code_tile, code_train, on_chain

cdef enum:
    NEARLY_OUT = 3       # tiles in a hand that make the others hurry
    # kinds of moves
    NEXT = 0             # the plan's next tile on the own train
    PLANNED = 1          # another tile of the plan, or that one elsewhere
    OWN_TRAIN = 2        # a tile that is not in the plan on the own train …
    ELSEWHERE = 3        # … and on another


# What a planner's wishes are made of, in points; a pip of the tile is one, too. `weighing.py` has the same numbers in
# the same order, and bounds that see to it that the plan's next tile is wanted on the own train, and others rather
# elsewhere.
cdef struct Weights:
    int next             # the plan's next tile on the own train …
    int next_marked      # … and what comes on top where the train is marked
    int planned          # the others of the plan …
    int hurry            # … when another seat is nearly out
    int own_marked       # what is not in the plan, on the own train where it is marked …
    int spoil            # … less this, where a plan would be spoiled
    int elsewhere        # what is not in the plan, on another train
    int double           # a double, on top, that another tile can answer …
    int lone_double      # … and one that none can


cdef inline void set_default_weights(Weights *weights) noexcept nogil:
    weights.next = 10
    weights.next_marked = 60
    weights.planned = -60
    weights.hurry = -10
    weights.own_marked = 10
    weights.spoil = 30
    weights.elsewhere = 40
    weights.double = 40
    weights.lone_double = 5


cdef inline int choose_random(const u16 *codes, int n, Rng *rng) noexcept nogil:
    return rng_below(rng, n) if n > 1 else 0


# The heaviest tile, doubles before others, on the own train before others.
cdef inline int choose_greedy(const State *s, const u16 *codes, int n) noexcept nogil:
    cdef int best = 0
    cdef int best_rank = -1
    cdef int i, tile, rank
    for i in range(n):
        if codes[i] == STOP_CODE:
            continue
        tile = code_tile(codes[i])
        rank = (LOW[tile] + HIGH[tile]) * 2
        if LOW[tile] == HIGH[tile]:
            rank += 1000
        if code_train(codes[i]) == s.turn:
            rank += 1
        if rank > best_rank:
            best_rank = rank
            best = i
    return best


# `numbers` are all of them in their order, as `weighing.checked_weights` gives them.
cdef inline int put_weights(Weights *weights, list numbers) except -1:
    weights.next, weights.next_marked, weights.planned, weights.hurry = numbers[:4]
    weights.own_marked, weights.spoil, weights.elsewhere = numbers[4:7]
    weights.double, weights.lone_double = numbers[7:]
    return 0


# Sees to it that `plan` fits the own train and the hand of `seat`.
cdef inline void fit_plan(const State *s, Plan *plan, int seat, int nodes) noexcept nogil:
    cdef u32 ends = s.ends[seat]
    cdef int value = lowest32(ends)
    cdef bint fits = plan.next < plan.size and (ends >> plan.value) & 1
    if fits:
        fits = not (plan.mask[0] & ~s.hand[seat][0] | plan.mask[1] & ~s.hand[seat][1] | plan.mask[2] & ~s.hand[seat][2])
    if not fits:
        make_plan(plan, &s.hand[seat][0], value, nodes)


cdef inline void refresh_plan(const State *s, Plan *plan, int nodes) noexcept nogil:
    fit_plan(s, plan, s.turn, nodes)


# What the mover wants, in points for each kind of move, and for doubles.
cdef struct Wishes:
    int points[4]
    int double
    int lone_double


# What is not in the plan goes to other trains first, heavy tiles and doubles before light ones; then the plan's next
# tile; what would spoil the plan comes last.
cdef inline void make_wishes(
    const State *s, const Plan *plan, bint hurry, const Weights *weights, Wishes *wishes
) noexcept nogil:
    cdef bint marked = (s.markers >> s.turn) & 1
    wishes.points[NEXT] = weights.next + (weights.next_marked if marked else 0) + (1000 if on_chain(s) else 0)
    wishes.points[PLANNED] = weights.hurry if hurry else weights.planned
    wishes.points[OWN_TRAIN] = (weights.own_marked if marked else 0) - (weights.spoil if plan.next < plan.size else 0)
    wishes.points[ELSEWHERE] = weights.elsewhere
    wishes.double = weights.double
    wishes.lone_double = weights.lone_double


# How much the mover wants to lay `tile` by this kind of move.
cdef inline int planned_rank(const State *s, int tile, const Wishes *wishes, int kind) noexcept nogil:
    cdef int word, answers
    cdef int rank = LOW[tile] + HIGH[tile] + wishes.points[kind]
    if LOW[tile] == HIGH[tile]:
        # It gives another tile at once, if there is one to play.
        answers = 0
        for word in range(WORDS):
            answers += popcount(s.hand[s.turn][word] & WITH[LOW[tile]][word])
        rank += wishes.double if answers > 1 or s.count[s.turn] == 1 else wishes.lone_double
        if tile == 0:
            rank += s.rules.blank
    return rank


# The tile that comes next in the plan, or NO_TILE.
cdef inline int next_tile(const Plan *plan) noexcept nogil:
    return plan.tiles[plan.next] if plan.next < plan.size else NO_TILE


cdef inline bint is_planned(const Plan *plan, int tile) noexcept nogil:
    return (plan.mask[tile >> 6] >> (tile & 63)) & 1


cdef inline int kind_of_move(const State *s, const Plan *plan, u16 code) noexcept nogil:
    cdef int tile = code_tile(code)
    cdef bint own = code_train(code) == s.turn
    if is_planned(plan, tile):
        return NEXT if own and tile == next_tile(plan) else PLANNED
    return OWN_TRAIN if own else ELSEWHERE


# Whether another seat has only few tiles left.
cdef inline bint must_hurry(const State *s) noexcept nogil:
    cdef int seat
    for seat in range(s.rules.players):
        if seat != s.turn and s.count[seat] <= NEARLY_OUT:
            return True
    return False


# Chance in the rank of a tile, 0 to `noise` - 1: `chance` is drawn once a decision.
cdef inline int rank_noise(u64 chance, int tile, int noise) noexcept nogil:
    cdef u64 x = (chance + <u64>tile * <u64>0x9E3779B97F4A7C15) * <u64>0xD6E8FEB86659FD93
    return <int>(((x >> 32) * <u64>noise) >> 32)


# Follows `plan` (see `planned_rank`). `noise` points of chance are added to each rank; of equals the lowest tile on the
# first train is chosen.
cdef inline int choose_planned(
    const State *s, const u16 *codes, int n, Plan *plan, int nodes, int noise, const Weights *weights, Rng *rng
) noexcept nogil:
    cdef int best = 0
    cdef int best_tile = TILE_COUNT
    cdef int best_rank = -1000000
    cdef int i, tile, rank
    cdef Wishes wishes
    cdef u64 chance
    if n == 1:
        return 0
    refresh_plan(s, plan, nodes)
    make_wishes(s, plan, must_hurry(s), weights, &wishes)
    chance = rng_next(rng) if noise else 0
    for i in range(n):
        if codes[i] == STOP_CODE:
            continue
        tile = code_tile(codes[i])
        rank = planned_rank(s, tile, &wishes, kind_of_move(s, plan, codes[i]))
        if noise:
            rank += rank_noise(chance, tile, noise)
        if rank > best_rank or rank == best_rank and tile < best_tile:
            best_rank = rank
            best_tile = tile
            best = i
    return best


# Keeps the mover's plan in step with the move that it makes.
cdef inline void follow(const State *s, Plan *plan, u16 code) noexcept nogil:
    if code == STOP_CODE or code_train(code) != s.turn or plan.next == plan.size:
        return
    if code_tile(code) == plan.tiles[plan.next]:
        plan_step(plan)
