"""A recorded game as plain text, for where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from caboose.arena.viewer.draw import ASCII, MONOCHROME, Pen, draw, log_lines, wrapped
from caboose.arena.viewer.replay import WORDS, Hands, Shown, game_title, picture_of, player_words
from caboose.protocol.notation.lines import printable

_EVENTS: Final = 5  # that stand below a single picture


def picture_text(shown: Shown, number: int, event: int, hands: Hands, width: int) -> Iterator[str]:
    """The table of round ``number`` after ``event`` events, as lines."""
    picture = picture_of(shown, number, event, hands, _EVENTS)
    place = f"event {event} of {len(shown.replay(number))}"
    for line in draw(replace(picture, title=game_title(shown.record), place=place), _pen(width)):
        yield line.plain.rstrip()


def game_text(shown: Shown, numbers: range, hands: Hands, width: int) -> Iterator[str]:
    """The rounds ``numbers`` of a game: how each was dealt, all events in words, how the table looked at its end."""
    if hands == "turn":
        hands = "all"
    yield from _heading(shown, width)
    for number in numbers:
        events = len(shown.replay(number))
        log = shown.log(number, events, hands, events)
        yield ""
        dealt = picture_of(shown, number, 0, hands)
        for line in draw(replace(dealt, log=(), scene=replace(dealt.scene, moves=())), _pen(width)):
            yield line.plain.rstrip()
        yield ""
        for line in log_lines(log, shown.callings, _pen(width)):
            yield line.plain.rstrip()
        yield ""
        for line in draw(replace(picture_of(shown, number, events, hands), log=()), _pen(width)):
            yield line.plain.rstrip()


def _heading(shown: Shown, width: int) -> Iterator[str]:
    """Who played, when, by which rules."""
    record = shown.record
    parts = [
        game_title(record),
        printable(record.date, most=WORDS),
        printable(record.control, most=WORDS),
        str(record.rules),
    ]
    parts += [f"seat {seat}: {player_words(player)}" for seat, player in enumerate(record.players, 1)]
    for part in filter(None, parts):
        for line in wrapped(part, width - 1):
            yield f" {line.plain}"


def _pen(width: int) -> Pen:
    return Pen(width, ASCII, MONOCHROME)
