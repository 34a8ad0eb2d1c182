"""The commands of ``caboose`` as one typer application, and what becomes of their errors."""

from __future__ import annotations

import errno
import importlib
import inspect
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.console.memory import NO_MEMORY, for_lack_of_memory
from caboose.arena.console.output import put_error, put_line, put_notes
from caboose.arena.errors import CallError, RunError, reason
from caboose.cli.command_words import VALUE, Words, read_words

# In the order of the help. Each is a function of its own name in a module of its own name in commands/, but for groups,
# whose modules say where their commands are.
COMMANDS: Final = (
    "match", "compare", "ladder", "tune", "power", "suite", "show", "analyse", "verify", "convert", "log", "engine",
    "check", "perft", "rules", "bench",
)  # fmt: skip
GROUPS: Final = ("ladder", "suite")

_INTERRUPTED: Final = 130  # what typer makes of Ctrl-C
_COMPLETE: Final = "_CABOOSE_COMPLETE"  # by which a shell asks for completion
_TYPED: Final = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")  # where it says what was typed: bash, and others


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """The command line as far as ``arguments`` need it: the command that they name, and of all others what the help
    says of them. To load all takes half a second. Where a shell asks for completion nothing is loaded at all."""
    app = _group("caboose", "Mexican Train: bots that play it, and an arena that pits them against each other.")
    app.callback()(_options)
    asking = _asking()
    named = _named(_typed() if asking else arguments)
    groups = {name: _group(name, "") for name in GROUPS}
    for words in read_words():
        name, within = words.path[-1], groups[words.path[0]] if len(words.path) > 1 else app
        if len(words.path) == 1 and name in GROUPS:
            app.add_typer(groups[name], help=words.help)
        elif words.path != named:
            within.command(name, help=words.help)(_unnamed)
        else:
            within.command(name)(_completed(words) if asking else load(named))
    return app


def load(path: Sequence[str]) -> Callable[..., None]:
    """The function of a command, such as ``("ladder", "run")``."""
    place = f"{path[0]}.{path[0]}"
    if path[0] in GROUPS:
        place = _commands(path[0])[path[1]]
    module, function = place.rsplit(".", 1)
    found: Callable[..., None] = getattr(importlib.import_module(f"caboose.cli.commands.{module}"), function)
    return found


def look_words() -> Iterator[Words]:
    """All commands as they are, for the file of their words: each is loaded."""
    for name in COMMANDS:
        if name in GROUPS:
            module = importlib.import_module(f"caboose.cli.commands.{name}")
            yield Words((name,), module.HELP)
        for path in [(name, each) for each in _commands(name)] if name in GROUPS else [(name,)]:
            alone = typer.Typer(add_completion=False)
            alone.command()(load(path))
            command: Any = typer.main.get_command(alone)
            help = " ".join(command.help.split("\n\n")[0].split())
            yield Words(path, help, tuple([_names(each) for each in command.params if each.opts[0].startswith("-")]))


def _names(option: Any) -> tuple[str, ...]:
    value = "" if option.is_flag or option.count else VALUE
    return tuple([f"{name}{value}" for name in (*option.opts, *option.secondary_opts)])


def _group(name: str, help: str) -> typer.Typer:
    return typer.Typer(
        name=name,
        help=help,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )


def _commands(group: str) -> Mapping[str, str]:
    found: Mapping[str, str] = importlib.import_module(f"caboose.cli.commands.{group}").COMMANDS
    return found


def _named(words: Sequence[str]) -> tuple[str, ...]:
    """The path of the command that ``words`` name. What stands before it takes no values."""
    names = [word for word in words if not word.startswith("-")]
    return tuple(names[: 2 if names and names[0] in GROUPS else 1])


def _asking() -> bool:
    """Whether it is a shell that calls, for completion."""
    return bool(os.environ.get(_COMPLETE))


def _typed() -> list[str]:
    text = next((os.environ[name] for name in _TYPED if name in os.environ), "")
    return text.split()[1:]


def _completed(words: Words) -> Callable[..., None]:
    """A command that is never run and has the options of ``words``."""

    def command(**_: object) -> None: ...

    def parameter(at: int, names: Sequence[str]) -> inspect.Parameter:
        option = typer.Option(*[name.removesuffix(VALUE) for name in names])
        kind: Any = Annotated[str, option] if names[0].endswith(VALUE) else Annotated[bool, option]
        return inspect.Parameter(f"p{at}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)

    parameters = [parameter(at, names) for at, names in enumerate(words.options)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _unnamed() -> None:
    raise AssertionError("a command was run that the call does not name")


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
    except SystemExit as ended:
        # Of rich and typer, which end a program so when nobody reads its output any more, or a shell has its words.
        return failed if ended.code else 0
    except OSError as error:
        if for_lack_of_memory(error):
            return _fail(NO_MEMORY, failed)
        of_output = error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EPIPE, errno.EDQUOT)
        return _fail(f"{'standard output: ' if of_output else ''}{reason(error)}", failed)
    except MemoryError:
        return _fail(NO_MEMORY, failed)
    except Exception as error:
        if for_lack_of_memory(error):
            return _fail(NO_MEMORY, failed)
        if _asking() and isinstance(error, (KeyError, ValueError)):
            return _fail(f"{_COMPLETE}: expected what a shell says besides (caboose --show-completion)", 2)
        put_notes(traceback.format_exc())  # a mistake of ours; its exit code must not look like an answer
        return failed
    if code == _INTERRUPTED:
        return _fail(f"interrupted{again}", failed)
    return code or 0


def _fail(text: str, code: int) -> int:
    if text.strip():  # it is empty after help was printed instead of a missing command
        put_error(f"caboose: {text}")
    return code
