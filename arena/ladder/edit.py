"""Changes of ``ladder.toml``, which keep what people wrote there, comments too."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT, Table

from caboose.arena.config.toml import check_name
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.ladder.config import FILE, FORMAT, LadderSpec, parse_spec, read_spec
from caboose.arena.ladder.list_setups import check_lists
from caboose.arena.ladder.run import new_meta, open_store
from caboose.arena.ladder.store import Store
from caboose.arena.storage.files import read_text, temporary_beside
from caboose.arena.storage.ladder_folder import DATABASE, locked

_HEADING: Final = "A ladder; `caboose ladder --help` and docs/guides/ladder.md tell more."


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
        Store.create(folder / DATABASE, new_meta(seed))
        _write(folder / FILE, tomlkit.dumps(document))
    except OSError as error:
        raise RunError(f"{folder}: {cause(error)}") from None


def add(folder: Path, kind: str, values: Mapping[str, Any]) -> LadderSpec:
    """Adds an ``engine`` or a ``list``; returns the ladder as it is then. Raises ``CallError`` when that is no ladder,
    and changes nothing then."""

    def change(document: tomlkit.TOMLDocument) -> None:
        table = tomlkit.table()
        for key, value in values.items():
            table.add(key, _item(value))
        array = document.get(kind)
        if not isinstance(array, AoT):
            if array:
                raise CallError(f"{folder / FILE}: {kind}: expected tables, each begun by [[{kind}]]")
            document.pop(kind, None)  # an empty array
            document.append(kind, tomlkit.aot())
            array = document[kind]
        assert isinstance(array, AoT)
        array.append(table)
        array[-1].trivia.indent = "\n"

    return _change(folder, change)


def remove(folder: Path, kind: str, name: str) -> LadderSpec:
    """Takes an ``engine`` or a ``list`` out, an engine also out of all lists. Raises ``CallError``."""

    def change(document: tomlkit.TOMLDocument) -> None:
        array, at = _found(folder, document, kind, name)
        del array[at]
        if not array:
            del document[kind]
        if kind == "engine":
            for table in document.get("list", []):
                _forget(table, name)

    return _change(folder, change)


def edit_list(folder: Path, name: str, values: Mapping[str, Any], unset: Sequence[str] = ()) -> tuple[str, ...]:
    """Changes keys of a list: those of ``values`` are set, those of ``unset`` taken out, so that their defaults hold.
    Returns what has changed, such as ``blocks 100 -> 200``. Raises ``CallError``, and changes nothing then, when that
    is no ladder, or the list has games that would not go together with new ones."""
    told: list[str] = []

    def change(document: tomlkit.TOMLDocument) -> None:
        array, at = _found(folder, document, "list", name)
        table, before = array[at], array[at].unwrap()
        for key in unset:
            if key not in table or key == "name":
                others = ", ".join(other for other in table if other != "name") or "none"
                raise CallError(f"list {name}: {key!r} is not set in it, expected one of its keys: {others}")
            del table[key]
        for key, value in values.items():
            if isinstance(value, Mapping) and key in table:
                table[key].update(value)
            else:
                table[key] = _item(value)
        after = table.unwrap()
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key):
                told.append(f"{key} {_shown(before.get(key))} -> {_shown(after.get(key))}")

    def check(spec: LadderSpec) -> None:
        with open_store(folder) as store:
            check_lists(folder, replace(spec, lists=tuple([each for each in spec.lists if each.name == name])), store)

    _change(folder, change, check)
    return tuple(told)


def rename(folder: Path, old: str, new: str) -> LadderSpec:
    """Gives an engine another name, with which it keeps its games. Raises ``CallError`` and ``RunError``, the latter
    also while a run plays. What was ended on its way is done by the same call, or the next run."""
    try:
        check_name(new)
    except ValueError as error:
        raise CallError(f"the new name {error}") from None
    spec = read_spec(folder)
    with locked(folder), ExitStack() as stack:
        store = stack.enter_context(open_store(folder, writing=True)) if (folder / DATABASE).exists() else None
        names = [engine.name for engine in spec.engines]
        if store is not None and [*store.end_renaming(names)] == [old, new]:
            return spec
        played = {entry.name for entry in store.entries()} if store is not None else set()
        if new in played or new in names:
            why = "there is an engine" if new in names else "an engine has played here that was called"
            raise CallError(f"{folder}: {why} {new}: expected another name")

        def change(document: tomlkit.TOMLDocument) -> None:
            array, at = _found(folder, document, "engine", old)
            table = array[at]
            dealt_as = table.get("dealt_as", old)
            table["name"] = new
            if dealt_as == new:
                table.pop("dealt_as", None)
            elif old in played:  # its blocks to come have the deals that they would have had
                table["dealt_as"] = dealt_as
            anchor = document.get("anchor")
            if isinstance(anchor, str) and re.fullmatch(rf"{re.escape(old)}(#\d+)?(=.*)?", anchor):
                document["anchor"] = new + anchor.removeprefix(old)
            for each in document.get("list", []):
                for key in ("engines", "heroes"):
                    named = each.get(key)
                    if isinstance(named, list) and old in named:
                        named[named.index(old)] = new

        if store is not None and old in played:
            store.begin_renaming(old, new)
        spec = _change(folder, change)
        if store is not None:
            store.end_renaming([engine.name for engine in spec.engines])
    return spec


def _found(folder: Path, document: tomlkit.TOMLDocument, kind: str, name: str) -> tuple[Any, int]:
    """The tables of a kind, and the place of the one with that name. Raises ``CallError``."""
    array = document.get(kind, [])
    for at, table in enumerate(array):
        if table.get("name") == name:
            return array, at
    names = ", ".join(str(table.get("name")) for table in array) or "none"
    raise CallError(f"{folder}: there is no {kind} {name!r}; there are {names}")


def _item(value: Any) -> Any:
    """A value as it is written: a table in one line."""
    if not isinstance(value, Mapping):
        return value
    inline = tomlkit.inline_table()
    inline.update(value)
    return inline


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _forget(table: Table, name: str) -> None:
    for key in ("engines", "heroes"):
        names = table.get(key)
        if isinstance(names, list) and name in names:
            names.remove(name)
            if not names:
                raise CallError(f"list {table.get('name')}: {name} is all that its {key} have, remove the list first")


def _change(
    folder: Path,
    change: Callable[[tomlkit.TOMLDocument], None],
    check: Callable[[LadderSpec], None] = lambda spec: None,
) -> LadderSpec:
    """Reads the file, changes it, and replaces it if it is still a ladder, one with which ``check`` agrees."""
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
            check(spec)
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
