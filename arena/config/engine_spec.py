"""TODO."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import caboose.bots as bots
from caboose.arena.blocks.contestants import Contestant, Entrant, builtin_command, make_builtin
from caboose.arena.blocks.time_control import make_control, parse_tc
from caboose.arena.config.toml import Table
from caboose.arena.errors import CallError
from caboose.engine.rules.rules import MAX_PLAYERS, MIN_PLAYERS, OPTIONS, Rules, RulesError
from caboose.protocol.process.child import Resources
from caboose.protocol.process.faults import TimeNames
from caboose.protocol.process.launch import Launch
from caboose.protocol.referee.timing import TimeControl

MOST_BLOCKS: Final = 1_000_000_000

MIB: Final = 1 << 20

_LIMITS: Final = ("max_memory", "max_processes", "max_cpu", "max_file")

_SECONDS: Final = {"round_cap": "roundcap", "game_cap": "gamecap", "guard": "guard", "start_timeout": "startup"}

_TIMES: Final = TimeNames("grace of the list", "start_timeout of the list")  # keys of a list

_MILLISECONDS: Final = ("movetime", "allowance", "margin", "grace")

_COUNTS: Final = ("nodes", "playouts")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """An engine that takes part: the built-in bot ``builtin``, or a ``command``. Limits are as in ``Resources``, with
    ``memory`` and ``file`` in bytes. ``times`` are as in ``Launch``. ``dealt_as`` is the name from which its deals
    follow, if that is another one."""

    name: str
    builtin: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    sandbox: bool = False
    share: tuple[str, ...] = ()
    resources: Resources = Resources()  # noqa: RUF009 - it cannot be changed
    times: TimeNames = _TIMES
    dealt_as: str = ""

    @property
    def dealt(self) -> str:
        """The name from which its deals follow."""
        return self.dealt_as or self.name

    def contestant(self, hidden: Path) -> Contestant:
        """It as a player of a match. In a sandbox it cannot see the folder ``hidden``."""
        launch = Launch(
            resources=self.resources,
            sandbox=self.sandbox,
            shared=self.share,
            hidden=(str(hidden),),
            times=self.times,
        )
        return Contestant(self.name, Entrant(self.builtin, self.command, self.name), self.options, launch=launch)


def parse_command(line: str, folder: Path) -> tuple[str, ...]:
    """The words of a command line, in which files with a slash in their name are seen from ``folder``. Raises
    ``ValueError``."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"the command line {line!r} cannot be read ({error})") from None
    if not words:
        raise ValueError("it is empty")
    return tuple([_resolved(word, folder) for word in words])


def read_engine(table: Table, folder: Path) -> EngineSpec:
    name = table.name("engine")
    builtin, command = table.text("builtin", ""), table.take("command", None)
    options = []
    for option, value in table.mapping("options").items():
        if not isinstance(value, (str, int, float)):
            raise table.error(f"options.{option}", value, "text, a number, true or false")
        options.append((option, str(value).lower() if isinstance(value, bool) else str(value)))
    if bool(builtin) == (command is not None):
        raise CallError(f"{table.where}: expected either builtin or command")
    if builtin:
        words = builtin_command(builtin)
        if builtin in bots.MEASURING:
            raise table.error("builtin", builtin, f"no measuring bot; it sees {bots.MEASURING[builtin].sees}")
        try:
            make_builtin(builtin, dict(options), measuring=False)
        except CallError as error:
            raise CallError(f"{table.where}: {error}") from None
    elif isinstance(command, str):
        try:
            words = parse_command(command, folder)
        except ValueError as error:
            raise CallError(f"{table.where}: command: {error}, expected a program and its arguments") from None
    elif isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        words = tuple([_resolved(word, folder) for word in command])
    else:
        raise table.error("command", command, "a command line, or a list of its words")
    sandbox, share = table.truth("sandbox", False), table.texts("share")
    if share and not sandbox:
        raise table.error("share", list(share), "sandbox = true with it; without it engines can read all files")
    given = {key: table.number(key, 1, 1_000_000, None) for key in _LIMITS}
    for key, value in given.items():
        if builtin and value is not None:
            raise table.error(key, value, "that of a command: built-in bots need no limits, and have none")
    memory, file = given["max_memory"], given["max_file"]
    resources = Resources(
        memory=None if memory is None else memory * MIB,
        processes=given["max_processes"],
        cpu=given["max_cpu"],
        file=None if file is None else file * MIB,
    )
    table.done()
    return EngineSpec(
        name=name,
        builtin=builtin,
        command=words,
        options=tuple(options),
        sandbox=sandbox,
        share=tuple([_resolved(word, folder) for word in share]),
        resources=resources,
    )


def read_rules(table: Table) -> Rules:
    players = whole_number(table.number("players", MIN_PLAYERS, MAX_PLAYERS, 4))
    values: dict[str, Any] = {}
    preset = table.text("preset", "family")
    for key in ("set", "rounds"):
        if (value := table.take(key, None)) is not None:
            values[key] = value
    for key, value in table.mapping("rules").items():
        if key not in OPTIONS or key in ("set", "rounds"):
            others = [option for option in OPTIONS if option not in ("set", "rounds")]
            raise table.error(f"rules.{key}", value, f"a rule option: {', '.join(others)}")
        values[key] = value
    try:
        return Rules.of(preset, players, **values)
    except RulesError as error:
        raise CallError(f"{table.where}: {error}") from None


def read_control(table: Table) -> TimeControl:
    given: dict[str, Any] = {}
    for key in _MILLISECONDS:
        if (value := table.real(key)) is not None:
            given[key] = value
    for key, field in _SECONDS.items():
        if (value := table.real(key)) is not None:
            given[field] = value * 1000
    for key in _COUNTS:
        given[key] = table.number(key, 1, MOST_BLOCKS, None)
    try:
        if tc := table.text("tc", ""):
            given["clock"], given["increment"] = parse_tc(tc)
    except ValueError as error:
        raise CallError(f"{table.where}: tc: {error}") from None
    try:
        return make_control(**given)
    except ValueError as error:
        raise CallError(f"{table.where}: {error}") from None


def whole_number(value: int | None) -> int:
    assert value is not None  # there is a default
    return value


def _resolved(word: str, folder: Path) -> str:
    if "/" not in word or Path(word).is_absolute():
        return word
    place = folder / word
    return str(place.absolute()) if place.exists() else word
