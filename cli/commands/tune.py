"""``caboose tune``: from a file that names parameters to values that are proven better."""

from __future__ import annotations

import json as json_text
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from caboose.arena.console.console import Console, Text
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.execution.executors import Executor, LocalExecutor, PoolExecutor
from caboose.arena.storage.ladder_folder import locked, runner
from caboose.arena.tuning.config import StudySpec, read_study
from caboose.arena.tuning.methods import check_libraries
from caboose.arena.tuning.open_study import begin, look
from caboose.arena.tuning.progress import StudyProgress
from caboose.arena.tuning.report import REPORT, report
from caboose.arena.tuning.result import print_study, proven, study_data
from caboose.arena.tuning.run import Study, play
from caboose.cli.options.execution import DaskOption, PinOption, make_cluster, make_local
from caboose.cli.options.files import output_errors, written
from caboose.cli.options.sandbox import expect_foreign


def tune(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The description of a study: docs/guides/tuning.md.", show_default=False),
    ],
    status: Annotated[bool, typer.Option("--status", help="Show how far it is; nothing is played.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Begin no block after that time. What was begun is played to its end.", show_default=False
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Blocks or samples at a time, each in a process; by default one for each core."),
    ] = None,
    dask: DaskOption = None,
    pin: PinOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, for programs.")] = False,
) -> None:
    """Tune parameters of an engine: search, recommend, and prove the recommendation on fresh deals.

    All is kept block by block, in a folder beside the file: whatever ends a study, the same call goes on where it was.

    Exit code 1: no gain was proven, or it was interrupted.
    """
    spec = read_study(file)
    check_libraries(spec.method)
    if spec.alone:
        for option, given in (("--dask", dask), ("--concurrency", concurrency), ("--pin", pin)):
            if given:
                raise CallError(f"{option}: {spec.objective} is measured here, one sample after another: not expected")
    if pin and not spec.games:
        raise CallError(f"--pin: the objective {spec.objective} takes no games: not expected")
    console = Console(highlight=False)
    if status:
        study, running = look(spec), runner(spec.folder)
        if json:
            print(json_text.dumps(study_data(study, running=running), indent=1))
        else:
            print_study(console, study, running=running)
        return
    expect_foreign(engine.sandbox for engine in [spec.engine, *spec.opponents.values()] if not engine.builtin)
    seconds = None if minutes is None else 60 * minutes
    study, problem = _run(spec, seconds, lambda errors: _executor(spec, errors, dask, concurrency, pin))
    place = spec.folder / REPORT
    unwritten = _write_report(study, place)
    if json:
        print(json_text.dumps(study_data(study, problem=problem), indent=1))
    else:
        print_study(console, study)
        if not unwritten:
            console.print(Text(f"Report: {place}"))
        if problem or study.result is None:
            console.print(Text(f"{problem or 'the time is over'}: the same call goes on from here", style="bold"))
    if unwritten:
        raise RunError(f"{unwritten}: the report was not written")
    if not proven(study):
        raise typer.Exit(1)


def _write_report(study: Study, place: Path) -> str:
    """Writes the page; returns why it cannot be, so that what a study came to is told all the same."""
    try:
        with output_errors(str(place)), written(place, named=False) as page:
            page.write(report(study).encode())
    except RunError as error:
        return str(error)
    return ""


def _executor(spec: StudySpec, errors: Console, dask: str | None, concurrency: int | None, pin: bool) -> Executor:
    """Where blocks are played, or samples measured. Raises ``CallError`` and ``RunError``."""
    if spec.alone:
        return LocalExecutor()
    if dask is None:
        if spec.measure is not None:
            # Never in this process: the function may be stuck, or end it.
            return PoolExecutor(concurrency or _cores())
        players = max((each.rules.players for each in spec.lists), default=1)
        return make_local(concurrency or _cores(), players, errors, pin=pin, reference=None)
    engines = [] if spec.measure is not None else [spec.engine, *spec.opponents.values()]
    commands = [engine.command for engine in engines if not engine.builtin]
    sandbox = any(engine.sandbox for engine in engines)
    return make_cluster(dask, commands, errors, sandbox=sandbox, most=concurrency, pin=pin, reference=None)


def _run(spec: StudySpec, seconds: float | None, executor: Callable[[Console], Executor]) -> tuple[Study, str]:
    """Plays a study; returns it, and why it ended early."""
    errors = Console(stderr=True, highlight=False)
    try:
        spec.folder.mkdir(exist_ok=True)
    except OSError as error:
        raise RunError(f"{spec.folder}: {cause(error)}: the study is kept there") from None
    with ExitStack() as stack:
        # Surfaces are small: more threads of the linear algebra would only take the cores from the games.
        stack.enter_context(threadpool_limits(1, user_api="blas"))
        stack.enter_context(locked(spec.folder))
        shield = stack.enter_context(interruptible())
        study, store = begin(spec, stack)
        watcher = stack.enter_context(StudyProgress(errors))
        problem = play(study, store, executor(errors), watcher, seconds)
        shield()
    return study, problem


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
