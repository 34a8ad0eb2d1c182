"""Matches between engines that nobody trusts: what the command line says of sandbox, limits, logs and commitments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.arena.blocks.results import read_result
from caboose.cli.main import run
from caboose.protocol.process import launch
from caboose.protocol.process.gamelog import LogLine, read_log
from players import engine_command

pytestmark = pytest.mark.usefixtures("still_readable")
QUICK = ["--players", "2", "--rounds", "1", "--set", "9", "--blocks", "1", "--movetime", "20", "--margin", "5000"]


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    launch._bubblewrap.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    yield
    launch._bubblewrap.cache_clear()


def said(logs: Path) -> list[str]:
    lines = []
    for path in sorted(logs.iterdir()):
        with path.open("rb") as file:
            lines += [line.text for line in read_log(file, path.name) if isinstance(line, LogLine) and line.mark == "!"]
    return lines


# What an engine sees, on its standard error.
LOOK = """
import os, resource, sys
def look(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else len(open(path).read())
    except OSError:
        return 'nothing'
limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)]
folder = os.path.dirname(sys.argv[0])
names = ("games", "result", "logs", "../more/net")
print(limits, *[look(os.path.join(folder, name)) for name in names], file=sys.stderr)
"""


@pytest.fixture
def table(tmp_path: Path) -> tuple[Path, list[str]]:
    """The folder of an engine, in which the match writes all that it writes, and the call of it."""
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "net").write_text("net", encoding="ascii")
    (own / "result").write_text("the last match", encoding="ascii")
    command = shlex.join(engine_command(own, before=LOOK))
    call = ["match", "mcts", command, *QUICK, "--log", str(own / "logs"), "--record", str(own / "games")]
    return own, [*call, "--json", str(own / "result")]


def test_a_match_in_a_sandbox(table: tuple[Path, list[str]], tmp_path: Path, sandboxed: None) -> None:
    own, call = table
    call += ["--sandbox", "--share", str(tmp_path / "more"), "--max-memory", "900", "--max-cpu", "70"]
    assert run(call) == 0
    result = read_result(own / "result")
    assert result.problem == ""
    assert not any(game.result.tainted for block in result.blocks for game in block.games)
    # It is started once to be asked for its name, without a log.
    assert said(own / "logs") == [f"[{900 << 20}, 70, {256 << 20}] nothing nothing [] 3"] * 2


def test_the_same_without_one(table: tuple[Path, list[str]]) -> None:
    own, call = table
    assert run([*call, "--max-file", "3"]) == 0
    (first, _) = said(own / "logs")
    assert re.fullmatch(r"\[-1, -1, 3145728\] \d+ 14 \[\] 3", first)
    assert sorted(path.name for path in own.iterdir()) == ["games", "logs", "result", "toy.py"]


def test_without_bubblewrap_there_is_a_clear_error(
    no_bubblewrap: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["match", "greedy", "random", *QUICK, "--sandbox", "--json", str(tmp_path / "result")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("caboose: --sandbox: a sandbox needs bubblewrap, and there is no program bwrap here")
    assert told.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_check_in_a_sandbox(
    table: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], sandboxed: None
) -> None:
    _, (_, _, command, *_) = table
    call = ["check", command, "--step", "start.greeting", "--sandbox", "--max-memory", "900", "--max-cpu", "70"]
    assert run([*call, "--share", str(tmp_path / "more"), "--json"]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    # What its own folder has it sees, as nobody is writing there.
    assert step["stderr"] == f"[{900 << 20}, 70, {256 << 20}] nothing 14 nothing 3\n"
    assert run(["check", "sh /nowhere/x", "--sandbox", "--option", "A=b"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "in the sandbox it has no files but the system's" in told
    assert "again: caboose check --step start.greeting --option=A=b --sandbox 'sh /nowhere/x'" in told


def test_a_check_needs_bubblewrap_too(no_bubblewrap: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "greedy", "--sandbox"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith("caboose: --sandbox: a sandbox needs bubblewrap")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--share", "/usr"], "--share /usr: expected together with --sandbox"),
        (["--log", "/nowhere/logs"], "--log /nowhere/logs: No such file or directory, expected a folder"),
        (["--log", "/dev/null"], "--log /dev/null: File exists, expected a folder"),
        (["--max-memory", "0"], "'--max-memory'"),
    ],
)
def test_wrong_calls(options: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "random", *QUICK, *options]) == 2
    assert why in capsys.readouterr().err


def test_a_shared_path_must_be_there(sandboxed: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "random", *QUICK, "--sandbox", "--share", "/nowhere"]) == 2
    assert "--share /nowhere: there is no such file or folder" in capsys.readouterr().err


# --- commitments that were published -----------------------------------------------------------------------------


def test_games_are_held_against_what_was_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, kept, other = tmp_path / "games", tmp_path / "kept", tmp_path / "other"
    assert run(["match", "greedy", "random", *QUICK, "--blocks", "2", "--in-process", "--record", str(games)]) == 0
    text = games.read_text(encoding="utf-8")
    commits = re.findall(r"^# commit sha256 .*$", text, re.MULTILINE)
    assert len(commits) == 2
    kept.write_text("seen on the 3rd:\n" + "\n".join(commits), encoding="utf-8")
    other.write_text(commits[0], encoding="utf-8")
    capsys.readouterr()

    assert run(["verify", str(games), "--published", str(kept)]) == 0
    assert "4 games" in capsys.readouterr().out
    assert run(["verify", str(games), "--published", str(other)]) == 1
    out = capsys.readouterr().out.splitlines()
    digest = commits[1].split()[3]
    assert len(out) == 3
    for line in out[:2]:
        where, _, what = line.partition(": ")
        assert text.splitlines()[int(where.rpartition(":")[2]) - 1] == f"commit sha256 {digest}"
        assert what == f"commit sha256 {digest}, expected one of the commitments that were published (1)"

    bare = tmp_path / "bare"
    bare.write_text(re.sub(r"(?m)^commit .*\n|(?<=^open) .*$", "", text), encoding="utf-8")
    assert run(["verify", str(bare)]) == 0
    assert run(["verify", str(bare), "--published", str(kept)]) == 1
    assert "a game without a commitment, expected one of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "why"), [(None, "No such file"), ("commit sha256 123", "there is no commitment in it")]
)
def test_a_file_with_nothing_published(
    tmp_path: Path, text: str | None, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept"
    if text is not None:
        file.write_text(text, encoding="ascii")
    assert run(["verify", "-", "--published", str(file)]) == 2
    assert why in capsys.readouterr().err
