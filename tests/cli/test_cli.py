"""The command line as people meet it: what it prints, and what it says when a call is wrong."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from caboose.arena.blocks.engine_process import main
from caboose.arena.blocks.results import read_result
from caboose.cli.main import run
from caboose.engine.rules.rules import MEANINGS, OPTIONS, PRESETS
from players import engine_command

pytestmark = pytest.mark.usefixtures("still_readable")
QUICK = ["--rounds", "1", "--blocks", "2", "--in-process", "--nodes", "20", "--seed", "3"]

COMMANDS = ("match", "ladder", "suite", "engine", "verify", "show", "convert", "check", "perft", "rules")


def caboose(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "caboose.cli.main", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def assert_readable(text: str) -> None:
    """For a plain terminal of 80 columns: no codes, no long lines."""
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


# -------------------------------------------------------------------------------------------- small commands


def test_version() -> None:
    told = caboose("--version")
    assert (told.returncode, told.stderr) == (0, "")
    assert re.fullmatch(r"caboose \S+\n", told.stdout)


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    told = capsys.readouterr()
    for command in COMMANDS:
        assert command in told.out
    assert told.err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert f"caboose {command}" in capsys.readouterr().out


@pytest.mark.parametrize("players", ["2", "4", "13"])
def test_rules_shows_presets_and_options(players: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "--players", players]) == 0
    told = capsys.readouterr().out
    assert_readable(told)
    first, second = told.split("The options")
    for preset in PRESETS:
        assert preset in first
    for option in OPTIONS:
        assert f"\n{option} " in first and f"\n{option} " in second
        assert MEANINGS[option].split()[0] in second
    assert re.search(r"first_turn +chain +chain +(single|-)", first)
    assert re.search(r"starter=holder +hub=dealt +a placed hub", second)


def test_a_rule_that_takes_another_along_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "1", "--rule", "first_turn=chain"]) == 0
    told = capsys.readouterr()
    assert told.err == "--rule first_turn=chain takes first_turn_places=own along: a chain lies on the own train\n"
    assert run(["perft", "1", "--rule", "first_turn=chain", "--rule", "first_turn_places=own"]) == 0
    assert capsys.readouterr().err == ""


def test_perft_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perft", "3", "--set", "9", "--players", "2", "--seed", "1"]) == 0
    told = capsys.readouterr().out
    assert_readable(told)
    counts = [int(row.split()[1].replace(",", "")) for row in told.splitlines()[2:]]
    assert len(counts) == 3 and counts[0] <= counts[1] <= counts[2]
    assert run(["perft", "3", "--set", "9", "--players", "2", "--seed", "1", "--divide"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == counts[0] + 1
    assert rows[-1].split() == ["all", f"{counts[2]:,}"]
    assert sum(int(row.split()[1].replace(",", "")) for row in rows[:-1]) == counts[2]


def test_engine_speaks_the_protocol() -> None:
    told = caboose("engine", "greedy", stdin="caboose 1\nisready\nnonsense\nquit\n")
    assert told.returncode == 0
    lines = told.stdout.splitlines()
    assert "id name greedy" in lines and "cabooseok 1" in lines and "readyok" in lines
    assert lines[-1].startswith("error ")


# --------------------------------------------------------------------------------------------------- a match


def test_a_match_prints_standings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    assert run(["match", "greedy", "random", *QUICK, "--json", str(file)]) == 0
    told = capsys.readouterr()
    assert told.err == ""  # no progress where there is no terminal
    assert_readable(told.out)
    assert "greedy against 3 copies of random" in told.out
    assert "family, 4 players, double-12, 15 tiles, 1 round a game" in told.out
    assert "20 nodes a move; 2 blocks of 4 rotations = 8 games" in told.out
    assert re.search(r"^greedy( +[\d.]+){3} +[+-][\d.]+ ± [\d.]+( +[\d.]+){2} +0$", told.out, re.MULTILINE)
    assert re.search(r"^random x3 ", told.out, re.MULTILINE)
    assert "Seed 3" in told.out
    result = read_result(file)
    assert (result.seed, len(result.blocks), result.problem) == ("3", 2, "")
    rows = {row["label"]: row for row in json.loads(file.read_text(encoding="utf-8"))["standings"]}
    assert rows["greedy"]["margin"]["mean"] == -rows["random"]["margin"]["mean"]
    assert rows["greedy"]["decisions"] > 0


def test_a_table_of_fourteen_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    bots = ["greedy", "random"] * 7
    assert (
        run(["match", *bots, *shlex.split("--preset classic --rounds 1 --blocks 1 --in-process --rule blank=0")]) == 0
    )
    told = capsys.readouterr().out
    assert_readable(told)
    assert "blank=0" in told
    assert all(f"\n{bot}#{i} " in told for bot in ("greedy", "random") for i in range(1, 8))


def test_without_a_seed_nobody_can_guess_it(tmp_path: Path) -> None:
    seeds = set()
    for number in range(3):
        file = tmp_path / f"{number}.json"
        assert run(shlex.split(f"match greedy random --in-process --rounds 1 --blocks 1 --json {file}")) == 0
        seeds.add(int(read_result(file).seed))
    assert len(seeds) == 3
    assert max(seeds).bit_length() > 100


def test_faults_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = shlex.join(engine_command(tmp_path, "if asked == 2: sys.exit(7)"))
    assert run(["match", "greedy", command, *QUICK, "--players", "2"]) == 0
    told = capsys.readouterr().out
    assert_readable(told)
    assert re.search(r"^toy .* 4$", told, re.MULTILINE)
    assert "toy: dead (block 1, game 1, round 1, seat " in told
    assert "(finished by greedy)" in told and "does not count for the others" in " ".join(told.split())


def test_options_reach_the_players(tmp_path: Path) -> None:
    played = []
    for seed in ("1", "2"):
        file = tmp_path / f"{seed}.json"
        call = ["match", "random", "greedy", *QUICK, "--option", f"random.Seed={seed}", "--json", str(file)]
        assert run(call) == 0
        result = read_result(file)
        assert dict(result.contestants[0].options) == {"Seed": seed}
        played.append([game.result.rounds for block in result.blocks for game in block.games])
    assert played[0] != played[1]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--movetime", "100"], "100 ms a move;"),
        (["--tc", "30+0.25"], "30 s a game and 0.25 s a move;"),
        (["--tc", "30"], "30 s a game and 0 s a move;"),
        ([], "20 ms a move;"),
    ],
)
def test_time_controls(words: list[str], shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "random", "--in-process", "--rounds", "1", "--blocks", "1", *words]) == 0
    assert shown in capsys.readouterr().out


def test_an_engine_that_does_not_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.json"
    assert run(["match", "greedy", str(tmp_path / "gone"), *QUICK, "--json", str(file)]) == 1
    told = capsys.readouterr()
    assert told.err.startswith("caboose: gone: the engine does not start: ") and told.err.count("\n") == 1
    assert not file.exists()


# ----------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("mach", "No such command 'mach'"),
        ("match", "0 contestants given: expected 2 to 14"),
        ("match greedy", "1 contestant given"),
        ("match foo bar", "unknown bot 'foo'. The built-in bots are: random, greedy"),
        ("match greedi random", "did you mean 'greedy'?"),
        ("match greedy random --players x", "'--players'"),
        ("match greedy random --players 15", "--players 15: expected 2 to 14"),
        ("match greedy random mcts --players 4", "expected as many contestants as players"),
        ("match greedy random --preset familiy", "unknown preset 'familiy'"),
        ("match greedy random --players 13", "family is for 2 to 12 players"),
        ("match greedy random --set 7", "set=7: expected one of 6, 9, 12, 15, 18"),
        ("match greedy random --rule blank", "--rule blank: expected NAME=VALUE"),
        ("match greedy random --rule blank=1", "blank=1: expected one of 0, 25, 50"),
        ("match greedy random --rule blnk=0", "did you mean 'blank'?"),
        ("match greedy random --set 9 --rule set=12", "set is given twice"),
        ("match greedy random --rounds 14", "rounds=14: expected a whole number from 1 to 13"),
        ("match greedy random --rounds 0", "rounds=0"),
        ("match greedy random --blocks 0", "'--blocks'"),
        ("match greedy random --concurrency 0", "'--concurrency'"),
        ("match greedy random --seed -1", "--seed '-1': expected a whole number of at least 0"),
        ("match greedy random --movetime 0", "movetime 0.0: expected a number above 0"),
        ("match greedy random --movetime nan", "movetime nan"),
        ("match greedy random --allowance 5", "an allowance needs a clock"),
        ("match greedy random --playouts 0", "playouts 0"),
        ("match greedy random --round-cap 0", "roundcap 0.0"),
        ("match greedy random --game-cap 0", "gamecap 0.0"),
        ("match greedy random --grace -1", "grace -1.0"),
        ("match greedy random --start-timeout 0", "startup 0.0"),
        ("match greedy random --restart never", "--restart never: expected auto, on or off"),
        ("match greedy random --crashed twice", "--crashed twice: expected lost or replayed"),
        ("match greedy random --restart off --crashed replayed", "expected one of them"),
        ("match greedy random --tc abc", "--tc abc: expected BASE+INC in seconds"),
        ("match greedy random --tc 0", "clock 0.0"),
        ("match greedy random --tc 1+-1", "increment -1000.0"),
        ("match greedy random --nodes 0", "nodes 0"),
        ("match greedy random --margin -1", "margin -1.0"),
        ("match greedy random --on-fault cry", "--on-fault cry: expected fallback or forfeit"),
        ("match greedy random --option Seed=1", "expected NAME.Option=value"),
        ("match greedy random --option random.Sead=1", "Sead"),
        ("match greedy random --json /nowhere/x.json", "there is no folder /nowhere"),
        ("match greedy random --record /", "this is a folder"),
        ("match greedy random --record -", "--record -: expected a file"),
        (f"match greedy random --option {'x' * 70_000}", "...: expected NAME.Option=value"),
        ("match greedy random --wrong", "No such option"),
        ("engine", "Missing argument"),
        ("engine grmpf", "unknown bot 'grmpf'. The built-in bots are"),
        ("perft", "Expected DEPTH"),
        ("perft 0", "DEPTH"),
        ("perft 2 --hub 13", "hub 13: a game of 13 rounds with a double-12 set has the hubs 12 to 0"),
        ("rules --players 1", "--players 1: expected 2 to 14"),
    ],
)
def test_a_wrong_call_is_told_in_one_line_and_plays_nothing(
    call: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shlex.split(call)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("caboose: ") and told.err.count("\n") == 1
    assert message in told.err


def test_a_full_disk_is_told_after_the_standings(capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    assert run(["match", "greedy", "random", *QUICK, "--record", "/dev/full"]) == 1
    told = capsys.readouterr()
    assert "/dev/full: No space left on device" in told.out
    assert "0 of 2 blocks played" in told.out


@pytest.mark.parametrize(("option", "code"), [("--record", 2), ("--json", 1)])
def test_a_pipe_that_nobody_reads_is_nothing_to_wait_for(
    option: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert run(["match", "greedy", "random", *QUICK, option, str(tmp_path / "pipe")]) == code
    assert capsys.readouterr().err == f"caboose: {option} {tmp_path / 'pipe'}: nobody reads this pipe\n"


@pytest.mark.parametrize("option", ["--record", "--json"])
def test_logs_and_a_file_cannot_be_one(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    link.symlink_to(place)
    assert run(["match", "greedy", "random", *QUICK, "--log", str(link), option, str(place)]) == 2
    assert capsys.readouterr().err == f"caboose: {option} and --log are both {link}: expected a file and a folder\n"
    assert list(tmp_path.iterdir()) == [link]


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "block-00001-game-01.log.gz"
    log.mkdir()
    assert run(["match", "greedy", "random", *QUICK, "--log", str(tmp_path)]) == 1
    told = "".join(capsys.readouterr().out.split())  # the name may be broken over lines
    assert f"{log}: Is a directory: 0 of 2 blocks".replace(" ", "") in told


def test_an_engine_that_ends_at_its_start_is_to_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "sh -c 'exit 3'", *QUICK]) == 1
    told = "exit_3: the engine does not start: it exited with code 3 (`caboose check ENGINE` shows its standard error)"
    assert capsys.readouterr().err == f"caboose: {told}\n"


def test_json_may_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "random", *QUICK, "--json", "-"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["format"] == "caboose match"
    assert "margin" in told.err
    assert not Path("-").exists()


def test_a_value_that_no_line_can_hold_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = tmp_path / "e.sh"
    engine.write_text(
        'read -r w; echo "option name Book type string"; echo "cabooseok 1"; while read -r w; do echo readyok; done\n',
        encoding="ascii",
    )
    assert run(["match", f"sh {engine}", "greedy", *QUICK, "--option", f"1.Book={'x' * 70_000}"]) != 0
    told = capsys.readouterr()
    assert "70000 characters, a line has 65536 at most" in told.err
    assert len(told.err) < 500


# ------------------------------------------------------------------------------------------- starting and ending


def test_an_engine_whose_streams_are_closed_says_so() -> None:
    cases = {"<&-": "caboose: standard input is closed", ">&-": "caboose: standard output is closed", "2>&-": ""}
    running = []
    for module in ("caboose.arena.blocks.engine_process greedy", "caboose.cli.main engine greedy"):
        for closed, told in cases.items():
            call = f"{shlex.quote(sys.executable)} -P -m {module} {closed}"
            pipe = subprocess.PIPE
            process = subprocess.Popen(["sh", "-c", call], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
            running.append((process, told))
    for process, told in running:
        out, err = process.communicate("" if told else "isready\n", timeout=60)
        if told:
            assert (process.returncode, out) == (2, "")
            assert err.startswith(told) and err.count("\n") == 1
        else:
            assert (process.returncode, out) == (0, "readyok\n")


@pytest.mark.parametrize("words", [["grmpf"], ["omniscient"], [], ["greedy", "random"]])
def test_the_engine_module_tells_a_wrong_call(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["engine", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert told.err.startswith("caboose: ") and told.err.count("\n") == 1


@pytest.mark.parametrize("module", ["caboose.cli.main", "caboose.arena.blocks.engine_process"])
def test_ctrl_c_while_it_loads_is_told_in_one_line(module: str) -> None:
    """The library that takes longest to load is replaced by an interrupt."""
    code = f"""
import importlib.abc, os, signal, sys
class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["caboose", *{["engine", "greedy"] if module.endswith("main") else ["greedy"]!r}]
from {module} import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "caboose: interrupted\n")


def test_a_command_loads_only_what_it_needs() -> None:
    code = """
import sys
from caboose.cli.main import run
from caboose.arena.blocks.engine_process import main
run(["verify", "/dev/null"])
heavy = ("scipy", "multiprocessing", "caboose.arena.match.match", "caboose.bots")
print(*[name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == ""
