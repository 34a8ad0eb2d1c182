"""Who plays: the contestants of a match, and how they sit at the table."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import PurePath
from typing import Final

import caboose.bots as bots
from caboose.arena.errors import CallError
from caboose.engine.play import Bot, OptionError
from caboose.engine.rules import MAX_PLAYERS, MIN_PLAYERS
from caboose.protocol.child import UNLIMITED
from caboose.protocol.launch import PLAIN, Launch
from caboose.protocol.process import EngineProcess
from caboose.protocol.timing import TimeControl

# Programs that only run another one: an engine is named after what they are given to run.
_INTERPRETERS: Final = (
    "awk", "bash", "bun", "deno", "env", "gawk", "lua", "node", "perl", "pypy", "python", "ruby", "sh",
)  # fmt: skip
_SHOWN: Final = 100  # characters of a piece of the call that an error shows
MAX_LABEL: Final = 16  # characters, so that the standings fit 80 columns


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player of a match: a built-in bot, or a command that starts an engine, with the options it is given.

    ``label`` names it in tables, once in a match. ``builtin`` is empty for a command.
    """

    label: str
    builtin: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def engine(self, control: TimeControl, launch: Launch) -> EngineProcess:
        """Its process, not yet started."""
        if self.builtin:  # it plays many games, and needs no limits
            launch = replace(launch, resources=UNLIMITED, shared=(*launch.shared, *installation()))
        return EngineProcess(
            self.command,
            dict(self.options),
            start_timeout=control.startup / 1000,
            margin=control.margin,
            guard=control.guard / 1000,
            launch=launch,
        )

    def player(self, control: TimeControl, in_process: bool, launch: Launch = PLAIN) -> Bot:
        """A player for a seat: in this process if that is wanted and it is built in, else an engine not yet started."""
        if self.builtin and in_process:
            return make_builtin(self.builtin, dict(self.options), measuring=True)
        return self.engine(control, launch)


@dataclass(frozen=True, slots=True)
class Lineup:
    """The contestants, and the table: ``entries`` has the number of a contestant for each player of a game."""

    contestants: tuple[Contestant, ...]
    entries: tuple[int, ...]

    @property
    def players(self) -> int:
        """How many sit at the table."""
        return len(self.entries)

    @property
    def has_copies(self) -> bool:
        """Whether the second contestant sits on every seat but one."""
        return len(self.contestants) < len(self.entries)


def builtin_command(name: str) -> tuple[str, ...]:
    """The command that runs the built-in bot ``name`` as an engine process.

    It is Python itself, so that it works from any kind of installation; -P because a file in the folder from
    which the command happens to be called must not stand in for a library.
    """
    return (sys.executable, "-P", "-m", "caboose.arena.engine", name)


def installation() -> tuple[str, ...]:
    """The folders from which a built-in bot runs: Python's, and those of the packages."""
    packages = [place for name in ("arena", "bots", "engine", "protocol") for place in _places(f"caboose.{name}")]
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path), *packages]))


def _places(package: str) -> Sequence[str]:
    spec = find_spec(package)
    return () if spec is None else spec.submodule_search_locations or ()


def make_contestants(
    words: Sequence[str], engines: Sequence[str], options: Sequence[str], *, measuring: bool = False
) -> tuple[Contestant, ...]:
    """The contestants that a call names: first ``words``, then ``engines`` (command lines).

    A word is the name of a built-in bot, or a command line if it has a blank or a slash in it. Each of
    ``options`` is NAME.Option=value, where NAME is a label, or a built-in name (all that are it), or the number of
    a contestant from 1. Measuring bots, which see what is hidden, are refused unless ``measuring`` is on. Raises
    ``CallError`` for what is unknown, refused or cannot be read.
    """
    commands = [_parse_word(word, measuring) for word in words] + [_parse_command(line) for line in engines]
    bases = [name or _base_name(command) for name, command in commands]
    cut = [base[: MAX_LABEL - 3] if bases.count(base) > 1 else base for base in bases]
    labels = [name if cut.count(name) == 1 else f"{name}#{cut[: i + 1].count(name)}" for i, name in enumerate(cut)]
    given: list[dict[str, str]] = [{} for _ in commands]
    for text in options:
        numbers, name, value = _parse_option(text, bases, labels)
        for number in numbers:
            if name in given[number]:
                raise CallError(f"--option {_short(text)}: {labels[number]}.{_short(name)} is given twice")
            given[number][name] = value
    contestants = tuple(
        Contestant(label, builtin, command, tuple(chosen.items()))
        for label, (builtin, command), chosen in zip(labels, commands, given, strict=True)
    )
    for contestant in contestants:
        if contestant.builtin:
            make_builtin(contestant.builtin, dict(contestant.options), measuring)
    return contestants


def make_lineup(contestants: Sequence[Contestant], players: int | None) -> Lineup:
    """The table of a match. Two contestants may leave seats free: the second takes them all.

    ``players`` is by default 4 for two contestants (hero and three copies) and else their number. Raises
    ``CallError`` for numbers that do not fit together.
    """
    count = len(contestants)
    if not MIN_PLAYERS <= count <= MAX_PLAYERS:
        raise CallError(f"{_counted(count, 'contestant')} given: expected {MIN_PLAYERS} to {MAX_PLAYERS}")
    if players is None:
        players = 4 if count == 2 else count
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise CallError(f"--players {players}: expected {MIN_PLAYERS} to {MAX_PLAYERS}")
    if count == 2:
        return Lineup(tuple(contestants), (0, *[1] * (players - 1)))
    if count != players:
        raise CallError(
            f"--players {players} with {count} contestants: expected as many contestants as players, "
            "or two (the first then plays against copies of the second)"
        )
    return Lineup(tuple(contestants), tuple(range(players)))


def make_builtin(name: str, options: Mapping[str, str], measuring: bool) -> Bot:
    """A built-in bot, with ``measuring`` also one that only measures. Raises ``CallError`` for a name or an option that
    there is not."""
    create = bots.create_measuring if measuring and name in bots.MEASURING else bots.create
    try:
        return create(name, **options)
    except (bots.BotError, OptionError) as error:
        raise CallError(str(error)) from None


def _parse_word(word: str, measuring: bool) -> tuple[str, tuple[str, ...]]:
    """A contestant as (built-in name or empty, command)."""
    if "/" in word or any(c.isspace() for c in word):
        return _parse_command(word)
    make_builtin(word, {}, measuring)
    return word, builtin_command(word)


def _parse_command(line: str) -> tuple[str, tuple[str, ...]]:
    try:
        command = tuple(shlex.split(line))
    except ValueError as error:
        raise CallError(f"engine {line!r}: the command line cannot be read: {error}") from None
    if not command:
        raise CallError("an engine's command line is empty: expected a program and its arguments")
    return "", command


def _base_name(command: Sequence[str]) -> str:
    """What to call an engine of which only the command is known: its program, or what an interpreter runs."""
    program = PurePath(command[0]).stem
    if program.rstrip("0123456789.") in _INTERPRETERS:
        program = next((PurePath(word).stem for word in command[1:] if not word.startswith("-")), program)
    return _plain(program) or "engine"


def _plain(text: str) -> str:
    """``text`` as a label: not long, and without what has a meaning in ``--option``."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "+-_") else "_" for c in text)[:MAX_LABEL]


def _parse_option(text: str, bases: Sequence[str], labels: Sequence[str]) -> tuple[list[int], str, str]:
    """The numbers of the contestants meant, the option and its value."""
    target, equals, value = text.partition("=")
    who, dot, name = target.partition(".")
    if not equals or not dot or not who or not name:
        raise CallError(f"--option {_short(text)}: expected NAME.Option=value, such as {labels[0]}.Seed=5 or 1.Seed=5")
    if who.isascii() and who.isdigit() and len(who) <= 2 and who not in labels:
        if not 1 <= int(who) <= len(labels):
            raise CallError(f"--option {_short(text)}: there is no contestant {who}, expected 1 to {len(labels)}")
        return [int(who) - 1], name, value
    numbers = [i for i, (base, label) in enumerate(zip(bases, labels, strict=True)) if who in (base, label)]
    if not numbers:
        raise CallError(
            f"--option {_short(text)}: there is no contestant {_short(who)!r}; they are {', '.join(labels)}"
        )
    return numbers, name, value


def _short(text: str) -> str:
    """A piece of a call as an error shows it."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
