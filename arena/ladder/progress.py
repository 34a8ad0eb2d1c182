"""What people see while a ladder runs: a live table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from caboose.arena.blocks.game_rows import FaultRow, Seats
from caboose.arena.console.console import Console, Text, duration_text
from caboose.arena.console.live import LiveView
from caboose.arena.ladder.run import Limit, Run
from caboose.arena.ladder.store import BlockKey
from caboose.arena.ladder.totals import Reading, block_margins
from caboose.arena.stats.bootstrap import Floats

EVERY: Final = 60.0  # seconds between two lines where there is no terminal
ROWS: Final = 20  # engines that the live table shows
_RECENT: Final = 200  # blocks that tell the rate
_SURE: Final = 0.975


class Running:
    """The mean of an entry's block margins and its interval, kept up to date (Welford 1962)."""

    __slots__ = ("count", "faults", "mean", "squares")

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.faults = 0

    def add(self, margin: float) -> None:
        self.count += 1
        step = margin - self.mean
        self.mean += step / self.count
        self.squares += step * (margin - self.mean)

    def add_all(self, margins: Floats) -> None:
        """Many at once (Chan, Golub & LeVeque 1983)."""
        more = len(margins)
        if more:
            mean = float(margins.mean())
            step, total = mean - self.mean, self.count + more
            self.squares += float(((margins - mean) ** 2).sum()) + step**2 * self.count * more / total
            self.mean += step * more / total
            self.count = total

    @property
    def half(self) -> float | None:
        """Half the width of the 95 % interval (Student t); None with fewer than two blocks."""
        if self.count < 2:
            return None
        from scipy.special import stdtrit  # slow to load

        return float(stdtrit(self.count - 1, _SURE)) * math.sqrt(self.squares / (self.count - 1) / self.count)


class LadderProgress(LiveView):
    """Follows a run on ``console``. A context manager; nothing stays of the live table when it is left."""

    def __init__(self, console: Console, limit: Limit) -> None:
        super().__init__(console)
        self._limit = limit
        self._run: Run | None = None
        self._heard = 0  # news of the run that were told
        self._running: dict[int, Running] = {}
        self._games = 0
        self._blocks = 0
        self.faults = 0
        self._started = time.monotonic()
        self._ends: deque[tuple[float, int]] = deque(maxlen=_RECENT)  # when the last blocks ended, and their games

    # --- as a watcher of the run ---

    def begin(self, run: Run) -> None:
        """It is going to play."""
        self._run = run
        self._heard = len(run.news)
        reading = Reading(run.store, [each.row for each in run.lists], times=False)
        known = [self._running.setdefault(entry.id, Running()) for entry in reading.entries]
        for part in reading.parts():
            for running, margins in zip(known, block_margins(part, len(known)), strict=True):
                running.add_all(margins)
        for running, sums in zip(known, reading.sums(), strict=True):
            running.faults = sum(sums.faults.values())
        self._started = time.monotonic()
        self._ends.append((self._started, 0))
        self._show(self._table)

    def game_over(self) -> None:
        """A game was played."""
        self._games += 1

    def block_over(self, key: BlockKey, games: Sequence[Seats], faults: Sequence[FaultRow]) -> None:
        """A block was played and is kept."""
        self._blocks += 1
        if self._run is not None:
            for text in self._run.news[self._heard :]:
                self._say(text)
            self._heard = len(self._run.news)
        self.faults += len(faults)
        self._ends.append((time.monotonic(), len(games)))
        margins: dict[int, list[float]] = {}
        for seats in games:
            for row in seats:
                seat: Any = row
                if seat["counted"]:
                    margins.setdefault(int(seat["entry"]), []).append(float(seat["margin"]))
                self._running.setdefault(int(seat["entry"]), Running()).faults += int(seat["fault"])
        for entry, values in margins.items():
            self._running[entry].add(sum(values) / len(values))
        self._say_sometimes(self._line, EVERY)

    # --- what it looks like ---

    def _line(self) -> str:
        assert self._run is not None
        widest = max((half for _, _, half in self._rows() if half is not None), default=None)
        width = "" if widest is None else f", widest interval ± {widest:.1f} pips"
        return f"{self._counts()}{width}"

    def _counts(self) -> str:
        assert self._run is not None
        done = sum(each.schedule.played for each in self._run.lists)
        total = sum(each.schedule.total - each.schedule.skipped for each in self._run.lists)
        first, last = self._ends[0][0], self._ends[-1][0]
        took = last - first
        parts = [f"{done:,} of {total:,} blocks"]
        if took > 0:
            games = sum(count for _, count in self._ends) - self._ends[0][1]
            parts.append(f"{60 * games / took:.0f} games/min")
            parts.append(f"about {duration_text(self._left(total - done, (len(self._ends) - 1) / took))} left")
        parts.append(f"{self.faults} fault{'' if self.faults == 1 else 's'}")
        return ", ".join(parts)

    def _left(self, blocks: int, rate: float) -> float:
        """Seconds to the end of the run; ``rate`` is blocks a second."""
        if self._limit.blocks is not None:
            blocks = min(blocks, self._limit.blocks - self._blocks)
        seconds = blocks / rate
        if self._limit.seconds is not None:
            seconds = min(seconds, max(self._limit.seconds - (time.monotonic() - self._started), 0.0))
        return seconds

    def _rows(self) -> list[tuple[str, Running, float | None]]:
        assert self._run is not None
        rows = []
        for entry in self._run.roster.values():
            running = self._running.get(entry.id, Running())
            rows.append((entry.label, running, running.half))
        return sorted(rows, key=lambda row: -row[1].mean if row[1].count else math.inf)

    def _table(self) -> Group:
        assert self._run is not None
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("engine", no_wrap=True)
        for title in ("blocks", "margin", "± 95 %", "faults"):
            table.add_column(title, justify="right", no_wrap=True)
        rows = self._rows()
        for label, running, half in rows[:ROWS]:
            table.add_row(
                label,
                f"{running.count:,}",
                f"{running.mean + 0.0:+.1f}" if running.count else "-",
                "-" if half is None else f"{half:.1f}",
                Text(str(running.faults), style="bold red" if running.faults else ""),
            )
        if len(rows) > ROWS:
            table.add_row(f"and {len(rows) - ROWS} more")
        lists = [f"{each.spec.name} {each.schedule.played:,}/{each.schedule.total:,}" for each in self._run.lists]
        parts: list[RenderableType] = [Text(self._counts(), style="bold"), table]
        if len(lists) > 1:
            parts.insert(1, Text(", ".join(lists)))
        return Group(*parts)
