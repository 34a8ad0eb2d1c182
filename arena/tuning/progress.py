"""What people see while a study runs: a few live lines on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import Final

from caboose.arena.console.console import Console, Text, duration_text
from caboose.arena.console.live import LiveView
from caboose.arena.tuning.result import spoiled
from caboose.arena.tuning.run import Study
from caboose.arena.tuning.store import Piece, Played

EVERY: Final = 60.0  # seconds between two lines where there is no terminal


class StudyProgress(LiveView):
    """Follows a study on ``console``. A context manager; nothing stays of the live lines when it is left."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._study: Study | None = None
        self._blocks = 0
        self._fresh = 0
        self._begun = time.monotonic()

    # --- as a watcher ---

    def begin(self, study: Study) -> None:
        """It is going to play."""
        self._study = study
        self._fresh = sum(piece.fresh for piece in study.known)
        self._begun = time.monotonic()
        if study.result is None:
            self._show(self._text)

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, piece: Piece, played: Played) -> None:
        """A block was played and is kept."""
        self._blocks += 1
        self._fresh += piece.fresh
        self._say_sometimes(lambda: "; ".join(self._lines()), EVERY)

    # --- what it looks like ---

    def _text(self) -> Text:
        return Text("\n".join(self._lines()))

    def _lines(self) -> list[str]:
        study = self._study
        assert study is not None
        search = study.search
        rate = self._blocks / max(time.monotonic() - self._begun, 1e-9)
        what = study.spec.pieces
        speed = f"{60 * rate:.0f} {what}/min"
        if study.recommended is not None:
            return [
                f"Verification: {self._fresh:,} of {study.spec.verify.blocks:,} {what} at most, {speed}",
                f"recommended: {study.space.told(study.recommended.values)}",
            ]
        done = len(study.known) - self._fresh
        left = f", about {duration_text(max(search.budget - done, 0) / rate)} left" if self._blocks else ""
        lines = [
            f"Search ({study.spec.method}): {done:,} of {search.budget:,} {what}, {speed}{left}",
            f"{len(search.seen.candidates)} candidates, {len(search.dropped)} stopped early, {study.faults} faults",
        ]
        if wrong := spoiled(study):
            lines.append(wrong)
        elif search.steps:
            lines.append(f"best so far: {study.space.told(search.steps[-1].values)}")
        return lines
