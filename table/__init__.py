"""The table as a seat may see it: what lies where, in pictures' terms and in words.

Viewers look at a game through this package and through nothing else. May import ``protocol`` and ``engine``. Start
reading in ``state``: a ``Scene`` is the table at one moment; ``train_chain`` lays a train out, ``wording`` says what
happens.
"""
