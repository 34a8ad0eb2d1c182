from caboose.engine.rules.tile_sets cimport u16


cdef class Move:
    cdef readonly u16 code
    cdef readonly object tile
    cdef readonly int train
    cdef readonly int match
    cdef readonly int open
    cdef str text


cdef Move move_of_code(u16 code)
