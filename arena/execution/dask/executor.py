"""An executor that plays on the workers of a Dask cluster; ``docs/guides/cluster.md`` tells how it is used.

Which worker plays which block is decided here and not by the scheduler. So it is known which blocks a lost worker has
cost, none has more than it can play, and one that was not looked at plays nothing.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from statistics import median
from types import TracebackType
from typing import Any, Final, Self

from caboose.arena.errors import RunError
from caboose.arena.execution.dask.compatibility import Command
from caboose.arena.execution.dask.connection import Link
from caboose.arena.execution.dask.scheduler import Fleet, Job, Tell, Worker
from caboose.arena.execution.dask.worker_plugin import BlockError, StrangerError
from caboose.arena.execution.executors import MAX_LOSSES, Done, Losses, OnLost, available
from caboose.arena.execution.worker import Work

FIRST: Final = 60.0  # seconds that a run waits for a worker to be there
BUSY: Final = 600.0  # and for one to answer, which has perhaps another's blocks to play before
LOOKING: Final = 10.0  # seconds that a run waits for the others to tell what they have
TICK: Final = 0.5  # seconds between two looks at the clock
QUICK: Final = 1.0  # seconds: where blocks take less, each worker is sent as many again before it has ended those
RECENT: Final = 100  # blocks by which it is known how long one takes
SLOW: Final = 3.0  # times the median: a block that takes longer is given to another worker too, if one is free
LEAST_SLOW: Final = 5.0  # seconds below which none is slow
UNKNOWN_SLOW: Final = 60.0  # the same, while no block has ended
MOST_COPIES: Final = 3  # workers that play a block at the same time


class DaskExecutor:
    """Plays blocks on the workers of the cluster whose scheduler is at ``address``, at most ``most`` at a time, or as
    many as the workers have threads.

    Workers take part that have the caboose of this machine and the same files of ``commands``, and can make a sandbox
    if it is wanted. With ``pin`` engines are bound to cores, with ``reference`` (nodes a second) limits of time
    are scaled to each machine's speed. ``tell`` is told who does not take part and why, and who
    comes and goes. It connects when it is made; then it raises ``CallError`` and ``RunError`` when there is no such
    scheduler, or no worker to use.
    """

    def __init__(
        self,
        address: str,
        commands: Sequence[Command],
        tell: Tell,
        *,
        sandbox: bool = False,
        most: int | None = None,
        pin: bool = False,
        reference: float | None = None,
    ) -> None:
        self._most = most
        self._times: deque[float] = deque(maxlen=RECENT)
        self._events: queue.SimpleQueue[tuple[object, Future[Any]]] = queue.SimpleQueue()
        self._link = Link(address, lambda about, answer: self._events.put((about, answer)))
        self._fleet = Fleet(self._link, commands, tell, sandbox=sandbox, pin=pin, reference=reference)
        self._waiting: deque[Work] = deque()
        try:
            self._wait_for_workers(tell)
        except BaseException:
            self._link.close([])
            raise
        self._fleet.begun = True
        tell(f"{address}: {self._fleet.told()}")

    @property
    def width(self) -> int:
        """How many blocks the workers of now play at a time."""
        threads = sum(worker.threads for worker in self._fleet.used)
        return threads if self._most is None else min(threads, self._most)

    def run(self, tasks: Iterable[Any], on_game: Callable[[], None], on_lost: OnLost | None = None) -> Iterator[Done]:
        unplayed = iter(tasks)
        losses = Losses(on_lost)
        while True:
            self._fleet.ask()
            room = self._room()
            self._waiting.extend(available(unplayed, max(len(room) - len(self._waiting), 0)))
            for worker in room[: len(self._waiting)]:
                self._begin(self._waiting.popleft(), worker)
            if room and not self._waiting and not self._help_out() and not self._jobs():
                return
            about, answer = self._next()
            if not isinstance(about, Job):
                for job in self._heard(about, answer):
                    self._blame(job, "it was lost", losses)
            elif about in about.worker.jobs:  # else it was called off meanwhile
                about.worker.jobs.remove(about)
                error = answer.exception()
                if error is None:
                    about.worker.failures = 0
                    self._times.append(time.monotonic() - about.begun)
                    self._settle(about.task)
                    losses.played(about.task)
                    result = answer.result()
                    for _ in result.games:
                        on_game()
                    yield about.task, result
                elif isinstance(error, BlockError):
                    self._fleet.failed(about.worker, str(error))
                    self._blame(about, str(error), losses)
                else:
                    self._rejected(about, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for job in self._jobs():
            job.call_off()
        self._link.close([worker.address for worker in self._fleet.workers.values() if not worker.refused])

    def _wait_for_workers(self, tell: Tell) -> None:
        begun = time.monotonic()
        told = False
        while not self._fleet.used or (self._fleet.unknown and time.monotonic() < begun + LOOKING):
            self._fleet.ask()
            if self._fleet.hopeless:
                raise RunError(f"{self._link.address}: none of its workers can be used")
            waited = time.monotonic() - begun
            if waited > (BUSY if self._fleet.workers else FIRST):
                what = "a worker that answers" if self._fleet.workers else "a worker"
                raise RunError(
                    f"{self._link.address}: the scheduler is there, but without {what}: see docs/guides/cluster.md"
                )
            if self._fleet.workers and waited > LOOKING and not told:
                tell(f"{self._link.address}: its workers are busy; waiting for one to answer")
                told = True
            self._heard(*self._next())

    # --- what is going on ---

    def _next(self) -> tuple[object, Future[Any]]:
        """What ended next, and what for; nothing, as if it were called off, where that takes long."""
        try:
            return self._events.get(timeout=TICK)
        except queue.Empty:
            return None, Future()

    def _heard(self, about: object, answer: Future[Any]) -> list[Job]:
        """Takes note of who is there and what each has. Returns the jobs that may have cost a worker which is gone."""
        blamed = []
        if isinstance(about, Worker):
            self._fleet.looked_at(about, answer)
        elif about is self._fleet:
            for worker in self._fleet.hear(answer):
                jobs, worker.jobs = worker.jobs, []
                for job in jobs:
                    job.call_off()
                # It plays the oldest ones first, of the others it had begun none.
                blamed += jobs[: worker.threads]
                for job in jobs[worker.threads :]:
                    self._again(job.task)
        return blamed

    def _jobs(self) -> list[Job]:
        return [job for worker in self._fleet.workers.values() for job in worker.jobs]

    def _room(self) -> list[Worker]:
        """Who can be sent a block, as often as it can, the least busy first."""
        depth = 2 if self._times and median(self._times) < QUICK else 1
        places = [
            (place // worker.threads, place, worker)
            for worker in self._fleet.used
            for place in range(len(worker.jobs), depth * worker.threads)
        ]
        room = [worker for *_, worker in sorted(places, key=lambda place: place[:2])]
        return room if self._most is None else room[: max(self._most - len(self._jobs()), 0)]

    # --- what becomes of tasks ---

    def _begin(self, task: Work, worker: Worker) -> None:
        job = Job(task, worker, time.monotonic())
        worker.jobs.append(job)
        job.call_off = self._link.play(job, worker.address, task, pin=worker.pinned, scale=worker.scale)

    def _help_out(self) -> bool:
        """Gives the block that a worker has had for too long to another one; whoever ends it first counts. False where
        there is none."""
        slow = max(SLOW * median(self._times), LEAST_SLOW) if self._times else UNKNOWN_SLOW
        jobs = sorted(self._jobs(), key=lambda job: job.begun)
        late = time.monotonic() - slow
        for job in jobs:
            if job.begun > late:
                return False
            sharing = [other for other in jobs if other.task == job.task]
            if len(sharing) == MOST_COPIES or any(other.begun > late for other in sharing):
                continue
            for worker in self._room():
                if len(worker.jobs) < worker.threads and worker not in [other.worker for other in sharing]:
                    self._begin(job.task, worker)
                    return True
        return False

    def _settle(self, task: Work) -> None:
        """A task is played: nobody else needs to. Who was slower may be stuck: it is asked before it gets another."""
        for job in self._jobs():
            if job.task == task:
                job.call_off()
                job.worker.jobs.remove(job)
                self._fleet.look(job.worker)

    def _again(self, task: Work) -> None:
        """A task is to be played again, unless another worker plays it anyway."""
        if all(job.task != task for job in self._jobs()):
            self._waiting.appendleft(task)

    def _blame(self, job: Job, why: str, losses: Losses) -> None:
        """A job has cost a worker. Where others play the same block it is theirs to say what becomes of it."""
        alone = all(other.task != job.task for other in self._jobs())
        if alone and losses.again(job.task, f"{MAX_LOSSES} workers failed to play it, the last: {why}"):
            self._waiting.appendleft(job.task)

    def _rejected(self, job: Job, error: BaseException) -> None:
        """A job came back, and not by its own doing: the worker has gone or began anew, or cannot read it."""
        if not isinstance(error, StrangerError):
            self._fleet.failed(job.worker, str(error) or type(error).__name__)
        if not job.worker.refused:
            self._fleet.look(job.worker)
        self._again(job.task)
