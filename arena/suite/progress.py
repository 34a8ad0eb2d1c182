"""What people see while a suite is made or scored: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from caboose.arena.console.console import Console, TextColumn, duration_text

EVERY: Final = 30.0  # seconds between two lines where there is no terminal


class Meter:
    """Counts up to ``total`` of something on standard error. A context manager; nothing stays of the bar."""

    def __init__(self, what: str, total: int) -> None:
        console = Console(stderr=True, highlight=False)
        what_column = TextColumn("{task.description}")
        columns = (what_column, BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(what, total=total)
        self._what = what
        self._total = total
        self._console = console
        self._begun: tuple[float, int] | None = None
        self._told = time.monotonic()
        self._done = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self) -> None:
        """One more is done."""
        self.reach(self._done + 1)

    def reach(self, done: int) -> None:
        """So many are done."""
        self._done = done
        now = time.monotonic()
        if self._begun is None:
            self._begun = now, done
        self._bar.update(self._task, completed=done)
        if not self._console.is_terminal and now - self._told >= EVERY:
            self._told = now
            began, first = self._begun
            left = (now - began) * (self._total - done) / (done - first) if done > first else None
            rest = "" if left is None else f", about {duration_text(left)} left"
            self._console.print(
                f"{time.strftime('%H:%M:%S')}  {self._what}: {done:,} of {self._total:,}{rest}", soft_wrap=True
            )
