"""Files that commands read and write."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

from caboose.arena.console.console import Console
from caboose.arena.console.output import Shown
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.storage.files import open_input, standard_input
from caboose.protocol.records.reader import ENDLESS

STANDARD_INPUT: Final = "-"
_CHUNK: Final = 1 << 18  # bytes copied at once


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The bytes of the file ``name``, with a progress bar where there is a terminal. Raises ``CallError``."""
    try:
        file = standard_input() if name == STANDARD_INPUT else open_input(name)
    except OSError as error:
        raise CallError(f"{name}: {cause(error)}") from None
    if name == STANDARD_INPUT:
        yield file
        return
    console = Console(stderr=True)
    columns = (BarColumn(bar_width=None), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with file, Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress.wrap_file(file, os.fstat(file.fileno()).st_size)


def open_seekable(name: str) -> BinaryIO:
    """The bytes of the file ``name``, in which one can go back: a pipe is copied first. Raises ``CallError``."""
    with ExitStack() as stack:
        try:
            file = standard_input() if name == STANDARD_INPUT else stack.enter_context(open_input(name))
            if name != STANDARD_INPUT and file.seekable():
                stack.pop_all()
                return file
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - so it is here
            try:
                _copy(file, copy)
                copy.seek(0)
            except BaseException:
                copy.close()
                raise
        except OSError as error:
            raise CallError(f"{name}: {cause(error)}") from None
    return copy


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    """Copies lines. Raises ``OSError`` for one without an end."""
    rest = 0  # bytes since the last line end
    while data := source.read(_CHUNK):
        end = data.rfind(b"\n") + 1
        rest = rest + len(data) if not end else len(data) - end
        if rest > ENDLESS:
            raise OSError(errno.EFBIG, f"a line has more than {ENDLESS >> 20} MiB: expected lines of text")
        target.write(data)


@contextmanager
def written(path: Path | None, *, named: bool = True) -> Iterator[BinaryIO]:
    """A file to be written; None is standard output, where a terminal gets what can be printed. A file of that name is
    replaced at the end, when all went well.

    When it cannot be made raises ``CallError`` where somebody ``named`` it, with ``-o``, else ``RunError``.
    """
    if path is None:
        if sys.stdout.isatty():
            yield cast(BinaryIO, Shown())
        else:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    try:
        special = path.exists() and not path.is_file()  # a pipe or a device; a folder, which cannot be opened
        target = path if special else path.resolve()
        # Beside the target: a rename is whole only within a file system.
        place = target if special else target.with_name(f".{target.name}.{os.getpid()}.tmp")
        file = place.open("wb")
    except OSError as error:
        if named:
            raise CallError(f"-o {path}: {cause(error)}") from None
        raise RunError(f"{path}: {cause(error)}") from None
    try:
        with file:
            yield file
        if not special:
            place.replace(target)
    finally:
        if not special:
            place.unlink(missing_ok=True)


@contextmanager
def output_errors(name: str) -> Iterator[None]:
    """Makes what goes wrong in writing to ``name``, or with a file that the error names, a ``RunError``. When nobody
    reads standard output any more, the program ends without a word."""
    try:
        yield
    except BrokenPipeError:
        _leave_unread()
        raise typer.Exit(1) from None
    except OSError as error:
        raise RunError(f"{error.filename or name}: {cause(error)}") from None


@contextmanager
def read_or_not() -> Iterator[None]:
    """What is printed within to standard output is not missed when nobody reads that any more: the program goes on."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich makes the second of the first
        _leave_unread()


def _leave_unread() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
