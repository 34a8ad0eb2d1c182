"""Recorded games in formats for other programs: ``caboose convert``.

May import ``protocol`` and ``engine``. Start reading in ``formats``; ``event_table`` is a game as a flat table.
"""
