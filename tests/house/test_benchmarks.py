"""The benchmarks run, the yardstick plays the game that we play, and what compares them counts right."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import compare
from caboose.arena.console.console import Console
from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.rules import Rules
from compare import build_name, per_second, read_run, saved_file
from grid import GRID, middle_of_a_round, table_name, yardstick_rules
from paths import ROOT
from sitting import TABLES, Ratio, TableResult, Timing

COMPILER = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))


def test_every_benchmark_runs() -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "benchmarks",
        "--benchmark-disable",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    # Eleven kinds at each table of the grid, and more besides.
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 11 * len(GRID)


@pytest.fixture(scope="module")
def yardsticks(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The yardstick by the words of its sets."""
    folder = tmp_path_factory.mktemp("yardstick")
    source = ROOT / "benchmarks" / "perf" / "yardstick.c11"
    built = {words: folder / f"yardstick-{words}" for words in (2, 3)}
    for words, path in built.items():
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-DWORDS={words}"]
        subprocess.run([*COMPILER[:1], *flags, "-o", path, "-x", "c", source], check=True, timeout=120)
    return built


@pytest.mark.parametrize("table", TABLES)
def test_the_yardstick_plays_our_game(yardsticks: dict[int, Path], table: tuple[int, int, int]) -> None:
    """The rounds differ, so means are compared; the seeds are fixed, so the result is always the same."""
    rounds = 20_000
    command = [str(yardsticks[2 if table[0] <= 12 else 3]), *map(str, table), f"{rounds}r"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.split()
    assert said[::2] == ["rounds", "plays", "seconds"]
    assert int(said[1]) == rounds
    plays = simulate(yardstick_rules(*table), rounds).plays
    error = float(plays.std()) * np.sqrt(2 / rounds)
    assert abs(int(said[3]) / rounds - plays.mean()) < 4 * error


@pytest.mark.parametrize(
    ("words", "call", "why"),
    [
        (2, "12 4", "usage: yardstick SET PLAYERS HAND"),
        (2, "18 4 15", "set 18: expected a whole number from 1 to 14"),
        (3, "12 15 2", "players 15: expected a whole number from 2 to 14"),
        (3, "12 4 23", "hand 23: expected a whole number from 1 to 22"),
        (3, "12 4 15 x", "x: expected seconds such as 2.5, or rounds such as 100000r"),
        (3, "12 4 15 5s", "5s: expected seconds such as 2.5, or rounds such as 100000r"),
    ],
)
def test_a_wrong_call_of_the_yardstick_is_refused(yardsticks: dict[int, Path], words: int, call: str, why: str) -> None:
    done = subprocess.run([yardsticks[words], *call.split()], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("rules", GRID, ids=table_name)
def test_positions_to_measure_are_in_mid_round(rules: Rules) -> None:
    for seed in range(5):
        round_ = middle_of_a_round(rules, seed)
        assert not round_.over
        assert len(round_.events) >= 5


def test_ratios_are_of_runs_that_followed_each_other() -> None:
    assert Ratio.of([2.0, 3.0, 8.0], [1.0, 2.0, 2.0]) == Ratio(2.0, 1.5, 4.0)
    runs = {"ours": [Timing(100, 5000, 1.0, 2.0)], "threads": [Timing(200, 10_000, 2.5, 2.0)]}
    result = TableResult(12, 4, 15, runs)
    assert result.rates("ours") == [100.0]
    assert result.costs("ours") == [200_000.0]
    assert result.ratio("threads", "ours").median == 0.8  # of processor time
    assert result.gain("threads", "ours").median == 2.0  # on the wall


def saved(folder: Path, number: str, **changes: object) -> Path:
    """A saved run of one benchmark."""
    entry = {
        "name": "test_deal[12x4]",
        "stats": {"min": 0.002},
        "extra_info": {"unit": "deals", "count": 4000, "flags": "-O3 -march=native"},
    }
    data = {"commit_info": {"id": "0123456789abcdef", "dirty": True}, "benchmarks": [entry]} | changes
    path = folder / compare.MACHINE / f"{number}_0123456789abcdef.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_saved_runs_are_found_by_number_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "STORAGE", tmp_path)
    with pytest.raises(ValueError, match="no saved run to compare with: make benchmarks"):
        saved_file("latest")
    first, second = saved(tmp_path, "0001"), saved(tmp_path, "0002")
    assert saved_file("latest") == second
    assert saved_file("0001") == saved_file("1") == first
    with pytest.raises(ValueError, match="no saved run 3: expected latest or one of 0001, 0002"):
        saved_file("3")
    run = read_run(second)
    assert (run.name, run.commit, build_name(run.flags)) == ("0002", "012345678+", "native")
    assert run.rates == {"deal[12x4]": compare.Rate(2_000_000.0, "deals")}
    assert compare.keep(json.loads(second.read_text())).name.startswith("0003_")
    info = {"unit": "deals", "count": 4000, "flags": ""}
    for entry in ({}, {"name": "a", "stats": {"min": 0}, "extra_info": info}, {"name": 1, "extra_info": info}):
        with pytest.raises(ValueError, match="is not a saved run of these benchmarks"):
            read_run(saved(tmp_path, "0004", benchmarks=[entry]))


@pytest.mark.parametrize("words", ["--runs 0", "--seconds 1e-9", "--seconds inf", "--seconds nan"])
def test_sittings_that_cannot_be_held(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        compare.main(["yardstick", *words.split()])
    assert ending.value.code == 2
    assert "expected at least one run, of 0.01 to 60 seconds" in capsys.readouterr().err


def test_rates_are_written_in_three_digits() -> None:
    assert [per_second(rate) for rate in (0.935, 12.3, 3912.0, 73_900.0, 41_800_000.0)] == [
        "0.935", "12.3", "3.91 k", "73.9 k", "41.8 M",
    ]  # fmt: skip


def test_the_tables_fit_eighty_columns() -> None:
    timings = [Timing(123_456, 8_765_432, 0.3, 0.4), Timing(123_456, 8_765_432, 0.2, 0.5)]
    results = [
        TableResult(*table, dict.fromkeys(("ours", "same", "native", "threads", "planner"), timings))
        for table in TABLES
    ]
    for table in compare.yardstick_tables(results):
        assert Console(width=80).measure(table).maximum <= 80
