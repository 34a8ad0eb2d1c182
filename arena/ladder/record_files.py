"""The games of a ladder as text: a file for each list, which grows as blocks are kept."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from caboose.arena.blocks.recorder import Recorder, open_record
from caboose.arena.blocks.results import BlockResult, Played
from caboose.arena.errors import RunError, cause
from caboose.arena.execution.executors import Task
from caboose.arena.storage.ladder_folder import RECORDS


def book_path(folder: Path, list: str) -> Path:
    """Where the games of a list stand. Raises ``RunError`` for a name that would lead out of the folder, as only
    another program gives one."""
    if "/" in list or "\0" in list:
        raise RunError(f"{folder}: a list is called {list[:40]!r}, which is no name")
    return folder / RECORDS / f"{list}.txt"


class Book:
    """The record file of a list. A context manager, which opens and closes it.

    What stands behind ``end``, up to which the database knows it, is of blocks that were lost: it is cut off. Raises
    ``RunError``.
    """

    def __init__(self, folder: Path, list: str, end: int) -> None:
        self.path = book_path(folder, list)
        self._list = list
        self._end = end
        self._begun: dict[Task, Recorder] = {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(exist_ok=True)
            if self.path.exists() and self.path.stat().st_size > self._end:
                os.truncate(self.path, self._end)
            self._file = open_record(self.path)
        except OSError as error:
            raise self._error(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def begin(self, task: Task, played: tuple[Played, ...]) -> None:
        """A block is going to be played: commits to its deals."""
        assert self._file is not None
        recorder = Recorder(self._file, task.plan, played, f"caboose ladder, {self._list}")
        try:
            list(recorder.begin([task.block]))
        except OSError as error:
            raise self._error(error) from None
        self._begun[task] = recorder

    def forget(self, task: Task) -> None:
        """A block that was begun will not be played this time."""
        self._begun.pop(task)

    def write(self, task: Task, result: BlockResult) -> tuple[int, int]:
        """Writes a block; returns where it stands and how long it is, in bytes. It is on the disk then."""
        assert self._file is not None
        try:
            start = os.fstat(self._file.fileno()).st_size
            self._begun.pop(task).write(result)
            os.fsync(self._file.fileno())
            return start, os.fstat(self._file.fileno()).st_size - start
        except OSError as error:
            raise self._error(error) from None

    def _error(self, error: OSError) -> RunError:
        return RunError(f"{self.path}: {cause(error)}; all blocks before are kept")
