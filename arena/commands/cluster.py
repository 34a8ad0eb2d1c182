"""The option of commands that can play on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from caboose.arena.cluster.executor import DaskExecutor

DaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Play on the workers of the Dask scheduler there, such as tcp://10.0.0.1:8786 (docs/cluster.md), as many "
        "blocks at a time as they have threads, or as --concurrency says.",
        show_default=False,
        rich_help_panel="The run",
    ),
]


def make_cluster(
    address: str, commands: Iterable[tuple[str, ...]], console: Console, *, sandbox: bool, most: int | None
) -> DaskExecutor:
    """The executor of ``--dask``, which tells on ``console`` of its workers. Raises ``CallError`` and ``RunError``."""
    from caboose.arena.cluster.executor import DaskExecutor

    def tell(text: str) -> None:
        console.print(Text(text), soft_wrap=True)

    return DaskExecutor(address, list(commands), tell, sandbox=sandbox, most=most)
