"""Stepping through the games of a file: where one is, what a key does, what is then seen. It knows no terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from caboose.arena.console.console import Text
from caboose.arena.errors import CallError
from caboose.arena.viewer.draw import Pen, draw, wrapped
from caboose.arena.viewer.help import help_lines
from caboose.arena.viewer.record_index import RecordFile
from caboose.arena.viewer.replay import Hands, Shown, game_title, picture_of
from caboose.protocol.notation.lines import printable
from caboose.protocol.records.records import GameRecord, RecordError

PACES: Final = (4.0, 2.0, 1.0, 0.5, 0.25, 0.1)  # seconds for an event when the game plays by itself
_FIRST_PACE: Final = 2

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Place:
    """Where one is: game and round from 1, and how many events of the round have happened."""

    game: int = 1
    round: int = 1
    event: int = 0


class Binding(NamedTuple):
    """What some keys do. Keys are characters or the names that ``terminal`` gives them."""

    keys: tuple[str, ...]
    action: Callable[[Viewer], None]


class Viewer:
    """Somebody who looks at the games of ``file``.

    ``done`` is set when it is over; ``pace`` is None, or in how many seconds ``tick`` is to be called if no key comes.
    Raises ``CallError`` for a place that is not there.
    """

    def __init__(self, file: RecordFile, place: Place, hands: Hands = "turn") -> None:
        self._file = file
        self._shown = self._load(place.game)
        self._place = Place(place.game)
        self._hands: Hands = "turn"
        if isinstance(self._shown, Shown):
            self._place = checked_place(self._shown, place)
            self._hands = checked_hands(self._shown, hands)
        self._speed = _FIRST_PACE
        self._playing = False
        self._helping = False
        self._message = ""
        self.done = False

    # --- what is to be seen ---

    @property
    def pace(self) -> float | None:
        return PACES[self._speed] if self._playing else None

    def lines(self, pen: Pen, height: int) -> list[Text]:
        """The screen: ``height`` lines that fit the pen's width."""
        if self._helping:
            return help_lines(pen, height)
        keys = self._message or _keys_line(pen)
        if isinstance(self._shown, RecordError):
            text = f"Game {self._place.game} cannot be read. {printable(str(self._shown))}"
            lines = wrapped(text, pen.width) + [Text()] * height
            return [*lines[: height - 1], Text(keys[: pen.width])]
        place = self._place
        total = len(self._shown.replay(place.round))
        playing = f"{pen.glyphs.turn} {PACES[self._speed]:g} s  " if self._playing else ""
        picture = replace(
            picture_of(self._shown, place.round, place.event, self._hands),
            title=game_title(self._shown.record),
            corner=f"game {place.game}{self._of_games()}",
            place=f"{playing}event {place.event} of {total}",
            keys=keys,
        )
        return draw(picture, pen, height)

    def _of_games(self) -> str:
        """How many games there are, where that is known."""
        return f" of {self._file.found}" if self._file.complete else ""

    # --- what happens ---

    def press(self, key: str) -> None:
        """Does what ``key`` means; other keys do nothing."""
        self._message = ""
        if self._helping:
            self._helping = False
            return
        binding = _BY_KEY.get(key)
        if binding is not None:
            if key not in _GOES_ON:
                self._playing = False
            binding.action(self)
        elif key in "123456789" and isinstance(self._shown, Shown) and int(key) <= len(self._shown.names):
            self._hands = int(key) - 1

    def tick(self) -> None:
        """Goes on by an event, as the game plays by itself."""
        before = self._place
        self.next_event()
        self._playing = self._place != before

    def next_event(self) -> None:
        self._step(lambda event, total, turns: event + 1)

    def previous_event(self) -> None:
        self._step(lambda event, total, turns: event - 1)

    def next_turn(self) -> None:
        self._step(lambda event, total, turns: next((turn for turn in turns if turn > event), total + 1))

    def previous_turn(self) -> None:
        self._step(lambda event, total, turns: next((turn for turn in reversed(turns) if turn < event), -1))

    def _step(self, to: Callable[[int, int, Sequence[int]], int]) -> None:
        """Goes to the event that ``to`` says; what lies outside the round is the next or the last one."""
        if not isinstance(self._shown, Shown):
            return
        place = self._place
        replay = self._shown.replay(place.round)
        event = to(place.event, len(replay), replay.turns())
        if 0 <= event <= len(replay):
            self._place = replace(place, event=event)
        elif event < 0:
            if place.round == 1:
                self._message = "This is the beginning of the game."
            else:
                number = place.round - 1
                self._place = replace(place, round=number, event=len(self._shown.replay(number)))
        elif self._shown.is_last(place.round):
            self._message = "This is the end of the game; n goes to the next one."
        else:
            self._place = replace(place, round=place.round + 1, event=0)

    def next_round(self) -> None:
        self._go_to_round(self._place.round + 1)

    def previous_round(self) -> None:
        # As with songs: first to the beginning of this one.
        self._go_to_round(self._place.round - (self._place.event == 0))

    def _go_to_round(self, number: int) -> None:
        if isinstance(self._shown, Shown):
            last = len(self._shown.record.rounds)
            self._place = replace(self._place, round=min(max(number, 1), last), event=0)
            if number != self._place.round:
                self._message = f"This is the {'last' if number > 1 else 'first'} round."

    def to_start(self) -> None:
        place = self._place
        self._place = replace(place, event=0) if place.event else replace(place, round=1)

    def to_end(self) -> None:
        if isinstance(self._shown, Shown):
            place = self._place
            number = place.round
            if place.event == len(self._shown.replay(number)):
                number = len(self._shown.record.rounds)
            self._place = replace(place, round=number, event=len(self._shown.replay(number)))

    def next_game(self) -> None:
        self._go_to_game(self._place.game + 1)

    def previous_game(self) -> None:
        self._go_to_game(self._place.game - 1)

    def _go_to_game(self, number: int) -> None:
        if self._file.has(number):
            self._shown = self._load(number)
            self._place = Place(number)
        else:
            self._message = f"This is the {'last' if number > 1 else 'first'} game."

    def _load(self, number: int) -> Shown | RecordError:
        record = self._file.game(number)
        return Shown(record) if isinstance(record, GameRecord) else record

    def all_hands(self) -> None:
        self._hands = "turn" if self._hands == "all" else "all"

    def no_hands(self) -> None:
        self._hands = "turn" if self._hands == "none" else "none"

    def next_hand(self) -> None:
        self._turn_hands(1)

    def previous_hand(self) -> None:
        self._turn_hands(-1)

    def _turn_hands(self, by: int) -> None:
        """The hand of the next seat; after the last one comes that of the seat in turn."""
        if isinstance(self._shown, Shown):
            players = len(self._shown.names)
            now = self._hands if isinstance(self._hands, int) else -1
            seat = (now + 1 + by) % (players + 1) - 1
            self._hands = seat if seat >= 0 else "turn"

    def play(self) -> None:
        self._playing = not self._playing

    def faster(self) -> None:
        self._speed = min(self._speed + 1, len(PACES) - 1)

    def slower(self) -> None:
        self._speed = max(self._speed - 1, 0)

    def help(self) -> None:
        self._helping = True

    def quit(self) -> None:
        self.done = True


# ---------------------------------------------------------------------------------------------------- the keys

BINDINGS: Final = (
    Binding(("right", "l", "enter"), Viewer.next_event),
    Binding(("left", "h", "backspace"), Viewer.previous_event),
    Binding(("down", "j"), Viewer.next_turn),
    Binding(("up", "k"), Viewer.previous_turn),
    Binding(("page down", "r"), Viewer.next_round),
    Binding(("page up", "R"), Viewer.previous_round),
    Binding(("n", ">"), Viewer.next_game),
    Binding(("p", "<"), Viewer.previous_game),
    Binding(("home", "g"), Viewer.to_start),
    Binding(("end", "G"), Viewer.to_end),
    Binding(("space",), Viewer.play),
    Binding(("+", "="), Viewer.faster),
    Binding(("-",), Viewer.slower),
    Binding(("a",), Viewer.all_hands),
    Binding(("s",), Viewer.next_hand),
    Binding(("S",), Viewer.previous_hand),
    Binding(("x",), Viewer.no_hands),
    Binding(("?",), Viewer.help),
    Binding(("q", "escape"), Viewer.quit),
)
_BY_KEY: Final[Mapping[str, Binding]] = {key: binding for binding in BINDINGS for key in binding.keys}

# What does not stop a game that plays by itself: all that does not go to another place.
_GOES_ON: Final = frozenset({"space", "+", "=", "-", "a", "s", "S", "x"})


def _keys_line(pen: Pen) -> str:
    arrows = f"{pen.glyphs.across} event  {pen.glyphs.upright} turn"
    return f"{arrows}  rR round  np game  space play  asx hands  ? help  q quit"


def checked_place(shown: Shown, place: Place) -> Place:
    """``place``, which must be in the game. Raises ``CallError``."""
    rounds = len(shown.record.rounds)
    if not 1 <= place.round <= rounds:
        raise CallError(f"--round {place.round}: expected 1 to {rounds} in game {place.game}")
    events = len(shown.replay(place.round))
    if not 0 <= place.event <= events:
        raise CallError(f"--event {place.event}: expected 0 to {events} in round {place.round} of game {place.game}")
    return place


def checked_hands(shown: Shown, hands: Hands) -> Hands:
    """``hands``, where a seat must be one of the game. Raises ``CallError``."""
    players = len(shown.names)
    if isinstance(hands, int) and not 0 <= hands < players:
        raise CallError(f"--seat {hands + 1}: expected 1 to {players}")
    return hands
