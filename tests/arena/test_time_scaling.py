"""Limits of time in proportion to the speed of the machine (``--scale-tc``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import caboose.arena.ladder.run as running
from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.time_scaling import HERE, parse_reference, scale_factor, scaled
from caboose.arena.errors import CallError
from caboose.arena.execution.executors import LocalExecutor, PoolExecutor, Task
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.run import open_store, prepare, reference_speed
from caboose.arena.ladder.status import status_data
from caboose.cli.main import run as run_cli
from caboose.cli.options import execution as cluster
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from kill_ladder import make_ladder
from players import contestants_of, lineup_of


def test_limits_of_time_are_scaled_and_nothing_else() -> None:
    control = TimeControl(movetime=20, clock=1000, increment=10, allowance=5, roundcap=300, gamecap=900, nodes=7)
    assert scaled(control, 2.5) == replace(
        control, movetime=50, clock=2500, increment=25, allowance=12.5, roundcap=750, gamecap=2250
    )
    assert scaled(TimeControl(nodes=7), 2.5) == TimeControl(nodes=7)


def test_a_machine_that_is_half_as_fast_has_twice_the_time() -> None:
    assert scale_factor(100_000, 50_000) == 2
    assert scale_factor(1.0, 3.0) == 0.333
    assert (scale_factor(1, 5), scale_factor(5, 1)) == (0.2, 5)
    for reference, speed in ((501, 100), (100, 501)):
        with pytest.raises(ValueError, match=r"times as long: expected 0\.2 to 5 times"):
            scale_factor(reference, speed)


def test_references() -> None:
    assert parse_reference("--scale-tc", "here") == HERE
    assert parse_reference("--scale-tc", "9e4") == parse_reference("scale_tc", 90_000) == 90_000
    wrongs: list[object] = ["there", "0", "-3", "nan", "inf", True, None, []]
    for wrong in wrongs:
        with pytest.raises(CallError, match="expected here, or nodes a second"):
            parse_reference("--scale-tc", wrong)


@pytest.mark.parametrize("workers", [1, 2])
def test_blocks_are_played_with_scaled_limits_and_say_so(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    controls: list[TimeControl] = []

    def playing(game: object, players: object, control: TimeControl, **more: object) -> object:
        controls.append(control)
        return play_game(game, players, control, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("caboose.arena.blocks.block.play_game", playing)
    plan = Plan(
        rules=Rules.of("family", 2, rounds=1),
        lineup=lineup_of(contestants_of(["greedy", "random"]), 2),
        control=TimeControl(movetime=1000),
        seed=4,
        in_process=True,
    )
    with LocalExecutor(scale=1.5) if workers == 1 else PoolExecutor(workers, scale=1.5) as executor:
        ((task, result),) = executor.run([Task(plan, 0)], lambda: None)
    assert (task, result.scale) == (Task(plan, 0), 1.5)
    if workers == 1:  # else they are played elsewhere
        assert controls == [TimeControl(movetime=1500)] * 2


def test_a_ladder_keeps_its_reference_and_the_factor_of_each_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "x"
    make_ladder(folder, {"name": "m", "players": 2, "blocks": 2}, engines=("greedy", "random"))
    path = folder / "ladder.toml"
    path.write_text(path.read_text().replace("nodes = 10", "movetime = 1000"))
    monkeypatch.setattr(running, "measure_speed", lambda: 60_000.4)
    monkeypatch.setattr(cluster, "measure_speed", lambda: 60_000.4)
    assert run_cli(["ladder", "run", str(folder), "--blocks", "1", "--concurrency", "1", "--scale-tc", HERE]) == 0
    monkeypatch.setattr(cluster, "measure_speed", lambda: 30_000.0)  # on another machine, without being asked for
    assert run_cli(["ladder", "run", str(folder), "--concurrency", "1"]) == 0
    assert "limits of time are 2 times as long, for 60,000 nodes/s" in capsys.readouterr().err
    with open_store(folder, writing=True) as store:
        assert store.scales() == (1, 2.0, 2.0)  # the first was played with a factor of 1
        data = status_data(folder, read_spec(folder), store, "")
        assert (data["reference_speed"], data["scales"]) == (60_000, {"blocks": 1, "least": 2.0, "most": 2.0})
        ready = prepare(folder, read_spec(folder), store)
        assert reference_speed(ready, None) == reference_speed(ready, HERE) == reference_speed(ready, 60_000) == 60_000
        with pytest.raises(CallError, match="scaled to 60,000 nodes/s here: expected that, not 70,000"):
            reference_speed(ready, 70_000)
    assert run_cli(["ladder", "status", str(folder)]) == 0
    assert "limits of time are scaled to 60,000 nodes/s, 2 to 2 times as long in 1 block" in capsys.readouterr().out
    monkeypatch.setattr(cluster, "measure_speed", lambda: 6_000.0)
    assert run_cli(["ladder", "run", str(folder), "--concurrency", "1"]) == 2
    assert "6,000 nodes/s against 60,000 of the reference" in capsys.readouterr().err


def test_where_no_time_limits_there_is_nothing_to_scale(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["match", "greedy", "random", "--nodes", "1", "--scale-tc", "here"]) == 2
    assert "--scale-tc: no time limits the moves" in capsys.readouterr().err
