"""A match: a number of blocks, played somewhere, gathered in block order."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import BinaryIO, Protocol

from caboose.arena import caboose_version
from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.recorder import Recorder, without_logs
from caboose.arena.blocks.results import Blocks, MatchResult, introduce
from caboose.arena.errors import RunError, reason
from caboose.arena.execution.executors import Executor, Task
from caboose.arena.match.standings import Scoreboard, Standing


class Watcher(Protocol):
    """Somebody who follows a match."""

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, board: Scoreboard) -> None:
        """A block was played and counted."""


def play_match(
    plan: Plan,
    blocks: int,
    executor: Executor,
    watcher: Watcher,
    *,
    concurrency: int = 1,
    record: BinaryIO | None = None,
) -> MatchResult:
    """Plays ``blocks`` blocks of ``plan`` with ``executor``, and closes it. ``concurrency`` is only written down.

    A ``Recorder`` appends the games to ``record``, if given; ``plan.recording`` must then be on. When the match is
    interrupted, or something other than a player fails, the result has the blocks finished so far, and its
    ``problem`` says why.
    """
    lineup = plan.lineup
    played = tuple(map(introduce, lineup.contestants))
    labels = [contestant.label for contestant in lineup.contestants]
    board = Scoreboard(labels, lineup.entries)
    recorder = Recorder(record, plan, played) if record is not None else None
    numbers = range(blocks) if recorder is None else recorder.begin(range(blocks))
    finished = Blocks()
    problem = ""
    lost: dict[int, str] = {}
    started, clock = datetime.now(UTC), time.monotonic()
    try:
        with executor:
            tasks = (Task(plan, number) for number in numbers)
            for _, result in executor.run(tasks, watcher.game_over, lambda task, why: lost.update({task.block: why})):
                # Counted before it is recorded: what stands in the record is never missing from the results.
                finished.add(result if recorder is None else without_logs(result))
                board.add(result)
                if recorder is not None:
                    recorder.write(result)
                watcher.block_over(board)
    except KeyboardInterrupt:
        problem = "interrupted" if len(finished) < blocks else ""
    except (RunError, OSError) as error:
        problem = reason(error)
    for number, why in sorted(lost.items()):
        problem += f"{'; ' if problem else ''}block {number + 1} is left out: {why}"
    return MatchResult(
        caboose=caboose_version(),
        started=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 3),
        rules=str(plan.rules),
        contestants=played,
        entries=lineup.entries,
        control=plan.control,
        on_fault=plan.on_fault,
        restart=plan.restart,
        crashed=plan.crashed,
        in_process=plan.in_process,
        concurrency=concurrency,
        seed=str(plan.seed),
        asked=blocks,
        blocks=finished,
        problem=problem,
    )


def standings(result: MatchResult) -> list[Standing]:
    """How each contestant of a match fared, in the order of the call."""
    board = Scoreboard([contestant.label for contestant in result.contestants], result.entries)
    for block in result.blocks:
        board.add(block)
    return board.standings()
