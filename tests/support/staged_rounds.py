"""Rounds built by hand: a deal from text, moves from text, and every test on both implementations."""

from __future__ import annotations

from typing import Any, Final, Protocol

import pytest

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import Tile, parse_tile
from implementations import AnyRound, CoreRound
from reference import ReferenceRound, tile_number, whole_set

# Nine tiles after which every 6 of the set lies on the table and every train of a round for two ends in 6.
CLOSING: Final = "6-1@1 6-3@2 1-2@1 3-4@2 2-6@1 4-6@2 6-5@M 5-0@M 0-6@M"
CLOSING_HANDS: Final = ["6-1 1-2 2-6 6-5 0-6", "6-3 3-4 4-6 5-0"]


class MakeRound(Protocol):
    """A constructor of rounds."""

    def __call__(self, rules: Rules, deal: Deal) -> AnyRound: ...


on_both = pytest.mark.parametrize("make", [CoreRound, ReferenceRound], ids=["core", "reference"])


def tiles(text: str) -> list[Tile]:
    """Tiles from text such as ``6-3 0-0``."""
    return [parse_tile(word) for word in text.split()]


def staged(rules: Rules, hands: list[str], boneyard: str = "", hub: int = 6, starter: int = 0) -> Deal:
    """A deal that begins as given; the tiles not named fill up the hands, and then the boneyard, in order."""
    given = [tiles(hand) for hand in hands]
    first = tiles(boneyard)
    named = [tile for hand in given for tile in hand] + first
    assert len(named) == len(set(named)), "a tile is named twice"
    rest = [Tile(*tile) for tile in sorted(whole_set(rules.set), key=tile_number)]
    rest = [tile for tile in rest if tile not in named and (rules.hub == "dealt" or tile != (hub, hub))]
    for hand in given:
        assert len(hand) <= rules.hand
        while len(hand) < rules.hand:
            hand.append(rest.pop(0))
    return Deal(hub, tuple(map(tuple, given)), tuple(first + rest), -1 if rules.starter == "holder" else starter)


def play(position: AnyRound, moves: str) -> None:
    """Plays the moves one by one; each must be among the legal ones."""
    for move in moves.split():
        assert move in position.legal_moves(), f"{move} is not among {position.legal_moves()}"
        position.apply(move)


def tail(position: AnyRound, count: int) -> list[str]:
    """The last events as text, such as ``2:draw=3-4``, ``1:6-3@1``, ``1:mark``; seats from 1."""
    lines = []
    for kind, seat, tile, move in position.events[-count:]:
        if kind == "play":
            lines.append(f"{seat + 1}:{move}")
        elif kind == "draw":
            assert tile is not None
            lines.append(f"{seat + 1}:draw={tile[0]}-{tile[1]}")
        else:
            lines.append(f"{seat + 1}:{kind}")
    return lines


def story(position: AnyRound) -> str:
    """All events as one line of text."""
    return " ".join(tail(position, len(position.events)))


def doubles(position: AnyRound) -> list[tuple[int, int, int]]:
    """The open doubles as (train, pips, need), oldest first."""
    return [(double.train, double.pips, double.need) for double in position.open_doubles]


def family(players: int, hand: int, **options: Any) -> Rules:
    """Family rules with a small set."""
    return Rules.of("family", players, **{"set": 6, "hand": hand} | options)


def tournament(players: int, hand: int, **options: Any) -> Rules:
    """Tournament rules with a small set."""
    return Rules.of("tournament", players, **{"set": 6, "hand": hand} | options)


def classic(players: int, hand: int, **options: Any) -> Rules:
    """Classic rules with a small set."""
    return Rules.of("classic", players, **{"set": 6, "hand": hand} | options)
