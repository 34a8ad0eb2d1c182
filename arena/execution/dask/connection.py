"""The connection to a Dask scheduler: what is asked of it, and that its silence is noticed."""

from __future__ import annotations

import asyncio
import logging
import pickle
import re
import warnings
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from caboose.arena.errors import CallError, PlayError, RunError, cause
from caboose.arena.execution.dask.compatibility import Command, Facts
from caboose.arena.execution.dask.worker_plugin import close, look, play, unpack
from caboose.arena.execution.worker import Outcome, Work

CONNECT: Final = 8.0  # seconds that a scheduler may take to answer at first
ANSWER: Final = 5.0  # and later
LEAVE: Final = 8.0  # what workers may take to end what they play for us
_NOISY: Final = ("distributed", "tornado", "asyncio", "bokeh")  # who would write to the user's terminal


class Link:
    """A client of the scheduler at ``address``; raises ``CallError`` and ``RunError`` where there is none.

    What takes its time is begun here, and told to ``on_end`` with what it was begun for, in another thread.
    """

    def __init__(self, address: str, on_end: Callable[[Any, Future[Any]], None]) -> None:
        self.address = address
        self.run = uuid4().hex
        """What marks the blocks of this client on the workers."""
        self._on_end = on_end
        self._client = _connect(address)
        self._count = 0
        self._looks: dict[str, Any] = {}  # of each worker, by which it sees that we are there

    @property
    def up(self) -> bool:
        """Whether the scheduler is connected."""
        return bool(self._client.status == "running")

    def ask_workers(self, about: Any) -> None:
        """How many threads each worker has, by its address."""
        self._begin(about, asyncio.wait_for(self._client.nthreads(asynchronous=True), ANSWER))

    def look(self, about: Any, worker: str, commands: Sequence[Command], *, sandbox: bool, speed: bool) -> None:
        """What a worker has: ``Facts``."""
        future = self._looks[worker] = self._submit(worker, look, self.run, tuple(commands), sandbox, speed)

        async def looked() -> Facts:
            (found,) = await self._client.gather([future], asynchronous=True)
            assert isinstance(found, Facts)
            return found

        self._begin(about, looked())

    def play(self, about: Any, worker: str, task: Work, *, pin: bool, scale: float) -> Callable[[], None]:
        """Has a worker play a task: what came of it. What is returned calls it off, and nothing is told then."""
        future = self._submit(worker, play, self.run, pickle.dumps((task, scale)), pin)

        async def played() -> Outcome:
            (data,) = await self._client.gather([future], asynchronous=True)
            return unpack(data)

        begun = self._begin(about, played())

        def call_off() -> None:
            begun.cancel()
            future.release()

        return call_off

    def close(self, workers: Sequence[str]) -> None:
        """Leaves: what ``workers`` still play for us is ended there."""
        with suppress(Exception):  # who does not hear it sees that we have gone
            if self.up and workers:
                self._client.run(close, self.run, workers=list(workers), on_error="ignore", callback_timeout=LEAVE)
        with suppress(Exception):
            self._client.close(timeout=ANSWER)

    def _submit(self, worker: str, function: Callable[..., object], *given: object) -> Any:
        self._count += 1
        # To that one and no other: who plays what is ours to decide, as it is ours to know what a lost worker had.
        key = f"caboose-{function.__name__}-{self.run}-{self._count}"
        try:
            return self._client.submit(
                function, *given, key=key, workers=[worker], allow_other_workers=False, pure=False
            )
        except Exception as error:
            raise PlayError(f"the scheduler at {self.address} is gone ({_reason(error)})") from None

    def _begin(self, about: Any, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        begun = asyncio.run_coroutine_threadsafe(work, self._client.loop.asyncio_loop)
        begun.add_done_callback(lambda ended: None if ended.cancelled() else self._on_end(about, ended))
        return begun


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise CallError("--dask needs the package distributed: pip install 'caboose[dask]'") from None
    _silence()
    if not address.strip() or any(c.isspace() for c in address):
        raise CallError(f"--dask {address!r}: expected the address of a scheduler, such as tcp://10.0.0.1:8786")
    try:
        # A client that finds nobody takes long to give up: so somebody else looks first.
        kind = asyncio.run(asyncio.wait_for(_kind(address), CONNECT))
        if kind != "Scheduler":
            raise ValueError(f"what answers there is a {kind.lower()}")
        client = Client(address, timeout=CONNECT, set_as_default=False, name="caboose", direct_to_workers=False)
    except Exception as error:  # of many kinds, by what is wrong
        raise RunError(
            f"--dask {address}: no scheduler answers there ({_reason(error)}): expected one of Dask, "
            "such as tcp://10.0.0.1:8786"
        ) from None
    try:
        there = client.run_on_scheduler(_version, callback_timeout=ANSWER)
    except Exception as error:
        with suppress(Exception):
            client.close(timeout=1)
        raise RunError(
            f"--dask {address}: the scheduler cannot read what is sent to it ({_reason(error)}): expected the same "
            "versions of Python, caboose and distributed there"
        ) from None
    here = _version()
    if there != here:
        with suppress(Exception):
            client.close(timeout=1)
        raise RunError(f"--dask {address}: the scheduler has {there}, here is {here}: expected the same")
    return client


async def _kind(address: str) -> str:
    """What answers at an address, in Dask's words."""
    from distributed.core import rpc
    from distributed.security import Security

    async with rpc(address, connection_args=Security().get_connection_args("client")) as remote:
        return str((await remote.identity())["type"])


def _version() -> str:
    import platform

    from distributed import __version__

    from caboose.arena import caboose_version

    python = ".".join(platform.python_version_tuple()[:2])
    return f"caboose {caboose_version()}, distributed {__version__}, Python {python}"


def _silence() -> None:
    """What Dask has to say goes nowhere: what matters is told by us."""
    for name in [*_NOISY, *(name for name in logging.root.manager.loggerDict if name.split(".")[0] in _NOISY)]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")


def _reason(error: BaseException) -> str:
    """An error of a library in one line."""
    if isinstance(error, TimeoutError):
        return "nothing was heard in time"
    text = re.sub(r"\[Errno \d+\] ", "", cause(error))
    return text if len(text) <= 200 else f"{text[:197]}..."
