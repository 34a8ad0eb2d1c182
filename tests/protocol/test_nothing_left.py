"""Whatever an engine starts and wherever that hides, and however its referee ends: nothing of it is left."""

from __future__ import annotations

import os
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.results import read_result
from caboose.arena.execution.executors import LocalExecutor
from caboose.arena.match.match import play_match
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.child import Child, LackError
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.timing import TimeControl
from fault_engines import nothing_left, raw
from players import contestants_of, engine_command, is_alive, lineup_of, wait_until, without_warning

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process all its descendants")

READY = "hear(); say(f'id name {told}\\ncabooseok 1'); hear(); say('readyok')\n"

# What hides from a kill of the engine's process group, each an expression of Python whose last act is to live on.
HIDERS = {
    "a child": "os.fork() or live()",
    "a session of its own": "os.fork() or (os.setsid(), live())",
    "an orphan": "os.fork() or (os.setsid(), os.fork() and os._exit(0), live())",
    "an orphan that hears nothing": "os.fork() or (os.setsid(), os.fork() and os._exit(0), deafen(), live())",
    "one that runs from parent to child": "os.fork() or (os.setsid(), [os.fork() and os._exit(0) for _ in range(400)])",
    "a crowd": "[os.fork() or (os.setsid(), live()) for _ in range(40)]",
}
HELPERS = """
def live():
    mark()
    time.sleep(600)
def deafen():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
def mark():
    with open(sys.argv[1], 'a') as file:
        file.write(f'{os.getpid()}\\n')
mark()
"""


class Hidden:
    """An engine with something that hides, and the numbers of all that it started."""

    def __init__(self, folder: Path, hider: str, ending: str = "hear()") -> None:
        self.pids = folder / "pids"
        self.pids.touch()
        code = f"{HELPERS}\n(os.getpid(), {HIDERS[hider]})\ntold = 'hider'\n{READY}{ending}\n"
        self.command = [*raw(folder, code), str(self.pids)]
        self.started = {"one that runs from parent to child": 1, "a crowd": 41}.get(hider, 2)

    def numbers(self) -> list[int]:
        return [int(word) for word in self.pids.read_text(encoding="ascii").split()]

    def all_started(self) -> bool:
        return len(self.numbers()) >= self.started

    def gone(self) -> bool:
        return wait_until(lambda: not any(is_alive(number) for number in self.numbers()))


def mentioned(text: str) -> list[str]:
    """The processes whose command line has ``text`` in it."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


# --- one engine --------------------------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("hider", HIDERS)
def test_what_hides_ends_with_its_engine(tmp_path: Path, hider: str) -> None:
    hidden = Hidden(tmp_path, hider)
    with EngineProcess(hidden.command):
        assert wait_until(hidden.all_started)
    assert hidden.gone()
    assert wait_until(lambda: not mentioned(str(hidden.pids)))


@linux
@pytest.mark.parametrize("ending", ["sys.exit(0)", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_what_hides_ends_when_its_engine_does(tmp_path: Path, ending: str) -> None:
    hidden = Hidden(tmp_path, "an orphan that hears nothing", ending=ending)
    engine = EngineProcess(hidden.command)
    engine.start()
    try:  # nobody has closed it yet
        assert wait_until(lambda: not mentioned(str(hidden.pids)))
        assert hidden.gone()
    finally:
        engine.close()


@linux
def test_an_engine_ends_with_its_keeper_and_so_does_its_group(tmp_path: Path) -> None:
    hidden = Hidden(tmp_path, "a child", ending="time.sleep(600)")
    with EngineProcess(hidden.command) as engine:
        assert wait_until(hidden.all_started)
        assert engine.pid is not None
        keeper = int(Path(f"/proc/{engine.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
        assert keeper != os.getpid()
        pid = engine.pid
        os.kill(keeper, signal.SIGKILL)
        assert wait_until(lambda: not is_alive(pid))
    assert hidden.gone()


STOPPING = """
import sys, time
from caboose.protocol.process.process import EngineProcess
with EngineProcess(sys.argv[1:]) as engine:
    print(engine.pid, flush=True)
    time.sleep(600)
"""


@linux
def test_a_keeper_that_its_engine_stopped_goes_on_when_the_referee_is_killed(tmp_path: Path) -> None:
    command = raw(tmp_path, f"told = 'stopper'\nos.kill(os.getppid(), signal.SIGSTOP)\n{READY}time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", STOPPING, *command], stdout=subprocess.PIPE) as referee:
        assert referee.stdout is not None
        assert is_alive(int(referee.stdout.readline()))
        referee.kill()
    assert wait_until(lambda: not mentioned(str(tmp_path)))


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Leaves this process no more than ``free`` descriptors to open."""
    held = [os.open(os.devnull, os.O_RDONLY)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (held[0] + 20, before[1]))
    try:
        with suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(held.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for descriptor in held:
            os.close(descriptor)


@pytest.mark.parametrize("free", range(7))
def test_what_we_lack_is_no_fault_of_an_engine(tmp_path: Path, free: int) -> None:
    """Whichever descriptor is the one too many."""
    command = engine_command(tmp_path)
    with few_descriptors(free), pytest.raises(LackError, match=r"cannot start .*python.*: Too many open files"):
        Child(command)


def test_a_match_ends_where_we_lack_something(tmp_path: Path) -> None:
    lineup = lineup_of(contestants_of(["greedy"], [shlex.join(engine_command(tmp_path))], []), 2)
    rules, control = Rules.of("family", 2, set=6, hand=6, rounds=1), TimeControl(movetime=60_000)
    plan = Plan(rules=rules, lineup=lineup, control=control, seed=1)
    with ExitStack() as later:

        class Watcher:
            def game_over(self) -> None: ...

            def block_over(self, board: object) -> None:
                later.enter_context(few_descriptors(4))

        result = play_match(plan, 50, LocalExecutor(), Watcher())
    assert len(result.blocks) == 1
    assert "Too many open files" in result.problem
    assert not any(game.result.tainted for block in result.blocks for game in block.games)


# --- a whole match, many games at once ---------------------------------------------------------------------------

CONCURRENCY = 8
BEFORE = """
import os, signal, sys, time
def note(name, text):
    with open(os.path.join(os.path.dirname(sys.argv[0]), name), 'a') as file:
        file.write(text + '\\n')
places = [f'/proc/self/fd/{fd}' for fd in sorted(os.listdir('/proc/self/fd'))]
note('files', ' '.join(os.readlink(place).partition('[')[0] for place in places if os.path.lexists(place)))
note('pids', str(os.getpid()))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        note('pids', str(os.getpid()))
        time.sleep(600)
    os._exit(0)
"""


def call_match(folder: Path, blocks: int) -> subprocess.Popen[str]:
    """A match between engines that all leave an orphan which hears nothing. They note their numbers and files."""
    (folder / "tmp").mkdir()
    command = shlex.join(engine_command(folder, before=BEFORE))
    call = [sys.executable, "-m", "caboose.cli.main", "match", command, "random", "--in-process", "--players", "2"]
    call += ["--rounds", "1", "--rule", "hand=6", "--set", "6", "--movetime", "30000", "--blocks", str(blocks)]
    call += ["--concurrency", str(CONCURRENCY), "--json", str(folder / "result"), "--record", str(folder / "games")]
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def at_once(folder: Path) -> list[int]:
    """The numbers of the engines and orphans that are there."""
    noted = folder / "pids"
    numbers = noted.read_text(encoding="ascii").split() if noted.exists() else []
    return [int(number) for number in numbers if is_alive(int(number))]


@linux
@pytest.mark.parametrize("ending", ["", "SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_of_a_match(tmp_path: Path, ending: str) -> None:
    process = call_match(tmp_path, CONCURRENCY if not ending else 100_000)
    pids, games = tmp_path / "pids", tmp_path / "games"
    workers: list[str] = []
    if ending:  # in full swing
        assert wait_until(lambda: games.exists() and b"\nend\n" in games.read_bytes(), 60)
        assert wait_until(lambda: len(at_once(tmp_path)) > CONCURRENCY, 60)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        workers = [child for child in children if is_alive(int(child))]
        assert len(workers) >= CONCURRENCY
        process.send_signal(signal.Signals[ending])
    out, err = process.communicate(timeout=60)
    assert without_warning(err) == ""
    assert process.returncode == {"": 0, "SIGKILL": -signal.SIGKILL}.get(ending, 1)

    numbers = [int(word) for word in pids.read_text(encoding="ascii").split()]
    assert len(numbers) > 2 * CONCURRENCY
    assert wait_until(lambda: not at_once(tmp_path))
    assert wait_until(lambda: not mentioned(str(tmp_path)))  # engines, keepers and the referee
    assert wait_until(lambda: not any(is_alive(int(worker)) for worker in workers))
    assert list((tmp_path / "tmp").iterdir()) == []
    left = {"toy.py", "pids", "files", "games", "tmp"} | ({"result"} if ending != "SIGKILL" else set())
    assert {path.name for path in tmp_path.iterdir()} == left
    if ending != "SIGKILL":
        result = read_result(tmp_path / "result")
        assert result.blocks and result.problem == ("interrupted" if ending else "")
        assert ("interrupted: " in out) == bool(ending) and "toy" in out

    # 3 is what the list was read from, and it is closed again.
    assert set((tmp_path / "files").read_text(encoding="ascii").splitlines()) == {"pipe: pipe: pipe:"}
