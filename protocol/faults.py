"""How an engine process can fail."""

from __future__ import annotations

from typing import Final

FAULT_KINDS: Final = ("start", "dead", "late", "illegal", "garbled", "refused")


class EngineFault(Exception):
    """An engine process broke the protocol.

    ``kind`` is one of ``FAULT_KINDS``:

    - ``start``: it cannot be started, or the handshake went wrong or took too long;
    - ``dead``: it exited or closed its output; ``detail`` has the exit code or the signal;
    - ``late``: no answer within the limit and the margin, or within the guard where nothing limits the time;
    - ``illegal``: its move is well written but not among the legal ones;
    - ``garbled``: a ``bestmove`` that cannot be read, a line that is too long or binary, output without end;
    - ``refused``: it answered ``go`` with an ``error`` line.

    ``detail`` is one line for people. Only after ``late``, ``illegal``, ``garbled`` and ``refused`` does the
    process still run; it can be asked again, or closed and started anew, as observations are complete.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class ShortageError(RuntimeError):
    """This process has not what it takes to start an engine: descriptors, processes or memory. No engine's fault."""
