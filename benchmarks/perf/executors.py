"""What it costs to play blocks elsewhere: each executor beside play in this process, and how far one client gets.

``python benchmarks/perf/executors.py`` starts a Dask scheduler and workers on this machine. Overheads are processor
time for each block, of all processes that take part, which other work of the machine hardly changes; what is played is
taken off by playing the same blocks in this process. Wall-clock times are the least of several runs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from caboose.arena.blocks.block import Plan
from caboose.arena.blocks.contestants import About, Lineup, make_contestants, make_entrants, make_entries
from caboose.arena.blocks.game_rows import seat_rows
from caboose.arena.execution.dask.executor import DaskExecutor
from caboose.arena.execution.dask.worker_plugin import pack
from caboose.arena.execution.executors import Executor, LocalExecutor, PoolExecutor, Task
from caboose.arena.ladder.store import BlockKey, Entry, Store
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from clusters import Cluster, running_cluster

SMALL: Final = "greedy, 2 players, 1 round"
LARGE: Final = "mcts, 2 players, 1 round, 400 nodes"
COMMITS: Final = 2000


class Cost(NamedTuple):
    """Milliseconds for a block: of processor time in this process, in the scheduler, in all others, and on the wall."""

    here: float
    scheduler: float
    others: float
    wall: float


def make_plan(bot: str, players: int, rounds: int | str, control: TimeControl, *, recording: bool = False) -> Plan:
    """Copies of a bot in the playing process."""
    entrants = make_entrants([bot, bot], [])
    contestants = make_contestants(entrants, [About(), About()], [])
    return Plan(
        rules=Rules.of("family", players, rounds=rounds),
        lineup=Lineup(contestants, make_entries(2, players)),
        control=control,
        seed=1,
        in_process=True,
        recording=recording,
    )


def spent(processes: list[psutil.Process]) -> float:
    """Seconds of processor time of some processes and of what they have started."""
    total = 0.0
    for process in processes:
        for one in (process, *process.children(recursive=True)):
            times = one.cpu_times()
            total += times.user + times.system
    return total


def timed(executor: Executor, plan: Plan, blocks: int, others: Callable[[], list[psutil.Process]]) -> Cost:
    """Plays blocks once all workers are warm."""
    for _ in executor.run((Task(plan, number) for number in range(4)), lambda: None):
        pass
    processes = others()
    scheduler = [process for process in processes if "distributed.cli.dask_scheduler" in process.cmdline()]
    workers = [process for process in processes if process not in scheduler]
    cpu, between, elsewhere, wall = time.process_time(), spent(scheduler), spent(workers), time.perf_counter()
    for _ in executor.run((Task(plan, number) for number in range(blocks)), lambda: None):
        pass
    return Cost(
        (time.process_time() - cpu) * 1000 / blocks,
        (spent(scheduler) - between) * 1000 / blocks,
        (spent(workers) - elsewhere) * 1000 / blocks,
        (time.perf_counter() - wall) * 1000 / blocks,
    )


def children() -> list[psutil.Process]:
    """What this process has started, but for a cluster."""
    return [each for each in psutil.Process().children() if "distributed" not in " ".join(each.cmdline())]


def make_executor(cluster: Cluster, name: str) -> tuple[Executor, Callable[[], list[psutil.Process]]]:
    """The executor ``here``, ``pool N`` or ``dask N``, and what gives the other processes that it uses."""
    kind, _, count = name.partition(" ")
    if kind == "here":
        return LocalExecutor(), list
    if kind == "pool":
        return PoolExecutor(int(count)), children
    return DaskExecutor(cluster.address, [], lambda text: None, most=int(count)), cluster.processes


def compare(cluster: Cluster, plan: Plan, names: list[str], blocks: int, turns: int) -> dict[str, Cost]:
    """The least of several alternating runs of each executor."""
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for _ in range(turns):
        for name in names:
            executor, others = make_executor(cluster, name)
            with executor:
                costs[name].append(timed(executor, plan, blocks, others))
    return {name: Cost(*map(min, zip(*found, strict=True))) for name, found in costs.items()}


def commits(blocks: int) -> float:
    """Blocks of four games that a ladder's database takes in a second."""
    plan = make_plan("random", 4, 1, TimeControl(nodes=1))
    with LocalExecutor() as local:
        ((_, result),) = local.run([Task(plan, 0)], lambda: None)
    rows = [seat_rows(game, (1, 2, 2, 2)) for game in result.games]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "ladder.db"
        Store.create(path, {"seed": "1"})
        with Store.open(path, writing=True) as store:
            for name in ("a", "b"):
                store.add_entry(Entry(0, name, 1, "{}", "random", "", "", "", "now"))
            store.add_list("main", 4, "")
            begun = time.perf_counter()
            for number in range(blocks):
                store.commit(BlockKey(1, number, (1, 2, 2, 2)), rows, [], finished="now", record=None)
            return blocks / (time.perf_counter() - begun)


def round_costs() -> Iterator[tuple[str, float]]:
    """Milliseconds of processor time for a round of four, played in this process."""
    for bot, control, blocks in (
        ("random", TimeControl(nodes=1), 60),
        ("greedy", TimeControl(nodes=1), 60),
        ("planner", TimeControl(nodes=1), 60),
        ("mcts", TimeControl(nodes=100), 4),
        ("mcts", TimeControl(nodes=1000), 1),
        ("mcts", TimeControl(movetime=20), 2),
    ):
        plan = make_plan(bot, 4, 1, control)
        with LocalExecutor() as local:
            list(local.run([Task(plan, blocks)], lambda: None))
            begun = time.process_time()
            list(local.run([Task(plan, number) for number in range(blocks)], lambda: None))
            cost = time.process_time() - begun
        yield f"{bot}, {control}", cost * 1000 / (4 * blocks)


def sizes() -> Iterator[tuple[str, int, int]]:
    """The bytes of a task and of a packed result, for blocks of four whole games."""
    for recording in (False, True):
        plan = make_plan("planner", 4, "all", TimeControl(nodes=1), recording=recording)
        with LocalExecutor() as local:
            ((task, result),) = local.run([Task(plan, 0)], lambda: None)
        yield "with records" if recording else "without records", len(pickle.dumps(task)), len(pack(result))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=300, help="small blocks in a run")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="of the cluster, which are also counted up to")
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'a round of four, in process':36} {'CPU ms':>12}")
    for name, cpu in round_costs():
        print(f"{name:36} {cpu:12.1f}", flush=True)
    print(f"\n{'bytes of a block of whole games':36} {'task':>12} {'result':>12}")
    for name, task, result in sizes():
        print(f"{name:36} {task:12,} {result:12,}")
    print(f"\n{'blocks committed a second':36} {commits(COMMITS):12,.0f}\n")
    with running_cluster(given.workers) as cluster:
        print(f"{'ms a block':28} {'CPU here':>9} {'scheduler':>10} {'workers':>8} {'wall':>8}")
        several = [f"{kind} {count}" for kind in ("pool", "dask") for count in range(1, given.workers + 1)]
        for what, plan, blocks in (
            (SMALL, make_plan("greedy", 2, 1, TimeControl(nodes=1)), given.blocks),
            (LARGE, make_plan("mcts", 2, 1, TimeControl(nodes=400)), max(given.blocks // 10, 8)),
        ):
            print(what)
            costs = compare(cluster, plan, ["here", *several], blocks, given.turns)
            played = costs["here"]
            for name, cost in costs.items():
                more = "" if name == "here" else f"   overhead {sum(cost[:3]) - sum(played[:3]):.1f} ms of CPU"
                times = f"   {played.wall / cost.wall:.2f} times as fast"
                figures = f"{cost.here:9.2f} {cost.scheduler:10.2f} {cost.others:8.2f} {cost.wall:8.2f}"
                print(f"  {name:26} {figures}{times}{more}", flush=True)


if __name__ == "__main__":
    main()
