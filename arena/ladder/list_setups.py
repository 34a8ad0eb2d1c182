"""What must not change in a list once it has games, and what people are told where it has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from caboose.arena.errors import CallError
from caboose.arena.ladder.config import LadderSpec
from caboose.arena.ladder.store import Store

_PARTS: Final = ("format", "rules", "time", "on_fault", "crashed")  # of a list's setup
_VALUE: Final = re.compile(r"(\w+)=([^\s,()]+)")
# How a time control's fields are called in ladder.toml, and in how many ms they are told.
_TIMES: Final = {
    "movetime": ("movetime", 1, " ms"),
    "allowance": ("allowance", 1, " ms"),
    "margin": ("margin", 1, " ms"),
    "grace": ("grace", 1, " ms"),
    "clock": ("base of tc", 1000, " s"),
    "increment": ("increment of tc", 1000, " s"),
    "roundcap": ("round_cap", 1000, " s"),
    "gamecap": ("game_cap", 1000, " s"),
    "guard": ("guard", 1000, " s"),
    "startup": ("start_timeout", 1000, " s"),
}


def check_lists(folder: Path, spec: LadderSpec, store: Store) -> None:
    """Raises ``CallError`` for a list whose games would not go together with those that are kept."""
    rows = {row.name: row for row in store.lists()}
    for each in spec.lists:
        row = rows.get(each.name)
        if row is None or row.setup == each.setup():
            continue
        if blocks := store.counts(row.id)[0]:
            kept = f"{blocks:,} block{'' if blocks == 1 else 's'}"
            raise CallError(
                f"{folder}: list {each.name} has changed since its first block "
                f"({difference(row.setup, each.setup())}), and its {kept} would not go together with new ones: "
                "expected what it was, or a list with another name"
            )


def difference(before: str, after: str) -> str:
    """What differs in two setups of a list, such as ``nodes 50 -> 51``."""
    old, new = _values(before), _values(after)
    told = []
    for key in dict.fromkeys([*old, *new]):
        one, other = old.get(key), new.get(key)
        if one != other:
            name, values = _shown(key, one, other)
            told.append(f"{name} {values}")
    return ", ".join(told)


def _values(setup: str) -> Mapping[str, str]:
    values = {}
    for name, part in zip(_PARTS, setup.split(" | "), strict=False):
        found = dict(_VALUE.findall(part))
        if name == "rules":
            values["preset"] = part.partition(" ")[0]
        elif not found:
            values[name] = part
        values |= found
    return values


def _shown(key: str, one: str | None, other: str | None) -> tuple[str, str]:
    name, per, unit = _TIMES.get(key, (key, 1, ""))

    def text(value: str | None) -> str:
        if value is None or value == "None":
            return "none"
        return f"{float(value) / per:g}{unit}" if key in _TIMES else value

    return name, f"{text(one)} -> {text(other)}"
