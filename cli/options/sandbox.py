"""The options by which a match is told what engines may use and see, and where to note what they say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose.arena.console.output import put_error
from caboose.arena.errors import CallError, cause
from caboose.protocol.process.child import Resources
from caboose.protocol.process.faults import TimeNames
from caboose.protocol.process.hide import hide
from caboose.protocol.process.launch import SANDBOXED, Launch, SandboxError, check_sandbox

PANEL: Final = "Untrusted engines"
MIB: Final = 1 << 20
MOST: Final = 1_000_000  # of any limit

SUPERUSER: Final = (
    "warning: the superuser runs foreign engines without a sandbox: they can read and change all that is here, the "
    "hands of others too; expected a sandbox or an ordinary user (docs/guides/untrusted.md)"
)

SandboxOption = Annotated[
    bool,
    typer.Option(
        "--sandbox",
        help="Run each engine under bubblewrap: no network, none of the other processes, no files but the system's and "
        "the folder of its program, and a folder in memory that is gone with it.",
        rich_help_panel=PANEL,
    ),
]
ShareOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH", help="What engines in a sandbox may read besides. May be repeated.", rich_help_panel=PANEL
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--max-memory",
        min=1,
        max=MOST,
        metavar="MIB",
        help=f"Address space of an engine's process ({(SANDBOXED.memory or 0) // MIB} in a sandbox).",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option(
        "--max-processes",
        min=1,
        max=MOST,
        help=f"Processes and threads: in a sandbox the engine's ({SANDBOXED.processes}), else all of this user.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
CpuOption = Annotated[
    int | None,
    typer.Option(
        "--max-cpu",
        min=1,
        max=MOST,
        metavar="SECONDS",
        help="Processor time of an engine's process, which lives for a game.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
FileOption = Annotated[
    int | None,
    typer.Option(
        "--max-file",
        min=1,
        max=MOST,
        metavar="MIB",
        help=f"Size of a file that an engine writes ({(SANDBOXED.file or 0) // MIB} in a sandbox, for all of them).",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FOLDER",
        help="Write there, a file for each game, every line that engines are sent and write, standard error too; "
        "`caboose log` shows them.",
        show_default=False,
        rich_help_panel="The run",
    ),
]


TIMES: Final = TimeNames("--grace MS", "--start-timeout SECONDS")  # the options of clock.py


def make_launch(
    sandbox: bool,
    share: Sequence[str],
    hidden: Sequence[Path | None],
    *,
    memory: int | None,
    processes: int | None,
    cpu: int | None,
    file: int | None,
) -> Launch:
    """How a call wants engines to be started, ``memory`` and ``file`` in MiB. What the match itself writes is
    ``hidden``. Raises ``CallError``, also when there can be no sandbox."""
    for path in share:
        if not sandbox:
            raise CallError(f"--share {path}: expected together with --sandbox; without it engines can read all files")
        if not Path(path).exists():
            raise CallError(f"--share {path}: there is no such file or folder")
    if sandbox:
        try:
            check_sandbox()
        except SandboxError as error:
            raise CallError(f"--sandbox: {error}") from None
    return Launch(
        resources=Resources(
            memory=None if memory is None else memory * MIB,
            processes=processes,
            cpu=cpu,
            file=None if file is None else file * MIB,
        ),
        sandbox=sandbox,
        shared=tuple(share),
        hidden=tuple(str(path) for path in hidden if path is not None),
        times=TIMES,
    )


def expect_foreign(sandboxed: Iterable[bool]) -> None:
    """Foreign engines are about to play, each in a sandbox or not: hides what this process knows, if there are any, and
    warns where that does not help."""
    each = list(sandboxed)
    if each:
        hide()
    warn_superuser(each)


def warn_superuser(sandboxed: Iterable[bool]) -> None:
    """Says on standard error what foreign engines can do that run as the superuser and without a sandbox."""
    if not all(sandboxed) and _is_superuser():
        put_error(f"caboose: {SUPERUSER}")


def _is_superuser() -> bool:
    return os.name == "posix" and os.geteuid() == 0


def make_folder(name: str, path: Path | None) -> None:
    """Makes a folder, if there is none. Raises ``CallError``."""
    if path is not None:
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise CallError(f"{name} {path}: {cause(error)}, expected a folder or a name for a new one") from None
