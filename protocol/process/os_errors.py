"""What the operating system refuses, in words for people: ``Too many open files``, never ``[Errno 24] …``."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Final

_EXPECTED: Final[Mapping[int, str]] = {
    errno.EMFILE: " in this process: expected fewer blocks at a time (--concurrency), or a larger limit (`ulimit -n`)",
    errno.ENFILE: " on this machine: expected fewer programs at a time",
    errno.ENOMEM: ": expected fewer blocks at a time (--concurrency), or more memory",
    errno.EAGAIN: ": no more processes or threads; expected fewer blocks at a time (--concurrency), or a larger limit "
    "(`ulimit -u`)",
    errno.EDQUOT: ": expected room for it",
    errno.ELOOP: ": expected no link that leads back to itself",
}
"""What follows the system's own words where those do not say what to do."""


def cause(error: BaseException) -> str:
    """Why something failed, without the file's name: of an ``OSError`` the system's words, and what to do."""
    if isinstance(error, OSError) and error.errno is not None:
        usual = os.strerror(error.errno)
        told = error.strerror or usual
        more = _EXPECTED.get(error.errno, "") if told == usual else ""  # whoever raised it may have said more
        return f"{told}{more}"
    return " ".join(str(error).split()) or type(error).__name__
