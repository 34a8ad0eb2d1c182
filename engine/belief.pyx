"""Full worlds that agree with what a seat knows."""

from caboose.engine.bits cimport TILE_COUNT, Rng, mix, rng_seed, u8, u64
from caboose.engine.round cimport Observation, Round


def determinize(Observation view not None, seed=0):
    """A full world that agrees with ``view``: the same table, the hidden tiles dealt anew.

    What draws and passes rule out is respected: a seat holds nothing that it would have had to play. Which of its
    tiles were drawn when is guessed, so a world is a likely one, not a uniformly random one of all possible. In its
    events the tiles that others drew stay unknown. The same ``seed`` (0 to 2**63 - 1) gives the same world.
    """
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
