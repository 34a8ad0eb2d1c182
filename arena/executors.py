"""Where blocks are played: in this process, or in a pool of local worker processes.

An executor takes a plan and the numbers of blocks and gives their results as they finish, in any order. It is a
context manager; when it is left, for whatever reason, no worker and no engine process is there any more.
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
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import FrameType, TracebackType
from typing import Final, Protocol, Self

from caboose.arena.blocks import Bench, Plan, play_block
from caboose.arena.errors import RunError
from caboose.arena.results import BlockResult
from caboose.protocol.child import hide

MAX_LOSSES: Final = 3  # a block that has cost this many workers is given up
STOP_SECONDS: Final = 5.0  # what a worker may take to close its engines before it is killed
_SAFE_PATH: Final = "PYTHONSAFEPATH"


class Executor(Protocol):
    """Plays blocks somewhere."""

    def run(self, plan: Plan, blocks: Iterable[int], on_game: Callable[[], None]) -> Iterator[BlockResult]:
        """Plays ``blocks`` and yields each when it is finished; ``on_game`` is called after each game.

        The number of a block is taken from ``blocks`` just before it is played.

        Raises ``RunError`` when something other than a player fails for good.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class LocalExecutor:
    """Plays one block after another in this process."""

    def __init__(self) -> None:
        self._benches = ExitStack()

    def run(self, plan: Plan, blocks: Iterable[int], on_game: Callable[[], None]) -> Iterator[BlockResult]:
        bench = self._benches.enter_context(Bench(plan))
        for block in blocks:
            yield play_block(plan, bench, block, on_game)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._benches.close()


# ------------------------------------------------------------------------------------------- pool of workers

_Message = BlockResult | str | None  # what a worker sends: a block, the trace of a failure, or None for each game


@dataclass(slots=True)
class _Worker:
    """A worker as the pool sees it; ``block`` is what it is playing."""

    process: SpawnProcess
    pipe: Connection
    block: int | None = None


class PoolExecutor:
    """Plays blocks in ``workers`` processes, each with its own players.

    When a worker dies, a new one plays its block again.
    """

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._workers: list[_Worker] = []

    def run(self, plan: Plan, blocks: Iterable[int], on_game: Callable[[], None]) -> Iterator[BlockResult]:
        unplayed = iter(blocks)
        waiting: deque[int] = deque()
        losses: Counter[int] = Counter()
        while True:
            idle = self._count - sum(worker.block is not None for worker in self._workers)
            waiting.extend(islice(unplayed, idle - len(waiting)))
            while waiting and len(self._workers) < self._count:
                self._workers.append(_start_worker(plan))
            for worker in self._workers:
                if worker.block is None and waiting:
                    worker.block = waiting.popleft()
                    with suppress(OSError):  # a worker that is gone shows below
                        worker.pipe.send(worker.block)
            if all(worker.block is None for worker in self._workers):
                return
            ready = multiprocessing.connection.wait([worker.pipe for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    message: _Message = worker.pipe.recv()
                except (EOFError, OSError):
                    self._workers.remove(worker)
                    _stop_workers([worker])
                    if worker.block is not None:
                        losses[worker.block] += 1
                        if losses[worker.block] == MAX_LOSSES:
                            where = f"block {worker.block + 1}"
                            raise RunError(f"{where}: {MAX_LOSSES} workers died while they played it") from None
                        waiting.appendleft(worker.block)
                    continue
                if message is None:
                    on_game()
                elif isinstance(message, str):
                    raise RunError(f"a worker failed: {message}")
                else:
                    worker.block = None
                    yield message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _stop_workers(self._workers)
        self._workers.clear()


def _start_worker(plan: Plan) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(plan, theirs, os.environ.get(_SAFE_PATH)), daemon=True)
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


def _work(plan: Plan, pipe: Connection, safe_path: str | None) -> None:
    """The life of a worker: plays the blocks whose numbers come through ``pipe`` until it is closed. ``safe_path`` is
    what the environment of its parent says of ``PYTHONSAFEPATH``, and of its engines shall."""
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
        if any(not contestant.builtin for contestant in plan.lineup.contestants):
            hide()
        with Bench(plan) as bench:
            try:
                _play_blocks(plan, bench, pipe)
            finally:
                signal.signal(signal.SIGTERM, _ignore)  # nothing must interrupt the closing of engines
    except _Stop:
        pass


def _play_blocks(plan: Plan, bench: Bench, pipe: Connection) -> None:
    while True:
        try:
            block = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            message: _Message = play_block(plan, bench, block, lambda: pipe.send(None))
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
