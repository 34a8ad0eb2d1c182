"""The engine's loop: what a bot says as an engine process, and that nothing that comes in ends it."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caboose.engine.bot_api import Candidate, Info, Limits
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.notation.lines import MAX_LINE
from caboose.protocol.notation.observation import observation_lines
from engine_loops import LONG, POSITION, Toy, live, session, until_stopped
from players import wait_until

# --- what comes in -----------------------------------------------------------------------------------------------


def test_lines_end_with_lf_or_crlf_and_blanks_do_not_matter() -> None:
    plain = session(f"caboose 1\n{POSITION}isready\ngo 1 movetime 5\nquit\n")
    assert plain[-2:] == ["readyok", "bestmove 1 6-2@1"]
    text = f"caboose 1\n{POSITION}isready\ngo 1 movetime 5\nquit\n"
    assert session(text.replace("\n", "\r\n")) == plain
    assert session(text.replace("\n", "\n\r\n\n  \t \n").replace(" ", " \t  ")) == plain
    assert session("".join(f"\t {line} \n" for line in text.splitlines())) == plain


def test_the_end_of_input_is_quit_and_what_came_before_is_answered() -> None:
    assert session("isready") == ["readyok"]
    assert session("isready\n") == ["readyok"]
    assert session("") == []
    assert session(f"{POSITION}go 1 infinite", Toy(until_stopped)) == ["bestmove 1 6-5@M"]
    assert session("isready\nquit\nisready\n") == ["readyok"]


def test_a_greeting_is_not_needed_and_may_be_repeated() -> None:
    answers = session("isready\ncaboose 1\ncaboose 3\n")
    assert answers[0] == "readyok"
    assert answers.count("cabooseok 1") == 2


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        (b"x" * (MAX_LINE + 1), "too long, expected at most 65536 bytes"),
        (b"x" * 3_000_000, "too long, expected at most 65536 bytes"),
        (b"isready\0", "byte 8 is 0x00, expected printable ASCII"),
        (b"\0" * 5000, "byte 1 is 0x00"),
        ("isr\u00e9ady".encode(), "byte 4 is 0xc3"),
        (b"\xff\xfe", "byte 1 is 0xff"),
        (b"is\x1b[31mready", "byte 3 is 0x1b"),
        (b"isready\r\r", "byte 8 is 0x0d"),
        (b"isready now", "isready: 'now', expected nothing"),
        (b"ISREADY", "'ISREADY': unknown command"),
        (b"isredy", "did you mean isready?"),
        (b"position startpos", "unknown command"),
        (b"stop it", "stop: 'it', expected nothing"),
        (b"quit now", "quit: 'now', expected nothing"),
        (b"newgame 2", "newgame: '2', expected nothing"),
        (b"caboose", "caboose: expected one number"),
        (b"caboose x", "caboose: version: 'x'"),
        (b"bestmove 1 1-2@M", "unknown command"),
    ],
)
def test_a_bad_line_gets_one_error_and_the_next_line_is_fine(raw: bytes, names: str) -> None:
    answers = session(raw + b"\nisready\n")
    assert len(answers) == 2
    assert answers[0].startswith("error ")
    assert names in answers[0]
    assert len(answers[0]) < 500
    assert answers[1] == "readyok"


def test_a_line_of_the_greatest_length_is_read() -> None:
    events = "events" + " " * (MAX_LINE - 6)
    assert session(f"{POSITION}{events}\ngo 1\n") == ["bestmove 1 6-2@1"]


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_whatever_comes_in_the_loop_lives(noise: bytes) -> None:
    answers = session(noise.replace(b"quit", b"") + b"\nisready\n")
    assert answers[-1] == "readyok"
    assert all(answer.isascii() and answer.isprintable() for answer in answers)


# --- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("Loud value true", "true"),
        ("Seed value -3", "-3"),
        ("Seed value 10", "10"),
        ("Style value wild", "wild"),
        ("Book value some words, to the end", "some words, to the end"),
        ("Book value  spaced  inside ", "spaced  inside"),
        ("Book", ""),
        ("Book value", ""),
        ("Forget", ""),
    ],
)
def test_an_option_is_set(words: str, value: str) -> None:
    bot = Toy()
    assert session(f"setoption name {words}\nisready\n", bot) == ["readyok"]
    assert bot.values == {words.split(maxsplit=1)[0]: value}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("name Loud value yes", "expected true or false"),
        ("name Seed value 11", "from -3 to 10"),
        ("name Seed value -4", "from -3 to 10"),
        ("name Seed value 1.0", "from -3 to 10"),
        ("name Seed value 99999999999999999999999", "from -3 to 10"),
        ("name Seed", "from -3 to 10"),
        ("name Style value loud", "calm, wild"),
        ("name Forget value 1", "takes no value"),
        ("name seed value 3", "unknown option 'seed', expected one of Loud, Seed, Style, Book, Empty, Forget"),
        ("Seed 3", "expected setoption name NAME value VALUE"),
        ("name Seed 3", "expected setoption name NAME value VALUE"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(words: str, names: str) -> None:
    bot = Toy()
    error, ready = session(f"setoption {words}\nisready\n", bot)
    assert error.startswith("error setoption: ")
    assert names in error
    assert ready == "readyok"
    assert bot.values == {}


# --- go ----------------------------------------------------------------------------------------------------------


def test_the_number_is_repeated_whatever_it_is() -> None:
    numbers = [7, 3, 3, 1, 999_999_999_999_999]
    asked = "".join(f"go {number} nodes 5\n" for number in numbers)
    assert session(POSITION + asked) == [f"bestmove {number} 6-2@1" for number in numbers]


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "1e3", "1.0", "1234567890123456"])
def test_an_odd_number_is_refused(number: str) -> None:
    error, ready = session(f"{POSITION}go {number}\nisready\n")
    assert error.startswith("error go: number: ")
    assert ready == "readyok"


def test_the_limits_reach_the_bot() -> None:
    bot = Toy()
    session(f"{POSITION}go 1 movetime 20 nodes 7\ngo 2 clock 60000 increment 100\ngo 3\ngo 4 clock 5\n", bot)
    first, second, third, fourth = bot.limits
    assert (first.movetime, first.nodes, first.clock, first.infinite) == (20.0, 7, None, False)
    assert (second.movetime, second.clock, second.increment) == (None, 60_000.0, 100.0)
    assert third.infinite
    assert (fourth.clock, fourth.increment) == (5.0, 0.0)


def test_a_single_legal_move_is_answered_like_any_other() -> None:
    answers = session(
        "rules family players=2 set=6 hand=4\nseat 1\nround 1 hub 6 starter 1\n"
        "events 1:6-6@1\nhand 1-3 1-5 2-5\ngo 1\nobservation\n"
        "rules family players=2 set=6 hand=4 first_turn_places=own\nseat 1\nround 1 hub 6 starter 1\n"
        "hand 1-3 1-5 2-5 3-6\ngo 2 movetime 10\n"
    )
    assert answers[0].startswith("error go 1: events: event 1: ")
    assert answers[1] == "bestmove 2 6-3@1"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("go 5 depth 3", "limit 'depth', expected movetime"),
        ("observation\ngo 5", "rules: there is no such line"),
        ("newgame\ngo 5", "rules: there is no such line"),
        ("seat 2\ngo 5", "seat 2 is not to move: it is the turn of seat 1"),
        ("events 1:6-5@1\nhand 1-3 1-5 2-6\ngo 5", "seat 1 is not to move: it is the turn of seat 2"),
        ("legal 6-2@1\ngo 5", "legal: 6-5@1 is legal too"),
    ],
)
def test_a_go_without_a_usable_observation_gets_an_error_and_no_move(lines: str, names: str) -> None:
    answers = session(f"{POSITION}{lines}\nisready\n")
    assert answers[0].startswith("error go 5: ")
    assert names in answers[0]
    assert answers[1:] == ["readyok"]


def test_a_round_that_is_over_is_not_played_on() -> None:
    rules = Rules.of("family", 2, set=6, hand=4)
    game = Round.deal(rules, seed=4)
    while not game.over:
        game.apply(game.legal_moves()[0])
    lines = "\n".join(observation_lines(game.observe(0)))
    assert session(f"{lines}\ngo 9\n") == ["error go 9: the round is over after these events"]


def test_a_bot_that_fails_gets_an_error_line_and_is_asked_again() -> None:
    def fail(observation: Observation, limits: Limits) -> Move:
        if len(bot.limits) == 1:
            raise ZeroDivisionError("a\nb\u00e9")
        if len(bot.limits) == 2:
            raise SystemExit(3)
        if len(bot.limits) == 3:
            return STOP
        return observation.legal_moves()[1]

    bot = Toy(fail)
    answers = session(f"{POSITION}go 1\ngo 2\ngo 3\ngo 4\n", bot)
    first = fail.__code__.co_firstlineno
    assert answers == [
        f"error go 1: the bot failed: ZeroDivisionError: a b  (test_serve.py, line {first + 2})",
        f"error go 2: the bot failed: SystemExit: 3 (test_serve.py, line {first + 4})",
        "error go 3: the bot chose 'stop', expected one of 6-2@1 6-5@1 6-2@M 6-5@M",
        "bestmove 4 6-5@1",
    ]


def test_a_bot_may_report_while_it_thinks() -> None:
    def tell(observation: Observation, limits: Limits) -> Move:
        assert limits.report is not None
        first, second, *_ = observation.legal_moves()
        limits.report(Info(time=1.6, nodes=10, nps=5, score=-1.255, candidates=[Candidate(second, 9, 0.5)]))
        kept.append(limits)
        return first

    kept: list[Limits] = []
    answers = session(f"{POSITION}go 1\n", Toy(tell))
    assert answers == ["info time 1 nodes 10 nps 5 score -1.25 candidates 6-5@1:9:0.50", "bestmove 1 6-2@1"]
    assert kept[0].report is not None
    kept[0].report(Info())  # too late: nobody hears it


# --- stop, quit and the end while it thinks ----------------------------------------------------------------------


def test_stop_interrupts() -> None:
    with live() as loop:
        loop.say(f"{POSITION}go 1 infinite")
        loop.say("stop")
        assert loop.hear() == "bestmove 1 6-5@M"
        loop.say("stop")
        loop.say("isready")
        assert loop.hear() == "readyok"


def test_stop_is_for_all_that_was_asked_before_and_nothing_after() -> None:
    with live() as loop:
        loop.say(f"{POSITION}stop\ngo 1 infinite\ngo 2 infinite\nstop\nstop\ngo 3 infinite\nisready")
        assert loop.hear() == "bestmove 1 6-5@M"
        assert loop.hear() == "bestmove 2 6-5@M"
        assert wait_until(lambda: len(loop.bot.limits) == 3)
        stop = loop.bot.limits[2].stop
        assert stop is not None
        assert not stop.is_set()
        loop.say(" stop ")
        assert loop.hear() == "bestmove 3 6-5@M"
        assert loop.hear() == "readyok"


@pytest.mark.parametrize("end", ["quit", ""])
def test_quit_and_the_end_of_input_interrupt(end: str) -> None:
    with live() as loop:
        loop.say(f"{POSITION}go 1 infinite\nisready")
        if end:
            loop.say(end)
        else:
            loop.input.close()
        assert loop.ended()
        assert loop.answers.read() == b"bestmove 1 6-5@M\nreadyok\n"


def test_of_a_flood_while_it_thinks_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caboose.protocol.server.serve._BACKLOG", 1000)
    release = threading.Event()

    def slow(observation: Observation, limits: Limits) -> Move:
        assert release.wait(LONG)
        return observation.legal_moves()[0]

    with live(slow) as loop:
        loop.say(f"{POSITION}go 1 nodes 5")
        for _ in range(5):
            loop.say("isready\n" * 130)
        loop.say("go 2 nodes 5")
        release.set()
        answers = [loop.hear() for _ in range(5 * 130 + 2)]
    assert answers == ["bestmove 1 6-2@1", *["readyok"] * (5 * 130), "bestmove 2 6-2@1"]


def test_a_flood_stops_what_only_a_stop_would_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caboose.protocol.server.serve._BACKLOG", 1000)
    with live() as loop:
        loop.say(f"{POSITION}go 1 infinite")
        loop.say("isready\n" * 200)
        assert loop.hear() == "bestmove 1 6-5@M"
        assert [loop.hear() for _ in range(200)] == ["readyok"] * 200


def test_a_bot_that_does_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caboose.protocol.server.serve._PATIENCE", 0.2)
    release = threading.Event()

    def deaf(observation: Observation, limits: Limits) -> Move:
        release.wait(LONG)
        return observation.legal_moves()[0]

    with live(deaf) as loop:
        loop.say(f"{POSITION}go 1 movetime 10")
        loop.say("quit")
        assert loop.ended()
        release.set()


def test_the_loop_ends_when_nobody_reads_its_answers() -> None:
    with live() as loop:
        loop.answers.close()
        for _ in range(3):
            loop.say("isready")
            time.sleep(0.05)
            if not loop.thread.is_alive():
                break
        loop.input.close()
        assert loop.ended()


def test_prints_of_a_bot_do_not_reach_the_referee() -> None:
    code = (
        "from caboose.protocol.server.serve import serve_stdio\n"
        "class Chatty:\n"
        "    name, options = 'chatty', {}\n"
        "    def set_option(self, name, value): pass\n"
        "    def new_game(self): print('a new game!', flush=True)\n"
        "    def choose(self, observation, limits): print('hm'); return observation.legal_moves()[0]\n"
        "serve_stdio(Chatty(), version='7')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=f"caboose 1\nnewgame\n{POSITION}go 1\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["id name chatty", "id version 7", "cabooseok 1", "bestmove 1 6-2@1"]
    assert done.stderr.split() == ["a", "new", "game!", "hm"]


def test_the_handshake_tells_all_that_can_be_set() -> None:
    answers = session("caboose 1\n")
    assert answers[0] == "id name toy"
    assert [re.split(" type | default", answer)[0] for answer in answers if answer.startswith("option")] == [
        f"option name {name}" for name in Toy().options
    ]
    assert answers[-2:] == ["capability infinite stop", "cabooseok 1"]
