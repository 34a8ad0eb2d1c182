"""What an engine is, so that a changed one is seen: its program, its version, its options."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from caboose.arena.blocks.contestants import Setting
from caboose.arena.blocks.fingerprint import builtin_hash, command_hash
from caboose.arena.blocks.handshake import meet
from caboose.arena.blocks.results import Played, introduce
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.errors import RunError, cause
from caboose.protocol.process.launch import PLAIN
from caboose.protocol.referee.timing import TimeControl


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
        digest = builtin_hash() if spec.builtin else command_hash(spec.command)
    except OSError as error:
        raise RunError(f"{spec.name}: {error.filename}: {cause(error)}") from None
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
