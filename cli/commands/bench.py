"""``caboose bench``: the signature of the search, and how fast this machine is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from caboose.arena.bench.search_bench import NODES, run_bench
from caboose.arena.console.console import Console

MOST_NODES = 10_000_000  # some minutes a position


def bench(
    nodes: Annotated[
        int, typer.Option(help="Of each search; another number has another signature.", min=1, max=MOST_NODES)
    ] = NODES,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search a fixed list of positions at fixed nodes and play simulated rounds.

    The signature changes when play changes, and only then.
    """
    result = run_bench(nodes)
    if json_:
        print(json.dumps(asdict(result)))
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_row("Signature", str(result.signature))
    table.add_row("Positions", str(result.positions))
    table.add_row("Nodes", f"{result.nodes:,}")
    table.add_row("Nodes per second", f"{result.nodes_per_second:,.0f}")
    for policy, rate in result.playouts_per_second.items():
        table.add_row(f"Playouts per second, {policy}", f"{rate:,.0f}")
    table.add_row("Plays per second, random", f"{result.plays_per_second:,.0f}")
    table.add_row("Seconds", f"{result.seconds:.1f}")
    Console(highlight=False).print(table)
