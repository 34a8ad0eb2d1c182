"""What a ladder is, as ``ladder.toml`` describes it; ``docs/guides/ladder.md`` tells the keys."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from caboose.arena.blocks.block import CRASHED
from caboose.arena.blocks.time_scaling import parse_reference
from caboose.arena.config.engine_spec import (
    MOST_BLOCKS,
    EngineSpec,
    read_control,
    read_engine,
    read_rules,
    whole_number,
)
from caboose.arena.config.toml import Table, check_name
from caboose.arena.errors import CallError, cause
from caboose.arena.storage.files import read_text
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.referee import FAULT_POLICIES
from caboose.protocol.referee.timing import TimeControl

FILE: Final = "ladder.toml"
FORMAT: Final = 1
FORMATS: Final = ("round-robin", "hero", "gauntlet", "random")
PAIR: Final = "pair"  # as `caboose compare` plays it: two heroes share the seats; in no ladder.toml
PAIRINGS: Final = ("adaptive", "even")
DEFAULT_BLOCKS: Final = 100
DEFAULT_GENERATION: Final = 16
DEFAULT_SET_ASIDE: Final = 20


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
        blocks=whole_number(table.number("blocks", 1, MOST_BLOCKS, DEFAULT_BLOCKS)),
        engines=everybody,
        heroes=heroes or everybody[:1],
        pairing=pairing,
        generation=whole_number(table.number("generation", 1, 100_000, DEFAULT_GENERATION)),
        on_fault=table.word("on_fault", FAULT_POLICIES, FAULT_POLICIES[0]),
        crashed=table.word("crashed", CRASHED, CRASHED[0]),
        set_aside=whole_number(table.number("set_aside", 0, MOST_BLOCKS, DEFAULT_SET_ASIDE)),
    )
    table.done()
    return spec


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
