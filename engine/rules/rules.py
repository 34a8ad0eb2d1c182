"""The rules of a game: three presets and every option, in one immutable value.

``Rules`` is the only place where presets and options live. A value that exists is a playable one: every
combination that makes no sense is refused when the value is made, with the reason and what is allowed.
The meaning of each option is in ``docs/reference/rules.md``.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple

from caboose.engine.rules.blanks import words_of

SETS: Final = (6, 9, 12, 15, 18)
MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 14

# option: (allowed values, meaning). Options with numbers of any size are checked in __post_init__.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "hub": ("dealt", "placed"),
    "starter": ("holder", "lot", "rotate"),
    "first_turn": ("chain", "single"),
    "first_turn_draw": ("yes", "no"),
    "first_turn_finish": ("all", "now"),
    "first_turn_places": ("own", "any"),
    "double_answer": ("anywhere", "own", "chickenfoot"),
    "doubles_order": ("fifo", "lifo"),
    "extra_after_doubles": ("anywhere", "first"),
    "dead_double": ("release", "hold"),
}
BLANKS: Final = (0, 25, 50)

MEANINGS: Final[Mapping[str, str]] = {
    "players": "how many sit at the table",
    "set": "the highest double of the set: 12 means double-12",
    "hand": "tiles dealt to each player",
    "hub": "dealt: its holder lays it down; placed: it lies in the middle before the deal",
    "starter": "who plays first: the holder of the hub, by lot, or by lot and then the next seat each round",
    "first_turn": "chain: any number of tiles on the own train; single: one tile, as on later turns",
    "first_turn_draw": "who cannot start on the first turn draws a tile (yes), or is marked at once (no)",
    "first_turn_finish": "somebody goes out on the first turn: all get theirs, or the round ends now",
    "first_turn_places": "where a first turn may play: only the own train, or any train that is open",
    "double_answer": "a new double: play on anywhere; answer it first (own); three tiles on it (chickenfoot)",
    "doubles_order": "which of several open doubles comes first: the oldest (fifo) or the newest (lifo)",
    "extra_after_doubles": "the tile that ends a turn with two or more doubles: anywhere, or on the first open double",
    "dead_double": "an open double that nobody can ever satisfy: released, or binding to the end",
    "blank": "what 0-0 counts in a hand",
    "rounds": "how many rounds of the countdown are played",
}

_ALIASES: Final = {"engine": "hub"}  # the rule sheets' word for the hub


class Partner(NamedTuple):
    """A value of one option that makes sense beside one value of another only: set alone it takes that one along."""

    option: str
    value: str
    other: str
    wanted: str
    why: str

    def __str__(self) -> str:
        return f"{self.option}={self.value} takes {self.other}={self.wanted} along: {self.why}"


PARTNERS: Final = (
    Partner("first_turn", "chain", "first_turn_places", "own", "a chain lies on the own train"),
    Partner("first_turn_places", "any", "first_turn", "single", "a chain lies on the own train"),
    Partner("starter", "holder", "hub", "dealt", "a placed hub is in nobody's hand"),
)

_PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "classic": {
        "hub": "dealt",
        "starter": "holder",
        "first_turn": "chain",
        "first_turn_draw": "no",
        "first_turn_finish": "all",
        "first_turn_places": "own",
        "double_answer": "anywhere",
        "doubles_order": "fifo",
        "extra_after_doubles": "anywhere",
        "dead_double": "release",
        "blank": 50,
    },
    "tournament": {
        "hub": "placed",
        "starter": "lot",
        "first_turn": "chain",
        "first_turn_draw": "yes",
        "first_turn_finish": "now",
        "first_turn_places": "own",
        "double_answer": "anywhere",
        "doubles_order": "fifo",
        "extra_after_doubles": "anywhere",
        "dead_double": "release",
        "blank": 0,
    },
    "family": {
        "hub": "placed",
        "starter": "rotate",
        "first_turn": "single",
        "first_turn_draw": "yes",
        "first_turn_finish": "now",
        "first_turn_places": "any",
        "double_answer": "anywhere",
        "doubles_order": "fifo",
        "extra_after_doubles": "first",
        "dead_double": "release",
        "blank": 50,
    },
}
PRESETS: Final = tuple(_PRESETS)
_PRESET_PLAYERS: Final = {"classic": (2, 14), "tournament": (2, 14), "family": (2, 12)}

# preset: {players: {set: hand}}; the first set of a row is the default for that many players.
_HANDS: Final[Mapping[str, Mapping[int, Mapping[int, int]]]] = {
    "classic": {
        2: {9: 15, 6: 7},
        3: {9: 15, 6: 7},
        4: {12: 15, 6: 7},
        **{n: {12: 12} for n in (5, 6)},
        **{n: {12: 11} for n in (7, 8)},
        **{n: {15: 11} for n in (9, 10, 11, 12)},
        **{n: {18: 11} for n in (13, 14)},
    },
    "tournament": {
        **{n: {9: 8} for n in (2, 3)},
        **{n: {12: 12} for n in (4, 5, 6)},
        **{n: {12: 10} for n in (7, 8)},
        **{n: {15: 11} for n in (9, 10, 11, 12)},
        **{n: {18: 11} for n in (13, 14)},
    },
    "family": {
        2: {12: 16, 9: 15},
        3: {12: 16, 9: 13},
        4: {12: 15, 9: 10},
        5: {12: 14},
        6: {12: 12},
        7: {12: 10},
        8: {12: 9},
        **{n: {15: 11, 18: 11} for n in (9, 10, 11, 12)},
    },
}


class RulesError(ValueError):
    """A rule option that does not exist, a bad value, or options that make no sense together."""


def tiles_in_set(top: int) -> int:
    """How many tiles a double-``top`` set has: (top+1)(top+2)/2."""
    return (top + 1) * (top + 2) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All that decides how a game is played. Make one with ``Rules.of``; ``docs/reference/rules.md`` says what it
    means.

    ``set`` is the highest double (6, 9, 12, 15 or 18), ``hand`` the tiles dealt to each of ``players``
    (2–14), ``blank`` the points for 0-0 in hand (0, 25 or 50), ``rounds`` the number of rounds of the
    countdown (1 to set + 1). The other options are words; ``CHOICES`` lists them.

    Raises ``RulesError`` when a value is bad or the combination cannot be played.
    """

    preset: str
    players: int
    set: int
    hand: int
    hub: str
    starter: str
    first_turn: str
    first_turn_draw: str
    first_turn_finish: str
    first_turn_places: str
    double_answer: str
    doubles_order: str
    extra_after_doubles: str
    dead_double: str
    blank: int
    rounds: int

    def __post_init__(self) -> None:
        _check_preset(self.preset)
        _check_players(self.preset, self.players)
        _check_member("set", self.set, SETS)
        _check_member("blank", self.blank, BLANKS)
        for name, allowed in CHOICES.items():
            _check_member(name, getattr(self, name), allowed)
        _check_range("rounds", self.rounds, 1, self.set + 1)
        if self.starter == "holder" and self.hub == "placed":
            raise RulesError(
                "starter=holder needs hub=dealt: a placed hub is in nobody's hand. "
                "Give starter=lot or starter=rotate, or hub=dealt"
            )
        if self.first_turn == "chain" and self.first_turn_places == "any":
            raise RulesError(
                "first_turn=chain needs first_turn_places=own: a chain lies on the own train. "
                "Give first_turn=single, or first_turn_places=own"
            )
        # With a dealt hub its holder lays it down and still needs a tile to play.
        least = 2 if self.hub == "dealt" else 1
        most = self.max_hand(self.players, self.set, self.hub)
        if type(self.hand) is not int or not least <= self.hand <= most:
            available = tiles_in_set(self.set) - (self.hub == "placed")
            raise RulesError(
                f"hand={_shown(self.hand)}: {self.players} players can draw {least} to {most} tiles each from the "
                f"{available} tiles of a double-{self.set} set with hub={self.hub}"
            )

    @staticmethod
    def max_hand(players: int, set: int, hub: str) -> int:
        """The largest hand that a double-``set`` set allows ``players`` players."""
        return (tiles_in_set(set) - (hub == "placed")) // players

    @classmethod
    def of(cls, preset: str = "family", players: int = 4, **options: Any) -> Rules:
        """The rules of ``preset`` for ``players`` players, with ``options`` set on their own.

        Options not given are the preset's, for this many players; values may be given as text. With
        ``set`` only, the hand is the one that the preset's table has for it, or else the hand of the
        preset's usual set for as many players. An option that makes sense beside one value of another only takes that
        value along, unless the other is given too (``taken_along`` says which). Raises ``RulesError``.
        """
        _check_preset(preset)
        players = _number("players", players)
        _check_players(preset, players)
        given = {key: value for key, value in _values(options).items() if value is not None}
        values = dict(_PRESETS[preset]) | given
        values |= {partner.other: partner.wanted for partner in _partners(_PRESETS[preset], given)}
        table = _HANDS[preset][players]
        usual = next(iter(table))
        values.setdefault("set", usual)
        _check_member("set", values["set"], SETS)
        values.setdefault("rounds", values["set"] + 1)
        if "hand" not in values:
            hand = table.get(values["set"], table[usual])
            most = cls.max_hand(players, values["set"], values["hub"])
            if hand > most:
                raise RulesError(
                    f"{preset} has no hand for {players} players with a double-{values['set']} set, and its "
                    f"usual {hand} tiles are too many: give hand (at most {most}) or a larger set"
                )
            values["hand"] = hand
        return cls(preset=preset, players=players, **values)

    def with_options(self, **options: Any) -> Rules:
        """These rules with some options, or the number of players, changed; the others stay as they are, the hand
        too, except for what a change takes along, as in ``of``. All rounds of the countdown stay all of them. Raises
        ``RulesError``."""
        changes: dict[str, Any] = {}
        if "players" in options:
            changes["players"] = _number("players", options.pop("players"))
        all_rounds = self.rounds == self.set + 1 if options.get("rounds") is None else options["rounds"] == "all"
        changes |= {key: value for key, value in _values(options).items() if value is not None}
        present = {name: getattr(self, name) for name in CHOICES}
        changes |= {partner.other: partner.wanted for partner in _partners(present, changes)}
        top = changes.get("set", self.set)
        if all_rounds and type(top) is int:
            changes["rounds"] = top + 1
        return replace(self, **changes)

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Rules from text such as ``family players=4 set=12``, as ``str`` writes them. Raises ``RulesError``."""
        words = words_of(text)
        if not words:
            raise RulesError(f"no rules given: expected a preset ({', '.join(PRESETS)}) and name=value options")
        options: dict[str, str] = {}
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if not equals or not name or not value:
                raise RulesError(f"rule option {_shown(word)} is not of the form name=value")
            if name in options:
                raise RulesError(f"rule option {_shown(name)} is given twice")
            options[name] = value
        players = options.pop("players", "4")
        if "preset" in options:
            raise RulesError(f"preset={_shown(options['preset'])}: expected the preset as the first word, by itself")
        return cls.of(words[0], _number("players", players), **options)

    def __str__(self) -> str:
        """One line that ``parse`` reads back: the preset, then every option by name."""
        names = [f.name for f in fields(self) if f.name != "preset"]
        return " ".join([self.preset, *(f"{name}={getattr(self, name)}" for name in names)])

    @property
    def hubs(self) -> range:
        """The hub of each round of a game, in order: the countdown from the highest double."""
        return range(self.set, self.set - self.rounds, -1)


OPTIONS: Final = tuple(f.name for f in fields(Rules) if f.name not in ("preset", "players"))


def taken_along(preset: str, **options: Any) -> tuple[Partner, ...]:
    """What ``Rules.of`` sets besides the ``options`` given; each as text is a sentence, such as ``first_turn=chain
    takes first_turn_places=own along: a chain lies on the own train``.

    Raises ``RulesError`` for a preset or options that do not exist.
    """
    _check_preset(preset)
    given = {key: value for key, value in _values(options).items() if value is not None}
    return _partners(_PRESETS[preset], given)


def _partners(values: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[Partner, ...]:
    """The partners that ``given`` takes along where ``values`` would hold otherwise."""
    return tuple(
        partner
        for partner in PARTNERS
        if given.get(partner.option) == partner.value
        and partner.other not in given
        and values[partner.other] != partner.wanted
    )


def _values(options: Mapping[str, object]) -> dict[str, Any]:
    """Options by their own names, their values as ``Rules`` keeps them; None where the preset decides."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        key = _ALIASES.get(name, name)
        if key not in OPTIONS:
            close = difflib.get_close_matches(key, OPTIONS, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise RulesError(f"unknown rule option {_shown(name)}{hint}; the options are: {', '.join(OPTIONS)}")
        if key in values:
            raise RulesError(f"rule option {key!r} is given twice")
        values[key] = _value(key, value)
    return values


def _shown(value: object) -> str:
    """A value as an error repeats it: printable, and not longer than a line."""
    text = ascii(value)
    if len(text) <= 42:
        return text
    return ascii(value[:16]) + "..." if isinstance(value, str) else text[:40] + "..."


def _check_preset(preset: object) -> None:
    if not isinstance(preset, str) or preset not in _PRESETS:
        raise RulesError(f"unknown preset {_shown(preset)}: expected one of {', '.join(PRESETS)}")


def _check_players(preset: str, players: object) -> None:
    low, high = _PRESET_PLAYERS[preset]
    if type(players) is not int or not low <= players <= high:
        more = "" if high == MAX_PLAYERS else f" (classic and tournament go to {MAX_PLAYERS})"
        raise RulesError(f"players={_shown(players)}: {preset} is for {low} to {high} players{more}")


def _check_member(name: str, value: object, allowed: tuple[Any, ...]) -> None:
    if type(value) is not type(allowed[0]) or value not in allowed:
        raise RulesError(f"{name}={_shown(value)}: expected one of {', '.join(map(str, allowed))}")


def _check_range(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise RulesError(f"{name}={_shown(value)}: expected a whole number from {low} to {high}")


def _number(name: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 6:
        return int(value)
    if type(value) is int:
        return value
    raise RulesError(f"{name}={_shown(value)}: expected a whole number")


def _value(name: str, value: object) -> Any:
    """``value`` as the option ``name`` keeps it; None stays None and means the preset's."""
    if value is None:
        return None
    if name == "rounds" and value == "all":
        return None
    if name in CHOICES:
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    return _number(name, value)
