"""Steps about the start of an engine, and about its options."""

from __future__ import annotations

from typing import Final

from caboose.arena.conformance.positions import position
from caboose.arena.conformance.probe import Probe
from caboose.arena.conformance.steps import Broken, Skip, Steps
from caboose.engine.bot_api import Option
from caboose.protocol.messages import setoption_line
from caboose.protocol.notation.lines import shown
from caboose.protocol.notation.observation import observation_lines

_QUIET: Final = 0.2  # seconds in which an engine that was asked nothing is to say nothing
_TO: Final = "From the referee to the engine"
_FROM: Final = "From the engine to the referee"
_LINES: Final = "Lines"
_ERRORS: Final = "Errors"

START: Final = Steps()
OPTIONS: Final = Steps()


# --- the start ---------------------------------------------------------------------------------------------------


@START.step(
    "start.greeting",
    "answers `caboose 1` with `cabooseok 1`",
    "The engine answers with `id`, `option` and `capability` lines if it likes, and then `cabooseok`.",
    _TO,
    fresh=True,
    gate=True,
)
def _greeting(probe: Probe) -> None:
    probe.greet()


@START.step(
    "start.ready",
    "answers `isready` with `readyok`, each time",
    "The engine answers `readyok` when all that came before is done.",
    _TO,
    gate=True,
)
def _ready(probe: Probe) -> None:
    for _ in range(3):
        probe.ready()
    probe.send("isready", "isready")
    probe.hear("readyok")
    probe.hear("readyok")


@START.step(
    "start.move",
    "answers `go` with a legal move",
    "The answer to `go NUMBER`: exactly one, and it must be one of the legal moves.",
    _FROM,
    gate=True,
)
def _move(probe: Probe) -> None:
    probe.send("newgame")
    probe.go(position())


@START.step(
    "start.quiet",
    "writes nothing before it is greeted",
    "Always the first line: the protocol and the highest version that the referee speaks.",
    _TO,
    fresh=True,
    must=False,
)
def _quiet(probe: Probe) -> None:
    if lines := probe.hear_for(_QUIET):
        raise Broken(f"it wrote {shown(lines[0])} before it was asked anything")
    probe.greet()


@START.step(
    "start.name",
    "says its name, so that tables can show it",
    "What it is called; also `id author TEXT` and `id version TEXT`.",
    _FROM,
    must=False,
)
def _name(probe: Probe) -> None:
    if "name" not in probe.about:
        raise Broken("no line `id name TEXT` came in the handshake")


@START.step(
    "start.version",
    "settles on version 1 with a referee that speaks a later one",
    "The handshake is over; the highest version that both speak (1).",
    _FROM,
    fresh=True,
)
def _version(probe: Probe) -> None:
    probe.send("caboose 7")
    last = probe.hear("cabooseok")[-1]
    if last.split() != ["cabooseok", "1"]:
        raise Broken(f"it answered {shown(last)}, expected cabooseok 1")
    probe.ready()


@START.step(
    "start.at-once",
    "finds the whole start in its input, already there",
    "One message is one line of printable ASCII",
    _LINES,
    fresh=True,
)
def _at_once(probe: Probe) -> None:
    view = position()
    probe.send("caboose 1", "isready", "newgame", *observation_lines(view), "go 1 movetime 30")
    probe.hear("cabooseok")
    probe.hear("readyok")
    probe.answer(view, 0.0, number=1)


@START.step(
    "start.in-pieces",
    "puts lines together that come in pieces",
    "One message is one line of printable ASCII",
    _LINES,
)
def _in_pieces(probe: Probe) -> None:
    for piece in (b"isr", b"ea", b"dy\niurk", b" nothing\nisready", b"\n"):
        probe.send_bytes(piece)
        probe.pause(0.02)
    probe.hear("readyok")
    probe.hear("readyok")


# --- options -----------------------------------------------------------------------------------------------------


def _options(probe: Probe, *kinds: str) -> list[Option]:
    """The declared options of these types; all without any. Raises ``Skip`` when there are none."""
    found = [option for option in probe.options.values() if not kinds or option.type in kinds]
    if not found:
        raise Skip(f"it declares no {' or '.join(kinds)} option" if kinds else "it declares no options")
    return found


def _accept(probe: Probe, option: Option, value: str) -> None:
    """Sets it, which must not give an error."""
    probe.send(setoption_line(option.name, value))
    for line in probe.ready():
        if line.startswith("error"):
            raise Broken(f"option {option.name} does not take {shown(value)}: {shown(line, 200)}")


def _restore(probe: Probe, option: Option) -> None:
    """Sets it as it was at the start."""
    if option.name in probe.wanted:
        _accept(probe, option, probe.wanted[option.name])
    elif option.type == "check":
        _accept(probe, option, "true" if option.default else "false")
    elif option.type != "button":
        _accept(probe, option, str(option.default))


def _refuse(probe: Probe, values: list[tuple[Option, str]]) -> None:
    """Tries values that do not fit. The engine must live; raises ``Broken`` when it takes one without a word."""
    taken = []
    for option, value in values:
        probe.send(setoption_line(option.name, value))
        if not any(line.startswith("error") for line in probe.ready()):
            taken.append(f"{option.name} took {shown(value)}")
        _restore(probe, option)
    if taken:
        raise Broken(f"{'; '.join(taken[:3])}; expected an error line")


_ONE_ERROR = "An engine that cannot use a line says so in one `error` line"


@OPTIONS.step("options.default", "takes each option's own default", "Sets an option that the engine declared.", _TO)
def _defaults(probe: Probe) -> None:
    for option in _options(probe, "check", "spin", "combo", "string"):
        _restore(probe, option)


@OPTIONS.step(
    "options.spin",
    "takes the least and the greatest value of each spin",
    "that of a spin a whole number from `min` to `max`, negative ones included",
    _FROM,
)
def _spins(probe: Probe) -> None:
    for option in _options(probe, "spin"):
        for value in (option.min, option.max):
            _accept(probe, option, str(value))
        _restore(probe, option)


@OPTIONS.step(
    "options.choices",
    "takes both values of each check and all of each combo",
    "The value of a check is `true` or `false`",
    _FROM,
)
def _choices(probe: Probe) -> None:
    for option in _options(probe, "check", "combo"):
        for value in option.choices or ("true", "false"):
            _accept(probe, option, value)
        _restore(probe, option)


@OPTIONS.step(
    "options.string",
    "takes a text with blanks, and an empty one, for each string",
    "The value is the rest of the line.",
    _TO,
)
def _strings(probe: Probe) -> None:
    for option in _options(probe, "string"):
        for value in ("some words, to the end", ""):
            probe.send(setoption_line(option.name, value))
            probe.ready()  # it may say that there is no such file
        _restore(probe, option)


@OPTIONS.step("options.button", "takes each button without a value", "A button has no `value`.", _TO)
def _buttons(probe: Probe) -> None:
    for option in _options(probe, "button"):
        _accept(probe, option, "")


@OPTIONS.step(
    "options.bounds",
    "refuses values beyond the bounds of a spin with an error",
    _ONE_ERROR,
    _ERRORS,
    must=False,
)
def _bounds(probe: Probe) -> None:
    spins = _options(probe, "spin")
    _refuse(probe, [(o, str(value)) for o in spins for value in ((o.min or 0) - 1, (o.max or 0) + 1, 10**30)])


@OPTIONS.step("options.values", "refuses values of another type with an error", _ONE_ERROR, _ERRORS, must=False)
def _values(probe: Probe) -> None:
    wrong = {"check": ["maybe", ""], "spin": ["many", "1.5", ""], "combo": ["no-such-choice"]}
    _refuse(probe, [(o, value) for o in _options(probe, *wrong) for value in wrong[o.type]])


@OPTIONS.step(
    "options.unknown", "lives on after an option that it never declared", "It never ends because of one", _ERRORS
)
def _unknown(probe: Probe) -> None:
    probe.send("setoption name NoSuchOption value 1", "setoption name NoSuchOption")
    probe.ready()
    probe.go(position())


@OPTIONS.step(
    "options.broken", "lives on after `setoption` lines that make no sense", "It never ends because of one", _ERRORS
)
def _broken(probe: Probe) -> None:
    probe.send("setoption", "setoption name", "setoption value 3", "setoption name value", "setoption Seed 3")
    probe.ready()
    probe.go(position())


@OPTIONS.step("options.mid-game", "takes options between two moves", "Sets an option that the engine declared.", _TO)
def _mid_game(probe: Probe) -> None:
    options = _options(probe)
    probe.send("newgame")
    probe.go(position())
    for option in options:
        _restore(probe, option)
    probe.go(position(after=12))
