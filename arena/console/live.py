"""How a run is followed: a view that lives on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.live import Live

from caboose.arena.console.console import Console, Text


class LiveView:
    """What follows something on ``console``. A context manager; nothing stays of the live view when it is left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _show(self, view: Callable[[], RenderableType]) -> None:
        """From now on a terminal shows what ``view`` gives."""
        self._told = time.monotonic()
        if self._console.is_terminal:
            # Once a second: more often would take time from players who are on the clock.
            self._live = Live(get_renderable=view, console=self._console, refresh_per_second=1, transient=True)
            self._live.start()

    def _say(self, text: str) -> None:
        """Prints a line."""
        self._console.print(Text(text), soft_wrap=True)

    def _say_sometimes(self, line: Callable[[], str], every: float) -> None:
        """Prints a line with the time of day, if there is no view, and the last such line is ``every`` seconds old."""
        if self._live is None and time.monotonic() - self._told >= every:
            self._told = time.monotonic()
            self._say(f"{time.strftime('%H:%M:%S')}  {line()}")
