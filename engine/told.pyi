from caboose.engine.round import Observation

def observation_bytes(observation: Observation) -> bytes:
    """The lines of ``docs/protocol.md`` that tell an engine what ``observation`` holds, each with its line feed.

    ``legal`` is among them when the observer is to move.
    """
