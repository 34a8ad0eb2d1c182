"""A block: one deal, played in every rotation of the seats. The unit of work, storage and statistics.

May import ``storage``, ``stats.game_table``, ``errors`` and the floors below. Start reading in ``block``; then
``contestants`` (who plays), ``handshake`` (they are met before the first game), ``results`` (what came of blocks) and
``game_rows`` (the same as rows for the statistics).
"""
