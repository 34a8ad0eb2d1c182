"""Ends engines whose referee is gone, also when it was killed by SIGKILL and could do nothing itself.

A shell waits at the far end of a pipe that only this process holds. It is told each process group that starts and ends.
When this process dies, in whatever way, the pipe closes, and the shell kills the groups that are left. (A parent-death
signal would do the same on Linux alone, and would fire when the thread ends that started the engine.)
"""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import suppress
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
        self._shell: subprocess.Popen[bytes] | None = None
        os.register_at_fork(after_in_child=self._forget)

    def watch(self, group: int) -> None:
        """From now on ``group`` is killed when this process dies."""
        with self._lock:
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
            self._groups.add(group)
            self._tell(f"+ {group}\n")

    def release(self, group: int) -> None:
        """``group`` is gone, or is about to be reaped. With the last one the watchdog itself ends."""
        with self._lock:
            if group not in self._groups:
                return
            self._groups.remove(group)
            self._tell(f"- {group}\n")
            if not self._groups and self._shell is not None:
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
        if self._shell is not None and self._shell.stdin is not None:
            self._shell.stdin.close()
            self._shell.returncode = 0  # not ours to wait for
        self._shell = None


WATCHDOG: Final = Watchdog()
