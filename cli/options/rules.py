"""The options by which commands are told the rules of a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from caboose.arena.console.output import put_error
from caboose.arena.errors import CallError
from caboose.engine.rules.rules import MAX_PLAYERS, MIN_PLAYERS, OPTIONS, PRESETS, SETS, Rules, RulesError, taken_along

PANEL = "The table"

PresetOption = Annotated[str, typer.Option("--preset", help=f"{', '.join(PRESETS)}.", rich_help_panel=PANEL)]
SetOption = Annotated[
    int | None,
    typer.Option("--set", help=f"The set's highest double: {', '.join(map(str, SETS))}.", rich_help_panel=PANEL),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="NAME=VALUE", help="A rule option; see `caboose rules`.", rich_help_panel=PANEL),
]
RoundsOption = Annotated[
    str | None,
    typer.Option(help="Rounds of a game, from the highest hub down. `all` by default.", rich_help_panel=PANEL),
]
PLAYERS_RANGE = f"{MIN_PLAYERS} to {MAX_PLAYERS}"


def make_rules(
    preset: str,
    players: int,
    named: Mapping[str, int | str | None],
    options: Sequence[str],
    *,
    quiet: bool = False,
) -> Rules:
    """The rules that a call asks for: ``named`` are those that have options of their own, ``options`` the others as
    ``name=value``. Unless ``quiet``, says on standard error what these take along. Raises ``CallError``."""
    values: dict[str, object] = {name: value for name, value in named.items() if value is not None}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise CallError(f"--rule {text}: expected NAME=VALUE, with one of {', '.join(OPTIONS)}")
        if name in ("players", "preset"):
            raise CallError(f"--rule {text}: expected --{name}, which is an option of its own")
        if name in values:
            raise CallError(f"--rule {text}: {name} is given twice")
        values[name] = value
    try:
        rules = Rules.of(preset, players, **values)
    except RulesError as error:
        raise CallError(str(error)) from None
    if not quiet:
        for partner in taken_along(preset, **values):
            put_error(f"--rule {partner}")
    return rules
