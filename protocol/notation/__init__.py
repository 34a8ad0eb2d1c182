"""The game as text for people: tiles, moves, events, deals, positions, observations.

May import ``engine``. From the bottom up: ``lines`` (bytes to lines), ``words`` (single words), ``scanner`` (words that
know where they stand), ``observation`` and ``observation_writer`` (what a seat may know, read and written),
``notation`` (everything, with a tolerant reader). ``docs/reference/notation.md`` is the contract.
"""
