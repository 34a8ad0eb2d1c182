"""Ctrl-C while a program still loads: one line instead of a traceback from the middle of some library."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ending_on_interrupt(code: int = 1) -> Iterator[None]:
    """Within the block Ctrl-C ends the program at once with this exit code. A SIGINT that is ignored, as behind nohup,
    stays so."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        os.write(2, b"caboose: interrupted\n")
        os._exit(code)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
