"""Samples: what is measured of a candidate where no games are played, as work for the executors of the arena.

A sample is sent to where it is measured with all that it takes: the positions that are asked, or the text of the file
of a function. So it does not matter what becomes of a file meanwhile, nor on which machine it is."""

from __future__ import annotations

import ast
import io
import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Final

from threadpoolctl import threadpool_limits

from caboose.arena.blocks.block import Players
from caboose.arena.blocks.results import GameInBlock
from caboose.arena.errors import CallError, RunError, Stopped
from caboose.arena.suite.score import Entry, InterruptedScore, Score, score
from caboose.arena.suite.suite import Suite
from caboose.arena.tuning.store import MOST
from caboose.engine.bot_api import OptionError
from caboose.protocol.process.faults import EngineFault

Options = Mapping[str, str]

_SHOWN: Final = 40  # characters of what is no number


@dataclass(frozen=True, slots=True)
class Sampled:
    """What came of a sample: its value, more is better, or the ``fault`` of the engine, or the ``problem`` for which
    nothing more can be measured. ``printed`` is what the function wrote to stdout."""

    value: float | None
    fault: str = ""
    problem: str = ""
    printed: str = ""

    @property
    def games(self) -> Sequence[GameInBlock]:
        """None."""
        return ()


@dataclass(frozen=True, eq=False)
class Sampling(ABC):
    """The sample with the number ``sample``, from 0, of a candidate: ``options`` are those that are tried."""

    options: Options
    sample: int

    @property
    def label(self) -> str:
        """What it is called."""
        return f"sample {self.sample}"

    def play(self, players: Players, on_game: Callable[[], None], scale: float) -> Sampled:
        """Measures it."""
        try:
            return self.measured()
        except EngineFault as fault:
            return Sampled(None, fault=f"{fault.kind}: {fault.detail}")
        except OptionError as error:
            return Sampled(None, fault=f"start: {error}")
        except RunError as error:
            return Sampled(None, problem=str(error))

    @abstractmethod
    def measured(self) -> Sampled:
        """What comes of it. Raises ``EngineFault`` and ``OptionError`` where the engine fails, and ``RunError`` for
        what ends the run."""


@dataclass(frozen=True, eq=False)
class Here(Sampling):
    """A sample that can only be measured in this process: by ``measure``, of the options and the number."""

    measure: Callable[[Options, int], float]

    def measured(self) -> Sampled:
        """What ``measure`` says."""
        return Sampled(self.measure(self.options, self.sample))


def not_lost(found: Score) -> float:
    """Minus the pips that are lost a decision."""
    return -float(found.losses().mean())


@dataclass(frozen=True, eq=False)
class Asking(Sampling):
    """Positions of a suite that ``entry`` is asked; its ``worth``, more is better, follows from its score. At a fault
    it is asked no more."""

    entry: Entry
    suite: Suite
    worth: Callable[[Score], float]

    def measured(self) -> Sampled:
        """What its answers are worth."""
        try:
            (found,) = score(self.suite, [self.entry], most_faults=1)
        except InterruptedScore:
            raise KeyboardInterrupt from None
        if found.faults:
            return Sampled(None, fault=found.faults[0][1])
        return Sampled(self.worth(found))


@dataclass(frozen=True, eq=False)
class Calling(Sampling):
    """A call of the function ``objective``, FILE.py:FUNCTION; the file is ``path``, and its text ``source``.

    Whatever it raises is an error of its own, and no interrupt: it is for a process that does nothing else."""

    objective: str
    path: str
    source: bytes

    def measured(self) -> Sampled:
        """What it returns."""
        where = f"{self.objective}: sample {self.sample}"
        said = io.StringIO()  # to be written by who shows how far the study is: two would write over each other
        try:
            with redirect_stdout(said):
                name = self.objective.rpartition(":")[2]
                function = getattr(load(self.path, self.source), name, None)
                if not callable(function):
                    raise RunError(missing(self.path, name))
                found = function(dict(self.options), self.sample)
            # Numbers of numpy are of these kinds, too.
            value = float(found) if isinstance(found, numbers.Real) and not isinstance(found, bool) else None
            problem = "" if value is not None else f"{repr(found)[:_SHOWN]}, expected a number"
        except Stopped:
            raise
        except RunError as error:
            return Sampled(None, problem=str(error), printed=said.getvalue())
        except BaseException as error:
            value, problem = None, told(error, self.path)
        if value is not None and not abs(value) <= MOST:
            value, problem = None, f"{value:g}, expected a number of at most {MOST:g}"
        return Sampled(value, problem=f"{where}: {problem}" if problem else "", printed=said.getvalue())


@lru_cache(maxsize=1)
def load(path: str, source: bytes) -> ModuleType:
    """The module that a file with the text ``source`` makes, which may import its neighbours. Raises ``RunError``."""
    sys.path.insert(0, str(Path(path).parent))
    module = ModuleType(f"caboose_measure_{Path(path).stem}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # data classes look for theirs
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise RunError(f"{path}: it cannot be loaded: {told(error, path)}") from None
    threadpool_limits(1, user_api="blas")  # the cores are for other samples
    return module


def check_function(path: str, source: bytes, name: str) -> None:
    """Raises ``CallError`` for a file that is no program or defines no function ``name``. Does not run it: whatever it
    does is for a process that does nothing else."""
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError) as error:  # a null byte
        raise CallError(f"{path}: it cannot be loaded: {told(error, path)}") from None
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found = node.name == name
            case ast.Name(ctx=ast.Store()):
                found = node.id == name
            case ast.alias():
                found = (node.asname or node.name) in (name, "*")
            case _:
                found = False
        if found:
            return
    raise CallError(missing(path, name))


def missing(path: str, name: str) -> str:
    """What people are told where there is no function ``name``."""
    return f"{path}: there is no function {name}, expected one: {name}(options, sample) -> number"


def told(error: BaseException, path: str) -> str:
    """An error of somebody else's program in a line, with the last line of the file ``path`` that had to do with it."""
    text = ""
    with suppress(Exception):
        text = " ".join(str(error).split())
    at, trace = 0, error.__traceback__
    while trace is not None:
        at = trace.tb_lineno if trace.tb_frame.f_code.co_filename == path else at
        trace = trace.tb_next
    return f"{type(error).__name__}{f': {text}' if text else ''}{f' (line {at})' if at else ''}"
