"""Where blocks are played: in this process, or in a pool of local worker processes.

An executor takes tasks, mostly a plan and the number of a block of it, and gives their results as they finish, in any
order. It is a context manager; when it is left, for whatever reason, no worker and no engine process is there any more.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

from caboose.arena.blocks.block import Plan, Players, play_scaled
from caboose.arena.blocks.cpu_pinning import Pinning, share_cores
from caboose.arena.blocks.results import BlockResult
from caboose.arena.errors import PlayError
from caboose.arena.execution.worker import SAFE_PATH, STOP_SECONDS, Message, Work, kill_session, work_for_parent
from caboose.protocol.process.affinity import allowed_cores

MAX_LOSSES: Final = 3  # a block that has cost this many workers is given up
MAX_GIVEN_UP: Final = 10  # blocks, one after another; then it is not the blocks


class Task(NamedTuple):
    """A block to be played: the plan, and its number in it."""

    plan: Plan
    block: int

    @property
    def label(self) -> str:
        """What it is called."""
        return f"block {self.block + 1}"

    def play(self, players: Players, on_game: Callable[[], None], scale: float) -> BlockResult:
        """Plays it."""
        return play_scaled(self.plan, players, self.block, on_game, scale)


Done = tuple[Any, Any]
"""A task and what came of it: of a ``Task`` a ``BlockResult``, of other ``Work`` what its ``play`` returns."""

OnLost = Callable[[Any, str], None]
"""Told of a task that is given up, and why."""


class Executor(Protocol):
    """Does tasks somewhere: blocks, and whatever else is ``Work``."""

    def run(self, tasks: Iterable[Any], on_game: Callable[[], None], on_lost: OnLost | None = None) -> Iterator[Done]:
        """Plays ``tasks``, each ``Work``, and yields each with its result when it is finished; ``on_game`` is called
        after each game.

        A task is taken from ``tasks`` just before it is played. None says that there is none before one of those that
        are being played is finished; then ``tasks`` is asked again.

        A task that has cost ``MAX_LOSSES`` workers is given up, and ``on_lost`` told; without it that is a
        ``PlayError``, as is anything else but a player that fails for good.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Losses:
    """The workers that tasks have cost; ``on_lost`` is as in ``Executor.run``."""

    def __init__(self, on_lost: Callable[[Any, str], None] | None) -> None:
        self._on_lost = on_lost
        self._lost: Counter[Work] = Counter()
        self._given_up = 0

    def played(self, task: Work) -> None:
        """A task was played after all."""
        self._lost.pop(task, None)
        self._given_up = 0

    def again(self, task: Work, why: str) -> bool:
        """A task has cost a worker: whether it is to be played again. If not it is given up. Raises ``PlayError``."""
        self._lost[task] += 1
        if self._lost[task] < MAX_LOSSES:
            return True
        del self._lost[task]
        self._given_up += 1
        told = f"{task.label}: {why}"
        if self._on_lost is None:
            raise PlayError(told)
        self._on_lost(task, why)
        if self._given_up == MAX_GIVEN_UP:
            raise PlayError(f"{MAX_GIVEN_UP} blocks in a row could not be played; {told}")
        return False


class LocalExecutor:
    """Plays one block after another in this process; if wanted its engines are bound to cores (``pinning``), and
    limits of time are ``scale`` times as long."""

    def __init__(self, *, pin: bool = False, scale: float = 1.0) -> None:
        self._scale = scale
        self._players = Players(share_cores(allowed_cores(), 1)[0] if pin else None)

    def run(self, tasks: Iterable[Any], on_game: Callable[[], None], on_lost: OnLost | None = None) -> Iterator[Done]:
        for task in tasks:
            if task is None:
                raise ValueError("there is no task, though none is being played")
            yield task, task.play(self._players, on_game, self._scale)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._players.close()


# ------------------------------------------------------------------------------------------- pool of workers


@dataclass(slots=True)
class _Worker:
    """A worker as the pool sees it; ``task`` is what it has to do, if anything, ``place`` its number in the pool."""

    place: int
    process: SpawnProcess
    pipe: Connection
    task: Work | None = None


class PoolExecutor:
    """Plays blocks in ``workers`` processes, each with its own players, and if wanted bound to cores of its own
    (``pinning``). Limits of time are ``scale`` times as long.

    When a worker dies, a new one plays its block again.
    """

    def __init__(self, workers: int, *, pin: bool = False, scale: float = 1.0) -> None:
        self._scale = scale
        self._count = workers
        self._pinnings: list[Pinning | None] = [*share_cores(allowed_cores(), workers)] if pin else [None] * workers
        self._workers: list[_Worker] = []

    def run(self, tasks: Iterable[Any], on_game: Callable[[], None], on_lost: OnLost | None = None) -> Iterator[Done]:
        unplayed = iter(tasks)
        waiting: deque[Work] = deque()
        losses = Losses(on_lost)
        while True:
            idle = self._count - sum(worker.task is not None for worker in self._workers)
            waiting.extend(available(unplayed, idle - len(waiting)))
            while waiting and len(self._workers) < self._count:
                place = min({*range(self._count)} - {worker.place for worker in self._workers})
                self._workers.append(_start_worker(place, self._pinnings[place]))
            for worker in self._workers:
                if worker.task is None and waiting:
                    worker.task = waiting.popleft()
                    with suppress(OSError):  # a worker that is gone shows below
                        worker.pipe.send((worker.task, self._scale))
            if all(worker.task is None for worker in self._workers):
                return
            ready = multiprocessing.connection.wait([worker.pipe for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    message: Message = worker.pipe.recv()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    _stop_workers([worker])
                    why = f"{MAX_LOSSES} workers died of it"
                    if worker.task is not None and losses.again(worker.task, why):
                        waiting.appendleft(worker.task)
                    continue
                if message is None:
                    on_game()
                elif isinstance(message, str):
                    raise PlayError(f"a worker failed: {message}")
                else:
                    task, worker.task = worker.task, None
                    assert task is not None
                    losses.played(task)
                    yield task, message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stop_workers(self._workers)
        self._workers.clear()


def available(tasks: Iterator[Work | None], most: int) -> Iterator[Work]:
    """The next ``most`` tasks, or fewer where there are no more for now."""
    for task in islice(tasks, most):
        if task is None:
            return
        yield task


def _start_worker(place: int, pinning: Pinning | None) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work_for_parent, args=(theirs, os.environ.get(SAFE_PATH), pinning), daemon=True)
    # Ctrl-C goes to a worker too while it is young, but it is ours to decide: they are born with it blocked.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # What lies in the current folder must not stand in for a library; engines shall not inherit that (see `_work`).
    safe = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        process.start()
    finally:
        if safe is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = safe
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(place, process, ours)


def _stop_workers(workers: Sequence[_Worker]) -> None:
    """Ends workers, all at once, and reaps them."""
    for worker in workers:
        worker.pipe.close()  # an idle worker goes when its input ends
        worker.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for worker in workers:
        worker.process.join(max(deadline - time.monotonic(), 0))
        if worker.process.exitcode is None:
            assert worker.process.pid is not None
            kill_session(worker.process.pid)
            worker.process.join()
        worker.process.close()
