"""What people are told when a program is interrupted before it does anything: while it loads, and soon after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from caboose.cli.main import run
from studies import MADE_UP, write_study

AGAIN = "caboose: interrupted: the same call goes on from here\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# A signal comes when the commands begin to load.
LOADING = """\
import os, signal, sys
number = int(sys.argv[1])
signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
class Interrupting:
    def find_spec(self, name, *rest):
        if name == "caboose.cli.app":
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Interrupting())
from caboose.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_while_it_loads(number: signal.Signals) -> None:
    command = [sys.executable, "-c", LOADING, str(int(number)), "tune", "study.toml"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", AGAIN)


@pytest.mark.parametrize("number", SIGNALS)
def test_before_it_plays(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)  # who runs the tests may have it ignored
    path = write_study(tmp_path / "s", MADE_UP, "random")
    monkeypatch.setattr("caboose.cli.commands.tune.check_libraries", lambda method: os.kill(os.getpid(), number))
    try:
        assert run(["tune", str(path)]) == 1
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err.endswith(AGAIN)


def test_an_engine_ends_by_the_signal() -> None:
    command = [sys.executable, "-c", LOADING, str(int(signal.SIGTERM)), "engine", "greedy"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (-signal.SIGTERM, "")
