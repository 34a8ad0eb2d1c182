"""Ends engines whose referee is gone, also when it was killed by SIGKILL and could do nothing itself.

A shell waits at the far end of a pipe that only this process holds. It is told each process group that starts and ends.
When this process dies, in whatever way, the pipe closes, and the shell kills the groups that are left. (A parent-death
signal would do the same on Linux alone, and would fire when the thread ends that started the engine.)

A group is told to the shell by the process that is to become the engine, before it does: so there is no moment at which
an engine runs and the shell does not know of it.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_SCRIPT: Final = """
groups=" "
while read -r change group; do
    case $change in
        +) groups="$groups$group " ;;
        -) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"""


class Watchdog:
    """Watches over process groups. One for a whole process; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._starting = 0
        self._shell: subprocess.Popen[bytes] | None = None
        os.register_at_fork(after_in_child=self._forget)

    @contextmanager
    def starting(self) -> Iterator[int]:
        """For as long as a process starts: gives the descriptor that ``announced`` commands must have as their
        standard error."""
        with self._lock:
            self._starting += 1
            if self._shell is None:
                self._shell = subprocess.Popen(
                    ["/bin/sh", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                    bufsize=0,
                )
            assert self._shell.stdin is not None
            descriptor = self._shell.stdin.fileno()
        try:
            yield descriptor
        finally:
            with self._lock:
                self._starting -= 1
                self._end_if_idle()

    def watch(self, group: int) -> None:
        """``group`` has started with an ``announced`` command, and is killed when this process dies."""
        with self._lock:
            self._groups.add(group)

    def release(self, group: int) -> None:
        """``group`` is gone, or is about to be reaped. With the last one the watchdog itself ends."""
        with self._lock:
            if group not in self._groups:
                return
            self._groups.remove(group)
            self._tell(f"- {group}\n")
            self._end_if_idle()

    def _end_if_idle(self) -> None:
        if not self._groups and not self._starting and self._shell is not None:
            self._close(self._shell)
            self._shell = None

    def _tell(self, line: str) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            # Somebody may have killed the shell: what is left then is the end of input, which engines obey.
            with suppress(BrokenPipeError):
                self._shell.stdin.write(line.encode("ascii"))

    @staticmethod
    def _close(shell: subprocess.Popen[bytes]) -> None:
        if shell.stdin is not None:
            shell.stdin.close()
        shell.kill()  # it has nothing to watch; waiting for it to see the end of its input could take long
        shell.wait()

    def _forget(self) -> None:
        """In a forked child: the engines and the shell are the parent's; the child must not keep the pipe open."""
        self._lock = threading.Lock()
        self._groups = set()
        self._starting = 0
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.returncode = 0  # not ours to wait for
        self._shell = None


def announced(command: Sequence[str], stderr: Path | None) -> list[str]:
    """``command`` behind a shell that tells the watchdog its group and then becomes it, its standard error thrown away
    or appended to a file."""
    target = "/dev/null" if stderr is None else str(stderr)
    return ["/bin/sh", "-c", 'echo "+ $$" >&2 && target=$1 && shift && exec "$@" 2>>"$target"', "sh", target, *command]


WATCHDOG: Final = Watchdog()
