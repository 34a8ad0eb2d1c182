"""``caboose ladder init``, ``add``, ``rename`` and ``remove``: who is in a ladder."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from caboose.arena.blocks.contestants import About, make_contestants, make_entrants, parse_options
from caboose.arena.blocks.labels import MAX_LABEL
from caboose.arena.config.toml import check_name
from caboose.arena.console.output import put_error, put_line
from caboose.arena.errors import CallError, RunError
from caboose.arena.ladder.config import LadderSpec, read_spec
from caboose.arena.storage.ladder_folder import runner
from caboose.cli.commands.match import make_seed
from caboose.cli.options.sandbox import (
    CpuOption,
    FileOption,
    MemoryOption,
    ProcessesOption,
    SandboxOption,
    ShareOption,
)
from caboose.protocol.process.hide import hide
from caboose.protocol.process.launch import SandboxError, check_sandbox
from caboose.protocol.referee.timing import TimeControl

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
    say(f"{folder}: a new ladder. Next, add engines: {call('add', folder, 'ENGINE')}")


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
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Start a command once, and warn when it does not start.")
    ] = True,
) -> None:
    """Add an engine. It plays in all lists that name no engines, from the next run on.

    A command is started once, as in a game, so that you hear at once when it does not start.
    """
    from caboose.arena.ladder.edit import add

    taken = [each.name for each in read_spec(folder).engines]
    settings = parse_options([f"1.{text}" for text in option or []])
    (contestant,) = make_contestants(make_entrants([engine], []), [About()], settings)
    if name is None:
        name = _free(contestant.label, taken)
    check_word("--name", name)
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
    spec = add(folder, "engine", values | chosen(given))
    say(f"{folder}: engine {name} is added. {_next(folder, spec)}")
    told_running(folder)
    if check and not contestant.builtin:
        _check_start(folder, spec, name)


def rename(
    folder: FolderArgument,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The engine.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What it shall be called.", show_default=False)],
) -> None:
    """Give an engine another name. It keeps its games, and lists that name it follow.

    Records and logs that were written before keep the old name.
    """
    from caboose.arena.ladder.edit import rename

    rename(folder, old, new)
    say(f"{folder}: engine {old} is called {new} from now on, also in the games that it played.")


def remove(
    folder: FolderArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The engine, or the list.", show_default=False)],
    list: Annotated[bool, typer.Option("--list", help="NAME is a list.")] = False,
) -> None:
    """Take an engine out, or with --list a list. What was played stays in the database and in the standings."""
    from caboose.arena.ladder.edit import remove

    kind = "list" if list else "engine"
    remove(folder, kind, name)
    say(f"{folder}: {kind} {name} is out from the next run on. What it played is kept.")
    told_running(folder)


def say(text: str) -> None:
    """Tells what was done, and what to do next."""
    put_line(text)


def call(command: str, folder: Path, *words: str) -> str:
    """A command of a ladder as one can call it."""
    return f"`{shlex.join(['caboose', 'ladder', command, str(folder), *words])}`"


def told_running(folder: Path) -> None:
    """Says so when a run does not see a change."""
    if who := runner(folder):
        put_error(f"A run plays here now ({who}): it goes on with what it began with.")


def chosen(values: dict[str, Any]) -> dict[str, Any]:
    """The values that were given."""
    return {key: value for key, value in values.items() if value is not None}


def check_word(what: str, name: str) -> None:
    """Raises ``CallError`` for what cannot be the name of an engine or a list; ``what`` is how the call says it."""
    try:
        check_name(name)
    except ValueError as error:
        raise CallError(f"{what} {error}") from None


def _next(folder: Path, spec: LadderSpec) -> str:
    """What comes after an engine was added."""
    if len(spec.engines) < 2:
        return f"Next, add another one: {call('add', folder, 'ENGINE')}"
    if not spec.lists:
        return f"Next, add a list of games: {call('add-list', folder, 'NAME')}"
    return f"Next, play: {call('run', folder)}"


def _check_start(folder: Path, spec: LadderSpec, name: str) -> None:
    """Starts an engine once, and warns when it does not start."""
    from caboose.arena.config.engine_identity import identify

    startup = max([each.control.startup for each in spec.lists if name in each.engines], default=TimeControl().startup)
    hide()
    try:
        engine = spec.engine(name)
        if engine.sandbox:
            check_sandbox()
        identify(engine, startup, folder)
    except (CallError, RunError, SandboxError) as error:
        put_error(
            f"Warning: {error}. Engine {name} is added all the same: mend it before you run the ladder, or take it out "
            f"with {call('remove', folder, name)}"
        )


def _free(label: str, taken: list[str]) -> str:
    """``label``, or with a number behind it where that is taken."""
    if label not in taken:
        return label
    numbered = (f"{label[: MAX_LABEL - 3]}-{number}" for number in range(2, 100))
    return next((name for name in numbered if name not in taken), label)


def _placed(word: str) -> str:
    """A word of a command; a file is named so that it is found from any folder."""
    return os.path.abspath(word) if os.path.isfile(word) else word
