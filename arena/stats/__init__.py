"""The statistics of blocks: ratings, sequential tests, intervals, pairing, seat bias.

May import nothing else of the arena. Start reading in ``game_table``: games as columns, from which all else is
computed. ``docs/reference/statistics.md`` has the methods and how far they hold.
"""
