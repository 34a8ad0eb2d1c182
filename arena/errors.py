"""What can go wrong with a call of the command line, as people are told it."""

from __future__ import annotations


class CallError(ValueError):
    """The call was wrong: nothing was played. The text says what was given and what was expected. Exit code 2."""


class RunError(RuntimeError):
    """The call was right and the run went wrong. The text says how. Exit code 1, for ``compare`` 3."""


class PlayError(RunError):
    """No more blocks can be played. What was finished before is whole and counts."""
