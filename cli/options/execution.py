"""Where blocks are played: the options of commands that can play in many places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from caboose.arena.blocks.cpu_pinning import pinning_problem
from caboose.arena.blocks.time_scaling import measure_speed, scale_factor
from caboose.arena.console.console import Console, Text
from caboose.arena.errors import CallError
from caboose.arena.execution.executors import Executor, LocalExecutor, PoolExecutor
from caboose.protocol.process.affinity import allowed_cores

if TYPE_CHECKING:
    from caboose.arena.execution.dask.executor import DaskExecutor

DaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on the workers of the Dask scheduler there, such as tcp://10.0.0.1:8786 "
        "(docs/guides/cluster.md), as many blocks at a time as they have threads, or as --concurrency says.",
        show_default=False,
        rich_help_panel="The run",
    ),
]


PinOption = Annotated[
    bool,
    typer.Option(
        "--pin",
        help="Bind engines to processor cores, no two to the same while there are enough (docs/guides/cluster.md).",
        rich_help_panel="The run",
    ),
]


ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale-tc",
        metavar="here|NODES",
        help="Scale limits of time to the speed of each machine that plays, against a reference: so many nodes a "
        "second of `caboose bench`, or the speed of this machine (docs/guides/cluster.md).",
        show_default=False,
        rich_help_panel="The run",
    ),
]


def make_local(blocks: int, engines: int, console: Console, *, pin: bool, reference: float | None) -> Executor:
    """The executor for so many blocks at a time on this machine, which tells on ``console`` where ``pin`` cannot give
    each of the ``engines`` of a block a core. With a ``reference`` speed limits of time are scaled. Raises
    ``CallError``."""
    problem = pinning_problem(allowed_cores(), blocks, engines) if pin else ""
    if problem:
        console.print(Text(problem), soft_wrap=True)
    scale = 1.0
    if reference is not None:
        try:
            scale = scale_factor(reference, measure_speed())
        except ValueError as error:
            raise CallError(f"--scale-tc: {error}") from None
        console.print(Text(f"limits of time are {scale:g} times as long, for {reference:,.0f} nodes/s"), soft_wrap=True)
    return LocalExecutor(pin=pin, scale=scale) if blocks == 1 else PoolExecutor(blocks, pin=pin, scale=scale)


def make_cluster(
    address: str,
    commands: Iterable[tuple[str, ...]],
    console: Console,
    *,
    sandbox: bool,
    most: int | None,
    pin: bool,
    reference: float | None,
) -> DaskExecutor:
    """The executor of ``--dask``, which tells on ``console`` of its workers. Raises ``CallError`` and ``RunError``."""
    from caboose.arena.execution.dask.executor import DaskExecutor

    def tell(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    return DaskExecutor(address, list(commands), tell, sandbox=sandbox, most=most, pin=pin, reference=reference)
