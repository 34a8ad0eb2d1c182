"""Reads the text of ``docs/reference/records.md``: any number of games, one at a time, in constant memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from caboose.engine.rules.blanks import BLANKS, words_of
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules
from caboose.protocol.notation.lines import MAX_LINE, LineSplitter, shown
from caboose.protocol.records.lines import (
    DECIMAL,
    HEADER_WORDS,
    Header,
    read_deal,
    read_event,
    read_fault,
    read_nonce,
    read_notes,
    read_result,
    read_round,
    read_scores,
)
from caboose.protocol.records.records import FORMAT, EventLine, FaultRecord, GameRecord, RecordError, RoundRecord

ENDLESS: Final = 1 << 28  # bytes; a line that has more of them has no end, as far as anybody can tell
_CHUNK: Final = 1 << 18  # bytes read at once
_BOM: Final = b"\xef\xbb\xbf"
_COMMENT: Final = ord("#")
_KNOWN: Final = 20_000  # texts of events that are remembered

# No round has more events: there are at most 190 plays and 190 draws, and fewer than two laps of 14 passes between
# two of them.
_MOST_EVENTS: Final = 12_000

_NOTED: Final = ("play", "stop")  # events that may have a time and a score

_BLANKS: Final = b" \t"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_EVENT_LINE: Final = re.compile(
    rf"([0-9]{{1,2}} [a-z]+(?: [0-9M@-]+)?)"
    rf"(?: time ({DECIMAL}))?(?: score (-?{DECIMAL}))?(?: over ({DECIMAL}))?".encode()
)


def read_records(
    source: str | Path | BinaryIO, name: str = "", first_line: int = 1
) -> Iterator[GameRecord | RecordError]:
    """The games of a file in order; in place of one that cannot be read, why.

    ``name`` stands for the file in errors; by default its path. ``first_line`` is the number of the first line, in a
    file that is read from the middle. What is given out is well formed: seats, trains, tiles and counts fit the rules
    of the game, and ``Round`` takes its deals. Whether it happened by the rules is for ``verify``. Raises ``OSError``.
    """
    if isinstance(source, str | Path):
        with open(source, "rb") as file:
            yield from _Reader(_Lines(file, first_line), name or str(source)).games()
    else:
        yield from _Reader(_Lines(source, first_line), name or str(getattr(source, "name", "-"))).games()


class _Lines:
    """The lines of a file but for comments and empty ones. ``number`` is that of the line given last. ``endless`` is
    that of a line after which no more was read, as it had no end; 0 where there is none."""

    def __init__(self, file: BinaryIO, first_line: int) -> None:
        self.number = 0
        self.endless = 0
        self._back: bytes | None = None
        self._lines = self._read(file, first_line)

    def next(self) -> bytes | None:
        """The next line; None at the end of the file."""
        if self._back is not None:
            raw, self._back = self._back, None
            return raw
        return next(self._lines, None)

    def put_back(self, raw: bytes) -> None:
        """Makes ``raw``, the line given last or the end of it, the next line."""
        self._back = raw

    def _read(self, file: BinaryIO, first_line: int) -> Iterator[bytes]:
        splitter = LineSplitter()
        number = first_line - 1
        rest = 0  # bytes since the last line end
        while True:
            data = file.read(_CHUNK)
            for raw in splitter.feed(data) if data else splitter.finish():
                number += 1
                first = raw[0] if raw else _COMMENT
                if first == _COMMENT:
                    continue
                if not _COMMENT < first < 0x80:  # a blank, a byte order mark, or what is no record
                    raw = raw.removeprefix(_BOM)
                    if not raw.strip(_BLANKS) or raw.lstrip(_BLANKS)[0] == _COMMENT:
                        continue
                self.number = number
                yield raw
            end = data.rfind(b"\n") + 1
            rest = rest + len(data) if not end else len(data) - end
            if rest > ENDLESS:
                self.endless = number  # the splitter gave its beginning out
            if not data or self.endless:
                return


class _Reader:
    """Reads games. What its methods raise as ``ValueError`` is about the line given last."""

    def __init__(self, lines: _Lines, name: str) -> None:
        self.lines = lines
        self.name = name
        self.begun = 0  # the line in which the game begins that is being read
        self.text = ""  # the line given last by ``line``
        self.size = (0, 0)  # players and set of that game
        self.events: dict[bytes, Event] = {}  # by their text, for games of that size

    def games(self) -> Iterator[GameRecord | RecordError]:
        """All games and errors."""
        lost = False  # an error was told, and no game has begun since
        while (raw := self.lines.next()) is not None:
            if _first(raw) == b"game":
                self.begun = self.lines.number
                lost = False
                try:
                    yield self.game(raw)
                except ValueError as error:
                    lost = True
                    yield RecordError(self.name, self.lines.number, str(error), self.begun)
            elif not lost:
                lost = True
                text = f"{shown(raw)} stands outside of games, expected game {FORMAT}"
                yield RecordError(self.name, self.lines.number, text)
        if self.lines.endless:
            text = f"the line has more than {ENDLESS >> 20} MiB: nothing was read after that, expected lines of text"
            yield RecordError(self.name, self.lines.endless, text)

    def game(self, raw: bytes) -> GameRecord:
        """The game that begins with ``raw``."""
        version = words_of(_text(raw))[1:]
        if version != [str(FORMAT)]:
            raise ValueError(f"game: version {shown(' '.join(version))}, expected {FORMAT}")
        lines = {"game": self.begun}
        header = Header()
        word, rest = self.line()
        while word in HEADER_WORDS:
            header.read(self.lines.number, word, rest)
            lines[word] = self.lines.number
            word, rest = self.line()
        if word != "round":
            raise _unexpected(word, *HEADER_WORDS, "round")
        rules = header.finish()
        if self.size != (rules.players, rules.set):
            self.size = (rules.players, rules.set)
            self.events.clear()
        rounds: list[Callable[..., RoundRecord]] = []
        while word == "round":
            if len(rounds) == rules.rounds:
                raise ValueError(f"round: the rules have {rules.rounds} and they are over, expected fault or result")
            rounds.append(self.round(rules, rest))
            word, rest = self.line()
        faults: list[FaultRecord] = []
        while word == "fault":
            faults.append(read_fault(rules, rest, self.lines.number))
            if len({fault.seat for fault in faults}) < len(faults):
                raise ValueError(f"fault: seat {faults[-1].seat + 1} has one already, expected one at most")
            word, rest = self.line()
        if word != "result":
            raise _unexpected(word, "round", "fault", "result")
        lines["result"] = self.lines.number
        totals, places = read_result(rules, rest)
        nonce = read_nonce(self.expect("open"), header.commit)
        lines["open"] = self.lines.number
        dealt = [round(deal=self.deal(rules), deal_line=self.lines.number) for round in rounds]
        unplayed: list[Deal] = []
        while len(rounds) + len(unplayed) < rules.rounds and self.next_is(b"deal"):
            unplayed.append(self.deal(rules))
        self.end()
        lines["end"] = self.lines.number
        return GameRecord(
            rules=rules,
            players=tuple([header.players[seat] for seat in range(rules.players)]),
            rounds=tuple(dealt),
            totals=totals,
            places=places,
            faults=tuple(faults),
            unplayed=tuple(unplayed),
            date=header.texts.get("date", ""),
            event=header.texts.get("event", ""),
            control=header.texts.get("control", ""),
            commit=header.commit,
            nonce=nonce,
            file=self.name,
            lines=lines,
        )

    # --- parts of a game ---

    def round(self, rules: Rules, rest: str) -> Callable[..., RoundRecord]:
        """A round, still without its deal; ``rest`` is of its first line."""
        line = self.lines.number
        number, hub, starter = read_round(rules, rest)
        events = self.round_events(rules)
        scores, blocked, finished = read_scores(rules, self.expect("scores"))
        return partial(
            RoundRecord,
            number=number,
            hub=hub,
            starter=starter,
            events=events,
            scores=scores,
            blocked=blocked,
            finished=finished,
            line=line,
            scores_line=self.lines.number,
        )

    def round_events(self, rules: Rules) -> tuple[EventLine, ...]:
        """The events up to the line ``scores``, which is the next then."""
        lines, known = self.lines, self.events
        events: list[EventLine] = []
        while (raw := lines.next()) is not None:
            event = None
            if (match := _EVENT_LINE.fullmatch(raw)) is not None:
                text, time, score, over = match.groups()
                event = known.get(text)
            if event is not None and (time is score is over is None or event.kind in _NOTED):
                entry = EventLine(
                    event,
                    None if time is None else float(time),
                    None if score is None else float(score),
                    lines.number,
                    None if over is None else float(over),
                )
            elif raw.lstrip(_BLANKS)[:1].isdigit():
                entry = self.event(rules, raw)
            else:
                lines.put_back(raw)
                break
            if len(events) == _MOST_EVENTS:
                raise ValueError(f"the round has more than {_MOST_EVENTS:,} events, expected scores")
            events.append(entry)
        return tuple(events)

    def event(self, rules: Rules, raw: bytes) -> EventLine:
        """The event of a line that is new or unusual."""
        words = words_of(_text(raw))
        kind = words[1] if len(words) > 1 else ""
        size = len(words) if kind not in _NOTED else 3 if kind == "play" else 2
        text = " ".join(words[:size])
        event = read_event(rules, text)
        if len(self.events) == _KNOWN:
            self.events.clear()
        self.events[text.encode()] = event
        time, score, over = read_notes(words[size:])
        return EventLine(event, time, score, self.lines.number, over)

    def deal(self, rules: Rules) -> Deal:
        """The deal in the next line."""
        text = self.expect("deal")
        return read_deal(rules, text, len(self.text) - len(text))

    def end(self) -> None:
        """The last line of a game. Where files without a last line end were put together, a game begins in it."""
        word, rest = self.line()
        if word.startswith("end") and word[3:].lstrip("\ufeff") == "game":
            self.lines.put_back(f"game {rest}".encode())
        elif word != "end" or rest:
            raise _unexpected(f"{word} {rest}".strip(BLANKS), "end")

    # --- lines ---

    def line(self) -> tuple[str, str]:
        """The first word of the next line, and the rest of it."""
        raw = self.lines.next()
        if raw is None:
            raise ValueError(f"the file ends within the game that begins in line {self.begun}, expected its end")
        self.text = _text(raw)
        word, _, rest = self.text.partition(" ")
        if word == "game":
            self.lines.put_back(raw)
            raise ValueError(f"a game begins within the one that begins in line {self.begun}, expected its end first")
        return word, rest.strip(BLANKS)

    def next_is(self, word: bytes) -> bool:
        """Whether the next line begins with ``word``."""
        raw = self.lines.next()
        if raw is not None:
            self.lines.put_back(raw)
        return raw is not None and _first(raw) == word

    def expect(self, wanted: str) -> str:
        """The rest of the next line, whose first word must be ``wanted``."""
        word, rest = self.line()
        if word != wanted:
            raise _unexpected(word, wanted)
        return rest


def _first(raw: bytes) -> bytes:
    """The first word of a line that has one."""
    return raw.strip(_BLANKS).replace(b"\t", b" ").partition(b" ")[0]


def _text(raw: bytes) -> str:
    """A line as text, tabs made blanks, without blanks at its ends. Raises ``ValueError`` when it is no text."""
    if len(raw) > MAX_LINE:
        raise ValueError(f"{shown(raw)}: the line is too long, expected at most {MAX_LINE} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown(raw)}: byte {error.start + 1} is 0x{raw[error.start]:02x}, expected UTF-8") from None
    text = text.replace("\t", " ").strip(" ")
    control = None if text.isprintable() else _CONTROL.search(text)
    if control is not None:
        raise ValueError(f"{shown(raw)}: control character 0x{ord(control[0]):02x}, expected printable text")
    return text


def _unexpected(word: str, *expected: str) -> ValueError:
    return ValueError(f"{shown(word)}, expected {', '.join(expected)}")
