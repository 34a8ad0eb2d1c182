"""A Dask cluster for the tests: a scheduler and workers, each a process as people start it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

from players import wait_until

PLAYER: Final = b"caboose.arena.execution.worker"  # what the processes that play have in their command line
_PYTHON: Final = [sys.executable, "-P", "-m"]


class Cluster:
    """A scheduler at ``address``, without workers as yet; ``folder`` is for what they write. A context manager that
    ends them all."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self._folder = folder
        self._workers: list[subprocess.Popen[bytes]] = []
        told = folder / "scheduler.json"
        words = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._start([*words, "--scheduler-file", str(told)])
        assert wait_until(lambda: told.exists() and told.read_text().strip().endswith("}")), self.log.read_text()
        self.address = str(json.loads(told.read_text())["address"])

    def start(self, *options: str) -> int:
        """Starts a worker, without waiting until it is there; its number."""
        words = [
            "distributed.cli.dask_worker",
            self.address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--death-timeout",
            "60",
        ]
        process = self._start([*words, "--local-directory", str(self._folder), *options])
        self._workers.append(process)
        return len(self._workers) - 1

    def send(self, worker: int, number: int = signal.SIGKILL) -> None:
        """Sends a worker a signal."""
        self._workers[worker].send_signal(number)

    def players(self) -> dict[int, int]:
        """The processes that play, and of which worker each is."""
        workers = {process.pid: number for number, process in enumerate(self._workers)}
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and PLAYER in (entry / "cmdline").read_bytes():
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    if parent in workers:
                        found[int(entry.name)] = workers[parent]
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def processes(self) -> list[psutil.Process]:
        """The scheduler and the workers that run."""
        everybody = (self.scheduler, *self._workers)
        return [psutil.Process(process.pid) for process in everybody if process.poll() is None]

    def close(self) -> None:
        """Ends all of it."""
        everybody = [process for process in (*self._workers, self.scheduler) if process.poll() is None]
        for process in everybody:
            process.kill()
        for process in everybody:
            process.wait()

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen([*_PYTHON, *words], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


@contextmanager
def running_cluster(workers: int) -> Iterator[Cluster]:
    """A cluster with so many workers, which may still be on their way."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            for _ in range(workers):
                cluster.start()
            yield cluster
        finally:
            cluster.close()
