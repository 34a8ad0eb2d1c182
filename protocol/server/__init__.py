"""The engine's loop: any bot as an engine process.

May import ``protocol.messages``, ``notation`` and ``engine``. Start reading in ``serve``.
"""
