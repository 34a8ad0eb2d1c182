"""Starts an engine process under a keeper, in C (`keeper.h`): nothing of Python may run between a fork and a program."""

from collections.abc import Sequence

class LackError(OSError):
    """This process lacks what it takes to start another one, whatever that is: descriptors, processes, memory."""

def spawn(
    path: str, words: Sequence[str], streams: Sequence[int], limits: Sequence[int]
) -> tuple[int, int, int]:
    """Starts the program ``path`` with ``words`` (its name and arguments), in a session of its own, under a keeper.

    ``streams`` are the descriptors that become its standard input, output and error; it has no others. ``limits`` are
    the bytes of memory, processes of the user, seconds of processor time, bytes of a file and bytes of a core that it may
    use, -1 where there is no limit. Gives the numbers of the keeper and of the program's process, and the socket on which
    ``keeper.h`` says what is said. Raises ``LackError`` where we cannot start anything, else ``OSError``, and
    ``ValueError`` for a NUL in a word.
    """

def hide() -> None:
    """Makes the memory of this process, and what /proc tells of its files and environment, unreadable to other processes
    of the same user who are not its superuser (Linux; elsewhere it does nothing)."""
