"""The fast core and the reference agree at every step, and the core refuses what it must.

Random rounds over presets, sets, player counts and mixed options; ``tests/tools/soak.py`` goes on with the same for as
long as one likes. What fails here says how to see it again: with ``soak.py --seed 20 --round`` and the number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import duel
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.engine.rules.seats import written
from caboose.engine.rules.tiles import Tile
from implementations import CoreRound, differences, picture, random_deal
from reference import ReferenceRound

ROUNDS = 1500  # of random rules; each is compared at every step


@pytest.mark.parametrize("part", range(10))
def test_random_rules(part: int) -> None:
    for number in range(part * ROUNDS // 10, (part + 1) * ROUNDS // 10):
        duel.compare(number, seed=20)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_with_every_number_of_players_and_set(preset: str) -> None:
    rng = random.Random(preset)
    low, high = 2, 12 if preset == "family" else 14
    for players in range(low, high + 1):
        for top in (6, 9, 12, 15, 18):
            hand = min(Rules.of(preset, players).hand, Rules.max_hand(players, top, Rules.of(preset, players).hub))
            if hand < 2:
                continue
            rules = Rules.of(preset, players, set=top, hand=hand)
            deal = random_deal(rules, rng)
            core, reference = CoreRound(rules, deal), ReferenceRound(rules, deal)
            while not reference.over:
                assert differences(core, reference, whole=rng.random() < 0.1) == [], (str(rules), deal)
                move = rng.choice(reference.legal_moves())
                core.apply(move)
                reference.apply(move)
            assert differences(core, reference) == [], (str(rules), deal)


def test_the_same_seed_gives_the_same_round() -> None:
    rules = Rules.of("tournament", 5)
    first, second, third = (Round.deal(rules, hub=4, seed=seed) for seed in (7, 7, 8))
    assert (first.hands, first.boneyard, first.starter) == (second.hands, second.boneyard, second.starter)
    assert first.hands != third.hands
    assert Round.deal(rules, seed=[1, 2]).hands != Round.deal(rules, seed=[2, 1]).hands


# What is refused.


def bad_deals() -> Iterator[tuple[str, Rules, Deal]]:
    """Deals that their rules do not allow, each wrong in one way."""
    rules = Rules.of("family", 3, set=6, hand=4)
    good = Deal.random(rules, 6, 1)
    hands, boneyard = good.hands, good.boneyard
    hub = Tile(6, 6)
    yield "a hub beyond the set", rules, Deal(7, hands, boneyard, 0)
    yield "a negative hub", rules, Deal(-1, hands, boneyard, 0)
    yield "no such starter", rules, Deal(6, hands, boneyard, 3)
    yield "a negative starter", rules, Deal(6, hands, boneyard, -1)
    yield "a seat too few", rules, Deal(6, hands[:2], boneyard, 0)
    yield "a seat too many", rules, Deal(6, (*hands, boneyard[:4]), boneyard[4:], 0)
    yield "a hand too short", rules, Deal(6, (hands[0][:3], *hands[1:]), (*boneyard, hands[0][3]), 0)
    yield "a hand too long", rules, Deal(6, ((*hands[0], boneyard[0]), *hands[1:]), boneyard[1:], 0)
    yield "a tile missing", rules, Deal(6, hands, boneyard[1:], 0)
    yield "a tile twice", rules, Deal(6, hands, (*boneyard[1:], hands[0][0]), 0)
    yield "a tile of a larger set", rules, Deal(6, hands, (*boneyard[1:], Tile(0, 7)), 0)
    yield "the placed hub in a hand", rules, Deal(6, ((*hands[0][:3], hub), *hands[1:]), (*boneyard, hands[0][3]), 0)
    yield "the placed hub in the boneyard", rules, Deal(6, hands, (*boneyard, hub), 0)
    dealt = Rules.of("classic", 3, set=6, hand=4)
    start = Deal.random(dealt, 6, 1)
    no_hub = tuple(tuple(tile for tile in hand if tile != hub) for hand in start.hands)
    rest = tuple(tile for tile in start.boneyard if tile != hub)
    yield "the dealt hub nowhere", dealt, Deal(6, no_hub, rest, -1)


@pytest.mark.parametrize("rules, deal", [pytest.param(rules, deal, id=name) for name, rules, deal in bad_deals()])
def test_a_deal_that_the_rules_do_not_allow_is_refused(rules: Rules, deal: Deal) -> None:
    with pytest.raises(ValueError):
        Round(rules, deal)


def test_nothing_can_be_played_when_the_round_is_over() -> None:
    round_ = Round.deal(Rules.of("family", 2, set=6, hand=2), seed=4)
    while not round_.over:
        move = round_.legal_moves()[0]
        round_.apply(move)
    assert round_.turn == -1
    assert round_.legal_moves() == []
    assert round_.binding is None or round_.open_doubles
    for attempt in (move, STOP):
        with pytest.raises(ValueError, match="over"):
            round_.apply(attempt)


def test_an_illegal_move_is_refused_with_the_reason_and_changes_nothing() -> None:
    core = CoreRound(Rules.of("family", 4), Deal.random(Rules.of("family", 4), seed=2))
    before = picture(core)
    not_held = next(tile for tile in core.hands[1 - core.turn] if tile not in core.hands[core.turn])
    for text in ("stop", f"{not_held[0]}-{not_held[1]}@1"):
        with pytest.raises(ValueError) as error:
            core.apply(text)
        assert text in written(error.value)
    assert picture(core) == before
