"""Many games: matches, their statistics and reports, and the command line."""


def caboose_version() -> str:
    """The version of the installed package; ``unknown`` when it runs from folders that are not installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow to load, and few commands need it

    try:
        return version("caboose")
    except PackageNotFoundError:
        return "unknown"
