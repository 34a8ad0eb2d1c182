"""Rounds for a suite where there are no records: the built-in bots play them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import caboose.bots as bots
from caboose.arena.suite.pick import PlayedRound
from caboose.engine.bot_api import Limits
from caboose.engine.rules.deal import deal_of
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules

PLAYERS: Final = ("planner", "mcts")
NODES: Final = 200  # of each move of those that search
_BITS: Final = 62  # of a seed


@dataclass(frozen=True, slots=True)
class Fixture:
    """A round that is to be played: round ``number`` of those with ``rules``."""

    rules: Rules
    number: int


def play_round(fixture: Fixture, names: Sequence[str], seed: int) -> PlayedRound:
    """Plays a round; the hub and who of ``names`` sits on each seat are drawn by lot."""
    lot = random.Random(f"{seed} {fixture.number} {fixture.rules}")
    rules = fixture.rules
    round = Round.deal(rules, lot.choice(rules.hubs), lot.getrandbits(_BITS))
    deal = deal_of(round)
    players = [bots.create(lot.choice(names)) for _ in range(rules.players)]
    for player in players:
        chance = lot.getrandbits(_BITS)
        if "Seed" in player.options:
            player.set_option("Seed", str(chance))
    while not round.over:
        round.apply(players[round.turn].choose(round.observe(round.turn), Limits(nodes=NODES)))
    return PlayedRound(rules, deal, round.events)
