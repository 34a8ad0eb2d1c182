"""``caboose ladder run``: plays what is left."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from typing import Annotated

import typer

from caboose.arena.blocks.time_scaling import parse_reference
from caboose.arena.console.console import Console, Text
from caboose.arena.console.signals import interruptible
from caboose.arena.execution.executors import Executor
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.progress import LadderProgress
from caboose.arena.ladder.rating_reference import make_reference
from caboose.arena.ladder.run import Limit, open_store, play, prepare, reference_speed
from caboose.arena.ladder.standings_table import print_standings
from caboose.arena.storage.ladder_folder import locked
from caboose.cli.commands.ladder_edit import FolderArgument
from caboose.cli.options.execution import DaskOption, PinOption, ScaleOption, make_cluster, make_local
from caboose.cli.options.sandbox import expect_foreign


def run(
    folder: FolderArgument,
    blocks: Annotated[int | None, typer.Option(min=1, help="Play that many more at most.", show_default=False)] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Begin no block after that time. What was begun is played to its end.", show_default=False
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Blocks played at the same time, each in a process; by default one for each core."),
    ] = None,
    dask: DaskOption = None,
    pin: PinOption = False,
    scale_tc: ScaleOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 when there was any fault.")] = False,
) -> None:
    """Play what is left of the ladder, and print the standings.

    However it ends, all finished blocks are kept, and another run goes on where this one was: Ctrl-C ends it at once,
    without the blocks in flight. An engine that does not start is left out while at least two others play. Exit code 1:
    it was interrupted, an engine was left out, or something went wrong.
    """
    spec = read_spec(folder)
    expect_foreign(engine.sandbox for engine in spec.engines if not engine.builtin)
    given = spec.scale_tc if scale_tc is None else parse_reference("--scale-tc", scale_tc)
    workers = concurrency or _cores()
    limit = Limit(blocks=blocks, seconds=None if minutes is None else minutes * 60)
    console, errors = Console(highlight=False), Console(stderr=True, highlight=False)
    progress = LadderProgress(errors, limit)
    with ExitStack() as stack:
        stack.enter_context(locked(folder))
        store = stack.enter_context(open_store(folder, writing=True))
        shield = stack.enter_context(interruptible())
        ready = prepare(folder, spec, store, leave_out=True)
        for text in ready.news:
            console.print(Text(text, style="bold"))
        for name, why in ready.absent.items():
            errors.print(
                Text(
                    f"Warning: {why}. The others play; games with {name} wait for a run in which it starts.",
                    style="red",
                ),
                soft_wrap=True,
            )
        workers = max(1, min(workers, ready.left))
        reference = reference_speed(ready, given)
        pin = pin or spec.pin
        executor: Executor
        if dask is not None and ready.left:
            there = [engine for engine in spec.engines if engine.name in ready.roster]
            commands = [engine.command for engine in there if not engine.builtin]
            sandbox = any(engine.sandbox for engine in there)
            executor = make_cluster(
                dask, commands, errors, sandbox=sandbox, most=concurrency, pin=pin, reference=reference
            )
        else:
            engines = max(each.spec.rules.players for each in ready.lists)
            executor = make_local(workers, engines, errors, pin=pin, reference=reference)
        with progress:
            problem = play(ready, executor, limit, progress)
        shield()
        if problem:
            again = f"`{shlex.join(['caboose', 'ladder', 'run', str(folder)])}` goes on from here"
            errors.print(Text(f"{problem}: {ready.left:,} blocks are left; {again}", style="bold"), soft_wrap=True)
        print_standings(console, store, store.lists(), reference=make_reference(folder, store, spec=spec))
    if problem or ready.absent or (strict and progress.faults):
        raise typer.Exit(1)


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
