"""The text side of Caboose: notation, messages, the engine's loop, and engine processes seen from outside.

``docs/protocol.md`` is the contract. The modules, from the bottom up: ``lines`` (bytes to lines),
``notation`` (events and tiles as text), ``messages`` (every line of the protocol), ``serve`` (any bot as an
engine process), ``process`` (any engine process as a bot).
"""
