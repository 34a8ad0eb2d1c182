"""The workers of a cluster: who is there, who may play, and what each has to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from caboose.arena.blocks.time_scaling import scale_factor
from caboose.arena.errors import PlayError
from caboose.arena.execution.dask.compatibility import Command, Facts, differences, gather_facts
from caboose.arena.execution.dask.connection import Link
from caboose.arena.execution.worker import Work

LOOK: Final = 1.0  # seconds between two questions to the scheduler who is there
SILENCE: Final = 15.0  # seconds without an answer after which the scheduler is taken for gone
AGAIN: Final = 60.0  # seconds that a run waits for another worker when it has lost all
MOST_FAILURES: Final = 5  # of a worker, one after another; then it is not used any more

Tell = Callable[[str], None]
"""Told what people should know, a line at a time."""


@dataclass(slots=True, eq=False)
class Worker:
    """A worker of the cluster. It is ``used`` when it was looked at and has what we have, and ``refused`` when it has
    not; ``pinned`` when its engines are bound to cores. Limits of time are ``scale`` times as
    long there."""

    address: str
    threads: int
    facts: Facts | None = None
    pinned: bool = False
    scale: float = 1.0
    used: bool = False
    refused: bool = False
    failures: int = 0
    jobs: list[Job] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Job:
    """A task that a worker plays since ``begun``, a time of ``time.monotonic``."""

    task: Work
    worker: Worker
    begun: float
    call_off: Callable[[], None] = lambda: None


class Fleet:
    """The workers behind ``link`` by their addresses. Only those are used that have what this machine has, with the
    files of ``commands`` and, if wanted, a sandbox. With ``pin`` engines are bound to cores, with ``reference`` (nodes
    a second) limits of time are scaled."""

    def __init__(
        self, link: Link, commands: Sequence[Command], tell: Tell, *, sandbox: bool, pin: bool, reference: float | None
    ) -> None:
        self._reference = reference
        self.workers: dict[str, Worker] = {}
        self._link = link
        self._commands = tuple(dict.fromkeys(commands))
        self._sandbox = sandbox
        self._pin = pin
        self._tell = tell
        self._here = gather_facts(self._commands)
        self._heard = time.monotonic()
        self._asked = self._heard - LOOK
        self._asking = False
        self._lonely: float | None = None  # since when there has been no worker to use
        self.begun = False
        """Whether blocks are played; before that nobody is told of each worker that comes."""

    @property
    def used(self) -> list[Worker]:
        """Those that may play."""
        return [worker for worker in self.workers.values() if worker.used]

    @property
    def unknown(self) -> bool:
        """Whether a worker has not told yet what it has."""
        return any(not worker.used and not worker.refused for worker in self.workers.values())

    @property
    def hopeless(self) -> bool:
        """Whether there are workers, and none of them can be used."""
        return bool(self.workers) and all(worker.refused for worker in self.workers.values())

    def ask(self) -> None:
        """Asks the scheduler who is there, now and then. Raises ``PlayError`` where it does not answer, and where there
        has long been no worker."""
        now = time.monotonic()
        if not self._link.up or now - self._heard > SILENCE:
            raise PlayError(f"the scheduler at {self._link.address} does not answer any more")
        if not self._asking and now - self._asked >= LOOK:
            self._asked, self._asking = now, True
            self._link.ask_workers(self)
        if self.workers and not self.hopeless:
            self._lonely = None
        elif self._lonely is None:
            self._lonely = now
        elif now - self._lonely > AGAIN:
            raise PlayError(f"{self._link.address} has had no worker to use for {AGAIN:.0f} seconds")

    def hear(self, answer: Future[dict[str, int]]) -> list[Worker]:
        """Takes note of what the scheduler said. Returns the workers that are there no more."""
        self._asking = False
        if answer.exception() is not None:
            return []  # `ask` counts the seconds
        self._heard = time.monotonic()
        threads = answer.result()
        gone = [worker for worker in self.workers.values() if worker.address not in threads]
        for worker in gone:
            del self.workers[worker.address]
            worker.used = False
            if worker.jobs:
                self._tell(f"worker {worker.address} is gone; what it played is played again: {_blocks(worker.jobs)}")
            elif not worker.refused:
                self._tell(f"worker {worker.address} is gone")
        for address, count in threads.items():
            if address not in self.workers:
                self.workers[address] = Worker(address, count)
                self.look(self.workers[address])
        return gone

    def look(self, worker: Worker) -> None:
        """Asks a worker what it has; until it has answered it is not used."""
        worker.used = False
        if worker.address in self.workers:
            speed = self._reference is not None
            self._link.look(worker, worker.address, self._commands, sandbox=self._sandbox, speed=speed)

    def looked_at(self, worker: Worker, answer: Future[Facts]) -> None:
        """Takes note of what a worker said."""
        if worker.address not in self.workers or not self._link.up:
            return
        error = answer.exception()
        wrong = [str(error) or type(error).__name__] if error else [*differences(answer.result(), self._here)]
        if not wrong and self._reference is not None:
            try:
                worker.scale = scale_factor(self._reference, answer.result().speed)
            except ValueError as refused:
                wrong = [str(refused)]
        worker.used, known = not wrong, worker.refused or worker.failures
        if wrong:
            worker.refused = True
            self._tell(f"worker {worker.address} is not used: {'; '.join(wrong)}")
            return
        worker.facts = answer.result()
        if self._pin:
            self._pin_engines(worker, worker.facts)
        if self.begun and not known:
            scale = f", limits of time {worker.scale:g} times as long" if worker.scale != 1 else ""
            self._tell(f"worker {worker.address} takes part, {_counted(worker.threads, 'block')} at a time{scale}")

    def _pin_engines(self, worker: Worker, facts: Facts) -> None:
        """Engines of two workers must not be bound to the same cores: none at all is better."""
        worker.pinned = bool(facts.cpus)
        for other in self.workers.values():
            theirs = other.facts
            if other is worker or theirs is None or theirs.host != facts.host or not set(theirs.cpus) & set(facts.cpus):
                continue
            if worker.pinned or other.pinned:
                self._tell(
                    f"workers {other.address} and {worker.address} run on the same cores of {facts.host}: their "
                    "engines are not bound to cores; expected a taskset of its own for each"
                )
            worker.pinned = other.pinned = False

    def failed(self, worker: Worker, why: str) -> None:
        """A worker could not play a block; after some it is not used any more."""
        worker.failures += 1
        if worker.failures == MOST_FAILURES:
            worker.used, worker.refused = False, True
            self._tell(f"worker {worker.address} is not used any more: it failed {MOST_FAILURES} times, last: {why}")

    def told(self) -> str:
        """How many there are, for people."""
        threads = sum(worker.threads for worker in self.used)
        scales = sorted({worker.scale for worker in self.used})
        factors = f"{scales[0]:g} to {scales[-1]:g}" if len(scales) > 1 else f"{scales[0]:g}"
        scaled = f", limits of time {factors} times as long" if self._reference is not None else ""
        return f"{_counted(len(self.used), 'worker')}, {_counted(threads, 'block')} at a time{scaled}"


def _blocks(jobs: Sequence[Job]) -> str:
    return _counted(len(jobs), "block")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
