"""The commands of ``caboose`` as one typer application, and what becomes of their errors."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.errors import CallError, RunError
from caboose.arena.output import put_error, put_line, put_notes

# In the order of the help. Each is a function, or an application, of its own name, in a module of its own name in
# commands/.
COMMANDS: Final = (
    "match", "compare", "ladder", "tune", "power", "suite", "show", "analyse", "verify", "convert", "log", "engine",
    "check", "perft", "rules", "bench",
)  # fmt: skip

_INTERRUPTED: Final = 130  # what typer makes of Ctrl-C


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """The command line as far as ``arguments`` need it: the command that they begin with, or all for the help. To load
    all takes half a second."""
    app = typer.Typer(
        name="caboose",
        help="Mexican Train: bots that play it, and an arena that pits them against each other.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=False,
        rich_markup_mode="rich",
    )
    app.callback()(_options)
    names: Sequence[str] = COMMANDS
    if arguments and (arguments[0] in COMMANDS or arguments[0] == "--version"):
        names = [name for name in COMMANDS if name == arguments[0]]
    for name in names:
        module = importlib.import_module(f"caboose.arena.commands.{name}")
        command = getattr(module, name)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command()(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        put_line(f"caboose {caboose_version()}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run_app(app: typer.Typer, arguments: Sequence[str], failed: int = 1, again: str = "") -> int:
    """Runs the command that ``arguments`` ask for; returns the exit code, ``failed`` if something went wrong.

    Whatever can go wrong becomes one line on standard error; that it was interrupted, one that ends with ``again``.
    """
    try:
        code: int | None = app(arguments, prog_name="caboose", standalone_mode=False)
    except (CallError, RunError) as error:
        return _fail(str(error), 2 if isinstance(error, CallError) else failed)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except SystemExit:  # of rich and typer, which end a program so when nobody reads its output any more
        return failed
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror}", failed)
    except MemoryError:
        return _fail("the memory does not suffice", failed)
    except Exception:
        put_notes(traceback.format_exc())  # a mistake of ours; its exit code must not look like an answer
        return failed
    if code == _INTERRUPTED:
        return _fail(f"interrupted{again}", failed)
    return code or 0


def _fail(text: str, code: int) -> int:
    if text.strip():  # it is empty after help was printed instead of a missing command
        put_error(f"caboose: {text}")
    return code
