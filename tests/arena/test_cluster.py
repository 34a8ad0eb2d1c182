"""Blocks on a Dask cluster: the same results as here, whatever becomes of its workers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import caboose.arena.execution.dask.scheduler as fleet
from caboose.arena.errors import CallError, RunError
from caboose.arena.execution.dask.compatibility import Facts, differences, gather_facts
from caboose.arena.execution.dask.executor import DaskExecutor
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.storage.ladder_folder import locked
from caboose.cli.main import run as run_cli
from kill_ladder import Quiet, facts, make_ladder, play_all, recorded
from players import is_alive, wait_until
from studies import GAMES, MADE_UP, count, run_study, write_study
from studies import facts as studied
from tuned_engine import write as write_pupil

pytest.importorskip("distributed", reason="needs the package distributed: pip install 'caboose[dask]'")
from distributed import Client

from clusters import Cluster, running_cluster

LISTS: tuple[dict[str, Any], ...] = (
    {"name": "tables", "format": "random", "players": 3, "blocks": 12, "generation": 2},
    {"name": "pairs", "format": "round-robin", "players": 2, "blocks": 1},
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster(2) as cluster:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield cluster


class Killing(Quiet):
    """A watcher that kills a worker that plays after the third block."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.seen: dict[int, int] = {}

    def block_over(self, *about: object) -> None:
        super().block_over()
        self.seen |= self.cluster.players()
        if self.blocks == 3:
            self.cluster.send(min(self.seen.values()))


def test_a_worker_that_others_do_not_match_is_not_used(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    ours = gather_facts([])
    monkeypatch.setattr(fleet, "gather_facts", lambda commands: ours)
    monkeypatch.setattr(fleet, "differences", lambda there, here: ["caboose 7 there, 8 here"])
    with pytest.raises(RunError, match="none of its workers can be used"):
        DaskExecutor(cluster.address, [], told.append)
    assert len(told) == 2
    assert all(text.startswith("worker tcp://") for text in told)
    assert all(text.endswith(" is not used: caboose 7 there, 8 here") for text in told)


def test_a_comparison_ends_on_a_cluster_as_it_does_here(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    rules = ["--in-process", "--nodes", "1", "--rounds", "1", "--players", "2", "--seed", "7"]
    told: list[Any] = []
    for more in ([], ["--dask", cluster.address]):
        run_cli(["compare", "planner", "random", *rules, "--json", *more])
        data = json.loads(capsys.readouterr().out)
        told.append({key: value for key, value in data.items() if key not in ("seconds", "call", "command")})
    assert told[0] == told[1]
    assert told[0]["verdict"] == "H1"


def test_a_study_whose_client_is_killed_ends_as_one_that_was_played_here(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = write_study(tmp_path / "here", GAMES, "spsa")
    assert len(run_study(here).known) == 60
    there = write_study(tmp_path / "there", GAMES, "spsa")
    call = ["tune", str(there), "--dask", cluster.address, "--json"]
    client = subprocess.Popen([sys.executable, "-P", "-m", "caboose.cli.main", *call], stdout=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: count(there) > 0 or client.poll() is not None)
    finally:
        client.kill()
    assert client.wait() == -signal.SIGKILL
    assert count(there) < 60
    run_cli(call)
    assert json.loads(capsys.readouterr().out)["state"] == "done"
    assert studied(there) == studied(here)


def test_a_foreign_engine_is_tuned_on_a_cluster_as_it_is_here(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        paths.append(write_pupil(tmp_path / name, "os._exit(3)"))  # with much skill
        paths[-1].write_text(paths[-1].read_text().replace("hand = 3", "hand = 8"))
    study = run_study(paths[0])
    assert study.recommended is not None and study.recommended.values != study.space.current
    run_cli(["tune", str(paths[1]), "--dask", cluster.address, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["state"] == "done" and data["faults"] == study.faults > 0
    assert data["recommendation"]["values"] == dict(study.space.options(study.recommended.values))
    assert studied(paths[1]) == studied(paths[0])


def test_a_function_is_worth_the_same_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    here, there = write_study(tmp_path / "here", MADE_UP, "spsa"), write_study(tmp_path / "there", MADE_UP, "spsa")
    for path in (here, there):
        path.write_text(path.read_text().replace("blocks = 150", "blocks = 12") + "[verify]\nblocks = 0\n")
    run_study(here)
    run_cli(["tune", str(there), "--dask", cluster.address])
    assert studied(there) == studied(here)


def test_a_cluster_plays_what_this_machine_plays_though_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    make_ladder(tmp_path / "here", *LISTS)
    play_all(tmp_path / "here")
    make_ladder(tmp_path / "there", *LISTS)
    told: list[str] = []
    watcher = Killing(cluster)
    with locked(tmp_path / "there"), open_store(tmp_path / "there", writing=True) as store:
        ready = prepare(tmp_path / "there", read_spec(tmp_path / "there"), store)
        assert play(ready, DaskExecutor(cluster.address, [], told.append), Limit(), watcher) == ""
    assert facts(tmp_path / "there") == facts(tmp_path / "here")
    assert recorded(tmp_path / "there") == recorded(tmp_path / "here")
    assert (watcher.blocks, watcher.games) == (12 + 6, 12 * 3 + 6 * 2)
    assert told[0].startswith(f"{cluster.address}: ") and " at a time" in told[0]
    assert any(text.startswith("worker tcp://") and " is gone" in text for text in told[1:])
    # Nothing of what played is left: the client ends it when it leaves, and the killed worker's sees to it by itself.
    assert wait_until(lambda: not any(map(is_alive, watcher.seen)))


def test_what_must_be_the_same_is_told_where_it_differs() -> None:
    here = gather_facts([("sh", "x"), ("/no/such/engine",)])
    assert dict(here.engines)["/no/such/engine",] == "!/no/such/engine: No such file or directory"
    there = Facts(
        caboose="0.0.7",
        build=here.build,
        distributed=here.distributed,
        python="3.1",
        engines=((("sh", "x"), "0" * 16), (("/no/such/engine",), "!/no/such/engine: Permission denied")),
        sandbox="bubblewrap is not here",
        host="elsewhere",
        cpus=(),
        speed=0.0,
    )
    assert [*differences(here, here)] == ["engine /no/such/engine: /no/such/engine: No such file or directory"]
    assert [*differences(there, here)] == [
        f"caboose 0.0.7 there, {here.caboose} here",
        f"python 3.1 there, {here.python} here",
        "bubblewrap is not here",
        f"engine sh x: its files have the hash {'0' * 16} there, {dict(here.engines)['sh', 'x']} here",
        "engine /no/such/engine: /no/such/engine: Permission denied",
    ]


def test_where_there_is_no_scheduler_it_is_told() -> None:
    with pytest.raises(CallError, match="'a b': expected the address of a scheduler"):
        DaskExecutor("a b", [], print)
    with pytest.raises(RunError, match=r"--dask http://x:1: no scheduler answers there \(unknown address scheme"):
        DaskExecutor("http://x:1", [], print)


def test_calls_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    match = ["match", "greedy", "random", "--players", "2", "--nodes", "1", "--blocks", "1", "--dask"]
    assert run_cli([*match, "tcp://10.0.0.1:8786", "--log", str(tmp_path)]) == 2
    assert "--log with --dask: expected one of them" in capsys.readouterr().err
    assert run_cli([*match, "nowhere"]) == 1
    assert "--dask nowhere: no scheduler answers there (missing port number" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run_cli([*match, "tcp://10.0.0.1:8786"]) == 2
    assert "--dask needs the package distributed: pip install 'caboose[dask]'" in capsys.readouterr().err
