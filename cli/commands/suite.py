"""``caboose suite``: positions with targets from a long search, and how engines fare on them."""

from __future__ import annotations

from typing import Final

HELP: Final = "Positions with what each move costs, by a long search: engines are scored on them in minutes."

# In the order of the help: the module of each command and its function there.
COMMANDS: Final = {"make": "suite_make.make", "score": "suite_score.score"}
