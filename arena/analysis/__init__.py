"""What the search and the rules say of a position, and of the choices in a recorded round: ``caboose analyse``.

May import ``viewer`` (recorded games) and ``errors``. Start reading in ``analysis``; ``input`` and ``subjects`` find
what is analysed, ``text`` and ``json`` write it.
"""
