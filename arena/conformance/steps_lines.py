"""Steps about lines: odd ones, broken ones, unknown ones, and what the engine writes."""

from __future__ import annotations

from typing import Final

from caboose.arena.conformance.positions import SMALL, position
from caboose.arena.conformance.probe import Probe
from caboose.arena.conformance.steps import Broken, Skip, Steps
from caboose.engine.bot_api import Limits
from caboose.protocol.messages import go_line, parse_info_line
from caboose.protocol.notation.lines import MAX_LINE, ProtocolError, shown
from caboose.protocol.notation.observation import observation_lines

_LINES: Final = "Lines"
_ERRORS: Final = "Errors"
_TO: Final = "From the referee to the engine"
_FROM: Final = "From the engine to the referee"
_READ: Final = "The observation"
_LIVES: Final = "It never ends because of one"
_WORDS: Final = ("id", "option", "capability", "cabooseok", "readyok", "info", "bestmove", "error")
_LIMITS: Final = Limits(movetime=30.0)
_ADVICE_PATIENCE: Final = 1.0  # seconds for what is only advised
_LONG_LINE: Final = 1_000_000  # bytes

LINES: Final = Steps()
OUTPUT: Final = Steps()


# --- what it reads -----------------------------------------------------------------------------------------------


@LINES.step(
    "lines.blanks",
    "reads words that are separated by tabs and several blanks",
    "Words are separated by one or more blanks (spaces or tabs); blanks at either end and empty lines mean nothing.",
    _LINES,
)
def _blanks(probe: Probe) -> None:
    view = position()
    lines = ["isready", *observation_lines(view), go_line(41, _LIMITS)]
    probe.send(*[f" \t{line}\t " for line in (line.replace(" ", "  \t") for line in lines)])
    probe.hear("readyok")
    probe.answer(view, 0.0, number=41)


@LINES.step(
    "lines.empty",
    "ignores empty lines and lines of blanks",
    "Words are separated by one or more blanks (spaces or tabs); blanks at either end and empty lines mean nothing.",
    _LINES,
)
def _empty(probe: Probe) -> None:
    view = position()
    probe.send("", " ", "\t")
    for line in observation_lines(view):
        probe.send(line, "")
    probe.send("   ", go_line(42, _LIMITS), "")
    probe.answer(view, 0.0, number=42)


@LINES.step(
    "lines.crlf", "reads lines that end with CRLF", "A line ends with LF; CRLF is read too.", _LINES, must=False
)
def _crlf(probe: Probe) -> None:
    view = position()
    lines = ["isready", *observation_lines(view), go_line(43, _LIMITS)]
    probe.send_bytes("".join(f"{line}\r\n" for line in lines).encode("ascii"))
    probe.hear("readyok", min(_ADVICE_PATIENCE, probe.patience))
    probe.answer(view, 0.0, number=43)


@LINES.step(
    "lines.longest",
    "reads a line of 65,536 bytes",
    "A line has at most 65,536 bytes, its end not counted.",
    _LINES,
)
def _longest(probe: Probe) -> None:
    view = position()
    lines = observation_lines(view)
    lines[-1] += " " * (MAX_LINE - len(lines[-1]))
    probe.send(*lines, go_line(44, _LIMITS))
    probe.answer(view, 0.0, number=44)


@LINES.step("lines.too-long", "lives on after a line of 1,000,000 bytes", _LIVES, _ERRORS)
def _too_long(probe: Probe) -> None:
    probe.send_bytes(b"x" * _LONG_LINE + b"\n")
    probe.ready()
    probe.go(position())


@LINES.step("lines.binary", "lives on after bytes that are no ASCII, and NUL bytes", _LIVES, _ERRORS)
def _binary(probe: Probe) -> None:
    probe.send_bytes(b"\xff\xfe\x80\n\0\0\0\n\x1b[2J\x07\ncaf\xc3\xa9 isready\n")
    probe.ready()
    probe.go(position())


@LINES.step("lines.unknown", "lives on after words that it does not know", _LIVES, _ERRORS)
def _unknown(probe: Probe) -> None:
    probe.send("fly me to the moon", "position startpos", "READYOK", "-", "$(exit) `exit` %s%n * ? ~ \\", "clock 5")
    probe.no_move(probe.ready())
    probe.go(position())


@LINES.step(
    "lines.later-version",
    "plays on when an observation has a line that it does not know",
    "it ignores the lines that it does not know",
    "The smallest engine",
)
def _later_version(probe: Probe) -> None:
    view = position()
    first, *rest = observation_lines(view)
    probe.send(first, "weather rainy wind 3", *rest, "kibitzers 4", go_line(45, _LIMITS))
    probe.answer(view, 0.0, number=45)


@LINES.step(
    "lines.order",
    "reads the lines of an observation in any order",
    "Lines may come in any order.",
    _READ,
)
def _order(probe: Probe) -> None:
    view = position(after=8)
    first, *rest = observation_lines(view)
    probe.send(first, *reversed(rest), go_line(46, _LIMITS))
    probe.answer(view, 0.0, number=46)


@LINES.step(
    "lines.replaced",
    "forgets one observation when the next begins",
    "A new observation begins: everything said by observation lines before is forgotten.",
    _TO,
)
def _replaced(probe: Probe) -> None:
    probe.send("newgame")
    probe.show(position(seat=2, after=20))
    probe.go(position(SMALL, seat=1))


@LINES.step(
    "lines.broken-hand",
    "lives on after an observation line that cannot be read",
    "the next `go` is refused until the line comes again, or a new `observation`",
    _ERRORS,
)
def _broken_hand(probe: Probe) -> None:
    view = position()
    lines = [line if not line.startswith("hand ") else "hand 5-66 x 1-2-3" for line in observation_lines(view)]
    probe.send(*lines, go_line(47, _LIMITS))
    probe.ready()  # it refused, or played without looking at its hand
    probe.go(view)


@LINES.step("lines.broken-table", "lives on after an observation in which nothing fits", _LIVES, _ERRORS)
def _broken_table(probe: Probe) -> None:
    probe.send(
        "observation", "rules", "rules nonsense players=99", "seat 77", "round 0 hub 99 starter 0", "scores",
        "events 9:9-9@9 :", "hand 19-19 18-18 18-18", "hands 500", "boneyard -1", "train 1", "train Q tiles x",
        "train M tiles 1 marker maybe ends", "train 99999999999999999999 tiles 99999999999999999999 marker yes ends 99",
        "doubles 1:2", "legal 1-2", "go 48 movetime 30",
    )  # fmt: skip
    probe.ready()
    probe.go(position())


@LINES.step("lines.broken-go", "lives on after a `go` that cannot be read", _LIVES, _ERRORS)
def _broken_go(probe: Probe) -> None:
    probe.show(position())
    probe.send("go", "go x", "go -1 movetime 10", "go 49 movetime soon", "go 50 movetime")
    probe.ready()
    probe.go(position())


@LINES.step(
    "lines.nothing-to-see",
    "lives on after a `go` without an observation",
    "A `go` that the engine cannot use gets `error go NUMBER: …` **instead of** a `bestmove`.",
    _ERRORS,
    fresh=True,
)
def _nothing_to_see(probe: Probe) -> None:
    probe.greet()
    probe.send("newgame", "go 51 movetime 30", "observation", "go 52 movetime 30")
    probe.ready()
    probe.go(position())


@LINES.step(
    "lines.idle-stop",
    "ignores `stop` when no `go` runs, and says nothing to it",
    "Means nothing when none runs (the two may have crossed).",
    _TO,
)
def _idle_stop(probe: Probe) -> None:
    probe.send("stop", "stop")
    probe.no_move(probe.ready())
    probe.go(position())
    probe.send("stop")
    probe.no_move(probe.ready())
    probe.go(position(after=10))


@LINES.step(
    "lines.newgame",
    "takes `newgame` at any moment, and says nothing to it",
    "What follows belongs to another game. Sent before the first `go` of each game, also after a restart.",
    _TO,
)
def _newgame(probe: Probe) -> None:
    probe.send("newgame", "newgame")
    probe.no_move(probe.ready())
    probe.go(position(after=10))
    probe.send("newgame")
    probe.go(position())


# --- what it writes ----------------------------------------------------------------------------------------------


def _play_a_little(probe: Probe) -> list[str]:
    """Everything that a fresh engine writes from its start through a few moves; ``bestmove`` lines are left out."""
    lines = probe.greet()
    probe.send("newgame")
    lines += probe.ready()
    for after in (0, 8, 16):
        lines += probe.go(position(after=after), Limits(movetime=150.0)).before
    return lines + probe.ready()


@OUTPUT.step(
    "output.words",
    "writes only lines that the page knows",
    "A referee ignores any other line, so that a stray print does not cost a game",
    _FROM,
    must=False,
    fresh=True,
)
def _known_words(probe: Probe) -> None:
    strange = [line for line in _play_a_little(probe) if line.split(None, 1)[0] not in _WORDS]
    if strange:
        raise Broken(f"it wrote {', '.join(map(shown, strange[:3]))}; standard error is free for such lines")


@OUTPUT.step(
    "output.info",
    "writes `info` lines that can be read, about legal moves",
    "have any of these, in any order, `candidates` last",
    _FROM,
    must=False,
)
def _info(probe: Probe) -> None:
    seen = 0
    for after in (0, 8, 16):
        view = position(after=after)
        legal = view.legal_moves()
        for line in probe.go(view, Limits(movetime=150.0)).before:
            if line.split(None, 1)[0] != "info":
                continue
            seen += 1
            try:
                info = parse_info_line(line)
            except ProtocolError as error:
                raise Broken(str(error)) from None
            for candidate in info.candidates if info is not None else ():
                if candidate.move not in legal:
                    raise Broken(f"the candidate {candidate.move} is not legal")
    if not seen:
        raise Skip("it writes no info lines")


@OUTPUT.step(
    "output.idle",
    "writes nothing while nothing is asked",
    "What it thinks so far, as often as it likes (within reason) while a `go` runs.",
    _FROM,
    must=False,
)
def _idle(probe: Probe) -> None:
    probe.go(position())
    probe.ready()
    if lines := probe.hear_for(0.3):
        raise Broken(f"it wrote {shown(lines[0])} when it had been asked nothing")


@OUTPUT.step(
    "output.capabilities",
    "claims only capabilities that the page knows",
    "Capabilities** say what an engine does when it is asked for more than a move in a given time.",
    _FROM,
    must=False,
)
def _capabilities(probe: Probe) -> None:
    unknown = sorted(probe.capabilities - {"stop", "nodes", "infinite", "deterministic"})
    if unknown:
        raise Broken(f"it claims {', '.join(map(shown, unknown))}, which a referee of version 1 does not know")
