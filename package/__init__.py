"""Caboose: an AI opponent for Mexican Train dominoes, a protocol for such programs, and an arena to rank them.

``caboose.engine`` has the game and the search, ``caboose.bots`` the players, ``caboose.protocol`` the text, and
``caboose.arena`` matches and ladders. ``caboose.__version__`` is the version of what is installed; ``unknown`` where
nothing is.
"""

__version__: str


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # slow to load, and few programs ask

    try:
        found = version("caboose")
    except PackageNotFoundError:
        found = "unknown"
    globals()[name] = found
    return found
