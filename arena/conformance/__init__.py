"""Whether any engine keeps to the protocol: ``caboose check``.

May import ``blocks``, ``errors`` and the floors below. Start reading in ``steps``, then ``probe`` and ``run``.
"""
