"""What runs on a Dask worker: it hands each block to a process of its own, and sees to it that none is left.

A worker of Dask plays in a thread, beside those that talk to the scheduler: bots that compute there would hold those
up, and they would take time from players on the clock. So there is a process for each block that is played at a time,
kept for the blocks to come. It ends when it has had nothing to do for ``IDLE`` seconds, when its client has gone, and
with the worker, however that ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from caboose.arena.blocks.cpu_pinning import share_cores
from caboose.arena.execution.dask.compatibility import Command, Facts, gather_facts
from caboose.arena.execution.worker import STOP_SECONDS, Message, Outcome, kill_session
from caboose.protocol.process.affinity import Core, allowed_cores
from caboose.protocol.process.threads import limited_environment

IDLE: Final = 10.0  # seconds that a process is kept without a block
LOOK: Final = 0.2  # seconds between two looks at whether the block is still wanted


class BlockError(Exception):
    """The process that played a block died, or could not play it. The text says why."""


class StrangerError(Exception):
    """This worker was not looked at for the run that sends it a block: it has started anew."""


class UnwantedError(Exception):
    """Nobody wants the block any more."""


class _Player:
    """A process that plays blocks, bound to ``cores`` if there are any."""

    def __init__(self, cores: Sequence[Core]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        life, self._life = os.pipe()  # its other end closes with us
        words = [sys.executable, "-P", "-m", "caboose.arena.execution.worker", str(theirs.fileno()), str(life)]
        words += [",".join(map(str, core)) for core in cores]
        self.cores = cores
        # Ctrl-C in the worker's terminal is the worker's business: they are born with it blocked.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno(), life], env=limited_environment()
            )
        except BaseException:
            os.close(self._life)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
            os.close(life)
        self.since = time.monotonic()

    def stop(self) -> None:
        """Ends it and its engines."""
        os.close(self._life)
        self.pipe.close()
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            kill_session(self._process.pid)
            self._process.wait()


class _Farm:
    """The processes of this worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[str, _Player]] = []
        self._busy: dict[_Player, str] = {}
        self._closed: set[str] = set()
        self._sweeping = False

    def play(self, run: str, task: bytes, pin: bool) -> Outcome:
        player = self._take(run, pin)
        try:
            result = self._result(run, player, task)
        except BaseException:
            player.stop()
            with self._lock:
                del self._busy[player]
            raise
        with self._lock:
            del self._busy[player]
            player.since = time.monotonic()
            self._idle.append((run, player))
        return result

    def close(self, run: str) -> None:
        """Ends all processes of a run, and waits for that."""
        with self._lock:
            self._closed.add(run)
            mine = [player for of, player in self._idle if of == run]
            self._idle = [(of, player) for of, player in self._idle if of != run]
        for player in mine:
            player.stop()
        limit = time.monotonic() + STOP_SECONDS
        while run in self._busy.values() and time.monotonic() < limit:
            time.sleep(LOOK / 4)

    def _take(self, run: str, pin: bool) -> _Player:
        with self._lock:
            if not self._sweeping:
                self._sweeping = True
                threading.Thread(target=self._sweep, daemon=True).start()
            player = next((player for _, player in self._idle if bool(player.cores) == pin), None)
            if player is None:
                player = _Player(self._free_cores() if pin else ())
            else:
                self._idle = [pair for pair in self._idle if pair[1] is not player]
            self._busy[player] = run
            return player

    def _free_cores(self) -> Sequence[Core]:
        """The cores of a place that no process has, of as many as this worker has threads."""
        from distributed import get_worker

        places = [pinning.cores for pinning in share_cores(allowed_cores(), get_worker().state.nthreads)]
        taken = [player.cores for player in (*self._busy, *(player for _, player in self._idle))]
        return min(places, key=taken.count)

    def _result(self, run: str, player: _Player, task: bytes) -> Outcome:
        from distributed import get_worker

        worker = get_worker()
        key = worker.get_current_task()
        try:
            player.pipe.send_bytes(task)
            while True:
                while not player.pipe.poll(LOOK):
                    if run in self._closed or not _wanted(worker, key):
                        raise UnwantedError
                message: Message = player.pipe.recv()
                if isinstance(message, str):
                    raise BlockError(message)
                if message is not None:
                    return message
        except (EOFError, OSError):
            raise BlockError("the process that played it died") from None

    def _sweep(self) -> None:
        while True:
            time.sleep(1.0)
            with self._lock:
                late = time.monotonic() - IDLE
                old = [(run, player) for run, player in self._idle if player.since < late or not _known(run)]
                self._idle = [pair for pair in self._idle if pair not in old]
                done = not self._idle and not self._busy
                self._sweeping = not done
            for _, player in old:
                player.stop()
            if done:
                return


_FARM: Final = _Farm()
_LOOKS: Final[dict[str, tuple[Any, str]]] = {}  # the runs for which this worker was looked at: it, and that task


def look(run: str, commands: Sequence[Command], sandbox: bool, speed: bool) -> Facts:
    """Called on a worker before it plays for ``run``: what it has. The client keeps hold of the result as long as it is
    there, by which the worker sees that it is."""
    from distributed import get_worker

    worker = get_worker()
    _LOOKS[run] = worker, worker.get_current_task()
    return gather_facts(commands, sandbox=sandbox, speed=speed)


def play(run: str, task: bytes, pin: bool) -> bytes:
    """Called on a worker: plays a pickled task, with ``pin`` on cores of its own; its result, packed. Raises
    ``BlockError``, ``StrangerError``, ``UnwantedError``."""
    if run not in _LOOKS:
        raise StrangerError
    return pack(_FARM.play(run, task, pin))


def pack(result: Outcome) -> bytes:
    """A result as it is sent."""
    return zlib.compress(pickle.dumps(result), 1)


def unpack(data: bytes) -> Outcome:
    """The result that was packed."""
    result: Outcome = pickle.loads(zlib.decompress(data))
    return result


async def close(run: str) -> None:
    """Called on a worker: ends all that plays for ``run``."""
    with suppress(OSError):
        await asyncio.to_thread(_FARM.close, run)


def _known(run: str) -> bool:
    """Whether the client of a run is there."""
    return run in _LOOKS and _wanted(*_LOOKS[run])


def _wanted(worker: Any, key: str) -> bool:
    """Whether somebody wants the task of that key: not when its client has gone or released it, or the worker is
    closing."""
    from distributed.core import Status

    if worker.status not in (Status.running, Status.paused):
        return False
    task = worker.state.tasks.get(key)
    return task is not None and task.state not in ("cancelled", "resumed")
