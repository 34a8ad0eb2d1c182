"""What must be the same on all machines, so that a block is the same block wherever it is played."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from caboose.arena import caboose_version
from caboose.arena.blocks.fingerprint import builtin_hash, command_hash
from caboose.arena.blocks.time_scaling import measure_speed
from caboose.arena.errors import cause
from caboose.protocol.process.affinity import allowed_cores
from caboose.protocol.process.launch import SandboxError, check_sandbox

Command = tuple[str, ...]

_SAME: Final = ("caboose", "build", "distributed", "python")
_SHOWN: Final = 60  # characters of a command


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a machine has. ``python`` is its version without the last number, ``build`` the hash of the compiled engine
    and the bots; ``engines`` has the hash of each command's files, or after an ``!`` why there is none; ``sandbox``
    says why there can be none, and is empty where there can or nobody asked. ``host`` and ``cpus``, the processors on
    which it may run, tell workers apart and need not be the same, nor need ``speed`` (nodes a second; 0 where nobody
    asked)."""

    caboose: str
    build: str
    distributed: str
    python: str
    engines: tuple[tuple[Command, str], ...]
    sandbox: str
    host: str
    cpus: tuple[int, ...]
    speed: float


def gather_facts(commands: Sequence[Command], *, sandbox: bool = False, speed: bool = False) -> Facts:
    """What this machine has, ``commands`` of engines among it; if wanted a sandbox is tried and the speed measured."""
    lacking = ""
    if sandbox:
        try:
            check_sandbox()
        except SandboxError as error:
            lacking = str(error)
    return Facts(
        caboose=caboose_version(),
        build=builtin_hash(),
        distributed=_version("distributed"),
        python=".".join(platform.python_version_tuple()[:2]),
        engines=tuple((command, _hash(command)) for command in commands),
        sandbox=lacking,
        host=platform.node(),
        cpus=tuple(cpu for core in allowed_cores() for cpu in core),
        speed=measure_speed() if speed else 0.0,
    )


def differences(there: Facts, here: Facts) -> Iterator[str]:
    """Why a machine is not to be used, for people."""
    for name in _SAME:
        if getattr(there, name) != getattr(here, name):
            yield f"{name} {getattr(there, name)} there, {getattr(here, name)} here"
    if there.sandbox:
        yield there.sandbox
    ours = dict(here.engines)
    for command, found in there.engines:
        line = shlex.join(command)
        line = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
        if found.startswith("!"):
            yield f"engine {line}: {found[1:]}"
        elif found != ours.get(command):
            yield f"engine {line}: its files have the hash {found} there, {ours.get(command)} here"


def _hash(command: Command) -> str:
    try:
        return command_hash(command)
    except OSError as error:
        return f"!{error.filename}: {cause(error)}"
    except ValueError as error:
        return f"!{error}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
