"""A recorded game as pictures: any moment of any of its rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from caboose.arena.viewer.draw import LogLine, Picture
from caboose.protocol.notation.lines import printable
from caboose.protocol.records.records import EventLine, GameRecord, PlayerRecord
from caboose.table.state import Replay, Scene
from caboose.table.wording import deal_words, event_words, situation_words

Hands = int | Literal["turn", "all", "none"]  # whose hands are shown: a seat's, that of the seat in turn, ...

_NAME: Final = 40  # characters of a name; who wrote the record may have made it of any length
WORDS: Final = 1200  # characters of what is told of a game or a player
_LOGGED: Final = 20  # events that a picture can have


class Shown:
    """A game as it is shown: its names, and its rounds played again when they are looked at.

    ``callings`` are the names as the words have them: where several are alike, with the seat.
    """

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        self.names = [
            printable(player.name, most=_NAME) or f"seat {seat}" for seat, player in enumerate(record.players, 1)
        ]
        self.callings = [
            name if self.names.count(name) == 1 else f"{name} {seat}" for seat, name in enumerate(self.names, 1)
        ]
        self._number = 0
        self._replay: Replay | None = None

    def replay(self, number: int) -> Replay:
        """Round ``number``, from 1."""
        if self._replay is None or self._number != number:
            round = self.record.rounds[number - 1]
            self._replay = Replay(self.record.rules, round.deal, [entry.event for entry in round.events])
            self._number = number
        return self._replay

    def totals(self, number: int) -> list[int]:
        """The points before round ``number``, by seat."""
        seats = range(self.record.rules.players)
        return [sum(round.scores[seat] for round in self.record.rounds[: number - 1]) for seat in seats]

    def is_last(self, number: int) -> bool:
        """Whether round ``number`` is the last one."""
        return number == len(self.record.rounds)

    def problem(self, number: int) -> str:
        """What is wrong with the events of round ``number``; empty when they follow the rules."""
        replay, round = self.replay(number), self.record.rounds[number - 1]
        if replay.problem:
            return f"Line {round.events[len(replay)].line} is against the rules: {replay.problem}"
        if round.finished and not replay.ended:
            return f"Line {round.scores_line}: the round is not over, expected more events"
        return ""

    def log(self, number: int, event: int, hands: Hands, most: int) -> list[LogLine]:
        """How round ``number`` came to its first ``event`` events: at ``most`` so many of the last ones, in words."""
        round, replay = self.record.rounds[number - 1], self.replay(number)
        first = max(0, event - most)
        scored = any(entry.score is not None for entry in round.events)
        lines = []
        if first == 0:
            lines.append(LogLine(0, "", deal_words(replay.scene(0), self.callings)))
            lines += [
                LogLine(
                    0,
                    self.callings[fault.seat],
                    f"fails in this round: {printable(fault.detail, most=WORDS) or fault.kind}",
                )
                for fault in self.record.faults
                if fault.round == number
            ]
        before = replay.scene(first)
        for index in range(first, event):
            happened, after = replay.events[index], replay.scene(index + 1)
            what = event_words(happened, before, after, self.callings, seen=sees(hands, happened.seat))
            lines.append(LogLine(index + 1, self.callings[happened.seat], what, note(round.events[index], scored)))
            before = after
        return lines

    def situation(self, number: int, event: int, scene: Scene) -> str:
        """What is to be done after ``event`` events of round ``number``, or what came out."""
        replay = self.replay(number)
        if event == len(replay) and not replay.ended:
            return self.problem(number) or "The game ended here, in the middle of the round"
        words = situation_words(scene, self.callings, hand=scene.turn in scene.hands)
        if scene.over and self.is_last(number):
            winners = [name for name, place in zip(self.callings, self.record.places, strict=True) if place == 1]
            words += f". {' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'} the game"
        return words


def note(entry: EventLine, scored: bool) -> str:
    """Time and score of an event, as far as they were written down; ``scored`` keeps a column for the score."""
    time = "" if entry.time is None else f"{entry.time:.{int(entry.time < 10)}f} ms"
    score = "" if entry.score is None else f"{entry.score:+.1f}"
    return f"{time}{score:>8}" if scored and (time or score) else time


def sees(hands: Hands, seat: int) -> bool:
    """Whether what ``seat`` draws may be told."""
    return hands in ("all", "turn", seat)


def seats_shown(hands: Hands, scene: Scene) -> frozenset[int]:
    """The seats whose hands are to be seen."""
    if hands == "all":
        return frozenset(range(scene.rules.players))
    if hands == "turn":
        return frozenset({scene.turn} - {-1})
    return frozenset() if hands == "none" else frozenset({hands})


def picture_of(shown: Shown, number: int, event: int, hands: Hands, most: int = _LOGGED) -> Picture:
    """The picture of round ``number`` after ``event`` events, without title, place and keys."""
    replay = shown.replay(number)
    scene = replay.scene(event)
    seats = seats_shown(hands, scene)
    visible = replace(
        scene,
        hands={seat: hand for seat, hand in scene.hands.items() if seat in seats},
        moves=scene.moves if scene.turn in seats else (),
    )
    last = replay.events[event - 1] if event else None
    hub = f"hub {scene.hub}-{scene.hub}"
    return Picture(
        scene=visible,
        names=shown.names,
        callings=shown.callings,
        totals=shown.totals(number),
        shown=seats,
        round=f"Round {number} of {shown.record.rules.rounds}, {hub}, {scene.boneyard} in the boneyard",
        progress=event / max(1, len(replay)),
        situation=shown.situation(number, event, visible),
        log=shown.log(number, event, hands, most),
        newest=last.tile if last is not None and last.kind == "play" else None,
    )


def player_words(player: PlayerRecord) -> str:
    """A player and what is told of it."""
    fields = printable(", ".join(f"{key} {text}" for key, text in player.fields), most=WORDS)
    return printable(player.name, most=_NAME) + (f" ({fields})" if fields else "")


def game_title(record: GameRecord) -> str:
    """What a game is called: its event, or else its rules."""
    rules = record.rules
    return printable(record.event, most=WORDS) or f"{rules.preset}, {rules.players} players, double-{rules.set}"
