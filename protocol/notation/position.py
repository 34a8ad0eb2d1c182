"""Positions as text: a round in progress with all that is hidden, as its deal and what has happened since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from caboose.engine.rules.deal import deal_of
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event, Round
from caboose.protocol.notation.deal import DEAL_WORDS, deal_text, read_deal
from caboose.protocol.notation.scanner import NotationError, Word, located, read_word, scan, single_sections
from caboose.protocol.notation.words import EVENT_FORMS, WordError, event_text, parse_event, parse_move, parse_rules

_POSITION_WORDS: Final = ("rules", *DEAL_WORDS, "events")


def position_text(round: Round) -> str:
    """Three lines: the rules, the deal, the events with the tiles that were drawn."""
    rules = round.rules
    events = " ".join(["events", *map(event_text, round.events)])
    return f"rules {rules}\n{deal_text(rules, deal_of(round))}\n{events}"


def parse_position(text: str) -> Round:
    """The round that ``text`` writes, with all of its events.

    What happens by itself (draws, passes, markers, the hub's laying down, the end of a chain that cannot go on) may be
    left out of the events, and so may the seat before a move. Raises ``NotationError``.
    """
    groups = single_sections(scan(text), _POSITION_WORDS, optional=("events",))
    try:
        rules = parse_rules(groups["rules"][1:])
    except ValueError as error:
        raise located(error, groups["rules"][-1], "rules that can be played") from None
    round = Round(rules, read_deal(rules, groups))
    _replay(round, groups.get("events", [])[1:])
    return round


def _replay(round: Round, words: Sequence[Word]) -> None:
    """Plays what the words tell. Raises ``NotationError`` at the first that does not happen."""
    told = 0  # the events of the round before this one were told or left out
    for word in words:
        given = read_word(_parse_event_or_move, word, "an event or a move")
        happened = round.events[told:]
        by_itself = [number for number, event in enumerate(happened, told + 1) if _tells(given, event)]
        if by_itself:
            told = by_itself[0]
            continue
        move = given if isinstance(given, Move) else STOP if given.kind == "stop" else given.move
        legal = round.legal_moves()
        turn = isinstance(given, Move) or given.seat == round.turn
        if move is None or move not in legal or not turn:
            raise _impossible(round, word, happened)
        told += len(happened) + 1
        round.apply(move)


def _parse_event_or_move(text: str) -> Event | Move:
    if ":" in text:
        return parse_event(text)
    if "@" in text or text == "stop":
        return parse_move(text)
    raise WordError(f"{text[:40]!r} is not an event: expected {EVENT_FORMS}", text)


def _tells(given: Event | Move, event: Event) -> bool:
    """Whether what the text gives is this event, which happened by itself."""
    if isinstance(given, Move):
        return given is STOP and event.kind == "stop"
    return given in (event, Event("draw", event.seat)) if event.kind == "draw" else given == event


def _impossible(round: Round, word: Word, happened: Sequence[Event]) -> NotationError:
    possible = [*map(event_text, happened[:1]), *[f"{round.turn + 1}:{move}" for move in round.legal_moves()]]
    expected = f"one of {' '.join(possible)}" if possible else "nothing more, as the round is over"
    return word.refused(f"{word} cannot happen here", expected)
