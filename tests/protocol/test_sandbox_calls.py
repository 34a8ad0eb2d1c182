"""What an engine in a sandbox asks of the kernel, and where it could put something that another finds: nowhere."""

from __future__ import annotations

import ctypes
import platform
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.protocol.process import launch as launching
from caboose.protocol.process.child import FILTER, Child
from caboose.protocol.process.launch import Launch, SandboxError, check_sandbox
from caboose.protocol.process.process import EngineProcess
from fault_engines import nothing_left, raw

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

ARM = platform.machine() != "x86_64"  # it and younger machines number the calls alike
ADD_KEY, KEYCTL, USERFAULTFD = (217, 219, 282) if ARM else (248, 250, 323)
JOIN, SESSION, NO_KEY = 1, -3, 126
TRY = f"""
import ctypes, fcntl, mmap, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
mine = os.open(__file__, os.O_RDONLY)
def call(name, *words):
    if getattr(libc, name)(*[ctypes.c_long(word) if isinstance(word, int) else word for word in words]) < 0:
        raise OSError(ctypes.get_errno(), name)
    return True
def find_key(where):
    return call('syscall', {KEYCTL}, 10, where, b'user', b'caboose-test', 0)
def add_key(where):
    return call('syscall', {ADD_KEY}, b'user', b'caboose-test', b'0-0', 3, where)
def in_child(act):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if act() else 1)
    return os.waitpid(pid, 0)[1] == 0
def in_memory():
    page = ctypes.c_char.from_buffer(mmap.mmap(mine, 0, access=mmap.ACCESS_COPY))
    return call("mincore", ctypes.byref(page), 1, ctypes.create_string_buffer(1))
got = []
def attempt(name, act):
    try:
        if act():
            got.append(name)
    except OSError:
        pass
"""
TELL = "hear(); say('id name got ' + ' '.join(got) + '\\ncabooseok 1'); hear(); say('readyok'); hear()\n"

# An expression of Python, true when it worked.
ATTEMPTS = {
    "lock": "fcntl.flock(mine, fcntl.LOCK_EX) is None",
    "lock-of-a-part": "fcntl.lockf(mine, fcntl.LOCK_SH) is None",
    "lock-of-a-description": "fcntl.fcntl(mine, 37, struct.pack('hhqqi4x', 0, 0, 0, 1, 0))",
    "watch": "call('inotify_init1', 0)",
    "what-is-in-memory": "in_memory()",
    "out-of-memory": "os.posix_fadvise(mine, 0, 0, os.POSIX_FADV_DONTNEED) is None",
    "memory-without-an-address": "os.memfd_create('x')",
}
# What some systems or containers refuse by themselves.
AT_TIMES = {
    "key-of-the-user": f"find_key({SESSION})",
    "key-for-the-session": f"add_key({SESSION})",
    "key-for-the-user": "add_key(-4)",
    "keys-by-name": "open('/proc/keys').read()",
    "locks-of-others": "open('/proc/locks').read() is not None",
    "log-of-the-kernel": "call('klogctl', 3, ctypes.create_string_buffer(64), 64)",
    "what-is-in-memory-by-reading": "os.preadv(mine, [bytearray(1)], 0, os.RWF_NOWAIT)",
    "what-is-in-memory-by-size": "call('syscall', 451, mine, ctypes.create_string_buffer(16), b' ' * 40, 0)",
    "memory-of-system-v": "call('shmget', 0, 4096, 0o600)",
    "messages-of-system-v": "call('msgget', 0, 0o600)",
    "semaphores-of-system-v": "call('semget', 0, 1, 0o600)",
    "socket-of-virtual-machines": "socket.socket(40, socket.SOCK_STREAM)",
    "socket-of-the-kernel": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)",
    "socket-for-ciphers": "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    "memory-by-a-call": "call('process_vm_readv', os.getpid(), 0, 0, 0, 0, 0)",
    "trace": "in_child(lambda: libc.ptrace(0, 0, 0, 0) == 0)",
    "ring": "call('syscall', 425, 1, ctypes.create_string_buffer(120))",
    "faults-in-user-space": f"call('syscall', {USERFAULTFD}, 1)",
    "namespace": "in_child(lambda: libc.unshare(0x10000000) == 0)",
    "first-process": "'Seccomp:\\t0' in open('/proc/1/status').read()",
}
# What must go on working: ``LANGUAGES`` are in test_examples.py.
NEEDED = {
    "socket-pair": "socket.socketpair()",
    "socket-of-the-internet": "socket.socket()",
    "interfaces": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "fork": "in_child(lambda: True)",
    "thread": "__import__('_thread').start_new_thread(len, ('',))",
    "file": "os.open(os.environ.get('HOME', '/tmp'), os.O_TMPFILE | os.O_RDWR)",
    "reading": "os.preadv(mine, [bytearray(1)], 0)",
    "advice": "os.posix_fadvise(mine, 0, 0, os.POSIX_FADV_SEQUENTIAL) is None",
    "flags": "fcntl.fcntl(mine, fcntl.F_SETFD, 0) == 0",
    "memory-with-an-address": "len(mmap.mmap(-1, 4096)) == 4096",
}


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


@pytest.fixture
def key() -> None:
    """A session keyring of this process with a key in it, where there are any."""
    libc = ctypes.CDLL(None)
    number = libc.syscall(KEYCTL, JOIN, None)
    if number < 0 or libc.syscall(ADD_KEY, b"user", b"caboose-test", b"secret", ctypes.c_long(6), SESSION) < 0:
        pytest.skip("this kernel has no keyrings, or lets us have none")


def told(folder: Path, attempts: dict[str, str], launch: Launch) -> set[str]:
    """The attempts that worked."""
    code = TRY + "".join(f"attempt({name!r}, lambda: {act})\n" for name, act in attempts.items()) + TELL
    with EngineProcess(raw(folder, code), launch=launch) as engine:
        return set(engine.name.split()[1:])


def test_what_the_filter_refuses(tmp_path: Path, sandboxed: None) -> None:
    assert told(tmp_path, ATTEMPTS | AT_TIMES | NEEDED, Launch(sandbox=True)) == NEEDED.keys()


def test_it_is_the_filter_that_refuses(tmp_path: Path) -> None:
    assert told(tmp_path, ATTEMPTS | NEEDED, Launch()) == ATTEMPTS.keys() | NEEDED.keys()


def test_an_engine_has_no_key_of_the_user_and_leaves_none(tmp_path: Path, key: None, sandboxed: None) -> None:
    keys = {name: AT_TIMES[name] for name in ("key-of-the-user", "key-for-the-session")}
    assert told(tmp_path, keys, Launch()) == keys.keys()
    for _ in range(2):
        assert told(tmp_path, keys, Launch(sandbox=True)) == set()


def ended(command: list[str], stderr: Path) -> int:
    """The exit code of a program that is started as one that makes a sandbox."""
    child = Child(command, stderr=stderr, filtered=True)
    assert child.wait(time.monotonic() + 60)
    child.reap()
    child.close_pipes()
    assert child.returncode is not None
    return child.returncode


def test_what_makes_a_sandbox_has_an_empty_session_keyring_and_the_filter(tmp_path: Path, key: None) -> None:
    # Also where no filter is applied: it is no bubblewrap.
    code = (
        "import ctypes, os, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"found = libc.syscall({KEYCTL}, 10, ctypes.c_long({SESSION}), b'user', b'caboose-test', 0)\n"
        f"steps = os.read({FILTER}, 1 << 16)\n"
        f"print(found, ctypes.get_errno(), len(steps) > 100, len(steps) % 8, os.read({FILTER}, 1), file=sys.stderr)\n"
    )
    assert ended([sys.executable, "-c", code], tmp_path / "said") == 0
    assert (tmp_path / "said").read_text(encoding="ascii") == f"-1 {NO_KEY} True 0 b''\n"


@pytest.mark.skipif(ARM, reason="needs x86-64")
def test_calls_with_the_numbers_of_another_machine_end_an_engine(tmp_path: Path, sandboxed: None) -> None:
    # getpid() as programs of 32 bits ask for it.
    code = (
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "page.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')\n"
        "number = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n"
        f"got = [str(os.waitpid(pid, 0)[1]) if (pid := os.fork()) else os._exit(number() < 0)]\n{TELL}"
    )
    with EngineProcess(raw(tmp_path, code), launch=Launch(sandbox=True)) as engine:
        assert int(engine.name.split()[1]) & 127 == signal.SIGSYS


def test_a_machine_without_a_filter_is_told(monkeypatch: pytest.MonkeyPatch, sandboxed: None) -> None:
    def refuse(*words: object, **named: object) -> Child:
        raise OSError(95, "Operation not supported", "bwrap")

    monkeypatch.setattr(launching, "Child", refuse)
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    with pytest.raises(SandboxError, match="is written for x86_64, aarch64 and riscv64, this is s390x"):
        check_sandbox()
