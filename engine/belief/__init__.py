"""What an observation proves of hidden tiles, and worlds that agree with it.

May import ``rules`` and ``policy``. Start reading in ``evidence``, then ``sampler``, ``inference`` and ``belief``.
"""
