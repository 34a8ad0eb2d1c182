"""Engines that are bound to cores (``--pin``)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import caboose.protocol.process.affinity as affinity
from caboose.arena.blocks.block import Plan, Players
from caboose.arena.blocks.cpu_pinning import Pinning, pinning_problem, share_cores
from caboose.arena.execution.executors import PoolExecutor, Task
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.affinity import allowed_cores, bound
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.timing import TimeControl
from players import contestants_of, lineup_of, wait_until

FOUR = [(0, 4), (1, 5), (2, 6), (3, 7)]
PLAN = Plan(
    rules=Rules.of("family", 2, rounds=1),
    lineup=lineup_of(contestants_of(["greedy", "random"]), 2),
    control=TimeControl(nodes=1),
    seed=4,
)

linux = pytest.mark.skipif(not affinity.CAN_BIND, reason="processes can be bound to cores on Linux only")
several = pytest.mark.skipif(
    not affinity.CAN_BIND or len(os.sched_getaffinity(0)) < 2, reason="needs two processors that can be bound to"
)


def bound_to(pid: int | str) -> set[int]:
    """The processors that the system lets a process run on."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return {cpu for part in line.split()[1].split(",") for cpu in affinity._span(part)}
    raise AssertionError("there is no such line")


def test_blocks_and_engines_share_no_core_while_there_are_enough() -> None:
    first, second = share_cores(FOUR, 2)
    assert (first, second) == (Pinning(((0, 4), (1, 5))), Pinning(((2, 6), (3, 7))))
    assert [second.cpus(seat) for seat in range(3)] == [(2, 6), (3, 7), (2, 6)]
    assert second.all == (2, 6, 3, 7)
    assert [len(each.cores) for each in share_cores(FOUR, 3)] == [1, 1, 2]
    assert [each.cores for each in share_cores(FOUR[:2], 3)] == [((0, 4),), ((1, 5),), ((0, 4),)]
    assert Pinning(()).cpus(3) == ()


def test_too_few_cores_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caboose.arena.blocks.cpu_pinning.CAN_BIND", True)
    assert pinning_problem(FOUR, 2, 2) == ""
    assert "4 cores will not do for 1 block of 5 engines at a time, so engines of a block share" in pinning_problem(
        FOUR, 1, 5
    )
    assert "so blocks share cores; expected 10 cores" in pinning_problem(FOUR, 5, 2)
    monkeypatch.setattr("caboose.arena.blocks.cpu_pinning.CAN_BIND", False)
    assert "on Linux only" in pinning_problem(FOUR, 1, 2)


@linux
def test_siblings_are_one_core_as_far_as_they_are_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affinity, "_CPUS", tmp_path)
    for cpu, siblings in enumerate(["0,4-5", "1", "2-3", "2-3", "0,4-5"]):
        (tmp_path / f"cpu{cpu}" / "topology").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}" / "topology" / "thread_siblings_list").write_text(f"{siblings}\n")
    for allowed, cores in (
        ({0, 1, 2, 3, 4}, [(0, 4), (1,), (2, 3)]),
        ({1, 3}, [(1,), (3,)]),
        ({0, 7}, [(0,), (7,)]),  # of one nothing is told
    ):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, allowed=allowed: allowed)
        assert allowed_cores() == cores


@several
def test_engines_are_bound_and_who_starts_them_is_not() -> None:
    before = bound_to("self")
    one, other, *_ = sorted(os.sched_getaffinity(0))
    with Players(Pinning(((one,), (other,)))) as players:
        for player, cpu in zip(players.bench(PLAN).players, (one, other), strict=True):
            assert isinstance(player, EngineProcess)
            player.start()
            assert player.pid is not None
            assert bound_to(player.pid) == {cpu}
            # So are its threads, and whatever else it starts.
            tasks = Path(f"/proc/{player.pid}/task").iterdir()
            assert all(bound_to(f"{player.pid}/task/{task.name}") == {cpu} for task in tasks)
    assert bound_to("self") == before
    with bound(()):
        assert bound_to("self") == before


@several
def test_a_pool_gives_each_worker_cores_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, *_ = sorted(os.sched_getaffinity(0))
    monkeypatch.setattr("caboose.arena.execution.executors.allowed_cores", lambda: [(one,), (other,)])
    plan = replace(PLAN, in_process=True)

    def right() -> bool:
        seen = {worker.place: bound_to(worker.process.pid or 0) for worker in pool._workers}
        return seen == {0: {one}, 1: {other}}

    with PoolExecutor(2, pin=True) as pool:
        assert len([*pool.run((Task(plan, number) for number in range(4)), lambda: None)]) == 4
        assert wait_until(right)
