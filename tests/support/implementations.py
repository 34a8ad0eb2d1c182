"""The fast core and the reference side by side: one face for both, random rules, and a walk through a round."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import BLANKS, CHOICES, PRESETS, SETS, Rules, RulesError
from reference import MEXICAN, OpenDouble, Tile

STYLES: Final = ("any", "doubles", "others", "own")


class AnyRound(Protocol):
    """What the tests ask of a round, whoever implements it. Moves are text."""

    rules: Rules

    @property
    def turn(self) -> int: ...
    @property
    def over(self) -> bool: ...
    @property
    def blocked(self) -> bool: ...
    @property
    def starter(self) -> int: ...
    @property
    def hands(self) -> list[list[Tile]]: ...
    @property
    def hand_sizes(self) -> list[int]: ...
    @property
    def boneyard(self) -> list[Tile]: ...
    @property
    def markers(self) -> list[bool]: ...
    @property
    def open_doubles(self) -> list[OpenDouble]: ...
    @property
    def binding(self) -> OpenDouble | None: ...
    @property
    def trains(self) -> dict[int, list[str]]: ...
    @property
    def scores(self) -> list[int]: ...
    @property
    def events(self) -> list[tuple[str, int, Tile | None, str | None]]: ...
    def ends(self, train: int) -> list[int]: ...
    def legal_moves(self) -> list[str]: ...
    def apply(self, text: str) -> None: ...


class CoreRound:
    """The fast core with the reference's face."""

    def __init__(self, rules: Rules, deal: Deal) -> None:
        self.rules = rules
        self.round = Round(rules, deal)

    @classmethod
    def of(cls, round_: Round) -> CoreRound:
        """The face of a round that is there already."""
        core = cls.__new__(cls)
        core.rules, core.round = round_.rules, round_
        return core

    @property
    def turn(self) -> int:
        return self.round.turn

    @property
    def over(self) -> bool:
        return self.round.over

    @property
    def blocked(self) -> bool:
        return self.round.blocked

    @property
    def starter(self) -> int:
        return self.round.starter

    @property
    def hands(self) -> list[list[Tile]]:
        return [list[Tile](hand) for hand in self.round.hands]

    @property
    def hand_sizes(self) -> list[int]:
        return list(self.round.hand_sizes)

    @property
    def boneyard(self) -> list[Tile]:
        return list(self.round.boneyard)

    @property
    def markers(self) -> list[bool]:
        return list(self.round.markers)

    @property
    def open_doubles(self) -> list[OpenDouble]:
        return [OpenDouble(*double) for double in self.round.open_doubles]

    @property
    def binding(self) -> OpenDouble | None:
        double = self.round.binding
        return None if double is None else OpenDouble(*double)

    @property
    def trains(self) -> dict[int, list[str]]:
        return {train: [str(move) for move in moves] for train, moves in self.round.trains.items()}

    @property
    def scores(self) -> list[int]:
        return list(self.round.scores)

    @property
    def events(self) -> list[tuple[str, int, Tile | None, str | None]]:
        return [(kind, seat, tile, None if move is None else str(move)) for kind, seat, tile, move in self.round.events]

    def ends(self, train: int) -> list[int]:
        return list(self.round.ends(train))

    def legal_moves(self) -> list[str]:
        return [str(move) for move in self.round.legal_moves()]

    def apply(self, text: str) -> None:
        self.round.apply(Move.parse(text))


def picture(position: AnyRound, whole: bool = True) -> dict[str, object]:
    """Everything that can be seen of a position, for comparing; the order inside a hand means nothing.

    Without ``whole`` it has no history, and no scores, which follow from the hands.
    """
    trains = [*range(position.rules.players), MEXICAN]
    seen: dict[str, object] = {
        "turn": position.turn,
        "over": position.over,
        "blocked": position.blocked,
        "starter": position.starter,
        "legal moves": position.legal_moves(),
        "hands": [set(hand) for hand in position.hands],
        "hand sizes": position.hand_sizes,
        "boneyard": position.boneyard,
        "markers": position.markers,
        "open doubles": [(d.train, d.pips, d.need) for d in position.open_doubles],
        "binding": None if position.over else position.binding,
        "ends": [position.ends(train) for train in trains],
    }
    if whole:
        seen |= {"trains": position.trains, "scores": position.scores, "events": position.events}
    return seen


def differences(core: AnyRound, reference: AnyRound, whole: bool = True) -> list[str]:
    """What the two show differently, a line for each; [] when they agree."""
    ours, theirs = picture(core, whole), picture(reference, whole)
    if ours == theirs:
        return []
    return [f"{key}: core {ours[key]!r}, reference {theirs[key]!r}" for key in ours if ours[key] != theirs[key]]


def random_rules(rng: random.Random) -> Rules:
    """Any rules that exist: often a preset's, maybe with another set, else all options mixed."""
    while True:
        preset = rng.choice(PRESETS)
        options: dict[str, Any] = {}
        if rng.random() < 0.3:
            options["set"] = rng.choice(SETS)
        if rng.random() < 0.7:
            options |= {name: rng.choice(values) for name, values in CHOICES.items()}
            options["blank"] = rng.choice(BLANKS)
            options["set"] = rng.choice((6, 6, 6, 9, 9, 12, 15, 18))
            options["rounds"] = rng.choice(("all", 1, rng.randint(1, options["set"] + 1)))
        # Few players are what people play most, and short hands and empty boneyards hold the rare cases.
        players = rng.choice((2, 2, 3, 3, 4, 4, rng.randint(2, 14), rng.randint(2, 14)))
        if "set" in options and "hub" in options:
            most = Rules.max_hand(players, options["set"], options["hub"])
            options["hand"] = rng.choice((most, rng.randint(1, max(most, 1)), rng.randint(1, 6)))
        try:
            return Rules.of(preset, players, **options)
        except RulesError:
            continue


def random_deal(rules: Rules, rng: random.Random) -> Deal:
    """A deal with any hub."""
    return Deal.random(rules, rng.choice(rules.hubs), rng.getrandbits(40))


def choose(moves: Sequence[str], seat: int, style: str, rng: random.Random) -> str:
    """A move for a random walk. Styles lean to what a uniform choice rarely reaches, such as doubles in a row."""
    wanted = list(moves)
    if style == "doubles":
        wanted = [m for m in moves if re.match(r"(\d+)-\1@", m)]
    elif style == "others":
        wanted = [m for m in moves if not m.endswith(f"@{seat + 1}")]
    elif style == "own":
        wanted = [m for m in moves if m.endswith(f"@{seat + 1}")]
    return rng.choice(wanted if wanted and rng.random() < 0.9 else list(moves))


def random_rounds(count: int, seed: str) -> Iterator[tuple[Rules, Deal, str, random.Random]]:
    """Rules, a deal, and how to walk through the round."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        rules = random_rules(rng)
        yield rules, random_deal(rules, rng), rng.choice(STYLES), rng


def walk(count: int, seed: str, share: float) -> Iterator[tuple[CoreRound, random.Random]]:
    """Positions sampled from random rounds of the core: about one in ``1/share`` of all."""
    for rules, deal, style, rng in random_rounds(count, seed):
        core = CoreRound(rules, deal)
        while True:
            if rng.random() < share:
                yield core, rng
            if core.over:
                break
            core.apply(choose(core.legal_moves(), core.turn, style, rng))
