"""A round, and what one seat knows of it: thin classes over the struct in ``state.pxd``."""

from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from caboose.engine.rules.tile_sets cimport MEXICAN_TRAIN, SEATS, WORDS, lowest, lowest32, u16, u32, u64
from caboose.engine.rules.moves cimport Move, move_of_code
from caboose.engine.rules.state cimport (
    BLOCKED,
    EV_DRAW,
    EV_HUB,
    EV_PLAY,
    MAX_MOVES,
    MAX_TARGETS,
    NO_TILE,
    Header,
    State,
    Target,
    advance,
    apply_move,
    can_play,
    clear,
    code_train,
    draw_tile,
    first_double,
    hand_add,
    hand_remove,
    hand_score,
    holds,
    is_bound,
    lay_hub,
    legal_moves,
    may_draw,
    may_stop,
    note,
    pass_turn,
    play_tile,
    rules_hub_tile,
    stop_chain,
    targets,
)

from inspect import signature
from typing import NamedTuple

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.rules import CHOICES, tiles_in_set
from caboose.engine.rules.seats import Places, Seat, SeatError, moves_of
from caboose.engine.rules.tiles import TILES, Tile

EVENT_KINDS = ("hub", "draw", "play", "stop", "mark", "pass")

# Between two choices no tile is played. So there are at most 190 draws, a pass after each; at most 14 first turns that
# pass without a draw; and with an empty boneyard at most 14 new markers, each with a lap of 14 passes before the next.
# That is below 700, the choice itself included.
cdef enum:
    MOST_EVENTS_BETWEEN_CHOICES = 1024


class Event(NamedTuple):
    """Something that everybody at the table saw, in the order in which it happened.

    ``seat`` is 0 to 13. ``kind`` is ``hub`` (the seat lays the dealt hub down), ``draw``, ``play``, ``stop``
    (a chain ends, by choice or because nothing fits: nobody can tell), ``mark`` (a pass that puts a new
    marker down) or ``pass`` (a pass of a seat that is marked already). ``tile`` is the tile of a ``play``,
    and of a ``draw`` when the reader may know it; ``move`` is the move of a ``play``.
    """

    kind: str
    seat: int
    tile: Tile | None = None
    move: Move | None = None


class OpenDouble(NamedTuple):
    """A double that still wants tiles: its train (0 to 14), its pips (0 to 18), and how many it needs (1 to 3)."""

    train: int
    pips: int
    need: int


cdef Header compile_rules(object rules, int hub) except *:
    cdef Header header
    memset(&header, 0, sizeof(Header))
    header.players = rules.players
    header.top = rules.set
    header.hub = hub
    header.blank = rules.blank
    header.chain = rules.first_turn == "chain"
    header.first_draw = rules.first_turn_draw == "yes"
    header.finish_all = rules.first_turn_finish == "all"
    header.first_own = rules.first_turn_places == "own"
    header.answer = CHOICES["double_answer"].index(rules.double_answer)
    header.newest_first = rules.doubles_order == "lifo"
    header.extra_first = rules.extra_after_doubles == "first"
    header.hold = rules.dead_double == "hold"
    return header


cdef tuple tiles_of(const u64 *words):
    cdef list out = []
    cdef int word
    cdef u64 rest
    for word in range(WORDS):
        rest = words[word]
        while rest:
            out.append(TILES[word << 6 | lowest(rest)])
            rest &= rest - 1
    return tuple(out)


cdef dict _EVENTS = {}  # each event that was ever asked for: there are a few thousand at most


cdef object event_of(u32 entry):
    event = _EVENTS.get(entry)
    if event is None:
        event = _EVENTS[entry] = make_event(entry)
    return event


cdef object make_event(u32 entry):
    cdef int kind = entry >> 24
    cdef int seat = (entry >> 16) & 255
    cdef int argument = entry & 0xFFFF
    name = EVENT_KINDS[kind]
    if kind == EV_PLAY:
        move = move_of_code(argument)
        return Event(name, seat, move.tile, move)
    if kind == EV_DRAW and argument != NO_TILE:
        return Event(name, seat, TILES[argument], None)
    return Event(name, seat, None, None)


cdef class Table:
    """What lies on the table for all to see. ``Round`` and ``Observation`` share it.

    Equal ones have the same rules, position and events. They can be copied and pickled, but not hashed.
    """

    def __init__(self):
        raise TypeError("a Table is a Round or an Observation")

    def __dealloc__(self):
        free(self.log.events)

    def __eq__(self, other):
        cdef Table a = self
        cdef Table b
        if type(other) is not type(self):
            return NotImplemented
        b = other
        return (
            a.starter == b.starter
            and a.rules == b.rules
            and a.log.size == b.log.size
            and (a.log.size == 0 or memcmp(a.log.events, b.log.events, a.log.size * sizeof(u32)) == 0)
            and memcmp(&a.state, &b.state, sizeof(State)) == 0
        )

    __hash__ = None

    def __repr__(self):
        whose = f"seat {self.turn} to move" if self.turn >= 0 else "blocked" if self.blocked else "over"
        return f"<{type(self).__name__} {self.rules.preset}, hub {self.hub}, {self.log.size} events, {whose}>"

    cdef bytes state_bytes(self):
        return (<char*>&self.state)[: sizeof(State)]

    cdef bytes log_bytes(self):
        return (<char*>self.log.events)[: self.log.size * sizeof(u32)]

    cdef int restore(self, object rules, int starter, bytes state, bytes log) except -1:
        if len(state) != sizeof(State) or len(log) % sizeof(u32):
            raise ValueError("a pickle of another version of caboose")
        self.rules = rules
        self.starter = starter
        memcpy(&self.state, <const char*>state, sizeof(State))
        self.log.size = len(log) // sizeof(u32)
        self.make_room()
        memcpy(self.log.events, <const char*>log, len(log))
        return 0

    cdef int make_room(self) except -1:
        cdef int wanted = self.log.size + MOST_EVENTS_BETWEEN_CHOICES
        cdef u32 *events
        if wanted > self.log.room:
            wanted *= 2
            events = <u32*>realloc(self.log.events, wanted * sizeof(u32))
            if events == NULL:
                raise MemoryError
            self.log.events = events
            self.log.room = wanted
        return 0

    cdef int copy_from(self, Table other) except -1:
        self.rules = other.rules
        self.starter = other.starter
        self.state = other.state
        self.log.size = other.log.size
        self.make_room()
        memcpy(self.log.events, other.log.events, other.log.size * sizeof(u32))
        return 0

    @property
    def hub(self):
        """The pips of the double in the middle."""
        return self.state.rules.hub

    @property
    def turn(self):
        """The seat that must choose now; -1 when the round is over."""
        return -1 if self.state.over else self.state.turn

    @property
    def over(self):
        """The round has ended."""
        return self.state.over != 0

    @property
    def blocked(self):
        """The round ended because nobody could play any more."""
        return self.state.over == BLOCKED

    @property
    def hand_sizes(self):
        """For each seat, how many tiles it holds."""
        return tuple([self.state.count[seat] for seat in range(self.state.rules.players)])

    @property
    def boneyard_size(self):
        """How many tiles are left to draw."""
        return self.state.bone_end - self.state.bone_next

    @property
    def markers(self):
        """For each seat, whether a marker lies on its train."""
        return tuple([bool(self.state.markers >> seat & 1) for seat in range(self.state.rules.players)])

    cdef object open_double(self, int index):
        cdef State *s = &self.state
        return OpenDouble(s.queue_train[index], s.queue_value[index], s.queue_need[index])

    @property
    def open_doubles(self):
        """The open doubles, oldest first; ``rules.doubles_order`` says which must be satisfied first."""
        return tuple([self.open_double(i) for i in range(self.state.queue_size)])

    @property
    def binding(self):
        """The open double that must be satisfied now before anything else; None in a turn with new doubles."""
        if self.state.over or not is_bound(&self.state):
            return None
        return self.open_double(first_double(&self.state))

    @property
    def events(self):
        """All events of the round so far. A drawn tile shows only where the reader may know it."""
        return tuple([event_of(self.log.events[i]) for i in range(self.log.size)])

    @property
    def trains(self):
        """For each train that was started, the moves that built it, in order."""
        cdef int i, train
        cdef u32 entry
        out = {}
        for i in range(self.log.size):
            entry = self.log.events[i]
            if entry >> 24 == EV_PLAY:
                train = code_train(entry & 0xFFFF)
                out.setdefault(train, []).append(move_of_code(entry & 0xFFFF))
        return {train: tuple(out[train]) for train in sorted(out)}

    cdef int check_train(self, int train) except -1:
        if train != MEXICAN_TRAIN and not 0 <= train < self.state.rules.players:
            raise ValueError(f"train {train}: expected a seat from 0 to {self.state.rules.players - 1}, or MEXICAN")
        return 0

    def ends(self, int train):
        """The pips open on ``train``, ascending; more than one, or one twice, only under chickenfoot."""
        cdef u32 values
        cdef int i
        self.check_train(train)
        values = self.state.ends[train]
        out = []
        while values:
            out.append(lowest32(values))
            values &= values - 1
        for i in range(self.state.duplicates):
            if self.state.duplicate_train[i] == train:
                out.append(self.state.duplicate_value[i])
        return tuple(sorted(out))

    def started(self, int train):
        """Whether a tile was played on ``train``."""
        self.check_train(train)
        return bool(self.state.started >> train & 1)

    def legal_moves(self):
        """The moves open to the seat whose turn it is, in a fixed order; [] when the round is over.

        Raises ``ValueError`` for an observation of a seat that is not to move.
        """
        cdef u16 codes[MAX_MOVES]
        cdef int n, i
        if self.state.over:
            return []
        n = legal_moves(&self.state, codes)
        return [move_of_code(codes[i]) for i in range(n)]


# What `inspect` shows: it cannot see the parameters of a class like the one below.
def _round_parameters(rules, deal, past_scores=()):
    pass


cdef class Round(Table):
    """One round, with all that is hidden. Forced steps (draws, passes, markers) happen by themselves."""

    __signature__ = signature(_round_parameters)

    def __init__(self, rules, deal, past_scores=()):
        """Lays out ``deal`` and runs to the first choice. Raises ``ValueError`` for a deal against the rules.

        ``past_scores`` are the rounds of the game before this one, a row of seats for each.
        """
        cdef Header header
        cdef State *s = &self.state
        cdef int seat, i
        cdef int players = rules.players
        _check_deal(rules, deal)
        header = compile_rules(rules, deal.hub)
        self.rules = rules
        self.past_scores = score_rows(past_scores, players)
        clear(s, &header)
        self.make_room()
        for seat in range(players):
            s.count[seat] = rules.hand
            for tile in deal.hands[seat]:
                hand_add(s, seat, tile.id)
        s.bone_end = len(deal.boneyard)
        for i in range(s.bone_end):
            s.bone[i] = deal.boneyard[i].id
        if rules.hub == "dealt":
            self.find_hub()
        lay_hub(s)
        self.starter = s.turn if rules.starter == "holder" else deal.starter
        s.turn = self.starter
        s.drew = 0
        s.drawn = 0
        advance(s, &self.log)

    # The holder lays the dealt hub down; while nobody has it, all draw in turn from the first seat on. Leaves
    # the turn with the seat that had it.
    cdef int find_hub(self) except -1:
        cdef State *s = &self.state
        cdef int hub = rules_hub_tile(&s.rules)
        cdef int seat
        for seat in range(s.rules.players):
            if holds(s, seat, hub):
                s.turn = seat
                break
        else:
            s.turn = 0
            draw_tile(s, &self.log)
            while not holds(s, s.turn, hub):
                s.turn = (s.turn + 1) % s.rules.players
                draw_tile(s, &self.log)
        hand_remove(s, s.turn, hub)
        s.count[s.turn] -= 1
        note(&self.log, EV_HUB, s.turn, 0)
        return 0

    @staticmethod
    def deal(rules, hub=None, seed=0, starter=None):
        """A round from a seed: see ``Deal.random``."""
        return Round(rules, Deal.random(rules, hub, seed, starter))

    @property
    def hands(self):
        """For each seat, the tiles that it holds, by number."""
        return tuple([tiles_of(self.state.hand[seat]) for seat in range(self.state.rules.players)])

    @property
    def boneyard(self):
        """The tiles not yet drawn, next one first."""
        return tuple([TILES[self.state.bone[i]] for i in range(self.state.bone_next, self.state.bone_end)])

    @property
    def scores(self):
        """The pips left in each hand, 0-0 as the rules count it; the score of the round when it is over."""
        return tuple([hand_score(&self.state, seat) for seat in range(self.state.rules.players)])

    def apply(self, Move move not None):
        """Plays ``move`` for the seat to move, then every forced step. Raises ``ValueError`` when it is not legal."""
        cdef u16 codes[MAX_MOVES]
        cdef int n = 0
        cdef int i
        if not self.state.over:
            n = legal_moves(&self.state, codes)
        for i in range(n):
            if codes[i] == move.code:
                break
        else:
            if self.state.over:
                raise SeatError("{} cannot be played: the round is over", moves_of([move]))
            legal = moves_of([move_of_code(codes[i]) for i in range(n)])
            raise SeatError(
                "{} is not legal for seat {}: expected one of {}", moves_of([move]), Seat(self.state.turn), legal
            )
        self.make_room()
        apply_move(&self.state, move.code, &self.log)

    def __reduce__(self):
        return _restored_round, (self.rules, self.starter, self.state_bytes(), self.log_bytes(), self.past_scores)

    def copy(self):
        """An independent round in the same position."""
        cdef Round other = Round.__new__(Round)
        other.copy_from(self)
        other.past_scores = self.past_scores
        return other

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def observe(self, int seat, scores=None):
        """What ``seat`` knows; ``scores`` are the rounds of the game before this one, by default ``past_scores``."""
        cdef Observation view = Observation.__new__(Observation)
        cdef State *s
        cdef int other, i
        cdef u32 entry
        if not 0 <= seat < self.state.rules.players:
            raise ValueError(f"seat {seat}: expected 0 to {self.state.rules.players - 1}")
        view.copy_from(self)
        view.seat = seat
        view.past_scores = self.past_scores if scores is None else score_rows(scores, self.state.rules.players)
        s = &view.state
        for other in range(SEATS):
            if other != seat:
                memset(s.hand[other], 0, sizeof(s.hand[other]))
        if s.drew and s.turn != seat:
            s.drawn = NO_TILE
        memset(s.bone, NO_TILE, sizeof(s.bone))
        for i in range(view.log.size):
            entry = view.log.events[i]
            if entry >> 24 == EV_DRAW and (entry >> 16 & 255) != <u32>seat:
                view.log.events[i] = (entry & 0xFFFF0000) | NO_TILE
        return view


cdef object score_rows(object scores, int players):
    rows = tuple([tuple([int(score) for score in row]) for row in scores])
    for number, row in enumerate(rows, 1):
        if len(row) != players or min(row) < 0:
            raise ValueError(f"scores of round {number}: expected {players} numbers of at least 0, got {row}")
    return rows


def _check_deal(rules, deal):
    """Raises ``ValueError`` where ``deal`` is not a deal under ``rules``."""
    if not 0 <= deal.hub <= rules.set:
        raise ValueError(f"hub {deal.hub}: a double-{rules.set} set has doubles from 0 to {rules.set}")
    if len(deal.hands) != rules.players:
        raise ValueError(f"the deal has {len(deal.hands)} hands: expected {rules.players}")
    for seat, hand in enumerate(deal.hands):
        if len(hand) != rules.hand:
            raise SeatError(f"the hand of seat {{}} has {len(hand)} tiles: expected {rules.hand}", Seat(seat))
    dealt = [tile for hand in deal.hands for tile in hand] + list(deal.boneyard)
    wanted = set(TILES[: tiles_in_set(rules.set)])
    if rules.hub == "placed":
        wanted.discard(Tile(deal.hub, deal.hub))
    twice = {tile for tile in dealt if dealt.count(tile) > 1} if len(set(dealt)) < len(dealt) else set()
    for what, tiles in (
        ("are in the deal twice", twice),
        (f"do not belong to a deal with hub={rules.hub} {deal.hub}-{deal.hub}", set(dealt) - wanted),
        ("are missing from the deal", wanted - set(dealt)),
    ):
        if tiles:
            raise ValueError(f"these tiles {what}: {' '.join(str(Tile(*tile)) for tile in sorted(tiles))}")
    if rules.starter == "holder":
        if deal.starter != -1:
            raise ValueError(f"starter {deal.starter}: under starter=holder the deal's starter is -1")
    elif not 0 <= deal.starter < rules.players:
        raise ValueError(f"starter {deal.starter}: expected a seat from 0 to {rules.players - 1}")


cdef class Observation(Table):
    """Exactly what one seat may know: the table, its own hand, the events, the scores of the game so far.

    The tiles that other seats drew are None in its events; hands and boneyard of others are only numbers.
    """

    @property
    def hand(self):
        return tiles_of(self.state.hand[self.seat])

    def legal_moves(self):
        if not self.state.over and self.state.turn != self.seat:
            raise SeatError(
                "seat {} is not to move: it is the turn of seat {}", Seat(self.seat), Seat(self.state.turn)
            )
        return Table.legal_moves(self)

    def __eq__(self, other):
        if type(other) is not Observation:
            return NotImplemented
        return Table.__eq__(self, other) and self.seat == other.seat and self.past_scores == other.past_scores

    __hash__ = None

    def __reduce__(self):
        parts = self.rules, self.starter, self.state_bytes(), self.log_bytes(), self.seat, self.past_scores
        return _restored_observation, parts

    @staticmethod
    def replay(rules, int hub, int seat, int starter, hand, events, past_scores=()):
        """An observation from its parts: what a program knows that is started in mid-round.

        ``hand`` is the seat's hand now. Raises ``ValueError`` naming the first event that the rules do not
        allow, or what does not fit together.
        """
        cdef Observation view = Observation.__new__(Observation)
        cdef Header header
        cdef State *s = &view.state
        if not 0 <= hub <= rules.set:
            raise ValueError(f"hub {hub}: a double-{rules.set} set has doubles from 0 to {rules.set}")
        if not 0 <= seat < rules.players:
            raise SeatError("seat {}: expected {} to {}", Seat(seat), Seat(0), Seat(rules.players - 1))
        if not 0 <= starter < rules.players:
            raise SeatError("starter {}: expected {} to {}", Seat(starter), Seat(0), Seat(rules.players - 1))
        header = compile_rules(rules, hub)
        events = tuple(events)
        view.rules = rules
        view.seat = seat
        view.starter = starter
        view.past_scores = score_rows(past_scores, rules.players)
        clear(s, &header)
        view.take_hand(hand, events)
        memset(s.bone, NO_TILE, sizeof(s.bone))
        s.bone_end = tiles_in_set(rules.set) - (rules.hub == "placed") - rules.players * rules.hand
        start = view.replay_hub(events)
        lay_hub(s)
        s.turn = starter
        s.drew = 0
        s.drawn = 0
        for number in range(start, len(events)):
            view.step(number + 1, events[number])
        if not s.over and s.turn == seat and not can_play(s):
            raise SeatError("seat {} has no legal move now: an event is missing at the end", Seat(seat))
        return view

    # The seat's hand as it was dealt, from its hand now and what it drew and played since.
    cdef int take_hand(self, object hand, tuple events) except -1:
        cdef State *s = &self.state
        cdef int other
        top = self.rules.set
        now = [Tile(min(tile), max(tile)) for tile in hand]
        for tile in now:
            if tile.low < 0 or tile.high > top:
                raise ValueError(f"hand: there is no tile {tile} in a double-{top} set")
            if now.count(tile) > 1:
                raise ValueError(f"hand: tile {tile} is there twice")
        drawn = {event.tile for event in events if event.kind == "draw" and event.seat == self.seat}
        if None in drawn:
            raise SeatError("a draw of seat {} does not show its tile, which the seat knows", Seat(self.seat))
        hub = Tile(self.hub, self.hub)
        gone = {event.move.tile for event in events if event.kind == "play" and event.seat == self.seat and event.move}
        gone.discard(None)
        if self.rules.hub == "placed" and hub in gone:
            number = 1 + [event.move is not None and event.move.tile == hub for event in events].index(True)
            raise ValueError(f"event {number}: tile {hub} lies on the table already")
        if self.rules.hub == "placed" or any(event.kind == "hub" and event.seat == self.seat for event in events):
            gone.add(hub)
        for tile in now:
            if tile in gone:
                raise ValueError(f"hand: tile {tile} is in the hand, but lies on the table")
        if self.rules.hub == "placed":
            gone.discard(hub)
        held = gone.union(now)
        dealt = held - drawn
        missing = drawn - held
        if missing:
            raise ValueError(f"hand: tile {min(missing)} was drawn, never played, and is not in the hand")
        if len(dealt) != self.rules.hand:
            raise SeatError(
                f"hand: {len(now)} tiles do not agree with the events: seat {{}} would have been dealt "
                f"{len(dealt)} tiles, expected {self.rules.hand}",
                Seat(self.seat),
            )
        for other in range(self.rules.players):
            s.count[other] = self.rules.hand
        for tile in dealt:
            hand_add(s, self.seat, tile.id)
        return 0

    # The draws for a dealt hub and its laying down. Returns how many events that took.
    cdef int replay_hub(self, tuple events) except -1:
        cdef State *s = &self.state
        cdef int number = 0
        cdef int hub = rules_hub_tile(&s.rules)
        if self.rules.hub == "placed":
            return 0
        for event in events:
            number += 1
            if event.kind == "hub":
                if not 0 <= event.seat < self.rules.players:
                    raise SeatError(f"event {number}: seat {{}} does not exist", Seat(event.seat))
                if number > 1 and event.seat != (number - 2) % self.rules.players:
                    raise ValueError(f"event {number}: only the seat that drew last can lay the hub")
                break
            if event.kind != "draw" or event.seat != (number - 1) % self.rules.players:
                raise SeatError(
                    f"event {number}: expected seat {{}} to draw, or the hub to be laid down",
                    Seat((number - 1) % self.rules.players),
                )
            if holds(s, self.seat, hub):
                raise SeatError(f"event {number}: nobody draws now: seat {{}} holds the hub", Seat(self.seat))
            self.draw(number, event)
        else:
            raise ValueError("events: expected the hub to be laid down first")
        if event.seat != self.seat and holds(s, self.seat, hub):
            raise SeatError(
                f"event {number}: seat {{}} lays the hub, which is in the hand of this seat", Seat(event.seat)
            )
        if event.seat == self.seat and not holds(s, self.seat, hub):
            raise ValueError(f"event {number}: the hub is not in the hand of this seat")
        if self.rules.starter == "holder" and event.seat != self.starter:
            raise SeatError("starter {}: expected {}, who laid the hub", Seat(self.starter), Seat(event.seat))
        hand_remove(s, event.seat, hub)
        s.count[event.seat] -= 1
        self.make_room()
        note(&self.log, EV_HUB, event.seat, 0)
        return number

    cdef int draw(self, int number, object event) except -1:
        cdef State *s = &self.state
        cdef int tile = NO_TILE
        if s.bone_next == s.bone_end:
            raise SeatError(f"event {number}: seat {{}} draws, but the boneyard is empty", Seat(event.seat))
        self.make_room()
        s.bone_next += 1
        s.drew = 1
        s.count[event.seat] += 1
        if event.seat == self.seat:
            tile = event.tile.id
            if holds(s, self.seat, tile) or s.table[tile >> 6] >> (tile & 63) & 1:
                raise ValueError(f"event {number}: tile {event.tile} is drawn, but was dealt or played already")
            hand_add(s, self.seat, tile)
        s.drawn = tile
        note(&self.log, EV_DRAW, event.seat, tile)
        return 0

    # One event after the hub lies, checked as far as this seat can check it.
    cdef int step(self, int number, object event) except -1:
        cdef State *s = &self.state
        cdef bint own = event.seat == self.seat
        where = f"event {number}"
        if s.over:
            raise ValueError(f"{where}: nothing can happen after the round is over")
        if event.seat != s.turn:
            raise SeatError(f"{where}: it is the turn of seat {{}}, not of seat {{}}", Seat(s.turn), Seat(event.seat))
        self.make_room()
        if event.kind == "play":
            self.check_play(where, event.move)
            play_tile(s, (<Move>event.move).code, &self.log)
            return 0
        if event.kind == "stop":
            if not may_stop(s):
                raise ValueError(f"{where}: stop ends a chain of at least one tile on a first turn; there is none")
            stop_chain(s, &self.log)
            return 0
        if event.kind not in ("draw", "mark", "pass"):
            raise ValueError(f"{where}: {event.kind} cannot happen here: expected play, draw, mark, pass or stop")
        if own and can_play(s):
            raise SeatError(f"{where}: seat {{}} holds a tile that can be played and must play", Seat(event.seat))
        if may_stop(s):
            raise ValueError(f"{where}: a chain that does not go on ends with stop")
        if event.kind == "draw":
            if not may_draw(s):
                raise SeatError(f"{where}: seat {{}} cannot draw now", Seat(event.seat))
            return self.draw(number, event)
        if may_draw(s):
            raise SeatError(f"{where}: seat {{}} must draw before it passes", Seat(event.seat))
        if (event.kind == "pass") != bool(s.markers >> s.turn & 1):
            there = "is already" if event.kind == "mark" else "is not yet"
            raise SeatError(f"{where}: {event.kind} does not fit: a marker {there} on train {{}}", Seat(event.seat))
        pass_turn(s, &self.log)
        return 0

    cdef int check_play(self, str where, object move) except -1:
        cdef State *s = &self.state
        cdef Target list[MAX_TARGETS]
        cdef int n, i, tile
        if move is None or move.tile is None:
            raise ValueError(f"{where}: a play names the tile and the train")
        tile = move.tile.id
        if move.tile.high > s.rules.top:
            raise ValueError(f"{where}: there is no tile {move.tile} in a double-{s.rules.top} set")
        if s.table[tile >> 6] >> (tile & 63) & 1:
            raise ValueError(f"{where}: tile {move.tile} lies on the table already")
        if holds(s, self.seat, tile) != (s.turn == self.seat):
            whose = "not in" if s.turn == self.seat else "in"
            raise SeatError(f"{where}: tile {move.tile} is {whose} the hand of seat {{}}", Seat(self.seat))
        if s.drew and s.turn == self.seat and tile != s.drawn:
            raise ValueError(f"{where}: tile {move.tile} is not the drawn one, which alone may be played after a draw")
        n = targets(s, list)
        for i in range(n):
            if (
                list[i].train == move.train
                and list[i].value == move.match
                and (list[i].doubles == 0 or (list[i].doubles == 1) == move.tile.is_double)
            ):
                return 0
        places = sorted({(list[i].train, list[i].value) for i in range(n)})
        raise SeatError(
            f"{where}: {{}} does not fit: the open places are {{}}", moves_of([move]), Places(tuple(places))
        )


def _restored_round(rules, starter, state, log, past_scores):
    cdef Round made = Round.__new__(Round)
    made.restore(rules, starter, state, log)
    made.past_scores = past_scores
    return made


def _restored_observation(rules, starter, state, log, seat, past_scores):
    cdef Observation made = Observation.__new__(Observation)
    made.restore(rules, starter, state, log)
    made.seat = seat
    made.past_scores = past_scores
    return made
