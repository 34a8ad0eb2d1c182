"""A worker: a process that does what it is sent: it plays blocks, with players of its own, or takes samples.

It is a child of a pool (``executors``), or ``python -m caboose.arena.execution.worker`` under another program
(``cluster``). Whatever becomes of its owner, it closes its engines and ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Final, Protocol

from caboose.arena.blocks.block import Players
from caboose.arena.blocks.cpu_pinning import Pinning
from caboose.arena.blocks.results import GameInBlock
from caboose.arena.errors import Stopped, reason
from caboose.protocol.process.affinity import CAN_BIND
from caboose.protocol.process.hide import hide

STOP_SECONDS: Final = 5.0  # what a worker may take to close its engines before it is killed
SAFE_PATH: Final = "PYTHONSAFEPATH"


class Outcome(Protocol):
    """What came of some work, with the games that were played for it, if any."""

    @property
    def games(self) -> Sequence[GameInBlock]: ...


class Work(Protocol):
    """Something to be done, such as a block to be played. It can be pickled, and follows from nothing but itself: so it
    can be done anywhere, and again."""

    @property
    def label(self) -> str:
        """What it is called: ``block 3``."""

    def play(self, players: Players, on_game: Callable[[], None], scale: float) -> Outcome:
        """Does it, with ``players``, of which it may use some; ``on_game`` is called after each game. Limits of time
        are ``scale`` times as long as it has them."""


Message = Outcome | str | None
"""What a worker sends: what came of its work, the trace of a failure, or None for each game."""


def work_for_parent(pipe: Connection, safe_path: str | None, pinning: Pinning | None) -> None:
    """The life of a worker that ``multiprocessing`` started. ``safe_path`` is what the environment of its parent says
    of ``PYTHONSAFEPATH``, and of its engines shall. It is bound to the cores of ``pinning``, if any."""
    if safe_path is None:
        os.environ.pop(SAFE_PATH, None)
    parent = multiprocessing.parent_process()
    assert parent is not None
    _work(pipe, parent.join, pinning)


def kill_session(worker: int) -> None:
    """Kills a worker, which was not reaped yet, with the programs that its work has started."""
    with suppress(ProcessLookupError):
        os.killpg(worker, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)  # where it was too young to have a session


def main() -> None:
    """The life of a worker that was given two descriptors: its end of a connection, and a pipe that ends with its
    owner; and the cores that it is bound to, each its processors with commas."""
    pipe, life = map(int, sys.argv[1:3])
    cores = tuple([tuple(map(int, core.split(","))) for core in sys.argv[3:]])
    os.set_inheritable(pipe, False)
    os.set_inheritable(life, False)
    _work(Connection(pipe), lambda: os.read(life, 1), Pinning(cores) if cores else None)


def _work(pipe: Connection, wait_for_owner: Callable[[], object], pinning: Pinning | None) -> None:
    """Does what comes through ``pipe`` until it is closed, or the owner is no more."""
    hide()  # before it learns what foreign engines must not know: some may run already
    # Linux divides the processors among sessions first: a referee of a session of its own gets its turn when it has an
    # answer to look at, however many there are. The terminal sends nothing to it any more.
    os.setsid()
    with suppress(OSError):
        os.dup2(2, 1)  # what is printed here must not get among what the owner prints
    if pinning is not None and CAN_BIND:
        os.sched_setaffinity(0, pinning.all)
    signal.signal(signal.SIGINT, _ignore)  # not SIG_IGN, which engines would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        signal.signal(signal.SIGTERM, _raise_stop)
        threading.Thread(target=_watch_owner, args=(wait_for_owner,), daemon=True).start()
        with Players(pinning) as players:
            try:
                _do_all(players, pipe)
            finally:
                signal.signal(signal.SIGTERM, _ignore)  # nothing must interrupt the closing of engines
    except Stopped:
        pass
    # What some work has started and left goes too, as with Ctrl-C in a terminal. (Engines have sessions of their own.)
    signal.signal(signal.SIGTERM, _ignore)
    os.killpg(0, signal.SIGTERM)


def _do_all(players: Players, pipe: Connection) -> None:
    while True:
        try:
            given: tuple[Work, float] = pipe.recv()
        except (EOFError, ConnectionError):
            return
        work, scale = given
        try:
            message: Message = work.play(players, lambda: pipe.send(None), scale)
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
    os.killpg(0, signal.SIGKILL)


def _raise_stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, _ignore)
    raise Stopped


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


if __name__ == "__main__":
    main()
