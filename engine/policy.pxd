# How the simple players choose: functions of the state that look at the mover's own hand and at what is public only.

from caboose.engine.bits cimport HIGH, LOW, WITH, WORDS, Rng, lowest32, popcount, rng_below, u16, u32
from caboose.engine.plan cimport Plan, make_plan, plan_step
from caboose.engine.state cimport STOP_CODE, State, code_tile, code_train, on_chain

cdef enum:
    NEARLY_OUT = 3       # tiles in a hand that make the others hurry


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


# Sees to it that `plan` fits the mover's own train and hand.
cdef inline void refresh_plan(const State *s, Plan *plan, int nodes) noexcept nogil:
    cdef int seat = s.turn
    cdef u32 ends = s.ends[seat]
    cdef int value = lowest32(ends)
    cdef bint fits = plan.next < plan.size and (ends >> plan.value) & 1
    if fits:
        fits = not (plan.mask[0] & ~s.hand[seat][0] | plan.mask[1] & ~s.hand[seat][1] | plan.mask[2] & ~s.hand[seat][2])
    if not fits:
        make_plan(plan, &s.hand[seat][0], value, nodes)


# Follows `plan`: what is not in it goes to other trains first, heavy tiles and doubles before light ones; then the
# plan's next tile; what would spoil the plan comes last. `noise` points of chance are added to each rank.
cdef inline int choose_planned(
    const State *s, const u16 *codes, int n, Plan *plan, int nodes, int noise, Rng *rng
) noexcept nogil:
    cdef int seat = s.turn
    cdef int best = 0
    cdef int best_rank = -1000000
    cdef int i, tile, train, word, pips, rank, answers
    cdef int fewest = 255
    cdef bint marked = (s.markers >> seat) & 1
    cdef bint hurry, planned, next_tile
    if n == 1:
        return 0
    refresh_plan(s, plan, nodes)
    for i in range(s.rules.players):
        if i != seat and s.count[i] < fewest:
            fewest = s.count[i]
    hurry = fewest <= NEARLY_OUT
    for i in range(n):
        if codes[i] == STOP_CODE:
            continue
        tile = code_tile(codes[i])
        train = code_train(codes[i])
        pips = LOW[tile] + HIGH[tile]
        planned = (plan.mask[tile >> 6] >> (tile & 63)) & 1
        next_tile = train == seat and plan.next < plan.size and plan.tiles[plan.next] == tile
        rank = pips
        if LOW[tile] == HIGH[tile]:
            # A double gives another tile at once, if there is one to play.
            answers = 0
            for word in range(WORDS):
                answers += popcount(s.hand[seat][word] & WITH[LOW[tile]][word])
            rank += 40 if answers > 1 or s.count[seat] == 1 else 5
            if tile == 0:
                rank += s.rules.blank
        if next_tile:
            rank += 10
            if marked:
                rank += 60
            if on_chain(s):
                rank += 1000
        elif planned:
            rank -= 10 if hurry else 60
        elif train == seat:
            rank -= 30 if plan.next < plan.size else 0
            if marked:
                rank += 10
        else:
            rank += 40
        if noise:
            rank += rng_below(rng, noise)
        if rank > best_rank:
            best_rank = rank
            best = i
    return best


# Keeps the mover's plan in step with the move that it makes.
cdef inline void follow(const State *s, Plan *plan, u16 code) noexcept nogil:
    if code == STOP_CODE or code_train(code) != s.turn or plan.next == plan.size:
        return
    if code_tile(code) == plan.tiles[plan.next]:
        plan_step(plan)
