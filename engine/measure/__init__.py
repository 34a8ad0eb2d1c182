"""Single steps of the core in loops, for benchmarks and counts of instructions.

May import all other packages of the engine. Start reading in ``measure``.
"""
