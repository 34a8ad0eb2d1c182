"""Starts an engine process under a keeper, in C (`keeper.h`): nothing of Python may run between a fork and a program."""

import os

from libc.stdlib cimport free, malloc
from libc.string cimport memset
from posix.types cimport pid_t


cdef extern from "keeper.h" nogil:
    enum:
        KEEPER_LIMITS

    ctypedef struct keeper_job:
        const char *path
        char **argv
        int streams[3]
        long long limits[KEEPER_LIMITS]

    int keeper_start(const keeper_job *job, pid_t *keeper, pid_t *engine, int *control, int *ours)
    int keeper_hide()


class LackError(OSError):
    """This process lacks what it takes to start another one, whatever that is: descriptors, processes, memory."""


def spawn(path, words, streams, limits):
    """Starts the program ``path`` with ``words`` (its name and arguments), in a session of its own, under a keeper.

    ``streams`` are the descriptors that become its standard input, output and error; it has no others. ``limits`` are
    the bytes of memory, processes of the user, seconds of processor time, bytes of a file and bytes of a core that it may
    use, -1 where there is no limit. Gives the numbers of the keeper and of the program's process, and the socket on which
    ``keeper.h`` says what is said. Raises ``LackError`` where we cannot start anything, else ``OSError``, and
    ``ValueError`` for a NUL in a word.
    """
    cdef keeper_job job
    cdef pid_t keeper = 0, engine = 0
    cdef int control = -1, ours = 0, failed, i
    cdef bytes program = os.fsencode(path)
    cdef list texts = [os.fsencode(word) for word in words]
    if not texts or len(streams) != 3 or len(limits) != KEEPER_LIMITS:
        raise ValueError(f"expected at least one word, 3 streams and {KEEPER_LIMITS} limits")
    if any(b"\0" in text for text in [program, *texts]):
        raise ValueError("embedded null byte")
    cdef char **places = <char **> malloc((len(texts) + 2) * sizeof(char *))
    if places == NULL:
        raise MemoryError
    memset(&job, 0, sizeof(job))
    places[0] = NULL  # keeper.h has a use for it
    for i in range(len(texts)):
        places[i + 1] = <char *> <bytes> texts[i]
    places[len(texts) + 1] = NULL
    job.path = program
    job.argv = places + 1
    for i in range(3):
        job.streams[i] = streams[i]
    for i in range(KEEPER_LIMITS):
        job.limits[i] = limits[i]
    with nogil:
        failed = keeper_start(&job, &keeper, &engine, &control, &ours)
    free(places)
    if failed:
        raise (LackError if ours else OSError)(failed, os.strerror(failed), path)
    return keeper, engine, control


def hide():
    """Makes the memory of this process, and what /proc tells of its files and environment, unreadable to other processes
    of the same user who are not its superuser (Linux; elsewhere it does nothing)."""
    with nogil:
        keeper_hide()
