"""Stepping through recorded games in a terminal: ``caboose show``.

May import ``table``, ``console`` and ``errors``. Start reading in ``viewer`` (what a key does), then ``draw`` (pure
functions from a scene to lines), ``terminal`` (the screen) and ``plain_text`` (where there is no terminal).
"""
