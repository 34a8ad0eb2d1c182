"""What the client of a cluster does with workers that come, go, fail, hang and differ: those of a script."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

import caboose.arena.execution.dask.executor as executor
import caboose.arena.execution.dask.scheduler as fleet
from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.arena.blocks.results import BlockResult
from caboose.arena.errors import PlayError, RunError
from caboose.arena.execution.dask.compatibility import gather_facts
from caboose.arena.execution.dask.executor import DaskExecutor
from caboose.arena.execution.dask.worker_plugin import BlockError, StrangerError
from caboose.arena.execution.executors import Task
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl
from players import contestants_of, lineup_of

PLAN = Plan(
    rules=Rules.of("family", 2, rounds=1),
    lineup=lineup_of(contestants_of(["greedy", "random"]), 2),
    control=TimeControl(nodes=1),
    seed=4,
    in_process=True,
)
FACTS = replace(gather_facts([]), host="a", cpus=(0, 1), speed=1000.0)

Play = Callable[["Script", str, Task], "BlockResult | Exception | None"]


class Script:
    """A link to workers that do as ``play`` says: a result, an error, or None for one that never answers."""

    def __init__(self, play: Play, facts: dict[str, Any]) -> None:
        self.address = "there"
        self.up = True
        self.threads = dict.fromkeys(facts, 1)
        self.played: list[tuple[str, int]] = []
        self.given: list[dict[str, object]] = []
        self.closed: list[str] = []
        self._play = play
        self._facts = facts

    def begin(self, on_end: Callable[[object, Future[Any]], None]) -> Script:
        self._on_end = on_end
        return self

    def ask_workers(self, about: object) -> None:
        self._tell(about, dict(self.threads))

    def look(self, about: object, worker: str, *given: object, **more: object) -> None:
        self._tell(about, self._facts[worker])

    def play(self, about: object, worker: str, task: Task, **given: object) -> Callable[[], None]:
        self.played.append((worker, task.block))
        self.given.append(given)
        answer = self._play(self, worker, task)
        if answer is not None:
            self._tell(about, answer)
        return lambda: None

    def close(self, workers: list[str]) -> None:
        self.closed = workers

    def _tell(self, about: object, answer: object) -> None:
        future: Future[Any] = Future()
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        self._on_end(about, future)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting: all that takes a while is over at once."""
    monkeypatch.setattr(fleet, "LOOK", 0.0)
    monkeypatch.setattr(executor, "TICK", 0.01)
    monkeypatch.setattr(executor, "LEAST_SLOW", 0.0)
    monkeypatch.setattr(executor, "QUICK", 0.0)
    monkeypatch.setattr(fleet, "gather_facts", lambda commands: FACTS)


def result_of(task: Task) -> BlockResult:
    with Bench(task.plan) as bench:
        return play_block(task.plan, bench, task.block, lambda: None)


def well(script: Script, worker: str, task: Task) -> BlockResult:
    return result_of(task)


class Ran:
    """What came of a run on a script."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, play: Play, facts: dict[str, Any], blocks: int, **more: Any
    ) -> None:
        self.script = Script(play, facts)
        self.told: list[str] = []
        self.lost: list[tuple[int, str]] = []
        self.games = 0
        monkeypatch.setattr(executor, "Link", lambda address, on_end: self.script.begin(on_end))
        self.executor = DaskExecutor("there", [], self.told.append, **more)
        with self.executor:
            tasks = [Task(PLAN, number) for number in range(blocks)]
            self.blocks = [task.block for task, _ in self.executor.run(tasks, self._on_game, self._on_lost)]

    def _on_game(self) -> None:
        self.games += 1

    def _on_lost(self, task: Task, why: str) -> None:
        self.lost.append((task.block, why))


def test_all_workers_play(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Ran(monkeypatch, well, {"a": FACTS, "b": FACTS}, 6)
    assert sorted(ran.blocks) == [*range(6)] and ran.games == 12
    assert {worker for worker, _ in ran.script.played} == {"a", "b"}
    assert ran.script.closed == ["a", "b"]


def test_no_more_than_wanted_play_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Ran(monkeypatch, well, {"a": FACTS, "b": FACTS}, 6, most=1)
    assert ran.blocks == [*range(6)]
    assert ran.executor.width == 1


def test_who_differs_plays_nothing_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(FACTS, build="0" * 16)
    ran = Ran(monkeypatch, well, {"a": FACTS, "b": other, "c": ModuleNotFoundError("no module named caboose")}, 4)
    assert {worker for worker, _ in ran.script.played} == {"a"}
    assert f"worker b is not used: build {'0' * 16} there, {FACTS.build} here" in ran.told
    assert "worker c is not used: no module named caboose" in ran.told
    with pytest.raises(RunError, match="there: none of its workers can be used"):
        Ran(monkeypatch, well, {"b": other}, 4)


def test_the_blocks_of_a_lost_worker_are_played_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(script: Script, worker: str, task: Task) -> BlockResult | None:
        if worker == "a" and task.block > 1:
            script.threads.pop("a", None)
            return None
        return result_of(task)

    monkeypatch.setattr(executor, "LEAST_SLOW", 1e9)
    ran = Ran(monkeypatch, play, {"a": FACTS, "b": FACTS}, 6)
    assert sorted(ran.blocks) == [*range(6)] and not ran.lost
    assert any(text.startswith("worker a is gone; what it played is played again: 1 block") for text in ran.told)


def test_who_hangs_holds_nothing_up_and_no_block_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck: list[int] = []

    def play(script: Script, worker: str, task: Task) -> BlockResult | None:
        if worker == "a" and task.block > 1 and not stuck:
            stuck.append(task.block)
            return None
        return result_of(task)

    ran = Ran(monkeypatch, play, {"a": FACTS, "b": FACTS}, 6)
    assert sorted(ran.blocks) == [*range(6)] and ran.games == 12
    assert [worker for worker, block in ran.script.played if block == stuck[0]] == ["a", "b"]


def test_a_block_that_fails_everywhere_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(script: Script, worker: str, task: Task) -> BlockResult | Exception:
        return BlockError("it died") if task.block == 2 else result_of(task)

    ran = Ran(monkeypatch, play, {"a": FACTS, "b": FACTS}, 5)
    assert sorted(ran.blocks) == [0, 1, 3, 4]
    assert ran.lost == [(2, "3 workers failed to play it, the last: it died")]
    assert sum(block == 2 for _, block in ran.script.played) == 3


def test_a_worker_that_always_fails_is_used_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(script: Script, worker: str, task: Task) -> BlockResult | Exception:
        return BlockError("no memory") if worker == "a" else result_of(task)

    monkeypatch.setattr(executor, "MAX_LOSSES", 3)
    ran = Ran(monkeypatch, play, {"a": FACTS, "b": FACTS}, 30)
    assert len(ran.blocks) + len(ran.lost) == 30
    assert "worker a is not used any more: it failed 5 times, last: no memory" in ran.told
    assert sum(worker == "a" for worker, _ in ran.script.played) == fleet.MOST_FAILURES


def test_a_worker_that_began_anew_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    strange: list[int] = []

    def play(script: Script, worker: str, task: Task) -> BlockResult | Exception:
        if not strange:
            strange.append(task.block)
            return StrangerError()
        return result_of(task)

    ran = Ran(monkeypatch, play, {"a": FACTS}, 3)
    assert sorted(ran.blocks) == [0, 1, 2] and not ran.lost


def test_a_scheduler_that_is_gone_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(script: Script, worker: str, task: Task) -> BlockResult:
        script.up = task.block < 2
        return result_of(task)

    with pytest.raises(PlayError, match="the scheduler at there does not answer any more"):
        Ran(monkeypatch, play, {"a": FACTS}, 5)
    monkeypatch.setattr(fleet, "AGAIN", 0.0)

    def leave(script: Script, worker: str, task: Task) -> None:
        script.threads.clear()

    with pytest.raises(PlayError, match="there has had no worker to use for 0 seconds"):
        Ran(monkeypatch, leave, {"a": FACTS}, 5)


def test_limits_of_time_follow_the_speed_of_each_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, tiny = replace(FACTS, speed=500.0), replace(FACTS, speed=100.0)
    ran = Ran(monkeypatch, well, {"a": FACTS, "b": slow, "c": tiny}, 6, reference=1000.0)
    scales = {worker: given["scale"] for (worker, _), given in zip(ran.script.played, ran.script.given, strict=True)}
    assert scales == {"a": 1.0, "b": 2.0}
    assert "there: 2 workers, 2 blocks at a time, limits of time 1 to 2 times as long" in ran.told
    assert any(text.startswith("worker c is not used: 100 nodes/s against 1,000") for text in ran.told)


def test_workers_on_the_same_cores_are_not_bound_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    beside, elsewhere = replace(FACTS, cpus=(1, 2)), replace(FACTS, host="c")
    ran = Ran(monkeypatch, well, {"a": FACTS, "b": beside, "c": elsewhere}, 9, pin=True)
    pinned = {worker: given["pin"] for (worker, _), given in zip(ran.script.played, ran.script.given, strict=True)}
    assert pinned["b"] is False and pinned["c"] is True
    (told,) = [text for text in ran.told if text.startswith("workers a and b run on the same cores of a")]
    assert told.endswith("expected a taskset of its own for each")
