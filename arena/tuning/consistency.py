"""What a study is of, so that it is seen when something of it has changed: its file, and its engines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from caboose.arena import caboose_version
from caboose.arena.config.engine_identity import changes, identify
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.storage.files import open_input
from caboose.arena.tuning.config import STANDARD, StudySpec
from caboose.arena.tuning.space import Parameter, Space
from caboose.arena.tuning.store import FIELDS, StudyStore
from caboose.protocol.process.launch import SandboxError, check_sandbox


def identities(spec: StudySpec) -> dict[str, str]:
    """What the engines of a study are, by name, so that a changed one is seen. Raises ``CallError`` and
    ``RunError``."""
    engines = [spec.engine, *spec.opponents.values()]
    if any(engine.sandbox for engine in engines):
        try:
            check_sandbox()
        except SandboxError as error:
            raise CallError(f"{spec.path}: sandbox: {error}") from None
    startup = max((games.control.startup for games in spec.lists), default=10_000.0)
    found = {engine.name: identify(engine, startup, spec.folder).text for engine in engines}
    for file in _measured_by(spec):
        try:
            with open_input(file) as source:
                digest = hashlib.file_digest(source, "sha256").hexdigest()
        except OSError as error:
            raise RunError(f"{file}: {cause(error)}") from None
        found[file.name] = json.dumps({"hash": digest})
    return found


def _measured_by(spec: StudySpec) -> list[Path]:
    """The files of an objective without games, but for those of the package."""
    suite = spec.about.get("suite", STANDARD)
    own = [spec.path.parent / suite] if suite != STANDARD else []
    return own if spec.measure is None else [spec.measure[0]]


def meta_of(spec: StudySpec, space: Space, engines: Mapping[str, str]) -> dict[str, str]:
    """What is kept of a study when it begins."""
    return {
        "caboose": caboose_version(),
        "file": json.dumps(spec.raw),
        "engines": json.dumps(engines),
        "space": json.dumps([[getattr(each, name) for name in FIELDS] for each in space.parameters]),
    }


def check_space(spec: StudySpec, store: StudyStore, space: Space) -> None:
    """Raises ``CallError`` when the options that the engine declares are not those with which the study began: a choice
    that has moved in its list would be taken for another."""
    for old, new in zip(store.space().parameters, space.parameters, strict=True):
        for name in sorted(FIELDS):  # choices before the current one, which is told by its number in them
            if getattr(old, name) != getattr(new, name):
                raise CallError(
                    f"{spec.path}: the option {new.name} has changed since the study began ({name}: "
                    f"{_shown(_field(old, name))} -> {_shown(_field(new, name))}): expected what it was; to begin "
                    f"again, delete {spec.folder}"
                )


def check_same(spec: StudySpec, store: StudyStore, engines: Mapping[str, str] | None = None) -> None:
    """Raises ``CallError`` when the file, or one of ``engines`` if they are known, is not what it was when the study
    began."""
    before, now = store.meta_data("file"), spec.raw
    told = []
    for key in dict.fromkeys([*before, *now]):
        if before.get(key) != now.get(key) and not _may_change(key, spec.method):
            told.append(f"{key}: {_shown(before.get(key))} -> {_shown(now.get(key))}")
    if told:
        raise CallError(
            f"{spec.path}: it has changed since its study began ({'; '.join(told)}): expected what it was, or another "
            f"file for another study; to begin again, delete {spec.folder}"
        )
    names, known = [each.name for each in spec.parameters], [each.name for each in store.space().parameters]
    if names != known:  # a parameter that is told with no key of its own is not in the file's values
        raise CallError(
            f"{spec.path}: its parameters have changed since its study began ({', '.join(known)} -> "
            f"{', '.join(names)}): expected what they were; to begin again, delete {spec.folder}"
        )
    for name, text in (engines or {}).items():
        old = store.meta_data("engines").get(name)
        if old is not None and old != text:
            raise CallError(
                f"{spec.path}: {name} has changed since the study began ({changes(old, text)}), and its blocks do not "
                f"go together: expected what it was; to begin again, delete {spec.folder}"
            )


def _field(parameter: Parameter, name: str) -> str:
    """Something of a parameter as text."""
    if name == "choices":
        return ", ".join(parameter.choices)
    return parameter.text(parameter.current) if name == "current" else str(getattr(parameter, name))


def _may_change(key: str, method: str) -> bool:
    return (key == "blocks" and method != "spsa") or key.startswith("verify.")


def _shown(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
