"""Whether a recorded game can have happened: it is played again by the rules, event by event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Event, Round
from caboose.engine.rules.seats import written
from caboose.protocol.records.records import GameRecord, RoundRecord, commitment, event_words
from caboose.protocol.referee.referee import final_places

_MOST_NAMED: Final = 6  # events that a discrepancy lists
_MOST_STEPS: Final = 100_000  # events played in the search for a wrong line: about a tenth of a second

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A line of a record that the rules or other lines contradict. ``line`` is 0 in a record that was not read."""

    file: str
    line: int
    what: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class _Finding:
    """A discrepancy, and where the replay was: in which round and at which of its events (both from 0; the event behind
    the last one is the scores), -1 where that has nothing to do with it."""

    line: int
    what: str
    expected: str
    round: int = -1
    event: int = -1


@dataclass(frozen=True, slots=True)
class _Choice:
    """A moment of a replay: the position before event number ``at``, and what may happen there."""

    at: int
    position: Round
    options: tuple[Event, ...]


# --------------------------------------------------------------------------------------------------- logic


def verify(record: GameRecord) -> Discrepancy | None:
    """The first line of a game that cannot be right; None for a game that can have been played so.

    A wrong line may come to light only by a later one. Where one event, put right, makes the whole game right, its line
    is named.
    """
    finding = _first(record)
    if record.commit and commitment(record.rules, record.nonce, record.deals) != record.commit:
        finding = _not_opened(record, finding)
    elif finding is not None and finding.event >= 0:
        finding = _blame(record, finding)
    return None if finding is None else Discrepancy(record.file, finding.line, finding.what, finding.expected)


def _first(record: GameRecord) -> _Finding | None:
    """The first discrepancy but for the commitment."""
    for index in range(len(record.rounds)):
        if (finding := _check_round(record, index)) is not None:
            return finding
    return _check_faults(record) or _check_result(record)


def _not_opened(record: GameRecord, finding: _Finding | None) -> _Finding:
    """The discrepancy of a game whose opening does not give its commitment; ``finding`` is what else was found."""
    where = record.lines.get("commit", 0)
    if finding is None or finding.round < 0:
        what = f"open: this and the deals are not what line {where} committed to"
        return _Finding(record.lines.get("open", 0), what, f"an opening whose SHA-256 is {record.commit}")
    what = f"deal: this is not what line {where} committed to, and line {finding.line} contradicts it ({finding.what})"
    return _Finding(record.rounds[finding.round].deal_line, what, "the deal that was played")


# ---------------------------------------------------------------------------------------------- one round


def _check_round(record: GameRecord, index: int) -> _Finding | None:
    rules, round = record.rules, record.rounds[index]
    hub = rules.hubs[index]
    if round.number != index + 1:
        return _Finding(round.line, f"round {round.number}", f"round {index + 1}", index)
    if round.hub != hub:
        return _Finding(round.line, f"hub {round.hub}", f"hub {hub}, as the hubs count down", index)
    if round.deal.hub != hub:
        return _Finding(round.deal_line, f"deal: hub {round.deal.hub}", f"hub {hub}, as the hubs count down", index)
    if rules.starter == "rotate":
        starter = (record.rounds[0].deal.starter + index) % rules.players
        if round.deal.starter != starter:
            what = f"deal: starter {round.deal.starter + 1}"
            return _Finding(round.deal_line, what, f"starter {starter + 1}, as the first turn goes round", index)
    try:
        replay = Round(rules, round.deal)
    except ValueError as error:
        return _Finding(round.deal_line, f"deal: {written(error)}", "a deal under these rules", index)
    if round.starter != replay.starter:
        why = "as that seat has the hub" if rules.starter == "holder" else f"as in line {round.deal_line}"
        return _Finding(round.line, f"starter {round.starter + 1}", f"starter {replay.starter + 1}, {why}", index)
    told = [entry.event for entry in round.events]
    agreeing = _follow(replay, told, 0)
    if agreeing < len(told):
        entry = round.events[agreeing]
        expected = _named(_possible(Round(rules, round.deal), told[:agreeing])) or "scores, as the round is over"
        return _Finding(entry.line, event_words(entry.event), expected, index, agreeing)
    return _check_ending(record, index, replay)


def _check_ending(record: GameRecord, index: int, replay: Round) -> _Finding | None:
    """The line ``scores`` of a round whose events are right; ``replay`` is where they lead."""
    round = record.rounds[index]
    line, count = round.scores_line, len(round.events)
    if len(replay.events) > count:
        return _Finding(line, "scores", event_words(replay.events[count]), index, count)
    if round.finished and not replay.over:
        return _Finding(line, "scores", _named(_events_of(replay)), index, count)
    if not round.finished and replay.over:
        return _Finding(line, "unfinished", "no such word, as the round is over", index)
    if not round.finished and index + 1 < len(record.rounds):
        return _Finding(line, "unfinished", "that only in the last round", index)
    if not round.finished and all(fault.round != index + 1 for fault in record.faults):
        return _Finding(line, "unfinished", f"a fault in round {index + 1}, which alone ends a game so", index)
    if round.blocked != replay.blocked:
        told, expected = ("blocked", "no such word") if round.blocked else ("no word blocked", "blocked")
        return _Finding(line, f"scores: {told}", f"{expected}, as the round ended", index, count)
    if round.scores != replay.scores:
        return _Finding(line, _row("scores", round.scores), _row("scores", replay.scores), index, count)
    return None


def _follow(replay: Round, told: Sequence[Event], at: int) -> int:
    """Plays what ``told`` says from event ``at`` on, as far as it can be played; how many events then agree."""
    try:
        for number in range(at, len(told)):
            kind, _, _, move = told[number]
            if move is not None:
                replay.apply(move)
            elif kind == "stop" and len(replay.events) <= number:  # else the chain has ended by itself
                replay.apply(STOP)
    except ValueError:
        pass  # the first event that differs says more
    real = replay.events
    if len(real) == len(told) and real == tuple(told):
        return len(told)
    for number, (is_told, is_real) in enumerate(zip(told, real, strict=False)):
        if is_told != is_real:
            return number
    return min(len(told), len(real))


def _possible(replay: Round, told: Sequence[Event]) -> tuple[Event, ...]:
    """What can happen after ``told``, which must be right; ``replay`` is at its start."""
    _follow(replay, told, 0)
    return replay.events[len(told) : len(told) + 1] or _events_of(replay)


def _events_of(position: Round) -> tuple[Event, ...]:
    """What the legal moves of a position become."""
    return tuple(
        Event("stop", position.turn) if move.tile is None else Event("play", position.turn, move.tile, move)
        for move in position.legal_moves()
    )


# -------------------------------------------------------------------------------------------- whole game


def _check_faults(record: GameRecord) -> _Finding | None:
    """Whether seats with a fault have as many events with a time as decisions before it, and none in later rounds."""
    if not record.faults:
        return None
    numbered = enumerate(record.rounds, 1)
    timed = [(number, e.event.seat) for number, round in numbered for e in round.events if e.time is not None]
    for fault in record.faults:
        if fault.round > len(record.rounds):
            return _Finding(fault.line, f"fault: round {fault.round}", f"1 to {len(record.rounds)}")
        if not timed:
            continue
        rounds = [number for number, seat in timed if seat == fault.seat]
        if len(rounds) != max(fault.decision - 1, 0):
            what = f"fault: decision {fault.decision} after {len(rounds)} events of seat {fault.seat + 1} with a time"
            return _Finding(fault.line, what, f"decision {len(rounds) + 1}")
        if rounds and rounds[-1] > fault.round:
            what = f"fault: round {fault.round}"
            return _Finding(fault.line, what, f"one from {rounds[-1]} on, where seat {fault.seat + 1} has a time")
    return None


def _check_result(record: GameRecord) -> _Finding | None:
    line = record.lines.get("result", 0)
    rows = [round.scores for round in record.rounds]
    if record.rounds[-1].finished and len(rows) < record.rules.rounds:
        return _Finding(line, f"result after {len(rows)} rounds", f"round {len(rows) + 1} of {record.rules.rounds}")
    totals = tuple(sum(column) for column in zip(*rows, strict=True))
    if record.totals != totals:
        return _Finding(line, _row("totals", record.totals), _row("totals", totals))
    places = final_places(rows, record.rules.players, {fault.seat for fault in record.faults})
    if record.places != places:
        return _Finding(line, _row("places", record.places), _row("places", places))
    return None


# ---------------------------------------------------------------------------- which line is the wrong one


def _blame(record: GameRecord, finding: _Finding) -> _Finding:
    """The line that is wrong, where ``finding`` is the one by which it shows."""
    others = (_check_round(record, index) for index in range(len(record.rounds)) if index != finding.round)
    if any(others) or _check_faults(record) or _check_result(record):
        return finding  # more is wrong than one event
    round = record.rounds[finding.round]
    told = [entry.event for entry in round.events]
    fixes = [
        (choice.at, option)
        for choice, option in _alternatives(Round(record.rules, round.deal), told, finding.event)
        if _fits(round, choice, told, option)
    ]
    if not fixes:
        return finding
    at = fixes[0][0]
    expected = _named([option for number, option in fixes if number == at])
    elsewhere = [f"{event_words(e)} in line {round.events[n].line}" for n, e in fixes if n != at][:_MOST_NAMED]
    what = finding.what
    if at < finding.event:
        what = f"{event_words(told[at])} does not lead to line {finding.line} ({finding.what})"
    return replace(finding, line=round.events[at].line, what=what, expected=" or ".join([expected, *elsewhere]))


def _alternatives(replay: Round, told: Sequence[Event], last: int) -> Iterator[tuple[_Choice, Event]]:
    """What else could have happened at event ``last`` and, going back from there, wherever there was a choice.

    The events of ``told`` before ``last`` must be right, and ``replay`` at its start. Ends early when the search takes
    too long.
    """
    choices = []
    for number, event in enumerate(told[:last]):
        if number == len(replay.events):  # otherwise it has happened by itself
            choices.append(_Choice(number, replay.copy(), _events_of(replay)))
            replay.apply(event.move or STOP)
    if last < len(told):
        choices.append(_Choice(last, replay, replay.events[last : last + 1] or _events_of(replay)))
    steps = 0
    for choice in reversed(choices):
        for option in choice.options:
            if option != told[choice.at]:
                steps += len(told) - choice.at
                if steps > _MOST_STEPS:
                    return
                yield choice, option


def _fits(round: RoundRecord, choice: _Choice, told: Sequence[Event], option: Event) -> bool:
    """Whether the rest of the round is right with ``option`` in the place of the event that is told."""
    trial = choice.position.copy()
    events = [*told[: choice.at], option, *told[choice.at + 1 :]]
    return (
        _follow(trial, events, choice.at) == len(events) == len(trial.events)
        and trial.over == round.finished
        and trial.blocked == round.blocked
        and trial.scores == round.scores
    )


# --------------------------------------------------------------------------------------------------- text


def _named(events: Sequence[Event]) -> str:
    """Events as people read alternatives."""
    texts = [event_words(event) for event in events[:_MOST_NAMED]]
    if len(events) > _MOST_NAMED:
        texts.append(f"{len(events) - _MOST_NAMED} other moves")
    return " or ".join(texts)


def _row(word: str, numbers: Sequence[int]) -> str:
    return " ".join([word, *map(str, numbers)])
