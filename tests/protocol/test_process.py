"""Engine processes from outside: whatever they do, the fault has its right name, in time.

The promise is limit + margin + 1 s; the tests allow more, for machines that do other things too. Who is to fail for
another reason than time is given much of it. ``test_faults.py`` has more of them, in whole games.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.engine.bot_api import Info, Limits, OptionError
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.channel import ChannelTimeout
from caboose.protocol.process.process import EngineProcess
from fault_engines import RULES, SLACK, a_position, fault_of, nothing_left, raw
from paths import DOCS
from players import engine_command, wait_until

PROTOCOL_PAGE = DOCS / "reference" / "protocol.md"
QUICK, LONG = Limits(movetime=150), Limits(movetime=30_000)
STUCK = "sys.stdin.read()"  # answers nothing, and yet ends at once when it is closed


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


@pytest.fixture
def position() -> Observation:
    return a_position()


# --- the start ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("sys.exit(3)", "it exited with code 3"),
        ("hear(); sys.exit(0)", "it exited with code 0"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was killed by SIGKILL"),
        ("say('hello there'); sys.exit(1)", "it exited with code 1; it wrote 'hello there'"),
        (f"os.close(1); {STUCK}", "it closed its output, but runs on"),
        (STUCK, "no cabooseok within 0.5 s of caboose 1; it wrote nothing (does it flush its output?)"),
        (f"sys.stdout.write('cabooseok 1\\n'); {STUCK}", "no cabooseok within 0.5 s"),
        (f"say('cabooseok'); {STUCK}", "in the handshake: cabooseok: version '', expected 1"),
        ("say('cabooseok 2')", "in the handshake: cabooseok: version '2', expected 1"),
        ("say('id'); say('cabooseok 1')", "in the handshake: 'id': expected id name TEXT"),
        ("say('option name x'); say('cabooseok 1')", "in the handshake: 'option name x': expected option name NAME"),
        (f"say('cabooseok 1'); {STUCK}", "no readyok within"),
        ("say('cabooseok 1'); sys.exit(2)", "it exited with code 2"),
        ("os.write(1, b'x' * 70000)", "the line is too long, expected at most 65536 bytes"),
        ("say('\\0')", "byte 1 is 0x00"),
    ],
)
def test_an_engine_that_does_not_start(tmp_path: Path, code: str, detail: str) -> None:
    engine = EngineProcess(raw(tmp_path, code), start_timeout=0.5 if "within" in detail else 30)
    begin = time.monotonic()
    fault = fault_of(engine.start)
    assert time.monotonic() - begin < 0.5 + SLACK
    assert fault.kind == "start"
    assert detail in fault.detail
    assert not engine.running


@pytest.mark.parametrize(
    ("command", "detail"),
    [
        ("/no/such/program --here", "cannot run '/no/such/program --here': No such file or directory"),
        (["/etc"], "cannot run '/etc': Permission denied"),
        ("", "the command line is empty"),
        ([], "the command line is empty"),
        ("engine 'unclosed", "No closing quotation"),
        (["a\0b"], "null byte"),
    ],
)
def test_a_command_that_cannot_be_run(command: str | list[str], detail: str) -> None:
    engine = EngineProcess(command)
    fault = fault_of(engine.start)
    assert fault.kind == "start"
    assert detail in fault.detail
    assert isinstance(engine.name, str)


@pytest.mark.parametrize(
    ("text", "mode", "detail"),
    [
        ("print()", 0o644, "Permission denied; expected an executable (chmod +x), or the interpreter before it"),
        ("#!/bin/sh\r\n", 0o755, "No such file or directory: its first line ends with CR LF, expected LF alone"),
        ("#!/no/such/python\n", 0o755, "No such file or directory: the interpreter that its first line names"),
    ],
)
def test_a_script_that_cannot_be_run(text: str, mode: int, detail: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(text, encoding="ascii")
    script.chmod(mode)
    assert fault_of(EngineProcess([str(script)]).start).detail == f"cannot run '{script}': {detail}"


def test_a_flood_in_the_handshake_ends(tmp_path: Path) -> None:
    engine = EngineProcess(raw(tmp_path, "while True: os.write(1, b'x' * 999 + b'\\n')"), start_timeout=60)
    fault = fault_of(engine.start)
    assert fault.kind == "start"
    assert "bytes of output without cabooseok" in fault.detail


def test_what_an_engine_says_of_itself(tmp_path: Path) -> None:
    code = (
        "hear()\n"
        "for line in ('id name  A Good  Engine ', 'id version 2.1', 'id author B. C.', 'a banner', 'M\\u00fcller',\n"
        "             'option name Seed type spin default 1 min 0 max 5', 'capability nodes stop', 'capability own',\n"
        "             'cabooseok 1', ''):\n"
        "    sys.stdout.buffer.write(line.encode() + b'\\r\\n')\n"
        "sys.stdout.flush()\n"
        "hear(); say('readyok'); hear()\n"
    )
    with EngineProcess(raw(tmp_path, code)) as engine:
        assert (engine.name, engine.version, engine.author) == ("A Good  Engine", "2.1", "B. C.")
        assert engine.capabilities == {"nodes", "stop", "own"}
        assert list(engine.options) == ["Seed"]
        assert engine.options["Seed"].max == 5
        assert engine.running
        assert engine.pid is not None
    assert not engine.running
    assert engine.pid is None
    assert EngineProcess(engine_command(tmp_path), name="mine").name == "mine"
    assert EngineProcess("/usr/bin/some-engine --fast").name == "some-engine"


def test_options_are_set_at_every_start(tmp_path: Path) -> None:
    code = (
        "import re\n"
        "for line in iter(sys.stdin.readline, ''):\n"
        "    words = line.split()\n"
        "    if words[0] == 'caboose': say('option name Seed type spin default 1 min 0 max 5\\n'\n"
        "        'option name Go type button\\noption name Path type string\\ncabooseok 1')\n"
        "    elif words[0] == 'isready': say('readyok')\n"
        "    elif words[0] == 'quit': break\n"
        "    elif words[-1] == '4': say('error setoption: 4 is an unlucky number')\n"
        "    else: sys.stderr.write(line); sys.stderr.flush()\n"
    )
    log = tmp_path / "log.txt"
    engine = EngineProcess(raw(tmp_path, code), {"Seed": "2", "Path": "a b"}, stderr=log)
    with engine:
        engine.start()  # does nothing: it runs
        engine.set_option("Seed", "3")
        engine.set_option("Go", "")
        for name, value, why in [("Seed", "6", "0 to 5"), ("Speed", "1", "its options are: Seed, Go, Path")]:
            with pytest.raises(OptionError, match=why):
                engine.set_option(name, value)
        with pytest.raises(OptionError, match="unlucky"):
            engine.set_option("Seed", "4")
        with pytest.raises(OptionError, match="printable"):
            engine.set_option("Path", "a\nquit")
    first = "setoption name Seed value 2\nsetoption name Path value a b\n"
    assert log.read_text() == f"{first}setoption name Seed value 3\nsetoption name Go\n"
    with engine:
        pass
    assert log.read_text().count("setoption name Seed value 3") == 2
    for options in ({"Speed": "1"}, {"Seed": "9"}, {"Seed": "4"}):
        with pytest.raises(OptionError):
            EngineProcess(raw(tmp_path, code), options).start()


# --- play --------------------------------------------------------------------------------------------------------


def play_round(engine: EngineProcess, rules: Rules, seed: int) -> int:
    """Plays a whole round, every seat by ``engine``; how many moves that were."""
    game = Round.deal(rules, seed=seed)
    moves = 0
    while not game.over:
        game.apply(engine.choose(game.observe(game.turn), Limits(movetime=10_000)))
        moves += 1
    return moves


def blocks_of_the_page(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PROTOCOL_PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_shell_engine_of_the_page_plays(tmp_path: Path) -> None:
    (code,) = blocks_of_the_page("sh")
    file = tmp_path / "engine.sh"
    file.write_text(code, encoding="ascii")
    file.chmod(0o755)
    assert len(code.splitlines()) <= 15
    with EngineProcess([str(file)]) as engine:
        for preset in ("family", "classic", "tournament"):
            engine.new_game()
            assert play_round(engine, Rules.of(preset, 4), seed=1) > 10


@pytest.mark.parametrize("awk", [["gawk", "-f"], ["mawk", "-W", "interactive", "-f"], ["busybox", "awk", "-f"]])
def test_the_awk_engine_of_the_page_plays(tmp_path: Path, awk: list[str]) -> None:
    if shutil.which(awk[0]) is None:
        pytest.skip(f"there is no {awk[0]} here")
    (code,) = blocks_of_the_page("awk")
    file = tmp_path / "engine.awk"
    file.write_text(code, encoding="ascii")
    with EngineProcess([*awk, str(file)]) as engine:
        assert play_round(engine, RULES, seed=1) > 3


def test_time_and_info_of_a_move(tmp_path: Path, position: Observation) -> None:
    told: list[Info] = []
    on_go = (
        "time.sleep(0.05); say('info nodes 1\\ninfo time 3 nodes 7 score -1.5 candidates '"
        " + legal[1] + ':4:2.25\\ninfo string hm'); say('info depth 3')"
    )
    with EngineProcess(engine_command(tmp_path, on_go)) as engine:
        assert engine.last_info is None
        move = engine.choose(position, Limits(movetime=60_000, report=told.append))
        assert move == position.legal_moves()[0]
        assert 50 <= engine.last_time < 60_000
        assert [info.nodes for info in told] == [1, 7]
        assert engine.last_info is None  # the last line cannot be read
    with EngineProcess(engine_command(tmp_path, on_go.replace("; say('info depth 3')", ""))) as engine:
        engine.choose(position, Limits(movetime=60_000))
        assert engine.last_info == told[1]
        assert told[1].candidates[0].move == position.legal_moves()[1]


@pytest.mark.parametrize(
    ("on_go", "kind", "detail"),
    [
        (STUCK, "late", "no answer within 150 ms and a margin of 50 ms"),
        (f"say('hm'); {STUCK}", "late", "it wrote 'hm'"),
        ("sys.exit(7)", "dead", "it exited with code 7"),
        ("sys.stdout.write('bestmove ' + words[1] + ' ' + legal[0]); sys.exit(4)", "dead", "it exited with code 4"),
        ("(os.fork() or time.sleep(60)) and os._exit(5)", "dead", "it exited with code 5"),
        ("say('bestmove ' + words[1] + ' 18-18@M')", "illegal", "18-18@M, expected one of "),
        ("say('bestmove ' + words[1] + ' stop')", "illegal", "stop, expected one of "),
        ("say('bestmove ' + words[1] + ' ' + legal[0].split('@')[0] + '@14')", "illegal", "@14, expected one of "),
        ("say('bestmove')", "garbled", "the number is missing"),
        ("say('bestmove one ' + legal[0])", "garbled", "'one': expected the number of the go"),
        ("say('bestmove ' + words[1])", "garbled", "expected one move"),
        ("say('bestmove ' + words[1] + ' ' + legal[0] + ' ' + legal[0])", "garbled", "expected one move"),
        ("say('bestmove ' + words[1] + ' pass')", "garbled", "'pass' is not a move"),
        ("say('bestmove ' + words[1] + ' 1-\\0@M')", "garbled", "is 0x00"),
        ("say('bestmove ' + words[1] + ' 1\\u00b2-1@M')", "garbled", "expected printable ASCII"),
        ("say('\\0\\0\\0')", "garbled", "byte 1 is 0x00"),
        ("say('x' * 70000)", "garbled", "the line is too long"),
        ("say('info ' + 'x' * 70000)", "garbled", "the line is too long"),
        ("say('error go: what?')", "refused", "what?"),
        (
            f"say('error go 99: no idea\\nbestmove 99 ' + legal[0]); {STUCK}",
            "late",
            "@1': number 99 where 1 was asked",
        ),
    ],
)
def test_a_fault_while_it_is_asked(tmp_path: Path, position: Observation, on_go: str, kind: str, detail: str) -> None:
    engine = EngineProcess(engine_command(tmp_path, on_go))
    engine.start()
    begin = time.monotonic()
    fault = fault_of(lambda: engine.choose(position, QUICK if kind == "late" else LONG))
    taken = time.monotonic() - begin
    assert (fault.kind, detail in fault.detail) == (kind, True), fault
    assert engine.last_time / 1000 <= taken
    assert engine.running == (kind != "dead")
    engine.close()
    assert time.monotonic() - begin < 0.2 + SLACK
    assert fault_of(lambda: engine.choose(position, QUICK)).kind == "dead"


@pytest.mark.parametrize("limits", [Limits(nodes=5), Limits(infinite=True), Limits()])
def test_the_guard_is_there_in_every_mode(tmp_path: Path, position: Observation, limits: Limits) -> None:
    with EngineProcess(engine_command(tmp_path, STUCK), guard=0.1) as engine:
        begin = time.monotonic()
        fault = fault_of(lambda: engine.choose(position, limits))
        assert 0.1 <= time.monotonic() - begin < 0.15 + SLACK
        assert fault.kind == "late"


def test_the_clock_limits_too(tmp_path: Path, position: Observation) -> None:
    with EngineProcess(engine_command(tmp_path, STUCK), margin=10) as engine:
        fault = fault_of(lambda: engine.choose(position, Limits(clock=100, increment=5000, movetime=9000)))
        assert fault.detail.startswith("no answer within 100 ms and a margin of 10 ms")
        assert 110 <= engine.last_time < 110 + 1000 * SLACK


def test_within_the_margin_is_in_time(tmp_path: Path, position: Observation) -> None:
    with EngineProcess(engine_command(tmp_path, "time.sleep(0.1)"), margin=30_000) as engine:
        assert engine.choose(position, Limits(movetime=50)) in position.legal_moves()
        assert engine.last_time > 100


def test_output_without_end_is_a_fault(tmp_path: Path, position: Observation) -> None:
    flood = "for _ in iter(int, 1): os.write(1, (b'info string ' + b'x' * 980 + b'\\n') * 64)"
    with EngineProcess(engine_command(tmp_path, flood)) as engine:
        fault = fault_of(lambda: engine.choose(position, Limits(nodes=1)))
        assert fault.kind == "garbled"
        assert "bytes of output without a bestmove" in fault.detail
        assert fault_of(lambda: engine.choose(position, Limits(movetime=50))).kind in ("late", "garbled")


def test_what_nobody_asked_for_is_no_answer(tmp_path: Path, position: Observation) -> None:
    twice = "say('bestmove 0 ' + legal[1] + '\\nbestmove 1000 ' + legal[1]); pending = 1"
    more = (
        twice
        + "; say('bestmove ' + words[1] + ' ' + legal[0] + '\\nbestmove ' + str(int(words[1]) + 1) + ' ' + legal[1])"
    )
    with EngineProcess(engine_command(tmp_path, more)) as engine:
        for number in range(1, 6):
            assert engine.choose(position, Limits(movetime=60_000)) == position.legal_moves()[0]
            assert engine.stale >= 2 * number
            engine.new_game()  # all that it wrote has come
        assert engine.stale == 5 * 4


def test_an_answer_that_comes_after_its_time_is_ignored_when_it_comes(tmp_path: Path, position: Observation) -> None:
    with EngineProcess(engine_command(tmp_path, "asked == 1 and time.sleep(0.4)")) as engine:
        assert fault_of(lambda: engine.choose(position, QUICK)).kind == "late"
        assert engine.choose(position, LONG) == position.legal_moves()[0]
        assert engine.stale == 1


def test_an_engine_that_does_not_read_is_late_and_never_blocks_us(tmp_path: Path, position: Observation) -> None:
    code = "hear(); say('cabooseok 1'); hear(); say('readyok'); time.sleep(600)"
    with EngineProcess(raw(tmp_path, code), margin=1) as engine:
        begin = time.monotonic()
        for _ in range(200):  # many times what a pipe holds
            assert fault_of(lambda: engine.choose(position, Limits(movetime=1))).kind == "late"
        assert time.monotonic() - begin < 200 * 0.1


def test_an_engine_that_writes_and_does_not_read_does_not_deadlock(tmp_path: Path, position: Observation) -> None:
    code = (
        "hear(); say('cabooseok 1'); hear(); say('readyok')\n"
        "for _ in range(100): os.write(1, b'info string nothing new, really nothing\\n' * 1000)\n"
        "legal = []\n"
        "for line in iter(sys.stdin.readline, ''):\n"
        "    words = line.split()\n"
        "    if words[0] == 'legal': legal = words[1:]\n"
        "    if words[0] == 'go': say('bestmove ' + words[1] + ' ' + legal[0])\n"
        "    if words[0] == 'quit': break\n"
    )
    with EngineProcess(raw(tmp_path, code)) as engine:
        assert engine.choose(position, Limits(movetime=20_000)) == position.legal_moves()[0]


def test_an_engine_that_closes_its_input_is_dead(tmp_path: Path, position: Observation) -> None:
    code = "hear(); say('cabooseok 1'); hear(); say('readyok'); os.close(0); time.sleep(600)"
    with EngineProcess(raw(tmp_path, code)) as engine:
        assert wait_until(lambda: not os.path.exists(f"/proc/{engine.pid}/fd/0"))
        fault = fault_of(lambda: engine.choose(position, LONG))
        assert (fault.kind, fault.detail) == ("dead", "it closed its input, but runs on")


def test_an_engine_that_died_between_moves_is_dead(tmp_path: Path, position: Observation) -> None:
    with EngineProcess(engine_command(tmp_path)) as engine:
        engine.choose(position, LONG)
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        fault = fault_of(lambda: engine.choose(position, LONG))
        assert (fault.kind, fault.detail) == ("dead", "it was killed by SIGKILL")
        assert not engine.running
        for call in (engine.new_game, lambda: engine.set_option("x", "y")):
            assert fault_of(call).kind == "dead"
        engine.start()
        assert engine.choose(position, Limits(movetime=60_000)) == position.legal_moves()[0]


def test_what_is_there_when_we_look_only_after_the_deadline_came_in_time(tmp_path: Path) -> None:
    with EngineProcess(engine_command(tmp_path)) as engine:
        assert engine._talk is not None
        channel = engine._talk.channel
        channel.send(b"isready\n", time.monotonic() + 30)
        assert wait_until(lambda: bool(channel._poll.poll(0)))
        deadline = time.monotonic() - 0.001
        channel.forgive()
        assert channel.receive(deadline) == [b"readyok"]
        assert channel.stamp == deadline
        channel.send(b"isready\n", time.monotonic() + 30)
        assert wait_until(lambda: bool(channel._poll.poll(0)))
        with pytest.raises(ChannelTimeout):  # only once in a request: who writes without end is late
            channel.receive(deadline)
