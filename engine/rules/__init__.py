"""The game: rules, tiles, moves, rounds, games.

May import nothing else of Caboose. Start reading in ``rules``, then ``tiles``, ``state`` (one round as a C struct, and
the rules as functions on it) and ``round`` (the same as Python sees it).
"""
