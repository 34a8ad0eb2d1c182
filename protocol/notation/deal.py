"""Deals as text: a whole round's start, hidden tiles and all, on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules, tiles_in_set
from caboose.engine.rules.tiles import TILES, Tile
from caboose.protocol.notation.scanner import Word, only, read_word, scan, single_sections
from caboose.protocol.notation.words import parse_pip_count, parse_seat, parse_tile, tiles_text

DEAL_WORDS: Final = ("hub", "starter", "hands", "boneyard")
_HOLDER: Final = "holder"  # the starter where the rules give the first turn to who holds the hub
_SHOWN: Final = 12  # tiles that an error lists


def deal_text(rules: Rules, deal: Deal) -> str:
    """``hub PIPS starter SEAT hands TILE … / TILE … boneyard TILE …``, one line.

    Hands keep the order in which ``deal`` has them. Raises ``ValueError`` for a deal against the rules.
    """
    Round(rules, deal)
    starter = _HOLDER if rules.starter == "holder" else str(deal.starter + 1)
    hands = " / ".join(map(tiles_text, deal.hands))
    return f"hub {deal.hub} starter {starter} hands {hands} boneyard {tiles_text(deal.boneyard)}".rstrip()


def parse_deal(rules: Rules, text: str) -> Deal:
    """The deal that ``text`` writes; ``Round(rules, deal)`` takes it. Raises ``NotationError``."""
    return read_deal(rules, single_sections(scan(text), DEAL_WORDS))


def read_deal(rules: Rules, groups: Mapping[str, Sequence[Word]]) -> Deal:
    """The deal of the groups of ``DEAL_WORDS``. Raises ``NotationError``."""
    hub = _read_hub(rules, groups["hub"])
    starter = _read_starter(rules, groups["starter"])
    seen = set[Tile]()
    hands = _read_hands(rules, hub, groups["hands"], seen)
    boneyard = _read_tiles(rules, hub, groups["boneyard"][1:], seen)
    missing = [tile for tile in TILES[: tiles_in_set(rules.set)] if tile not in seen and not _lies(rules, hub, tile)]
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise groups["boneyard"][-1].refused(
            f"the deal lacks {tiles_text(missing[:_SHOWN])}{more}",
            f"every tile of the double-{rules.set} set in a hand or in the boneyard",
        )
    return Deal(hub, hands, boneyard, starter)


def _lies(rules: Rules, hub: int, tile: Tile) -> bool:
    """Whether ``tile`` is the hub and lies in the middle before the deal."""
    return rules.hub == "placed" and tile == (hub, hub)


def _read_hub(rules: Rules, group: Sequence[Word]) -> int:
    what = f"the hub's pips, 0 to {rules.set} with a double-{rules.set} set"
    word = only(group[1:], group[0], what)
    hub = read_word(parse_pip_count, word, what)
    if hub > rules.set:
        raise word.refused(f"{hub} is no hub", what)
    return hub


def _read_starter(rules: Rules, group: Sequence[Word]) -> int:
    if rules.starter == "holder":
        what = f"{_HOLDER}, as the rules have starter={_HOLDER}"
        word = only(group[1:], group[0], what)
        if word != _HOLDER:
            raise word.refused(f"{word[:40]!r} is no starter", what)
        return -1
    what = f"the seat with the first turn, 1 to {rules.players}"
    word = only(group[1:], group[0], what)
    starter = read_word(parse_seat, word, what)
    if starter >= rules.players:
        raise word.refused(f"{starter + 1} is no seat", what)
    return starter


def _read_hands(rules: Rules, hub: int, group: Sequence[Word], seen: set[Tile]) -> tuple[tuple[Tile, ...], ...]:
    cuts = [at for at, word in enumerate(group) if word == "/"]
    if len(cuts) != rules.players - 1:
        place = group[cuts[rules.players - 1]] if len(cuts) >= rules.players else group[-1]
        raise place.refused(f"the number of hands is {len(cuts) + 1}", f"{rules.players}, with / between them")
    hands = []
    for seat, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(group)], strict=True), 1):
        words = group[begin + 1 : end]
        if len(words) != rules.hand:
            place = words[rules.hand] if len(words) > rules.hand else group[end - 1]
            raise place.refused(f"the hand of seat {seat} has {len(words)} tiles", str(rules.hand))
        hands.append(_read_tiles(rules, hub, words, seen))
    return tuple(hands)


def _read_tiles(rules: Rules, hub: int, words: Sequence[Word], seen: set[Tile]) -> tuple[Tile, ...]:
    """Tiles that nobody has named yet; adds them to ``seen``."""
    tiles = []
    for word in words:
        tile = read_word(parse_tile, word, "a tile")
        if tile.high > rules.set:
            raise word.refused(f"there is no {tile} in a double-{rules.set} set", f"two numbers of 0 to {rules.set}")
        if _lies(rules, hub, tile):
            raise word.refused(f"{tile} lies in the middle before the deal", "another tile")
        if tile in seen:
            raise word.refused(f"{tile} is there twice", "each tile once")
        seen.add(tile)
        tiles.append(tile)
    return tuple(tiles)
