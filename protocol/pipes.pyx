"""A question and its answer over two pipes in one call. Compiled, as a referee does it for each move."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from libc.errno cimport EAGAIN, EINTR, errno
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport read, write

cdef extern from "<poll.h>" nogil:
    cdef struct pollfd:
        int fd
        short events
        short revents
    int poll(pollfd *descriptors, unsigned long count, int timeout)
    enum: POLLIN

cdef enum:
    CHUNK = 65_536
    MOST_WAIT = 1_000_000_000  # ms


cdef inline double now() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + t.tv_nsec * 1e-9


def exchange(int give, int take, bytes data not None, double wait):
    """Writes ``data`` to the descriptor ``give``, waits ``wait`` seconds at most for something to read from ``take``,
    and reads once; neither may block.

    Returns how many bytes were written, the times (as ``time.monotonic``) just before that and just after the
    reading, and what was read: None when nothing came in time or not all was written, and empty at the end. When
    something can be read before, nothing is written, and the number is -1. Raises ``OSError``.
    """
    cdef pollfd waited
    cdef char buffer[CHUNK]
    cdef double begin, left
    cdef Py_ssize_t sent, came
    cdef int ready
    waited.fd = take
    waited.events = POLLIN
    waited.revents = 0
    if poll(&waited, 1, 0) != 0:
        return -1, 0.0, 0.0, None
    begin = now()
    sent = write(give, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    if sent < 0:
        if errno != EAGAIN:
            PyErr_SetFromErrno(OSError)
        sent = 0
    if sent < PyBytes_GET_SIZE(data):
        return sent, begin, begin, None
    while True:
        left = (begin + wait - now()) * 1000
        if left <= 0:
            return sent, begin, now(), None
        with nogil:
            ready = poll(&waited, 1, <int>min(left, MOST_WAIT) + 1)
        if ready > 0:
            break
        if ready < 0:
            if errno != EINTR:
                PyErr_SetFromErrno(OSError)
            PyErr_CheckSignals()
    came = read(take, buffer, CHUNK)
    if came < 0:
        if errno == EAGAIN:
            return sent, begin, now(), None
        PyErr_SetFromErrno(OSError)
    return sent, begin, now(), PyBytes_FromStringAndSize(buffer, came)
