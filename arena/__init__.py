"""Many games: matches, their statistics and reports, and the command line."""

import caboose


def caboose_version() -> str:
    """The version of the installed package; ``unknown`` when it runs from folders that are not installed."""
    return caboose.__version__
