"""The single lines of a record, read: each function takes what stands after the first word.

All raise ``ValueError``, which says what was wrong in the line and what was expected.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from caboose.engine.rules.blanks import BLANKS, words_of
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import MEXICAN, train_name
from caboose.protocol.notation.lines import shown
from caboose.protocol.notation.notation import NotationError, parse_deal
from caboose.protocol.notation.words import (
    parse_each,
    parse_move,
    parse_number,
    parse_pip_count,
    parse_rules,
    parse_seat,
    parse_tile,
)
from caboose.protocol.process.faults import FAULT_KINDS
from caboose.protocol.records.records import NONCE_BYTES, FaultRecord, PlayerRecord, unescaped

HEADER_WORDS: Final = ("rules", "player", "date", "event", "control", "commit")
DECIMAL: Final = r"[0-9]{1,12}(?:\.[0-9]{1,9})?"

_TIME: Final = re.compile(DECIMAL)
_SCORE: Final = re.compile(f"-?{DECIMAL}")
_KEY: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_NONCE: Final = re.compile(rf"[0-9a-f]{{{2 * NONCE_BYTES}}}")
_ENDINGS: Final[dict[tuple[str, ...], tuple[bool, bool]]] = {  # blocked, finished
    (): (False, True),
    ("blocked",): (True, True),
    ("unfinished",): (False, False),
}

# ------------------------------------------------------------------------------------------------- header


class Header:
    """What the lines of ``HEADER_WORDS`` tell."""

    def __init__(self) -> None:
        self.players: dict[int, PlayerRecord] = {}
        self.texts: dict[str, str] = {}
        self.commit = ""
        self._rules: Rules | None = None

    def read(self, number: int, word: str, rest: str) -> None:
        """Takes the line of that number."""
        if word == "player":
            seat, player = _read_player(rest, number)
            if seat in self.players:
                raise ValueError(f"player: seat {seat + 1} is given twice, expected each once")
            self.players[seat] = player
            return
        if word in self.texts:
            raise ValueError(f"{word}: this line is there twice, expected it once")
        self.texts[word] = unescaped(rest)
        if word == "rules":
            self._rules = parse_rules(words_of(rest))
        elif word == "date":
            _check_date(rest)
        elif word == "commit":
            self.commit = _read_commit(rest)

    def finish(self) -> Rules:
        """The rules, when all lines were read."""
        if self._rules is None:
            raise ValueError("there is no rules line, expected one before the first round")
        seats = self._rules.players
        for seat in range(seats):
            if seat not in self.players:
                raise ValueError(f"there is no player line for seat {seat + 1}, expected one before the first round")
        for seat, player in self.players.items():
            if seat >= seats:
                raise ValueError(f"player: line {player.line} has seat {seat + 1}, expected 1 to {seats}")
        return self._rules


def _read_player(rest: str, number: int) -> tuple[int, PlayerRecord]:
    word, _, text = rest.partition(" ")
    # Escaped bars do not separate. NUL and SOH are free: no line with control characters comes so far.
    hidden = text.replace("\\\\", "\0").replace("\\|", "\1")
    name, *parts = [part.replace("\1", "\\|").replace("\0", "\\\\").strip(BLANKS) for part in hidden.split("|")]
    fields = []
    for part in parts:
        key, _, value = part.partition(" ")
        if not _KEY.fullmatch(key):
            raise ValueError(f"player: {shown(part)}, expected KEY TEXT with a key of small letters")
        fields.append((key, unescaped(value.strip(BLANKS))))
    return parse_seat(word), PlayerRecord(unescaped(name), tuple(fields), number)


def _check_date(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"date: {shown(text)}, expected one such as 2026-11-29 or 2026-11-29T22:51:03Z") from None


def _read_commit(rest: str) -> str:
    words = words_of(rest.lower())
    if len(words) != 2 or words[0] != "sha256" or not _HASH.fullmatch(words[1]):
        raise ValueError(f"commit: {shown(rest)}, expected sha256 and 64 hexadecimal digits")
    return words[1]


# ------------------------------------------------------------------------------------------------- rounds


def read_round(rules: Rules, rest: str) -> tuple[int, int, int]:
    """Number, hub and starter of a round."""
    words = words_of(rest)
    if len(words) != 5 or words[1] != "hub" or words[3] != "starter":
        raise ValueError(f"round: {shown(rest)}, expected NUMBER hub PIPS starter SEAT")
    return parse_number(words[0], 1), parse_pip_count(words[2]), _read_seat(rules, words[4])


def read_event(rules: Rules, text: str) -> Event:
    """The event of a line, without what was noted of it."""
    words = words_of(text)
    seat = _read_seat(rules, words[0])
    kind = words[1] if len(words) > 1 else ""
    if kind in ("mark", "pass", "stop", "hub") and len(words) == 2:
        return Event(kind, seat)
    if kind == "draw" and len(words) == 3:
        tile = parse_tile(words[2])
        if tile.high > rules.set:
            raise ValueError(f"there is no tile {tile} in a double-{rules.set} set")
        return Event(kind, seat, tile)
    if kind == "play" and len(words) == 3 and words[2] != str(STOP):
        move = parse_move(words[2])
        assert move.tile is not None
        if move.tile.high > rules.set:
            raise ValueError(f"there is no tile {move.tile} in a double-{rules.set} set")
        if rules.players <= move.train != MEXICAN:
            raise ValueError(f"train {train_name(move.train)}: expected 1 to {rules.players} or M")
        return Event(kind, seat, move.tile, move)
    raise ValueError(f"{shown(text)} is not an event: expected SEAT and play MOVE, draw TILE, mark, pass, stop or hub")


def read_notes(words: list[str]) -> tuple[float | None, float | None, float | None]:
    """Time, score and overrun after a play or a stop."""
    notes: dict[str, float] = {}
    for key, value in zip(words[::2], [*words[1::2], ""], strict=False):
        if key not in ("time", "score", "over") or key in notes:
            raise ValueError(f"{shown(key)}, expected time MS, score PIPS and over MS, each once at most")
        if not (_SCORE if key == "score" else _TIME).fullmatch(value):
            raise ValueError(f"{key}: {shown(value)} is not a number such as 18.25")
        notes[key] = round(float(value), 3)  # what is written back
    return notes.get("time"), notes.get("score"), notes.get("over")


def read_scores(rules: Rules, rest: str) -> tuple[tuple[int, ...], bool, bool]:
    """The scores of a round, whether it was blocked, whether it was finished."""
    words = words_of(rest)
    scores = _read_row(rules, "scores", words[: rules.players])
    ending = tuple(words[rules.players :])
    if ending not in _ENDINGS:
        raise ValueError(
            f"scores: {shown(' '.join(ending))} after {rules.players} numbers, expected blocked, unfinished or nothing"
        )
    return scores, *_ENDINGS[ending]


# ---------------------------------------------------------------------------------------------------- end


def read_fault(rules: Rules, rest: str, number: int) -> FaultRecord:
    """The fault of a seat."""
    words = words_of(rest, 6)
    if len(words) < 6 or words[1] != "round" or words[3] != "decision":
        raise ValueError(f"fault: {shown(rest)}, expected SEAT round NUMBER decision NUMBER KIND TEXT")
    kind = words[5]
    if kind not in FAULT_KINDS:
        raise ValueError(f"fault: {shown(kind)}, expected one of {', '.join(FAULT_KINDS)}")
    detail = unescaped(words[6]) if len(words) > 6 else ""
    return FaultRecord(
        _read_seat(rules, words[0]), parse_number(words[2], 1), parse_number(words[4]), kind, detail, number
    )


def read_result(rules: Rules, rest: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Totals and places."""
    words = words_of(rest)
    if words[:1] != ["totals"] or words.count("places") != 1:
        raise ValueError(f"result: {shown(rest)}, expected totals NUMBER ... places NUMBER ...")
    middle = words.index("places")
    return _read_row(rules, "totals", words[1:middle]), _read_row(rules, "places", words[middle + 1 :])


def read_nonce(rest: str, commit: str) -> str:
    """The nonce of the ``open`` line, in a game with that commitment."""
    nonce = rest.lower()
    if commit and not _NONCE.fullmatch(nonce):
        raise ValueError(f"open: {shown(rest)}, expected the commitment's nonce, {2 * NONCE_BYTES} hexadecimal digits")
    if nonce and not commit:
        raise ValueError(f"open: {shown(rest)}, expected nothing more, as there is no commit line")
    return nonce


@lru_cache(64)  # the games of a block have the same deals
def read_deal(rules: Rules, text: str, column: int) -> Deal:
    """A deal; ``column`` is how many characters of its line stand before ``text``."""
    try:
        return parse_deal(rules, text)
    except NotationError as error:
        raise ValueError(f"deal: column {column + error.column}: {error.problem}, expected {error.expected}") from None


# ------------------------------------------------------------------------------------------------- pieces


def _read_seat(rules: Rules, word: str) -> int:
    seat = parse_seat(word)
    if seat >= rules.players:
        raise ValueError(f"seat {seat + 1}: there are {rules.players} players, expected 1 to {rules.players}")
    return seat


def _read_row(rules: Rules, what: str, words: list[str]) -> tuple[int, ...]:
    """A number for each seat."""
    numbers = tuple(parse_each(parse_number, words, f"{what}: number"))
    if len(numbers) != rules.players:
        raise ValueError(f"{what}: there are {len(numbers)} numbers, expected {rules.players}, one for each seat")
    return numbers
