"""The end of engine processes: stopped, closed, killed, orphaned, started anew. Nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from caboose.engine.bot_api import Limits
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.channel import Channel
from caboose.protocol.process.process import EngineProcess, close_all
from fault_engines import SLACK, a_position, fault_of, nothing_left, raw
from players import engine_command, is_alive, wait_until


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


@pytest.fixture
def position() -> Observation:
    return a_position()


# --- stop --------------------------------------------------------------------------------------------------------

STOPPABLE = "while hear_word() != 'stop': pass"
HEAR_WORD = "import sys\ndef hear_word(): return sys.stdin.readline().strip()\n"


def test_stop_is_passed_on(tmp_path: Path, position: Observation) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.2, stop.set)
    with EngineProcess(engine_command(tmp_path, STOPPABLE, before=HEAR_WORD), margin=5000) as engine:
        timer.start()
        assert engine.choose(position, Limits(infinite=True, stop=stop)) in position.legal_moves()
        timer.join()
        assert engine.last_time >= 200
        assert engine.choose(position, Limits(movetime=60_000, stop=stop)) in position.legal_moves()
        assert engine.last_time < 1000 * SLACK


def test_the_guard_stops_an_infinite_search(tmp_path: Path, position: Observation) -> None:
    command = engine_command(tmp_path, STOPPABLE, before=HEAR_WORD)
    with EngineProcess(command, margin=5000, guard=0.2) as engine:
        assert engine.choose(position, Limits(infinite=True)) in position.legal_moves()
        assert engine.last_time >= 200


def test_an_engine_that_does_not_stop_is_late(tmp_path: Path, position: Observation) -> None:
    stop = threading.Event()
    stop.set()
    with EngineProcess(engine_command(tmp_path, "time.sleep(600)")) as engine:
        fault = fault_of(lambda: engine.choose(position, Limits(infinite=True, stop=stop)))
        assert (fault.kind, fault.detail) == ("late", "no answer within 50 ms of stop")


# --- the end -----------------------------------------------------------------------------------------------------

DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def test_an_engine_that_is_deaf_to_everything_is_killed(tmp_path: Path) -> None:
    code = f"{DEAF}hear(); say('cabooseok 1'); hear(); say('readyok')\nwhile True: time.sleep(1)\n"
    engine = EngineProcess(raw(tmp_path, code))
    engine.start()
    begin = time.monotonic()
    engine.close()
    assert time.monotonic() - begin < SLACK
    engine.close()


def test_many_deaf_engines_end_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"{DEAF}hear(); say('cabooseok 1'); hear(); say('readyok')\nwhile True: time.sleep(1)\n"
    engines = [EngineProcess(raw(tmp_path, code)) for _ in range(3)]
    for engine in engines:
        engine.start()
    done: list[str] = []
    for name in ("say_quit", "terminate", "reap"):
        monkeypatch.setattr(Channel, name, noting(done, name, getattr(Channel, name)))
    close_all(engines)
    assert done == ["say_quit"] * 3 + ["terminate"] * 3 + ["reap"] * 3  # nobody waits for the end of another
    assert not any(engine.running for engine in engines)


def noting(done: list[str], name: str, act: Callable[[Channel], None]) -> Callable[[Channel], None]:
    """``act``, which is noted down."""

    def noted(channel: Channel) -> None:
        done.append(name)
        act(channel)

    return noted


def test_what_an_engine_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "child = os.fork()\n"
        "if child == 0: signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)\n"
        "hear(); say(f'id name {child}\\ncabooseok 1'); hear(); say('readyok'); hear()\n"
    )
    with EngineProcess(raw(tmp_path, code)) as engine:
        child = int(engine.name)
        assert is_alive(child)
    assert wait_until(lambda: not is_alive(child))


def test_an_engine_has_no_files_but_its_own(tmp_path: Path) -> None:
    code = (
        "files = ','.join(sorted(os.listdir('/proc/self/fd')))\n"
        "hear(); say(f'id name {files}\\ncabooseok 1'); hear(); say('readyok'); hear()"
    )
    with (
        EngineProcess(engine_command(tmp_path)),
        open(os.devnull, "rb"),
        EngineProcess(raw(tmp_path, code)) as engine,
    ):
        assert engine.name == "0,1,2,3"  # 3 is what the list was read from


REFEREE = """
import sys, time
from caboose.protocol.process.process import EngineProcess
engines = [EngineProcess([sys.executable, *sys.argv[1:]]) for _ in range(2)]
for engine in engines:
    engine.start()
print(*[engine.pid for engine in engines], *[engine.name for engine in engines], flush=True)
{ending}
"""


@pytest.mark.parametrize(
    "ending",
    [
        "pass",
        "1 / 0",
        "time.sleep(600)  # SIGTERM",
        "time.sleep(600)  # SIGKILL",
        "time.sleep(600)  # SIGINT",
    ],
)
def test_no_engine_outlives_its_referee(tmp_path: Path, ending: str) -> None:
    """Engines that hear nothing, not even the end of their input, and their children."""
    code = (
        f"{DEAF}child = os.fork()\n"
        "if child == 0: time.sleep(600)\n"
        "hear(); say(f'id name {child}\\ncabooseok 1'); hear(); say('readyok')\n"
        "while True: time.sleep(1)\n"
    )
    command = raw(tmp_path, code)
    referee = subprocess.Popen(
        [sys.executable, "-c", REFEREE.replace("{ending}", ending), *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with referee:
        assert referee.stdout is not None
        engines = [int(word) for word in referee.stdout.readline().split()]
        assert len(engines) == 4
        if "#" in ending:
            assert all(is_alive(engine) for engine in engines)
            referee.send_signal(signal.Signals[ending.rpartition(" ")[2]])
        referee.wait(30)
    assert wait_until(lambda: not any(is_alive(engine) for engine in engines))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_has_no_say_over_the_engines_of_its_parent(tmp_path: Path, position: Observation) -> None:
    with EngineProcess(engine_command(tmp_path)) as engine:
        child = os.fork()
        if child == 0:
            try:
                engine.close()
                os._exit(engine.running)
            finally:
                os._exit(9)
        assert os.waitpid(child, 0)[1] == 0
        assert engine.choose(position, Limits(movetime=60_000)) == position.legal_moves()[0]


# --- restarts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "preset"), [("random", "family"), ("greedy", "classic"), ("planner", "family"), ("mcts", "classic")]
)
def test_an_engine_that_starts_in_mid_game_answers_as_one_that_was_there_all_along(name: str, preset: str) -> None:
    code = (
        "import sys, caboose.bots as bots; from caboose.protocol.server.serve import serve_stdio; "
        "serve_stdio(bots.create(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, name]
    limits = Limits(nodes=50)
    game = Round.deal(Rules.of(preset, 3, set=6, hand=7), hub=6, seed=8)
    scores = [[3, 20, 0], [0, 11, 40]]
    decisions = 0
    with EngineProcess(command) as old:
        old.new_game()
        while not game.over:
            observation = game.observe(game.turn, scores)
            move = old.choose(observation, limits)
            if len(observation.legal_moves()) > 1:
                decisions += 1
                if decisions in (2, 5):
                    with EngineProcess(command) as fresh:
                        assert fresh.choose(observation, limits) == move
            game.apply(move)
    assert decisions > 5
