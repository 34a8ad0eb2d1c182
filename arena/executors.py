"""Where blocks are played: in this process, or in a pool of local worker processes.

An executor takes tasks, each a plan and the number of a block of it, and gives their results as they finish, in any
order. It is a context manager; when it is left, for whatever reason, no worker and no engine process is there any more.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import FrameType, TracebackType
from typing import Final, NamedTuple, Protocol, Self

from caboose.arena.blocks import Plan, Players, play_block
from caboose.arena.errors import RunError
from caboose.arena.results import BlockResult
from caboose.protocol.child import hide

MAX_LOSSES: Final = 3  # a block that has cost this many workers is given up
STOP_SECONDS: Final = 5.0  # what a worker may take to close its engines before it is killed
_SAFE_PATH: Final = "PYTHONSAFEPATH"


class Task(NamedTuple):
    """A block to be played: the plan, and its number in it."""

    plan: Plan
    block: int


Done = tuple[Task, BlockResult]


class Executor(Protocol):
    """Plays blocks somewhere."""

    def run(self, tasks: Iterable[Task | None], on_game: Callable[[], None]) -> Iterator[Done]:
        """Plays ``tasks`` and yields each with its result when it is finished; ``on_game`` is called after each game.

        A task is taken from ``tasks`` just before it is played. None says that there is none before one of those that
        are being played is finished; then ``tasks`` is asked again.

        Raises ``RunError`` when something other than a player fails for good.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class LocalExecutor:
    """Plays one block after another in this process."""

    def __init__(self) -> None:
        self._players = Players()

    def run(self, tasks: Iterable[Task | None], on_game: Callable[[], None]) -> Iterator[Done]:
        for task in tasks:
            if task is None:
                raise ValueError("there is no task, though none is being played")
            yield task, play_block(task.plan, self._players.bench(task.plan), task.block, on_game)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._players.close()


# ------------------------------------------------------------------------------------------- pool of workers

_Message = BlockResult | str | None  # what a worker sends: a block, the trace of a failure, or None for each game


@dataclass(slots=True)
class _Worker:
    """A worker as the pool sees it; ``task`` is what it is playing."""

    process: SpawnProcess
    pipe: Connection
    task: Task | None = None


class PoolExecutor:
    """Plays blocks in ``workers`` processes, each with its own players.

    When a worker dies, a new one plays its block again.
    """

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._workers: list[_Worker] = []

    def run(self, tasks: Iterable[Task | None], on_game: Callable[[], None]) -> Iterator[Done]:
        unplayed = iter(tasks)
        waiting: deque[Task] = deque()
        losses: Counter[Task] = Counter()
        while True:
            idle = self._count - sum(worker.task is not None for worker in self._workers)
            waiting.extend(_available(unplayed, idle - len(waiting)))
            while waiting and len(self._workers) < self._count:
                self._workers.append(_start_worker())
            for worker in self._workers:
                if worker.task is None and waiting:
                    worker.task = waiting.popleft()
                    with suppress(OSError):  # a worker that is gone shows below
                        worker.pipe.send(worker.task)
            if all(worker.task is None for worker in self._workers):
                return
            ready = multiprocessing.connection.wait([worker.pipe for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    message: _Message = worker.pipe.recv()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    _stop_workers([worker])
                    if worker.task is not None:
                        losses[worker.task] += 1
                        if losses[worker.task] == MAX_LOSSES:
                            where = f"block {worker.task.block + 1}"
                            raise RunError(f"{where}: {MAX_LOSSES} workers died while they played it") from None
                        waiting.appendleft(worker.task)
                    continue
                if message is None:
                    on_game()
                elif isinstance(message, str):
                    raise RunError(f"a worker failed: {message}")
                else:
                    task, worker.task = worker.task, None
                    assert task is not None
                    losses.pop(task, None)
                    yield task, message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stop_workers(self._workers)
        self._workers.clear()


def _available(tasks: Iterator[Task | None], most: int) -> Iterator[Task]:
    """The next ``most`` tasks, or fewer where there are no more for now."""
    for task in islice(tasks, most):
        if task is None:
            return
        yield task


def _start_worker() -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, os.environ.get(_SAFE_PATH)), daemon=True)
    # Ctrl-C goes to a worker too while it is young, but it is ours to decide: they are born with it blocked.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # What lies in the current folder must not stand in for a library; engines shall not inherit that (see `_work`).
    safe = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        process.start()
    finally:
        if safe is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = safe
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(process, ours)


def _stop_workers(workers: Sequence[_Worker]) -> None:
    """Ends workers, all at once, and reaps them."""
    for worker in workers:
        worker.pipe.close()  # an idle worker goes when its input ends
        worker.process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for worker in workers:
        worker.process.join(max(deadline - time.monotonic(), 0))
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()
        worker.process.close()


# ------------------------------------------------------------------------------------------ inside a worker


class _Stop(BaseException):
    """The worker was told to end."""


def _work(pipe: Connection, safe_path: str | None) -> None:
    """The life of a worker: plays the tasks that come through ``pipe`` until it is closed. ``safe_path`` is what the
    environment of its parent says of ``PYTHONSAFEPATH``, and of its engines shall."""
    if safe_path is None:
        os.environ.pop(_SAFE_PATH, None)
    # Linux divides the processors among sessions first: a referee of a session of its own gets its turn when it has an
    # answer to look at, however many there are. The terminal sends nothing to it any more.
    os.setsid()
    signal.signal(signal.SIGINT, _ignore)  # not SIG_IGN, which engines would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        signal.signal(signal.SIGTERM, _raise_stop)
        threading.Thread(target=_watch_parent, daemon=True).start()
        with Players() as players:
            try:
                _play_tasks(players, pipe)
            finally:
                signal.signal(signal.SIGTERM, _ignore)  # nothing must interrupt the closing of engines
    except _Stop:
        pass


def _play_tasks(players: Players, pipe: Connection) -> None:
    while True:
        try:
            plan, block = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            if any(not contestant.builtin for contestant in plan.lineup.contestants):
                hide()
            message: _Message = play_block(plan, players.bench(plan), block, lambda: pipe.send(None))
        except OSError as error:  # what this machine lacks, or a log that cannot be written
            message = str(error)
        except Exception:
            message = traceback.format_exc()
        with suppress(ConnectionError):  # the pool is gone: the next read sees it too
            pipe.send(message)


def _watch_parent() -> None:
    """Ends this worker when its parent is no more, however that ended."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    os._exit(1)


def _raise_stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, _ignore)
    raise _Stop


def _ignore(number: int, frame: FrameType | None) -> None:
    pass
