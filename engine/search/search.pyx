"""The search: a race of the seat's turns over worlds that agree with what it knows.

A turn is one move, or several after a double and in a chain. Worlds (``sampler.pxd``) come one after another, and every
turn still in the race is played in each, with every seat then following its plan to the end of the round
(``playout.pxd``). So all turns meet the same worlds, and what is compared is the difference in each world. A turn that
is clearly worse than the leader leaves the race. At the end of a round worlds can be solved instead (``endgame.pxd``).

Worlds are numbered, and each has its own chance. They come from several chains, so that threads can work on different
ones, and what they find is added up in the order of the worlds: the result does not depend on the threads.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.limits cimport LONG_MAX
from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from caboose.engine.rules.tile_sets cimport (
    SEATS,
    TILE_COUNT,
    WORDS,
    Rng,
    checked_seed,
    lowest32,
    mix,
    rng_next,
    rng_seed,
    u8,
    u16,
    u64,
)
from caboose.engine.rules.dealing cimport shuffle_boneyard
from caboose.engine.value.endgame cimport Entry, Outcome, Solver, is_endgame, solve_state
from caboose.engine.belief.evidence cimport Evidence, gather_evidence, in_set, into_set, show_place
from caboose.engine.belief.inference cimport FIRST_STEPS, STEPS, Model, gather_choices, infer, infer_start
from caboose.engine.rules.moves cimport move_of_code
from caboose.engine.policy.plan cimport Plan, make_plan
from caboose.engine.policy.playout cimport (
    TO_THE_END,
    Plans,
    play_code,
    play_out_greedy,
    play_out_planned,
    play_out_uniform,
)
from caboose.engine.policy.policy cimport Weights, choose_planned, follow, put_weights, set_default_weights
from caboose.engine.rules.round cimport Observation, Round
from caboose.engine.belief.sampler cimport Sampler, belief_mix, belief_sample, belief_start, write_world
from caboose.engine.value.game_value cimport Standing, make_standing, winning_chance
from caboose.engine.rules.state cimport MAX_MOVES, RUNNING, State, advance, hand_score, holds, legal_moves
from caboose.engine.value.network_eval cimport OUTPUTS, Hands, INPUTS, Network, describe, look, set_weights, think

from inspect import signature

import numpy as np

from caboose.engine.value.networks import network_for
from caboose.engine.bot_api import Candidate
from caboose.engine.rules.seats import Seat, SeatError, moves_of
from caboose.engine.policy.policy_weights import checked_weights

cdef enum:
    MAX_ARMS = 128       # of more moves than that the last ones are left out, the planner's choice excepted
    SPLIT_ARMS = 16      # moves are not made into whole turns when there would be more arms than that
    MAX_TURN = 20        # moves of a turn that an arm names
    LANES = 8            # chains of worlds: world n comes from chain n % LANES; no more threads than that
    FIRST_CHECK = 16     # worlds before any move leaves the race
    BATCH = 256          # most worlds between two sums
    THREADED = 32        # fewer worlds than that are not worth waking threads for …
    THREADED_INFERRED = 8  # … or than that, where worlds are inferred: each takes as long as several others
    ROOT_PLAN_NODES = 2000
    WORLD_NODES = 400    # positions to solve a world: it is played out when they do not do
    MEBIBYTE = 1 << 20
    MOST = 1_000_000     # of numbers that nothing else bounds: ranks with such noise are far from overflowing
    MAX_WORLDS = 1 << 30  # after so many a search has nothing more to find out
    # the policies of playouts, as in POLICIES
    PLANNED = 0
    GREEDY = 1
    UNIFORM = 2

MAX_THREADS = LANES
MAX_MEMORY = 4096
INFERENCE = 0.07  # what a choice counts, unless told
POLICIES = ("planner", "greedy", "random")


# A turn: its moves as far as they are fixed. What the seat plays after them is up to its plan.
cdef struct Arm:
    u16 codes[MAX_TURN]
    int length
    bint racing
    int visits
    double wins          # sum of the chances to end with the fewest pips
    double total         # of the values, by which moves are compared
    double score         # sum of the pips below the others' mean …
    double squares       # … and of their squares


# What one move came to in one world.
cdef struct Trial:
    double value
    double score
    double win           # the chance to end with the fewest pips: 0 or 1 at the end of a round


# Where a chain of worlds stands.
cdef struct Lane:
    u8 tile[TILE_COUNT]      # in each place of the sampler
    int short_by[SEATS + 1]  # as in `Model`


# What a thread works with.
cdef struct Workspace:
    Sampler sampler
    Model model
    Plans given          # what the seats mean to do when the world begins
    Plans plans


cdef void enter_lane(const Lane *lane, Workspace *space) noexcept nogil:
    memcpy(space.sampler.tile, lane.tile, sizeof(lane.tile))
    memcpy(space.model.short_by, lane.short_by, sizeof(lane.short_by))


cdef void leave_lane(Lane *lane, const Workspace *space) noexcept nogil:
    memcpy(lane.tile, space.sampler.tile, sizeof(lane.tile))
    memcpy(lane.short_by, space.model.short_by, sizeof(lane.short_by))


# What `inspect` shows: it cannot see the parameters of a class like the one below.
def _parameters(
    view,
    seed=0,
    *,
    confidence=4.0,
    win_bonus=10.0,
    game_weight=0.0,
    plan_nodes=40,
    noise=4,
    weights=None,
    endgame=9,
    memory=4,
    inference=INFERENCE,
    threads=1,
    policy="planner",
    laps=3,
    growth=32,
    truth=None,
    open_boneyard=True,
    shown=1.0,
    moves=None,
):
    pass


cdef class Search:
    """The search of one decision: a race of the seat's turns over worlds that agree with an observation.

    ``seed`` is 0 to 2**63 - 1. A turn leaves the race when it is worse than the leader by ``confidence`` standard
    errors of their difference. ``win_bonus`` is the pips that winning the round is worth besides the score, and
    ``game_weight`` (0 to 1) how much the chance to win the game counts instead, the more the fewer rounds are left;
    ``plan_nodes`` bounds the search for a train in playouts, and ``noise`` is the range of chance in their ranks
    (points), ``weights`` what these are made of, by the names of ``weighing.WEIGHTS``, which are the defaults; with
    another ``policy``, ``greedy`` or ``random``, playouts are played so. A planner's playouts end after ``laps`` turns
    of every seat where there is a network for the rules, which says what the round is worth then; with 0 they go on to
    its end, as they do anyway where the game counts or the boneyard is known. From world ``growth`` on they last a lap
    longer, from twice as many worlds on two laps, and so on; 0: never. When the boneyard is empty and the others
    hold at most ``endgame`` tiles together, worlds are solved where that is quick, and played out elsewhere; 0: never,
    nor where the game counts. They are kept in at most ``memory`` MiB (1 to 4096). ``inference`` is how much the
    others' choices say: a world is less likely by exp(-inference) for each point by which they fall short of a
    planner's; 0: nothing. ``threads`` is 1 to 8: the result is the same for any number. ``truth`` is for measuring, and
    the round itself, which is then looked at instead of worlds; of it only the hands, with the boneyard shuffled anew
    for each world, when ``open_boneyard`` is False; and of those only so much that each hidden tile's place is known
    with the chance ``shown`` (0 to 1), when that is less than 1. ``moves`` are those that race, by default all legal
    ones. Raises ``ValueError`` when the seat is not to move, for numbers that make no sense, when no deal agrees with
    what it has seen, when ``truth`` is not the round that it sees, or when ``moves`` are none, not legal, or the same
    twice.
    """

    cdef Observation view
    cdef Workspace *spaces
    cdef Lane lanes[LANES]
    cdef Plan own_plan
    cdef Standing standing
    cdef Arm arms[MAX_ARMS]
    cdef int order[MAX_ARMS]          # the moves in the race
    cdef Trial *trials            # of a batch: by worlds, then by moves in the race
    cdef double *products             # sums over worlds of value x value, for pairs in the race
    cdef readonly int size
    cdef readonly int racing
    cdef int favourite   # the planner's choice: the answer when there was no time for a world
    cdef readonly long nodes
    cdef readonly int worlds
    cdef readonly int threads
    cdef int next_check
    cdef u64 seed
    cdef double confidence
    cdef double win_bonus
    cdef int plan_nodes
    cdef int noise
    cdef Weights weights
    cdef int policy
    cdef int turns       # of a playout, before the network says what the round is worth
    cdef int growth      # worlds after which playouts last a lap more, two laps after twice as many, ...; 0: never
    cdef Network network
    cdef double inference
    cdef bint inferring
    cdef Round truth
    cdef bint open_boneyard
    cdef double shown
    cdef bint guessing   # there is something to believe: worlds are sampled
    cdef readonly bint solving
    cdef bint alone      # there is one world only, with an empty boneyard: once solved, there is nothing to add
    cdef bint solved     # that world is
    cdef Solver solver   # its table lasts from world to world: where few worlds are possible they come again

    __signature__ = signature(_parameters)

    def __init__(
        self,
        Observation view not None,
        seed=0,
        *,
        double confidence=4.0,
        double win_bonus=10.0,
        double game_weight=0.0,
        int plan_nodes=40,
        int noise=4,
        weights=None,
        int endgame=9,
        int memory=4,
        double inference=INFERENCE,
        int threads=1,
        str policy="planner",
        int laps=3,
        int growth=32,
        Round truth=None,
        bint open_boneyard=True,
        double shown=1.0,
        moves=None,
    ):
        cdef u16 codes[MAX_MOVES]
        cdef Plan plan
        cdef Rng rng
        cdef State *s = &view.state
        if s.over or s.turn != view.seat:
            raise SeatError("seat {} is not to move", Seat(view.seat))
        for name, value, least, most in (
            ("confidence", confidence, 0, INFINITY),
            ("win_bonus", win_bonus, 0, 1e6),
            ("game_weight", game_weight, 0, 1),
            ("plan_nodes", plan_nodes, 1, MOST),
            ("noise", noise, 0, MOST),
            ("endgame", endgame, 0, INFINITY),
            ("memory", memory, 1, MAX_MEMORY),
            ("laps", laps, 0, 1000),
            ("growth", growth, 0, MOST),
            ("inference", inference, 0, 1000),
            ("threads", threads, 1, MAX_THREADS),
            ("shown", shown, 0, 1),
        ):
            if not least <= value <= most:
                bound = "or more" if most == INFINITY else f"to {most:g}"
                raise ValueError(f"{name} {value}: expected {least} {bound}")
        if policy not in POLICIES:
            raise ValueError(f"policy {policy!r}: expected one of {', '.join(POLICIES)}")
        self.policy = POLICIES.index(policy)
        self.view = view
        self.seed = mix(checked_seed(seed))
        self.confidence = confidence
        self.win_bonus = win_bonus
        self.plan_nodes = plan_nodes
        self.noise = noise
        self.inference = inference
        self.threads = threads
        if truth is not None and truth.observe(view.seat, view.past_scores) != view:
            raise ValueError("truth is another round than the one observed")
        self.truth = None if truth is None else truth.copy()
        self.open_boneyard = open_boneyard
        self.shown = shown
        self.guessing = truth is None or not open_boneyard and shown < 1
        make_standing(&self.standing, view.rules, view.past_scores, view.seat, game_weight)
        make_plan(&self.own_plan, &s.hand[view.seat][0], lowest32(s.ends[view.seat]), ROOT_PLAN_NODES)
        cdef int n = legal_moves(s, codes)
        plan = self.own_plan
        rng_seed(&rng, self.seed)
        set_default_weights(&self.weights)
        self.favourite = choose_planned(s, codes, n, &plan, ROOT_PLAN_NODES, 0, &self.weights, &rng)
        if weights is not None:
            put_weights(&self.weights, checked_weights(weights))
        if moves is not None:
            n = self.only(moves, codes, n)
        self.size = min(n, MAX_ARMS)
        if self.favourite >= self.size:
            codes[self.size - 1] = codes[self.favourite]
            self.favourite = self.size - 1
        memset(self.arms, 0, sizeof(self.arms))
        for i in range(self.size):
            self.arms[i].codes[0] = codes[i]
            self.arms[i].length = 1
        if self.size > 1:
            self.name_turns()
        self.racing = self.size
        for i in range(self.size):
            self.arms[i].racing = True
        self.next_check = FIRST_CHECK
        cdef int held = sum([s.count[i] for i in range(s.rules.players) if i != view.seat])
        self.solving = held <= endgame and is_endgame(s) and self.standing.weight == 0
        self.alone = self.solving and (s.rules.players == 2 or not self.guessing)
        self.turns = TO_THE_END
        self.growth = 0
        weights = network_for(view.rules)
        if laps and weights is not None and not self.solving and self.standing.weight == 0 and self.policy == PLANNED:
            # Who knows the boneyard knows more than a network.
            if self.truth is None or not open_boneyard:
                set_weights(&self.network, weights)
                self.turns = laps * s.rules.players
                self.growth = growth
        self.allocate(memory)
        self.start_lanes(&rng)

    def __dealloc__(self):
        free(self.solver.table)
        free(self.spaces)
        free(self.trials)
        free(self.products)

    # Leaves of the legal moves those that are to race; returns how many.
    cdef int only(self, moves, u16 *codes, int n) except -1:
        cdef int i
        cdef int count = 0
        cdef int favourite = 0
        wanted = [move.code for move in moves]
        for i in range(n):
            if codes[i] in wanted:
                if i == self.favourite:
                    favourite = count
                codes[count] = codes[i]
                count += 1
        if count == 0 or count != len(wanted):
            form = "moves {}: expected legal ones, each once" if moves else "no moves: expected legal ones, each once"
            raise SeatError(form, moves_of(moves))
        self.favourite = favourite
        return count

    cdef int allocate(self, int memory) except -1:
        cdef u64 entries = 1
        self.spaces = <Workspace*>malloc(self.threads * sizeof(Workspace))
        self.trials = <Trial*>malloc(BATCH * self.size * sizeof(Trial))
        self.products = <double*>malloc(self.size * self.size * sizeof(double))
        if self.spaces == NULL or self.trials == NULL or self.products == NULL:
            raise MemoryError
        memset(self.products, 0, self.size * self.size * sizeof(double))
        if self.solving:
            while 2 * entries * sizeof(Entry) <= <u64>memory * MEBIBYTE:
                entries *= 2
            self.solver.table = <Entry*>calloc(entries, sizeof(Entry))
            # Rather a smaller table than no move.
            while self.solver.table == NULL and entries > 1:
                entries //= 2
                self.solver.table = <Entry*>calloc(entries, sizeof(Entry))
            if self.solver.table == NULL:
                raise MemoryError
            self.solver.mask = entries - 1
            self.solver.bonus = self.win_bonus
        return 0

    # The first world of each chain is as far from the one before as worlds of one chain are.
    cdef int start_lanes(self, Rng *rng) except -1:
        cdef Observation view = self.view
        cdef Sampler *sampler = &self.spaces[0].sampler
        cdef State world
        cdef int i
        if not self.guessing:
            return 0
        cdef Model *model = &self.spaces[0].model
        cdef Evidence evidence
        if not gather_evidence(
            &evidence, &view.state, view.seat, view.rules.hand, view.starter, view.log.events, view.log.size
        ) or not self.show_some(&evidence) or not belief_start(sampler, &evidence, view.rules.players, view.seat):
            raise SeatError("no deal agrees with what seat {} has seen", Seat(view.seat))
        belief_mix(sampler, rng)
        if self.inference > 0:
            gather_choices(
                model, &evidence, &view.state, view.seat, view.rules.hand, view.starter, view.log.events, view.log.size
            )
            model.weight = self.inference
            self.inferring = model.size > 0
        if self.inferring:
            infer_start(sampler, model)
            infer(sampler, model, FIRST_STEPS, rng)
        for i in range(LANES):
            leave_lane(&self.lanes[i], &self.spaces[0])
            if i < LANES - 1:
                world = view.state
                self.next_world(&world, &self.spaces[0], rng)
        for i in range(1, self.threads):
            self.spaces[i].sampler = sampler[0]
            if self.inferring:
                self.spaces[i].model = model[0]
        return 0

    # Shows some of the hidden tiles, where the search knows the truth: others at each decision.
    cdef bint show_some(self, Evidence *evidence):
        cdef Observation view = self.view
        cdef const State *s
        cdef u64 tiles[SEATS][WORDS]
        cdef u64 nowhere[WORDS]
        cdef Rng rng
        cdef int seat, word
        if self.truth is None or self.shown == 0:
            return True
        s = &self.truth.state
        rng_seed(&rng, self.seed + mix(view.log.size))
        memset(tiles, 0, sizeof(tiles))
        memset(nowhere, 0, sizeof(nowhere))
        for tile in range(TILE_COUNT):
            if in_set(evidence.hidden, tile) and (rng_next(&rng) >> 11) * 1.1102230246251565e-16 < self.shown:
                into_set(nowhere, tile)
                for seat in range(s.rules.players):
                    if holds(s, seat, tile):
                        into_set(tiles[seat], tile)
        for seat in range(s.rules.players):
            for word in range(WORDS):
                nowhere[word] &= ~tiles[seat][word]
            show_place(evidence, seat, tiles[seat])
        show_place(evidence, -1, nowhere)
        return True

    # Makes whole turns of the moves that leave the seat with another choice: an arm for each way to go on. All turns
    # get their next move or none does, since what is looked at further ahead looks better.
    cdef void name_turns(self) noexcept nogil:
        cdef u16 codes[MAX_ARMS][MAX_ARMS]
        cdef int ways[MAX_ARMS]
        cdef int length, i, j, more, size
        for length in range(1, MAX_TURN):
            size = self.size
            more = 0
            for i in range(size):
                ways[i] = 0
                if self.arms[i].length == length:
                    ways[i] = self.next_moves(&self.arms[i], codes[i])
                if ways[i]:
                    more += ways[i] - 1
            if size + more > SPLIT_ARMS:
                return
            for i in range(size):
                if ways[i] == 0:
                    continue
                self.arms[i].length += 1
                self.arms[i].codes[length] = codes[i][0]
                for j in range(1, ways[i]):
                    self.arms[self.size] = self.arms[i]
                    self.arms[self.size].codes[length] = codes[i][j]
                    self.size += 1

    # What the seat may play after the moves of `arm` in the same turn. Returns how many moves; the first MAX_ARMS of
    # them are written to `out`.
    cdef int next_moves(self, const Arm *arm, u16 *out) noexcept nogil:
        cdef u16 codes[MAX_MOVES]
        cdef State s = self.view.state
        cdef int i, n
        for i in range(arm.length):
            play_code(&s, arm.codes[i])
        if s.over != RUNNING or s.turn != self.view.seat:
            return 0
        n = min(legal_moves(&s, codes), MAX_ARMS)
        memcpy(out, codes, n * sizeof(u16))
        return n

    # Plays one turn in a world and the round to its end.
    cdef void playout(
        self, State *s, Workspace *space, const Arm *arm, int turns, Trial *trial, Rng *rng
    ) noexcept nogil:
        cdef int seat = self.view.seat
        cdef int i, other, own
        cdef int least = 1 << 30
        cdef int total = 0
        cdef int scores[SEATS]
        for other in range(s.rules.players):
            space.plans.seats[other] = space.given.seats[other]
        for i in range(arm.length):
            follow(s, &space.plans.seats[seat], arm.codes[i])
            play_code(s, arm.codes[i])
        if self.policy == PLANNED:
            play_out_planned(s, &space.plans, self.plan_nodes, self.noise, &self.weights, turns, rng)
            if s.over == RUNNING:
                self.estimate(s, &space.plans, trial)
                return
        elif self.policy == GREEDY:
            play_out_greedy(s)
        else:
            play_out_uniform(s, rng)
        own = hand_score(s, seat)
        for other in range(s.rules.players):
            scores[other] = hand_score(s, other)
            if other != seat:
                total += scores[other]
                least = scores[other] if scores[other] < least else least
        trial.score = <double>total / (s.rules.players - 1) - own
        trial.win = own <= least
        trial.value = trial.score + self.win_bonus * trial.win
        if self.standing.weight > 0:
            trial.value += self.standing.weight * (
                self.standing.scale * winning_chance(&self.standing, scores) - trial.value
            )

    # What the network thinks of a round that was not played to its end.
    cdef void estimate(self, const State *s, Plans *plans, Trial *trial) noexcept nogil:
        cdef Hands hands
        cdef float inputs[INPUTS]
        cdef float outputs[OUTPUTS]
        look(s, plans, &hands)
        describe(s, &hands, self.view.seat, inputs)
        think(&self.network, inputs, outputs)
        trial.score = outputs[0]
        trial.win = min(max(outputs[1], <float>0), <float>1)
        trial.value = trial.score + self.win_bonus * trial.win

    cdef void next_world(self, State *world, Workspace *space, Rng *rng) noexcept nogil:
        if self.inferring:
            infer(&space.sampler, &space.model, STEPS, rng)
            write_world(world, &space.sampler)
        else:
            belief_sample(world, &space.sampler, rng)

    # Plays every turn in the race in a world, and with it the round to its end.
    cdef void play_world(
        self, const State *start, Workspace *space, int turns, Trial *trials, const Rng *rng
    ) noexcept nogil:
        cdef State s
        cdef Rng stream
        cdef int seat, i
        # The other hands are the same for every turn, and so are their plans.
        for seat in range(start.rules.players):
            if seat == self.view.seat:
                space.given.seats[seat] = self.own_plan
            else:
                make_plan(
                    &space.given.seats[seat], &start.hand[seat][0], lowest32(start.ends[seat]), self.plan_nodes
                )
        for i in range(self.racing):
            s = start[0]
            stream = rng[0]
            self.playout(&s, space, &self.arms[self.order[i]], turns, &trials[i], &stream)

    # What every turn in the race is worth when all seats go on as well as they can with all hands open. False when
    # that takes too long for one of them: solved and played values do not compare.
    cdef bint solve_world(self, const State *start, Trial *trials) noexcept nogil:
        cdef State s
        cdef Outcome end
        cdef const Arm *arm
        cdef int i, j
        cdef long budget = WORLD_NODES
        for i in range(self.racing):
            s = start[0]
            arm = &self.arms[self.order[i]]
            for j in range(arm.length):
                play_code(&s, arm.codes[j])
            advance(&s, NULL)
            if not solve_state(&self.solver, &s, budget, &end):
                return False
            budget -= self.solver.nodes
            trials[i].score = end.margin[self.view.seat]
            trials[i].win = end.won[self.view.seat]
            trials[i].value = trials[i].score + self.win_bonus * trials[i].win
        return True

    # How long playouts of a world last.
    cdef int turns_in(self, int number) noexcept nogil:
        cdef int turns = self.turns
        while self.growth and number >= self.growth:
            turns += self.view.state.rules.players
            number //= 2
        return turns

    # One world: every turn in the race is tried in it.
    cdef void world(self, int number, Workspace *space, Trial *trials) noexcept nogil:
        cdef State start = self.view.state
        cdef Rng rng
        rng_seed(&rng, self.seed + mix(number + 1))
        if self.guessing:
            self.next_world(&start, space, &rng)
        else:
            start = self.truth.state
            if not self.open_boneyard:
                shuffle_boneyard(&start, &rng)
        if not self.solving or not self.solve_world(&start, trials):
            self.play_world(&start, space, self.turns_in(number), trials, &rng)
        elif self.alone:
            self.solved = True

    # Worlds of one chain: from `first` on every `step`-th before `end`, to be tried in one thread.
    cdef void play_lane(self, Workspace *space, int start, int first, int end, int step) noexcept nogil:
        cdef int lane = first % LANES
        cdef int number = first
        if self.guessing:
            enter_lane(&self.lanes[lane], space)
        while number < end:
            self.world(number, space, &self.trials[(number - start) * self.racing])
            number += step
        if self.guessing:
            leave_lane(&self.lanes[lane], space)

    # The worlds from `first` on, `count` of them, that belong to a thread's chains.
    cdef void play_lanes(self, int thread, int threads, int first, int count) noexcept nogil:
        cdef Workspace *space = &self.spaces[thread]
        cdef int lane = thread
        cdef int number
        if self.solving:
            # What the table holds depends on the order of the worlds.
            for number in range(first, first + count):
                self.play_lane(space, first, number, number + 1, 1)
            return
        while lane < LANES:
            self.play_lane(space, first, first + ((lane - first) & (LANES - 1)), first + count, LANES)
            lane += threads

    def _play_part(self, int thread, int first, int count):
        with nogil:
            self.play_lanes(thread, self.threads, first, count)

    # Adds up what came out of worlds, and looks at the race when it is time to.
    cdef void add(self, int count) noexcept nogil:
        cdef int world, i, j
        cdef Arm *arm
        cdef Trial *trials
        for world in range(count):
            trials = &self.trials[world * self.racing]
            for i in range(self.racing):
                arm = &self.arms[self.order[i]]
                arm.visits += 1
                arm.wins += trials[i].win
                arm.total += trials[i].value
                arm.score += trials[i].score
                arm.squares += trials[i].score * trials[i].score
                for j in range(i + 1):
                    self.products[self.order[i] * self.size + self.order[j]] += trials[i].value * trials[j].value
        self.nodes += <long>count * self.racing
        self.worlds += count
        if self.solved:
            self.settle()
        elif self.worlds >= self.next_check:
            self.drop_worse()
            self.next_check = self.worlds + max(LANES, self.worlds // 4 // LANES * LANES)

    # The only world is solved: what is left in the race is worth that, and the leader is the answer.
    cdef void settle(self) noexcept nogil:
        cdef int leader
        cdef int i, j
        cdef Arm *arm
        for i in range(self.racing):
            arm = &self.arms[self.order[i]]
            arm.wins = arm.visits * self.trials[i].win
            arm.total = arm.visits * self.trials[i].value
            arm.score = arm.visits * self.trials[i].score
            arm.squares = arm.score * self.trials[i].score
            for j in range(i + 1):
                self.products[self.order[i] * self.size + self.order[j]] = arm.total * self.trials[j].value
        leader = self.leader()
        for i in range(self.size):
            self.arms[i].racing = i == leader
        self.racing = 1

    # By how many standard errors of their difference one move in the race is ahead of another.
    cdef double ahead(self, int one, int other) noexcept nogil:
        cdef double n = self.worlds
        cdef double difference = (self.arms[one].total - self.arms[other].total) / n
        cdef double product = self.products[max(one, other) * self.size + min(one, other)]
        cdef double variance = (
            self.products[one * self.size + one] + self.products[other * self.size + other] - 2 * product
        ) / n - difference * difference
        if variance <= 0:
            # The same in every world.
            return INFINITY if difference > 0 else 0
        return difference * sqrt(n / variance)

    # Takes out of the race what is worse than the leader by `confidence` standard errors of their difference.
    cdef void drop_worse(self) noexcept nogil:
        cdef int leader = self.leader()
        cdef int i
        for i in range(self.size):
            if i != leader and self.arms[i].racing and self.ahead(leader, i) > self.confidence:
                self.arms[i].racing = False
                self.racing -= 1
        for i in range(self.size):
            if self.arms[i].racing and self.arms[i].codes[0] != self.arms[leader].codes[0]:
                return
        # The turns left begin with the same move; how it goes on is decided after it.
        for i in range(self.size):
            self.arms[i].racing = i == leader
        self.racing = 1

    # Of equals the planner's choice, else the first, as in `ranking`.
    cdef int leader(self) noexcept nogil:
        cdef int i, best = self.favourite
        cdef double most = self.arms[best].total if self.arms[best].racing else -1e300
        for i in range(self.size):
            if self.worlds and self.arms[i].racing and self.arms[i].total > most:
                most = self.arms[i].total
                best = i
        return best

    def run(self, long iterations, pool=None):
        """Plays at most that many playouts, in whole worlds, without the GIL; none when the race is decided.

        Where there is one turn only, and so no race, it is played for what it is worth.

        With more than one thread, ``pool`` is the ``concurrent.futures`` executor in which all but one work.
        """
        cdef long end = self.nodes + min(iterations, LONG_MAX - self.nodes)
        cdef int first, count, i, n
        if self.threads > 1 and pool is None:
            raise ValueError(f"a search in {self.threads} threads needs a pool")
        while (
            (self.racing > 1 or self.size == 1 and not self.solved)
            and self.nodes + self.racing <= end
            and self.worlds < MAX_WORLDS
        ):
            PyErr_CheckSignals()
            n = 0
            for i in range(self.size):
                if self.arms[i].racing:
                    self.order[n] = i
                    n += 1
            first = self.worlds
            count = 1 if self.alone else min(self.next_check - first, (end - self.nodes) // self.racing, BATCH)
            if self.threads == 1 or count < (THREADED_INFERRED if self.inferring else THREADED) or self.solving:
                with nogil:
                    self.play_lanes(0, 1, first, count)
                    self.add(count)
            else:
                parts = [pool.submit(self._play_part, i, first, count) for i in range(1, self.threads)]
                self._play_part(0, first, count)
                for part in parts:
                    part.result()
                self.add(count)

    def believed(self, int samples=1000):
        """What the search thinks of the hidden tiles: seat × tile as in ``Belief.matrix``, from so many of its worlds.

        Unlike there, how the others played is part of it. The search is left as it is. Raises ``ValueError`` for a
        search in the truth, and for less than one sample.
        """
        cdef State *s = &self.view.state
        cdef State world
        cdef Rng rng
        cdef int _, i, seat, tile
        cdef int tiles = (s.rules.top + 1) * (s.rules.top + 2) // 2
        if not self.guessing or samples < 1:
            raise ValueError(f"samples {samples}: expected at least 1, and a search that does not know the truth")
        counts = np.zeros((s.rules.players + 1, tiles))
        cdef double[:, ::1] cells = counts
        rng_seed(&rng, self.seed)
        enter_lane(&self.lanes[0], &self.spaces[0])
        for _ in range(samples):
            world = s[0]
            self.next_world(&world, &self.spaces[0], &rng)
            for seat in range(s.rules.players):
                for tile in range(tiles):
                    cells[seat, tile] += holds(&world, seat, tile)
            for i in range(world.bone_next, world.bone_end):
                cells[s.rules.players, world.bone[i]] += 1
        return counts / samples

    @property
    def decided(self):
        """All turns left in the race begin with the same move."""
        return self.racing <= 1

    @property
    def lead(self):
        """By how many standard errors the leader is ahead of the next turn that begins with another move.

        0.0 before the first look at them, infinite when it is alone.
        """
        cdef int leader = self.leader()
        cdef int i
        cdef double least = INFINITY
        if self.racing > 1 and self.worlds < FIRST_CHECK:
            return 0.0
        for i in range(self.size):
            if self.arms[i].racing and self.arms[i].codes[0] != self.arms[leader].codes[0]:
                least = min(least, self.ahead(leader, i))
        return least

    @property
    def best(self):
        """The first move of the turn with the highest mean; the planner's choice before the first world."""
        return move_of_code(self.arms[self.leader()].codes[0])

    # The arm that a move is judged by: of those that begin with it the last one to leave the race, or the best.
    cdef int best_turn(self, move) except -1:
        arms = [i for i in self.ranking() if self.arms[i].codes[0] == move.code]
        if not arms:
            raise SeatError("{} is no move of the race", moves_of([move]))
        return arms[0]

    cdef list ranking(self):
        return sorted(
            range(self.size),
            key=lambda i: (
                not self.arms[i].racing, -self.arms[i].visits, -self.arms[i].total, i != self.favourite, i
            ),
        )

    def difference(self, one, other):
        """By how much ``one`` is better than ``other``, and the 95 % error of that: pips, with the bonus for winning.

        World by world: far more exact than the errors of the two say. Raises ``ValueError`` for moves that were not
        tried in the same worlds, as when one has left the race, or in none. A move is as good as its best turn.
        """
        cdef int i, j
        cdef double n, mean, squares
        i = self.best_turn(one)
        j = self.best_turn(other)
        n = self.arms[i].visits
        if n == 0 or self.arms[i].visits != self.arms[j].visits:
            raise SeatError("{} and {} were not tried in the same worlds", moves_of([one]), moves_of([other]))
        mean = (self.arms[i].total - self.arms[j].total) / n
        squares = self.products[i * self.size + i] + self.products[j * self.size + j]
        squares -= 2 * self.products[max(i, j) * self.size + min(i, j)]
        return mean, 1.96 * sqrt(max(squares / n - mean * mean, 0.0) / n)

    def candidates(self):
        """Each move with what the race knows of it.

        The visits are those of all turns that begin with it, the rest is of the best of them. Best first: what the race
        thinks of them decides, so the scores need not fall.
        """
        cdef Arm *arm
        cdef double mean, variance
        best = {}
        visits = {}
        for i in self.ranking():
            arm = &self.arms[i]
            move = move_of_code(arm.codes[0])
            visits[move] = visits.get(move, 0) + arm.visits
            if move in best:
                continue
            if arm.visits == 0:
                best[move] = None, None, None
                continue
            mean = arm.score / arm.visits
            win = arm.wins / arm.visits
            variance = arm.squares / arm.visits - mean * mean
            # One world says nothing of the spread, unless it is the only one there is.
            error = 1.96 * sqrt(max(variance, 0.0) / arm.visits) if arm.visits > 1 or self.solved else None
            best[move] = mean, error, win
        return [Candidate(move, visits[move], *figures) for move, figures in best.items()]


def game_chances(rules, past_scores, scores):
    """Each seat's chance to end the game with the fewest pips, if the running round ends with ``scores``.

    ``past_scores`` are the rounds before it, a row of seats for each. The rounds to come are taken for equal chances
    with the spread of planners' scores; after the last one those with the lowest total share the win.
    Raises ``ValueError`` for rows that are not of the rules' players.
    """
    cdef Standing standing
    cdef int none[SEATS]
    cdef int seat
    if any(len(row) != rules.players for row in (*past_scores, scores)):
        raise ValueError(f"rows of scores: expected {rules.players} numbers in each")
    make_standing(&standing, rules, past_scores, 0, 1.0)
    memset(none, 0, sizeof(none))
    out = []
    for seat in range(rules.players):
        standing.totals[seat] += scores[seat]
    for seat in range(rules.players):
        standing.seat = seat
        out.append(winning_chance(&standing, none))
    return tuple(out)
