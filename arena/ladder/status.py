"""How far a ladder is, and what was played last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from caboose.arena.console.console import Console, Text, cut
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import LadderSpec
from caboose.arena.ladder.notices import kept_absent, kept_aside, notices
from caboose.arena.ladder.run import REFERENCE
from caboose.arena.ladder.schedule import make_schedule
from caboose.arena.ladder.skipped_blocks import LeftOut
from caboose.arena.ladder.store import FaultFound, ListRow, Store
from caboose.arena.match.console_report import COMMAND
from caboose.protocol.notation.lines import printable

FORMAT: Final = "caboose ladder status"
FORMAT_VERSION: Final = 1
LABEL: Final = 20  # columns of a name or a version: who else made the file may have made them of any length


def status_data(folder: Path, spec: LadderSpec, store: Store, runner: str) -> dict[str, Any]:
    """What ``caboose ladder status --json`` writes. Raises ``RunError``."""
    blocks, games = store.counts()
    entries = {entry.name: entry for entry in store.entries()}  # the last edition of each
    rows = {row.name: row for row in store.lists()}
    # Engines that never played have no entry yet.
    roster = {each.name: -1 - at for at, each in enumerate(spec.engines)}
    roster |= {name: entry.id for name, entry in entries.items()}
    lists = []
    for each in spec.lists:
        row = rows.get(each.name)
        played, total, problem = store.counts(row.id)[0] if row else 0, 0, ""
        try:
            schedule = make_schedule(each, row.id if row else 0, spec.seed, roster, store)
            played, total = schedule.played, schedule.total
        except CallError as error:
            problem = str(error)
        told = {"name": each.name, "format": each.format, "preset": each.rules.preset, "players": each.rules.players}
        told |= {"rules": str(each.rules), "control": str(each.control), "engines": list(each.engines)}
        lists.append(told | {"played": played, "total": total, "problem": problem})
    last = next(store.latest(), None)
    labels = {entry.id: entry.label for entry in store.entries()}
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "running": runner,
        "blocks": blocks,
        "games": games,
        "last": last.finished if last else None,
        "reference_speed": float(store.meta(REFERENCE) or 0) or None,
        "scales": dict(zip(("blocks", "least", "most"), store.scales(), strict=True)),
        "left_out": [*LeftOut(store).told()],
        "notices": notices(store),
        "set_aside": {
            name: [
                {"entry": labels.get(each.entry, str(each.entry)), "lost": each.lost, "games": each.games}
                for each in found
            ]
            for name, found in kept_aside(store).items()
        },
        "not_started": dict(kept_absent(store)),
        "twice": dict(store.twice()),
        "faults": sum(not found.replayed for found in store.faults()),
        "lists": lists,
        "engines": [
            {
                "name": each.name,
                "entry": entries[each.name].label if each.name in entries else None,
                "builtin": each.builtin,
                "command": [] if each.builtin else list(each.command),
                "options": dict(each.options),
                "sandbox": each.sandbox,
                "version": entries[each.name].version if each.name in entries else None,
                "since": entries[each.name].since if each.name in entries else None,
            }
            for each in spec.engines
        ],
    }


def print_status(console: Console, folder: Path, spec: LadderSpec, store: Store, runner: str) -> None:
    """Prints the same for people, in 80 columns."""
    data = status_data(folder, spec, store, runner)
    state = f"a run plays here now ({runner})" if runner else "no run plays here now"
    last = f", the last one ended {data['last']}" if data["last"] else ""
    faults = f", {_counted(data['faults'], 'fault')}" if data["faults"] else ""
    _say(console, f"{folder}: {state}", style="bold")
    _say(console, f"{_counted(data['blocks'], 'block')}, {_counted(data['games'], 'game')}{faults}{last}")
    if data["reference_speed"]:
        scales = data["scales"]
        factors = f", {scales['least']:g} to {scales['most']:g} times as long in {_counted(scales['blocks'], 'block')}"
        told = f"limits of time are scaled to {data['reference_speed']:,.0f} nodes/s"
        _say(console, told + (factors if scales["blocks"] else ""))
    for text in [*data["notices"], *data["left_out"]]:
        _say(console, text, style="red")
    if data["lists"]:
        console.print()
        console.print(_lists(data["lists"]))
        for each in data["lists"]:
            if each["problem"]:
                _say(console, each["problem"], style="red")
    if data["engines"]:
        console.print()
        console.print(_engines(data["engines"]))


def games_table(store: Store, lists: Sequence[ListRow], engine: str | None, only_faults: bool, last: int) -> Table:
    """The ``last`` games of ``lists``, the newest first; of ``engine`` (a label) alone if it is given."""
    names = {row.id: row.name for row in lists}
    labels = {entry.id: entry.label for entry in store.entries()}
    faults: dict[int, list[FaultFound]] = {}
    for found in store.faults():
        faults.setdefault(found.block, []).append(found)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("list", "block", "game"):
        table.add_column(title, no_wrap=True, justify="left" if title == "list" else "right")
    table.add_column("seats in order: engine, pips, (place)")
    left = last
    for block in store.latest(faulty=only_faults):
        if block.key.list not in names or (engine is not None and engine not in map(labels.get, block.key.lineup)):
            continue
        for number, seats in reversed([*enumerate(store.games(block.id))]):
            of_game = [found for found in faults.get(block.id, []) if found.game == number]
            if only_faults and not of_game:
                continue
            told = Text(", ".join(f"{cut(labels[int(s['entry'])], LABEL)} {s['total']} ({s['place']})" for s in seats))
            for found in of_game:
                how = ", played again" if found.replayed else ""
                told.append(f"\n{_fault(found, labels)}{how}", style="red")
            table.add_row(cut(names[block.key.list], LABEL), str(block.key.number + 1), str(number + 1), told)
            left -= 1
            if not left:
                return table
    return table


def _fault(found: FaultFound, labels: Mapping[int, str]) -> str:
    fault = found.fault
    who, what = cut(labels[found.entry], LABEL), printable(f"{fault.kind}: {fault.detail}", most=COMMAND)
    return f"{who}, seat {found.seat + 1}, round {fault.round}: {what}"


def _lists(lists: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("list", "format", "table", "time", "blocks", "of"):
        table.add_column(
            title, no_wrap=title in ("list", "format"), justify="right" if title in ("blocks", "of") else "left"
        )
    for each in lists:
        where = f"{each['preset']}, {each['players']} players"
        table.add_row(each["name"], each["format"], where, each["control"], f"{each['played']:,}", f"{each['total']:,}")
    return table


def _engines(engines: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("engine", "entry", "version", "what it is"):
        table.add_column(title, no_wrap=title != "what it is")
    for each in engines:
        what = each["builtin"] or " ".join(each["command"])
        options = "".join(f", {name}={value}" for name, value in each["options"].items())
        sandbox = ", in a sandbox" if each["sandbox"] else ""
        entry, version = cut(each["entry"] or "-", LABEL), cut(each["version"] or "-", LABEL)
        table.add_row(each["name"], entry, version, printable(f"{what}{options}{sandbox}", most=COMMAND))
    return table


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style))
