"""Engine loops for the tests: a bot with every kind of option, and a loop to talk with."""

from __future__ import annotations

import io
import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from caboose.engine.bot_api import Limits, Option
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.protocol.server.serve import serve

LONG = 20.0  # seconds after which a test gives up waiting

POSITION = """rules family players=2 set=6 hand=4
seat 1
round 1 hub 6 starter 1
hand 1-3 1-5 2-6 5-6
"""  # its first legal move is 6-2@1


class Toy:
    """A bot with an option of each type, which does as ``chooser`` says."""

    name = "toy"
    capabilities = ("stop", "infinite")

    def __init__(self, chooser: Callable[[Observation, Limits], Move] | None = None) -> None:
        self.options = {
            option.name: option
            for option in (
                Option("Loud", "check", default=False),
                Option("Seed", "spin", default=0, min=-3, max=10),
                Option("Style", "combo", default="calm", choices=("calm", "wild")),
                Option("Book", "string", default="none at all"),
                Option("Empty", "string", default=""),
                Option("Forget", "button"),
            )
        }
        self.values: dict[str, str] = {}
        self.games = 0
        self.limits: list[Limits] = []
        self.chooser = chooser

    def set_option(self, name: str, value: str) -> None:
        self.values[name] = value

    def new_game(self) -> None:
        self.games += 1

    def choose(self, observation: Observation, limits: Limits) -> Move:
        self.limits.append(limits)
        return self.chooser(observation, limits) if self.chooser else observation.legal_moves()[0]


def until_stopped(observation: Observation, limits: Limits) -> Move:
    """Thinks until it is told to stop, then plays the last legal move."""
    assert limits.stop is not None
    assert limits.stop.wait(LONG)
    return observation.legal_moves()[-1]


def session(text: str | bytes, bot: Toy | None = None) -> list[str]:
    """What ``bot`` answers to a whole session. Its input ends at once, so a bot that thinks is told to stop."""
    out = io.BytesIO()
    serve(bot or Toy(), io.BytesIO(text if isinstance(text, bytes) else text.encode("ascii")), out)
    return out.getvalue().decode("ascii").splitlines()


class Live:
    """A loop that runs on a thread of its own, with pipes at both ends."""

    def __init__(self, bot: Toy, lines: BinaryIO, answers: BinaryIO, thread: threading.Thread) -> None:
        self.bot = bot
        self.input = lines
        self.answers = answers
        self.thread = thread
        self.heard = b""

    def say(self, text: str) -> None:
        self.input.write(text.encode("ascii") + b"\n")

    def hear(self) -> str:
        """The next line; fails when none comes."""
        while b"\n" not in self.heard:
            assert select.select([self.answers], [], [], LONG)[0], "no answer"
            piece = self.answers.read(65_536)
            assert piece, "the loop has ended"
            self.heard += piece
        line, _, self.heard = self.heard.partition(b"\n")
        return line.decode("ascii")

    def ended(self) -> bool:
        self.thread.join(LONG)
        return not self.thread.is_alive()


@contextmanager
def live(chooser: Callable[[Observation, Limits], Move] = until_stopped) -> Iterator[Live]:
    bot = Toy(chooser)
    its_input, our_output = os.pipe()
    our_input, its_output = os.pipe()

    def run() -> None:
        with open(its_input, "rb", buffering=0) as lines, open(its_output, "wb", buffering=0) as out:
            serve(bot, lines, out)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    with open(our_output, "wb", buffering=0) as lines, open(our_input, "rb", buffering=0) as answers:
        yield Live(bot, lines, answers, thread)
    thread.join(LONG)
    assert not thread.is_alive()
