"""The objective ``depth``: under which limit the choices of an engine are settled, as one number."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from caboose.arena.blocks.contestants import Contestant, Entrant
from caboose.arena.suite.file import read_suite
from caboose.arena.suite.score import Answer, Entry, Score, score
from caboose.arena.suite.suite import Loss
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.depth import Depth
from caboose.arena.tuning.function_objectives import make_measure
from caboose.cli.main import run as run_cli
from caboose.protocol.referee.timing import TimeControl
from studies import run_study

STUDY = """\
format = 1
method = "random"
objective = "{objective}"
blocks = 16

[engine]
builtin = "mcts"

[parameter.Noise]
max = 50

[measure]
positions = 3
{measure}
[verify]
blocks = 0
"""


def write(folder: Path, measure: str, objective: str = "depth") -> Path:
    """The file of a study without games."""
    path = folder / "study.toml"
    path.write_text(STUDY.format(objective=objective, measure=f"{measure}\n"))
    return path


@pytest.mark.parametrize(
    ("control", "least"),
    [(TimeControl(nodes=64), 16.0), (TimeControl(movetime=10.0), 1.25), (TimeControl(nodes=80), 20.0)],
)
def test_half_the_limit_is_worth_one_more(control: TimeControl, least: float) -> None:
    depth = Depth(control)
    limits = [float(each.nodes or each.movetime or 0) for each in (*depth.earlier, control)]
    assert limits[0] == least and limits[-1] == (control.nodes or control.movetime)
    good, bad = Answer(None, Loss(1.0, 1.0)), Answer(None, Loss(9.0, 1.0))
    entry = Entry(Contestant("mcts", Entrant("mcts", ())), control, depth.earlier)
    steps = len(limits)

    def worth(*rows: tuple[Answer, ...]) -> float:
        answers = tuple(tuple((answer,) for answer in row) for row in rows)
        return depth.worth(Score(entry, tuple(range(len(rows))), answers))

    for first in range(steps):
        assert worth((bad,) * first + (good,) * (steps - first)) == pytest.approx(-np.log2(limits[first]))
    never = (good,) * (steps - 1) + (bad,)  # what was right once and is left again was not settled
    assert worth(never) == pytest.approx(-np.log2(2 * limits[-1]))
    late = (good,) + (bad,) * (steps - 2) + (good,)
    assert worth(never, late) == pytest.approx(-np.log2(limits[-1]) - 0.5)


def test_a_study_of_depth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "nodes = 64")
    measure = make_measure(read_study(path), ExitStack())
    # The same, asked by hand: the second sample has the positions after those of the first, and 300 later with a seed.
    control = TimeControl(nodes=64)
    contestant = Contestant("mcts", Entrant("mcts", ()), (("Noise", "7"),))
    entries = [Entry(contestant, control, Depth(control).earlier, seeds) for seeds in ((), (1,))]
    limits = np.log2([16, 32, 64, 128])
    for found, sample in zip(score(read_suite("standard"), entries, positions=range(3, 6)), (1, 301), strict=True):
        expected = [limits[int(len(row) - row.sum())] for row in found.settled()]
        assert measure({"Noise": "7"}, sample).measured().value == pytest.approx(-np.mean(expected))
    run_study(path, seconds=0)
    assert run_cli(["tune", str(path), "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unit"] == "halvings"


@pytest.mark.parametrize(
    ("objective", "measure", "told"),
    [
        ("depth", "nodes = 31", "measure.nodes: 31, expected a whole number from 32 to "),
        ("depth", "movetime = 1.5", "measure.movetime: 1.5, expected ms from 2 to "),
        ("depth", "movetime = true", "measure.movetime: True, expected ms from 2 to "),
        ("depth", "movetime = 20\nnodes = 100", "measure.movetime: 20, expected either nodes or movetime, not both"),
        ("depth", "playouts = 9", "measure.playouts: 9, expected one of nodes, movetime, guard, suite, positions"),
        ("suite", "movetime = 9", "measure.movetime: 9, expected one of nodes, guard, suite, positions"),
        ("suite", "nodes = 1_000_000_000_000", "measure.nodes: 1000000000000, expected a whole number from 1 to "),
    ],
)  # fmt: skip
def test_mistakes_in_what_is_measured(
    objective: str, measure: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["tune", str(write(tmp_path, measure, objective))]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
