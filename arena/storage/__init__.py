"""Files and databases: SQLite, JSON, locks, files that are read with an end.

May import ``errors`` alone. Start reading in ``files`` and ``sqlite``.
"""
