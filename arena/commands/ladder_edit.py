"""``caboose ladder init``, ``add``, ``add-list`` and ``remove``: what a ladder is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from caboose.arena.blocks import CRASHED
from caboose.arena.commands.clock import PANEL as TIME
from caboose.arena.commands.clock import (
    GameCapOption,
    MovetimeOption,
    NodesOption,
    PlayoutsOption,
    RoundCapOption,
    TcOption,
)
from caboose.arena.commands.match import make_seed
from caboose.arena.commands.table import PANEL as TABLE
from caboose.arena.commands.table import PLAYERS_RANGE, PresetOption, RoundsOption, RuleOption, SetOption
from caboose.arena.commands.untrusted import (
    CpuOption,
    FileOption,
    MemoryOption,
    ProcessesOption,
    SandboxOption,
    ShareOption,
)
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import DEFAULT_BLOCKS, DEFAULT_GENERATION, FORMATS, PAIRINGS, check_name, read_spec
from caboose.arena.ladder.folder import runner
from caboose.arena.lineup import About, make_contestants, make_entrants, parse_options
from caboose.arena.naming import MAX_LABEL

SEATING = "Who meets whom"

FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the ladder.", show_default=False)]


def init(
    folder: FolderArgument,
    in_process: Annotated[
        bool,
        typer.Option("--in-process", help="Play the built-in bots inside the referee, which is much faster."),
    ] = False,
    records: Annotated[bool, typer.Option(help="Keep the games as text, too.")] = True,
    logs: Annotated[
        bool, typer.Option("--logs", help="Keep all that engines are sent and write, too, for `caboose log`.")
    ] = False,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|-", help="The seed of all deals. Without it a fresh one. - reads it from standard input."
        ),
    ] = None,
) -> None:
    """Make a new ladder in FOLDER. Then add engines and a list of games, and run it."""
    from caboose.arena.ladder.edit import init

    init(folder, make_seed(seed), in_process=in_process, records=records, logs=logs)


def add(
    folder: FolderArgument,
    engine: Annotated[
        str,
        typer.Argument(
            metavar="ENGINE",
            help="A built-in bot, or a command line: what has a blank or a slash in it is one.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="What it is called in the ladder; by default after the bot or the program.", show_default=False
        ),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="OPTION=VALUE", help="An option of the engine. May be repeated.")
    ] = None,
    sandbox: SandboxOption = False,
    share: ShareOption = None,
    max_memory: MemoryOption = None,
    max_processes: ProcessesOption = None,
    max_cpu: CpuOption = None,
    max_file: FileOption = None,
) -> None:
    """Add an engine. It plays in all lists that name no engines, from the next run on."""
    from caboose.arena.ladder.edit import add

    taken = [each.name for each in read_spec(folder).engines]
    settings = parse_options([f"1.{text}" for text in option or []])
    (contestant,) = make_contestants(make_entrants([engine], []), [About()], settings)
    if name is None:
        name = _free(contestant.label, taken)
    _check_name("--name", name)
    if name in taken:
        raise CallError(f"{folder}: there is an engine {name} already: expected another --name")
    values: dict[str, Any] = {"name": name}
    if contestant.builtin:
        values["builtin"] = contestant.builtin
    else:
        values["command"] = [_placed(word) for word in contestant.command]
    if contestant.options:
        values["options"] = dict(contestant.options)
    given = {
        "sandbox": sandbox or None,
        "share": [os.path.abspath(path) for path in share or []] or None,
        "max_memory": max_memory,
        "max_processes": max_processes,
        "max_cpu": max_cpu,
        "max_file": max_file,
    }
    add(folder, "engine", values | _set(given))
    _told(folder)


def add_list(
    folder: FolderArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the list is called.", show_default=False)],
    format: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS),
            help="Every line-up; a hero against copies of each other; heroes against all line-ups of the others; "
            "or tables drawn by lot.",
            rich_help_panel=SEATING,
        ),
    ] = FORMATS[0],
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Who plays; all, if none is named. May be repeated.", rich_help_panel=SEATING
        ),
    ] = None,
    hero: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="The hero; by default the first engine. May be repeated.", rich_help_panel=SEATING
        ),
    ] = None,
    pairing: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(PAIRINGS),
            help="Of random tables: those first of whom least is known, or all alike.",
            rich_help_panel=SEATING,
        ),
    ] = None,
    generation: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="BLOCKS",
            help=f"Random tables that are drawn at once; {DEFAULT_GENERATION} by default.",
            rich_help_panel=SEATING,
        ),
    ] = None,
    blocks: Annotated[
        int,
        typer.Option(
            min=1,
            help="Blocks of each line-up; for random tables all of them. A block is the same deals in every rotation.",
            rich_help_panel=SEATING,
        ),
    ] = DEFAULT_BLOCKS,
    preset: PresetOption = "family",
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}.", rich_help_panel=TABLE)] = 4,
    set: SetOption = None,
    rule: RuleOption = None,
    rounds: RoundsOption = None,
    movetime: MovetimeOption = None,
    tc: TcOption = None,
    allowance: Annotated[
        float | None, typer.Option(metavar="MS", help="As in `caboose match`.", rich_help_panel=TIME)
    ] = None,
    round_cap: RoundCapOption = None,
    game_cap: GameCapOption = None,
    nodes: NodesOption = None,
    playouts: PlayoutsOption = None,
    margin: Annotated[
        float | None, typer.Option(metavar="MS", help="As in `caboose match`.", rich_help_panel=TIME)
    ] = None,
    guard: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="As in `caboose match`.", rich_help_panel=TIME)
    ] = None,
    grace: Annotated[
        float | None, typer.Option(metavar="MS", help="As in `caboose match`.", rich_help_panel=TIME)
    ] = None,
    start_timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="As in `caboose match`.", rich_help_panel=TIME)
    ] = None,
    crashed: Annotated[
        str | None, typer.Option(metavar="|".join(CRASHED), help="As in `caboose match`.", rich_help_panel=SEATING)
    ] = None,
) -> None:
    """Add a list: games of one kind, under one time control."""
    from caboose.arena.ladder.edit import add

    _check_name("NAME", name)
    rules: dict[str, Any] = {}
    for text in rule or []:
        key, equals, value = text.partition("=")
        if not equals or not key or not value or key in rules:
            raise CallError(f"--rule {text}: expected NAME=VALUE, each NAME once")
        rules[key] = value
    given = {
        "name": name,
        "format": format,
        "preset": preset,
        "players": players,
        "set": set,
        "rounds": int(rounds) if rounds is not None and rounds.isascii() and rounds.isdigit() else rounds,
        "rules": rules or None,
        "engines": engine,
        "heroes": hero,
        "pairing": pairing,
        "generation": generation,
        "blocks": blocks,
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
    add(folder, "list", _set(given))
    _told(folder)


def remove(
    folder: FolderArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The engine, or the list.", show_default=False)],
    list: Annotated[bool, typer.Option("--list", help="NAME is a list.")] = False,
) -> None:
    """Take an engine out, or with --list a list. What was played stays in the database and in the standings."""
    from caboose.arena.ladder.edit import remove

    remove(folder, "list" if list else "engine", name)
    _told(folder)


def _set(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _check_name(what: str, name: str) -> None:
    try:
        check_name(name)
    except ValueError as error:
        raise CallError(f"{what} {error}") from None


def _free(label: str, taken: list[str]) -> str:
    """``label``, or with a number behind it where that is taken."""
    if label not in taken:
        return label
    numbered = (f"{label[: MAX_LABEL - 3]}-{number}" for number in range(2, 100))
    return next((name for name in numbered if name not in taken), label)


def _placed(word: str) -> str:
    """A word of a command; a file is named so that it is found from any folder."""
    return os.path.abspath(word) if os.path.isfile(word) else word


def _told(folder: Path) -> None:
    """Says so when a run does not see the change."""
    if who := runner(folder):
        typer.echo(f"A run plays here now ({who}): it goes on with what it began with.", err=True)
