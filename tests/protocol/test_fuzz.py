"""Every parser with a little damaged text; ``make soak`` goes on with it. And that a parser that is wrong is caught."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import duel
import soak
from fuzz import Fault, Part, Target
from fuzz_parsers import PARTS

SOAK = Path(soak.__file__)
ALL = [pytest.param(part, case, id=f"{part.name} {target.name}")
       for part in PARTS for case, target in enumerate(part.targets)]  # fmt: skip


@pytest.mark.parametrize("part, case", ALL)
def test_damaged_text_is_read_or_refused_with_a_reason(part: Part, case: int) -> None:
    for sample in part.targets[case].samples:
        assert part.targets[case].check(sample), f"refused: {sample}"
    assert part.run(seed=1, case=case, examples=40) >= 40


def careless(text: str) -> list[int]:
    """A parser whose error is not always its own."""
    return [int(word) for word in text.split()]


def silent(text: str) -> None:
    """A parser that does not say what was wrong."""
    raise KeyError


@pytest.mark.parametrize(
    "target",
    [
        Target("another error", ["1 2", "3"], careless, KeyError),
        Target("no reason", ["1 2", "3"], silent, KeyError),
        Target("not read back", ["1 2", "3"], careless, ValueError, lambda numbers: " ".join(map(str, numbers[1:]))),
    ],
    ids=lambda target: target.name,
)
def test_a_parser_that_is_wrong_is_caught_with_a_small_example(target: Target) -> None:
    with pytest.raises(Fault) as caught:
        Part("wrong", lambda: [target]).run(seed=1, case=0)
    name, _, text = str(caught.value).partition("\n")[0].partition(": ")
    assert name == target.name
    assert len(text) <= 12, text


def test_a_soak_prints_what_it_did(capfd: pytest.CaptureFixture[str]) -> None:
    report = soak.soak(seed=4, seconds=60, rounds=24, jobs=2)
    assert report.rounds >= 24 and report.found == 0
    assert report.values["preset", "family"] and report.texts["lines"]
    soak.show(report, 1.0, 2, 4)
    out = capfd.readouterr().out
    assert f"{report.rounds} rounds" in out.splitlines()[-1] and "0 faults" in out.splitlines()[-1]
    for name in soak.COUNTED:
        assert f"\n{name} " in f"\n{out}"


def test_a_soak_tells_what_it_finds(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The processes are forked, so that they have the faults that are put in here."""
    real = duel.compare

    def compare(number: int, seed: int) -> duel.Outcome:
        if number == 2:
            raise duel.Difference("something differs")
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(number, seed)

    monkeypatch.setattr(duel, "compare", compare)
    report = soak.soak(seed=4, seconds=60, rounds=1e9, jobs=1)
    out = capfd.readouterr().out
    assert report.found == 2
    assert "something differs\nto see it again: python tests/tools/soak.py --seed 4 --round 2\n" in out
    assert "a job has died: exit code -9\nto see it again: python tests/tools/soak.py --seed 4 --round 5\n" in out


def test_a_number_can_be_seen_again() -> None:
    for words, told in ((["--round", "7"], "no difference"), (["--part", "rules", "--case", "1"], "no fault")):
        done = subprocess.run([sys.executable, str(SOAK), *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert told in done.stdout
