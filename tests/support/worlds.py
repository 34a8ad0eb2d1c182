"""All deals that one seat must think possible, found by trying: what beliefs are checked against."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Event, Observation, Round
from caboose.engine.rules.rules import tiles_in_set
from caboose.engine.rules.tiles import TILES, Tile


def replayed(view: Observation, deal: Deal) -> Round | None:
    """The round from ``deal`` after the choices that ``view`` saw; None where one of them cannot be made."""
    round_ = Round(view.rules, deal)
    for number, event in enumerate(view.events):
        if number < len(round_.events):
            continue  # it has happened by itself
        move = STOP if event.kind == "stop" else event.move
        if move is None or event.seat != round_.turn or move not in round_.legal_moves():
            return None
        round_.apply(move)
    return round_


def possible_deals(view: Observation, most: int) -> list[Deal] | None:
    """Every deal after which ``view`` would be seen, or None when more than ``most`` would have to be tried.

    Deals are made from one fact only, that a tile which a seat played was dealt to it or drawn by it before, and then
    played through. Of the tiles that nobody has drawn yet there is one order, the ascending one: all others are as
    possible.
    """
    found = []
    for tried, deal in enumerate(_conceivable_deals(view)):
        if tried == most:
            return None
        round_ = None if deal is None else replayed(view, deal)
        if deal is not None and round_ is not None and round_.observe(view.seat) == view:
            found.append(deal)
    return found


def in_order(deal: Deal, drawn: int) -> Deal:
    """The deal with the tiles after the first ``drawn`` of the boneyard in ascending order."""
    rest = sorted(deal.boneyard[drawn:], key=lambda tile: tile.id)
    return Deal(deal.hub, deal.hands, (*deal.boneyard[:drawn], *rest), deal.starter)


def _conceivable_deals(view: Observation) -> Iterator[Deal | None]:
    """Deals to try; None for what is none, as one tile is drawn twice."""
    events, rules = view.events, view.rules
    hub = Tile(view.hub, view.hub)
    draws = [(number, event) for number, event in enumerate(events) if event.kind == "draw"]
    shown = [[tile for _, tile in _shown(events, seat, hub)] for seat in range(rules.players)]
    drawn_here = {event.tile for _, event in draws if event.seat == view.seat}
    own = tuple(sorted({*view.hand, *shown[view.seat]} - drawn_here, key=lambda tile: tile.id))
    seen = {tile for tiles in shown for tile in tiles}.union(view.hand, [hub] if rules.hub == "placed" else [])
    hidden = [tile for tile in TILES[: tiles_in_set(rules.set)] if tile not in seen]

    choices: list[list[Tile]] = []
    for number, event in draws:
        if event.tile is not None:
            choices.append([event.tile])
        else:
            choices.append([*hidden, *[tile for at, tile in _shown(events, event.seat, hub) if at > number]])
    for drawn in itertools.product(*choices):
        if len(set(drawn)) < len(drawn):
            yield None
            continue
        must = [[tile for tile in tiles if tile not in drawn] for tiles in shown]
        left = [tile for tile in hidden if tile not in drawn]
        for hands, boneyard in _hands(view, own, must, left, 0):
            starter = -1 if rules.starter == "holder" else view.starter
            yield Deal(view.hub, tuple(hands), (*drawn, *boneyard), starter)


def _shown(events: Sequence[Event], seat: int, hub: Tile) -> list[tuple[int, Tile]]:
    """What a seat has laid down, with the numbers of the events."""
    out = []
    for number, event in enumerate(events):
        if event.seat == seat and event.kind in ("hub", "play"):
            out.append((number, event.tile or hub))
    return out


def _hands(
    view: Observation, own: tuple[Tile, ...], must: Sequence[Sequence[Tile]], left: Sequence[Tile], seat: int
) -> Iterator[tuple[list[tuple[Tile, ...]], list[Tile]]]:
    """Hands from ``seat`` on with the tiles that they must have and others of ``left``; and what is left then."""
    if seat == view.rules.players:
        yield [], list(left)
        return
    if seat == view.seat:
        for hands, rest in _hands(view, own, must, left, seat + 1):
            yield [own, *hands], rest
        return
    missing = view.rules.hand - len(must[seat])
    if not 0 <= missing <= len(left):
        return
    for others in itertools.combinations(left, missing):
        hand = tuple(sorted([*must[seat], *others], key=lambda tile: tile.id))
        remaining = [tile for tile in left if tile not in others]
        for hands, rest in _hands(view, own, must, remaining, seat + 1):
            yield [hand, *hands], rest
