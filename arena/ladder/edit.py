"""Changes of ``ladder.toml``, which keep what people wrote there, comments too."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT, Table

from caboose.arena import caboose_version
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.ladder.config import FILE, FORMAT, LadderSpec, parse_spec, read_spec
from caboose.arena.ladder.folder import DATABASE
from caboose.arena.ladder.store import Store
from caboose.arena.reading import read_text
from caboose.arena.results import temporary_beside

_HEADING: Final = "A ladder; `caboose ladder --help` and docs/ladder.md tell more."


def init(folder: Path, seed: int, *, in_process: bool, records: bool, logs: bool) -> None:
    """Makes a new ladder. Raises ``CallError`` where there is one already, ``RunError`` where none can be made."""
    if (folder / FILE).exists() or (folder / DATABASE).exists():
        raise CallError(f"{folder}: there is a ladder already, expected a new folder")
    document = tomlkit.document()
    document.add(tomlkit.comment(_HEADING))
    document.add("format", FORMAT)
    document.add("seed", str(seed))
    document.add("in_process", in_process)
    document.add("records", records)
    document.add("logs", logs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        Store.create(folder / DATABASE, {"seed": str(seed), "created": now, "caboose": caboose_version()})
        _write(folder / FILE, tomlkit.dumps(document))
    except OSError as error:
        raise RunError(f"{folder}: {cause(error)}") from None


def add(folder: Path, kind: str, values: Mapping[str, Any]) -> LadderSpec:
    """Adds an ``engine`` or a ``list``; returns the ladder as it is then. Raises ``CallError`` when that is no ladder,
    and changes nothing then."""

    def change(document: tomlkit.TOMLDocument) -> None:
        table = tomlkit.table()
        for key, value in values.items():
            if isinstance(value, Mapping):
                inline = tomlkit.inline_table()
                inline.update(value)
                value = inline
            table.add(key, value)
        array = document.get(kind)
        if not isinstance(array, AoT):
            if array is not None:
                raise CallError(f"{folder / FILE}: {kind}: expected tables, each begun by [[{kind}]]")
            document.append(kind, tomlkit.aot())
            array = document[kind]
        assert isinstance(array, AoT)
        array.append(table)
        array[-1].trivia.indent = "\n"

    return _change(folder, change)


def remove(folder: Path, kind: str, name: str) -> LadderSpec:
    """Takes an ``engine`` or a ``list`` out, an engine also out of all lists. Raises ``CallError``."""

    def change(document: tomlkit.TOMLDocument) -> None:
        array = document.get(kind, [])
        found = [at for at, table in enumerate(array) if table.get("name") == name]
        if not found:
            names = ", ".join(str(table.get("name")) for table in array) or "none"
            raise CallError(f"{folder}: there is no {kind} {name!r}; there are {names}")
        del array[found[0]]
        if kind == "engine":
            for table in document.get("list", []):
                _forget(table, name)

    return _change(folder, change)


def _forget(table: Table, name: str) -> None:
    for key in ("engines", "heroes"):
        names = table.get(key)
        if isinstance(names, list) and name in names:
            names.remove(name)
            if not names:
                raise CallError(f"list {table.get('name')}: {name} is all that its {key} have, remove the list first")


def _change(folder: Path, change: Callable[[tomlkit.TOMLDocument], None]) -> LadderSpec:
    """Reads the file, changes it, and replaces it if it is still a ladder."""
    read_spec(folder)  # says what is wrong, if anything
    path = folder / FILE
    try:
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two changes at once: one after the other
            document = tomlkit.parse(read_text(path))
            change(document)
            text = tomlkit.dumps(document)
            spec = parse_spec(text, path)
            _write(path, text)
        finally:
            os.close(lock)
    except OSError as error:
        raise RunError(f"{path}: {cause(error)}") from None
    return spec


def _write(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    temporary = temporary_beside(path)
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
