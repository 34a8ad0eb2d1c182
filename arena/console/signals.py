"""Ctrl-C and its like outside of what guards itself against them: one line, and no traceback from some library.

It loads next to nothing, since Ctrl-C may come as soon as a program begins.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

TYPE_CHECKING = False  # of typing, which takes longer to load than all else here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType
    from typing import Final

ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end programs without a word where nothing is said."""


@contextmanager
def ending_on_interrupt(code: int = 1, *, also: Sequence[signal.Signals] = (), again: str = "") -> Iterator[None]:
    """Within the block, in which a program loads, Ctrl-C and ``also`` other signals end it at once with this exit code,
    and with a line that ends with ``again``. What is ignored, as a SIGINT behind nohup, stays so."""

    def end(number: int, frame: FrameType | None) -> None:
        os.write(2, f"caboose: interrupted{again}\n".encode())
        os._exit(code)

    with _handled((signal.SIGINT, *also), end):
        yield


@contextmanager
def interrupted_by(numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Within the block these signals interrupt like Ctrl-C, where nothing else was said of them."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled(numbers, interrupt):
        yield


@contextmanager
def _handled(numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in numbers}
    usual = {number: old for number, old in before.items() if old in (signal.SIG_DFL, signal.default_int_handler)}
    for number in usual:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in usual.items():
            signal.signal(number, old)


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Makes SIGTERM and SIGHUP interrupt like Ctrl-C, and only the first of all of them.

    Those after it are ignored, so that nothing interrupts the closing of engines and the writing of results, which
    take a few seconds at most. The function that it gives does the same before any signal came. Only for the main
    thread.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def shield() -> None:
        for number in before:
            signal.signal(number, lambda number, frame: None)

    def interrupt(number: int, frame: FrameType | None) -> None:
        shield()
        raise KeyboardInterrupt

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # under nohup a lost terminal stays ignored
            signal.signal(number, interrupt)
    try:
        yield shield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
