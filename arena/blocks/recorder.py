"""The games of a match as records: who played, what was committed to, and when it is written."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from caboose.arena.blocks.block import Plan, block_deals
from caboose.arena.blocks.results import BlockResult, GameInBlock, Played
from caboose.arena.storage.files import open_read
from caboose.engine.rules.deal import Deal
from caboose.protocol.records.records import (
    EventLine,
    FaultRecord,
    GameRecord,
    PlayerRecord,
    RoundRecord,
    commitment,
    decimal_text,
    make_nonce,
    record_text,
)
from caboose.protocol.referee.referee import RoundResult
from caboose.protocol.referee.timing import TimeControl

MOST_TEXT: Final = 1000  # characters of a command, an option or the words of a fault


@dataclass(frozen=True, slots=True)
class _Begun:
    """What is fixed when a block begins."""

    date: str
    nonce: str
    commit: str
    deals: Sequence[Deal]


class Recorder:
    """Appends the games of a match, or of what ``event`` says, to ``file``, which ``open_record`` opened.

    All games of a block are written when it is over, since its deals come again in each of them: a player must not be
    able to look them up. What is written when it begins is a commitment to them. The nonces come from the system's
    source of chance and not from the seed of the match: who guesses the seed must not find it confirmed.
    """

    def __init__(self, file: BinaryIO, plan: Plan, played: Sequence[Played], event: str = "caboose match") -> None:
        self._file = file
        self._plan = plan
        self._event = event
        self._players = [_player(played[number]) for number in plan.lineup.entries]
        self._begun: dict[int, _Begun] = {}

    def begin(self, blocks: Iterable[int]) -> Iterator[int]:
        """The blocks themselves; commits to the deals of each before it is given out. Raises ``OSError``."""
        for block in blocks:
            nonce = make_nonce()
            deals = block_deals(self._plan, block)
            commit = commitment(self._plan.rules, nonce, deals)
            date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            self._begun[block] = _Begun(date, nonce, commit, deals)
            self._write(f"# commit sha256 {commit} block {block + 1}\n")
            yield block

    def write(self, result: BlockResult) -> None:
        """Writes a block that was played with recording on. Raises ``OSError``."""
        begun = self._begun.pop(result.block)
        texts = []
        for number, game in enumerate(result.games, 1):
            event = f"{self._event}, block {result.block + 1}, game {number}"
            texts.append(record_text(self._record(game, event, begun)))
        self._write("\n".join(["", *texts]))

    def _write(self, text: str) -> None:
        rest = memoryview(text.encode())
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._file.name)) from None

    def _record(self, game: GameInBlock, event: str, begun: _Begun) -> GameRecord:
        seats = game.result.seats
        faults = [(seat, fared.fault) for seat, fared in enumerate(seats) if fared.fault is not None]
        return GameRecord(
            rules=self._plan.rules,
            players=tuple([self._players[entry] for entry in game.seating]),
            rounds=tuple([_round(number, result) for number, result in enumerate(game.result.rounds, 1)]),
            totals=tuple([seat.total for seat in seats]),
            places=tuple([seat.place for seat in seats]),
            unplayed=tuple(begun.deals[len(game.result.rounds) :]),
            faults=tuple([FaultRecord(seat, f.round, f.decision, f.kind, _short(f.detail)) for seat, f in faults]),
            date=begun.date,
            event=event,
            control=control_text(self._plan.control),
            commit=begun.commit,
            nonce=begun.nonce,
        )


def open_record(path: Path) -> BinaryIO:
    """Opens a file for appending; ends its last line if something cut it off. Raises ``OSError``.

    Nothing is kept in a buffer, to be lost by a kill or to fail once more when the file is closed.
    """
    cut_off = False
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            file.seek(-1, 2)
            cut_off = file.read() != b"\n"
    appending = open(path, "ab", buffering=0, opener=open_read)  # noqa: SIM115 - the caller closes it
    if cut_off:
        appending.write(b"\n")
    return appending


def control_text(control: TimeControl) -> str:
    """A time control in the words of ``go``, and what is allowed beyond it, in ms."""
    words = []
    for name in ("movetime", "clock", "increment", "allowance", "roundcap", "gamecap", "nodes", "playouts", "grace"):
        if value := getattr(control, name):
            words.append(f"{name} {decimal_text(value)}")
    words.append(f"margin {decimal_text(control.margin)}" if control.timed else f"guard {decimal_text(control.guard)}")
    return " ".join(words)


def without_logs(block: BlockResult) -> BlockResult:
    """The block with the logs of its rounds left out, for keeping."""
    games = []
    for game in block.games:
        rounds = tuple([replace(result, log=None) for result in game.result.rounds])
        games.append(replace(game, result=replace(game.result, rounds=rounds)))
    return replace(block, games=tuple(games))


def _player(played: Played) -> PlayerRecord:
    if played.builtin:
        sees = f"sees {played.measuring}" if played.measuring else ""
        fields = [("bot", played.builtin), ("measuring", sees), ("version", played.version)]
    else:
        fields = [
            ("engine", played.engine),
            ("version", played.version),
            ("author", played.author),
            ("command", shlex.join(played.command)),
        ]
    fields += [("option", f"{name}={value}") for name, value in played.options]
    return PlayerRecord(played.label, tuple([(key, _short(text)) for key, text in fields if text]))


def _short(text: str) -> str:
    """``text`` cut to what a line has room for, whatever engines and their errors are called."""
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."


def _round(number: int, result: RoundResult) -> RoundRecord:
    log = result.log
    assert log is not None
    noted = {decision.event: decision for decision in log.decisions}
    events = []
    for at, event in enumerate(log.events):
        decision = noted.get(at)
        if decision is None:
            events.append(EventLine(event))
        else:
            events.append(EventLine(event, decision.time, decision.score, over=decision.over or None))
    return RoundRecord(
        number=number,
        hub=result.hub,
        starter=result.starter,
        deal=log.deal,
        events=tuple(events),
        scores=result.scores,
        blocked=result.blocked,
        finished=result.complete,
    )
