def count_waiting() -> None:
    """From now on the times of what this thread hears leave out how long it had to wait for a processor, where the
    system counts that (Linux). It is for one thread of a process, the last that called this."""

def hear(take: int, wait: float) -> tuple[float, bytes | None]:
    """Waits ``wait`` seconds at most for something to read from the descriptor ``take``, which may not block, and reads
    once.

    Returns the time (as ``time.monotonic``) when it came, or when it was seen that nothing had come, and what was read:
    None for nothing, and empty at the end. Raises ``OSError``.
    """

def exchange(give: int, take: int, data: bytes, wait: float) -> tuple[int, float, float, bytes | None]:
    """Writes ``data`` to the descriptor ``give``, and hears what comes from ``take`` within ``wait`` seconds; neither
    may block.

    Returns how many bytes were written, the times (as ``time.monotonic``) just before that and when something came, and
    what was read: None when nothing came in time or not all was written, and empty at the end. When something can be
    read before, nothing is written, and the number is -1. Raises ``OSError``.
    """
