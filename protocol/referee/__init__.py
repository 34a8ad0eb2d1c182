"""One refereed game: who moves, how long that may take, what happens when a player fails.

May import ``process``, ``protocol.messages``, ``notation`` and ``engine``. Start reading in ``referee``; ``timing`` has
the clocks.
"""
