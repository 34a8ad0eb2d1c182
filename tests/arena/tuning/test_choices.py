"""Tuning options of the type combo: no order of their choices is believed in, and people see names, never numbers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from caboose.arena.errors import CallError
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.methods import make_search, start
from caboose.arena.tuning.observations import Observations
from caboose.arena.tuning.resolve import settle
from caboose.arena.tuning.search import Recommendation
from caboose.arena.tuning.space import Parameter, Space, Values
from caboose.arena.tuning.store import DATABASE
from caboose.arena.tuning.surface_average import Averaged
from caboose.cli.main import run as run_cli
from caboose.engine.bot_api import Option
from page_reader import read_page
from studies import CHOICES, begin_study, facts, killed, run_study, write_study

STYLES = ("calm", "bold", "wild", "sly", "odd")
STYLE = Parameter(name="Style", low=0, high=4, step=1, current=1, kind="combo", choices=STYLES)
SPACE = Space((Parameter(name="A", low=0, high=100, step=1, current=20), STYLE))


def height(values: Values) -> float:
    """A made-up objective: its top is at A=70 Style=sly, between the two worst styles."""
    return -8 * ((values[0] - 70) / 100) ** 2 + (0.0, -1.0, -4.0, 3.0, -4.0)[int(values[1])]


def searched(space: Space, method: str, worth: Callable[[Values], float]) -> Recommendation:
    """What a search recommends, with some noise and with luck of units."""
    generator = np.random.default_rng(2)
    flow = start(make_search(space, seed=4, budget=300, cost=lambda job: 1, price=1), method)
    jobs = next(flow)
    while True:
        luck = [10.0 * (job.unit % 7) + float(generator.normal()) for job in jobs]
        try:
            jobs = flow.send([worth(job.values) + more for job, more in zip(jobs, luck, strict=True)])
        except StopIteration as stop:
            found: Recommendation = stop.value
            return found


def test_choices_are_equally_far_apart() -> None:
    places = SPACE.places([(50.0, float(number)) for number in range(5)])
    points = SPACE.points(places)
    assert points.shape == (5, 6) and points[:, 0].tolist() == [0.5] * 5
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert np.allclose(gaps, 1 - np.eye(5))
    assert [STYLE.value(place) for place in places[:, 1]] == [0, 1, 2, 3, 4]
    drawn = [int(STYLE.value(place)) for place in np.linspace(0, 1, 1000)]
    assert np.bincount(drawn).tolist() == [200] * 5
    assert STYLE.around(1.0, 0.01) == [0, 2, 3, 4] and STYLE.text(3.0) == "sly"
    assert SPACE.told((50.0, 3.0)) == "A=50 Style=sly"


def test_what_is_known_of_a_choice_says_the_same_of_all_others() -> None:
    seen = Observations()
    for unit in range(6):
        for number in (0, 1):
            seen.add((20.0, float(number)), unit, 5.0 * number + unit % 2 * number)
    surface = Averaged(SPACE, seen.contrasts())
    mean, error = surface.gains(SPACE.places([(20.0, float(number)) for number in (2, 3, 4)]))
    assert np.allclose(mean, mean[0]) and np.allclose(error, error[0])


@pytest.mark.parametrize("method", ["tpe", "cma", "random"])
def test_a_search_finds_the_best_choice(method: str) -> None:
    found = searched(SPACE, method, height)
    assert found.values[1] == 3 and abs(found.values[0] - 70) < 25


def test_a_killed_study_of_choices_ends_as_one_that_nobody_disturbed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = write_study(tmp_path / "whole", CHOICES, "tpe")
    assert run_cli(["tune", str(whole), "--concurrency", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["current"] == {"Playouts": "planner", "Noise": "4"}
    assert data["recommendation"]["values"]["Playouts"] == "random"
    assert abs(int(data["recommendation"]["values"]["Noise"]) - 30) < 13
    assert data["verification"]["holds"]
    assert run_cli(["tune", str(whole), "--status"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Playouts one of 3 choices planner random" in out and "Recommended: Playouts=random Noise=" in out
    page = read_page((whole.with_suffix(".study") / "report.html").read_text())
    assert "planner" in page.text and "greedy" in page.text and "Playouts=random" in page.text
    broken = write_study(tmp_path / "broken", CHOICES, "tpe")
    assert not killed(broken, 30, 0.0)
    run_study(broken)
    assert facts(broken) == facts(whole)


def test_two_choices_have_a_slope() -> None:
    space = Space((Parameter(name="Style", low=0, high=1, step=1, current=0, kind="combo", choices=STYLES[:2]),))
    found = searched(space, "spsa", lambda values: 3 * values[0])
    assert space.told(found.values) == "Style=bold" and found.gain.low < 3 < found.gain.high


def test_changed_choices_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path / "s", CHOICES, "random", list='choices = ["planner", "random"]')
    begin_study(path)
    text = path.read_text()
    path.write_text(text.replace('"planner", "random"', '"planner", "greedy"'))
    assert run_cli(["tune", str(path)]) == 2
    told = "(parameter.Playouts.choices: ['planner', 'random'] -> ['planner', 'greedy'])"
    assert told in " ".join(capsys.readouterr().err.split())
    path.write_text(text)
    # An engine may read what it declares from elsewhere, and its files are the same.
    with closing(sqlite3.connect(path.with_suffix(".study") / DATABASE)) as connection, connection:
        turned = 'replace(value, \'["planner", "random"]\', \'["random", "planner"]\')'
        connection.execute(f"UPDATE meta SET value = {turned} WHERE key = 'space'")
    assert run_cli(["tune", str(path)]) == 2
    told = "the option Playouts has changed since the study began (choices: random, planner -> planner, random)"
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_choice_that_an_engine_declares_twice_is_one(tmp_path: Path) -> None:
    spec = read_study(write_study(tmp_path / "s", CHOICES, "tpe"))
    noise = Option("Noise", "spin", default=4, min=0, max=50)
    declared = Option("Playouts", "combo", default="b", choices=("a", "b", "a"))
    style, _ = settle(spec, {"Playouts": declared, "Noise": noise}).parameters
    assert (style.choices, style.high, style.text(style.current)) == (("a", "b"), 1, "b")
    with pytest.raises(CallError, match="it can only be a, expected an option with at least two choices"):
        settle(spec, {"Playouts": replace(declared, default="a", choices=("a", "a")), "Noise": noise})


@pytest.mark.parametrize(
    ("method", "given", "told"),
    [
        ("spsa", "", "line 10: parameter.Playouts: spsa follows slopes, and over 3 choices there is none: expected "
         "another method, or as choices two of planner, greedy, random"),
        ("tpe", 'choices = ["greedy", "wild"]', "line 11: parameter.Playouts.choices: 'wild', expected some of plan"),
        ("tpe", 'choices = ["greedy"]', "line 11: parameter.Playouts.choices: ['greedy'], expected at least two, each "
         "of them once"),
        ("tpe", 'choices = ["greedy", "greedy"]', "expected at least two, each of them once"),
        ("tpe", 'choices = ["greedy", "random"]', "line 10: parameter.Playouts: its value is 'planner' now, expected "
         "one of greedy, random"),
        ("tpe", 'current = "wild"', "line 11: parameter.Playouts.current: 'wild', expected one of planner, greedy, "),
        ("tpe", "current = 1", "line 11: parameter.Playouts.current: 1.0, expected one of planner, greedy, random"),
        ("tpe", "max = 2", "line 11: parameter.Playouts.max: it is for numbers, expected at most choices and current"),
        ("tpe", "log = false", "line 11: parameter.Playouts.log: it is for numbers"),
        ("tpe", '[parameter.Laps]\nchoices = ["1", "2"]', "line 12: parameter.Laps.choices: expected none, as the "
         "option is a spin"),
        ("tpe", '[parameter.Laps]\ncurrent = "many"', "line 12: parameter.Laps.current: 'many', expected a number, as "
         "the option is a spin"),
    ],
)  # fmt: skip
def test_mistakes_with_choices(
    method: str, given: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path / "s", CHOICES, method, list=given)
    assert run_cli(["tune", str(path)]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
