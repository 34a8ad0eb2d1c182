"""Engines that pry, and what they get: in a sandbox nothing, and each attempt is one that works without."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.engine.bot_api import Limits
from caboose.protocol.process import launch
from caboose.protocol.process.child import Resources
from caboose.protocol.process.launch import Launch, SandboxError, check_sandbox
from caboose.protocol.process.process import EngineProcess
from fault_engines import a_position, fault_of, nothing_left, raw
from players import engine_command, is_alive, wait_until

SANDBOX = Launch(sandbox=True)
PATIENCE = 300.0  # seconds: a second of processor time may take a busy machine long
MIB = 1 << 20
TELL = "hear(); say('id name got ' + ' '.join(got) + '\\ncabooseok 1'); hear(); say('readyok'); hear()\n"
TRY = """
import ctypes, socket
referee, secret, port, other = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
got = []
def attempt(name, act):
    try:
        if act():
            got.append(name)
    except OSError:
        pass
def start_of_memory(pid):
    with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb') as memory:
        memory.seek(int(next(maps).partition('-')[0], 16))
        return memory.read(4)
def connect(family, where):
    with socket.socket(family) as s:
        s.settimeout(1)
        s.connect(where)
        return True
def environment(pid):
    try:
        return open(f'/proc/{pid}/environ', 'rb').read()
    except OSError:
        return b''
def trace(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.ptrace(16, pid, 0, 0)
    if not failed:
        os.waitpid(pid, 0)
        libc.ptrace(17, pid, 0, 0)
    return not failed
"""


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


def told(command: list[str], launch: Launch) -> list[str]:
    """What an engine that puts its findings into its name has found."""
    with EngineProcess(command, launch=launch) as engine:
        return engine.name.split()[1:]


# --- what it tries -----------------------------------------------------------------------------------------------

# An expression of Python, true when it worked.
ATTEMPTS = {
    "memory-of-the-referee": "start_of_memory(referee)",
    "memory-of-another-engine": "start_of_memory(other)",
    "call-of-the-referee": "os.path.exists(f'/proc/{referee}/cmdline')",
    "call-of-another-engine": "os.path.exists(f'/proc/{other}/cmdline')",
    "files-of-the-referee": "os.listdir(f'/proc/{referee}/fd')",
    "input-of-another-engine": "os.open(f'/proc/{other}/fd/0', os.O_RDONLY | os.O_NONBLOCK)",
    "environment": "any(b'CABOOSE_TEST_KEY' in environment(n) for n in os.listdir('/proc') if n.isdigit())",
    "processes": "len([n for n in os.listdir('/proc') if n.isdigit()]) > 3",
    "signal": "os.kill(referee, 0) is None",
    "trace": "trace(other)",
    "secret-file": "open(secret).read()",
    "home": f"os.listdir({str(Path.home())!r}) and os.path.isdir('/var/log')",
    "users": "open('/etc/passwd').read()",
    "network": "connect(socket.AF_INET, ('127.0.0.1', port))",
    "socket-in-a-file": "connect(socket.AF_UNIX, secret + '.socket')",
    "socket-without-one": "connect(socket.AF_UNIX, '\\0caboose-test-' + str(referee))",
    "write-beside-itself": "open(os.path.join(os.path.dirname(sys.argv[0]), 'note'), 'w').write('x')",
    "write-to-usr": "open('/usr/caboose-test', 'w').write('x')",
    "write-to-the-root": "open('/caboose-test', 'w').write('x')",
}
ROOT_ONLY = {"write-to-usr", "write-to-the-root"}
# Also without a sandbox the kernel may not let a process look into others of its user.
FORBIDDEN_AT_TIMES = {"memory-of-the-referee", "memory-of-another-engine", "trace", "input-of-another-engine"}


def tried(folder: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The attempts that worked."""
    monkeypatch.setenv("CABOOSE_TEST_KEY", "1")
    elsewhere, own = folder / "elsewhere", folder / "own"
    elsewhere.mkdir()
    own.mkdir()
    secret = elsewhere / "secret"
    secret.write_text("the deals", encoding="ascii")
    code = TRY + "".join(f"attempt({name!r}, lambda: {act})\n" for name, act in ATTEMPTS.items()) + TELL
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as in_file,
        socket.socket(socket.AF_UNIX) as without,
        EngineProcess(engine_command(own), launch=launch) as other,
    ):
        in_file.bind(f"{secret}.socket")
        without.bind(f"\0caboose-test-{os.getpid()}")
        for listener in (in_file, without):
            listener.listen()
        # A copy: the name of the secret among the arguments would make it the engine's own.
        code = code.replace("sys.argv[2]", repr(str(secret)))
        command = [*raw(own, code), str(os.getpid()), "-", str(tcp.getsockname()[1]), str(other.pid)]
        return set(told(command, launch))


def test_an_engine_that_pries_gets_nothing_in_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandboxed: None
) -> None:
    assert tried(tmp_path, SANDBOX, monkeypatch) == set()
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == ["raw.py", "toy.py"]


def test_the_attempts_are_such_as_work_without_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # So that what fails in the sandbox fails because of it.
    worked = tried(tmp_path, Launch(), monkeypatch)
    for place in ("/usr/caboose-test", "/caboose-test"):
        Path(place).unlink(missing_ok=True)
    assert worked >= set(ATTEMPTS) - FORBIDDEN_AT_TIMES - ROOT_ONLY


# --- a sandbox ---------------------------------------------------------------------------------------------------


def test_an_engine_in_a_sandbox_plays(tmp_path: Path, sandboxed: None) -> None:
    position = a_position()
    with EngineProcess(engine_command(tmp_path), launch=SANDBOX) as engine:
        for _ in range(3):
            assert engine.choose(position, Limits(movetime=60_000)) == position.legal_moves()[0]


def test_what_it_writes_is_gone_with_it(tmp_path: Path, sandboxed: None) -> None:
    code = (
        "note = os.path.join(os.environ['HOME'], 'note')\n"
        "got = ['old'] if os.path.exists(note) else ['new']\n"
        f"open(note, 'w').write('0-0')\n{TELL}"
    )
    for _ in range(2):
        assert told(raw(tmp_path, code), SANDBOX) == ["new"]


def test_it_has_no_files_but_its_own(tmp_path: Path, sandboxed: None) -> None:
    code = f"got = [','.join(sorted(os.listdir('/proc/self/fd')))]\n{TELL}"
    with EngineProcess(engine_command(tmp_path), launch=SANDBOX):
        assert told(raw(tmp_path, code), SANDBOX) == ["0,1,2,3"]  # 3 is what the list was read from


def test_what_is_shared_can_be_read_and_what_is_hidden_cannot(tmp_path: Path, sandboxed: None) -> None:
    for name in ("own", "weights"):
        (tmp_path / name).mkdir()
    net, games, logs = tmp_path / "weights" / "net", tmp_path / "own" / "games", tmp_path / "own" / "logs"
    net.write_text("net", encoding="ascii")
    games.write_text("games", encoding="ascii")
    logs.mkdir()
    (logs / "log").write_text("log", encoding="ascii")
    code = (
        "def read(path):\n"
        "    try: return open(os.path.join(os.path.dirname(sys.argv[0]), path)).read()\n"
        "    except OSError: return ''\n"
        f"got = [read(path) for path in ('../weights/net', 'games', 'logs/log')]\n{TELL}"
    )
    command = raw(tmp_path / "own", code)
    assert told(command, SANDBOX) == ["games", "log"]
    assert told(command, Launch(sandbox=True, shared=(str(net.parent),))) == ["net", "games", "log"]
    hiding = Launch(sandbox=True, hidden=(str(games), str(logs), str(tmp_path / "own" / "missing")))
    assert told(command, hiding) == []


def test_it_starts_in_the_folder_of_the_call(tmp_path: Path, sandboxed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bots").mkdir()
    command = raw(tmp_path / "bots", f"got = [os.getcwd()]\n{TELL}")
    monkeypatch.chdir(tmp_path)
    assert told([*command[:-1], "bots/raw.py"], SANDBOX) == [str(tmp_path)]


def test_what_hides_in_a_sandbox_ends_too(tmp_path: Path, sandboxed: None) -> None:
    mark = f"caboose-test-{os.getpid()}"
    code = (
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    os.fork() or os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])\n"
        f"    os._exit(0)\ngot = []\n{TELL}"
    )

    def found() -> list[int]:
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if mark.encode() in _command_line(pid) and is_alive(pid)]

    with EngineProcess(raw(tmp_path, code), launch=SANDBOX):
        assert wait_until(lambda: bool(found()))
    assert wait_until(lambda: not found())


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


REFEREE = """
import sys, time
from caboose.protocol.process.launch import Launch
from caboose.protocol.process.process import EngineProcess
engine = EngineProcess(sys.argv[1:], launch=Launch(sandbox=True))
engine.start()
print(engine.pid, flush=True)
time.sleep(600)
"""


def test_nothing_of_a_sandbox_outlives_its_referee(tmp_path: Path, sandboxed: None) -> None:
    code = f"os.fork() == 0 and (os.setsid(), time.sleep(600))\ngot = []\n{TELL}time.sleep(600)"

    def found() -> list[int]:
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if str(tmp_path).encode() in _command_line(pid)]

    call = [sys.executable, "-c", REFEREE, *raw(tmp_path, code)]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        assert int(referee.stdout.readline()) in found()
        referee.kill()
    assert wait_until(lambda: not found())


@pytest.mark.parametrize(
    ("on_go", "detail"),
    [
        ("sys.exit(7)", "it exited with code 7"),
        ("os._exit(255)", "it exited with code 255"),  # of a signal bubblewrap tells as a shell does, by 128 and it
        ("os.kill(os.getpid(), 11)", "it was killed by SIGSEGV"),
        ("os.abort()", "it was killed by SIGABRT"),
    ],
)
def test_its_end_is_told_as_without_a_sandbox(tmp_path: Path, sandboxed: None, on_go: str, detail: str) -> None:
    with EngineProcess(engine_command(tmp_path, on_go), launch=SANDBOX) as engine:
        fault = fault_of(lambda: engine.choose(a_position(), Limits(movetime=60_000)))
        assert (fault.kind, fault.detail) == ("dead", detail)


def test_an_engine_that_lacks_its_files_is_told_why(tmp_path: Path, sandboxed: None) -> None:
    code = f"open({str(Path(__file__))!r})\ngot = []\n{TELL}"
    fault = fault_of(EngineProcess(raw(tmp_path, code), launch=SANDBOX).start)
    assert fault.kind == "start"
    assert fault.detail.startswith("it exited with code 1; last words: 'FileNotFoundError: ")
    assert "; in the sandbox it has no files but" in fault.detail


# --- without bubblewrap ------------------------------------------------------------------------------------------


@pytest.fixture
def fresh() -> Iterator[None]:
    """What was found out about bubblewrap is forgotten, before and after."""
    launch._bubblewrap.cache_clear()
    yield
    launch._bubblewrap.cache_clear()


def fake_bubblewrap(folder: Path, script: str) -> None:
    file = folder / "bwrap"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("", "a sandbox needs bubblewrap, and there is no program bwrap here: install it"),
        ("echo unexpected >&2; exit 1", "does not run: unexpected"),
        ("echo usage --unshare-user", "is too old: a sandbox needs bubblewrap 0.8 or newer"),
        (
            "[ $1 = --help ] && echo --disable-userns || { echo 'bwrap: cannot make a new namespace' >&2; exit 1; }",
            "cannot make a sandbox: bwrap: cannot make a new namespace; user namespaces may be forbidden",
        ),
        ("[ $1 = --help ] && echo --disable-userns || exit 9", "cannot make a sandbox: exit code 9"),
    ],
)
def test_a_sandbox_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None, script: str, why: str
) -> None:
    if script:
        fake_bubblewrap(tmp_path, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=re.escape(why)):
        check_sandbox()


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandboxed: None) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(SandboxError, match="the folder of the call, which is not there any more"):
        check_sandbox()
    monkeypatch.chdir(tmp_path)


# --- resources ---------------------------------------------------------------------------------------------------

EATERS = {
    "memory": ("x = bytearray(600 << 20); got = ['all']", Resources(memory=300 * MIB)),
    "file": ("open(sys.argv[1], 'wb').write(bytes(2 << 20)); got = ['all']", Resources(file=MIB)),
    "cpu": (
        "begin = time.process_time()\nwhile time.process_time() < begin + 20: pass\ngot = ['all']",
        Resources(cpu=1),
    ),
}
ENDINGS = {"memory": "it exited with code 1", "file": "it exited with code 1", "cpu": "it was killed by SIGXCPU"}


@pytest.mark.parametrize("sandbox", [False, True])
@pytest.mark.parametrize("what", EATERS)
def test_an_engine_that_takes_too_much(
    tmp_path: Path, what: str, sandbox: bool, request: pytest.FixtureRequest
) -> None:
    if sandbox:
        request.getfixturevalue("sandboxed")
    code, resources = EATERS[what]
    place = "/tmp/eaten" if sandbox else str(tmp_path / "eaten")
    command = [*raw(tmp_path, f"{code}\n{TELL}"), place]
    limited = Launch(sandbox=sandbox, resources=resources)
    fault = fault_of(EngineProcess(command, launch=limited, start_timeout=PATIENCE).start)
    assert fault.detail.startswith(ENDINGS[what])
    assert told(command, Launch(sandbox=sandbox)) == ["all"] if what != "cpu" else True


FORKS = "got = ['all']\ntry:\n    for _ in range(60): os.fork() or time.sleep(600)\nexcept OSError: got = ['some']\n"


def test_processes_are_limited_in_a_sandbox(tmp_path: Path, sandboxed: None) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser's processes are not limited")
    command = raw(tmp_path, FORKS + TELL)
    assert told(command, SANDBOX) == ["all"]
    assert told(command, Launch(sandbox=True, resources=Resources(processes=30))) == ["some"]


def test_no_core_is_ever_written(tmp_path: Path) -> None:
    code = f"import resource\ngot = [str(resource.getrlimit(resource.RLIMIT_CORE)[1])]\n{TELL}"
    assert told(raw(tmp_path, code), Launch()) == ["0"]
