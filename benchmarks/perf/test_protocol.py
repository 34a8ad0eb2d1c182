"""Text, and processes that speak it."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from pytest_benchmark.fixture import BenchmarkFixture

from caboose.bots import create
from caboose.engine.bot_api import Limits
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.messages import go_line, parse_bestmove
from caboose.protocol.notation.notation import observation_text, parse_observation, parse_position, position_text
from caboose.protocol.notation.observation import observation_lines
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.server.serve import serve
from grid import middle_of_a_round, timed, timed_calls

RULES = Rules.of("family", 4)
MESSAGES = 32
LIMITS = Limits(movetime=1000)


def position() -> Round:
    return middle_of_a_round(RULES)


def view() -> Observation:
    round_ = position()
    return round_.observe(round_.turn)


def test_parsing_moves(benchmark: BenchmarkFixture) -> None:
    texts = [str(move) for move in position().legal_moves()] * 16

    def parse() -> list[Move]:
        return [Move.parse(text) for text in texts]

    timed(benchmark, "moves", len, parse)


def test_printing_an_observation(benchmark: BenchmarkFixture) -> None:
    timed(benchmark, "texts", 1, observation_text, view())


def test_parsing_an_observation(benchmark: BenchmarkFixture) -> None:
    timed(benchmark, "texts", 1, parse_observation, observation_text(view()))


def test_printing_a_position(benchmark: BenchmarkFixture) -> None:
    timed(benchmark, "texts", 1, position_text, position())


def test_parsing_a_position(benchmark: BenchmarkFixture) -> None:
    timed(benchmark, "texts", 1, parse_position, position_text(position()))


def test_round_trip_in_process(benchmark: BenchmarkFixture) -> None:
    """Observations are written, read by the loop of ``caboose engine``, answered, and the answers read."""
    bot = create("random")
    observation = view()

    def talk() -> int:
        said = []
        for number in range(1, MESSAGES + 1):
            said += [*observation_lines(observation), go_line(number, LIMITS)]
        heard = io.BytesIO()
        serve(bot, io.BytesIO("\n".join([*said, ""]).encode("ascii")), heard)
        numbers = [parse_bestmove(line)[0] for line in heard.getvalue().decode("ascii").splitlines()]
        assert numbers == list(range(1, MESSAGES + 1))
        return len(numbers)

    timed(benchmark, "answers", MESSAGES, talk)


def test_round_trip_with_a_child(benchmark: BenchmarkFixture) -> None:
    """One question to an engine process and its answer, over two pipes."""
    observation = view()
    with EngineProcess([sys.executable, "-P", "-m", "caboose.arena.blocks.engine_process", "random"]) as engine:
        engine.new_game()
        timed(benchmark, "answers", 1, engine.choose, observation, LIMITS)


def test_starting_an_engine(benchmark: BenchmarkFixture) -> None:
    """From nothing to a process that is ready, and its end."""

    def start() -> None:
        with EngineProcess([sys.executable, "-P", "-m", "caboose.arena.blocks.engine_process", "random"]):
            pass

    timed_calls(benchmark, "starts", 1, start, 2)


def test_starting_the_command_line(benchmark: BenchmarkFixture) -> None:
    command = [str(Path(sys.executable).with_name("caboose")), "--help"]

    def start() -> bytes:
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout

    assert b"match" in timed_calls(benchmark, "starts", 1, start, 2)
