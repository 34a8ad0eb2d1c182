"""Fixed pieces of work: the signature of the search, and the table of known perft counts.

May import ``bots``, ``protocol`` and ``engine``. Start reading in ``search_bench``.
"""
