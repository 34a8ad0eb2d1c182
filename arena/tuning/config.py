"""What a study is, as its TOML file describes it; ``docs/guides/tuning.md`` tells the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import caboose.bots as bots
from caboose.arena.blocks.block import CRASHED
from caboose.arena.blocks.contestants import builtin_command
from caboose.arena.config.engine_spec import EngineSpec, read_control, read_engine, read_rules
from caboose.arena.config.toml import check_name
from caboose.arena.errors import CallError
from caboose.arena.tuning.methods import METHODS
from caboose.arena.tuning.toml import LinedTable, read_toml
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.referee import FAULT_POLICIES
from caboose.protocol.referee.timing import TimeControl

FORMAT: Final = 1
GAMES: Final = ("margin", "rounds-won", "rating")
MEASURES: Final = ("speed", "time", "suite", "depth")
CLOCKED: Final = ("speed", "time")
SELF: Final = "self"
STANDARD: Final = "standard"  # the suite of the package
DEFAULT_BLOCKS: Final = 1000
MOST_BLOCKS: Final = 100_000_000
MOST_BATCH: Final = 1000
MOST_PARAMETERS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpec:
    """A parameter as the file has it; None where it leaves it to the option, no ``choices`` where all that the option
    has. ``where`` is how errors begin, ``places`` how those begin that are of a key which the file has."""

    name: str
    where: str
    places: Mapping[str, str]
    low: float | None
    high: float | None
    step: float | None
    current: float | str | None
    choices: tuple[str, ...]
    log: bool
    integer: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GamesSpec:
    """Games of one kind: blocks of a candidate against copies of one opponent, each of ``pool`` in turn. ``weight`` is
    how much they count."""

    name: str
    weight: float
    pool: tuple[str, ...]
    rules: Rules
    control: TimeControl
    on_fault: str
    crashed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySpec:
    """How the recommendation is tested: H1 is a gain of ``gain``, None for half of what is expected; ``blocks`` at
    most, 0 for no test."""

    blocks: int
    gain: float | None
    alpha: float
    beta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySpec:
    """A whole study. ``opponents`` are those of its pools by name, but for ``self``. ``raw`` is what the file says.

    ``objective`` is one of ``GAMES`` or ``MEASURES``, or FILE.py:FUNCTION, whose file is ``measure``; ``about`` is what
    a measure is told, and what its limits are."""

    path: Path
    seed: int
    method: str
    objective: str
    blocks: int
    batch: int | None
    in_process: bool
    engine: EngineSpec
    parameters: tuple[ParameterSpec, ...]
    opponents: Mapping[str, EngineSpec]
    lists: tuple[GamesSpec, ...]
    verify: VerifySpec
    measure: tuple[Path, str] | None
    about: Mapping[str, Any]
    raw: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where all is kept that comes of it."""
        return self.path.with_suffix(".study")

    @property
    def games(self) -> bool:
        """Whether the objective takes games."""
        return self.objective in GAMES

    @property
    def alone(self) -> bool:
        """Whether samples are measured one at a time, as the clock measures them and others would disturb it."""
        return self.objective in CLOCKED or "movetime" in self.about

    @property
    def pieces(self) -> str:
        """What people are told that candidates play: ``blocks``, or ``samples`` where there are no games."""
        return "blocks" if self.games else "samples"

    @property
    def fresh(self) -> str:
        """What the verification has that the search never saw."""
        return "fresh deals" if self.games else "fresh samples"


def read_study(path: Path) -> StudySpec:
    """The study that a file describes. Raises ``CallError``, which names the file, the line and the key."""
    top = read_toml(path)
    raw = _plain(top._data)
    version = top.number("format", 1, 1 << 30)
    if version != FORMAT:
        raise CallError(f"{top.place('format')}: {version} is of a newer Caboose, expected {FORMAT}")
    objective, measure = _objective(top, path.parent)
    seed = top.number("seed", 0, (1 << 63) - 1, 1)
    method = top.word("method", METHODS, "tpe")
    blocks = top.number("blocks", 1, MOST_BLOCKS, DEFAULT_BLOCKS)
    batch = top.number("batch", 2, MOST_BATCH, None)
    in_process = top.truth("in_process", False)
    engine = read_engine(top.table("engine", "engine"), path.parent)
    parameters = _parameters(top)
    games = objective in GAMES
    opponents = _opponents(top, path.parent)
    lists = top.listed("list")
    if games and not lists:
        raise CallError(f"{path}: there is no [[list]]: expected one, since the objective {objective} takes games")
    if not games and lists:
        raise CallError(f"{lists[0].where}: the objective {objective} takes no games: expected no [[list]]")
    specs = [_list(table, at, opponents) for at, table in enumerate(lists, 1)]
    for at, spec in enumerate(specs):
        if spec.name in [each.name for each in specs[:at]]:
            raise CallError(f"{lists[at].where}: name: {spec.name!r}, expected another than those of other lists")
    about = _about(top.table("measure"), games)
    verify = _verify(top.table("verify"), blocks or DEFAULT_BLOCKS)
    top.done()
    assert seed is not None and blocks is not None  # there are defaults
    return StudySpec(
        path=path,
        seed=seed,
        method=method,
        objective=objective,
        blocks=blocks,
        batch=batch,
        in_process=in_process,
        engine=engine,
        parameters=parameters,
        opponents=opponents,
        lists=tuple(specs),
        verify=verify,
        measure=measure,
        about=about,
        raw=raw,
    )


# ------------------------------------------------------------------------------------------------ the parts


def _objective(top: LinedTable, folder: Path) -> tuple[str, tuple[Path, str] | None]:
    value = top.text("objective", "margin")
    if value in GAMES or value in MEASURES:
        return value, None
    file, colon, function = value.rpartition(":")
    if not (colon and file.endswith(".py") and function.isidentifier()):
        raise top.error("objective", value, f"one of {', '.join(GAMES + MEASURES)}, or FILE.py:FUNCTION")
    place = folder / file
    if not place.is_file():
        raise top.error("objective", value, f"a file that is there; {place} is not")
    return value, (place, function)


def _parameters(top: LinedTable) -> tuple[ParameterSpec, ...]:
    tables = top.table("parameter")
    names = tables.keys
    if not names:
        raise CallError(f"{top.where}: there is no [parameter.NAME]: expected the options that are to be tuned")
    if len(names) > MOST_PARAMETERS:
        raise CallError(f"{tables.where}: {len(names)} parameters, expected {MOST_PARAMETERS} at most")
    found = []
    for name in names:
        table = tables.table(name)
        places = {key: table.place(key) for key in table.keys}
        low, high, step, current = table.real("min"), table.real("max"), table.real("step"), table.value("current")
        choices = table.texts("choices")
        if "choices" in places and (len(choices) < 2 or len(set(choices)) < len(choices)):
            raise table.error("choices", list(choices), "at least two, each of them once")
        log, integer = table.truth("log", False), table.truth("integer", None)
        if step is not None and step <= 0:
            raise table.error("step", step, "a number above 0")
        if low is not None and high is not None and low >= high:
            raise table.error("max", high, f"a number above min, which is {low:g}")
        if log and low is not None and low <= 0:
            raise table.error("min", low, "a number above 0, as log is set")
        table.done()
        found.append(
            ParameterSpec(
                name=name,
                where=table.where,
                places=places,
                low=low,
                high=high,
                step=step,
                current=current,
                choices=choices,
                log=log,
                integer=integer,
            )
        )
    return tuple(found)


def _opponents(top: LinedTable, folder: Path) -> dict[str, EngineSpec]:
    found: dict[str, EngineSpec] = {}
    for table in top.listed("opponent"):
        spec = read_engine(table, folder)
        if spec.name in found or spec.name == SELF or (spec.name in bots.BOTS and spec.name != spec.builtin):
            raise CallError(
                f"{table.where}: name: {spec.name!r}, expected another than those of other opponents, of built-in "
                f"bots, and {SELF}"
            )
        found[spec.name] = spec
    return found


def _list(table: LinedTable, number: int, opponents: dict[str, EngineSpec]) -> GamesSpec:
    name = table.text("name", f"list-{number}")
    try:
        check_name(name)
    except ValueError as error:
        raise table.error("name", name, str(error).partition("expected ")[2]) from None
    pool = table.texts("pool") or (SELF,)
    for each in pool:
        if each == SELF or each in opponents:
            continue
        if each not in bots.BOTS:
            known = [SELF, *opponents, *bots.BOTS]
            raise table.error("pool", each, f"names of opponents: {', '.join(known)}")
        opponents[each] = EngineSpec(name=each, builtin=each, command=builtin_command(each))
    weight = table.real("weight")
    if weight is not None and not 0 < weight < 1e9:
        raise table.error("weight", weight, "a number above 0 and below 1e9")
    spec = GamesSpec(
        name=name,
        weight=1.0 if weight is None else weight,
        pool=pool,
        rules=read_rules(table),
        control=read_control(table),
        on_fault=table.word("on_fault", FAULT_POLICIES, FAULT_POLICIES[0]),
        crashed=table.word("crashed", CRASHED, CRASHED[0]),
    )
    table.done()
    return spec


def _about(table: LinedTable, games: bool) -> Mapping[str, Any]:
    """What a measure is told: whatever the file has for it."""
    about = {key: table.take(key) for key in table.keys}
    if games and about:
        raise CallError(f"{table.where}: the objective takes games: expected no [measure]")
    return about


def _verify(table: LinedTable, blocks: int) -> VerifySpec:
    most = table.number("blocks", 0, MOST_BLOCKS, blocks)
    gain, alpha, beta = table.real("gain"), table.real("alpha"), table.real("beta")
    if gain is not None and gain <= 0:
        raise table.error("gain", gain, "a number above 0")
    for key, share in (("alpha", alpha), ("beta", beta)):
        if share is not None and not 0 < share < 0.5:
            raise table.error(key, share, "a number between 0 and 0.5")
    table.done()
    assert most is not None  # there is a default
    return VerifySpec(
        blocks=most, gain=gain, alpha=0.05 if alpha is None else alpha, beta=0.05 if beta is None else beta
    )


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Every value of the file by the path of its key, as ``list 1.nodes``."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{inner}": found for inner, found in _plain(value).items()}
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value, 1):
                flat |= {f"{key} {number}.{inner}": found for inner, found in _plain(item).items()}
        else:
            flat[key] = value
    return {
        key: str(value) if not isinstance(value, (str, int, float, bool, list)) else value
        for key, value in flat.items()
    }
