"""What a seat can know of the hidden tiles, and full worlds that agree with it."""

from libc.string cimport memset

from caboose.engine.rules.tile_sets cimport SEATS, TILE_COUNT, Rng, checked_seed, mix, rng_seed, u8, u32
from caboose.engine.belief.evidence cimport DEALT, NO_COHORT, Evidence, gather_evidence, in_set
from caboose.engine.belief.inference cimport Model, gather_choices, infer, infer_start
from caboose.engine.rules.round cimport Observation, Round
from caboose.engine.belief.sampler cimport (
    BONEYARD,
    Sampler,
    belief_mix,
    belief_start,
    next_matching,
    write_world,
)
from caboose.engine.rules.state cimport EV_DRAW, EV_PLAY, NO_TILE, State, code_tile, rules_hub_tile

from inspect import signature
from typing import NamedTuple

import numpy as np

from caboose.engine.rules.deal import deal_of
from caboose.engine.rules.rules import tiles_in_set
from caboose.engine.rules.seats import Seat, SeatError
from caboose.engine.rules.tiles import TILES, Tile

cdef enum:
    # Tries of the chain for probabilities, which want more of it than a search: they stand alone.
    BEFORE_STEPS = 8000
    BETWEEN_STEPS = 50


class Cohort(NamedTuple):
    """Tiles that came into a hand together, and what is proved of them.

    ``event`` is the number of the draw among the events of the observation; None for the hand as it was dealt. At most
    ``most`` of the tiles now in the hand are of it. ``without`` are the pips that none of them has (of those that are
    on a hidden tile), ``excluded`` all hidden tiles that they cannot be.
    """

    event: int | None
    most: int
    without: tuple[int, ...]
    excluded: tuple[Tile, ...]


# What `inspect` shows: it cannot see the parameters of a class like the one below.
def _parameters(view):
    pass


cdef class Belief:
    """What an observation says of the hidden tiles: the rules' proofs, and nothing about how people play.

    All deals that admit what was seen are equally likely. Raises ``ValueError`` when there is none.
    """

    cdef Observation view
    cdef Evidence evidence
    cdef Sampler start

    __signature__ = signature(_parameters)

    def __init__(self, Observation view not None):
        cdef bint possible
        self.view = view
        possible = gather_evidence(
            &self.evidence, &view.state, view.seat, view.rules.hand, view.starter, view.log.events, view.log.size
        )
        if not possible or not belief_start(&self.start, &self.evidence, view.state.rules.players, view.seat):
            raise SeatError("no deal agrees with what seat {} has seen", Seat(view.seat))

    def sample(self, seed=0):
        """A full world, uniformly at random: the round as it would stand after one of the deals that are possible.

        The same ``seed`` (0 to 2**63 - 1; ``ValueError`` otherwise) gives the same world.
        """
        cdef Round world = Round.__new__(Round)
        cdef Sampler b = self.start
        cdef State *s = &world.state
        cdef Rng rng
        cdef u8 drawn[TILE_COUNT]
        cdef int i
        rng_seed(&rng, mix(checked_seed(seed)))
        belief_mix(&b, &rng)
        world.copy_from(self.view)
        world.past_scores = self.view.past_scores
        memset(s.bone, 0, sizeof(s.bone))
        write_world(s, &b)
        self.find_drawn(&b, drawn)
        for i in range(s.bone_next):
            s.bone[i] = drawn[i]
        i = 0
        for event in range(world.log.size):
            if world.log.events[event] >> 24 == EV_DRAW:
                world.log.events[event] = (world.log.events[event] & 0xFFFF0000) | drawn[i]
                i += 1
        return world

    # The tile of each draw.
    cdef void find_drawn(self, const Sampler *b, u8 *drawn) noexcept nogil:
        cdef const Evidence *e = &self.evidence
        cdef const u32 *events = self.view.log.events
        cdef int i, place, tile
        cdef int n = 0
        cdef u32 after
        cdef int hub = rules_hub_tile(&self.view.state.rules)
        for i in range(self.view.log.size):
            if events[i] >> 24 == EV_DRAW:
                drawn[n] = events[i] & 0xFFFF
                if drawn[n] == NO_TILE and i + 1 < self.view.log.size:
                    # Where it was not kept it was played, or it was the hub.
                    after = events[i + 1]
                    drawn[n] = code_tile(after & 0xFFFF) if after >> 24 == EV_PLAY else hub
                n += 1
        for place in range(b.places - b.bone):
            if e.draw[b.cohort[place]] != DEALT:
                drawn[e.draw[b.cohort[place]]] = b.tile[place]
        for tile in range(TILE_COUNT):
            if e.origin[tile] != NO_COHORT and e.draw[e.origin[tile]] != DEALT:
                drawn[e.draw[e.origin[tile]]] = tile

    def deal(self, seed=0):
        """The deal from which the world of that ``seed`` came: hands as dealt, and the boneyard in its order."""
        return deal_of(self.sample(seed))

    def matrix(self, int samples=1000, seed=0, double inference=0.0):
        """Where each tile is: an array (players + 1) × tiles of the set, float64, by seats and numbers of tiles.

        A cell is the probability that the seat holds the tile now, in the last row that it is in the boneyard. Rows
        add up to the sizes of the hands, columns to 1, or to 0 for a tile on the table. Probabilities are shares of
        ``samples`` worlds (at least 1), and exact while nothing is proved. The same ``seed`` (0 to 2**63 - 1) gives the
        same array. ``inference`` (0 to 1000) is how much the choices of the others count, as in ``Search``; 0: nothing,
        only proofs do. Raises ``ValueError`` for other numbers.
        """
        cdef Sampler b = self.start
        cdef int players = b.players
        cdef int free = b.places - b.bound
        cdef bint even = b.mover < 0   # all free places are alike
        cdef double[:, ::1] cells
        cdef double[SEATS + 1] share
        cdef Rng rng
        cdef int place, row, tile, _
        cdef Model model
        cdef bint inferring = False
        if samples < 1:
            raise ValueError(f"samples {samples}: expected at least 1")
        if not 0 <= inference <= 1000:
            raise ValueError(f"inference {inference}: expected 0 to 1000")
        if inference > 0:
            gather_choices(
                &model, &self.evidence, &self.view.state, self.view.seat, self.view.rules.hand, self.view.starter,
                self.view.log.events, self.view.log.size,
            )
            model.weight = inference
            inferring = model.size > 0
        even = even and not inferring
        if b.bound == 0 and even:
            samples = 1
        rng_seed(&rng, mix(checked_seed(seed)))
        out = np.zeros((players + 1, tiles_in_set(self.view.rules.set)))
        cells = out
        memset(share, 0, sizeof(share))
        for place in range(b.bound, b.places):
            share[b.owner[place]] += 1.0 / free
        belief_mix(&b, &rng)
        with nogil:
            if inferring:
                infer_start(&b, &model)
                infer(&b, &model, BEFORE_STEPS, &rng)
            for _ in range(samples):
                if inferring:
                    infer(&b, &model, BETWEEN_STEPS, &rng)
                else:
                    next_matching(&b, b.sweeps, &rng)
                for place in range(b.places):
                    tile = b.tile[place]
                    if not in_set(b.hidden, tile):
                        continue
                    if place < b.bound or not even:
                        row = b.owner[place]
                        cells[players if row == BONEYARD else row, tile] += 1.0
                    else:
                        for row in range(players):
                            cells[row, tile] += share[row]
                        cells[players, tile] += share[BONEYARD]
        out /= samples
        for tile in range(cells.shape[1]):
            cells[b.observer, tile] = in_set(self.view.state.hand[b.observer], tile)
        return out

    def cohorts(self, int seat):
        """What is proved of the tiles in the hand of ``seat`` (0 to 13), the oldest first; of the own hand nothing.

        Raises ``ValueError`` for a seat that does not exist.
        """
        cdef const Evidence *e = &self.evidence
        cdef int c
        cdef list draws
        if not 0 <= seat < self.start.players:
            raise ValueError(f"seat {seat}: expected 0 to {self.start.players - 1}")
        draws = [i for i in range(self.view.log.size) if self.view.log.events[i] >> 24 == EV_DRAW]
        out = []
        for c in range(e.cohorts):
            if e.seat[c] == seat and e.places[c]:
                hidden = [tile for tile in TILES if in_set(e.hidden, tile.id)]
                left = [tile for tile in hidden if in_set(self.start.allowed[c], tile.id)]
                excluded = [tile for tile in hidden if tile not in left]
                without = {pips for tile in excluded for pips in tile} - {pips for tile in left for pips in tile}
                event = None if e.draw[c] == DEALT else draws[e.draw[c]]
                out.append(Cohort(event, e.places[c], tuple(sorted(without)), tuple(excluded)))
        return tuple(out)


def determinize(Observation view not None, seed=0):
    """A full world that agrees with ``view``: ``Belief(view).sample(seed)``."""
    return Belief(view).sample(seed)
