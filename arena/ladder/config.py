"""What a ladder is, as ``ladder.toml`` describes it; ``docs/ladder.md`` tells the keys."""

from __future__ import annotations

import difflib
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, overload

import caboose.bots as bots
from caboose.arena.blocks import CRASHED
from caboose.arena.controls import make_control, parse_tc
from caboose.arena.errors import CallError, cause
from caboose.arena.lineup import Contestant, Entrant, builtin_command, make_builtin
from caboose.arena.naming import MAX_LABEL
from caboose.arena.reading import read_text
from caboose.arena.scaling import parse_reference
from caboose.engine.rules import MAX_PLAYERS, MIN_PLAYERS, OPTIONS, Rules, RulesError
from caboose.protocol.child import Resources
from caboose.protocol.faults import TimeNames
from caboose.protocol.launch import Launch
from caboose.protocol.referee import FAULT_POLICIES
from caboose.protocol.timing import TimeControl

FILE: Final = "ladder.toml"
FORMAT: Final = 1
FORMATS: Final = ("round-robin", "hero", "gauntlet", "random")
PAIR: Final = "pair"  # as `caboose compare` plays it: two heroes share the seats; in no ladder.toml
PAIRINGS: Final = ("adaptive", "even")
DEFAULT_BLOCKS: Final = 100
DEFAULT_GENERATION: Final = 16
DEFAULT_SET_ASIDE: Final = 20
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSpec:
    """Games of one kind. ``engines`` and ``heroes`` are names. ``blocks`` are those of each line-up, for ``random``
    those in all. ``generation`` is how many random tables are drawn at once. An engine that lost ``set_aside`` games by
    its faults, and at least half of its games, plays no more; 0 is never."""

    name: str
    format: str
    rules: Rules
    control: TimeControl
    blocks: int
    engines: tuple[str, ...]
    heroes: tuple[str, ...]
    pairing: str
    generation: int
    on_fault: str
    crashed: str
    set_aside: int = 0

    def setup(self) -> str:
        """What must stay the same, so that the blocks of the list go together."""
        return f"{self.format} | {self.rules} | {self.control!r} | {self.on_fault} | {self.crashed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderSpec:
    """A whole ladder. ``in_process`` plays built-in bots inside the referee; ``records`` keeps the games as text,
    ``logs`` all that was said in them; ``pin`` binds engines to cores. ``scale_tc`` is the speed to which limits of
    time are scaled, if they are: nodes a second, or ``scaling.HERE``. ``anchor`` is from which engine
    ratings are measured, as ``--anchor`` has it."""

    seed: int
    in_process: bool
    records: bool
    engines: tuple[EngineSpec, ...]
    lists: tuple[ListSpec, ...]
    logs: bool = False
    pin: bool = False
    scale_tc: float | str | None = None
    anchor: str = ""

    def engine(self, name: str) -> EngineSpec:
        """The engine of that name. Raises ``KeyError``."""
        for engine in self.engines:
            if engine.name == name:
                return engine
        raise KeyError(name)


def read_spec(folder: Path) -> LadderSpec:
    """The ladder in ``folder``. Raises ``CallError``, which names the file, and the line or the key."""
    path = folder / FILE
    try:
        text = read_text(path)
    except OSError as error:
        why = f"there is no {FILE}, expected a ladder" if isinstance(error, FileNotFoundError) else cause(error)
        raise CallError(f"{folder}: {why}") from None
    except UnicodeDecodeError as error:
        raise CallError(f"{path}: byte {error.start + 1}: expected UTF-8") from None
    return parse_spec(text, path)


def parse_spec(text: str, path: Path) -> LadderSpec:
    """The ladder that ``text`` describes, which stands in the file ``path``. Raises ``CallError``."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CallError(f"{path}: {error}") from None
    except RecursionError:
        raise CallError(f"{path}: too many lists in lists, expected a ladder") from None
    top = Table(str(path), data)
    version = top.number("format", 1, 1 << 30)
    if version != FORMAT:
        raise CallError(f"{path}: format: {version} is of a newer Caboose, expected {FORMAT}")
    seed = read_seed(top)
    in_process, records, pin = top.truth("in_process", False), top.truth("records", True), top.truth("pin", False)
    logs = top.truth("logs", False)
    anchor = top.text("anchor", "")
    scale_tc = top.take("scale_tc", None)
    if scale_tc is not None:
        scale_tc = parse_reference(f"{path}: scale_tc:", scale_tc)
    engines = [_engine(table, path.parent) for table in top.tables("engine")]
    _check_twice(path, "engine", [engine.name for engine in engines])
    _check_deals(path, engines)
    names = [engine.name for engine in engines]
    lists = [_list(table, names) for table in top.tables("list")]
    _check_twice(path, "list", [spec.name for spec in lists])
    top.done()
    return LadderSpec(
        seed=seed,
        in_process=in_process,
        records=records,
        engines=tuple(engines),
        lists=tuple(lists),
        logs=logs,
        pin=pin,
        scale_tc=scale_tc,
        anchor=anchor,
    )


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


def check_name(name: str) -> None:
    """Raises ``ValueError`` for what cannot be the name of an engine or a list."""
    if not name or len(name) > MAX_LABEL or not all(c.isascii() and (c.isalnum() or c in "+-_.") for c in name):
        raise ValueError(f"{name!r}: expected 1 to {MAX_LABEL} letters, digits and + - _ .")
    if not name[0].isalnum():
        raise ValueError(f"{name!r}: expected a letter or a digit first")


# ------------------------------------------------------------------------------------------------ the parts


def read_seed(top: Table) -> int:
    value = top.take("seed")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 1000:
        return int(value)
    if type(value) is int and value >= 0:
        return value
    raise top.error("seed", value, "a whole number of at least 0, or its digits as text")


def _engine(table: Table, folder: Path) -> EngineSpec:
    """An engine of a ladder, which may have been called otherwise."""
    dealt_as = table.text("dealt_as", "")
    if dealt_as:
        try:
            check_name(dealt_as)
        except ValueError as error:
            raise CallError(f"{table.where}: dealt_as: {error}") from None
    return replace(read_engine(table, folder), dealt_as=dealt_as)


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


def _list(table: Table, names: Sequence[str]) -> ListSpec:
    name = table.name("list")
    format = table.word("format", FORMATS, "round-robin")
    engines = table.known("engines", names)
    everybody = engines or tuple(names)
    heroes = table.known("heroes", everybody)
    if heroes and format not in ("hero", "gauntlet"):
        raise table.error("heroes", list(heroes), "that the format is hero or gauntlet")
    pairing = table.word("pairing", PAIRINGS, PAIRINGS[0])
    spec = ListSpec(
        name=name,
        format=format,
        rules=read_rules(table),
        control=read_control(table),
        blocks=_whole(table.number("blocks", 1, MOST_BLOCKS, DEFAULT_BLOCKS)),
        engines=everybody,
        heroes=heroes or everybody[:1],
        pairing=pairing,
        generation=_whole(table.number("generation", 1, 100_000, DEFAULT_GENERATION)),
        on_fault=table.word("on_fault", FAULT_POLICIES, FAULT_POLICIES[0]),
        crashed=table.word("crashed", CRASHED, CRASHED[0]),
        set_aside=_whole(table.number("set_aside", 0, MOST_BLOCKS, DEFAULT_SET_ASIDE)),
    )
    table.done()
    return spec


def read_rules(table: Table) -> Rules:
    players = _whole(table.number("players", MIN_PLAYERS, MAX_PLAYERS, 4))
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


def _whole(value: int | None) -> int:
    assert value is not None  # there is a default
    return value


def _resolved(word: str, folder: Path) -> str:
    if "/" not in word or Path(word).is_absolute():
        return word
    place = folder / word
    return str(place.absolute()) if place.exists() else word


def _check_twice(path: Path, what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise CallError(f"{path}: {what} {name!r} is there twice, expected names that differ")


def _check_deals(path: Path, engines: Sequence[EngineSpec]) -> None:
    """Raises ``CallError`` where two engines would get the same deals."""
    owners: dict[str, str] = {}
    for engine in engines:
        other = owners.setdefault(engine.dealt, engine.name)
        if other != engine.name:
            raise CallError(
                f"{path}: engine {engine.name!r}: the deals of {other} follow from the name {engine.dealt!r}, expected "
                "another name"
            )


class Table:
    """A table of the file, from which keys are taken. ``where`` is how errors name it."""

    def __init__(self, where: str, data: Mapping[str, Any]) -> None:
        self.where = where
        self._file = where
        self._data = dict(data)
        self._known: list[str] = []

    def take(self, key: str, default: Any = ...) -> Any:
        self._known.append(key)
        if key in self._data:
            return self._data.pop(key)
        if default is ...:
            raise CallError(f"{self.where}: {key} is missing")
        return default

    def error(self, key: str, value: Any, expected: str) -> CallError:
        shown = repr(value)
        return CallError(
            f"{self.where}: {key}: {shown if len(shown) <= 100 else shown[:97] + '...'}, expected {expected}"
        )

    def done(self) -> None:
        """Raises ``CallError`` for keys that nobody took."""
        for key in self._data:
            close = difflib.get_close_matches(key, self._known, n=1)
            hint = f"; did you mean {close[0]}?" if close else f", expected one of {', '.join(self._known)}"
            raise CallError(f"{self.where}: there is no key {key}{hint}")

    def name(self, what: str) -> str:
        name = self.text("name")
        try:
            check_name(name)
        except ValueError as error:
            raise CallError(f"{self.where}: name: {error}") from None
        self.where = f"{self._file}: {what} {name}"
        return name

    def text(self, key: str, default: Any = ...) -> str:
        value = self.take(key, default)
        if not isinstance(value, str):
            raise self.error(key, value, "text")
        return value

    def word(self, key: str, words: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in words:
            raise self.error(key, value, f"one of {', '.join(words)}")
        return value

    @overload
    def truth(self, key: str, default: bool) -> bool: ...
    @overload
    def truth(self, key: str, default: None) -> bool | None: ...
    def truth(self, key: str, default: bool | None) -> bool | None:
        value = self.take(key, default)
        if value is not default and not isinstance(value, bool):
            raise self.error(key, value, "true or false")
        return value

    def number(self, key: str, least: int, most: int, default: Any = ...) -> int | None:
        value = self.take(key, default)
        if value is not None and not (type(value) is int and least <= value <= most):
            raise self.error(key, value, f"a whole number from {least} to {most}")
        return value

    def real(self, key: str) -> float | None:
        value = self.take(key, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise self.error(key, value, "a number")
        if value is not None and not abs(value) <= sys.float_info.max:
            raise self.error(key, value, "a finite number")
        return None if value is None else float(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, value, "a list of texts")
        return tuple(value)

    def known(self, key: str, names: Sequence[str]) -> tuple[str, ...]:
        chosen = self.texts(key)
        for name in chosen:
            if name not in names:
                raise self.error(key, name, f"names of engines: {', '.join(names) or 'there are none yet'}")
            if chosen.count(name) > 1:
                raise self.error(key, name, "each name once")
        return chosen

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.take(key, {})
        if not isinstance(value, dict):
            raise self.error(key, value, "a table")
        return value

    def tables(self, key: str) -> list[Table]:
        value = self.take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, value, f"tables, each begun by [[{key}]]")
        made = []
        for number, item in enumerate(value, 1):
            table = Table(f"{self.where}: {key} {number}", item)
            table._file = self.where
            made.append(table)
        return made
