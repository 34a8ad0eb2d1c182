"""The command line: ``caboose COMMAND``.

Exit codes: 0 done, 1 the run found a problem or was interrupted, 2 the call was wrong.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.commands.analyse import analyse
from caboose.arena.commands.bench import bench
from caboose.arena.commands.convert import convert
from caboose.arena.commands.engine import engine
from caboose.arena.commands.log import log
from caboose.arena.commands.match import match
from caboose.arena.commands.perft import perft
from caboose.arena.commands.rules import rules
from caboose.arena.commands.show import show
from caboose.arena.commands.verify import verify
from caboose.arena.errors import CallError, RunError

_INTERRUPTED: Final = 130  # what typer makes of Ctrl-C

app = typer.Typer(
    name="caboose",
    help="Mexican Train: bots that play it, and an arena that pits them against each other.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode="rich",
)
for command in (match, show, analyse, verify, convert, log, engine, perft, rules, bench):  # in the order of the help
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"caboose {caboose_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run(arguments: list[str] | None = None) -> int:
    """Runs the command that ``arguments`` (by default the program's own) ask for; returns the exit code.

    Whatever can go wrong becomes one line on standard error.
    """
    try:
        code: int | None = app(arguments, prog_name="caboose", standalone_mode=False)
    except (CallError, RunError) as error:
        return _fail(str(error), 2 if isinstance(error, CallError) else 1)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror}", 1)
    if code == _INTERRUPTED:
        return _fail("interrupted", 1)
    return code or 0


def main() -> None:
    """The program ``caboose``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a name ends nothing
    sys.exit(run())


def _fail(text: str, code: int) -> int:
    if text.strip():  # it is empty after help was printed instead of a missing command
        print(f"caboose: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
