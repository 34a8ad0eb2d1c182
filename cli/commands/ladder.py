"""``caboose ladder``: engines in a folder that play each other for as long as one wants."""

from __future__ import annotations

from typing import Final

HELP: Final = "Engines in a folder that play each other for days: ratings, all games kept, killed and resumed at will."

# In the order of the help: the module of each command and its function there, so that none loads what others need.
COMMANDS: Final = {
    "init": "ladder_edit.init",
    "add": "ladder_edit.add",
    "run": "ladder_run.run",
    "status": "ladder_show.status",
    "standings": "ladder_show.standings",
    "games": "ladder_show.games",
    "report": "ladder_report.report",
    "export": "ladder_show.export",
    "rename": "ladder_edit.rename",
    "remove": "ladder_edit.remove",
    "add-list": "ladder_lists.add_list",
    "edit-list": "ladder_lists.edit_list",
}
