"""A cluster in which everything dies: ``python tests/tools/soak_cluster.py``, a minute or two.

The client is killed and interrupted, workers are killed and stopped at random while a ladder is played, then the
scheduler is killed. The ladder must end with exactly the games of one that nobody disturbed, and nothing that plays may
be left. Exit codes: 0 so it is, 1 it is not.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from caboose.arena.execution.dask.executor import DaskExecutor
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.storage.ladder_folder import locked

sys.path.append(str(Path(__file__).parents[1] / "support"))

from clusters import Cluster, running_cluster
from kill_ladder import Quiet, count, facts, make_ladder, play_all, recorded, run_command
from players import wait_until

GONE: Final = 20.0  # seconds in which what played must be gone


class Reaper(Quiet):
    """A watcher that now and then kills or stops a worker and starts another."""

    def __init__(self, cluster: Cluster, chance: random.Random, often: float) -> None:
        super().__init__()
        self.cluster = cluster
        self.chance = chance
        self.often = often
        self.done: list[str] = []

    def block_over(self, *about: object) -> None:
        super().block_over()
        playing = sorted(set(self.cluster.players().values()))
        if playing and self.chance.random() < self.often:
            number = self.chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
            self.cluster.send(self.chance.choice(playing), number)
            self.cluster.start()
            self.done.append(number.name)


def played(folder: Path, cluster: Cluster, watcher: Quiet) -> str:
    """Plays a ladder on the cluster; what is wrong, or nothing."""
    with locked(folder), open_store(folder, writing=True) as store:
        ready = prepare(folder, read_spec(folder), store)
        return play(ready, DaskExecutor(cluster.address, [], print), Limit(), watcher)


def client(folder: Path, cluster: Cluster) -> subprocess.Popen[bytes]:
    """A run by the command, which has played some blocks."""
    before = count(folder)
    process = subprocess.Popen([*run_command(folder, 2), "--dask", cluster.address], stdout=subprocess.DEVNULL)
    assert wait_until(lambda: count(folder) > before or process.poll() is not None, 120)
    return process


def gone(cluster: Cluster) -> bool:
    """Whether nothing plays any more, in time."""
    return wait_until(lambda: not cluster.players(), GONE)


def main() -> None:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=150)
    parser.add_argument("--often", type=float, default=0.06, help="how likely a worker dies after a block")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    failed = False

    def check(what: str, right: bool) -> None:
        nonlocal failed
        failed |= not right
        print(f"{'ok  ' if right else 'FAIL'}  {what}", flush=True)

    lists: tuple[dict[str, Any], ...] = (
        {"name": "tables", "format": "random", "players": 3, "blocks": given.blocks, "generation": 8, "rounds": 3},
    )
    make: Callable[[Path], None] = lambda folder: make_ladder(folder, *lists)  # noqa: E731
    with tempfile.TemporaryDirectory() as temporary, running_cluster(3) as cluster:
        here, there = Path(temporary) / "here", Path(temporary) / "there"
        make(here)
        play_all(here)
        make(there)
        process = client(there, cluster)
        process.kill()
        process.wait()
        begun, right = time.monotonic(), gone(cluster)
        check(f"the client is killed: nothing plays after {time.monotonic() - begun:.1f} s", right)
        process = client(there, cluster)
        process.send_signal(signal.SIGINT)
        check("the client is interrupted: exit code 1, and nothing plays when it ends", process.wait() == 1)
        check("nothing plays", not cluster.players())
        watcher = Reaper(cluster, random.Random(given.seed), given.often)
        problem = played(there, cluster, watcher)
        check(f"workers die ({', '.join(watcher.done)}): {problem or 'all is played'}", not problem)
        check("the same games", facts(here) == facts(there))
        check("the same records", recorded(here) == recorded(there))
        again = Path(temporary) / "again"
        make(again)
        process = client(again, cluster)
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        begun = time.monotonic()
        code = process.wait()
        check(f"the scheduler is killed: the client ends after {time.monotonic() - begun:.1f} s with 1", code == 1)
        check("what was finished is kept", 0 < count(again) < given.blocks)
        play_all(again)
        check("and ends as it would have", facts(here) == facts(again))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
