"""What a fault says: what happened instead of an answer, and what the engine said last."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.cli.main import run
from caboose.cli.options.sandbox import TIMES
from caboose.engine.bot_api import Limits
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.faults import Wait, error_text, explain
from caboose.protocol.process.gamelog import GameLog
from caboose.protocol.process.last_words import KEPT, Said, last_line
from caboose.protocol.process.launch import Launch
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.referee import Fault, play_game
from caboose.protocol.referee.timing import TimeControl
from fault_engines import a_position, children, fault_of, nothing_left, raw
from players import Scripted, engine_command, wait_until

STUCK = "sys.stdin.read()"
QUICK = Limits(movetime=150)
PATIENT = Limits(movetime=60_000)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


# --- what is known, and what is said of it -----------------------------------------------------------------------

MOVE = Wait(wanted="bestmove", number=7, spoke=True, answered=True)
HELLO = Wait(wanted="cabooseok", more_time="--start-timeout SECONDS")
READY = Wait(wanted="readyok", spoke=True, answered=True, more_time="start_timeout")


def having(wait: Wait, **more: object) -> Wait:
    """``wait`` with some of it as it is given; what came is counted."""
    fields = {name: getattr(wait, name) for name in Wait.__dataclass_fields__} | more
    came = sum(map(len, fields["lines"])) + len(fields["rest"])
    return Wait(**{**fields, "received": max(came, fields["received"])})


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        # nothing came
        (HELLO, "; it wrote nothing (does it flush its output?); --start-timeout SECONDS gives it longer"),
        (having(HELLO, unread=True), "; it has not read the question yet; --start-timeout SECONDS gives it longer"),
        (having(HELLO, more_time=""), "; it wrote nothing (does it flush its output?)"),
        (READY, "; it wrote nothing; start_timeout gives it longer"),
        (MOVE, "; it wrote nothing"),
        (having(MOVE, unread=True), "; it has not read the question yet"),
        (
            having(MOVE, first=True, more_time="--grace MS"),
            "; it wrote nothing; this was its first move of the game, and --grace MS gives that longer",
        ),
        (
            having(MOVE, first=True, more_time="grace", answered=False),
            "; it has answered no go so far; this was its first move of the game, and grace gives that longer",
        ),
        (
            having(MOVE, first=True, more_time="grace", answered=False, seconds=5.0),
            "; it has answered no go so far (does it flush its output?); this was its first move of the game, and "
            "grace gives that longer",
        ),
        (having(MOVE, answered=False), "; it has answered no go so far (does it flush its output?)"),
        (having(MOVE, first=True), "; it wrote nothing"),
        (
            having(MOVE, received=99, first=True, more_time="grace"),
            "; it wrote no answer yet, only info lines; this was its first move of the game, and grace gives that "
            "longer",
        ),
        # something else came
        (having(MOVE, lines=[b"hm", b"so"]), "; it wrote 'hm' 'so'"),
        (having(MOVE, rest=b"bestmove 7 4-0@1"), "; it wrote 'bestmove 7 4-0@1' without a line end"),
        (having(MOVE, rest=b"bestm"), "; it wrote 'bestm' without a line end"),
        (having(MOVE, lines=[b"bestmove 1 4-0@1"]), "; it wrote 'bestmove 1 4-0@1': number 1 where 7 was asked"),
        (having(MOVE, lines=[b"hm", b"bestmove 1 x", b"hm"]), "; it wrote 'bestmove 1 x': number 1 where 7 was asked"),
        (having(MOVE, lines=[b"BestMove 7 x"]), "; it wrote 'BestMove 7 x': expected bestmove in small letters"),
        (having(HELLO, lines=[b"CabooseOk 1"])
         , "; it wrote 'CabooseOk 1': expected cabooseok in small letters"),
        (having(READY, lines=[b"READYOK"]), "; it wrote 'READYOK': expected readyok in small letters"),
        (having(READY, lines=[b"ready ok"]), "; it wrote 'ready ok': expected readyok as a word of its own"),
        (having(READY, lines=[b"readyok."]), "; it wrote 'readyok.': expected readyok as a word of its own"),
        (having(MOVE, lines=[b"best move 7 x"]), "; it wrote 'best move 7 x': expected bestmove as a word of its own"),
        (having(MOVE, lines=[b"bestmove: 7 x"]), "; it wrote 'bestmove: 7 x': expected bestmove as a word of its own"),
        (having(MOVE, lines=[b"< bestmove 7 x"]),
         "; it wrote '< bestmove 7 x': expected bestmove at the beginning of the line"),
        (having(MOVE, lines=[b"besmtove 7 x"]), "; it wrote 'besmtove 7 x': expected bestmove"),
        (having(MOVE, lines=[b"\xef\xbb\xbfbestmove 7 x"]),
         r"; it wrote '\xef\xbb\xbfbestmove 7 x': a byte order mark stands before it, expected plain ASCII"),
        (having(MOVE, rest=b"BESTMOVE 7 x"),
         "; it wrote 'BESTMOVE 7 x' without a line end: expected bestmove in small letters"),
        (having(MOVE, lines=[b"error go 99: no"]), "; it wrote 'error go 99: no' where go 7 was asked"),
        (having(MOVE, early=b"bestmove 7 x"), "; it wrote 'bestmove 7 x' before it was asked"),
        # on the wrong stream
        (
            having(MOVE, errors=Said(b"start\nbestmove 6 x\nbestmove 7 4-0@1\r\nend")),
            "; it wrote 'bestmove 7 4-0@1' to its standard error, expected on standard output",
        ),
        (having(MOVE, errors=Said(b"bestmove 6 x\n> bestmove 77 x\n")), "; it wrote nothing"),
        (
            having(HELLO, errors=Said(b"cabooseok 1\n")),
            "; it wrote 'cabooseok 1' to its standard error, expected on standard output",
        ),
        (having(READY, errors=Said(b"readyok\n")), "; it wrote nothing; start_timeout gives it longer"),
    ],
)  # fmt: skip
def test_what_happened_instead_of_an_answer(wait: Wait, told: str) -> None:
    assert explain(wait) == told


@pytest.mark.parametrize(
    ("on_go", "told"),
    [
        ("say('bestmove 1 ' + legal[0])", "'bestmove 1 6-3@1': number 1 where 2 was asked"),
        ("say('BestMove ' + words[1] + ' x')", "'BestMove 2 x': expected bestmove in small letters"),
        ("sys.stderr.write('bestmove ' + words[1] + ' x\\n'); sys.stderr.flush()",
         "it wrote 'bestmove 2 x' to its standard error, expected on standard output"),
        ("sys.stderr.write('deep in thought\\n'); sys.stderr.flush()",
         "it wrote nothing; last words: 'deep in thought'"),
        ("os.close(1)", "closed its output, but runs on"),
        ("os.write(1, 'bestmove 2 x'.encode('utf-16') + b'\\n')", "(it looks like UTF-16)"),
    ],
)  # fmt: skip
def test_a_fault_says_what_happened(tmp_path: Path, on_go: str, told: str) -> None:
    # The first move was answered; the second is not.
    command = engine_command(tmp_path, f"asked == 2 and exec({on_go + '; ' + STUCK!r})")
    with EngineProcess(command) as engine:
        engine.choose(a_position(), PATIENT)
        fault = fault_of(lambda: engine.choose(a_position(), QUICK))
    assert told in fault.detail
    assert "flush" not in fault.detail


def test_an_answer_before_the_question_is_told_as_such(tmp_path: Path) -> None:
    answer = "say('bestmove 1 ' + legal[0] + '\\nbestmove 2 ' + legal[0])"
    with EngineProcess(engine_command(tmp_path, f"exec({answer!r}) if asked == 1 else sys.stdin.read()")) as engine:
        engine.choose(a_position(), PATIENT)
        fault = fault_of(lambda: engine.choose(a_position(), QUICK))
    assert "; it wrote 'bestmove 2 6-3@1' before it was asked" in fault.detail


def game_fault(command: list[str], control: TimeControl, launch: Launch = Launch(), games: int = 1) -> Fault:  # noqa: B008
    """The fault of an engine in the last of some games."""
    rules = Rules.of("family", 2, set=6, hand=6, rounds=1)
    with EngineProcess(command, margin=control.margin, start_timeout=control.startup / 1000, launch=launch) as engine:
        for seed in range(games):
            result = play_game(Game(rules, seed=seed), [engine, Scripted()], control, fallback=Scripted())
    fault = result.seats[0].fault
    assert fault is not None
    return fault


def test_more_time_has_the_name_that_whoever_started_it_knows(tmp_path: Path) -> None:
    hurried = TimeControl(movetime=100, margin=50)
    sleepy = engine_command(tmp_path, "time.sleep(60)")
    assert ", and grace gives that longer" in game_fault(sleepy, hurried).detail
    assert ", and --grace MS gives that longer" in game_fault(sleepy, hurried, Launch(times=TIMES)).detail
    guarded = TimeControl(nodes=1, guard=100)  # to which no grace is added
    with EngineProcess(sleepy, guard=0.1) as engine:
        result = play_game(Game(Rules.of("family", 2), 1), [engine, Scripted()], guarded, fallback=Scripted())
    fault = result.seats[0].fault
    assert fault is not None and "guard of 0.1 s" in fault.detail and "grace" not in fault.detail
    with EngineProcess(sleepy) as engine:  # who asks by himself gives no grace
        assert "grace" not in fault_of(lambda: engine.choose(a_position(), QUICK)).detail
    slow = raw(tmp_path, "time.sleep(60)", "slow")
    for launch, name in ((Launch(), "start_timeout"), (Launch(times=TIMES), "--start-timeout SECONDS")):
        fault_ = fault_of(EngineProcess(slow, start_timeout=0.3, launch=launch).start)
        assert f"it has not read the question yet; {name} gives it longer" in fault_.detail
        assert "flush" not in fault_.detail


def test_an_engine_that_has_moved_in_an_earlier_process_flushes(tmp_path: Path) -> None:
    file = tmp_path / "started"
    once = f"if os.path.exists({str(file)!r}): time.sleep(60)\n        open({str(file)!r}, 'w').close()"
    engine = EngineProcess(engine_command(tmp_path, once))
    with engine:
        engine.choose(a_position(), PATIENT)
    with engine:
        fault = fault_of(lambda: engine.choose(a_position(), QUICK))
    assert fault.detail.endswith("a margin of 50 ms; it wrote nothing")


# --- last words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "ended", "line"),
    [
        ("", "", ""),
        (" \n\n", "", ""),
        ("no such model", "", "'no such model'"),
        ("a\nb\n\n", "", "'b'"),
        ("x" * 999, "", f"'{'x' * 200}...'"),
        ("\x1b[31mred\x1b[0m\u202e", "", r"'\x1b[31mred\x1b[0m\u202e'"),
        ("thread 'main' panicked at src/main.rs:3:5:\nno move\nnote: run with `RUST_BACKTRACE=1`\n", "", "'no move'"),
        ("Exception in thread \"main\" X: y\n\tat Main.main(Main.java:5)\n", "", "'Exception in thread \"main\" X: y'"),
        ("    only indented\n", "", "'only indented'"),
        ('Traceback (most recent call last):\n  File "/b/bot.py", line 14, in <module>\n    x\nE: y\n', "",
         "'E: y' (bot.py, line 14)"),
        ('Traceback (most recent call last):\n  File "/b/bot.py", line 14, in <module>\n    x\n'
         '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\nE: y\n', "",
         "'E: y' (bot.py, line 14)"),
        ('Traceback (most recent call last):\n  File "bot.py", line 3, in <module>\nE: two\nlines\n',
         "it exited with code 1", "'E: two' (bot.py, line 3)"),
        ('Traceback (most recent call last):\n  File "bot.py", line 3, in <module>\nE: x\nfree(): invalid pointer\n',
         "it was killed by SIGABRT", "'free(): invalid pointer'"),
        ('  File "bot.py", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n', "it exited with code 1",
         "'SyntaxError: invalid syntax' (bot.py, line 3)"),
    ],
)  # fmt: skip
def test_the_line_that_tells_most(written: str, ended: str, line: str) -> None:
    assert last_line(written.encode(), ended) == line
    assert last_line(os.urandom(KEPT), "").isprintable()


CRASH = "raise ValueError('no such tile')"
TOLD = "; last words: 'ValueError: no such tile' ("


def crash(way: str, folder: Path) -> tuple[str, str]:
    """The detail of a fault of an engine that raises at its second move, and what it ends with."""
    log = GameLog([])
    stderr = folder / "errors" if way == "file" else None
    engine = EngineProcess(engine_command(folder, f"exec({CRASH!r}) if asked == 2 else None"), stderr=stderr)
    engine.log = log.seat(0) if way == "log" else None
    with engine:
        engine.choose(a_position(), PATIENT)
        return fault_of(lambda: engine.choose(a_position(), PATIENT)).detail, "toy.py, line "


@pytest.mark.parametrize("way", ["kept", "file", "log"])
def test_a_crash_keeps_the_last_words(way: str, tmp_path: Path) -> None:
    detail, where = crash(way, tmp_path)
    assert detail.startswith("it exited with code 1" + TOLD + where), detail
    assert re.search(r"line \d+\)$", detail)


def test_an_engine_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    fault = fault_of(EngineProcess(raw(tmp_path, "sys.exit('no such model')")).start)
    assert (fault.kind, fault.detail) == ("start", "it exited with code 1; last words: 'no such model'")
    quiet = fault_of(EngineProcess(raw(tmp_path, "sys.exit(3)")).start)
    assert quiet.detail == "it exited with code 3"


def test_of_a_flood_the_end_is_kept_and_nobody_waits(tmp_path: Path) -> None:
    flood = "[os.write(2, b'%d\\n' % n * 4000) for n in range(2000)]; sys.exit(4)"
    with EngineProcess(engine_command(tmp_path, f"exec({flood!r})")) as engine:
        fault = fault_of(lambda: engine.choose(a_position(), PATIENT))
    assert fault.detail == "it exited with code 4; last words: '1999'"


def test_an_engine_that_writes_errors_while_others_play_does_not_wait_for_us(tmp_path: Path) -> None:
    done = tmp_path / "done"
    code = f"os.write(2, b'x' * 3_000_000); open({str(done)!r}, 'w').close()"
    with EngineProcess(engine_command(tmp_path, before=f"import os\n{code}\n")):
        assert wait_until(done.exists)  # nobody asks it anything meanwhile


def test_what_closes_standard_error_or_gives_it_to_others_goes_on(tmp_path: Path) -> None:
    for doing in ("os.close(2)", "os.system('echo child >&2')", "os.fork() or os._exit(0)"):
        with EngineProcess(engine_command(tmp_path, f"asked == 1 and ({doing}); time.sleep(0)")) as engine:
            for _ in range(3):
                engine.choose(a_position(), PATIENT)
            if "child" in doing:
                assert wait_until(lambda: b"child" in said_by(engine))
            assert children()


def said_by(engine: EngineProcess) -> bytes:
    assert engine._talk is not None
    return engine._talk.channel.last_words().data


# --- bots in Python ----------------------------------------------------------------------------------------------


def test_a_bot_of_this_process_that_raises_is_told_with_file_and_line() -> None:
    def fail(observation: Observation, limits: Limits) -> Move:
        json.loads("{")  # deep in a library
        return observation.legal_moves()[0]

    bots = [Scripted(fail), Scripted()]
    result = play_game(Game(Rules.of("family", 2), 1), bots, TimeControl(nodes=1), fallback=Scripted())
    fault = result.seats[0].fault
    assert fault is not None and fault.kind == "dead"
    assert fault.detail.startswith("raised JSONDecodeError: Expecting property name")
    assert fault.detail.endswith(f"(test_fault_words.py, line {fail.__code__.co_firstlineno + 1})")


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("a\nb\x1b[2J\u202e"), "ValueError: a b [2J"),
        (ValueError(), "ValueError"),
        (Hostile(), "Hostile: its text cannot be told"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_whatever_is_raised_is_told_in_a_line(error: Exception, told: str) -> None:
    assert error_text(error, None) == told
    try:
        raise error
    except Exception as raised:
        text = error_text(raised, None)
    assert text.startswith(f"{told} (test_fault_words.py, line ") and text.isprintable()


# --- where it is shown -------------------------------------------------------------------------------------------


def test_match_tells_last_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = shlex.join(engine_command(tmp_path, f"exec({CRASH!r}) if asked == 2 else None"))
    file = tmp_path / "match.json"
    call = ["match", "greedy", "--engine", command, "--preset", "family", "--rounds", "1"]
    assert run([*call, "--players", "2", "--blocks", "1", "--movetime", "5000", "--json", str(file)]) == 0
    assert TOLD in " ".join(capsys.readouterr().out.split())
    (block,) = json.loads(file.read_text())["blocks"]
    told = [seat["fault"]["detail"] for game in block["games"] for seat in game["result"]["seats"] if seat.get("fault")]
    assert told and all(f"it exited with code 1{TOLD}" in detail for detail in told)


def test_ladder_and_compare_tell_last_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = shlex.join(engine_command(tmp_path, f"exec({CRASH!r}) if asked == 2 else None"))
    folder, state = str(tmp_path / "ladder"), str(tmp_path / "state")
    assert run(["ladder", "init", folder, "--in-process", "--seed", "7"]) == 0
    assert run(["ladder", "add", folder, "greedy"]) == 0
    assert run(["ladder", "add", folder, command, "--name", "toy"]) == 0
    table = ["--format", "round-robin", "--players", "2", "--rounds", "1", "--blocks", "1"]
    assert run(["ladder", "add-list", folder, "main", *table]) == 0
    assert run(["ladder", "run", folder]) == 0
    capsys.readouterr()
    assert run(["ladder", "games", folder]) == 0
    assert TOLD.strip("; ") in " ".join(capsys.readouterr().out.split())
    call = ["compare", "greedy", command, "--players", "2", "--rounds", "1", "--max-blocks", "2", "--state", state]
    assert run(call) == 3
    assert TOLD.strip("; ") in " ".join(capsys.readouterr().out.split())
    run([*call, "--json"])  # from what was kept
    faults = [engine["first_fault"] for engine in json.loads(capsys.readouterr().out)["engines"]]
    assert faults[0] is None and faults[1]["kind"] == "dead" and TOLD in faults[1]["detail"]
