"""The search: a race of whole turns over worlds that agree with what the seat knows.

May import all other packages of the engine but ``training`` and ``measure``. Start reading in ``search``.
"""
