"""A worker: a process that plays the blocks which it is sent, with players of its own.

It is a child of a pool (``executors``), or ``python -m caboose.arena.working`` under another program (``cluster``).
Whatever becomes of its owner, it closes its engines and ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Final

from caboose.arena.blocks import Players, play_scaled
from caboose.arena.errors import reason
from caboose.arena.pinning import Pinning
from caboose.arena.results import BlockResult
from caboose.protocol.affinity import CAN_BIND
from caboose.protocol.child import hide

STOP_SECONDS: Final = 5.0  # what a worker may take to close its engines before it is killed
SAFE_PATH: Final = "PYTHONSAFEPATH"

Message = BlockResult | str | None
"""What a worker sends: a block, the trace of a failure, or None for each game."""


class _Stop(BaseException):
    """The worker was told to end."""


def work_for_parent(pipe: Connection, safe_path: str | None, pinning: Pinning | None) -> None:
    """The life of a worker that ``multiprocessing`` started. ``safe_path`` is what the environment of its parent says
    of ``PYTHONSAFEPATH``, and of its engines shall. It is bound to the cores of ``pinning``, if any."""
    if safe_path is None:
        os.environ.pop(SAFE_PATH, None)
    parent = multiprocessing.parent_process()
    assert parent is not None
    _work(pipe, parent.join, pinning)


def main() -> None:
    """The life of a worker that was given two descriptors: its end of a connection, and a pipe that ends with its
    owner; and the cores that it is bound to, each its processors with commas."""
    pipe, life = map(int, sys.argv[1:3])
    cores = tuple([tuple(map(int, core.split(","))) for core in sys.argv[3:]])
    os.set_inheritable(pipe, False)
    os.set_inheritable(life, False)
    _work(Connection(pipe), lambda: os.read(life, 1), Pinning(cores) if cores else None)


def _work(pipe: Connection, wait_for_owner: Callable[[], object], pinning: Pinning | None) -> None:
    """Plays the tasks that come through ``pipe`` until it is closed, or the owner is no more."""
    # Linux divides the processors among sessions first: a referee of a session of its own gets its turn when it has an
    # answer to look at, however many there are. The terminal sends nothing to it any more.
    os.setsid()
    if pinning is not None and CAN_BIND:
        os.sched_setaffinity(0, pinning.all)
    signal.signal(signal.SIGINT, _ignore)  # not SIG_IGN, which engines would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        signal.signal(signal.SIGTERM, _raise_stop)
        threading.Thread(target=_watch_owner, args=(wait_for_owner,), daemon=True).start()
        with Players(pinning) as players:
            try:
                _play_tasks(players, pipe)
            finally:
                signal.signal(signal.SIGTERM, _ignore)  # nothing must interrupt the closing of engines
    except _Stop:
        pass


def _play_tasks(players: Players, pipe: Connection) -> None:
    while True:
        try:
            plan, block, scale = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            if any(not contestant.builtin for contestant in plan.lineup.contestants):
                hide()
            message: Message = play_scaled(plan, players, block, lambda: pipe.send(None), scale)
        except OSError as error:  # what this machine lacks, or a log that cannot be written
            message = reason(error)
        except Exception:
            message = traceback.format_exc()
        with suppress(ConnectionError):  # the pool is gone: the next read sees it too
            pipe.send(message)


def _watch_owner(wait_for_owner: Callable[[], object]) -> None:
    """Ends this worker when its owner is no more, however that ended."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    wait_for_owner()
    player = threading.main_thread().ident
    assert player is not None
    signal.pthread_kill(player, signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    os._exit(1)


def _raise_stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, _ignore)
    raise _Stop


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


if __name__ == "__main__":
    main()
