"""Whether there is room for what a command loads.

Where there is not, libraries of linear algebra may try for ever to get memory, or end the process: so this is looked at
before they are loaded.
"""

from __future__ import annotations

import errno
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MIB: Final = 1 << 20
LEAST: Final = 160 * MIB
"""Address space for what all commands load (numpy): they end of themselves well below it."""
MUCH: Final = 320 * MIB
"""Address space for those that load scipy too."""

PER_THREAD: Final = 64 * MIB
"""Address space for each more thread that the user wants of such a library."""
NO_MEMORY: Final = "the memory does not suffice"

_LOADS_SCIPY: Final = ("match", "compare", "ladder", "tune", "power", "suite", "check")
_LOADS_LITTLE: Final = ("log",)
_LOADER: Final = ("failed to map segment", "annot allocate memory")  # what the dynamic loader says


def lacking_space(command: str) -> str:
    """What people are told where the address space of this process is limited (``ulimit -v``) and will not do for
    ``command``, such as ``ladder``, or for ``""``, the help; empty where it will do, or has no limit."""
    if not command or command.startswith("-") or command in _LOADS_LITTLE:
        return ""
    need = (MUCH if command in _LOADS_SCIPY else LEAST) + PER_THREAD * (_threads() - 1)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= need:
        return ""
    return (
        f"{NO_MEMORY}: this process may have {limit // MIB} MiB of address space (`ulimit -v`), "
        f"expected at least {need // MIB} MiB for {command}"
    )


def for_lack_of_memory(error: BaseException | None) -> bool:
    """Whether something failed since there was too little memory: also where a library could not be loaded, or raises
    something else then."""
    while error is not None:
        text = str(error)
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, ImportError) and any(words in text for words in _LOADER):
            return True
        error = error.__cause__ or error.__context__
    return False


def _threads() -> int:
    """How many threads a library of linear algebra is told to have; no more than there are processors."""
    told = os.environ.get("OPENBLAS_NUM_THREADS", "1")
    return max(1, min(int(told), os.cpu_count() or 1)) if told.isdecimal() else 1
