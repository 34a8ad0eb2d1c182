"""The text side of Caboose: notation, messages, the engine's loop, and engine processes seen from outside.

``docs/reference/protocol.md`` and ``docs/reference/notation.md`` are the contracts. The modules, from the bottom up:
``lines`` (bytes to lines), ``words`` (tiles, moves and events as single words), ``observation`` and ``messages`` (every
line of the protocol), ``serve`` (any bot as an engine process), ``process`` (any engine process as a bot); and for
people, ``notation`` (everything of the game as text, with a tolerant reader).
"""
