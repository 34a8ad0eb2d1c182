"""A question and its answer over two pipes, each in one call. Compiled, as a referee does it for each move.

The time of an answer is that of the moment when it woke us. A thread that is woken where others want the processor too
may have to wait for its turn, many milliseconds; Linux counts that, and it is taken off the time at which we look. What
has come is not older, though, than the pipe says by its time of change, which is exact to a tick of the system.
"""

import os
from contextlib import suppress

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.pythread cimport PyThread_get_thread_ident
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdlib cimport strtoull
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from posix.unistd cimport close, pread, read, write

cdef extern from "<poll.h>" nogil:
    cdef struct pollfd:
        int fd
        short events
        short revents
    int poll(pollfd *descriptors, unsigned long count, int timeout)
    enum: POLLIN

cdef extern from * nogil:
    """
    #include <math.h>
    #include <sys/stat.h>
    #include <time.h>

    /* Seconds since a pipe was last written to, at most a tick of the system too many; infinite where nobody tells. */
    static double since_written(int descriptor) {
    #ifdef __linux__
        struct stat status;
        struct timespec now;
        if (fstat(descriptor, &status) == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0)
            return (now.tv_sec - status.st_ctim.tv_sec) + (now.tv_nsec - status.st_ctim.tv_nsec) * 1e-9;
    #else
        (void)descriptor;
    #endif
        return INFINITY;
    }
    """
    double since_written(int descriptor)

cdef enum:
    CHUNK = 65_536
    MOST_WAIT = 1_000_000_000  # ms
    NUMBERS = 64  # bytes of what /proc says, at most

cdef double SAME_TURN = 1e-4  # seconds: who was looked at so short a time ago has not waited since
cdef double UNNOTICED = 5e-4  # seconds of waiting in which we need not ask what else may have come

cdef int counter = -1  # the descriptor where Linux says how long a thread has waited for a processor …
cdef long counted = 0  # … the thread …
cdef double waited = 0.0  # … what it said last, in seconds …
cdef unsigned long long turns = 0  # … how often the thread was given one …
cdef double looked = 0.0  # … and when we looked


cdef inline double now() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + t.tv_nsec * 1e-9


cdef inline bint is_counted() noexcept:
    """Whether the counter is there, and that of this thread."""
    return counter >= 0 and counted == PyThread_get_thread_ident()


cdef void look() noexcept nogil:
    """Reads the counter: the time on a processor, that of waiting for one, and the number of turns."""
    global looked, turns, waited
    cdef char text[NUMBERS]
    cdef char *rest
    cdef Py_ssize_t size = max(pread(counter, text, NUMBERS - 1, 0), 0)
    text[size] = 0
    strtoull(text, &rest, 10)
    waited = strtoull(rest, &rest, 10) * 1e-9
    turns = strtoull(rest, NULL, 10)
    looked = now()


cdef double arrival(int take, double begin) noexcept nogil:
    """When that came which woke us after ``begin``, when the counter was as it was looked at last."""
    cdef double before = waited
    cdef unsigned long long earlier = turns
    cdef double end, delay
    look()
    end = looked
    delay = waited - before
    if delay > UNNOTICED:
        # Did we sleep, and then wait for our turn? Or did we wait before we slept, or instead of it?
        if turns != earlier + 1 or end - begin - delay < SAME_TURN:
            return end
        delay = min(delay, max(since_written(take), 0.0))
    return max(end - delay, begin)


cdef Py_ssize_t hear_into(char *buffer, int take, double deadline, double *stamp) except? -2:
    """The bytes that were read, and when they came; -1 for none."""
    cdef pollfd waiting
    cdef double begin, left
    cdef Py_ssize_t size
    cdef int ready
    cdef bint counting = is_counted()
    waiting.fd = take
    waiting.events = POLLIN
    waiting.revents = 0
    while True:
        begin = now()
        left = (deadline - begin) * 1000
        if left <= 0:
            stamp[0] = begin
            return -1
        if counting and begin - looked > SAME_TURN:
            look()
        with nogil:
            ready = poll(&waiting, 1, <int>min(left, MOST_WAIT) + 1)
        if ready > 0:
            size = read(take, buffer, CHUNK)
            if size >= 0:
                stamp[0] = arrival(take, begin) if counting else now()
                return size
        if (ready < 0 and errno != EINTR) or (ready > 0 and errno != EAGAIN):
            PyErr_SetFromErrno(OSError)
        PyErr_CheckSignals()


def count_waiting():
    """From now on the times of what this thread hears leave out how long it had to wait for a processor, where the
    system counts that (Linux). It is for one thread of a process, the last that called this."""
    global counted, counter, looked
    _forget()
    with suppress(OSError):
        counter = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    counted = PyThread_get_thread_ident()
    looked = 0.0


def hear(int take, double wait):
    """Waits ``wait`` seconds at most for something to read from the descriptor ``take``, which may not block, and reads
    once.

    Returns the time (as ``time.monotonic``) when it came, or when it was seen that nothing had come, and what was read:
    None for nothing, and empty at the end. Raises ``OSError``.
    """
    cdef char buffer[CHUNK]
    cdef double stamp
    cdef Py_ssize_t size = hear_into(buffer, take, now() + wait, &stamp)
    return stamp, None if size < 0 else PyBytes_FromStringAndSize(buffer, size)


def exchange(int give, int take, bytes data not None, double wait):
    """Writes ``data`` to the descriptor ``give``, and hears what comes from ``take`` within ``wait`` seconds; neither
    may block.

    Returns how many bytes were written, the times (as ``time.monotonic``) just before that and when something came, and
    what was read: None when nothing came in time or not all was written, and empty at the end. When something can be
    read before, nothing is written, and the number is -1. Raises ``OSError``.
    """
    cdef pollfd waiting
    cdef char buffer[CHUNK]
    cdef double begin, stamp
    cdef Py_ssize_t sent, size
    waiting.fd = take
    waiting.events = POLLIN
    waiting.revents = 0
    if poll(&waiting, 1, 0) != 0:
        return -1, 0.0, 0.0, None
    begin = now()
    sent = write(give, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    if sent < 0:
        if errno != EAGAIN:
            PyErr_SetFromErrno(OSError)
        sent = 0
    if sent < PyBytes_GET_SIZE(data):
        return sent, begin, begin, None
    size = hear_into(buffer, take, begin + wait, &stamp)
    return sent, begin, stamp, None if size < 0 else PyBytes_FromStringAndSize(buffer, size)


def _forget():
    """The counter is another's, as in a fork."""
    global counter
    if counter >= 0:
        close(counter)
    counter = -1


os.register_at_fork(after_in_child=_forget)
