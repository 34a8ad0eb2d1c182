# One round as a flat struct, and the rules as functions on it. Section numbers are those of docs/reference/rules.md.
#
# Nothing here allocates, touches a Python object or raises. A State is copied with memcpy (struct assignment).
# Trains 0 to 13 belong to the seats of the same number; train 14 is the Mexican train, whatever the number of players.

from libc.string cimport memcpy, memset

from caboose.engine.rules.tile_sets cimport (
    DOUBLES,
    HIGH,
    LOW,
    MEXICAN_TRAIN,
    SEATS,
    TILE_COUNT,
    TRAINS,
    VALUES,
    WITH,
    WORDS,
    lowest,
    lowest32,
    u8,
    u16,
    u32,
    u64,
)

cdef enum:
    # double_answer
    ANYWHERE = 0
    OWN = 1
    CHICKENFOOT = 2
    # State.over
    RUNNING = 0
    OUT = 1
    BLOCKED = 2
    # kinds of events
    EV_HUB = 0
    EV_DRAW = 1
    EV_PLAY = 2
    EV_STOP = 3
    EV_MARK = 4
    EV_PASS = 5
    # where the mover may play: see `placing`
    AT_PLACE = 0
    AT_USABLE = 1
    AT_USABLE_DOUBLES = 2
    # a move is tile << 5 | train << 1 | side; side 1: the higher end touches the train
    STOP_CODE = 8191
    NO_TILE = 255
    MAX_TARGETS = 64
    MAX_MOVES = 1024
    MAX_DUPLICATES = 40

# The rules, compiled from `Rules`: numbers and flags.
cdef struct Header:
    u8 players
    u8 top               # the highest pips of the set
    u8 hub
    u8 blank             # what 0-0 counts
    u8 chain             # first_turn=chain
    u8 first_draw        # first_turn_draw=yes
    u8 finish_all        # first_turn_finish=all
    u8 first_own         # first_turn_places=own
    u8 answer            # double_answer
    u8 newest_first      # doubles_order=lifo
    u8 extra_first       # extra_after_doubles=first
    u8 hold              # dead_double=hold

cdef struct State:
    Header rules
    u8 turn              # the seat to move
    u8 over
    u8 passes            # passes in a row on an unchanged table (§4)
    u8 someone_out       # a seat went out on its first turn and the others still have theirs
    u8 doubles           # doubles played in this turn
    u8 played            # tiles played in this turn
    u8 drew              # a tile was drawn since the last play of this turn …
    u8 drawn             # … and this is it: nothing else can be played now (§1); NO_TILE when it is hidden
    u8 bone_next         # boneyard: the next tile is bone[bone_next] …
    u8 bone_end          # … and this is one past the last
    u8 queue_size        # open doubles, oldest first
    u8 duplicates        # ends that their train has more than once (chickenfoot only)
    u32 markers          # bit per seat
    u32 first_done       # bit per seat that had its first turn
    u32 started          # bit per train with a tile on it
    u32 ends[TRAINS]     # bit per value that is open on the train
    u64 hand[SEATS][WORDS]
    u64 table[WORDS]     # the tiles that lie face up
    u8 count[SEATS]      # tiles in each hand
    u8 left[VALUES]      # tiles of each value that do not lie on the table
    u8 queue_train[VALUES]
    u8 queue_value[VALUES]
    u8 queue_need[VALUES]
    u8 duplicate_train[MAX_DUPLICATES]
    u8 duplicate_value[MAX_DUPLICATES]
    u8 bone[TILE_COUNT]

# Where events go: the owner sees to it that there is room. NULL where nobody listens.
cdef struct Log:
    u32 *events          # kind << 24 | seat << 16 | move code or tile
    int size
    int room

# A place to play: an end of a train, and which tiles may go there.
cdef struct Target:
    u8 train
    u8 value
    u8 doubles           # 0: any tile, 1: doubles only, 2: no doubles


cdef inline void note(Log *log, int kind, int seat, int argument) noexcept nogil:
    if log != NULL:
        log.events[log.size] = (<u32>kind << 24) | (<u32>seat << 16) | <u32>argument
        log.size += 1


cdef inline u16 move_code(int tile, int train, int value) noexcept nogil:
    return <u16>(tile << 5 | train << 1 | (value == HIGH[tile] and LOW[tile] != HIGH[tile]))


cdef inline int code_tile(u16 code) noexcept nogil:
    return code >> 5


cdef inline int code_train(u16 code) noexcept nogil:
    return (code >> 1) & 15


cdef inline int code_value(u16 code) noexcept nogil:
    return HIGH[code >> 5] if code & 1 else LOW[code >> 5]


cdef inline bint holds(const State *s, int seat, int tile) noexcept nogil:
    return (s.hand[seat][tile >> 6] >> (tile & 63)) & 1


cdef inline void hand_add(State *s, int seat, int tile) noexcept nogil:
    s.hand[seat][tile >> 6] |= <u64>1 << (tile & 63)


cdef inline void hand_remove(State *s, int seat, int tile) noexcept nogil:
    s.hand[seat][tile >> 6] &= ~(<u64>1 << (tile & 63))


# ---- the start -------------------------------------------------------------------------------------------------

# An empty table before the deal: the hub's value is open on every train, the hub itself not yet counted as laid.
cdef inline void clear(State *s, const Header *rules) noexcept nogil:
    cdef int i
    memset(s, 0, sizeof(State))
    s.rules = rules[0]
    for i in range(TRAINS):
        s.ends[i] = <u32>1 << rules.hub
    for i in range(rules.top + 1):
        s.left[i] = rules.top + 1


cdef inline void lay_hub(State *s) noexcept nogil:
    cdef int tile = rules_hub_tile(&s.rules)
    s.table[tile >> 6] |= <u64>1 << (tile & 63)
    s.left[s.rules.hub] -= 1


cdef inline int rules_hub_tile(const Header *rules) noexcept nogil:
    return rules.hub * (rules.hub + 3) // 2


# ---- what may be played ----------------------------------------------------------------------------------------

cdef inline bint on_first_turn(const State *s) noexcept nogil:
    return not (s.first_done >> s.turn) & 1


cdef inline bint on_chain(const State *s) noexcept nogil:
    return s.rules.chain and on_first_turn(s)


# Open doubles left by earlier turns bind; the doubles of the running turn do not (§3).
cdef inline bint is_bound(const State *s) noexcept nogil:
    return s.queue_size > 0 and s.doubles == 0


# The trains that the mover may use when nothing binds, a bit each (§1, §6 first_turn_places).
cdef inline u32 usable_trains(const State *s) noexcept nogil:
    cdef u32 own = <u32>1 << s.turn
    if s.rules.first_own and on_first_turn(s):
        return own
    return own | s.markers | <u32>1 << MEXICAN_TRAIN


# The open double that comes first by doubles_order, as an index of the queue.
cdef inline int first_double(const State *s) noexcept nogil:
    return s.queue_size - 1 if s.rules.newest_first else 0


# Where the mover may play (§3): at one open double only (AT_PLACE), anywhere on the usable trains (AT_USABLE), or
# doubles on the usable trains and other tiles on one open double (AT_USABLE_DOUBLES). `place` is that double's index.
cdef inline int placing(const State *s, int *place) noexcept nogil:
    cdef bint many
    if s.queue_size == 0:
        return AT_USABLE
    place[0] = first_double(s)
    if s.doubles == 0:
        return AT_PLACE
    many = s.rules.extra_first and s.doubles >= 2
    if s.rules.answer == ANYWHERE:
        return AT_USABLE_DOUBLES if many else AT_USABLE
    if s.rules.answer == CHICKENFOOT or not s.drew:
        return AT_PLACE
    return AT_USABLE_DOUBLES if many else AT_USABLE


# All ends where the mover may play, by train, then by value. Returns how many; `out` has room for MAX_TARGETS.
cdef inline int targets(const State *s, Target *out) noexcept nogil:
    cdef int place = 0
    cdef int mode = placing(s, &place)
    cdef int n = 0
    cdef int train, value
    cdef u32 trains, ends
    if mode == AT_PLACE:
        out[0].train = s.queue_train[place]
        out[0].value = s.queue_value[place]
        out[0].doubles = 0
        return 1
    trains = usable_trains(s)
    while trains:
        train = lowest32(trains)
        trains &= trains - 1
        ends = s.ends[train]
        while ends:
            value = lowest32(ends)
            ends &= ends - 1
            out[n].train = train
            out[n].value = value
            out[n].doubles = 0
            if mode == AT_USABLE_DOUBLES:
                out[n].doubles = 2 if train == s.queue_train[place] and value == s.queue_value[place] else 1
            n += 1
    return n


# The tiles that the mover may think of: the hand, or after a draw the drawn tile alone. With rules under which the
# places open after a draw are those open before, that makes no difference; under double_answer=own it does.
cdef inline void considered(const State *s, u64 *tiles) noexcept nogil:
    memcpy(tiles, s.hand[s.turn], sizeof(s.hand[0]))
    if s.drew and s.rules.answer == OWN:
        memset(tiles, 0, sizeof(s.hand[0]))
        if s.drawn != NO_TILE:
            tiles[s.drawn >> 6] = <u64>1 << (s.drawn & 63)


# Those of `tiles` that fit a target, one word of the set.
cdef inline u64 fitting(const u64 *hand, const Target *target, int word) noexcept nogil:
    cdef u64 tiles = hand[word] & WITH[target.value][word]
    if target.doubles == 1:
        tiles &= DOUBLES[word]
    elif target.doubles == 2:
        tiles &= ~DOUBLES[word]
    return tiles


cdef inline bint can_play(const State *s) noexcept nogil:
    cdef Target list[MAX_TARGETS]
    cdef int n = targets(s, list)
    cdef u64 hand[WORDS]
    cdef int i
    considered(s, hand)
    for i in range(n):
        if fitting(hand, &list[i], 0) | fitting(hand, &list[i], 1) | fitting(hand, &list[i], 2):
            return True
    return False


cdef inline bint may_stop(const State *s) noexcept nogil:
    return s.rules.chain and s.played > 0 and on_first_turn(s)


# The mover's legal moves by train, end and tile, `stop` last. Returns how many; `out` has room for MAX_MOVES.
cdef inline int legal_moves(const State *s, u16 *out) noexcept nogil:
    cdef Target list[MAX_TARGETS]
    cdef int n_targets = targets(s, list)
    cdef int n = 0
    cdef int i, word
    cdef u64 tiles
    cdef u64 hand[WORDS]
    considered(s, hand)
    for i in range(n_targets):
        for word in range(WORDS):
            tiles = fitting(hand, &list[i], word)
            while tiles:
                out[n] = move_code(word << 6 | lowest(tiles), list[i].train, list[i].value)
                n += 1
                tiles &= tiles - 1
    if may_stop(s):
        out[n] = STOP_CODE
        n += 1
    return n


# ---- what happens ----------------------------------------------------------------------------------------------

cdef inline void remove_end(State *s, int train, int value) noexcept nogil:
    cdef int i
    for i in range(s.duplicates):
        if s.duplicate_train[i] == train and s.duplicate_value[i] == value:
            s.duplicates -= 1
            s.duplicate_train[i] = s.duplicate_train[s.duplicates]
            s.duplicate_value[i] = s.duplicate_value[s.duplicates]
            return
    s.ends[train] &= ~(<u32>1 << value)


cdef inline void add_end(State *s, int train, int value) noexcept nogil:
    if (s.ends[train] >> value) & 1:
        s.duplicate_train[s.duplicates] = train
        s.duplicate_value[s.duplicates] = value
        s.duplicates += 1
    else:
        s.ends[train] |= <u32>1 << value


cdef inline void close_double(State *s, int index) noexcept nogil:
    cdef int i
    s.queue_size -= 1
    for i in range(index, s.queue_size):
        s.queue_train[i] = s.queue_train[i + 1]
        s.queue_value[i] = s.queue_value[i + 1]
        s.queue_need[i] = s.queue_need[i + 1]


# Open doubles whose other tiles all lie on the table bind nobody any more (§3).
cdef inline void release_dead(State *s) noexcept nogil:
    cdef int i = 0
    while i < s.queue_size:
        if s.left[s.queue_value[i]] == 0:
            close_double(s, i)
        else:
            i += 1


# Which open double the end `value` of `train` is, or -1.
cdef inline int double_at(const State *s, int train, int value) noexcept nogil:
    cdef int i
    for i in range(s.queue_size):
        if s.queue_train[i] == train and s.queue_value[i] == value:
            return i
    return -1


# The trains after a tile was laid on `value` of `train` and left `opened` open.
cdef inline void extend(State *s, int train, int value, int opened) noexcept nogil:
    cdef int index = -1
    if s.queue_size:
        index = double_at(s, train, value)
    if s.rules.answer != CHICKENFOOT:
        s.ends[train] = <u32>1 << opened
        if index >= 0:
            close_double(s, index)
    elif index < 0:
        remove_end(s, train, value)
        add_end(s, train, opened)
    else:
        add_end(s, train, opened)
        s.queue_need[index] -= 1
        if s.queue_need[index] == 0:
            remove_end(s, train, value)
            close_double(s, index)


cdef inline void end_turn(State *s) noexcept nogil:
    s.first_done |= <u32>1 << s.turn
    s.doubles = 0
    s.played = 0
    s.drew = 0
    s.drawn = 0
    s.turn = s.turn + 1 if s.turn + 1 < s.rules.players else 0
    if s.someone_out and s.first_done == (<u32>1 << s.rules.players) - 1:
        s.over = OUT


# The mover lays a tile; where it may go is not checked here. The turn ends, or goes on after a double or in a chain.
cdef inline void lay_tile(State *s, int tile, int train, int value, Log *log) noexcept nogil:
    cdef int opened = LOW[tile] + HIGH[tile] - value
    cdef int seat = s.turn
    cdef bint chain = on_chain(s)
    if log != NULL:
        note(log, EV_PLAY, seat, move_code(tile, train, value))
    hand_remove(s, seat, tile)
    s.count[seat] -= 1
    s.table[tile >> 6] |= <u64>1 << (tile & 63)
    s.left[value] -= 1
    if opened != value:
        s.left[opened] -= 1
    s.started |= <u32>1 << train
    if train == seat:
        s.markers &= ~(<u32>1 << seat)
    s.passes = 0
    s.played += 1
    s.drew = 0
    s.drawn = 0
    extend(s, train, value, opened)
    if opened == value and not chain:
        s.doubles += 1
        s.queue_train[s.queue_size] = train
        s.queue_value[s.queue_size] = value
        s.queue_need[s.queue_size] = 3 if s.rules.answer == CHICKENFOOT else 1
        s.queue_size += 1
    if s.queue_size and not s.rules.hold:
        release_dead(s)
    if s.count[seat] == 0:
        if s.rules.finish_all and on_first_turn(s):
            s.someone_out = 1
            end_turn(s)
        else:
            s.over = OUT
    elif not chain and opened != value:
        end_turn(s)


cdef inline void play_tile(State *s, u16 code, Log *log) noexcept nogil:
    lay_tile(s, code_tile(code), code_train(code), code_value(code), log)


cdef inline void stop_chain(State *s, Log *log) noexcept nogil:
    note(log, EV_STOP, s.turn, 0)
    end_turn(s)


# Who has nothing to start with on the first turn draws only if first_turn_draw says so (§2).
cdef inline bint may_draw(const State *s) noexcept nogil:
    if s.drew or s.bone_next == s.bone_end:
        return False
    return s.rules.first_draw or s.played > 0 or not on_first_turn(s)


cdef inline void draw_tile(State *s, Log *log) noexcept nogil:
    cdef int tile = s.bone[s.bone_next]
    s.bone_next += 1
    s.drew = 1
    s.drawn = tile
    hand_add(s, s.turn, tile)
    s.count[s.turn] += 1
    note(log, EV_DRAW, s.turn, tile)


# The mover cannot play: marker, turn over, and perhaps the round (§4).
cdef inline void pass_turn(State *s, Log *log) noexcept nogil:
    cdef u32 bit = <u32>1 << s.turn
    if s.rules.first_own and on_first_turn(s) and not is_bound(s):
        s.passes = 0
    elif s.markers & bit:
        s.passes += 1
    else:
        s.passes = 1
    note(log, EV_PASS if s.markers & bit else EV_MARK, s.turn, 0)
    s.markers |= bit
    end_turn(s)
    if not s.over and s.bone_next == s.bone_end and s.passes >= s.rules.players:
        s.over = BLOCKED


# What happens to a mover who can play nothing.
cdef inline void forced_step(State *s, Log *log) noexcept nogil:
    if may_stop(s):
        stop_chain(s, log)
    elif may_draw(s):
        draw_tile(s, log)
    else:
        pass_turn(s, log)


# Every forced step, until the mover has a choice or the round is over.
cdef inline void advance(State *s, Log *log) noexcept nogil:
    while s.over == RUNNING and not can_play(s):
        forced_step(s, log)


# A legal move and the forced steps after it.
cdef inline void apply_move(State *s, u16 code, Log *log) noexcept nogil:
    if code == STOP_CODE:
        stop_chain(s, log)
    else:
        play_tile(s, code, log)
    advance(s, log)


# ---- scoring ---------------------------------------------------------------------------------------------------

cdef inline int hand_score(const State *s, int seat) noexcept nogil:
    cdef int total = 0
    cdef int word, tile
    cdef u64 tiles
    for word in range(WORDS):
        tiles = s.hand[seat][word]
        while tiles:
            tile = word << 6 | lowest(tiles)
            tiles &= tiles - 1
            total += LOW[tile] + HIGH[tile]
    if s.hand[seat][0] & 1:
        total += s.rules.blank
    return total
