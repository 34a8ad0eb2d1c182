"""The single lines of the protocol: written and read here and nowhere else. ``docs/reference/protocol.md`` has the
grammar.

Every reader takes a line as ``text_of`` gives it and raises ``ProtocolError`` naming the line and the field.
The observation's lines are in ``observation``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from caboose.engine.bot_api import OPTION_TYPES, Candidate, Info, Limits, Option
from caboose.engine.rules.blanks import BLANKS, words_of
from caboose.engine.rules.moves import Move
from caboose.protocol.notation.lines import VERSION, ProtocolError, shown
from caboose.protocol.notation.words import WordError, parse_move, parse_number

MAX_ABOUT: Final = 1000  # characters of what an engine says of itself
_LARGEST: Final = 10**15 - 1  # the largest number that the grammar writes
_TIMES: Final = ("movetime", "clock", "increment", "allowance", "roundcap", "gamecap")
_COUNTS: Final = ("nodes", "playouts")
_WITH_CLOCK: Final = ("increment", "allowance")  # mean nothing without one
_SHOWN_ERROR: Final = 400  # bytes of an error line that a person still reads


def _number(field: str, word: str | None, least: int = 0) -> int:
    if word is None:
        raise ProtocolError(f"{field}: the number is missing, expected one of at least {least}")
    try:
        return parse_number(word, least)
    except WordError as error:
        raise ProtocolError(f"{field}: {error}") from None


def _milliseconds(time: float) -> int:
    """Whole milliseconds; rounded down, so as never to promise more time than there is."""
    if 0 <= time <= _LARGEST:
        return int(time)
    return 0 if time < 0 else _LARGEST  # infinity, or no number at all


def _expect(line: str, word: str) -> list[str]:
    """The words of a line after its first, which must be ``word``."""
    words = words_of(line)
    if not words or words[0] != word:
        raise ProtocolError(f"{shown(line)}: expected a line that begins with {word}")
    return words[1:]


# --- the handshake -----------------------------------------------------------------------------------------------


def hello_line() -> str:
    """What the referee says first."""
    return f"caboose {VERSION}"


def parse_hello(line: str) -> int:
    """The version that both sides speak. Raises ``ProtocolError``."""
    words = _expect(line, "caboose")
    if len(words) != 1:
        raise ProtocolError(f"caboose: expected one number, the version, such as caboose {VERSION}")
    return min(_number("caboose: version", words[0], least=1), VERSION)


def parse_cabooseok(line: str) -> int:
    """The version that the engine settles on. Raises ``ProtocolError`` when it is not ours."""
    words = _expect(line, "cabooseok")
    if words != [str(VERSION)]:
        raise ProtocolError(f"cabooseok: version {shown(' '.join(words))}, expected {VERSION}")
    return VERSION


def parse_id(line: str) -> tuple[str, str]:
    """Which of name, author and version an ``id`` line gives, and the text, cut to ``MAX_ABOUT`` characters. Raises
    ``ProtocolError``."""
    words = words_of(line, 2)
    if len(words) < 3 or words[0] != "id" or words[1] not in ("name", "author", "version"):
        raise ProtocolError(f"{shown(line)}: expected id name TEXT, id author TEXT or id version TEXT")
    return words[1], words[2].strip(BLANKS)[:MAX_ABOUT]


# --- options -----------------------------------------------------------------------------------------------------


def option_line(option: Option) -> str:
    """The line that declares an option. Its ``help`` is not sent."""
    line = f"option name {option.name} type {option.type}"
    if option.type == "check":
        return f"{line} default {'true' if option.default else 'false'}"
    if option.type == "spin":
        return f"{line} default {option.default} min {option.min} max {option.max}"
    if option.type == "combo":
        return f"{line} default {option.default}" + "".join(f" var {choice}" for choice in option.choices)
    if option.type == "string" and option.default:
        return f"{line} default {option.default}"
    return line


def parse_option_line(line: str) -> Option:
    """The option that a line declares. Raises ``ProtocolError``."""
    words = words_of(line, 6)
    if len(words) < 5 or words[0] != "option" or words[1] != "name" or words[3] != "type":
        raise ProtocolError(f"{shown(line)}: expected option name NAME type TYPE and what belongs to the type")
    name, kind = words[2], words[4]
    where = f"option {name[:40]}"
    if kind not in OPTION_TYPES:
        raise ProtocolError(f"{where}: type {shown(kind)}, expected one of {', '.join(OPTION_TYPES)}")
    if kind == "button":
        if len(words) > 5:
            raise ProtocolError(f"{where}: a button has nothing after its type")
        return Option(name, kind)
    if kind == "string" and len(words) == 5:
        return Option(name, kind, default="")
    if len(words) < 6 or words[5] != "default" or (len(words) == 6 and kind != "string"):
        raise ProtocolError(f"{where}: expected default and a value after type {kind}")
    rest = words[6].strip(BLANKS) if len(words) == 7 else ""
    if kind == "string":
        return Option(name, kind, default=rest)
    values = words_of(rest)
    if kind == "check":
        if values not in (["true"], ["false"]):
            raise ProtocolError(f"{where}: default {shown(rest)}, expected true or false")
        return Option(name, kind, default=values == ["true"])
    if kind == "spin":
        return _spin(where, name, values)
    choices = tuple(values[2::2])
    if len(values) % 2 == 0 or not choices or set(values[1::2]) != {"var"} or values[0] not in choices:
        raise ProtocolError(f"{where}: expected default A var A var B, the default among the values")
    return Option(name, kind, default=values[0], choices=choices)


def _spin(where: str, name: str, values: list[str]) -> Option:
    if len(values) != 5 or values[1] != "min" or values[3] != "max":
        raise ProtocolError(f"{where}: expected default NUMBER min NUMBER max NUMBER")
    numbers = []
    for word in values[::2]:
        digits = word.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 19:
            raise ProtocolError(f"{where}: {shown(word)} is not a whole number of at most 19 digits")
        numbers.append(int(word))
    default, low, high = numbers
    if not low <= default <= high:
        raise ProtocolError(f"{where}: default {default} is not between min {low} and max {high}")
    return Option(name, "spin", default=default, min=low, max=high)


def setoption_line(name: str, value: str) -> str:
    """The line that sets an option; a ``value`` of nothing presses a button or empties a string."""
    return f"setoption name {name} value {value}" if value else f"setoption name {name}"


def parse_setoption(line: str) -> tuple[str, str]:
    """The name and the value of a ``setoption`` line. Raises ``ProtocolError``."""
    words = words_of(line, 4)
    named = len(words) >= 3 and words[0] == "setoption" and words[1] == "name"
    if not named or (len(words) > 3 and words[3] != "value"):
        raise ProtocolError("setoption: expected setoption name NAME value VALUE, or setoption name NAME")
    return words[2], words[4].strip(BLANKS) if len(words) == 5 else ""


# --- go and its answer -------------------------------------------------------------------------------------------


def go_line(number: int, limits: Limits) -> str:
    """The line that asks for a move within ``limits``."""
    line = f"go {number}"
    if limits.movetime is not None:
        line += f" movetime {_milliseconds(limits.movetime)}"
    if limits.clock is not None:
        line += f" clock {_milliseconds(limits.clock)}"
        if limits.increment:
            line += f" increment {_milliseconds(limits.increment)}"
        if limits.allowance:
            line += f" allowance {_milliseconds(limits.allowance)}"
    if limits.roundcap is not None:
        line += f" roundcap {_milliseconds(limits.roundcap)}"
    if limits.gamecap is not None:
        line += f" gamecap {_milliseconds(limits.gamecap)}"
    if limits.nodes is not None:
        line += f" nodes {max(limits.nodes, 1)}"
    if limits.playouts is not None:
        line += f" playouts {max(limits.playouts, 1)}"
    return f"{line} infinite" if limits.infinite else line


def parse_go_number(line: str) -> int:
    """The number of a ``go`` line. Raises ``ProtocolError``."""
    words = _expect(line, "go")
    return _number("go: number", words[0] if words else None, least=1)


def parse_go(line: str) -> tuple[int, Limits]:
    """The number and the limits of a ``go`` line. Raises ``ProtocolError``."""
    words = _expect(line, "go")
    number = _number("go: number", words[0] if words else None, least=1)
    limits = Limits()
    seen = set()
    rest = iter(words[1:])
    for word in rest:
        if word in seen:
            raise ProtocolError(f"{word}: expected only once")
        seen.add(word)
        if word == "infinite":
            limits.infinite = True
        elif word in _COUNTS:
            setattr(limits, word, _number(word, next(rest, None), least=1))
        elif word in _TIMES:
            setattr(limits, word, float(_number(word, next(rest, None))))
        else:
            raise ProtocolError(f"limit {shown(word)}, expected {', '.join(_TIMES + _COUNTS)} or infinite")
    for name in _WITH_CLOCK:
        if getattr(limits, name) is not None and limits.clock is None:
            raise ProtocolError(f"{name}: expected clock too")
        if getattr(limits, name) is None and limits.clock is not None:
            setattr(limits, name, 0.0)
    if len(seen) == 0:
        limits.infinite = True
    return number, limits


def bestmove_line(number: int, move: Move) -> str:
    """The answer to ``go``."""
    return f"bestmove {number} {move}"


def parse_bestmove(line: str) -> tuple[int, Move]:
    """The number and the move of an answer. Raises ``ProtocolError``."""
    words = _expect(line, "bestmove")
    if words and not (words[0].isascii() and words[0].isdigit()):
        raise ProtocolError(f"bestmove: {shown(words[0])}: expected the number of the go, then the move")
    number = _number("bestmove: number", words[0] if words else None, least=1)
    if len(words) != 2:
        raise ProtocolError(f"bestmove: {len(words) - 1} words after the number, expected one move")
    try:
        return number, parse_move(words[1])
    except WordError as error:
        raise ProtocolError(f"bestmove: {error}") from None


# --- info and errors ---------------------------------------------------------------------------------------------


def info_line(info: Info) -> str:
    """What a search says of itself."""
    line = f"info time {_milliseconds(info.time)} nodes {info.nodes} nps {info.nps}"
    if info.score is not None:
        line += f" score {info.score:.2f}"
    if known := [f"{c.move}:{c.visits}:{c.score:.2f}" for c in info.candidates if c.score is not None]:
        line += " candidates " + " ".join(known)
    return line


def parse_info_line(line: str) -> Info | None:
    """What an ``info`` line says; None for ``info string``. Raises ``ProtocolError``."""
    words = _expect(line, "info")
    if words[:1] == ["string"]:
        return None
    numbers = {"time": 0, "nodes": 0, "nps": 0}
    score = None
    candidates: tuple[Candidate, ...] = ()
    rest = iter(words)
    for word in rest:
        if word in numbers:
            numbers[word] = _number(f"info: {word}", next(rest, None))
        elif word == "score":
            score = _score("info: score", next(rest, ""))
        elif word == "candidates":
            candidates = tuple(_candidate(number, text) for number, text in enumerate(rest, 1))
        else:
            raise ProtocolError(f"info: {shown(word)}, expected time, nodes, nps, score, candidates or string")
    return Info(float(numbers["time"]), numbers["nodes"], numbers["nps"], score, candidates)


def _score(field: str, word: str) -> float:
    whole, _, decimals = word.removeprefix("-").partition(".")
    if whole.isdigit() and (decimals.isdigit() or not decimals) and word.isascii() and len(word) <= 30:
        return float(word)
    raise ProtocolError(f"{field}: {shown(word)} is not a number such as -3.25")


def _candidate(number: int, text: str) -> Candidate:
    where = f"info: candidate {number}"
    parts = text.split(":")
    if len(parts) != 3:
        raise ProtocolError(f"{where}: {shown(text)}, expected MOVE:VISITS:SCORE")
    try:
        move = parse_move(parts[0])
    except WordError as error:
        raise ProtocolError(f"{where}: {error}") from None
    return Candidate(move, _number(f"{where}: visits", parts[1]), _score(f"{where}: score", parts[2]))


def error_line(text: str) -> str:
    """An error as one printable line of bounded length."""
    line = "".join([c if " " <= c <= "~" else " " for c in text])
    return f"error {line if len(line) <= _SHOWN_ERROR else line[: _SHOWN_ERROR - 3] + '...'}"


def capability_line(words: Iterable[str]) -> str:
    """The words of what an engine can do, in alphabetic order."""
    return " ".join(["capability", *sorted(words)])
