"""The help and the completion of a shell load no commands, and say what the commands say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from caboose.cli.app import COMMANDS, look_words
from caboose.cli.command_words import FILE, HEADING, Words, read_words, write_words
from caboose.cli.main import run

WHAT_IS_HEAVY = ("numpy", "scipy", "caboose.engine", "caboose.bots", "multiprocessing", "sqlite3")


LOADED = f"[name for name in {WHAT_IS_HEAVY!r} if name in sys.modules]"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str, str], list[str]]:
    """What a shell is offered for a line, of which the last word is not complete."""

    def ask(shell: str, typed: str) -> list[str]:
        monkeypatch.setenv("_CABOOSE_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
        if shell == "zsh":
            monkeypatch.delenv("COMP_WORDS")
            monkeypatch.setenv("_TYPER_COMPLETE_ARGS", typed)
        assert run([]) == 0
        told = capsys.readouterr()
        assert told.err == ""
        return told.out.split("\n")[:-1]

    return ask


Asked = Callable[[str, str], list[str]]


def test_the_words_are_those_of_the_commands() -> None:
    assert read_words() == list(look_words()), "some command has changed: make words"


def test_the_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    words = [
        Words(("a",), "What it does."),
        Words(("a", "b"), "More.", (("-o=", "--output="), ("--flag", "--no-flag"))),
    ]
    write_words(words, tmp_path / "words")
    assert read_words(tmp_path / "words") == words
    assert FILE.read_text(encoding="utf-8").startswith(f"{HEADING}\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("caboose la", ["ladder"]),
        ("caboose ladder st", ["status", "standings"]),
        ("caboose ladder run --conc", ["--concurrency"]),
        ("caboose match greedy --players 3 --mov", ["--movetime"]),
        ("caboose match --preset fam", [""]),  # a value, which the shell may take for a file
        ("caboose nothing --mov", [""]),
        ("caboose match 'a b", [""]),
    ],
)
def test_bash_completes(asked: Asked, typed: str, offered: list[str]) -> None:
    assert asked("bash", typed) == offered


def test_all_commands_are_offered(asked: Asked) -> None:
    assert sorted(asked("bash", "caboose ")) == sorted(COMMANDS)
    assert len(asked("zsh", "caboose ")) == len(COMMANDS)


@pytest.mark.parametrize("told", [{}, {"COMP_WORDS": "caboose ma"}, {"COMP_WORDS": "caboose ma", "COMP_CWORD": "x"}])
def test_who_asks_wrongly_is_told(
    told: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"_CABOOSE_COMPLETE": "complete_bash", **told}.items():
        monkeypatch.setenv(name, value)
    assert run([]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_who_does_not_ask_is_not_answered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_CABOOSE_COMPLETE", "")
    assert run(["rules", "--players", "99"]) == 2
    assert "--players 99" in capsys.readouterr().err


def test_help_and_completion_load_no_command() -> None:
    code = f"""
import os, sys
from caboose.cli.main import run
for call in ["--help"], ["ladder", "--help"], ["suite"], ["grmpf"], ["ladder", "grmpf"]:
    run(call)
    assert not {LOADED}, call
os.environ.update(_CABOOSE_COMPLETE="complete_bash", COMP_WORDS="caboose ladder run --conc", COMP_CWORD="3")
run([])
assert not {LOADED}
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n--concurrency\n")
