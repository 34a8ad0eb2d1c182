"""What an engine is, so that a changed one is seen: its program, its version, its options."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from caboose.arena.errors import RunError
from caboose.arena.ladder.config import EngineSpec
from caboose.arena.lineup import Setting
from caboose.arena.match import introduce
from caboose.arena.meeting import meet
from caboose.arena.results import Played
from caboose.protocol.child import program
from caboose.protocol.launch import PLAIN
from caboose.protocol.timing import TimeControl

# What the built-in bots are made of: the compiled engine and its data, and the bots.
_PARTS: Final = (("caboose.engine", (".so", ".tsv", ".npz")), ("caboose.bots", (".py",)))
_DIGITS: Final = 16  # of a hash that are kept: 64 bits


@dataclass(frozen=True, slots=True)
class Identity:
    """An engine as it is now. ``hash`` is of its program and of the files that its command names."""

    played: Played
    hash: str

    @property
    def text(self) -> str:
        """All that makes it this engine and no other, as JSON."""
        about = self.played
        named = {"engine": about.builtin or about.engine, "version": about.version, "hash": self.hash}
        command = [] if about.builtin else list(about.command)
        return json.dumps(named | {"command": command, "options": sorted(about.options)})


def identify(spec: EngineSpec, startup: float, hidden: Path) -> Identity:
    """Starts the engine, if it is a program, and asks who it is; ``startup`` is what that may take, in ms. Raises
    ``RunError`` when it does not start, and ``CallError`` when it does not take its options."""
    contestant = spec.contestant(hidden)
    settings = [Setting("1", name, value) for name, value in spec.options]
    control = TimeControl(nodes=1, startup=startup)
    (met,) = meet([contestant.entrant], settings, control, contestant.launch or PLAIN)
    played = introduce(replace(contestant, about=met.about))
    try:
        digest = _builtin_hash() if spec.builtin else _hash(_files(spec.command))
    except OSError as error:
        raise RunError(f"{spec.name}: {error.filename}: {error.strerror}") from None
    return Identity(played, digest)


def changes(before: str, after: str) -> str:
    """What differs in two identities' texts, for people."""
    old, new = json.loads(before), json.loads(after)
    told = []
    for key in new:
        if old.get(key) != new[key]:
            told.append(f"{key} {_shown(old.get(key))} -> {_shown(new[key])}")
    return ", ".join(told)


def _shown(value: object) -> str:
    if isinstance(value, list):
        value = " ".join("=".join(item) if isinstance(item, list) else str(item) for item in value)
    text = str(value) or "none"
    return text if len(text) <= 60 else f"{text[:57]}..."


@cache
def _builtin_hash() -> str:
    return _hash(_built_in())


def _built_in() -> Iterator[Path]:
    for package, endings in _PARTS:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield from sorted(file for file in Path(place).iterdir() if file.suffix in endings)


def _files(command: Sequence[str]) -> Iterator[Path]:
    yield Path(program(command[0]))
    for word in command[1:]:
        if "\0" not in word and os.path.isfile(word):
            yield Path(word)


def _hash(files: Iterator[Path]) -> str:
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:_DIGITS]
