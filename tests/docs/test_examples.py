"""What the examples folder shows is small, keeps to the protocol and really plays; so does what the pages teach."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from caboose.cli.main import run
from check_pool import Case, check_all, outcomes
from paths import DOCS, ROOT

pytestmark = pytest.mark.usefixtures("still_readable")
EXAMPLES = sorted((ROOT / "examples").iterdir())
PAGE = DOCS / "start" / "write-a-bot.md"
LINES = {".c": 115}  # the longest that an example may be, where it is more than the others
USUAL_LINES = 20
MAWK = ["mawk", "-W", "interactive", "-f"] if shutil.which("mawk") else ["awk", "-f"]
RUNNERS = {".sh": ["sh"], ".js": ["node"], ".awk": MAWK, ".py": [sys.executable]}


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, ...]]:
    """The words that run each example for which this machine has what it takes; what must be built is."""
    folder = tmp_path_factory.mktemp("built")
    found: dict[str, tuple[str, ...]] = {}
    for path in EXAMPLES:
        if path.suffix == ".c":
            if (compiler := shutil.which("cc") or shutil.which("gcc")) is not None:
                flags = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror"]
                subprocess.run([compiler, *flags, "-o", folder / path.stem, path], check=True, timeout=120)
                found[path.name] = (str(folder / path.stem),)
        elif shutil.which(RUNNERS[path.suffix][0]) is not None:
            found[path.name] = (*RUNNERS[path.suffix], str(path))
    return found


@pytest.fixture(scope="module")
def reports(commands: dict[str, tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a whole check says of each of them."""
    return check_all({name: Case(words=words) for name, words in commands.items()}, tmp_path_factory.mktemp("checked"))


def only_if_here(path: Path, commands: dict[str, tuple[str, ...]]) -> str:
    """The command line of an example; skips the test without what it takes."""
    if path.name not in commands:
        pytest.skip(f"nothing here runs {path.name}")
    return shlex.join(commands[path.name])


def test_there_are_the_languages_that_are_promised() -> None:
    assert {path.suffix for path in EXAMPLES} == {".c", ".js", ".sh", ".awk", ".py"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_small_and_needs_none_of_our_packages(path: Path) -> None:
    text = path.read_text(encoding="ascii")
    assert len(text.splitlines()) <= LINES.get(path.suffix, USUAL_LINES)
    assert "import caboose" not in text
    assert "from caboose" not in text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_keeps_to_the_protocol(
    path: Path, commands: dict[str, tuple[str, ...]], reports: dict[str, Any]
) -> None:
    only_if_here(path, commands)
    assert outcomes(reports[path.name], "failed") == []
    assert reports[path.name]["passed"] > 80


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_plays_a_whole_game(
    path: Path, commands: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    command = only_if_here(path, commands)
    call = ["match", "greedy", "--engine", command, "--players", "2", "--set", "9", "--in-process"]
    assert run([*call, "--blocks", "1", "--seed", "5", "--margin", "5000", "--json", "-"]) == 0
    standings = json.loads(capsys.readouterr().out)["standings"]
    assert [row["faults"] for row in standings] == [{}, {}]
    assert all(row["rounds"] == 20 for row in standings)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_plays_in_a_sandbox(
    path: Path, commands: dict[str, tuple[str, ...]], sandboxed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    # Its language has all that it asks of the kernel.
    command = only_if_here(path, commands)
    call = ["match", "greedy", "--engine", command, "--players", "2", "--set", "9", "--rounds", "1", "--in-process"]
    assert run([*call, "--sandbox", "--blocks", "1", "--seed", "5", "--margin", "5000", "--json", "-"]) == 0
    standings = json.loads(capsys.readouterr().out)["standings"]
    assert [row["faults"] for row in standings] == [{}, {}]


def test_the_bot_with_an_idea_beats_greedy(
    commands: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """In these deals, which are always the same, as both play always the same."""
    command = only_if_here(ROOT / "examples" / "long_train.c", commands)
    call = ["match", command, "greedy", "--rounds", "1", "--blocks", "12", "--seed", "2", "--in-process"]
    assert run([*call, "--margin", "5000", "--json", "-"]) == 0
    hero, others = json.loads(capsys.readouterr().out)["standings"]
    assert (hero["label"], hero["faults"], hero["games"]) == ("long_train", {}, 48)
    assert hero["margin"]["mean"] > hero["margin"]["half"] > 0
    assert others["margin"]["mean"] == -hero["margin"]["mean"]


def blocks_of(language: str) -> list[str]:
    """The blocks of code of the page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_shows_the_whole_file() -> None:
    """The blocks of C on the page are the example, in order and with nothing left out."""
    shown = "".join(blocks_of("c")).splitlines()
    source = (ROOT / "examples" / "long_train.c").read_text(encoding="ascii").splitlines()
    assert len(shown) > 80
    assert [line for line in shown if line] == [line for line in source if line]


def test_the_commands_of_the_page_work(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is here")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = "\n".join(blocks_of("sh")).replace("--blocks 20", "--blocks 1 --margin 5000 --seed 1")
    (tmp_path / "caboose").write_text(
        f'#!/bin/sh\nexec {sys.executable} -P -m caboose.cli.main "$@"\n', encoding="ascii"
    )
    (tmp_path / "caboose").chmod(0o755)
    script = f'set -e\nPATH="{tmp_path}:$PATH"\n{commands}'
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "It keeps to the protocol." in done.stdout
    assert re.search(r"^long_train .* 0$", done.stdout, re.MULTILINE)
