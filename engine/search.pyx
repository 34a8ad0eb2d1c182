"""The search: a race of the legal moves over worlds that agree with what the seat knows.

One world (``sampler.pxd``) is drawn at a time, and every move still in the race is played in it, with every seat then
following its plan to the end of the round (``playout.pxd``). So all moves meet the same worlds, and what is compared is
the difference in each world. A move that is clearly worse than the leader leaves the race.
"""

from libc.math cimport fabs
from libc.string cimport memset

from caboose.engine.bits cimport Rng, lowest32, mix, rng_seed, u16, u64
from caboose.engine.dealing cimport shuffle_boneyard
from caboose.engine.moves cimport move_of_code
from caboose.engine.plan cimport Plan, make_plan
from caboose.engine.playout cimport Plans, play_out_planned
from caboose.engine.policy cimport choose_planned, follow
from caboose.engine.round cimport Observation, Round
from caboose.engine.sampler cimport Sampler, belief_build, belief_sample
from caboose.engine.state cimport MAX_MOVES, State, apply_move, hand_score, legal_moves

cdef enum:
    MAX_ARMS = 128       # of more moves than that the last ones are left out, the planner's choice excepted
    FIRST_WORLDS = 16    # before any move leaves the race
    CHECK_EVERY = 8      # worlds between two looks at the race
    ROOT_PLAN_NODES = 2000


cdef struct Arm:
    u16 code
    bint racing
    int visits
    int wins             # playouts in which nobody ended with fewer pips
    double total         # of the values, win bonus included
    double value         # in the newest world


cdef class Search:
    """The search of one decision: a race of its moves over worlds that agree with an observation.

    ``seed`` is 0 to 2**63 - 1. A move leaves the race when it is worse than the leader by ``confidence`` standard
    errors of their difference. ``win_bonus`` is the pips that winning the round is worth besides the score;
    ``plan_nodes`` bounds the search for a train in playouts, and ``noise`` is the range of chance in their ranks
    (points). ``truth`` is for measuring only: the round itself, which is then looked at instead of worlds; of it only
    the hands, with the boneyard shuffled anew for each world, when ``open_boneyard`` is False. Raises ``ValueError``
    when the seat is not to move, when no deal agrees with what it has seen, or when ``truth`` is not the round it sees.
    """

    cdef Observation view
    cdef Sampler belief
    cdef Plan own_plan
    cdef Plans given     # what the seats mean to do when the world begins
    cdef Plans plans
    cdef Arm arms[MAX_ARMS]
    cdef double products[MAX_ARMS][MAX_ARMS]  # sums over worlds of value x value, for pairs in the race
    cdef readonly int size
    cdef readonly int racing
    cdef int favourite   # the planner's choice: the answer when there was no time for a world
    cdef readonly long nodes
    cdef int worlds
    cdef u64 seed
    cdef double confidence
    cdef double win_bonus
    cdef int plan_nodes
    cdef int noise
    cdef Round truth
    cdef bint open_boneyard

    def __init__(
        self,
        Observation view not None,
        seed=0,
        *,
        double confidence=4.0,
        double win_bonus=10.0,
        int plan_nodes=40,
        int noise=4,
        Round truth=None,
        bint open_boneyard=True,
    ):
        cdef u16 codes[MAX_MOVES]
        cdef Plan plan
        cdef Rng rng
        cdef int i, n
        cdef State *s = &view.state
        if s.over or s.turn != view.seat:
            raise ValueError(f"seat {view.seat + 1} is not to move")
        self.view = view
        self.seed = mix(<u64>(seed & 0x7FFFFFFFFFFFFFFF))
        self.confidence = confidence
        self.win_bonus = win_bonus
        self.plan_nodes = plan_nodes
        self.noise = noise
        if truth is not None and truth.observe(view.seat, view.past_scores) != view:
            raise ValueError("truth is another round than the one observed")
        self.truth = None if truth is None else truth.copy()
        self.open_boneyard = open_boneyard
        make_plan(&self.own_plan, &s.hand[view.seat][0], lowest32(s.ends[view.seat]), ROOT_PLAN_NODES)
        n = legal_moves(s, codes)
        plan = self.own_plan
        rng_seed(&rng, self.seed)
        self.favourite = choose_planned(s, codes, n, &plan, ROOT_PLAN_NODES, 0, &rng)
        self.size = self.racing = min(n, MAX_ARMS)
        if self.favourite >= self.size:
            codes[self.size - 1] = codes[self.favourite]
            self.favourite = self.size - 1
        memset(self.arms, 0, sizeof(self.arms))
        memset(self.products, 0, sizeof(self.products))
        for i in range(self.size):
            self.arms[i].code = codes[i]
            self.arms[i].racing = True
        if not belief_build(
            &self.belief, s, view.seat, view.rules.hand, view.starter, view.log.events, view.log.size, &rng
        ):
            raise ValueError(f"no deal agrees with what seat {view.seat + 1} has seen")

    # Plays one move in a world and the round to its end: the pips by which the seat ends below the others' mean, and
    # the bonus if nobody has fewer.
    cdef void playout(self, State *s, Arm *arm, Rng *rng) noexcept nogil:
        cdef int seat = self.view.seat
        cdef int other, score, own, least = 1 << 30
        cdef int total = 0
        for other in range(s.rules.players):
            self.plans.seats[other] = self.given.seats[other]
        follow(s, &self.plans.seats[seat], arm.code)
        apply_move(s, arm.code, NULL)
        play_out_planned(s, &self.plans, self.plan_nodes, self.noise, rng)
        own = hand_score(s, seat)
        for other in range(s.rules.players):
            if other != seat:
                score = hand_score(s, other)
                total += score
                least = score if score < least else least
        arm.value = <double>total / (s.rules.players - 1) - own
        if own <= least:
            arm.wins += 1
            arm.value += self.win_bonus
        arm.visits += 1
        arm.total += arm.value

    # One world: every move in the race is played in it.
    cdef void world(self) noexcept nogil:
        cdef State start = self.view.state
        cdef State s
        cdef Rng rng, stream
        cdef int i, j
        rng_seed(&rng, self.seed + mix(self.worlds + 1))
        if self.truth is not None:
            start = self.truth.state
            if not self.open_boneyard:
                shuffle_boneyard(&start, &rng)
        else:
            belief_sample(&start, &self.belief, &rng)
        # The other hands are the same for every move, and so are their plans.
        for i in range(start.rules.players):
            if i == self.view.seat:
                self.given.seats[i] = self.own_plan
            else:
                make_plan(&self.given.seats[i], &start.hand[i][0], lowest32(start.ends[i]), self.plan_nodes)
        for i in range(self.size):
            if self.arms[i].racing:
                s = start
                stream = rng
                self.playout(&s, &self.arms[i], &stream)
                for j in range(i + 1):
                    if self.arms[j].racing:
                        self.products[i][j] += self.arms[i].value * self.arms[j].value
        self.nodes += self.racing
        self.worlds += 1
        if self.worlds >= FIRST_WORLDS and self.worlds % CHECK_EVERY == 0:
            self.drop_worse()

    # Takes out of the race what is worse than the leader by `confidence` standard errors of their difference.
    cdef void drop_worse(self) noexcept nogil:
        cdef int leader = self.leader()
        cdef int i
        cdef double n = self.worlds
        cdef double difference, variance, product
        for i in range(self.size):
            if i == leader or not self.arms[i].racing:
                continue
            difference = (self.arms[leader].total - self.arms[i].total) / n
            product = self.products[i][leader] if i > leader else self.products[leader][i]
            variance = (self.products[leader][leader] + self.products[i][i] - 2 * product) / n - difference * difference
            if difference * fabs(difference) * n > self.confidence * self.confidence * variance:
                self.arms[i].racing = False
                self.racing -= 1

    cdef int leader(self) noexcept nogil:
        cdef int i, best = self.favourite
        cdef double most = -1e300
        for i in range(self.size):
            if self.worlds and self.arms[i].racing and self.arms[i].total > most:
                most = self.arms[i].total
                best = i
        return best

    def run(self, long iterations):
        """Plays at most that many playouts, in whole worlds, without the GIL; none when the race is decided."""
        cdef long end = self.nodes + iterations
        with nogil:
            while self.racing > 1 and self.nodes + self.racing <= end:
                self.world()

    @property
    def decided(self):
        """Only one move is left in the race."""
        return self.racing <= 1

    @property
    def best(self):
        """The move with the highest mean in the race; the planner's choice while no world was played."""
        return move_of_code(self.arms[self.leader()].code)

    def candidates(self):
        """Each move with its visits and its expected score: pips below the others' mean, without the win bonus.

        Best first: what the race thinks of them decides, so the scores need not fall.
        """
        cdef int i
        order = sorted(
            range(self.size),
            key=lambda i: (not self.arms[i].racing, -self.arms[i].visits, -self.arms[i].total, i),
        )
        out = []
        for i in order:
            arm = &self.arms[i]
            value = (arm.total - self.win_bonus * arm.wins) / arm.visits if arm.visits else 0.0
            out.append((move_of_code(arm.code), arm.visits, value))
        return out
