"""Objectives that need no games: a function says how good some options are.

A *measure* is a function of the options (name → text, those that are tuned) and the number of a sample, from 0. It
returns a number, more is better. All candidates are measured on the same samples, so what is special to a sample
cancels: a sample is a position, or a part of a suite. Samples with odd numbers are only used to verify."""

from __future__ import annotations

import importlib.util
import numbers
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from caboose.arena.bench import positions
from caboose.arena.errors import CallError, RunError
from caboose.arena.ladder.config import EngineSpec
from caboose.arena.lineup import Contestant
from caboose.arena.suite.file import read_suite
from caboose.arena.suite.score import Entry, InterruptedScore, Score, score
from caboose.arena.tune.config import STANDARD, StudySpec
from caboose.arena.tune.depth import HALVED_MOVETIME, HALVED_NODES, Depth
from caboose.arena.tune.store import MOST
from caboose.engine.play import Bot, Info, Limits
from caboose.protocol.faults import EngineFault
from caboose.protocol.process import EngineProcess
from caboose.protocol.timing import MOST as MOST_LIMIT
from caboose.protocol.timing import TimeControl

Measure = Callable[[Mapping[str, str], int], float]

DEFAULT_NODES: Final = 1000
DEFAULT_POSITIONS: Final = 10

_KEYS: Final = {
    "speed": ("nodes",),
    "time": ("nodes",),
    "suite": ("nodes", "suite", "positions"),
    "depth": ("nodes", "movetime", "suite", "positions"),
}
"""What [measure] may have, by objective."""


def make_measure(spec: StudySpec) -> Measure:
    """The measure of a study. Raises ``CallError``."""
    if spec.measure is not None:
        if spec.about:
            raise CallError(f"{spec.path}: measure: the objective is a function of yours: expected no [measure]")
        return _checked(_function(*spec.measure), spec.objective)
    known = _KEYS[spec.objective]
    for key, value in spec.about.items():
        if key not in known:
            raise CallError(f"{spec.path}: measure.{key}: {value!r}, expected one of {', '.join(known)}")
    if "suite" not in known:
        nodes = _whole(spec, "nodes", DEFAULT_NODES)
        return Searching(spec.engine, spec.folder, nodes, by_time=spec.objective == "time")
    suite = spec.about.get("suite", STANDARD)
    if not isinstance(suite, str):
        raise CallError(f"{spec.path}: measure.suite: {suite!r}, expected the name of a file, or {STANDARD}")
    place = suite if suite == STANDARD else str(spec.path.parent / suite)
    positions = _whole(spec, "positions", DEFAULT_POSITIONS)
    if spec.objective == "suite":
        control = TimeControl(nodes=_whole(spec, "nodes", DEFAULT_NODES))
        return Agreeing(spec.engine, spec.folder, place, control, positions)
    depth = Depth(_halved(spec))
    return Agreeing(spec.engine, spec.folder, place, depth.control, positions, earlier=depth.earlier, worth=depth.worth)


def _whole(spec: StudySpec, key: str, default: int, least: int = 1) -> int:
    value = spec.about.get(key, default)
    if type(value) is not int or not least <= value <= MOST_LIMIT:
        raise CallError(f"{spec.path}: measure.{key}: {value!r}, expected a whole number from {least} to {MOST_LIMIT}")
    return value


def _halved(spec: StudySpec) -> TimeControl:
    """The limit of which there are halves: nodes, or ms where the study says so."""
    if "movetime" not in spec.about:
        return TimeControl(nodes=_whole(spec, "nodes", DEFAULT_NODES, HALVED_NODES))
    value = spec.about["movetime"]
    if "nodes" in spec.about:
        raise CallError(f"{spec.path}: measure.movetime: {value!r}, expected either nodes or movetime, not both")
    if type(value) not in (int, float) or not HALVED_MOVETIME <= value <= MOST_LIMIT:
        raise CallError(
            f"{spec.path}: measure.movetime: {value!r}, expected ms from {HALVED_MOVETIME:g} to {MOST_LIMIT}"
        )
    return TimeControl(movetime=value)


def _given(engine: EngineSpec, hidden: Path, options: Mapping[str, str]) -> Contestant:
    """The engine with its own options and those that are tried."""
    given = dict(engine.options) | dict(options)
    return replace(engine.contestant(hidden), options=tuple(given.items()))


class Searching:
    """How fast an engine searches: a sample is a position of ``caboose bench``, searched with ``nodes`` nodes.

    It is worth the nodes a second, or with ``by_time`` minus the ms that it took."""

    def __init__(self, engine: EngineSpec, hidden: Path, nodes: int, *, by_time: bool) -> None:
        self._engine = engine
        self._hidden = hidden
        self._nodes = nodes
        self._by_time = by_time
        self._observations = [position.observe() for position in positions()]
        self._observations = [each for each in self._observations if len(each.legal_moves()) > 1]
        self._players: dict[tuple[tuple[str, str], ...], Bot] = {}

    def __call__(self, options: Mapping[str, str], sample: int) -> float:
        observation = self._observations[sample % len(self._observations)]
        said: list[Info] = []
        try:
            player = self._player(options)
            player.new_game()
            begun = time.perf_counter()
            player.choose(observation, Limits(nodes=self._nodes, report=said.append))
            seconds = time.perf_counter() - begun
        except EngineFault as fault:
            raise RunError(f"{self._engine.name}: {fault.kind}: {fault.detail}") from None
        if self._by_time:
            return -1000 * seconds
        return (said[-1].nodes if said and said[-1].nodes else self._nodes) / seconds

    def _player(self, options: Mapping[str, str]) -> Bot:
        key = tuple(sorted(options.items()))
        if key not in self._players:
            self.close()
            contestant = _given(self._engine, self._hidden, options)
            player = contestant.player(TimeControl(nodes=self._nodes), in_process=True)
            if isinstance(player, EngineProcess):
                player.start()
            self._players[key] = player
        return self._players[key]

    def close(self) -> None:
        """Ends the engine."""
        for player in self._players.values():
            if isinstance(player, EngineProcess):
                player.close()
        self._players.clear()


def not_lost(found: Score) -> float:
    """Minus the pips that are lost a decision."""
    return -float(np.mean(found.losses()))


class Agreeing:
    """How well an engine agrees with a long search (docs/suite.md): a sample is ``positions`` positions of a suite,
    asked under ``earlier`` limits and under ``control``. Its ``worth`` is minus the pips that are lost a decision where
    nothing else is said.

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

    def __call__(self, options: Mapping[str, str], sample: int) -> float:
        around, part = divmod(sample, self._parts)
        entry = Entry(
            _given(self._engine, self._hidden, options),
            self._control,
            self._earlier,
            seeds=(around,) if around else (),
        )
        part_of = range(part * self._positions, (part + 1) * self._positions)
        try:
            (found,) = score(self._suite, [entry], positions=part_of)
        except InterruptedScore:
            raise KeyboardInterrupt from None
        if found.faults:
            raise RunError(f"{self._engine.name}: a position of the suite: {found.faults[0][1]}")
        return self._worth(found)


def _function(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"caboose_measure_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # its name ends with .py
    module = importlib.util.module_from_spec(spec)
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CallError(f"{path}: it cannot be loaded: {type(error).__name__}: {error}") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise CallError(f"{path}: there is no function {name}, expected one: {name}(options, sample) -> number")
    return function


def _checked(function: Any, name: str) -> Measure:
    def measured(options: Mapping[str, str], sample: int) -> float:
        try:
            with redirect_stdout(sys.stderr):  # stdout is for what comes of the study
                found = function(options, sample)
        except (Exception, SystemExit) as error:
            told = " ".join(str(error).split())
            raise RunError(f"{name}: sample {sample}: {type(error).__name__}: {told}") from None
        # Numbers of numpy are of these kinds, too.
        if not isinstance(found, numbers.Real) or isinstance(found, bool):
            raise RunError(f"{name}: sample {sample}: {repr(found)[:40]}, expected a number")
        value = float(found)
        if not abs(value) <= MOST:
            raise RunError(f"{name}: sample {sample}: {value:g}, expected a number of at most {MOST:g}")
        return value

    return measured
