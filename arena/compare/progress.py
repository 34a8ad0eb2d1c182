"""What people see while a comparison plays: how far the test is, live on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from rich.console import Group

from caboose.arena.compare.judge import Judge
from caboose.arena.compare.run import interval
from caboose.arena.console.console import Console, Text, duration_text
from caboose.arena.console.live import LiveView
from caboose.arena.stats.bootstrap import Estimate
from caboose.arena.stats.sprt import State

EVERY: Final = 60.0  # seconds between two lines where there is no terminal
WIDTH: Final = 41  # of the bar, which has a middle
_RECENT: Final = 200  # blocks that tell the rate
NAMES: Final = {"pips": "pips a round", "elo": "Elo", "nelo": "normalized Elo"}


def gain_text(gain: Estimate, unit: str) -> str:
    """A gain with half its interval, for people."""
    if gain.value is None:
        return "no gain known yet"
    digits = 2 if unit == "pips" else 1
    half = "?" if gain.half is None else f"{gain.half:.{digits}f}"
    return f"{round(gain.value, digits) + 0.0:+.{digits}f} ± {half} {NAMES[unit]}"


def alike_text(state: State, unit: str) -> str:
    """What people are told where all blocks are the same, so that they tell nothing; empty where they differ. A single
    block is told where it is even."""
    if not state.count or state.changes:
        return ""
    if state.first == (0.0 if unit == "pips" else 0.5):
        what = "the only block is even" if state.count == 1 else f"all {state.count:,} blocks are even"
        return f"{what}: are they different engines?"
    return "" if state.count == 1 else f"all {state.count:,} blocks are the same: they do not tell how blocks vary"


class CompareProgress(LiveView):
    """Follows a comparison on ``console``. A context manager; nothing stays of the live view when it is left."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._judge: Judge | None = None
        self._games = 0  # played now, judged or not
        self._ends: deque[tuple[float, int]] = deque(maxlen=_RECENT)  # when the last blocks ended, and games by then

    # --- as a watcher of the comparison ---

    def begin(self, judge: Judge) -> None:
        """It is going to play, or was over already."""
        self._judge = judge
        self._ends.append((time.monotonic(), 0))
        if judge.over:
            return
        if judge.tally.blocks:
            self._say(f"It goes on after {judge.tally.blocks:,} blocks.")
        self._show(self._view)

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, games: int) -> None:
        """A block of that many games was played."""
        self._games += games
        self._ends.append((time.monotonic(), self._games))
        self._say_sometimes(lambda: ", ".join([self._counts(), self._llr(), *self._gains()]), EVERY)

    # --- what it looks like ---

    def _view(self) -> Group:
        assert self._judge is not None
        low, high = self._judge.test.bounds
        share = min(max((self._judge.llr - low) / (high - low), 0.0), 1.0)
        at = round(share * (WIDTH - 1))
        bar = Text("H0 ", style="bold")
        bar.append("─" * at, style="dim").append("●", style="bold green" if self._judge.llr > 0 else "bold red")
        bar.append("─" * (WIDTH - 1 - at), style="dim").append(f" H1   {self._llr()}")
        return Group(bar, Text(self._counts()), *[Text(text) for text in self._gains()])

    def _llr(self) -> str:
        assert self._judge is not None
        low, high = self._judge.test.bounds
        return f"LLR {self._judge.llr:+.2f} ({low:+.2f}, {high:+.2f})"

    def _counts(self) -> str:
        assert self._judge is not None
        tally = self._judge.tally
        parts = [f"{tally.blocks:,} blocks, {tally.games:,} games"]
        if took := self._took():
            parts.append(f"{60 * (self._ends[-1][1] - self._ends[0][1]) / took:.0f} games/min")
        faults = sum(tally.faults)
        parts.append(f"{faults} fault{'' if faults == 1 else 's'}")
        return ", ".join(parts)

    def _gains(self) -> list[str]:
        """The gain, and how long it will take."""
        assert self._judge is not None
        texts = [gain_text(interval(self._judge.test, self._judge.state), self._judge.test.unit)]
        if alike := alike_text(self._judge.state, self._judge.test.unit):
            texts.append(alike)
        to_go = self._judge.to_go
        if to_go is not None:
            took = self._took()
            span = f" ({duration_text(to_go * took / (len(self._ends) - 1))})" if took else ""
            texts.append(f"about {to_go:,.0f} blocks{span} to go if it goes on so")
        return texts

    def _took(self) -> float:
        return self._ends[-1][0] - self._ends[0][0]
