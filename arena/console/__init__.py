"""What commands share that write to a terminal: a live view, durations, silence where nobody reads.

May import nothing else of the arena but ``errors``. Start reading in ``console``.
"""
