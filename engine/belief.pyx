"""Full worlds that agree with what a seat knows."""

from caboose.engine.bits cimport TILE_COUNT, Rng, mix, rng_seed, u8, u64
from caboose.engine.round cimport Observation, Round


def determinize(Observation view not None, seed=0):
    cdef Round world = Round.__new__(Round)
    cdef Slots slots
    cdef u8 pool[TILE_COUNT]
    cdef Rng rng
    cdef int size
    world.copy_from(view)
    rng_seed(&rng, mix(<u64>(seed & 0x7FFFFFFFFFFFFFFF)))
    make_slots(
        &slots, &view.state.rules, view.seat, view.rules.hand, view.starter, view.log.events, view.log.size, &rng
    )
    size = hidden_tiles(&view.state, view.seat, pool)
    deal_world(&world.state, &slots, pool, size, &rng)
    return world
