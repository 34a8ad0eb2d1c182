# What a seat may expect of a round that is under way: a small network looks at a world, so that a playout can be cut.
#
# Its inputs are what people would look at: pips and tiles in hands, how many of them have a place in the seat's train,
# markers, open doubles, the boneyard. Numbers of the others are means and extremes, so a network is for any seat, but
# for one number of players. `networks.py` has the weights and `train.py` makes them.

from caboose.engine.rules.tile_sets cimport (
    HIGH,
    LOW,
    MEXICAN_TRAIN,
    SEATS,
    WITH,
    WORDS,
    lowest,
    lowest32,
    popcount,
    u32,
    u64,
)
from caboose.engine.policy.playout cimport Plans
from caboose.engine.policy.policy cimport fit_plan
from caboose.engine.policy.plan cimport Plan
from caboose.engine.rules.state cimport State

cdef enum:
    INPUTS = 26
    HIDDEN = 16
    OUTPUTS = 2          # pips below the others' mean, chance to end with the fewest
    WEIGHTS = 518        # numbers in a network
    LOOK_NODES = 20      # tries for the trains of those whose plans are spoilt

# Linear in its inputs, and in `HIDDEN` units that are 0 below a threshold.
cdef struct Network:
    float hidden[HIDDEN][INPUTS]
    float threshold[HIDDEN]
    float direct[OUTPUTS][INPUTS]
    float units[OUTPUTS][HIDDEN]
    float offset[OUTPUTS]

# The hands, by seat: tiles and pips, of all and of those outside the plan.
cdef struct Hands:
    float tiles[SEATS]
    float pips[SEATS]
    float loose_tiles[SEATS]
    float loose_pips[SEATS]


cdef inline int pips_of(const u64 *tiles) noexcept nogil:
    cdef int word, tile
    cdef int total = 0
    cdef u64 rest
    for word in range(WORDS):
        rest = tiles[word]
        while rest:
            tile = word << 6 | lowest(rest)
            rest &= rest - 1
            total += LOW[tile] + HIGH[tile]
    return total


# Renews the plans that do not fit any more.
cdef inline void look(const State *s, Plans *plans, Hands *hands) noexcept nogil:
    cdef int seat
    cdef Plan *plan
    for seat in range(s.rules.players):
        plan = &plans.seats[seat]
        fit_plan(s, plan, seat, LOOK_NODES)
        hands.tiles[seat] = s.count[seat]
        hands.loose_tiles[seat] = s.count[seat] - (plan.size - plan.next)
        hands.pips[seat] = pips_of(&s.hand[seat][0])
        if s.hand[seat][0] & 1:
            hands.pips[seat] += s.rules.blank
        hands.loose_pips[seat] = hands.pips[seat] - pips_of(plan.mask)


# Turns until a seat is out, if half of its loose tiles cost one more.
cdef inline float turns_to_go(const Hands *hands, int seat) noexcept nogil:
    return hands.tiles[seat] + <float>0.5 * hands.loose_tiles[seat]


# How many turns come before that of `seat`.
cdef inline int turns_before(const State *s, int seat) noexcept nogil:
    return seat - s.turn if seat >= s.turn else seat - s.turn + s.rules.players


# Tiles of `seat` that fit a value.
cdef inline int fitting_value(const State *s, int seat, int value) noexcept nogil:
    cdef int word
    cdef int n = 0
    for word in range(WORDS):
        n += popcount(s.hand[seat][word] & WITH[value][word])
    return n


# Tiles of `seat` that fit the Mexican train or the marked train of another.
cdef inline int fitting_elsewhere(const State *s, int seat) noexcept nogil:
    cdef u32 trains = (s.markers | <u32>1 << MEXICAN_TRAIN) & ~(<u32>1 << seat)
    cdef u32 ends = 0
    cdef u64 tiles[WORDS]
    cdef int word, value
    cdef int n = 0
    for word in range(WORDS):
        tiles[word] = 0
    while trains:
        ends |= s.ends[lowest32(trains)]
        trains &= trains - 1
    while ends:
        value = lowest32(ends)
        ends &= ends - 1
        for word in range(WORDS):
            tiles[word] |= WITH[value][word]
    for word in range(WORDS):
        n += popcount(s.hand[seat][word] & tiles[word])
    return n


# What the network is told of the round from the view of `seat`: INPUTS numbers, in tiles, pips, turns and shares.
cdef inline void describe(const State *s, const Hands *hands, int seat, float *x) noexcept nogil:
    cdef int players = s.rules.players
    cdef float share = <float>1.0 / (players - 1)
    cdef float first = 1000          # turns to go of the other who will be out first, and of the second …
    cdef float second = 1000
    cdef float fewest = 1000         # … and the same for tiles
    cdef float next_fewest = 1000
    cdef float most_pips = 0
    cdef float turns
    cdef int i
    cdef int before = 0
    for i in range(6, 11):
        x[i] = 0
    for i in range(players):
        if i == seat:
            continue
        x[6] += hands.pips[i] * share
        x[7] += hands.tiles[i] * share
        x[8] += hands.loose_pips[i] * share
        x[9] += hands.loose_tiles[i] * share
        x[10] += (s.markers >> i & 1) * share
        turns = turns_to_go(hands, i)
        if turns < first:
            second = first
            first = turns
            before = turns_before(s, i)
        elif turns < second:
            second = turns
        if hands.tiles[i] < fewest:
            next_fewest = fewest
            fewest = hands.tiles[i]
        elif hands.tiles[i] < next_fewest:
            next_fewest = hands.tiles[i]
        if hands.pips[i] > most_pips:
            most_pips = hands.pips[i]
    turns = turns_to_go(hands, seat)
    x[0] = hands.pips[seat]
    x[1] = hands.tiles[seat]
    x[2] = hands.loose_pips[seat]
    x[3] = hands.loose_tiles[seat]
    x[4] = s.markers >> seat & 1
    x[5] = <float>turns_before(s, seat) / players
    x[11] = first
    x[12] = second if players > 2 else first
    x[13] = <float>before / players
    x[14] = fewest
    x[15] = next_fewest if players > 2 else fewest
    x[16] = most_pips
    x[17] = s.bone_end - s.bone_next
    x[18] = s.queue_size
    x[19] = fitting_value(s, seat, s.queue_value[0]) if s.queue_size else 0
    x[20] = fitting_value(s, seat, lowest32(s.ends[seat]))
    x[21] = fitting_elsewhere(s, seat)
    x[22] = hands.pips[seat] / (hands.tiles[seat] + 1)
    x[23] = max(turns - first, <float>0)
    x[24] = max(first - turns, <float>0)
    x[25] = <float>1.0 / (fewest + 1)


# `weights`: WEIGHTS numbers, in the order of the struct.
cdef inline int set_weights(Network *network, object weights) except -1:
    cdef float *numbers = &network.hidden[0][0]
    cdef int i
    for i in range(WEIGHTS):
        numbers[i] = weights[i]
    return 0


# OUTPUTS numbers.
cdef inline void think(const Network *network, const float *x, float *out) noexcept nogil:
    cdef float unit
    cdef int i, j
    for i in range(OUTPUTS):
        out[i] = network.offset[i]
        for j in range(INPUTS):
            out[i] += network.direct[i][j] * x[j]
    for j in range(HIDDEN):
        unit = network.threshold[j]
        for i in range(INPUTS):
            unit += network.hidden[j][i] * x[i]
        if unit > 0:
            for i in range(OUTPUTS):
                out[i] += network.units[i][j] * unit
