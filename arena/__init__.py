"""Many games: matches, their statistics and reports, and the command line."""

from importlib.metadata import PackageNotFoundError, version


def caboose_version() -> str:
    """The version of the installed package; ``unknown`` when it runs from folders that are not installed."""
    try:
        return version("caboose")
    except PackageNotFoundError:
        return "unknown"
