"""``caboose perft``: counts move sequences."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from caboose.arena.commands.table import PLAYERS_RANGE, PresetOption, RuleOption, SetOption, make_rules
from caboose.arena.errors import CallError
from caboose.engine.perft import perft as count
from caboose.engine.perft import perft_divide
from caboose.engine.round import Round


def perft(
    depth: Annotated[int, typer.Argument(metavar="DEPTH", help="Moves to look ahead.", min=1, show_default=False)],
    preset: PresetOption = "family",
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}.")] = 4,
    set: SetOption = None,
    rule: RuleOption = None,
    hub: Annotated[int | None, typer.Option(help="The double in the middle; the set's highest by default.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the deal.", min=0)] = 0,
    divide: Annotated[bool, typer.Option("--divide", help="Count each first move by itself.")] = False,
) -> None:
    """Count the move sequences that a deal allows, to check and to time the rules engine.

    Forced steps (draws, passes) are no moves; a round that ends earlier counts once.
    """
    rules = make_rules(preset, players, {"set": set}, rule or [])
    try:
        round = Round.deal(rules, hub, seed)
    except ValueError as error:
        raise CallError(str(error)) from None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    if divide:
        table.add_column("move")
        table.add_column("sequences", justify="right")
        counts = perft_divide(round, depth)
        for move, number in counts.items():
            table.add_row(str(move), f"{number:,}")
        table.add_row("all", f"{sum(counts.values()):,}")
    else:
        for title in ("depth", "sequences", "seconds", "per second"):
            table.add_column(title, justify="right")
        for level in range(1, depth + 1):
            start = time.perf_counter()
            number = count(round, level)
            seconds = time.perf_counter() - start
            table.add_row(str(level), f"{number:,}", f"{seconds:.3f}", f"{number / seconds:,.0f}")
    console = Console(highlight=False)
    console.print(f"{preset}, {players} players, double-{rules.set}, hub {round.hub}, seed {seed}")
    console.print(table)
