"""``caboose ladder add-list`` and ``edit-list``: which games a ladder plays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from caboose.arena.blocks.block import CRASHED
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import (
    DEFAULT_BLOCKS,
    DEFAULT_GENERATION,
    DEFAULT_SET_ASIDE,
    FORMATS,
    PAIRINGS,
    ListSpec,
)
from caboose.cli.commands.ladder_edit import FolderArgument, call, check_word, chosen, say, told_running
from caboose.cli.options.rules import PANEL as TABLE
from caboose.cli.options.rules import PLAYERS_RANGE, PresetOption, RoundsOption, RuleOption, SetOption
from caboose.cli.options.time_control import PANEL as TIME
from caboose.cli.options.time_control import (
    GameCapOption,
    MovetimeOption,
    NodesOption,
    PlayoutsOption,
    RoundCapOption,
    TcOption,
)

SEATING = "Who meets whom"

FormatOption = Annotated[
    str,
    typer.Option(
        metavar="|".join(FORMATS),
        help="Every line-up; a hero against copies of each other; heroes against all line-ups of the others; "
        "or tables drawn by lot.",
        rich_help_panel=SEATING,
    ),
]
EnginesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who plays; all engines by default. May be repeated.",
        rich_help_panel=SEATING,
    ),
]
HeroesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--hero",
        metavar="NAME",
        help="The hero; by default the first engine. May be repeated.",
        rich_help_panel=SEATING,
    ),
]
PairingOption = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(PAIRINGS),
        help="Of random tables: those first of whom least is known, or all alike.",
        rich_help_panel=SEATING,
    ),
]
GenerationOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="BLOCKS",
        help="Blocks after which results are looked at, for the next random tables and to set engines aside; "
        f"{DEFAULT_GENERATION} by default.",
        rich_help_panel=SEATING,
    ),
]
BlocksOption = Annotated[
    int,
    typer.Option(
        min=1,
        help="Blocks of each line-up; for random tables all of them. A block is the same deals in every rotation.",
        rich_help_panel=SEATING,
    ),
]
AsideOption = Annotated[
    int | None,
    typer.Option(
        "--set-aside",
        min=0,
        metavar="GAMES",
        help="An engine plays no more when it has lost that many games by its faults, and at least half of its games; "
        f"0 is never. {DEFAULT_SET_ASIDE} by default.",
        rich_help_panel=SEATING,
    ),
]
AsMatchOption = typer.Option(metavar="MS", help="As in `caboose match`.", rich_help_panel=TIME)
AsMatchSeconds = typer.Option(metavar="SECONDS", help="As in `caboose match`.", rich_help_panel=TIME)
CrashedOption = Annotated[
    str | None, typer.Option(metavar="|".join(CRASHED), help="As in `caboose match`.", rich_help_panel=SEATING)
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the list is called.", show_default=False)]


def add_list(
    folder: FolderArgument,
    name: NameArgument,
    format: FormatOption = FORMATS[0],
    engine: EnginesOption = None,
    hero: HeroesOption = None,
    pairing: PairingOption = None,
    generation: GenerationOption = None,
    blocks: BlocksOption = DEFAULT_BLOCKS,
    set_aside: AsideOption = None,
    preset: PresetOption = "family",
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}.", rich_help_panel=TABLE)] = 4,
    set: SetOption = None,
    rule: RuleOption = None,
    rounds: RoundsOption = None,
    movetime: MovetimeOption = None,
    tc: TcOption = None,
    allowance: Annotated[float | None, AsMatchOption] = None,
    round_cap: RoundCapOption = None,
    game_cap: GameCapOption = None,
    nodes: NodesOption = None,
    playouts: PlayoutsOption = None,
    margin: Annotated[float | None, AsMatchOption] = None,
    guard: Annotated[float | None, AsMatchSeconds] = None,
    grace: Annotated[float | None, AsMatchOption] = None,
    start_timeout: Annotated[float | None, AsMatchSeconds] = None,
    crashed: CrashedOption = None,
) -> None:
    """Add a list: games of one kind, under one time control."""
    from caboose.arena.ladder.edit import add

    check_word("NAME", name)
    given = {
        "name": name,
        "format": format,
        "preset": preset,
        "players": players,
        "set": set,
        "rounds": _rounds(rounds),
        "rules": _rules(rule),
        "engines": engine,
        "heroes": hero,
        "pairing": pairing,
        "generation": generation,
        "blocks": blocks,
        "set_aside": set_aside,
        "movetime": movetime,
        "tc": tc,
        "allowance": allowance,
        "round_cap": round_cap,
        "game_cap": game_cap,
        "nodes": nodes,
        "playouts": playouts,
        "margin": margin,
        "guard": guard,
        "grace": grace,
        "start_timeout": start_timeout,
        "crashed": crashed,
    }
    spec = add(folder, "list", chosen(given))
    (made,) = (each for each in spec.lists if each.name == name)
    what = f"{made.format}, {made.rules.players} players, {made.control}"
    say(f"{folder}: list {name} is added: {what}. {_extent(folder, made)}")
    told_running(folder)


def edit_list(
    folder: FolderArgument,
    name: NameArgument,
    unset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="A key of the list in ladder.toml that is taken out, so that its default holds: `engines` for all "
            "engines. May be repeated.",
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="|".join(FORMATS), help="As in `add-list`.", rich_help_panel=SEATING)
    ] = None,
    engine: EnginesOption = None,
    hero: HeroesOption = None,
    pairing: PairingOption = None,
    generation: GenerationOption = None,
    blocks: Annotated[
        int | None,
        typer.Option(min=1, help="Blocks of each line-up; for random tables all of them.", rich_help_panel=SEATING),
    ] = None,
    set_aside: AsideOption = None,
    preset: Annotated[str | None, typer.Option(help="As in `add-list`.", rich_help_panel=TABLE)] = None,
    players: Annotated[int | None, typer.Option(help=f"{PLAYERS_RANGE}.", rich_help_panel=TABLE)] = None,
    set: SetOption = None,
    rule: RuleOption = None,
    rounds: RoundsOption = None,
    movetime: MovetimeOption = None,
    tc: TcOption = None,
    allowance: Annotated[float | None, AsMatchOption] = None,
    round_cap: RoundCapOption = None,
    game_cap: GameCapOption = None,
    nodes: NodesOption = None,
    playouts: PlayoutsOption = None,
    margin: Annotated[float | None, AsMatchOption] = None,
    guard: Annotated[float | None, AsMatchSeconds] = None,
    grace: Annotated[float | None, AsMatchOption] = None,
    start_timeout: Annotated[float | None, AsMatchSeconds] = None,
    crashed: CrashedOption = None,
) -> None:
    """Change a list: what you name, and nothing else.

    Engines, heroes, pairing, generation, the number of blocks and of lost games may change at any time. Rules, time and
    format may not once the list has games: they would not go together.
    """
    from caboose.arena.ladder.config import read_spec
    from caboose.arena.ladder.edit import edit_list

    given = {
        "format": format,
        "preset": preset,
        "players": players,
        "set": set,
        "rounds": _rounds(rounds),
        "rules": _rules(rule),
        "engines": engine,
        "heroes": hero,
        "pairing": pairing,
        "generation": generation,
        "blocks": blocks,
        "set_aside": set_aside,
        "movetime": movetime,
        "tc": tc,
        "allowance": allowance,
        "round_cap": round_cap,
        "game_cap": game_cap,
        "nodes": nodes,
        "playouts": playouts,
        "margin": margin,
        "guard": guard,
        "grace": grace,
        "start_timeout": start_timeout,
        "crashed": crashed,
    }
    values = chosen(given)
    if not values and not unset:
        raise CallError(f"edit-list {name}: nothing is to be changed, expected an option such as --blocks 200")
    if both := [key for key in unset or [] if key in values]:
        raise CallError(f"--unset {both[0]}: it is also given a value, expected one of both")
    changed = edit_list(folder, name, values, unset or [])
    if not changed:
        say(f"{folder}: list {name} is as it was: all of that holds already.")
        return
    (made,) = (each for each in read_spec(folder).lists if each.name == name)
    say(f"{folder}: list {name}: {'; '.join(changed)}. {_extent(folder, made)}")
    told_running(folder)


def _rounds(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _rules(texts: list[str] | None) -> dict[str, str] | None:
    rules: dict[str, Any] = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key or not value or key in rules:
            raise CallError(f"--rule {text}: expected NAME=VALUE, each NAME once")
        rules[key] = value
    return rules or None


def _extent(folder: Path, spec: ListSpec) -> str:
    """How much a list has to play, and how to play it."""
    from caboose.arena.ladder.schedule import count_blocks

    try:
        blocks = count_blocks(spec)
    except CallError as error:
        return f"Before it can be played: {error}"
    return f"It has {blocks:,} blocks of {spec.rules.players} games. Next, play: {call('run', folder)}"
