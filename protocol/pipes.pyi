def exchange(give: int, take: int, data: bytes, wait: float) -> tuple[int, float, float, bytes | None]:
    """Writes ``data`` to the descriptor ``give``, waits ``wait`` seconds at most for something to read from ``take``,
    and reads once; neither may block.

    Returns how many bytes were written, the times (as ``time.monotonic``) just before that and just after the
    reading, and what was read: None when nothing came in time or not all was written, and empty at the end. When
    something can be read before, nothing is written, and the number is -1. Raises ``OSError``.
    """
