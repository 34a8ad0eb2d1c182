# What the public events prove about hands that one does not see.
#
# The tiles that came into a hand together are a *cohort*: the hand as it was dealt, and each single draw. A draw or a
# pass proves that no tile of the hand fitted any place that was legal then; so each cohort knows the tiles that it
# cannot have held since. A tile played right after a draw is the drawn one, and its cohort is gone. Any other played
# tile came from a cohort that was there and did not exclude it; which one may be hidden.

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport SEATS, TILE_COUNT, WORDS, lowest, popcount, u8, u32, u64
from caboose.engine.rules.state cimport (
    EV_DRAW,
    EV_HUB,
    EV_PLAY,
    EV_STOP,
    MAX_TARGETS,
    Header,
    State,
    Target,
    clear,
    code_tile,
    fitting,
    lay_hub,
    pass_turn,
    play_tile,
    stop_chain,
    targets,
)

cdef enum:
    MAX_COHORTS = SEATS + TILE_COUNT
    DEALT = 255          # the `draw` of a cohort that was dealt
    NO_COHORT = 255

cdef struct Evidence:
    int cohorts
    u8 seat[MAX_COHORTS]
    u8 draw[MAX_COHORTS]                 # the place in the boneyard from which it was drawn, or DEALT
    u8 places[MAX_COHORTS]               # its tiles that are not known
    u64 excluded[MAX_COHORTS][WORDS]     # tiles that it cannot have now
    u64 shown[MAX_COHORTS][WORDS]        # tiles played from the hand that may have come from it
    u64 hidden[WORDS]                    # tiles that are in a hand or in the boneyard
    u64 unsure[WORDS]                    # played tiles of which the cohort is not known
    u8 origin[TILE_COUNT]                # of other played tiles the cohort; NO_COHORT for those drawn just before
    int boneyard                         # places left there
    int mover                            # the seat that must have a tile that can be played now, or -1
    u64 playable[WORDS]                  # and these are such tiles
    u64 shown_held[WORDS]                # tiles that are shown to be in a hand, for measuring
    bint drew                            # it is the tile of its newest cohort


cdef inline bint in_set(const u64 *tiles, int tile) noexcept nogil:
    return tiles[tile >> 6] >> (tile & 63) & 1


cdef inline void into_set(u64 *tiles, int tile) noexcept nogil:
    tiles[tile >> 6] |= <u64>1 << (tile & 63)


cdef inline int set_size(const u64 *tiles) noexcept nogil:
    return popcount(tiles[0]) + popcount(tiles[1]) + popcount(tiles[2])


# All tiles that fit a place open to the mover, whoever has them.
cdef inline void fitting_now(const State *s, u64 *out) noexcept nogil:
    cdef Target list[MAX_TARGETS]
    cdef int n = targets(s, list)
    cdef u64 every[WORDS]
    cdef int i, word
    for word in range(WORDS):
        every[word] = ~<u64>0
        out[word] = 0
    for i in range(n):
        for word in range(WORDS):
            out[word] |= fitting(every, &list[i], word)


# The cohorts of `seat` from number `first` on have no tile that fits now.
cdef inline void exclude_fitting(Evidence *e, const State *s, int seat, int first) noexcept nogil:
    cdef u64 tiles[WORDS]
    cdef int c, word
    fitting_now(s, tiles)
    for c in range(first, e.cohorts):
        if e.seat[c] == seat:
            for word in range(WORDS):
                e.excluded[c][word] |= tiles[word]


cdef inline void add_cohort(Evidence *e, int seat, int draw, int places) noexcept nogil:
    cdef int c = e.cohorts
    e.seat[c] = seat
    e.draw[c] = draw
    e.places[c] = places
    memset(e.excluded[c], 0, sizeof(e.excluded[c]))
    memset(e.shown[c], 0, sizeof(e.shown[c]))
    e.cohorts += 1


# `seat` shows a tile from its hand: it came from a cohort that does not exclude it.
cdef inline void show_tile(Evidence *e, int seat, int tile) noexcept nogil:
    cdef int c
    into_set(e.unsure, tile)
    for c in range(e.cohorts):
        if e.seat[c] == seat and not in_set(e.excluded[c], tile):
            into_set(e.shown[c], tile)


# Played tiles that can have come from one cohort only leave the riddle, and the cohort has one place less. That may
# decide others.
cdef inline void settle_shown(Evidence *e) noexcept nogil:
    cdef bint again = True
    cdef int word, tile, c, found, only
    cdef u64 tiles
    while again:
        again = False
        for word in range(WORDS):
            tiles = e.unsure[word]
            while tiles:
                tile = word << 6 | lowest(tiles)
                tiles &= tiles - 1
                found = 0
                only = 0
                for c in range(e.cohorts):
                    if e.places[c] and in_set(e.shown[c], tile):
                        found += 1
                        only = c
                if found == 1:
                    e.unsure[word] &= ~(<u64>1 << (tile & 63))
                    e.origin[tile] = only
                    e.places[only] -= 1
                    again = True


# The table before the first event: `hand` tiles were dealt to each seat. Returns whether the hub lies there; one that
# is dealt is laid down by an event.
cdef inline bint begin_events(
    State *s, const Header *rules, int hand, int starter, const u32 *events, int size
) noexcept nogil:
    cdef int i, seat
    cdef bint laid = True
    clear(s, rules)
    for i in range(size):
        if events[i] >> 24 == EV_HUB:
            laid = False
    for seat in range(rules.players):
        s.count[seat] = hand
    if laid:
        lay_hub(s)
        s.turn = starter
    # With a boneyard that never ends no pass ends the round, which goes on where the observation was made.
    s.bone_end = 255
    return laid


# What an event does to all that is public.
cdef inline void follow_event(State *s, u32 event, int starter, bint *laid) noexcept nogil:
    cdef int kind = event >> 24
    cdef int seat = (event >> 16) & 255
    if kind == EV_DRAW:
        s.drew = laid[0]
        s.count[seat] += 1
    elif kind == EV_HUB:
        s.count[seat] -= 1
        lay_hub(s)
        laid[0] = True
        s.turn = starter
    elif kind == EV_PLAY:
        play_tile(s, event & 0xFFFF, NULL)
    elif kind == EV_STOP:
        stop_chain(s, NULL)
    else:
        pass_turn(s, NULL)


# Shows the observer where some of the hidden tiles are: `tiles` of those that `seat` holds, or that nobody does (-1).
cdef inline void show_place(Evidence *e, int seat, const u64 *tiles) noexcept nogil:
    cdef int c, word
    for word in range(WORDS):
        if seat >= 0:
            e.shown_held[word] |= tiles[word]
        for c in range(e.cohorts):
            if e.seat[c] != seat:
                e.excluded[c][word] |= tiles[word]


# All that the events prove to `observer`. `hand` is how many tiles were dealt to each seat, `now` the position with the
# observer's hand. Returns whether there are as many tiles as places for them.
cdef inline bint gather_evidence(
    Evidence *e, const State *now, int observer, int hand, int starter, const u32 *events, int size
) noexcept nogil:
    cdef State s
    cdef int i, c, seat, kind, word, tile, places
    cdef int drawn = 0
    cdef bint laid = begin_events(&s, &now.rules, hand, starter, events, size)
    memset(e, 0, sizeof(Evidence))
    memset(e.origin, NO_COHORT, sizeof(e.origin))
    for seat in range(now.rules.players):
        if seat != observer:
            add_cohort(e, seat, DEALT, hand)
    for i in range(size):
        kind = events[i] >> 24
        seat = (events[i] >> 16) & 255
        if kind == EV_DRAW:
            drawn += 1
        if seat == observer:
            pass
        elif kind == EV_DRAW:
            if laid:
                exclude_fitting(e, &s, seat, 0)
            add_cohort(e, seat, drawn - 1, 1)
        elif kind == EV_HUB:
            if i > 0:
                e.cohorts -= 1
            else:
                for c in range(e.cohorts):
                    e.places[c] -= e.seat[c] == seat
        elif kind == EV_PLAY:
            if s.drew:
                e.cohorts -= 1
            else:
                show_tile(e, seat, code_tile(events[i] & 0xFFFF))
        elif kind != EV_STOP:
            # After a draw only the drawn tile was tried; the others were at the draw.
            exclude_fitting(e, &s, seat, e.cohorts - 1 if s.drew else 0)
        follow_event(&s, events[i], starter, &laid)
    settle_shown(e)
    places = e.boneyard = now.bone_end - now.bone_next
    for c in range(e.cohorts):
        places += e.places[c]
    for tile in range((now.rules.top + 1) * (now.rules.top + 2) // 2):
        if not in_set(now.table, tile) and not in_set(now.hand[observer], tile):
            into_set(e.hidden, tile)
    # Without a tile that fits, the mover would have drawn, passed or ended its chain: none of that is a choice.
    e.mover = -1
    if not now.over and now.turn != observer:
        e.mover = now.turn
        e.drew = now.drew
        fitting_now(now, e.playable)
        for word in range(WORDS):
            e.playable[word] &= e.hidden[word]
    return places == set_size(e.hidden) + set_size(e.unsure)
