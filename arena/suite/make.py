"""Making a suite: the targets of picked positions, a line for each as it is found; what is found is kept."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeVar

from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.suite.file import FieldError, header_line, place_object, position_line, read_header, read_position
from caboose.arena.suite.suite import Header, Place, Position
from caboose.arena.suite.target import find_losses

PACKED: Final = ".gz"  # the end of the name of a suite that is to be packed

_T = TypeVar("_T")
_R = TypeVar("_R")


@contextmanager
def workers(count: int, stop: threading.Event) -> Iterator[Callable[[Callable[[_T], _R], Iterable[_T]], Iterator[_R]]]:
    """A map in ``count`` threads, whose results come in order. When it is left early ``stop`` is set, and who works is
    waited for.

    Threads will do: searches let go of the interpreter, and other engines have processes of their own.
    """
    pool = ThreadPoolExecutor(count)
    try:
        yield pool.map
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def part_of(path: Path) -> Path:
    """Where the lines of the suite ``path`` stand until it is whole."""
    return path.with_name(f"{path.name}.part")


def check_target(path: Path) -> None:
    """Raises ``CallError`` when no suite can be written to ``path``, or one is there."""
    if path.exists():
        raise CallError(f"-o {path}: this file is there already, expected a new name: targets take long to find")
    if not path.parent.is_dir():
        raise CallError(f"-o {path}: there is no folder {path.parent}")


def kept_lines(path: Path, header: Header, places: Sequence[Place]) -> list[str]:
    """The lines of an earlier call that was ended, each with its line end; none without one.

    A last line without an end is no line. Raises ``CallError`` when they are not of this suite.
    """
    part = part_of(path)
    try:
        text = part.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"{part}: it cannot be read: {cause(error)}") from None
    lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    if not lines:
        return []
    other = f"{part}: it is of another suite; call again as then, or remove it to begin anew"
    try:
        before = read_header(lines[0])
    except FieldError as error:
        raise CallError(f"{part}:1: {error}; remove the file to begin anew") from None
    for field in fields(header):
        told, wanted = getattr(before, field.name), getattr(header, field.name)
        if told != wanted:
            raise CallError(f"{other}: {field.name} {told}, expected {wanted}")
    for number, (line, place) in enumerate(zip(lines[1:], places, strict=False), 2):
        try:
            kept = read_position(line)
        except FieldError as error:
            raise CallError(f"{part}:{number}: {error}; remove the file to begin anew") from None
        if place_object(kept.place) != place_object(place):
            raise CallError(f"{other}: line {number} has another position")
    return lines[: 1 + len(places)]


def write_suite(
    path: Path,
    header: Header,
    places: Sequence[Place],
    settings: Mapping[str, Any],
    concurrency: int,
    on_position: Callable[[int], None],
) -> None:
    """Finds the targets of ``places`` and writes the suite; ``on_position`` is told how many are done.

    Each line is on the disk when the next is begun, in a file beside ``path`` that becomes it at the end: an
    interrupt, or the end of the machine, costs what was being searched. Raises ``RunError`` when it cannot be written,
    and ``CallError`` as ``kept_lines``.
    """
    lines = kept_lines(path, header, places) or [f"{header_line(header)}\n"]
    part = part_of(path)
    stop = threading.Event()

    def work(place: Place) -> str:
        return position_line(Position(place, find_losses(place, header.nodes, header.seed, settings, stop)))

    done = len(lines) - 1
    on_position(done)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file, workers(concurrency, stop) as in_order:
            file.writelines(lines)
            file.flush()
            for line in in_order(work, places[done:]):
                file.write(f"{line}\n")
                file.flush()
                os.fsync(file.fileno())
                done += 1
                on_position(done)
        if path.name.endswith(PACKED):
            packed = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            packed.write_bytes(gzip.compress(part.read_bytes(), 9, mtime=0))
            packed.replace(path)
            part.unlink()
        else:
            part.replace(path)
    except OSError as error:
        raise RunError(f"{error.filename or part}: {cause(error)}") from None
