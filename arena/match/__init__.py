"""A match: a number of blocks between some contestants, and its standings.

May import ``execution``, ``blocks``, ``console``, ``stats`` and ``storage``. Start reading in ``match``.
"""
