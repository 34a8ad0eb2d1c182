"""What a position is worth: networks, the standing in the game, exactly solved ends.

May import ``rules`` and ``policy``. Start reading in ``network_eval``, then ``game_value`` and ``endgame``.
"""
