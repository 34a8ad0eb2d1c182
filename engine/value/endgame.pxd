# The end of a round with an empty boneyard and every hand known, solved: each seat plays what is best for itself.
#
# Max^n (Luckhardt and Irani 1986): a seat takes the move with the greatest value for itself, which is the others' mean
# score less its own, and the bonus if nobody has fewer. Of moves of equal value it takes the one that leaves the next
# seat the most pips, then the one after that, and so on round the table: so the scores do not depend on the order in
# which moves are tried. With two seats what one wins the other loses, and the difference of the scores is all that
# counts: that is solved by alpha-beta.
#
# The game is short and without cycles, as a move takes a tile out of a hand and passes only add markers. Positions are
# kept in a table of the caller's, by a hash of all that can still matter; nothing is allocated.

from libc.string cimport memcpy

from caboose.engine.rules.tile_sets cimport SEATS, TRAINS, WORDS, Rng, lowest32, mix, rng_seed, u8, u16, u32, u64
from caboose.engine.policy.plan cimport Plan
from caboose.engine.policy.playout cimport play_code
from caboose.engine.policy.policy cimport Weights, choose_planned, set_default_weights
from caboose.engine.rules.state cimport (
    CHICKENFOOT,
    MAX_MOVES,
    RUNNING,
    State,
    forced_step,
    hand_score,
    legal_moves,
    on_chain,
    on_first_turn,
)

cdef enum:
    # what is known of the difference of two scores in an Entry; 0: the entry is empty
    EXACT = 1
    AT_LEAST = 2
    AT_MOST = 3
    FAR = 1 << 20        # more than any difference of scores
    ORDER_NODES = 20     # tries for the plan that says which move comes first

# A position that was solved. The table serves one round and one bonus.
cdef struct Entry:
    u64 key
    u16 move
    u8 known
    short scores[SEATS]  # of all seats at the end; of two seats the first number alone: their difference

cdef struct Solver:
    Entry *table         # zeroed by the caller before the first solve
    u64 mask             # entries less one; their number is a power of two
    double bonus         # the pips that winning the round is worth besides the score
    long budget          # positions that may be searched …
    long nodes           # … and those that were
    bint spent           # the budget did not do

# How a round ends for each seat.
cdef struct Outcome:
    double margin[SEATS]  # the others' mean score less the own
    bint won[SEATS]       # nobody has fewer pips
    u16 move              # the first move of the seat to move


# Whether `s` can be solved: every tile that is not on the table is in a hand.
cdef inline bint is_endgame(const State *s) noexcept nogil:
    return s.over == RUNNING and s.bone_next == s.bone_end


cdef inline u64 fold(u64 h, u64 x) noexcept nogil:
    return mix(h ^ x) + <u64>0x9E3779B97F4A7C15


# All that can still matter: hands, whose turn and what was done in it, markers, open doubles, and the open ends that
# some tile still fits. Two positions that differ in other things only go on alike.
cdef inline u64 position_key(const State *s) noexcept nogil:
    cdef u64 h = 0
    cdef u64 many = 0
    cdef u32 alive = 0
    cdef int i, word, value, words
    words = 1 if s.rules.top <= 9 else 2 if s.rules.top <= 12 else 3
    for value in range(s.rules.top + 1):
        if s.left[value]:
            alive |= <u32>1 << value
    for i in range(s.rules.players):
        for word in range(words):
            h = fold(h, s.hand[i][word])
        h = fold(h, s.ends[i] & alive)
    h = fold(h, s.ends[TRAINS - 1] & alive)
    h = fold(h, <u64>s.markers << 32 | s.first_done)
    h = fold(
        h,
        s.turn
        | <u64>s.passes << 8
        | <u64>(s.doubles if s.doubles < 2 else 2) << 16
        | <u64>(s.played > 0 and on_chain(s)) << 24
        | <u64>s.someone_out << 25
        | <u64>s.drew << 26
        | <u64>s.drawn << 32
        | <u64>s.queue_size << 40,
    )
    for i in range(s.queue_size):
        h = fold(h, s.queue_train[i] | <u64>s.queue_value[i] << 8 | <u64>s.queue_need[i] << 16)
    if s.rules.answer == CHICKENFOOT:
        for i in range(s.duplicates):
            if alive >> s.duplicate_value[i] & 1:
                many += mix(<u64>s.duplicate_train[i] << 8 | s.duplicate_value[i])
        h = fold(h, many)
    return h


# Takes every step that is none of choice. Returns how many moves there are to choose from: 0 when the round is over.
cdef inline int to_choice(State *s, u16 *codes) noexcept nogil:
    cdef int n
    while s.over == RUNNING:
        n = legal_moves(s, codes)
        if n == 0:
            forced_step(s, NULL)
        elif n == 1:
            play_code(s, codes[0])
        else:
            return n
    return 0


# The mover's last tile ends the round whatever it plays.
cdef inline bint goes_out(const State *s) noexcept nogil:
    return s.count[s.turn] == 1 and not (s.rules.finish_all and on_first_turn(s))


# The position after a move from `s`, before the steps that are none of choice. What no boneyard holds is not copied.
cdef inline void copy_and_play(State *after, const State *s, u16 code) noexcept nogil:
    memcpy(after, s, <const u8 *>&s.bone[0] - <const u8 *>s)
    play_code(after, code)


cdef inline void put_first(u16 *codes, int n, u16 code) noexcept nogil:
    cdef int i
    for i in range(n):
        if codes[i] == code:
            codes[i] = codes[0]
            codes[0] = code
            return


# What the planner would play comes first.
cdef inline void order_moves(const State *s, u16 *codes, int n) noexcept nogil:
    cdef Plan plan
    cdef Weights weights
    cdef Rng rng
    plan.size = plan.next = 0
    set_default_weights(&weights)
    rng_seed(&rng, 0)
    put_first(codes, n, codes[choose_planned(s, codes, n, &plan, ORDER_NODES, 0, &weights, &rng)])


# ---- two seats -------------------------------------------------------------------------------------------------

# The second seat's score less the first's: exact when it lies between `low` and `high`, else a bound beyond them.
# Takes the steps of `s` that are none of choice. The result means nothing once the budget is spent.
cdef inline int solve_two(Solver *z, State *s, int low, int high, u16 *move) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef u16 ignored
    cdef State after
    cdef Entry *entry
    cdef u64 key
    cdef int n, i, found, best, first, second
    cdef int start_low = low
    cdef int start_high = high
    cdef bint first_moves
    n = to_choice(s, codes)
    first = hand_score(s, 0)
    second = hand_score(s, 1)
    if n == 0:
        return second - first
    first_moves = s.turn == 0
    move[0] = codes[0]
    if goes_out(s):
        return second if first_moves else -first
    # Hands only get lighter.
    if second <= low:
        return second
    if -first >= high:
        return -first
    key = position_key(s)
    entry = &z.table[key & z.mask]
    if entry.known and entry.key == key:
        move[0] = entry.move
        found = entry.scores[0]
        if (
            entry.known == EXACT
            or entry.known == AT_LEAST
            and found >= high
            or entry.known == AT_MOST
            and found <= low
        ):
            return found
        put_first(codes, n, entry.move)
    else:
        order_moves(s, codes, n)
    if z.nodes >= z.budget:
        z.spent = True
        return 0
    z.nodes += 1
    best = -FAR if first_moves else FAR
    for i in range(n):
        copy_and_play(&after, s, codes[i])
        found = solve_two(z, &after, low, high, &ignored)
        if z.spent:
            return 0
        if found > best if first_moves else found < best:
            best = found
            move[0] = codes[i]
            if first_moves:
                low = best if best > low else low
            else:
                high = best if best < high else high
            if low >= high:
                break
    entry.key = key
    entry.move = move[0]
    entry.known = AT_MOST if best <= start_low else AT_LEAST if best >= start_high else EXACT
    entry.scores[0] = best
    return best


# ---- more seats ------------------------------------------------------------------------------------------------

# The value of the scores for a seat, times the number of the others.
cdef inline double seat_value(const short *scores, int seats, int seat, double bonus) noexcept nogil:
    cdef int i
    cdef int total = 0
    cdef int least = scores[seat]
    for i in range(seats):
        total += scores[i]
        least = scores[i] if scores[i] < least else least
    return total - seats * scores[seat] + ((seats - 1) * bonus if scores[seat] == least else 0.0)


cdef inline void hand_scores(const State *s, short *scores) noexcept nogil:
    cdef int seat
    for seat in range(s.rules.players):
        scores[seat] = hand_score(s, seat)


# Whether `a` is left to the seats after `seat` rather than `b`, which is worth the same to it.
cdef inline bint is_harder(const short *a, const short *b, int seats, int seat) noexcept nogil:
    cdef int _
    for _ in range(seats):
        seat = seat + 1 if seat + 1 < seats else 0
        if a[seat] != b[seat]:
            return a[seat] > b[seat]
    return False


# The scores at the end. Takes the steps of `s` that are none of choice. The result means nothing once the budget is
# spent.
cdef inline void solve_many(Solver *z, State *s, short *scores, u16 *move) noexcept nogil:
    cdef u16 codes[MAX_MOVES]
    cdef short found[SEATS]
    cdef u16 ignored
    cdef State after
    cdef Entry *entry
    cdef u64 key
    cdef double value, best, most
    cdef int seats = s.rules.players
    cdef int n, i, seat
    n = to_choice(s, codes)
    if n == 0:
        hand_scores(s, scores)
        return
    seat = s.turn
    move[0] = codes[0]
    if goes_out(s):
        hand_scores(s, scores)
        scores[seat] = 0
        return
    key = position_key(s)
    entry = &z.table[key & z.mask]
    if entry.known and entry.key == key:
        move[0] = entry.move
        memcpy(scores, entry.scores, seats * sizeof(short))
        return
    if z.nodes >= z.budget:
        z.spent = True
        return
    z.nodes += 1
    # Hands only get lighter: there is nothing better than to go out before anybody has played another tile.
    hand_scores(s, found)
    found[seat] = 0
    most = seat_value(found, seats, seat, z.bonus)
    best = -1e300
    for i in range(n):
        copy_and_play(&after, s, codes[i])
        solve_many(z, &after, found, &ignored)
        if z.spent:
            return
        value = seat_value(found, seats, seat, z.bonus)
        if value > best or value == best and is_harder(found, scores, seats, seat):
            best = value
            move[0] = codes[i]
            memcpy(scores, found, seats * sizeof(short))
            if best >= most:
                break
    entry.key = key
    entry.move = move[0]
    entry.known = EXACT
    memcpy(entry.scores, scores, seats * sizeof(short))


# ---- both ------------------------------------------------------------------------------------------------------

# Solves `s`, which may be over, within `budget` positions. Returns whether that was enough.
cdef inline bint solve_state(Solver *z, const State *s, long budget, Outcome *out) noexcept nogil:
    cdef State position = s[0]
    cdef short scores[SEATS]
    cdef int seats = s.rules.players
    cdef int i, difference, total, least
    z.budget = budget
    z.nodes = 0
    z.spent = False
    out.move = 0
    if seats == 2:
        difference = solve_two(z, &position, -FAR, FAR, &out.move)
        out.margin[0] = difference
        out.margin[1] = -difference
        out.won[0] = difference >= 0
        out.won[1] = difference <= 0
        return not z.spent
    solve_many(z, &position, scores, &out.move)
    total = 0
    least = FAR
    for i in range(seats):
        total += scores[i]
        least = scores[i] if scores[i] < least else least
    for i in range(seats):
        out.margin[i] = <double>(total - scores[i]) / (seats - 1) - scores[i]
        out.won[i] = scores[i] == least
    return not z.spent
