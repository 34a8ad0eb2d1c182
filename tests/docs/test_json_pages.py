"""The keys that the pages list are those that ``--json`` prints, object by object."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.bench.search_bench import BenchResult
from caboose.cli.main import run
from caboose.protocol.records.records import record_text
from paths import DOCS
from players import engine_command
from record_samples import SMALL, play_record

pytestmark = pytest.mark.usefixtures("still_readable")
TOP = ""


def documented(page: str, section: str = "") -> dict[str, set[str]]:
    """The keys of each object that a page, or a section of it, has in tables. A heading in code names the object: the
    way to it from the top, with ``[]`` for each element of a list."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if section:
        text = re.split(r"^## ", text.partition(f"\n## {section}\n")[2], flags=re.MULTILINE)[0]
    found: dict[str, set[str]] = {}
    place = TOP
    for line in text.splitlines():
        if line.startswith("#"):
            named = re.fullmatch(r"#+ `(.*)`", line)
            place = named[1] if named else TOP
        elif line.startswith("| `"):
            found.setdefault(place, set()).update(re.findall(r"`([a-z_]+)`", line.split("|")[1]))
    return found


def printed(value: Any, place: str = TOP, found: dict[str, set[str]] | None = None) -> dict[str, set[str]]:
    """The same of JSON."""
    found = {} if found is None else found
    if isinstance(value, dict):
        found.setdefault(place, set()).update(value)
        for key, inner in value.items():
            printed(inner, f"{place}.{key}" if place else key, found)
    elif isinstance(value, list):
        for inner in value:
            printed(inner, f"{place}[]", found)
    return found


def test_of_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all limits, and an engine that crashes again in each replay."""
    engine = shlex.join(engine_command(tmp_path, "if asked == 2: sys.exit(3)"))
    call = ["match", "greedy", engine, "--players", "2", "--rounds", "1", "--blocks", "1", "--crashed", "replayed"]
    call += shlex.split("--in-process --movetime 60000 --tc 60+1 --round-cap 60 --game-cap 60 --nodes 5 --playouts 5")
    assert run([*call, "--json", "-"]) == 0
    keys = printed(json.loads(capsys.readouterr().out))
    assert keys.pop("standings[].faults") == {"dead"}  # these keys are kinds
    wanted = documented("reference/results.md")
    wanted["blocks[].games[].crashes[].fault"] = wanted["blocks[].games[].result.seats[].fault"]
    keys["standings[]"] |= {"cpu_mean"}  # which only Linux tells
    assert keys == wanted


def test_of_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = shlex.join(engine_command(tmp_path))
    assert run(["check", engine, "--step", "play.number", "--json"]) == 0
    keys = printed(json.loads(capsys.readouterr().out))
    keys["engine"] |= {"author"}  # which this one does not say
    assert keys == documented("guides/check.md", "For programs")


def test_of_an_analysis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games"
    path.write_text(record_text(play_record(SMALL, seed=3)), encoding="utf-8")
    call = ["analyse", str(path), "--nodes", "20", "--round", "1", "--json"]
    assert run(call) == 0
    game = json.loads(capsys.readouterr().out)
    assert run([*call, "--event", str(game["choices"][0]["event"])]) == 0
    keys = printed(json.loads(capsys.readouterr().out))
    for place, more in printed(game).items():
        keys.setdefault(place, set()).update(more)
    wanted = documented("guides/analyse.md", "JSON")
    for place in ("choices[].best", "choices[].played"):
        wanted[place] = wanted["choice.candidates[]"]
    assert keys == wanted


def test_of_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With an engine that fails."""
    suite = tmp_path / "suite.jsonl"
    make = "--play 2 --players 3 --by planner --nodes 500 --positions 4"
    assert run(["suite", "make", "-o", str(suite), *shlex.split(make)]) == 0
    capsys.readouterr()
    engine = shlex.join(engine_command(tmp_path, "if asked == 2: sys.exit(3)"))
    assert run(["suite", "score", str(suite), "planner", engine, "--nodes", "40", "--depth", "--json"]) == 1
    keys = printed(json.loads(capsys.readouterr().out))
    assert keys.pop("suite.options") == {"Laps"}  # these keys are options
    assert keys.pop("engines[].options") == set()
    means = {place for place, inner in keys.items() if inner == {"mean", "half", "count"}}
    assert means == {f"engines[].{name}" for name in ("loss", "behind", "agreement", "blunders")} | {
        "engines[].parts[].loss",
        "engines[].steps[].loss",
    }
    wanted = documented("guides/suite.md", "JSON")
    assert {place: inner for place, inner in keys.items() if place not in means} == wanted


def test_of_a_bench() -> None:
    """It prints its result as it is."""
    assert {field.name for field in fields(BenchResult)} == documented("explanation/performance.md")[
        "caboose bench --json"
    ]
