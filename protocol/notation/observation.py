"""Observations as text: all that one seat may know, complete enough for an engine started this second.

What is written (``caboose.protocol.notation.observation_writer``) comes from an ``Observation``, which holds nothing
hidden, so nothing hidden can be written. What is read is checked twice: each line by itself when it comes, and all of
them together, against the events and the rules, when the observation is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from caboose.engine.rules.blanks import words_of
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Event, Observation, OpenDouble
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.seats import written
from caboose.engine.rules.tiles import MEXICAN, Tile, train_name
from caboose.protocol.notation.lines import ProtocolError, shown
from caboose.protocol.notation.observation_writer import observation_bytes
from caboose.protocol.notation.words import (
    WordError,
    parse_each,
    parse_event,
    parse_move,
    parse_number,
    parse_pip_count,
    parse_rules,
    parse_seat,
    parse_tile,
    parse_train,
)

_YES_NO: Final = {"yes": True, "no": False}

_T = TypeVar("_T")
TrainLine = tuple[int, bool, tuple[int, ...]]  # how many tiles, a marker, the open ends


# --- writing -----------------------------------------------------------------------------------------------------


def observation_lines(observation: Observation) -> list[str]:
    """The lines that tell an engine what ``observation`` holds, in the order of ``docs/reference/protocol.md``.

    ``legal`` is among them when the observer is to move.
    """
    return observation_bytes(observation).decode("ascii").splitlines()


# --- reading -----------------------------------------------------------------------------------------------------


class ObservationReader:
    """Collects the lines of an observation, in any order, and makes an ``Observation`` of them."""

    __slots__ = (
        "_boneyard", "_broken", "_doubles", "_events", "_given", "_hand", "_hands",
        "_legal", "_round", "_rules", "_scores", "_seat", "_trains",
    )  # fmt: skip

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self._rules: Rules | None = None
        self._seat: int | None = None
        self._round: tuple[int, int, int] | None = None  # number, hub, starter
        self._scores: list[tuple[int, ...]] = []
        self._events: list[Event] = []
        self._hand: list[Tile] | None = None
        self._hands: list[int] | None = None
        self._boneyard: int | None = None
        self._trains: dict[int, TrainLine] = {}
        self._doubles: list[tuple[int, int, int]] | None = None
        self._legal: list[Move] | None = None
        self._broken: set[str] = set()  # the words of lines that were refused
        self._given: dict[str, Sequence[str]] = {}  # the words that are in force, for errors to point at

    def feed(self, line: str) -> None:
        """Takes one line. Raises ``ProtocolError``; what came before stays, but a refused line must come again."""
        words = words_of(line)
        if not words or words[0] not in _READERS:
            raise ProtocolError(f"{shown(line)}: expected a line that begins with one of {', '.join(_READERS)}")
        self.take(words)

    def take(self, words: Sequence[str]) -> None:
        """Takes a line in words, the first of ``OBSERVATION_WORDS``; otherwise like ``feed``."""
        word = words[0]
        try:
            _READERS[word](self, words[1:])
        except ValueError as error:
            self._broken.add(word)
            at = error.word if isinstance(error, ProtocolError) else ""
            raise ProtocolError(f"{word}: {error}", at or word) from None
        self._broken.discard(word)
        if word == "scores":
            self._given[word] = [*self._given.get(word, ()), word]
        elif word == "events":
            self._given[word] = [*self._given.get(word, (word,)), *words[1:]]
        elif word == "train":
            self._given[f"train {train_name(parse_train(words[1]))}"] = words
        else:
            self._given[word] = words

    def observation(self) -> Observation:
        """The observation that the lines tell. Raises ``ProtocolError`` where they do not fit together."""
        for word in sorted(self._broken):
            raise ProtocolError(f"{word}: this line was refused, expected it again")
        if self._rules is None:
            raise _missing("rules")
        if self._seat is None:
            raise _missing("seat")
        if self._round is None:
            raise _missing("round")
        if self._hand is None:
            raise _missing("hand")
        number, hub, starter = self._round
        players = self._rules.players
        if self._seat >= players:
            raise self._refused("seat", 1, f"seat: {self._seat + 1}, expected 1 to {players} under these rules")
        if len(self._scores) != number - 1:
            found = f"scores: {len(self._scores)} lines"
            raise self._refused("round", 1, f"{found}, expected {number - 1}: one for each round before round {number}")
        for entry, event in enumerate(self._events, 1):
            if event.kind == "draw" and event.tile is not None and event.seat != self._seat:
                raise self._refused(
                    "events",
                    entry,
                    f"events: event {entry}: seat {self._seat + 1} cannot know what seat {event.seat + 1} draws, "
                    f"expected {event.seat + 1}:draw",
                )
        try:
            observation = Observation.replay(
                self._rules, hub, self._seat, starter, self._hand, self._events, self._scores
            )
        except ValueError as error:
            raise self._refused(*_naming_the_line(written(error))) from None
        self._check(observation)
        return observation

    def _refused(self, key: str, index: int, text: str) -> ProtocolError:
        """An error that points at a word of a line: the one after ``index`` others, or the last one."""
        words = self._given.get(key, ("",))
        return ProtocolError(text, words[min(index, len(words) - 1)])

    def _agree(self, key: str, given: _T, told: _T, text: Callable[[_T], str]) -> None:
        if given != told:
            error = f"{key}: {text(given)}, expected {text(told) or 'nothing'} after these events"
            raise self._refused(key, 1 if key.startswith("train ") else 0, error)

    def _check(self, observation: Observation) -> None:
        """Whether the lines that only repeat what the events tell agree with them."""
        if self._hands is not None:
            self._agree("hands", tuple(self._hands), observation.hand_sizes, lambda sizes: " ".join(map(str, sizes)))
        if self._boneyard is not None:
            self._agree("boneyard", self._boneyard, observation.boneyard_size, str)
        if self._trains:
            trains = _trains(observation)
            for train, given in self._trains.items():
                if train not in trains:
                    error = f"train: {train_name(train)}, expected 1 to {len(trains) - 1} or M"
                    raise self._refused(f"train {train_name(train)}", 1, error)
                self._agree(f"train {train_name(train)}", given, trains[train], _train_text)
        if self._doubles is not None:
            given_doubles = " ".join(_double_text(OpenDouble(*double)) for double in self._doubles)
            self._agree("doubles", given_doubles, " ".join(map(_double_text, observation.open_doubles)), str)
        if self._legal is not None:
            self._check_legal(self._legal, observation)

    def _check_legal(self, given: list[Move], observation: Observation) -> None:
        try:
            legal = observation.legal_moves()
        except ValueError as error:
            raise self._refused("legal", 0, f"legal: {written(error)}") from None
        expected = " ".join(map(str, legal))
        for number, move in enumerate(given, 1):
            if move not in legal:
                wrong = f"legal: move {number}: {move} is not legal, expected {expected}"
                raise self._refused("legal", number, wrong)
            if given.index(move) != number - 1:
                raise self._refused("legal", number, f"legal: move {number}: {move} is given twice")
        for move in legal:
            if move not in given:
                raise self._refused("legal", 0, f"legal: {move} is legal too, expected {expected}")

    # One reader for each line; each takes the words after the first and raises ValueError.

    def _read_observation(self, words: Sequence[str]) -> None:
        _nothing_more(words)
        self.clear()

    def _read_rules(self, words: Sequence[str]) -> None:
        self._rules = parse_rules(words)

    def _read_seat(self, words: Sequence[str]) -> None:
        self._seat = parse_seat(_only(words, "a seat"))

    def _read_round(self, words: Sequence[str]) -> None:
        if len(words) != 5 or words[1] != "hub" or words[3] != "starter":
            raise ValueError(f"{shown(' '.join(words))}, expected NUMBER hub PIPS starter SEAT")
        self._round = parse_number(words[0], 1), parse_pip_count(words[2]), parse_seat(words[4])

    def _read_scores(self, words: Sequence[str]) -> None:
        self._scores.append(tuple(parse_each(parse_number, words, "score")))

    def _read_events(self, words: Sequence[str]) -> None:
        self._events += parse_each(parse_event, words, "event", len(self._events) + 1)

    def _read_hand(self, words: Sequence[str]) -> None:
        self._hand = parse_each(parse_tile, words, "tile")

    def _read_hands(self, words: Sequence[str]) -> None:
        self._hands = parse_each(parse_number, words, "count")

    def _read_boneyard(self, words: Sequence[str]) -> None:
        self._boneyard = parse_number(_only(words, "a number"))

    def _read_train(self, words: Sequence[str]) -> None:
        named = len(words) >= 7 and words[1] == "tiles" and words[3] == "marker" and words[5] == "ends"
        if not named or words[4] not in _YES_NO:
            raise ValueError(f"{shown(' '.join(words))}, expected TRAIN tiles COUNT marker yes|no ends PIPS ...")
        ends = tuple(sorted(parse_each(parse_pip_count, words[6:], "end")))
        self._trains[parse_train(words[0])] = parse_number(words[2]), _YES_NO[words[4]], ends

    def _read_doubles(self, words: Sequence[str]) -> None:
        self._doubles = parse_each(_parse_double, words, "double")

    def _read_legal(self, words: Sequence[str]) -> None:
        self._legal = parse_each(parse_move, words, "move")


_READERS: Final[Mapping[str, Callable[[ObservationReader, Sequence[str]], None]]] = {
    "observation": ObservationReader._read_observation,
    "rules": ObservationReader._read_rules,
    "seat": ObservationReader._read_seat,
    "round": ObservationReader._read_round,
    "scores": ObservationReader._read_scores,
    "events": ObservationReader._read_events,
    "hand": ObservationReader._read_hand,
    "hands": ObservationReader._read_hands,
    "boneyard": ObservationReader._read_boneyard,
    "train": ObservationReader._read_train,
    "doubles": ObservationReader._read_doubles,
    "legal": ObservationReader._read_legal,
}
OBSERVATION_WORDS: Final = frozenset(_READERS)


def _parse_double(text: str) -> tuple[int, int, int]:
    parts = text.split(":")
    if len(parts) != 3:
        raise ValueError(f"{shown(text)}, expected TRAIN:PIPS:NEED")
    return parse_train(parts[0]), parse_pip_count(parts[1]), parse_number(parts[2], 1)


def _only(words: Sequence[str], what: str) -> str:
    if len(words) != 1:
        raise WordError(f"{len(words)} words, expected {what} and nothing more", words[1] if words else "")
    return words[0]


def _nothing_more(words: Sequence[str]) -> None:
    if words:
        raise WordError(f"{shown(words[0])}, expected nothing after this word", words[0])


def _missing(word: str) -> ProtocolError:
    return ProtocolError(f"{word}: there is no such line, expected at least rules, seat, round and hand")


def _double_text(double: OpenDouble) -> str:
    return f"{train_name(double.train)}:{double.pips}:{double.need}"


def _trains(observation: Observation) -> dict[int, TrainLine]:
    """What a ``train`` line says, for each train."""
    built = observation.trains
    markers = [*observation.markers, False]
    return {
        train: (len(built.get(train, ())), marker, observation.ends(train))
        for train, marker in zip([*range(observation.rules.players), MEXICAN], markers, strict=True)
    }


def _train_text(train: TrainLine) -> str:
    tiles, marker, ends = train
    return f"tiles {tiles} marker {'yes' if marker else 'no'} ends {' '.join(map(str, ends))}"


def _naming_the_line(error: str) -> tuple[str, int, str]:
    """The engine's error with the word of the line in front that it is about, and which of its words that is."""
    if error.startswith("event "):
        return "events", int(error.split()[1].rstrip(":")), f"events: {error}"
    if error.startswith("scores of round "):
        return "scores", int(error.split()[3].rstrip(":")) - 1, f"scores: {error}"
    for start, word, index in (("hub ", "round", 3), ("starter ", "round", 5)):
        if error.startswith(start):
            return word, index, f"{word}: {error}"
    if error.startswith("hand:"):
        return "hand", 0, error
    return "events", -1, error if error.startswith("events:") else f"events: {error}"
