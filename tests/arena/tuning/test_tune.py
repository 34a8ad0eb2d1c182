"""Tuning: what a search sees, that a killed study ends as one that nobody disturbed, and what people are told."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest

from caboose.arena.errors import CallError
from caboose.arena.execution.executors import PoolExecutor
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.function_objectives import make_measure
from caboose.arena.tuning.methods import METHODS, make_search, start
from caboose.arena.tuning.observations import Observations
from caboose.arena.tuning.resolve import settle
from caboose.arena.tuning.run import make_study
from caboose.arena.tuning.samplers import load
from caboose.arena.tuning.search import Job
from caboose.arena.tuning.space import Parameter, Space, Values
from caboose.arena.tuning.spsa import WALK, gains, perturbed
from caboose.arena.tuning.store import DATABASE, SCHEMA
from caboose.arena.tuning.surface_average import Averaged
from caboose.arena.tuning.surface_fit import Fit
from caboose.arena.tuning.verification import verification
from caboose.bots import BOTS
from caboose.cli.main import run as run_cli
from page_reader import read_page
from paths import DOCS, ROOT
from studies import GAMES, MADE_UP, begin_study, facts, killed, run_study, write_study

SPACE = Space(
    (
        Parameter(name="A", low=0, high=100, step=1, current=20),
        Parameter(name="B", low=1, high=1000, step=1, current=30, log=True),
    )
)
BEST = (70.0, 200.0)
TUNING = DOCS / "guides" / "tuning.md"
STUDIES = sorted((ROOT / "benchmarks" / "studies").glob("*.toml"))


def height(values: Values) -> float:
    """A made-up objective: its top is at ``BEST``."""
    place, top = SPACE.places([values, BEST])
    return -12 * float(((place - top) ** 2).sum())


# ------------------------------------------------------------------------------------------------ the space


def test_places_and_values() -> None:
    first, second = SPACE.parameters
    assert [first.value(place) for place in (-1, 0, 0.504, 1, 2)] == [0, 0, 50, 100, 100]
    assert [second.value(place) for place in (0, 1 / 3, 2 / 3, 1)] == [1, 10, 100, 1000]
    assert SPACE.places([(50.0, 10.0)]).tolist() == [[0.5, pytest.approx(1 / 3)]]
    assert SPACE.told((50.0, 10.0)) == "A=50 B=10"
    odd = Parameter(name="C", low=0.1, high=0.95, step=0.2, current=0.1, kind="string")
    assert [odd.text(odd.value(place)) for place in (0, 0.3, 1)] == ["0.1", "0.3", "0.9"]
    assert odd.neighbours(0.9) == [0.7] and odd.neighbours(0.3) == [0.1, 0.5]
    assert Parameter(name="D", low=0, high=1, step=1, current=0, kind="check").text(1.0) == "true"


# ------------------------------------------------------------------------------------------------ what is seen


def test_luck_of_a_unit_says_nothing() -> None:
    generator = np.random.default_rng(3)
    candidates = [(float(a), 1.0) for a in range(5)]
    plain, lucky = Observations(), Observations()
    for unit in range(12):
        for candidate in candidates[: 2 + unit % 4]:
            value = candidate[0] + float(generator.normal())
            plain.add(candidate, unit, value)
            lucky.add(candidate, unit, value + 1000 * unit)
    plain.add((9.0, 1.0), 99, 5.0)  # alone on its unit: nothing to compare
    plain.add((8.0, 1.0), 0, None)
    one, other = plain.contrasts(), lucky.contrasts()
    assert one.noise == pytest.approx(other.noise) and one.spare == other.spare == 12 * 3.5 - 12 - 4
    assert one.of.shape == (4, 7) and np.allclose(one.of.sum(axis=1), 0)
    # The least squares of value = candidate + unit, worked out plainly.
    rows, values = [], []
    for unit in range(12):
        for at, candidate in enumerate(candidates):
            if unit in plain.of(candidate):
                rows.append([float(at == i) for i in range(5)] + [float(unit == i) for i in range(12)])
                values.append(plain.of(candidate)[unit])
    effects = np.linalg.lstsq(np.array(rows), np.array(values))[0]
    left = np.array(values) - np.array(rows) @ effects
    assert one.noise == pytest.approx(float(left @ left) / one.spare)
    found = np.linalg.lstsq(one.of[:, :5], one.seen)[0]
    assert np.allclose(found - found[0], effects[:5] - effects[0])
    assert plain.difference(candidates[1], candidates[0])[0] == 12
    assert plain.difference((9.0, 1.0), candidates[0]) == (0, 0, float("inf"))


def test_the_surface_finds_the_top() -> None:
    generator = np.random.default_rng(1)
    seen = Observations()
    tried = [SPACE.values(place) for place in generator.random((30, 2))]
    for unit in range(60):
        for values in {SPACE.current, *(tried[at] for at in generator.integers(30, size=4))}:
            seen.add(values, unit, height(values) + float(generator.normal()) * 0.5)
    contrasts = seen.contrasts()
    surface = Averaged(SPACE, contrasts)
    assert contrasts.noise == pytest.approx(0.25, rel=0.2)
    assert surface.gain(SPACE.current).mean == 0 and surface.gain(SPACE.current).error < 1e-3
    best = surface.best(0)
    assert height(BEST) - height(best) < 0.1
    truth = height(best) - height(SPACE.current)
    assert surface.gain(best).low < truth < surface.gain(best).high
    both = surface.importance
    assert both.sum() == pytest.approx(1, abs=0.1) and both.min() > 0.2


def test_without_blocks_nothing_is_recommended() -> None:
    seen = Observations()
    seen.add(SPACE.current, 0, 1.0)
    surface = Averaged(SPACE, seen.contrasts())
    assert surface.best(0) == SPACE.current and surface.importance.tolist() == [0, 0]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e90])
def test_what_rounding_leaves_is_no_noise(scale: float) -> None:
    for shift in range(6):  # which side of 0 rounding leaves the squares on depends on the numbers
        seen = Observations()
        for unit in range(7):
            for number in (1.0, 2.0, 3.0, SPACE.current[0]):
                seen.add((number, 30.0), unit, scale * ((number + shift) / 3) ** 2)
        contrasts = seen.contrasts()
        expected = float(np.mean(contrasts.seen**2)) or 1.0
        assert contrasts.spare == 18 and contrasts.noise == pytest.approx(expected)
        gain = Averaged(SPACE, contrasts).gain((3.0, 30.0))
        assert np.isfinite([gain.mean, gain.error]).all()


def test_the_slope_of_the_likelihood() -> None:
    seen = Observations()
    for unit in range(8):
        for number in range(4):
            seen.add((10.0 * number + unit, 30.0), unit, float((unit * number) % 5))
    fit = Fit(SPACE, seen.contrasts())
    at = np.array([0.3, -0.5, 0.2])
    _, slope = fit._unlikely(at)
    for number in range(3):
        step = np.eye(3)[number] * 1e-5
        rise = fit._unlikely(at + step)[0] - fit._unlikely(at - step)[0]
        assert slope[number] == pytest.approx(rise / 2e-5, rel=1e-4, abs=1e-6)


# ------------------------------------------------------------------------------------------------ searches


@pytest.mark.parametrize("method", METHODS)
def test_a_search_gets_better(method: str) -> None:
    generator = np.random.default_rng(2)
    search = make_search(SPACE, seed=4, budget=300, cost=lambda job: 1, price=1)
    flow = start(search, method)
    jobs = next(flow)
    asked: list[Job] = []
    try:
        while True:
            assert len(set(jobs)) == len(jobs) and not any(job.fresh for job in jobs)
            asked += jobs
            luck = [10.0 * (job.unit % 7) + float(generator.normal()) for job in jobs]
            jobs = flow.send([height(job.values) + more for job, more in zip(jobs, luck, strict=True)])
    except StopIteration as stop:
        found = stop.value
    assert len(asked) == search.spent and 270 <= search.spent <= 300
    regret, now = height(BEST) - height(found.values), height(BEST) - height(SPACE.current)
    assert regret < 0.3 * now
    assert found.gain.error > 0
    assert search.steps[-1].blocks == search.spent


@pytest.mark.parametrize("method", ["tpe", "spsa"])
def test_where_nothing_is_to_be_found_the_interval_says_so(method: str) -> None:
    held, said, likeliest = [], [], []
    for seed in range(8):
        generator = np.random.default_rng([5, seed])
        search = make_search(SPACE, seed=seed, budget=120, cost=lambda job: 1, price=1)
        flow = start(search, method)
        jobs = next(flow)
        try:
            while True:
                jobs = flow.send(generator.normal(size=len(jobs)).tolist())
        except StopIteration as stop:
            found = stop.value
        held.append(found.gain.low <= 0 <= found.gain.high)
        said.append(found.gain.mean)
        likeliest.append(search.surface().gain(found.values).mean)
    assert sum(held) >= 7
    # A surface of the likeliest height alone believes more of its own luck.
    assert np.mean(said) < 0.75 * np.mean(likeliest)


@pytest.mark.parametrize("method", ["tpe", "random", "spsa"])
def test_too_few_blocks_recommend_nothing(method: str) -> None:
    search = make_search(SPACE, seed=4, budget=5, cost=lambda job: 1, price=1)
    with pytest.raises(StopIteration) as stop:
        next(start(search, method))
    assert stop.value.value.values == SPACE.current and search.spent == 0


def test_moves_and_steps() -> None:
    steps, moves = gains(400, 3)
    assert np.all(np.diff(steps) < 0) and np.all(np.diff(moves) < 0)
    walk = np.random.default_rng(0).normal(size=(300, 400)) / np.sqrt(3) * steps / (2 * moves)
    assert walk.sum(axis=1).std() == pytest.approx(WALK, rel=0.15)
    search = make_search(SPACE, seed=1, budget=10, cost=lambda job: 1, price=1)
    up, down = perturbed(search, np.array([0.0, 1.0]), np.array([0.001, -0.2]))
    assert (up, down) == ((1.0, 63.0), (0.0, 1000.0))


def test_a_test_stops_at_its_verdict() -> None:
    generator = np.random.default_rng(5)
    flow = verification((70.0, 200.0), SPACE.current, expected=4.0, gain=None, most=1000, alpha=0.05, beta=0.05,
                        cost=lambda job: job.values != SPACE.current)  # fmt: skip
    jobs = next(flow)
    try:
        while True:
            assert all(job.fresh for job in jobs)
            jobs = flow.send([3.0 * (job.values != SPACE.current) + float(generator.normal()) * 4 for job in jobs])
    except StopIteration as stop:
        verdict = stop.value
    assert verdict.holds and verdict.wanted == 2.0 and verdict.llr >= verdict.bounds[1]
    assert 12 <= verdict.units <= verdict.blocks < 100
    assert verdict.gain - verdict.half < 3 < verdict.gain + verdict.half


@pytest.mark.parametrize(("most", "played"), [(0, 0), (1, 1), (3, 1), (50, 49), (96, 96)])
def test_a_test_keeps_its_budget(most: int, played: int) -> None:
    def cost(job: Job) -> int:  # every other unit is against itself, which is free
        return 1 if job.values != SPACE.current else 2 * (job.unit % 2)  # so units take 1, 3, 1, 3, ...

    flow = verification(BEST, SPACE.current, expected=1.0, gain=None, most=most, alpha=0.05, beta=0.05, cost=cost)
    jobs: Sequence[Job] = ()
    try:
        jobs = next(flow)
        while True:
            jobs = flow.send([float(job.unit % 3 == 0) for job in jobs])
    except StopIteration as stop:
        verdict = stop.value
    assert verdict.verdict == "continue"
    assert verdict.blocks == played and verdict.units == (played + 1) // 2


# ------------------------------------------------------------------------------------------------ whole studies


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_study_ends_as_one_that_nobody_disturbed(method: str, tmp_path: Path) -> None:
    whole = write_study(tmp_path / "whole", MADE_UP, method)
    run_study(whole)
    broken = write_study(tmp_path / "broken", MADE_UP, method)
    chance = random.Random(METHODS.index(method))
    for _ in range(2):
        assert not killed(broken, chance.randrange(1, 50), 0.01 * chance.random())
    run_study(broken)
    assert facts(broken) == facts(whole)


def test_games_do_not_depend_on_where_they_are_played(tmp_path: Path) -> None:
    here = write_study(tmp_path / "here", GAMES, "spsa")
    study = run_study(here)
    assert study.result is not None and study.games == 2 * len(study.known) and not study.faults
    there = write_study(tmp_path / "there", GAMES, "spsa")
    killed(there, 20, 0.0)
    run_study(there, PoolExecutor(2))
    assert facts(there) == facts(here)


def test_current_values_against_themselves_are_not_played(tmp_path: Path) -> None:
    path = write_study(tmp_path / "s", GAMES, "random", list="[[list]]\nweight = 3\nplayers = 3\nrounds = 1\nnodes = 1")
    study = run_study(path)
    current = [piece for piece in study.known if piece.values == study.space.current]
    assert current and all(piece.list == 0 and piece.number % 2 == 0 for piece in current)
    (job,) = [Job(study.space.current, 2)]
    assert study.cost(job) == 1
    first = next(played for piece, played in study.known.items() if piece == (False, study.space.current, 0, 2))
    assert first.value is not None and study._worth(job, [job]) == pytest.approx(first.value / 4)


@pytest.mark.parametrize("objective", ["rounds-won", "rating"])
def test_objectives(objective: str, tmp_path: Path) -> None:
    path = write_study(tmp_path / "s", GAMES, "random", more="")
    text = path.read_text().replace("blocks = 60", f'blocks = 20\nobjective = "{objective}"')
    path.write_text(text.replace("blocks = 40", "blocks = 0"))
    study = run_study(path)
    values = {round(played.value or 0.0) for played in study.known.values()}
    assert values <= ({0, 50, 100} if objective == "rounds-won" else {-347, 0, 347})
    assert study.result is not None and study.result.verdict is None


# ------------------------------------------------------------------------------------------------ what people see


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "tpe")
    assert run_cli(["tune", str(path), "--status"]) == 1
    assert "the study has not begun" in capsys.readouterr().err
    assert run_cli(["tune", str(path), "--minutes", "0"]) == 1
    assert "the same call goes on from here" in capsys.readouterr().out
    assert run_cli(["tune", str(path), "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"] is None
    assert run_cli(["tune", str(path), "--concurrency", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["state"] == "done" and data["verification"]["holds"] and data["faults"] == 0
    assert abs(int(data["recommendation"]["values"]["WinBonus"]) - 70) < 25
    assert data["best"].keys() == data["current"].keys() and abs(int(data["best"]["WinBonus"]) - 70) < 25
    assert run_cli(["tune", str(path), "--status"]) == 0
    out = capsys.readouterr().out
    assert "The gain holds." in out and "luckiest" in out
    page = read_page((path.with_suffix(".study") / "report.html").read_text())
    assert "The gain holds on fresh samples." in page.text and "Verified on fresh samples: " in out
    assert not re.search(r"blocks?\b|deals?\b|games?\b", f"{out} {page.text}")


@pytest.mark.parametrize("blocks", [1, 2])
def test_what_no_pair_tells_is_null(blocks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MADE_UP.replace("blocks = 150", "blocks = 60")
    path = write_study(tmp_path / "s", text, "spsa", more=f"[verify]\nblocks = {blocks}\n")
    run_study(path)
    assert run_cli(["tune", str(path), "--status", "--json"]) == 0
    text = capsys.readouterr().out
    gain = json.loads(text)["verification"]["gain"]
    assert (gain["value"] is None, gain["low"], gain["high"]) == (blocks == 1, None, None)


def test_a_report_that_cannot_be_written_hides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    place = path.with_suffix(".study") / "report.html"
    place.mkdir(parents=True)
    assert run_cli(["tune", str(path), "--minutes", "0"]) == 1
    out, err = capsys.readouterr()
    assert "0 of 150 samples" in out and "Report:" not in out
    assert err.endswith(f"caboose: {place}: Is a directory: the report was not written\n")


def test_a_changed_function_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    begin_study(path)
    with (path.parent / "score.py").open("a") as file:
        file.write("# another\n")
    assert run_cli(["tune", str(path)]) == 2
    assert "score.py has changed since the study began (hash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE meta SET value = '{' WHERE key = 'file'", "file cannot be read"),
        ("UPDATE meta SET value = '[[1]]' WHERE key = 'space'", "its parameters cannot be read"),
        ("INSERT INTO blocks VALUES (1, 0, '[1, 2]', 0, 0, 'x', 0, 0, '', '', 0)", "a block that cannot be read"),
        ("INSERT INTO blocks VALUES (1, 0, '[1, 2]', 0, 0, 9e999, 0, 0, '', '', 0)", "a block that cannot be read"),
        ("INSERT INTO blocks VALUES (1, 0, '[1, 2]', 0, 0, 1e308, 0, 0, '', '', 0)", "a block that cannot be read"),
        ("INSERT INTO blocks VALUES (1, 0, '[1, 2]', 0, -5, 1, 0, 0, '', '', 0)", "a block that cannot be read"),
    ],
)
def test_what_is_damaged_inside_is_told(
    change: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    run_study(path, seconds=0)
    with closing(sqlite3.connect(path.with_suffix(".study") / DATABASE)) as connection, connection:
        connection.execute(change)
    assert run_cli(["tune", str(path), "--status"]) == 1
    assert f"the database is damaged ({told})" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "told"), [("[verify]\ngain = nan", "verify.gain: nan, expected a finite number"),
                                           ("[measure]\nnodes = 5", "expected no [measure]")])  # fmt: skip
def test_what_would_go_unheeded_is_refused(
    more: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random", more=more)
    assert run_cli(["tune", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_a_changed_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    begin_study(path)
    text = path.read_text()
    path.write_text(text.replace("max = 50", "max = 40"))
    assert run_cli(["tune", str(path)]) == 2
    assert "it has changed since its study began (parameter.Noise.max: 50 -> 40)" in capsys.readouterr().err
    path.write_text(text + "[parameter.Growth]\n")
    assert run_cli(["tune", str(path), "--status"]) == 2
    assert "(WinBonus, Noise -> WinBonus, Noise, Growth): expected what they were" in capsys.readouterr().err
    path.write_text(text.replace("blocks = 150", "blocks = 160") + "[verify]\nblocks = 5\n")
    run_study(path, seconds=0)
    with closing(sqlite3.connect(path.with_suffix(".study") / DATABASE)) as connection, connection:
        engines = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'engines'").fetchone()[0])
        engines["engine"] = engines["engine"].replace('"hash": "', '"hash": "0')
        connection.execute("UPDATE meta SET value = ? WHERE key = 'engines'", (json.dumps(engines),))
    assert run_cli(["tune", str(path)]) == 2
    assert "engine has changed since the study began (hash 0" in capsys.readouterr().err
    with closing(sqlite3.connect(path.with_suffix(".study") / DATABASE)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    assert run_cli(["tune", str(path)]) == 1
    assert "made by a newer Caboose" in capsys.readouterr().err
    (path.with_suffix(".study") / DATABASE).write_bytes(b"no database at all, but long enough to be read" * 100)
    assert run_cli(["tune", str(path), "--status"]) == 1
    assert "the database is damaged" in capsys.readouterr().err


def test_a_study_of_an_older_caboose_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random")
    run_study(path)
    before = facts(path)
    with closing(sqlite3.connect(path.with_suffix(".study") / DATABASE)) as connection, connection:
        connection.execute("ALTER TABLE blocks DROP COLUMN lost")
        connection.execute("DELETE FROM blocks WHERE id > 20")
        connection.execute("PRAGMA user_version = 1")
    assert run_cli(["tune", str(path), "--status"]) == 0
    assert "20 of 150 samples" in capsys.readouterr().out
    run_study(path)
    assert facts(path) == before


def test_a_budget_too_small_for_a_batch_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for method, least in (("random", 16), ("spsa", 6)):
        path = write_study(tmp_path / method, MADE_UP, method)
        path.write_text(path.read_text().replace("blocks = 150", f"blocks = {least - 1}"))
        assert run_cli(["tune", str(path)]) == 2
        told = f"blocks: {least - 1}, expected at least {least} for 6 candidates at once (batch)"
        assert told in " ".join(capsys.readouterr().err.split())


def test_speed_is_measured(tmp_path: Path) -> None:
    path = write_study(tmp_path / "s", MADE_UP, "random", more="[verify]\nblocks = 0\n[measure]\nnodes = 20\n")
    path.write_text(path.read_text().replace("score.py:score", "speed").replace("blocks = 150", "blocks = 20"))
    study = run_study(path)
    assert all(played.value is not None and played.value > 0 for played in study.known.values())


def test_a_missing_library_is_told() -> None:
    with pytest.raises(CallError, match=r"pip install 'caboose\[tune\]'"):
        load("no_such_library")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"tpe"', '"tpo"', "line 3: method: 'tpo', expected one of tpe, cma, spsa, random"),
        ("seed = 5", "seed = -1", "line 2: seed: -1, expected a whole number from 0 to"),
        ("format = 1", "format = 2", "line 1: format: 2 is of a newer Caboose, expected 1"),
        ("blocks = 60", "blokcs = 60", "line 4: blokcs: there is no key blokcs; did you mean blocks?"),
        ('builtin = "planner"', "", "line 7: engine: expected either builtin or command"),
        ('builtin = "planner"', 'builtin = "plan"', "line 7: engine: "),
        ("max = 1000", "max = 0.5", "line 12: parameter.PlanNodes.max: 0.5, expected a number above min, which is 1"),
        ("log = true", "log = 1", "line 13: parameter.PlanNodes.log: 1, expected true or false"),
        ("[parameter.PlanNodes]", "[parameter.planNodes]", "line 10: parameter.planNodes: the engine has no such "
         "option, expected one of PlanNodes"),
        ("max = 1000", "max = 100_000_000", "max: 1e+08, expected 1 to 1e+07, the option's own bounds"),
        ("current = 30", "current = 3000", "its value is 3000 now, expected a range that holds it, not 1 to 1000"),
        ("log = true", "step = 0.5", "step 0.5, expected whole numbers for this option"),
        ("log = true", "integer = false", "integer: False, expected true, as the option is a spin"),
        ('"greedy", "self"', '"greed"', "list 1.pool: 'greed', expected names of opponents: self, random"),
        ("players = 2", "players = 20", "list 1.players: 20, expected a whole number from 2 to 14"),
        ("players = 2", "", "expected"),
        ("[verify]", "[verify]\nalpha = 2", "line 23: verify.alpha: 2.0, expected a number between 0 and 0.5"),
        ("nodes = 1\n", "nodes = 0\n", "list 1.nodes: 0, expected a whole number from 1 to"),
        ("[[list]]", "[list]", "line 16: list: {'players': 2"),
        ('"planner"', "planner", "(at line 8, column"),
        ("current = 30", "current = [3]", "line 14: parameter.PlanNodes.current: [3], expected a number or a text"),
        ("current = 30", "current = 2.5", "line 14: parameter.PlanNodes.current: 2.5, expected a whole number"),
        ("[verify]", '[[list]]\nname = "list-1"\nnodes = 1\n[verify]', "name: 'list-1', expected another"),
        ("[verify]", '[[opponent]]\nname = "self"\nbuiltin = "greedy"\n[verify]', "name: 'self', expected another"),
        ("[verify]", '[[opponent]]\nname = "greedy"\nbuiltin = "random"\n[verify]', "name: 'greedy', expected another"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file(
    old: str, new: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "s", GAMES, "tpe")
    assert path.read_text().count(old) >= 1
    path.write_text(path.read_text().replace(old, new, 1))
    if old == "players = 2" and not new:
        assert read_study(path).lists[0].rules.players == 4
        return
    assert run_cli(["tune", str(path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sd", "15", "--gain", "1"], "2,435"),
        (["--sd", "15", "--gain", "2"], "609"),
        (["--sd", "0.2", "--elo", "--gain", "10"], "blocks"),
    ],
)
def test_power(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["power", *arguments]) == 0
    assert told in capsys.readouterr().out
    assert run_cli(["power", *arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["contestants"]
    assert row["needed"][0]["blocks"] > row["needed"][0]["sequential"] > 0


@pytest.mark.parametrize("arguments", [["15", "--gain", "nan"], ["15", "--gain", "1e-320"], ["1e300"], ["nan"]])
def test_power_of_numbers_that_make_no_sense(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["power", "--sd", *arguments]) == 2
    assert "expected a number from 1e-06 to 1e+06" in capsys.readouterr().err


def test_power_of_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = ["match", "greedy", "random", "--in-process", "--players", "2", "--rounds", "1", "--blocks", "8"]
    assert run_cli([*match, "--seed", "1", "--json", str(tmp_path / "m.json")]) == 0
    capsys.readouterr()
    assert run_cli(["power", str(tmp_path / "m.json"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["contestants"]
    assert [(row["label"], row["players"], row["blocks"]) for row in rows] == [("greedy", 2, 8), ("random", 2, 8)]
    assert rows[0]["deviation"] == rows[1]["deviation"]
    assert run_cli(["power", str(tmp_path / "nothing")]) == 2
    assert run_cli(["power"]) == 2 and run_cli(["power", "--sd", "0"]) == 2
    assert run_cli(["power", str(tmp_path / "m.json"), "--players", "3"]) == 2


@pytest.mark.parametrize("path", STUDIES, ids=[path.stem for path in STUDIES])
def test_the_studies_that_the_page_tells_of_can_begin(path: Path) -> None:
    spec = read_study(path)
    assert spec.engine.builtin
    declared = {option.name: option for option in BOTS[spec.engine.builtin].declared}
    with ExitStack() as stack:
        study = make_study(spec, settle(spec, declared), None if spec.games else make_measure(spec, stack))
    assert list(study.space.names) == [parameter.name for parameter in spec.parameters]
    assert path.name.removesuffix(".toml") in TUNING.read_text()
