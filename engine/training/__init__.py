"""How the networks are made: ``make networks``.

May import all other packages of the engine but ``measure``. Start reading in ``train``.
"""
