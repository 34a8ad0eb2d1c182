"""Objectives that need no games: a function says how good some options are.

A *measure* makes samples: work of which a number comes, more is better, from the options (name → text, those that are
tuned) and the number of a sample, from 0. All candidates are measured on the same samples, so what is special to a
sample cancels: a sample is a position, or a part of a suite. Samples with odd numbers are only used to verify."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from caboose.arena.bench.search_bench import positions
from caboose.arena.blocks.contestants import Contestant
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.errors import CallError, cause
from caboose.arena.storage.files import open_input, read_whole
from caboose.arena.suite.file import read_suite
from caboose.arena.suite.score import Entry, Score
from caboose.arena.tuning.config import STANDARD, StudySpec
from caboose.arena.tuning.depth import HALVED_MOVETIME, HALVED_NODES, Depth
from caboose.arena.tuning.sample_tasks import Asking, Calling, Here, Options, Sampling, check_function, not_lost
from caboose.engine.bot_api import Bot, Info, Limits
from caboose.protocol.process.faults import EngineFault
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.timing import DEFAULT_GUARD, MOST, TimeControl

Measure = Callable[[Options, int], Sampling]

DEFAULT_NODES: Final = 1000
DEFAULT_POSITIONS: Final = 10

_KEYS: Final = {
    "speed": ("nodes", "guard"),
    "time": ("nodes", "guard"),
    "suite": ("nodes", "guard", "suite", "positions"),
    "depth": ("nodes", "movetime", "guard", "suite", "positions"),
}
"""What [measure] may have, by objective."""


def make_measure(spec: StudySpec, stack: ExitStack) -> Measure:
    """The measure of a study; ``stack`` closes what it opens. Raises ``CallError``."""
    if spec.measure is not None:
        if spec.about:
            raise CallError(f"{spec.path}: measure: the objective is a function of yours: expected no [measure]")
        return _calling(spec.objective, *spec.measure)
    known = _KEYS[spec.objective]
    for key, value in spec.about.items():
        if key not in known:
            raise CallError(f"{spec.path}: measure.{key}: {value!r}, expected one of {', '.join(known)}")
    control = _control(spec)
    if "suite" not in known:
        searching = Searching(spec.engine, spec.folder, control, by_time=spec.objective == "time")
        stack.callback(searching.close)
        return lambda options, sample: Here(options, sample, searching)
    suite = spec.about.get("suite", STANDARD)
    if not isinstance(suite, str):
        raise CallError(f"{spec.path}: measure.suite: {suite!r}, expected the name of a file, or {STANDARD}")
    place = suite if suite == STANDARD else str(spec.path.parent / suite)
    positions = _whole(spec, "positions", DEFAULT_POSITIONS)
    if spec.objective == "suite":
        return Agreeing(spec.engine, spec.folder, place, control, positions)
    depth = Depth(control)
    return Agreeing(spec.engine, spec.folder, place, control, positions, earlier=depth.earlier, worth=depth.worth)


def _whole(spec: StudySpec, key: str, default: int, least: int = 1) -> int:
    value = spec.about.get(key, default)
    if type(value) is not int or not least <= value <= MOST:
        raise CallError(f"{spec.path}: measure.{key}: {value!r}, expected a whole number from {least} to {MOST}")
    return value


def _control(spec: StudySpec) -> TimeControl:
    """The limit of a search, and the guard."""
    guard = spec.about.get("guard", DEFAULT_GUARD / 1000)
    if type(guard) not in (int, float) or not 0 < guard <= MOST / 1000:
        raise CallError(f"{spec.path}: measure.guard: {guard!r}, expected seconds, a number above 0")
    if "movetime" not in spec.about:
        least = HALVED_NODES if spec.objective == "depth" else 1
        return TimeControl(nodes=_whole(spec, "nodes", DEFAULT_NODES, least), guard=1000 * guard)
    value = spec.about["movetime"]
    if "nodes" in spec.about:
        raise CallError(f"{spec.path}: measure.movetime: {value!r}, expected either nodes or movetime, not both")
    if type(value) not in (int, float) or not HALVED_MOVETIME <= value <= MOST:
        raise CallError(f"{spec.path}: measure.movetime: {value!r}, expected ms from {HALVED_MOVETIME:g} to {MOST}")
    return TimeControl(movetime=value, guard=1000 * guard)


def _given(engine: EngineSpec, hidden: Path, options: Options) -> Contestant:
    """The engine with its own options and those that are tried."""
    given = dict(engine.options) | dict(options)
    return replace(engine.contestant(hidden), options=tuple(given.items()))


class Searching:
    """How fast an engine searches: a sample is a position of ``caboose bench``, searched under ``control``.

    It is worth the nodes a second, or with ``by_time`` minus the ms that it took; only one is measured at a time, and a
    fault of the engine is an ``EngineFault``."""

    def __init__(self, engine: EngineSpec, hidden: Path, control: TimeControl, *, by_time: bool) -> None:
        self._engine = engine
        self._hidden = hidden
        self._control = control
        self._by_time = by_time
        self._observations = [position.observe() for position in positions()]
        self._observations = [each for each in self._observations if len(each.legal_moves()) > 1]
        self._players: dict[tuple[tuple[str, str], ...], Bot] = {}

    def __call__(self, options: Options, sample: int) -> float:
        observation = self._observations[sample % len(self._observations)]
        said: list[Info] = []
        try:
            player = self._player(options)
            player.new_game()
            begun = time.perf_counter()
            player.choose(observation, Limits(nodes=self._control.nodes, report=said.append))
            seconds = time.perf_counter() - begun
        except EngineFault:
            self.close()  # one that hangs would go on
            raise
        if self._by_time:
            return -1000 * seconds
        return (said[-1].nodes if said and said[-1].nodes else self._control.nodes or 0) / seconds

    def _player(self, options: Options) -> Bot:
        key = tuple(sorted(options.items()))
        if key not in self._players:
            self.close()
            contestant = _given(self._engine, self._hidden, options)
            self._players[key] = contestant.player(self._control, in_process=True)
        player = self._players[key]
        if isinstance(player, EngineProcess):
            player.start()
        return player

    def close(self) -> None:
        """Ends the engine."""
        for player in self._players.values():
            if isinstance(player, EngineProcess):
                player.close()
        self._players.clear()


class Agreeing:
    """How well an engine agrees with a long search (docs/guides/suite.md): a sample is ``positions`` positions of a
    suite, asked under ``earlier`` limits and under ``control``. Its ``worth`` is minus the pips that are lost a
    decision where nothing else is said.

    Where the suite is used up it begins anew, with another ``Seed``.
    """

    def __init__(
        self,
        engine: EngineSpec,
        hidden: Path,
        suite: str,
        control: TimeControl,
        positions: int,
        *,
        earlier: tuple[TimeControl, ...] = (),
        worth: Callable[[Score], float] = not_lost,
    ) -> None:
        self._engine = engine
        self._hidden = hidden
        self._control = control
        self._earlier = earlier
        self._worth = worth
        self._suite = read_suite(suite)
        self._positions = positions
        # An even number, so that the samples that verify stay others when the suite begins anew.
        self._parts = len(self._suite.positions) // positions // 2 * 2
        if not self._parts:
            count = len(self._suite.positions)
            raise CallError(
                f"measure.positions: {positions}, expected at most {count // 2}, half of those of the suite"
            )

    def __call__(self, options: Options, sample: int) -> Asking:
        around, part = divmod(sample, self._parts)
        positions = self._suite.positions[part * self._positions : (part + 1) * self._positions]
        entry = Entry(
            _given(self._engine, self._hidden, options),
            self._control,
            self._earlier,
            seeds=(around,) if around else (),
        )
        return Asking(options, sample, entry, replace(self._suite, positions=positions), self._worth)


def _calling(objective: str, path: Path, function: str) -> Measure:
    try:
        with open_input(path) as file:
            source = read_whole(file)
    except OSError as error:
        raise CallError(f"{path}: {cause(error)}: expected the file of the function {function}") from None
    place = str(path.absolute())
    check_function(place, source, function)
    return lambda options, sample: Calling(options, sample, objective, place, source)
