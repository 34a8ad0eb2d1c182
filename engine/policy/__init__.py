"""How simple players choose, and rounds played to their end by them.

May import ``rules``. Start reading in ``plan`` and ``policy``, then ``playout`` and ``simulate``.
"""
