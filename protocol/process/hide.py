"""What a process that knows secrets keeps from others of its user. It loads fast, as it is to be done first."""

from __future__ import annotations

import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4


def hide() -> None:
    """Makes the memory of this process, and what /proc tells of its files and environment, unreadable to others of the
    same user who are not the superuser, nor can they trace it (Linux; elsewhere it does nothing).

    Who has opened its memory before keeps that.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
