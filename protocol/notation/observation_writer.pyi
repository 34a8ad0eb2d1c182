from caboose.engine.rules.round import Observation

def observation_bytes(observation: Observation) -> bytes:
    """The lines of ``docs/reference/protocol.md`` that say what ``observation`` holds, each with a line feed.

    ``legal`` is among them when the observer is to move.
    """
