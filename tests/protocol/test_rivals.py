"""What a program of the same user can do to an engine without a sandbox, and what becomes of that."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.arena.blocks import engine_process as engines
from caboose.arena.blocks.contestants import builtin_command
from caboose.arena.errors import CallError
from caboose.cli.main import run
from caboose.cli.options import sandbox as untrusted
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.child import Child
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.referee import SeatResult, play_game
from caboose.protocol.referee.timing import TimeControl
from fault_engines import nothing_left
from players import Scripted, engine_command, first_legal, wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
    pytest.mark.usefixtures("still_readable"),
]
LONG = TimeControl(movetime=30_000, margin=50)
SHORT = TimeControl(movetime=1000, margin=500)
STOP = "os.kill(os.getppid(), 19); os.kill(os.getpid(), 19)"
QUICK = ["--players", "2", "--set", "9", "--rounds", "1", "--blocks", "1", "--nodes", "1", "--seed", "1"]


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


class Rival(Scripted):
    """A player that stops the process of ``engine`` at each of its first ``most`` moves, with its keeper or without."""

    def __init__(self, engine: EngineProcess, most: int, *, with_keeper: bool) -> None:
        super().__init__()
        self.most = most

        def hinder() -> None:
            pid = engine.pid
            assert pid is not None
            if with_keeper:
                stop(int(status(pid)[1]))
                stop(pid)
            else:
                os.kill(pid, signal.SIGSTOP)

        self._hinder = hinder
        self.chooser = lambda observation, limits: (
            (self.games and len(self.asked) <= self.most and self._hinder()) or first_legal(observation, limits)
        )


def status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    assert wait_until(lambda: status(pid)[0] == "T")


def play(engine: EngineProcess, other: Scripted, control: TimeControl) -> SeatResult:
    """How ``engine`` fared on the first seat."""
    game = Game(Rules.of("family", 2, set=9, rounds=1), seed=3)
    with engine:
        return play_game(game, [engine, other], control, fallback=Scripted()).seats[0]


def make_engine(folder: Path, on_go: str = "pass", *, trusted: bool = False, margin: float = 50) -> EngineProcess:
    return EngineProcess(engine_command(folder, on_go, before="import os\n"), margin=margin, trusted=trusted)


# --- signals -----------------------------------------------------------------------------------------------------


def test_who_is_stopped_goes_on_at_once(tmp_path: Path) -> None:
    # It would stand still for half a minute.
    engine = make_engine(tmp_path)
    seat = play(engine, Rival(engine, 5, with_keeper=False), LONG)
    assert seat.fault is None and seat.overruns == 0
    assert 4 <= seat.stops <= 5  # told by powers of two


@pytest.mark.parametrize("trusted", [True, False])
def test_who_is_stopped_with_its_keeper_has_its_time_again(tmp_path: Path, trusted: bool) -> None:
    engine = make_engine(tmp_path, trusted=trusted, margin=SHORT.margin)
    seat = play(engine, Rival(engine, 1, with_keeper=True), SHORT)
    assert seat.fault is None
    # Who cannot have done it itself loses nothing by it. The answer of others counts as having come at the deadline.
    assert seat.overruns == (0 if trusted else 1)


@pytest.mark.parametrize("trusted", [True, False])
def test_but_not_for_ever(tmp_path: Path, trusted: bool) -> None:
    engine = make_engine(tmp_path, STOP, trusted=trusted, margin=100)
    seat = play(engine, Scripted(), TimeControl(movetime=100, margin=100))
    assert seat.fault is not None and seat.fault.kind == "late"
    assert "; signals had stopped it " in seat.fault.detail
    assert seat.decisions <= 4


def test_a_keeper_that_is_stopped_as_it_starts_holds_nobody_up() -> None:
    # Some of them before the keeper has said that the program runs, for which we waited without end.
    for _ in range(15):
        child = Child(["sh", "-c", "kill -STOP $PPID; exit 5"])
        child.reap()
        child.close_pipes()
        child.close_errors()
        assert child.returncode in (5, -signal.SIGKILL)


def test_stops_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = shlex.join(engine_command(tmp_path, "os.kill(os.getpid(), 19)", before="import os\n"))
    call = ["match", "greedy", command, *QUICK, "--in-process"]
    assert run(call) == 0
    assert "toy: signals stopped its process" in " ".join(capsys.readouterr().out.split())
    assert run([*call, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["stops"] > 1 for row in result["standings"]] == [False, True]
    assert sum(seat["stops"] for game in result["blocks"][0]["games"] for seat in game["result"]["seats"]) > 1


# --- memory ------------------------------------------------------------------------------------------------------


def test_the_memory_of_a_built_in_bot_is_hidden() -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is hidden from the superuser")
    with EngineProcess(builtin_command("greedy")) as engine, pytest.raises(PermissionError):
        os.open(f"/proc/{engine.pid}/mem", os.O_RDONLY)


def test_an_engine_of_ours_hides_first_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: list[bool] = []
    monkeypatch.setattr(engines, "hide", lambda: hidden.append(True))
    with pytest.raises(CallError, match="nobody"):
        engines.run_engine("nobody")
    assert hidden == [True]


def test_those_that_hide_start_before_the_others(tmp_path: Path) -> None:
    started: list[str] = []

    class Told(EngineProcess):
        def start(self) -> None:
            started.append(self.name)
            super().start()

    players = [
        Told(engine_command(tmp_path), name="stranger"),
        Told(engine_command(tmp_path), name="ours", trusted=True),
    ]
    try:
        play_game(Game(Rules.of("family", 2, set=9, rounds=1), seed=3), players, LONG, fallback=Scripted())
    finally:
        for player in players:
            player.close()
    assert started == ["ours", "stranger"]


# --- the superuser -----------------------------------------------------------------------------------------------

WARNING = f"caboose: {untrusted.SUPERUSER}\n"


@pytest.mark.parametrize("user", [0, 1000])
def test_the_superuser_is_warned_once(
    tmp_path: Path, user: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.join(engine_command(tmp_path))
    monkeypatch.setattr(untrusted, "_is_superuser", lambda: user == 0)
    for call in (
        ["match", command, f"{command} 2", *QUICK, "--in-process", "--json", "-"],
        ["check", command, "--step", "start.greeting", "--json"],
    ):
        run(call)
        said = capsys.readouterr()
        assert said.err.count(WARNING) == (user == 0), call
        json.loads(said.out)
    assert run(["match", "greedy", "random", *QUICK, "--in-process"]) == 0
    assert WARNING not in capsys.readouterr().err


def test_there_is_no_warning_in_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sandboxed: None
) -> None:
    monkeypatch.setattr(untrusted, "_is_superuser", lambda: True)
    call = ["match", "greedy", shlex.join(engine_command(tmp_path)), *QUICK, "--in-process"]
    assert run([*call, "--sandbox"]) == 0
    assert WARNING not in capsys.readouterr().err
