from caboose.engine.round import Observation, Round

def determinize(view: Observation, seed: int = 0) -> Round:
    """A full world that agrees with ``view``: the same table, the hidden tiles dealt anew.

    What draws and passes rule out is respected: a seat holds nothing that it would have had to play. Which of its
    tiles were drawn when is guessed, so a world is a likely one, not a uniformly random one of all possible. In its
    events the tiles that others drew stay unknown. The same ``seed`` (0 to 2**63 - 1) gives the same world.
    """
