"""What contestants are called: by what engines say, as far as that is safe and nobody else's."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.blocks.contestants import make_entrants, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.blocks.labels import MAX_LABEL, command_name, make_labels, plain
from caboose.arena.errors import CallError
from caboose.bots import BOTS, MEASURING
from caboose.cli.main import run
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord
from caboose.protocol.referee.timing import TimeControl
from players import contestants_of, engine_command

pytestmark = pytest.mark.usefixtures("still_readable")
QUICK = ["--rounds", "1", "--blocks", "1", "--players", "2", "--in-process", "--nodes", "5", "--seed", "3"]


def labels(words: list[str], said: dict[str, str], names: tuple[str, ...] = ()) -> list[str]:
    """The labels of built-in bots and of commands, of which those that ``said`` has say what they are."""
    return [c.label for c in contestants_of(words, names=names, said=[said.get(word, "") for word in words])]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("long_train", "long_train"),
        ("Long Train 2.1", "Long_Train_2_1"),
        ("C++ bot", "C++_bot"),
        ("  -rf /*  ", "rf"),
        ("x" * 60_000, "x" * MAX_LABEL),
        ("a name that ends in a blank", "a_name_that_ends"),
        ("\t;$(reboot)`|\\", "reboot"),
        ("[red]mcts[/]", "red_mcts"),
        ("a.b=c#1", "a_b_c_1"),
        ("***", ""),
        ("", ""),
        ("12", ""),
    ],
)
def test_a_name_is_made_plain(said: str, name: str) -> None:
    assert plain(said) == name
    assert plain(name) == name and len(name) <= MAX_LABEL


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./my_bot", "my_bot"),
        ("python3 -u bots/mine.v2.py --fast", "mine_v2"),
        ("mawk -W interactive -f first.awk", "first"),
        ("env DEPTH=3 ./deep", "deep"),
        ("sh", "sh"),
        ("./7", "engine"),
        ("/opt/-/...", "engine"),
    ],
)
def test_a_command_has_a_name(command: str, name: str) -> None:
    assert command_name(shlex.split(command)) == name


def test_engines_are_called_what_they_say() -> None:
    said = {"./a": "Alpha", "./b": "Beta", "./c": ""}
    assert labels(["./a", "greedy", "./b", "./c"], said) == ["Alpha", "greedy", "Beta", "c"]


def test_where_two_say_the_same_their_commands_name_them() -> None:
    assert labels(["./old", "./new"], {"./old": "Alpha", "./new": "alpha"}) == ["old", "new"]
    # Where these are the same too, they keep what they say.
    assert labels(["./bot 1", "./bot 2", "greedy"], {"./bot 1": "A", "./bot 2": "A"}) == ["A#1", "A#2", "greedy"]
    assert labels(["./bot 1", "./bot 2"], {}) == ["bot#1", "bot#2"]
    # What comes of that may be another's name once more.
    assert labels(["./x", "./y", "./z"], {"./x": "A", "./y": "A", "./z": "x"}) == ["x#1", "y", "x#2"]


@pytest.mark.parametrize("name", [*BOTS, *MEASURING])
def test_no_engine_has_the_name_of_a_built_in_bot(name: str) -> None:
    assert labels(["./cheat", "planner"], {"./cheat": name.upper()}) == ["cheat", "planner"]
    (first, second, other) = labels([f"./{name}", f"sh {name}.sh", "./x"], {f"./{name}": name, "./x": f"{name}#engine"})
    assert first.startswith(name[:9]) and "#eng" in first and first.endswith("#1") and second.endswith("#2")
    assert other == f"{name}_engine"[:MAX_LABEL]
    assert max(map(len, (first, second, other))) <= MAX_LABEL


def test_the_call_has_the_last_word() -> None:
    said = {"./a": "mine", "./b": "Beta"}
    assert labels(["./a", "./b", "greedy"], said, ("2=mine", "3=G+1")) == ["a", "mine", "G+1"]
    assert labels(["./mine", "./b"], {}, ("2=mine",)) == ["mine#1", "mine"]
    assert labels(["greedy", "greedy"], {}, ("2=greedy",)) == ["greedy#1", "greedy"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine", "--name mine: expected NUMBER=NAME, such as 1=mine"),
        ("a=b", "expected NUMBER=NAME"),
        ("1=", "expected NUMBER=NAME"),
        ("1=a b", "expected NUMBER=NAME"),
        ("1=7", "expected NUMBER=NAME"),
        (f"1={'x' * 17}", "up to 16 letters, digits"),
        ("0=a", "there is no contestant 0, expected 1 to 2"),
        ("3=a", "there is no contestant 3"),
        ("1=mcts", "mcts is a built-in bot"),
    ],
)
def test_names_that_are_wrong(name: str, message: str) -> None:
    with pytest.raises(CallError) as error:
        make_entrants(["greedy", "random"], [], [name])
    assert message in str(error.value)


def test_a_file_that_is_named_like_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").touch()
    with pytest.raises(
        CallError, match=r"unknown bot 'bot.py'\..* To run the file of that name: './bot.py', or 'python3 b"
    ):
        make_entrants(["bot.py"], [])


def test_names_that_are_given_twice() -> None:
    with pytest.raises(CallError, match="--name 1=b: contestant 1 is named twice"):
        make_entrants(["greedy", "random"], [], ["1=a", "1=b"])
    with pytest.raises(CallError, match="--name 2=A: another contestant is to be called so"):
        make_entrants(["greedy", "random"], [], ["1=a", "2=A"])


def test_no_two_are_called_the_same() -> None:
    """Whatever names there are, of the engines, of their commands and from the call."""
    names = ["", "mcts", "MCTS", "x", "abcdefghijklmnop", "abcdefghijklm", "abcdefghijklmxyz"]
    called = ["mcts", "x", "abcdefghijklmnop"]
    for said in itertools.product(map(plain, names), repeat=3):
        for commands in itertools.product(called, repeat=3):
            for given in ("", "x", "abcdefghijklm"):
                found = make_labels(["", given, "", ""], ["", "", "", "mcts"], [*said, ""], [*commands, "mcts"])
                assert len({label.casefold() for label in found}) == 4, (said, commands, given)
                assert max(map(len, found)) <= MAX_LABEL and all(found)
                assert found[3] == "mcts" and found[1] in ((given,) if given else found)


def test_options_are_for_who_is_called_so() -> None:
    """A label means one; a name that several had before it was decided means all of them; no engine gets what is meant
    for a built-in bot because it says so."""

    def given(words: list[str], said: list[str], *options: str) -> list[dict[str, str]]:
        return [dict(c.options) for c in contestants_of(words, options=options, said=said)]

    assert given(["./a", "./b"], ["A", "B"], "A.x=1", "b.x=2") == [{"x": "1"}, {"x": "2"}]
    assert given(["./a", "./b"], ["A", "A"], "A.x=1", "b.y=2") == [{"x": "1"}, {"x": "1", "y": "2"}]
    assert given(["random", "random", "./b"], ["", "", "random"], "random.Seed=1") == [{"Seed": "1"}] * 2 + [{}]
    assert given(["random", "./random"], ["", "random"], "random.Seed=1", "2.x=3") == [{"Seed": "1"}, {"x": "3"}]
    assert given(["./random", "./b"], ["", ""], "random.x=1", "b.x=1") == [{"x": "1"}, {"x": "1"}]
    with pytest.raises(CallError, match=r"--option c\.x=1: there is no contestant 'c'; they are A, B"):
        given(["./a", "./b"], ["A", "B"], "c.x=1")


# --- in a match --------------------------------------------------------------------------------------------------


def saying(folder: Path, name: str, said: str) -> str:
    """The command of the toy engine that says it is called something else, with an option."""
    engine_command(folder, name=name)
    file = folder / f"{name}.py"
    lines = f"id name {said}\\nid version 3\\noption name Size type spin default 1 min 0 max 9"
    file.write_text(file.read_text().replace("id name toy\\nid version 7", lines), encoding="ascii")
    return shlex.join([*engine_command(folder)[:-1], str(file)])


def test_a_match_calls_everybody_the_same_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, file, games = saying(tmp_path, "mine", "Long Train [bold]"), tmp_path / "m.json", tmp_path / "games"
    call = ["match", "greedy", command, *QUICK, "--json", str(file), "--record", str(games), "--log", str(tmp_path)]
    assert run([*call, "--option", "Long_Train_bold.Size=4"]) == 0
    label = "Long_Train_bold"
    told = capsys.readouterr().out
    assert told.startswith(f"greedy, {label}\n{label}: ")
    assert f"\n{label}  " in told
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert [row["label"] for row in result["standings"]] == ["greedy", label]
    played = result["contestants"][1]
    assert (played["label"], played["engine"], played["version"]) == (label, "Long Train [bold]", "3")
    assert (played["builtin"], played["command"][-1]) == ("", str(tmp_path / "mine.py"))
    assert played["options"] == [["Size", "4"]]
    for record in read_records(games):
        assert isinstance(record, GameRecord)
        assert {player.name for player in record.players} == {"greedy", label}
    assert (tmp_path / "block-00001-game-01.log.gz").exists()


def test_an_engine_that_says_nothing_is_called_after_its_command(tmp_path: Path) -> None:
    engine_command(tmp_path, name="mute")
    file = tmp_path / "mute.py"
    file.write_text(file.read_text().replace("id name toy\\nid version 7\\n", ""), encoding="ascii")
    entrants = make_entrants(["greedy"], [shlex.join(["python3", str(file)])])
    contestants = meet(entrants, parse_options([]), TimeControl())
    assert [(c.label, c.about.name) for c in contestants] == [("greedy", ""), ("mute", "")]
