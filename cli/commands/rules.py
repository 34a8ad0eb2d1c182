"""``caboose rules``: the presets side by side, and every option."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from caboose.arena.console.console import Console
from caboose.arena.errors import CallError
from caboose.cli.options.rules import PLAYERS_RANGE
from caboose.engine.rules.rules import (
    BLANKS,
    CHOICES,
    MAX_PLAYERS,
    MEANINGS,
    MIN_PLAYERS,
    OPTIONS,
    PARTNERS,
    PRESETS,
    SETS,
    Rules,
    RulesError,
)


def rules(
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}; set and hand depend on it.")] = 4,
) -> None:
    """Show the rule presets side by side, and every rule option with its values and meaning."""
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise CallError(f"--players {players}: expected {PLAYERS_RANGE}")
    console = Console(highlight=False)
    console.print(_presets(players))
    console.print()
    console.print(_options())
    console.print()
    console.print(_partners())
    console.print()
    console.print("For example: caboose match mcts planner --preset classic --rule blank=25")


def _presets(players: int) -> Table:
    """A row for each option, a column for each preset."""
    table = _table(f"The presets, {players} players")
    table.add_column("option", style="bold", no_wrap=True)
    made: list[Rules | None] = []
    for preset in PRESETS:
        table.add_column(preset, no_wrap=True)
        try:
            made.append(Rules.of(preset, players))
        except RulesError:  # not for so many players
            made.append(None)
    for name in OPTIONS:
        table.add_row(name, *("-" if r is None else _shown(name, r) for r in made))
    return table


def _shown(name: str, rules: Rules) -> str:
    value = str(getattr(rules, name))
    return f"{value} (all)" if name == "rounds" and rules.rounds == rules.set + 1 else value


def _options() -> Table:
    """A row for each option with its values and its meaning."""
    table = _table("The options")
    table.add_column("option", style="bold", no_wrap=True)
    table.add_column("values", max_width=22)
    table.add_column("meaning")
    numbers = {
        "set": " ".join(map(str, SETS)),
        "hand": "as the set allows",
        "blank": " ".join(map(str, BLANKS)),
        "rounds": "1 to set + 1, all",
    }
    for name in OPTIONS:
        table.add_row(name, numbers.get(name) or " ".join(CHOICES[name]), MEANINGS[name])
    return table


def _partners() -> Table:
    """A row for each value that takes another along."""
    table = _table("What takes another option along when it is set alone")
    table.add_column("option", style="bold", no_wrap=True)
    table.add_column("takes along", no_wrap=True)
    table.add_column("since")
    for partner in PARTNERS:
        table.add_row(f"{partner.option}={partner.value}", f"{partner.other}={partner.wanted}", partner.why)
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
