"""Who plays: the contestants of a match, and how they sit at the table."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Final

import caboose.bots as bots
from caboose.arena.blocks.labels import MAX_LABEL, command_name, is_reserved, make_labels, plain
from caboose.arena.errors import CallError
from caboose.engine.bot_api import Bot, OptionError
from caboose.engine.rules.rules import MAX_PLAYERS, MIN_PLAYERS
from caboose.protocol.process.child import UNLIMITED
from caboose.protocol.process.launch import PLAIN, Launch
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.timing import TimeControl

_SHOWN: Final = 100  # characters of a piece of the call that an error shows
_PACKAGES: Final = (
    "caboose", "caboose.arena", "caboose.bots", "caboose.cli", "caboose.engine", "caboose.protocol", "caboose.table",
)  # fmt: skip
MAX_DIGITS: Final = 2  # of the number of a contestant


@dataclass(frozen=True, slots=True)
class About:
    """What an engine says of itself; empty where it says nothing, and for built-in bots."""

    name: str = ""
    version: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player as a call names it: a built-in bot, or a command that starts an engine. ``name`` is what the call wants
    it to be called, empty where it does not say. ``builtin`` is empty for a command."""

    builtin: str
    command: tuple[str, ...]
    name: str = ""

    def process(self, control: TimeControl, launch: Launch, options: Mapping[str, str]) -> EngineProcess:
        """Its engine process, not yet started."""
        return EngineProcess(
            self.command,
            options,
            start_timeout=control.startup / 1000,
            margin=control.margin,
            guard=control.guard / 1000,
            launch=self.launch(launch),
            trusted=bool(self.builtin),
        )

    def launch(self, launch: Launch) -> Launch:
        """How it is started where ``launch`` is for foreign engines: a built-in bot plays many games, needs no limits,
        and must see its own files."""
        if not self.builtin:
            return launch
        return replace(launch, resources=UNLIMITED, shared=(*launch.shared, *installation()))


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player of a match: an entrant with the options that it is given, its ``label``, by which it is known in this
    match, and what it says of itself. ``launch`` is how its process is started, if that is not the same for all."""

    label: str
    entrant: Entrant
    options: tuple[tuple[str, str], ...] = ()
    about: About = About()
    launch: Launch | None = None

    @property
    def builtin(self) -> str:
        """The name of the built-in bot; empty for a foreign engine."""
        return self.entrant.builtin

    @property
    def command(self) -> tuple[str, ...]:
        """The words that start it as a process."""
        return self.entrant.command

    def player(self, control: TimeControl, in_process: bool, launch: Launch = PLAIN, cpus: tuple[int, ...] = ()) -> Bot:
        """A player for a seat: in this process if that is wanted and it is built in, else an engine not yet started,
        which will be bound to ``cpus``."""
        if self.builtin and in_process:
            return make_builtin(self.builtin, dict(self.options), measuring=True)
        return self.entrant.process(control, replace(self.launch or launch, cpus=cpus), dict(self.options))


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


@dataclass(frozen=True, slots=True)
class Setting:
    """An option that a call sets: for ``who``, a name or the number of a contestant; ``by`` is how the call says it."""

    who: str
    name: str
    value: str
    by: str = "--option"

    def __str__(self) -> str:
        return f"{self.by} {_short(f'{self.who}.{self.name}={self.value}')}"


def builtin_command(name: str) -> tuple[str, ...]:
    """The command that runs the built-in bot ``name`` as an engine process.

    It is Python itself, so that it works from any kind of installation; -P because a file in the folder from
    which the command happens to be called must not stand in for a library.
    """
    return (sys.executable, "-P", "-m", "caboose.arena.blocks.engine_process", name)


def installation() -> tuple[str, ...]:
    """The folders from which a built-in bot runs: Python's, and those of the packages."""
    packages = [place for name in _PACKAGES for place in _places(name)]
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path), *packages]))


def _places(package: str) -> Sequence[str]:
    # Where an install in place has links, what counts is where they lead; also that of the file of a package.
    spec = find_spec(package)
    if spec is None:
        return ()
    places = [*(spec.submodule_search_locations or ()), os.path.dirname(os.path.realpath(spec.origin or ""))]
    return [os.path.realpath(place) for place in places]


def make_entrants(
    words: Sequence[str], engines: Sequence[str], names: Sequence[str] = (), *, measuring: bool = False
) -> tuple[Entrant, ...]:
    """Who is to play: first ``words``, then ``engines`` (command lines).

    A word is the name of a built-in bot, or a command line if it has a blank or a slash in it. Each of ``names`` is
    NUMBER=NAME, with the number of a player from 1. Measuring bots, which see what is hidden, are refused unless
    ``measuring`` is on. Raises ``CallError`` for what is unknown, refused or cannot be read.
    """
    players = [_parse_word(word, measuring) for word in words] + [_parse_command(line) for line in engines]
    chosen: dict[int, str] = {}
    for text in names:
        number, name = _parse_name(text, len(players))
        if number in chosen:
            raise CallError(f"--name {_short(text)}: contestant {number + 1} is named twice")
        if name.casefold() in [other.casefold() for other in chosen.values()]:
            raise CallError(f"--name {_short(text)}: another contestant is to be called so")
        if is_reserved(name) and name != players[number][0]:
            raise CallError(f"--name {_short(text)}: {name} is a built-in bot")
        chosen[number] = name
    return tuple(Entrant(builtin, command, chosen.get(n, "")) for n, (builtin, command) in enumerate(players))


def parse_options(texts: Sequence[str]) -> list[Setting]:
    """The options that a call sets, each NAME.Option=value. Raises ``CallError``."""
    settings = []
    for text in texts:
        target, equals, value = text.partition("=")
        who, dot, name = target.partition(".")
        if not equals or not dot or not who or not name:
            raise CallError(f"--option {_short(text)}: expected NAME.Option=value, such as mcts.Seed=5 or 1.Seed=5")
        settings.append(Setting(who, name, value))
    return settings


def make_contestants(
    entrants: Sequence[Entrant], abouts: Sequence[About], options: Sequence[Setting]
) -> tuple[Contestant, ...]:
    """The contestants of a match, from what each says of itself. Raises ``CallError`` for options that mean nobody or
    are given twice, and for those that a built-in bot does not take."""
    said, called = [plain(about.name) for about in abouts], [command_name(entrant.command) for entrant in entrants]
    builtins = [entrant.builtin for entrant in entrants]
    labels = make_labels([entrant.name for entrant in entrants], builtins, said, called)
    given: list[dict[str, str]] = [{} for _ in entrants]
    for setting in options:
        for number in _targets(setting, labels, builtins, said, called):
            if setting.name in given[number]:
                raise CallError(f"{setting}: {labels[number]}.{_short(setting.name)} is given twice")
            given[number][setting.name] = setting.value
    for builtin, chosen in zip(builtins, given, strict=True):
        if builtin:
            make_builtin(builtin, chosen, measuring=True)
    return tuple(
        Contestant(label, entrant, tuple(chosen.items()), about)
        for label, entrant, chosen, about in zip(labels, entrants, given, abouts, strict=True)
    )


def option_targets(setting: Setting, contestants: Sequence[Contestant]) -> list[int]:
    """The numbers of the contestants that a setting is for. Raises ``CallError`` when it is for nobody."""
    return _targets(
        setting,
        [contestant.label for contestant in contestants],
        [contestant.builtin for contestant in contestants],
        [plain(contestant.about.name) for contestant in contestants],
        [command_name(contestant.command) for contestant in contestants],
    )


def make_entries(count: int, players: int | None) -> tuple[int, ...]:
    """The number of a contestant for each player of a game, where there are ``count``. Two may leave seats free: the
    second takes them all.

    ``players`` is by default 4 for two contestants (hero and three copies) and else their number. Raises
    ``CallError`` for numbers that do not fit together.
    """
    if not MIN_PLAYERS <= count <= MAX_PLAYERS:
        raise CallError(f"{_counted(count, 'contestant')} given: expected {MIN_PLAYERS} to {MAX_PLAYERS}")
    if players is None:
        players = 4 if count == 2 else count
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise CallError(f"--players {players}: expected {MIN_PLAYERS} to {MAX_PLAYERS}")
    if count == 2:
        return 0, *[1] * (players - 1)
    if count != players:
        raise CallError(
            f"--players {players} with {count} contestants: expected as many contestants as players, "
            "or two (the first then plays against copies of the second)"
        )
    return tuple(range(players))


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
    try:
        make_builtin(word, {}, measuring)
    except CallError as error:
        if os.path.isfile(word):
            raise CallError(f"{error}. To run the file of that name: './{word}', or 'python3 {word}'") from None
        raise
    return word, builtin_command(word)


def _parse_command(line: str) -> tuple[str, tuple[str, ...]]:
    try:
        command = tuple(shlex.split(line))
    except ValueError as error:
        raise CallError(f"engine {line!r}: the command line cannot be read: {error}") from None
    if not command:
        raise CallError("an engine's command line is empty: expected a program and its arguments")
    return "", command


def _parse_name(text: str, count: int) -> tuple[int, str]:
    """Which contestant, from 0, is to be called what."""
    number, equals, name = text.partition("=")
    if (
        not equals
        or not (number.isascii() and number.isdigit())
        or len(number) > MAX_DIGITS
        or not name
        or plain(name) != name
    ):
        raise CallError(
            f"--name {_short(text)}: expected NUMBER=NAME, such as 1=mine: the number of a contestant, and up to "
            f"{MAX_LABEL} letters, digits, +, - or _"
        )
    if not 1 <= int(number) <= count:
        raise CallError(f"--name {_short(text)}: there is no contestant {number}, expected 1 to {count}")
    return int(number) - 1, name


def _targets(
    setting: Setting, labels: Sequence[str], builtins: Sequence[str], said: Sequence[str], called: Sequence[str]
) -> list[int]:
    """The numbers of the contestants that an option is for. A label means one, and what several were called all of
    them; no engine is taken for a built-in bot because it says so."""
    who = setting.who
    if who.isascii() and who.isdigit() and len(who) <= MAX_DIGITS:
        if not 1 <= int(who) <= len(labels):
            raise CallError(f"{setting}: there is no contestant {who}, expected 1 to {len(labels)}")
        return [int(who) - 1]
    aliases = [(a, b) for a, b in zip(said, called, strict=True)]
    for meant in (
        [n for n, label in enumerate(labels) if label == who],
        [n for n, builtin in enumerate(builtins) if builtin == who],
        [n for n, names in enumerate(aliases) if not builtins[n] and who in names],
    ):
        if meant:
            return meant
    raise CallError(f"{setting}: there is no contestant {_short(who)!r}; they are {', '.join(labels)}")


def _short(text: str) -> str:
    """A piece of a call as an error shows it."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
