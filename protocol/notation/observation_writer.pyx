"""What an observation holds, as the lines of the protocol. Compiled, as a referee writes them before each move."""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from caboose.engine.rules.tile_sets cimport HIGH, LOW, MEXICAN_TRAIN, VALUES, WORDS, lowest, u8, u16, u32, u64
from caboose.engine.rules.round cimport Observation
from caboose.engine.rules.state cimport (
    EV_DRAW,
    EV_PLAY,
    MAX_MOVES,
    NO_TILE,
    STOP_CODE,
    TRAINS,
    State,
    code_tile,
    code_train,
    code_value,
    legal_moves,
)

# The most bytes of each thing, its blank included.
cdef enum:
    WORD_ROOM = 16       # a move, an event, a tile
    NUMBER_ROOM = 22
    LINE_ROOM = 64       # the words that a line has besides its lists

cdef u8 *KINDS[6]
KINDS[:] = [b"hub", b"draw", b"play", b"stop", b"mark", b"pass"]

cdef object _rules = None  # the rules of the last observation, and their line: those of a whole game are one object
cdef bytes _rules_line = b""


def observation_bytes(Observation observation not None):
    """The lines of ``docs/reference/protocol.md`` that say what ``observation`` holds, each with a line feed.

    ``legal`` is among them when the observer is to move.
    """
    cdef bytes rules = line_of_rules(observation.rules)
    cdef tuple past = observation.past_scores
    cdef State *s = &observation.state
    cdef u16 codes[MAX_MOVES]
    cdef int n = legal_moves(s, codes) if not s.over and s.turn == observation.seat else -1
    cdef size_t room = (
        len(rules)
        + (len(past) + TRAINS + 10) * LINE_ROOM
        + len(past) * s.rules.players * NUMBER_ROOM
        + (observation.log.size + 64 * WORDS + max(n, 0)) * WORD_ROOM
        + (s.duplicates + (TRAINS + 1) * VALUES) * WORD_ROOM
    )
    cdef char *begin = <char*>malloc(room)
    cdef char *p = begin
    if begin == NULL:
        raise MemoryError
    try:
        p = text(p, b"observation\n")
        memcpy(p, <const char*>rules, len(rules))
        p += len(rules)
        p = number(text(p, b"seat "), observation.seat + 1)
        p = number(text(p, b"\nround "), len(past) + 1)
        p = number(text(p, b" hub "), s.rules.hub)
        p = number(text(p, b" starter "), observation.starter + 1)
        for row in past:
            p = text(p, b"\nscores")
            for score in <tuple>row:
                p = number(text(p, b" "), score)
        p = history(text(p, b"\nevents"), observation.log.events, observation.log.size)
        p = table(p, s, observation.seat, observation.log.events, observation.log.size)
        if n >= 0:
            p = moves(text(p, b"legal"), codes, n)
        return begin[: p - begin]
    finally:
        free(begin)


cdef bytes line_of_rules(object rules):
    global _rules, _rules_line
    if rules is not _rules:
        _rules_line = f"rules {rules}\n".encode("ascii")
        _rules = rules
    return _rules_line


# ---- what lines are made of: each writes at `p` and returns the place behind ------------------------------------

cdef inline char *text(char *p, const char *words) noexcept nogil:
    while words[0]:
        p[0] = words[0]
        p += 1
        words += 1
    return p


cdef inline char *number(char *p, u64 value) noexcept nogil:
    cdef char digits[20]
    cdef int n = 0
    if value < 10:
        p[0] = <char>(48 + value)
        return p + 1
    while value:
        digits[n] = <char>(48 + value % 10)
        value //= 10
        n += 1
    while n:
        n -= 1
        p[0] = digits[n]
        p += 1
    return p


cdef inline char *pips(char *p, int one, int other) noexcept nogil:
    return number(text(number(p, one), b"-"), other)


cdef inline char *train_name(char *p, int train) noexcept nogil:
    return text(p, b"M") if train == MEXICAN_TRAIN else number(p, train + 1)


cdef inline char *move(char *p, u16 code) noexcept nogil:
    cdef int tile = code_tile(code)
    cdef int value = code_value(code)
    p = pips(p, value, LOW[tile] + HIGH[tile] - value)
    return train_name(text(p, b"@"), code_train(code))


# ---- lines -----------------------------------------------------------------------------------------------------

cdef char *moves(char *p, const u16 *codes, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        p = text(p, b" ")
        p = text(p, b"stop") if codes[i] == STOP_CODE else move(p, codes[i])
    return text(p, b"\n")


cdef char *history(char *p, const u32 *events, int n) noexcept nogil:
    cdef int i, kind, argument
    for i in range(n):
        kind = events[i] >> 24
        argument = events[i] & 0xFFFF
        p = text(number(text(p, b" "), ((events[i] >> 16) & 255) + 1), b":")
        if kind == EV_PLAY:
            p = move(p, <u16>argument)
            continue
        p = text(p, <const char*>KINDS[kind])
        if kind == EV_DRAW and argument != NO_TILE:
            p = pips(text(p, b"="), LOW[argument], HIGH[argument])
    return text(p, b"\n")


cdef char *table(char *p, const State *s, int seat, const u32 *events, int n) noexcept nogil:
    cdef int built[TRAINS]
    cdef int i, train, word, tile
    cdef u64 rest
    p = text(p, b"hand")
    for word in range(WORDS):
        rest = s.hand[seat][word]
        while rest:
            tile = word << 6 | lowest(rest)
            p = pips(text(p, b" "), LOW[tile], HIGH[tile])
            rest &= rest - 1
    p = text(p, b"\nhands")
    for i in range(s.rules.players):
        p = number(text(p, b" "), s.count[i])
    p = number(text(p, b"\nboneyard "), s.bone_end - s.bone_next)
    for train in range(TRAINS):
        built[train] = 0
    for i in range(n):
        if events[i] >> 24 == EV_PLAY:
            built[code_train(<u16>(events[i] & 0xFFFF))] += 1
    for train in range(TRAINS):
        if train < s.rules.players or train == MEXICAN_TRAIN:
            p = number(text(train_name(text(p, b"\ntrain "), train), b" tiles "), built[train])
            p = text(p, b" marker yes ends" if s.markers >> train & 1 else b" marker no ends")
            p = ends(p, s, train)
    p = text(p, b"\ndoubles")
    for i in range(s.queue_size):
        p = number(text(train_name(text(p, b" "), s.queue_train[i]), b":"), s.queue_value[i])
        p = number(text(p, b":"), s.queue_need[i])
    return text(p, b"\n")


# The pips open on a train, ascending; one may be there more than once.
cdef inline char *ends(char *p, const State *s, int train) noexcept nogil:
    cdef int value, i
    for value in range(VALUES):
        if s.ends[train] >> value & 1:
            p = number(text(p, b" "), value)
            for i in range(s.duplicates):
                if s.duplicate_train[i] == train and s.duplicate_value[i] == value:
                    p = number(text(p, b" "), value)
    return p
