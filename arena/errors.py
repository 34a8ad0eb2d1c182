"""What can go wrong with a call of the command line, as people are told it."""

from __future__ import annotations

from caboose.protocol.process.os_errors import cause

__all__ = ["CallError", "PlayError", "RunError", "Stopped", "cause", "reason"]


class CallError(ValueError):
    """The call was wrong: nothing was played. The text says what was given and what was expected. Exit code 2."""


class RunError(RuntimeError):
    """The call was right and the run went wrong. The text says how. Exit code 1, for ``compare`` 3."""


class Stopped(BaseException):
    """This process was told to end, in the middle of what it does."""


class PlayError(RunError):
    """No more blocks can be played. What was finished before is whole and counts."""


def reason(error: Exception) -> str:
    """What went wrong, with the name of the file that it was about, if any. No text of it begins with ``[Errno``."""
    if not isinstance(error, OSError):
        return str(error)
    if type(error).__str__ is not OSError.__str__:  # such as ``LackError``, which says what it was about itself
        return str(error)
    return cause(error) if error.filename is None else f"{error.filename}: {cause(error)}"
