"""What a ladder is, for its report: its engines, its lists, and how to play it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.ladder.config import FILE, LadderSpec
from caboose.arena.ladder.number_format import DASH, cut
from caboose.arena.ladder.store import Entry, ListRow
from caboose.arena.report.page import Cell, Column, Section


def show_engines(section: Section, spec: LadderSpec, entries: Sequence[Entry]) -> None:
    """Who the engines are: as they played, and those that have not."""
    columns = [
        Column(title, numbers=False) for title in ("engine", "what it is", "version", "options", "hash", "since")
    ]
    if not entries and not spec.engines:
        section.text("There is no engine in it yet.")
        return
    specs = {each.name: each for each in spec.engines}
    newest = {entry.name: entry.id for entry in entries}
    rows = [_entry_row(entry, specs.get(entry.name) if newest[entry.name] == entry.id else None) for entry in entries]
    for name in specs.keys() - newest.keys():
        each = specs[name]
        options = ", ".join(f"{option}={value}" for option, value in each.options)
        what = Cell(text=each.builtin or cut(" ".join(each.command)), code=True)
        rows.append([name, what, DASH, options or DASH, DASH, "has not played"])
    section.table(
        columns,
        sorted(rows, key=lambda row: str(row[0])),
        caption="Engines as they played. The hash is of the program and the files that its command names; where name, "
        "version, hash, command or options change, an engine counts as another one (#2).",
    )


def _entry_row(entry: Entry, spec: EngineSpec | None) -> list[str | Cell]:
    about = _identity(entry)
    command = " ".join(map(str, about.get("command", [])))
    options = ", ".join("=".join(map(str, option)) for option in about.get("options", []))
    said = ", ".join(part for part in (entry.engine, f"by {entry.author}" if entry.author else "") if part)
    sandbox = "in a sandbox" if spec is not None and spec.sandbox else ""
    what = Cell(
        text=cut(f"built-in {entry.builtin}" if entry.builtin else command or DASH),
        below=cut(", ".join(part for part in (said, sandbox) if part)),
        code=not entry.builtin,
    )
    hashed = Cell(text=str(about.get("hash", DASH)), code=True)
    return [entry.label, what, cut(entry.version) or DASH, cut(options) or DASH, hashed, entry.since[:10]]


def _identity(entry: Entry) -> dict[str, Any]:
    try:
        found = json.loads(entry.identity)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def show_lists(section: Section, status: dict[str, Any], played: Sequence[ListRow]) -> None:
    """The lists as they are described, and those that are not any more."""
    if not status["lists"] and not played:
        section.text("There is no list in it yet.")
        return
    columns = [Column(title, numbers=False) for title in ("list", "rules", "time")]
    columns += [Column("blocks"), Column("engines", numbers=False)]
    rows: list[list[str | Cell]] = []
    for each in status["lists"]:
        rules = Cell(text=f"{each['format']}, {each['players']} players", below=each["rules"])
        engines = each["problem"] or ", ".join(each["engines"])
        blocks = f"{each['played']:,} of {each['total']:,}"
        rows.append([each["name"], rules, each["control"], blocks, engines])
    known = {each["name"] for each in status["lists"]}
    for row in played:
        if row.name not in known:
            rows.append([row.name, Cell(text=f"removed, {row.players} players", below=row.setup), *[DASH] * 3])
    section.table(columns, rows, caption="The lists of games as they are described now, and how far they are.")


def show_commands(section: Section, name: str, text: str) -> None:
    """The commands for more of it, and for all of it once more; ``text`` is the description."""
    section.text("From this folder on (all figures can be had as values, and every game):")
    section.code(
        "\n".join(
            f"caboose ladder {line}"
            for line in (
                f"run {shlex.quote(name)}",
                f"standings {shlex.quote(name)} --json",
                f"export {shlex.quote(name)} --to csv -o games.csv",
                f"report {shlex.quote(name)} --plots pictures",
            )
        )
    )
    section.text(
        f"From nothing: put this {FILE} into a new folder and run it. Where nodes limit the moves, the same build "
        "ends with exactly the same results."
    )
    section.code(f"mkdir again\ncp {FILE} again\ncaboose ladder run again")
    section.code(text)
