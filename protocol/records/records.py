"""Games as text: what a record holds, and how it is written. ``docs/reference/records.md`` is the contract.

``record_reader`` reads the files, ``verify`` checks them against the rules.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO, Final, NamedTuple

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules
from caboose.protocol.notation.lines import escape
from caboose.protocol.notation.notation import deal_text

FORMAT: Final = 1  # the version of the format
NONCE_BYTES: Final = 16
_CACHED: Final = 64  # deals; a game has 19 at most

_ESCAPE: Final = re.compile(r"\\(?:([\\|n])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_LAST_CHARACTER: Final = 0x10FFFF

# --------------------------------------------------------------------------------------------- value types


class EventLine(NamedTuple):
    """An event and what was noted of it: ``time`` are the ms that the player took for it, and ``score`` is what it
    expected of it (pips below the others' mean); both None where there was no choice or nobody said. ``line`` is
    where it stands in its file, 0 in a record that was not read. ``over`` are the ms by which the move came after its
    limit, but within the margin; None where it came in time."""

    event: Event
    time: float | None = None
    score: float | None = None
    line: int = 0
    over: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A round: how it was dealt, all events in order, how it ended.

    ``number`` counts from 1. ``starter`` is the seat with the first turn, also where the deal leaves it to the holder
    of the hub. ``finished`` is False for the round in which a forfeit ended the game; ``scores`` are then the pips in
    the hands at that moment.
    """

    number: int
    hub: int
    starter: int
    deal: Deal
    events: tuple[EventLine, ...]
    scores: tuple[int, ...]
    blocked: bool = False
    finished: bool = True
    line: int = field(default=0, compare=False)
    scores_line: int = field(default=0, compare=False)
    deal_line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class PlayerRecord:
    """Who sat on a seat: a name, and what else is told as pairs of a key and text. A key may come more than once, as
    ``option`` does."""

    name: str
    fields: tuple[tuple[str, str], ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A seat that was taken from its player: in which round and at which of its decisions in the game (both from 1;
    decision 0 is before the first), the kind of fault, and in words."""

    seat: int
    round: int
    decision: int
    kind: str
    detail: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A whole game. Seats count from 0.

    ``commit`` is the ``commitment`` that was published before the game, as 64 hexadecimal digits, and ``nonce`` the
    secret in it; both are empty in a game without one. ``unplayed`` are the deals of the rounds that a forfeit left
    unplayed; the commitment is to them too. ``lines`` has the line in ``file`` of ``game``, ``rules``, ``commit``,
    ``result``, ``open`` and ``end``.
    """

    rules: Rules
    players: tuple[PlayerRecord, ...]
    rounds: tuple[RoundRecord, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[FaultRecord, ...] = ()
    unplayed: tuple[Deal, ...] = ()
    date: str = ""
    event: str = ""
    control: str = ""
    commit: str = ""
    nonce: str = ""
    file: str = field(default="", compare=False)
    lines: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def deals(self) -> tuple[Deal, ...]:
        """The deals of all rounds, played or not."""
        return (*(round.deal for round in self.rounds), *self.unplayed)


@dataclass(frozen=True, slots=True)
class RecordError:
    """Text that is no record, or a game that cannot be read: where, and what is wrong. ``begun`` is the line in which
    the game begins; 0 for text outside of games."""

    file: str
    line: int
    text: str
    begun: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


# ---------------------------------------------------------------------------------------------- commitment


def make_nonce() -> str:
    """A fresh nonce that nobody can guess."""
    return secrets.token_hex(NONCE_BYTES)


def opening_text(rules: Rules, nonce: str, deals: Iterable[Deal]) -> str:
    """The lines that open a commitment."""
    lines = [f"open {nonce}".rstrip(), *(f"deal {_deal_text(rules, deal)}" for deal in deals)]
    return "".join([f"{line}\n" for line in lines])


# The games of a block have the same deals.
_deal_text: Final = lru_cache(_CACHED)(deal_text)


def commitment(rules: Rules, nonce: str, deals: Iterable[Deal]) -> str:
    """The SHA-256 of the opening, in hexadecimal digits."""
    return hashlib.sha256(opening_text(rules, nonce, deals).encode("ascii")).hexdigest()


# ------------------------------------------------------------------------------------------------- writing


def record_lines(record: GameRecord) -> Iterator[str]:
    """The lines of a game, without their ends."""
    yield f"game {FORMAT}"
    for word in ("date", "event"):
        if text := getattr(record, word):
            yield f"{word} {escaped(text)}"
    yield f"rules {record.rules}"
    if record.control:
        yield f"control {escaped(record.control)}"
    for seat, player in enumerate(record.players, 1):
        fields = [f"{key} {escaped(text)}".rstrip() for key, text in player.fields]
        yield f"player {seat} " + " | ".join([escaped(player.name), *fields])
    if record.commit:
        yield f"commit sha256 {record.commit}"
    for round in record.rounds:
        yield f"round {round.number} hub {round.hub} starter {round.starter + 1}"
        yield from map(event_line_text, round.events)
        words = ["scores", *map(str, round.scores)]
        yield " ".join(words + ["blocked"] * round.blocked + ["unfinished"] * (not round.finished))
    for fault in record.faults:
        where = f"{fault.seat + 1} round {fault.round} decision {fault.decision}"
        yield f"fault {where} {fault.kind} {escaped(fault.detail)}".rstrip()
    totals, places = " ".join(map(str, record.totals)), " ".join(map(str, record.places))
    yield f"result totals {totals} places {places}"
    yield from opening_text(record.rules, record.nonce, record.deals).splitlines()
    yield "end"


def record_text(record: GameRecord) -> str:
    """A game in its canonical form."""
    return "".join([f"{line}\n" for line in record_lines(record)])


def write_record(file: BinaryIO, record: GameRecord) -> None:
    """Writes a game, in one call of ``file.write``."""
    file.write(record_text(record).encode())


def event_line_text(entry: EventLine) -> str:
    """An event as its line has it. Times and scores are rounded to three decimals."""
    text = event_words(entry.event)
    if entry.time is not None:
        text += f" time {decimal_text(entry.time)}"
    if entry.score is not None:
        text += f" score {decimal_text(entry.score)}"
    if entry.over is not None:
        text += f" over {decimal_text(entry.over)}"
    return text


def event_words(event: Event) -> str:
    """An event without what was noted of it, such as ``2 play 5-12@M``."""
    kind, seat, tile, move = event
    if kind == "play":
        return f"{seat + 1} play {move}"
    if kind == "draw" and tile is not None:
        return f"{seat + 1} draw {tile}"
    return f"{seat + 1} {kind}"


def decimal_text(value: float) -> str:
    """A number with at most three decimals."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# ----------------------------------------------------------------------------------------------- free text


def escaped(text: str) -> str:
    """``text`` as it stands in a line: printable, without bars, and with no blanks at its ends."""
    inner = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(inner) - before
    safe = "".join([c if c.isprintable() and c not in "\\|" else _escaped(c) for c in inner])
    return "\\x20" * before + safe + "\\x20" * after


def unescaped(text: str) -> str:
    """What ``escaped`` wrote as ``text``. A backslash that begins no escape stands for itself."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _escaped(c: str) -> str:
    if c in "\\|":
        return "\\" + c
    if c == "\n":
        return "\\n"
    return escape(c)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return "\n" if match[1] == "n" else match[1]
    number = int(match[2] or match[3] or match[4], 16)
    return chr(number) if number <= _LAST_CHARACTER else match[0]
