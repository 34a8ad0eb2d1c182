"""The program ``caboose``: its commands, their options, and what becomes of their errors.

Only this package knows typer. May import everything below: ``arena``, ``table``, ``bots``, ``protocol``, ``engine``.
Start reading in ``main``, then ``app``; ``commands`` has one file for each command.
"""
