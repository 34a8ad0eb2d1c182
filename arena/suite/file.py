"""Suites as files: a line of JSON for the header and one for each position (docs/guides/suite.md)."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from typing import Any, BinaryIO, Final, NoReturn, TypeVar

from caboose.arena.console.output import json_text
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.storage.files import open_input, read_lines
from caboose.arena.suite.suite import FORMAT, PHASES, Header, Loss, Place, Position, Suite
from caboose.engine.rules.blanks import words_of
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.seats import written
from caboose.protocol.notation.notation import event_text, parse_event, parse_move, parse_tile

STANDARD: Final = "standard"  # the name of the suite in the package
_PACKED: Final = "standard.jsonl.gz"
_SHOWN: Final = 60  # characters of a value that an error shows
_LONGEST: Final = 1 << 20  # bytes of a line; the longest round takes a tenth of that
_MOST: Final = 1 << 28  # bytes of a suite; 100,000 positions take less
_HEADER_KEYS: Final = ("suite", "caboose", "positions", "nodes", "seed", "options", "source")
_POSITION_KEYS: Final = ("deal", "phase", "rules", "seat", "hub", "starter", "scores", "events", "hand", "losses")
_OPENERS: Final[tuple[tuple[bytes, Callable[[BinaryIO], Any]], ...]] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ", lzma.LZMAFile),
)
_T = TypeVar("_T")
DAMAGED: Final = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)  # what packed files raise


class FieldError(ValueError):
    """What is wrong with a field of a line: its name, and what was expected."""


def unpacked(file: BinaryIO) -> BinaryIO:
    """The contents of a file that one can go back in, by gzip, bzip2 or xz if it is packed. Reading it may raise
    ``OSError`` and those of ``DAMAGED``."""
    first = file.read(8)
    file.seek(0)
    for magic, opener in _OPENERS:
        if first.startswith(magic):
            packed: BinaryIO = opener(file)
            return packed
    return file


# ------------------------------------------------------------------------------------------------- writing


def header_line(header: Header) -> str:
    """The first line of a file."""
    return _line({"suite": FORMAT} | {field.name: getattr(header, field.name) for field in fields(header)})


def position_line(position: Position) -> str:
    """The line of a position."""
    return _line(place_object(position.place) | {"losses": _losses_object(position.losses)})


def place_object(place: Place) -> dict[str, Any]:
    """The fields of a place, all but the losses."""
    view = place.view
    return {
        "deal": place.deal,
        "phase": place.phase,
        "rules": rules_text(view.rules),
        "seat": view.seat + 1,
        "hub": view.hub,
        "starter": view.starter + 1,
        "scores": [list(row) for row in view.past_scores],
        "events": " ".join(map(event_text, view.events)),
        "hand": " ".join(map(str, view.hand)),
    }


def rules_text(rules: Rules) -> str:
    """Rules in few words: the preset, the players, and what is not the preset's own."""
    words = [f"players={rules.players}"]
    usual = Rules.of(rules.preset, rules.players)
    if rules.set != usual.set:
        words.append(f"set={rules.set}")
        try:
            usual = Rules.of(rules.preset, rules.players, set=rules.set)
        except ValueError:
            usual = Rules.of(rules.preset, rules.players, set=rules.set, hand=rules.hand)
            words.append(f"hand={rules.hand}")
    for field in fields(rules):
        if field.name not in ("preset", "players", "set") and getattr(rules, field.name) != getattr(usual, field.name):
            words.append(f"{field.name}={getattr(rules, field.name)}")
    return " ".join([rules.preset, *words])


def _losses_object(losses: Mapping[Move, Loss]) -> dict[str, list[float]]:
    return {str(move): [_rounded(loss.pips), _rounded(loss.error)] for move, loss in losses.items()}


def _rounded(value: float) -> float:
    return round(value, 2) + 0.0  # no -0.0


def _line(content: Mapping[str, Any]) -> str:
    return json_text(content, separators=(",", ":"))


# ------------------------------------------------------------------------------------------------- reading


def read_suite(name: str) -> Suite:
    """The suite in the file ``name``, which may be packed, or the package's own, ``standard``.

    Raises ``CallError`` when there is no such file, ``RunError`` when it is damaged: file, line, field, and what was
    expected there.
    """
    try:
        packed = files("caboose.arena.suite").joinpath(_PACKED).read_bytes() if name == STANDARD else None
        with open_input(name) if packed is None else io.BytesIO(packed) as file:
            return _read(file, name)
    except DAMAGED as error:
        raise RunError(f"{name}: the packed file is damaged: {error}") from None
    except OSError as error:
        raise CallError(f"{name}: {cause(error)}") from None


def _read(file: BinaryIO, name: str) -> Suite:
    header: Header | None = None
    positions: list[Position] = []
    digest = hashlib.sha256()
    for number, line in _lines(unpacked(file), name, digest.update):
        try:
            if header is None:
                header = read_header(line)
            elif len(positions) == header.positions:
                raise FieldError(f"a position more, expected {header.positions}, as line 1 says")
            else:
                positions.append(read_position(line))
        except FieldError as error:
            raise RunError(f"{name}:{number}: {error}") from None
    if header is None:
        raise RunError(f"{name}: it is empty, expected a suite, whose first line is its header")
    if len(positions) != header.positions:
        raise RunError(f"{name}: {len(positions)} positions, expected {header.positions}, as line 1 says")
    return Suite(header, tuple(positions), digest.hexdigest()[:16])


def _lines(file: BinaryIO, name: str, seen: Callable[[bytes], None]) -> Iterator[tuple[int, str]]:
    """The lines with something in them; ``seen`` is told all bytes."""
    for number, raw in enumerate(read_lines(file, _LONGEST, _MOST), 1):
        seen(raw)
        if len(raw) > _LONGEST:
            raise RunError(f"{name}:{number}: the line is too long, expected at most {_LONGEST:,} bytes")
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            if line := raw.decode("utf-8").strip():
                yield number, line
        except UnicodeDecodeError as error:
            raise RunError(f"{name}:{number}: byte {error.start + 1} is no text, expected UTF-8") from None


def read_header(line: str) -> Header:
    """The header that ``line`` writes. Raises ``FieldError``."""
    content = _object(line)
    if "suite" not in content:
        raise FieldError("there is no field suite, expected the header of a suite")
    if content["suite"] != FORMAT:
        raise FieldError(f"suite: {_shown(content['suite'])}, expected {FORMAT}: another version of Caboose wrote it")
    _check_keys(content, _HEADER_KEYS)
    options = content["options"]
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        _refuse("options", options, "an object with the values of options as text")
    return Header(
        caboose=_text(content, "caboose"),
        positions=_number(content, "positions", 1),
        nodes=_number(content, "nodes", 1),
        seed=_number(content, "seed", 0),
        options=options,
        source=_text(content, "source"),
    )


def read_position(line: str) -> Position:
    """The position that ``line`` writes. Raises ``FieldError``."""
    content = _object(line)
    _check_keys(content, _POSITION_KEYS)
    place = read_place(content)
    return Position(place, _read_losses(content["losses"], place.view))


def read_place(content: Mapping[str, Any]) -> Place:
    """What all fields but the losses tell. Raises ``FieldError``."""
    phase = _text(content, "phase")
    if phase not in PHASES:
        _refuse("phase", phase, f"one of {', '.join(PHASES)}")
    try:
        rules = Rules.parse(_text(content, "rules"))
    except ValueError as error:
        raise FieldError(f"rules: {error}") from None
    scores = content["scores"]
    if not isinstance(scores, list) or not all(isinstance(row, list) and all(map(_is_number, row)) for row in scores):
        _refuse("scores", scores, "a list of the points of each seat for each round before")
    try:
        view = Observation.replay(
            rules,
            _number(content, "hub", 0),
            _number(content, "seat", 1) - 1,
            _number(content, "starter", 1) - 1,
            _words(content, "hand", parse_tile),
            _words(content, "events", parse_event),
            scores,
        )
        legal = view.legal_moves()
    except FieldError:
        raise
    except ValueError as error:
        raise FieldError(f"the position makes no sense: {written(error)}") from None
    if len(legal) < 2:
        raise FieldError(f"events: the seat has {len(legal)} legal moves then, expected a choice of at least 2")
    return Place(view, _text(content, "deal"), phase)


def _read_losses(content: object, view: Observation) -> dict[Move, Loss]:
    legal = view.legal_moves()
    if not isinstance(content, dict):
        _refuse("losses", content, "an object with a pair of loss and standard error for each legal move")
    losses: dict[Move, Loss] = {}
    for text, pair in content.items():
        try:
            move = parse_move(text)
        except ValueError as error:
            raise FieldError(f"losses: {error}") from None
        if move not in legal:
            raise FieldError(f"losses: {text} is not legal, expected one of {' '.join(map(str, legal))}")
        if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_real, pair)) and pair[1] >= 0):
            _refuse(f"losses: {text}", pair, "[loss, standard error] in pips")
        losses[move] = Loss(*map(float, pair))
    missing = [str(move) for move in legal if move not in losses]
    if missing:
        raise FieldError(f"losses: {missing[0]} is missing, expected every legal move")
    if next(iter(losses.values())) != Loss(0.0, 0.0):
        raise FieldError("losses: the first move has a loss, expected the best first, with [0.0,0.0]")
    return losses


def _object(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except RecursionError:
        raise FieldError("this is no JSON for us: too many lists in lists; expected an object") from None
    except ValueError as error:
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise FieldError(f"this is no JSON: {reason}; expected an object") from None
    if not isinstance(content, dict):
        raise FieldError(f"{_shown(content)}, expected a JSON object")
    return content


def _check_keys(content: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in content:
            raise FieldError(f"there is no field {key}, expected {', '.join(keys)}")
    for key in content:
        if key not in keys:
            raise FieldError(f"{key[:_SHOWN]}: there is no such field, expected {', '.join(keys)}")


def _text(content: Mapping[str, Any], key: str) -> str:
    value = content[key]
    if not isinstance(value, str):
        _refuse(key, value, "text")
    return value


def _number(content: Mapping[str, Any], key: str, least: int) -> int:
    value = content[key]
    if not _is_number(value) or value < least:
        _refuse(key, value, f"a whole number of at least {least}")
    return int(value)


def _words(content: Mapping[str, Any], key: str, parse: Callable[[str], _T]) -> list[_T]:
    items = []
    for number, word in enumerate(words_of(_text(content, key)), 1):
        try:
            items.append(parse(word))
        except ValueError as error:
            raise FieldError(f"{key}: word {number}: {error}") from None
    return items


def _is_number(value: object) -> bool:
    return type(value) is int and abs(value) < 1 << 63


def _is_real(value: object) -> bool:
    return type(value) in (int, float) and abs(value) < 1e9  # type: ignore[arg-type]


def _refuse(key: str, value: object, expected: str) -> NoReturn:
    raise FieldError(f"{key}: {_shown(value)}, expected {expected}")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
