"""How engines are started: with which resources, and whether in a sandbox; ``docs/guides/untrusted.md`` tells why."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from caboose.protocol.process.child import FILTER, UNLIMITED, Child, Resources, program
from caboose.protocol.process.faults import TimeNames
from caboose.protocol.process.os_errors import cause
from caboose.protocol.process.threads import users_environment

_BWRAP: Final = "bwrap"
_MACHINES: Final = ("x86_64", "aarch64", "riscv64")  # those of filter.h
_PRLIMIT: Final = "prlimit"
_NEEDED: Final = "--disable-userns"  # an option that bubblewrap has from version 0.8 on
_PATIENCE: Final = 10.0  # seconds that the first sandbox may take
_HOME: Final = "/tmp"  # an engine's own folder: empty, in memory, gone with it
_MIB: Final = 1 << 20
_READ: Final = 65_536  # bytes of what bubblewrap says

# What there is of the system in a sandbox, all of it read-only.
_SYSTEM: Final = ("/usr", "/nix/store", "/gnu/store")
_LINKS: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")  # into /usr, or folders
_COVERED: Final = ("/proc/keys", "/proc/key-users", "/proc/locks")  # what there is of the user's, outside too
_SETTINGS: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# The user's environment may have keys and passwords in it. It is bubblewrap's too: what it runs could read it there.
_ENVIRONMENT: Final = {"PATH": _PATH, "HOME": _HOME, "TMPDIR": _HOME, "LANG": "C.UTF-8"}
_BINARIES: Final = ("bin", "sbin")
_COMMON: Final = ("/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/etc", "/var", "/opt", "/srv", "/mnt")

IN_SANDBOX: Final = (
    "; in the sandbox it has no files but the system's, its own folder's and what --share names"
    " (`caboose check ENGINE --sandbox` shows its standard error)"
)
SANDBOXED: Final = Resources(memory=4096 * _MIB, processes=256, file=256 * _MIB)  # what is not set, in a sandbox


class SandboxError(RuntimeError):
    """There can be no sandbox here. The text says why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How engines are started.

    In a ``sandbox`` an engine has no network, sees no processes but its own, and can read the system's programs, the
    folder of its own one and what is ``shared`` (paths), but for what is ``hidden`` (paths), and write only to a folder
    in memory that is gone with it. It is bound to the processors ``cpus``, if there are any. ``times`` are the names
    by which the words of a fault tell who starts it how to give it more time.
    """

    resources: Resources = UNLIMITED
    sandbox: bool = False
    shared: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    cpus: tuple[int, ...] = ()
    times: TimeNames = TimeNames()  # noqa: RUF009 - it cannot be changed

    def command(self, words: Sequence[str]) -> list[str]:
        """What to run so that ``words`` run. Raises ``SandboxError``, and ``OSError`` and ``ValueError`` for a program
        that cannot be run."""
        path = program(words[0])
        if not self.sandbox:
            return list(words)
        limits = self.limits()
        command = [*_sandbox(), *_system()]
        size = str(limits.file)
        command += ["--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--tmpfs", _HOME]
        seen = [*_folders(path, words[1:]), *(os.path.abspath(share) for share in self.shared)]
        for place in sorted(dict.fromkeys(seen), key=len):  # what lies in another after that one
            command += ["--ro-bind", place, place]
        for place in _inside(self.hidden, seen):
            if os.path.isdir(place):
                command += ["--tmpfs", place, "--remount-ro", place]
            elif os.path.exists(place):
                command += ["--ro-bind", os.devnull, place]
        here = os.getcwd()
        command += ["--dir", here, "--chdir", here, "--remount-ro", "/"]
        # In the sandbox, where the user's other processes do not count.
        command += ["--", _prlimit(), f"--nproc={limits.processes}", "--", os.path.abspath(path), *words[1:]]
        return command

    def limits(self) -> Resources:
        """The resources as the engine has them."""
        if not self.sandbox:
            return self.resources
        given = self.resources
        return replace(
            given,
            memory=given.memory or SANDBOXED.memory,
            processes=given.processes or SANDBOXED.processes,
            file=given.file or SANDBOXED.file,
        )

    def keeper_limits(self) -> Resources:
        """The resources that the keeper sees to: in a sandbox processes are counted inside it."""
        return replace(self.limits(), processes=None) if self.sandbox else self.resources

    def environment(self) -> dict[str, str] | None:
        """The whole environment of the engine; None where it is ours."""
        return dict(_ENVIRONMENT) if self.sandbox else users_environment()


PLAIN: Final = Launch()

_ISOLATED: Final = (
    "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
    "--disable-userns", "--die-with-parent", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000",
    "--hostname", "engine",
)  # fmt: skip


def check_sandbox() -> None:
    """Raises ``SandboxError`` when no sandbox can be made here."""
    command = [*_sandbox(), *_system(), "--", _prlimit(), "--nproc=8", "--", "true"]
    try:
        os.getcwd()
    except OSError:
        raise SandboxError("engines start in the folder of the call, which is not there any more") from None
    said = _try(command)
    if said:
        hint = ""
        if "namespace" in said or "uid map" in said:
            hint = "; user namespaces may be forbidden on this system"
        elif "seccomp" in said.lower():
            hint = "; a sandbox needs a kernel with filters of system calls (seccomp)"
        raise SandboxError(f"bubblewrap is here, but cannot make a sandbox: {said}{hint}")


def _try(command: Sequence[str]) -> str:
    """Runs what does nothing in a sandbox; returns what is wrong."""
    try:
        child = Child(command, piped=True, filtered=True)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            machines = f"{', '.join(_MACHINES[:-1])} and {_MACHINES[-1]}"
            return f"the filter of system calls is written for {machines}, this is {platform.machine()}"
        return cause(error)
    try:
        ended = child.wait(time.monotonic() + _PATIENCE)
        child.reap()
        if not ended:
            return f"it did not end within {_PATIENCE:g} s"
        return _said(child.returncode or 0, os.read(child.errors, _READ))
    finally:
        child.reap()
        child.close_pipes()
        child.close_errors()


def _said(code: int, stderr: bytes) -> str:
    """How a program failed; empty if it did not."""
    if not code:
        return ""
    return " ".join(stderr.decode(errors="replace").split())[:300] or f"exit code {code}"


def _sandbox() -> list[str]:
    """The beginning of a command that makes a sandbox."""
    return [_bubblewrap(), *_ISOLATED, "--seccomp", str(FILTER)]


@cache
def _bubblewrap() -> str:
    path = shutil.which(_BWRAP)
    if path is None:
        raise SandboxError(
            f"a sandbox needs bubblewrap, and there is no program {_BWRAP} here: install it (the package bubblewrap of "
            "Debian, Ubuntu, Fedora, Arch; Linux only), or do without the sandbox"
        )
    told = subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if told.returncode:
        raise SandboxError(f"{path} does not run: {_said(told.returncode, told.stderr)}")
    if _NEEDED.encode() not in told.stdout + told.stderr:
        raise SandboxError(f"{path} is too old: a sandbox needs bubblewrap 0.8 or newer")
    return path


@cache
def _prlimit() -> str:
    path = shutil.which(_PRLIMIT, path=_PATH)
    if path is None:
        raise SandboxError(f"a sandbox needs the program {_PRLIMIT} (package util-linux), which is not here")
    return path


def _system() -> list[str]:
    words = []
    for place in _SYSTEM:
        words += ["--ro-bind-try", place, place]
    for place in _LINKS:
        words += ["--symlink", os.readlink(place), place] if os.path.islink(place) else ["--ro-bind-try", place, place]
    for name in _SETTINGS:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in _COVERED:
        if os.path.exists(place):
            words += ["--ro-bind", os.devnull, place]
    return words


def _folders(path: str, words: Sequence[str]) -> Iterator[str]:
    """What belongs to a program and the files among its arguments: their folders, also those that links lead to."""
    for word in (path, *words, *(word.partition("=")[2] for word in words)):
        if word and "\0" not in word and os.path.exists(word):
            yield from _belonging(os.path.abspath(word))


def _belonging(path: str) -> Iterator[str]:
    for place in dict.fromkeys([*_hops(path), os.path.realpath(path)]):
        if os.path.isdir(place):
            folder = place
        else:
            folder = os.path.dirname(place)
            if os.path.basename(folder) in _BINARIES and not _common(os.path.dirname(folder)):
                folder = os.path.dirname(folder)  # interpreters have their libraries beside the folder that they are in
        if any(_within(folder, system) for system in (*_SYSTEM, *_LINKS)):
            continue
        if not _common(folder):
            yield folder
        elif not os.path.isdir(place):
            yield place


def _hops(path: str) -> Iterator[str]:
    for _ in range(40):  # as many as the kernel follows
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def _common(folder: str) -> bool:
    """Whether a folder is nobody's own: the home folder, what lies above it, and those of the system."""
    return folder in _COMMON or _within(str(Path.home()), folder)


def _inside(places: Sequence[str], folders: Sequence[str]) -> Iterator[str]:
    """Where ``places`` stand within ``folders``, by whatever links they are reached."""
    for place in places:
        for folder in folders:
            if _within(real := os.path.realpath(place), top := os.path.realpath(folder)):
                yield os.path.normpath(os.path.join(folder, os.path.relpath(real, top)))


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
