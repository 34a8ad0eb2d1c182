from caboose.engine.rules.state cimport Header, Log, State


cdef Header compile_rules(object rules, int hub) except *


cdef class Table:
    cdef State state
    cdef Log log
    cdef readonly object rules
    cdef readonly int starter

    cdef bytes state_bytes(self)
    cdef bytes log_bytes(self)
    cdef int restore(self, object rules, int starter, bytes state, bytes log) except -1
    cdef int make_room(self) except -1
    cdef int copy_from(self, Table other) except -1
    cdef object open_double(self, int index)
    cdef int check_train(self, int train) except -1


cdef class Round(Table):
    cdef readonly tuple past_scores

    cdef int find_hub(self) except -1


cdef class Observation(Table):
    cdef readonly int seat
    cdef readonly tuple past_scores

    cdef int take_hand(self, object hand, tuple events) except -1
    cdef int replay_hub(self, tuple events) except -1
    cdef int draw(self, int number, object event) except -1
    cdef int step(self, int number, object event) except -1
    cdef int check_play(self, str where, object move) except -1
