"""Objectives that need no games: a function says how good some options are.

A *measure* is a function of the options (name → text, those that are tuned) and the number of a sample, from 0. It
returns a number, more is better. All candidates are measured on the same samples, so what is special to a sample
cancels: a sample is a position, or a part of a suite. Samples with odd numbers are only used to verify."""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from caboose.arena.bench import positions
from caboose.arena.errors import CallError, RunError
from caboose.arena.ladder.config import EngineSpec
from caboose.arena.tune.config import StudySpec
from caboose.engine.play import Bot, Info, Limits
from caboose.protocol.faults import EngineFault
from caboose.protocol.process import EngineProcess
from caboose.protocol.timing import TimeControl

Measure = Callable[[Mapping[str, str], int], float]

DEFAULT_NODES: Final = 1000


def make_measure(spec: StudySpec) -> Measure:
    """The measure of a study. Raises ``CallError``."""
    if spec.measure is not None:
        return _checked(_function(*spec.measure), spec.objective)
    nodes = spec.about.get("nodes", DEFAULT_NODES)
    known = {"speed": ("nodes",), "time": ("nodes",)}.get(spec.objective, ())
    for key, value in spec.about.items():
        if key not in known:
            raise CallError(
                f"{spec.path}: measure.{key}: {value!r}, expected no such key for the objective {spec.objective}"
            )
    if type(nodes) is not int or nodes < 1:
        raise CallError(f"{spec.path}: measure.nodes: {nodes!r}, expected a whole number of at least 1")
    return Searching(spec.engine, spec.folder, nodes, by_time=spec.objective == "time")


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
            contestant = self._engine.contestant(self._hidden)
            given = dict(self._engine.options) | dict(options)
            one = type(contestant)(contestant.label, contestant.entrant, tuple(given.items()), launch=contestant.launch)
            player = one.player(TimeControl(nodes=self._nodes), in_process=True)
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


def _function(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"caboose_measure_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # its name ends with .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CallError(f"{path}: it cannot be loaded: {type(error).__name__}: {error}") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise CallError(f"{path}: there is no function {name}, expected one: {name}(options, sample) -> number")
    return function


def _checked(function: Any, name: str) -> Measure:
    def measured(options: Mapping[str, str], sample: int) -> float:
        try:
            value = float(function(options, sample))
        except Exception as error:
            raise RunError(f"{name}: sample {sample}: {type(error).__name__}: {error}") from None
        if not math.isfinite(value):
            raise RunError(f"{name}: sample {sample}: {value}, expected a number")
        return value

    return measured
