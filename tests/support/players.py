"""Players for the tests of referee and match: in this process, and as small engine processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from caboose.arena.blocks.contestants import (
    About,
    Contestant,
    Lineup,
    make_contestants,
    make_entrants,
    make_entries,
    parse_options,
)
from caboose.cli.options.sandbox import SUPERUSER
from caboose.engine.bot_api import Limits, Option, OptionError
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation

Chooser = Callable[[Observation, Limits], Move]


def first_legal(observation: Observation, limits: Limits) -> Move:
    """The first legal move."""
    return observation.legal_moves()[0]


def last_legal(observation: Observation, limits: Limits) -> Move:
    """The last legal move."""
    return observation.legal_moves()[-1]


class Scripted:
    """A bot in this process that does what ``chooser`` says, and remembers what it was asked."""

    name = "scripted"

    def __init__(self, chooser: Chooser = first_legal) -> None:
        self.chooser = chooser
        self.asked: list[Observation] = []
        self.limits: list[Limits] = []
        self.games = 0
        self.options: Mapping[str, Option] = {}

    def set_option(self, name: str, value: str) -> None:
        raise OptionError(f"no option {name}")

    def new_game(self) -> None:
        self.games += 1

    def choose(self, observation: Observation, limits: Limits) -> Move:
        self.asked.append(observation)
        self.limits.append(limits)
        return self.chooser(observation, limits)


# An engine that knows no rules. ``answer`` and ``number`` may be used by what is put in place of the last line.
ENGINE = """
import os, sys, time
asked = 0
legal = []
def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()
for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    if words[0] == "caboose":
        say("id name toy\\nid version 7\\ncabooseok 1")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "quit":
        break
    elif words[0] == "go":
        asked += 1
        {on_go}
        say("bestmove " + words[1] + " " + legal[0])
"""


def engine_command(folder: Path, on_go: str = "pass", name: str = "toy", before: str = "") -> list[str]:
    """The command of an engine that plays the first legal move, after ``on_go`` (one line of Python, which may use
    ``asked``, ``words``, ``legal`` and ``say``). ``before`` runs first of all."""
    file = folder / f"{name}.py"
    file.write_text(before + ENGINE.replace("{on_go}", on_go), encoding="utf-8")
    return [sys.executable, "-I", "-S", str(file)]


def contestants_of(
    words: Sequence[str],
    engines: Sequence[str] = (),
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    *,
    said: Sequence[str] | None = None,
    measuring: bool = False,
) -> tuple[Contestant, ...]:
    """The contestants that a call names. Engines are not asked, but may be taken to have ``said`` what they are."""
    entrants = make_entrants(words, engines, names, measuring=measuring)
    abouts = [About(name) for name in (said if said is not None else [""] * len(entrants))]
    return make_contestants(entrants, abouts, parse_options(options))


def lineup_of(contestants: Sequence[Contestant], players: int | None = None) -> Lineup:
    """They at a table."""
    return Lineup(tuple(contestants), make_entries(len(contestants), players))


def without_warning(stderr: str) -> str:
    """What a command wrote, but for the line that it has for the superuser only."""
    return stderr.replace(f"caboose: {SUPERUSER}\n", "", 1)


def is_alive(pid: int) -> bool:
    """Whether there is a process of that number other than a zombie."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Waits for ``condition``; says whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
