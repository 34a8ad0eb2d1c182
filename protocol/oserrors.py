"""What the operating system refuses, in words for people: ``Too many open files``, never ``[Errno 24] …``."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[int, str]] = {
    errno.EMFILE: "this process has too many open files: expected fewer blocks at a time (--concurrency), or a larger "
    "limit (`ulimit -n`)",
    errno.ENFILE: "the whole system has too many open files: expected fewer programs at a time",
    errno.ENOMEM: "the memory does not suffice: expected fewer blocks at a time (--concurrency), or more memory",
    errno.EAGAIN: "no more processes or threads can be started: expected fewer blocks at a time (--concurrency), or a "
    "larger limit (`ulimit -u`)",
    errno.EDQUOT: "Disk quota exceeded: expected room for it",
    errno.ELOOP: "Too many levels of symbolic links: one may lead to itself",
}
"""Where the system's own words do not say what to do."""


def cause(error: BaseException) -> str:
    """Why something failed, without the file's name: of an ``OSError`` the system's words, or what to do."""
    if isinstance(error, OSError) and error.errno is not None:
        usual = os.strerror(error.errno)
        told = error.strerror or usual
        # Whoever raised it may have said more than the system does.
        return _WORDS.get(error.errno, told) if told == usual else told
    return " ".join(str(error).split()) or type(error).__name__
