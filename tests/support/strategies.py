"""Hypothesis strategies for whole rounds: any rules that exist, any deal, any way through it.

All of them become small: towards family rules, two players, double-6, hands of a tile or two, the first legal move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.rules import BLANKS, CHOICES, SETS, Rules
from implementations import AnyRound, CoreRound
from staged_rounds import MakeRound

LONGEST = 600  # more than the moves of any round


class Walk:
    """A deal and moves that can be played from it, one after the other."""

    def __init__(self, rules: Rules, deal: Deal, moves: Sequence[str]) -> None:
        self.rules = rules
        self.deal = deal
        self.moves = moves

    def __repr__(self) -> str:
        hands = " / ".join(" ".join(map(str, hand)) for hand in self.deal.hands)
        boneyard = " ".join(map(str, self.deal.boneyard))
        start = f"hub {self.deal.hub}, starter {self.deal.starter + 1}, hands {hands}, boneyard {boneyard}"
        return f"\n  rules {self.rules}\n  {start}\n  moves {' '.join(self.moves)}\n"

    def positions(self, make: MakeRound = CoreRound) -> Iterator[AnyRound]:
        """The round at its first choice and after each move: always the same object."""
        position = make(self.rules, self.deal)
        yield position
        for move in self.moves:
            position.apply(move)
            yield position

    def last(self, make: MakeRound = CoreRound) -> AnyRound:
        """The round after all moves."""
        *_, position = self.positions(make)
        return position

    def finished(self, make: MakeRound = CoreRound) -> AnyRound:
        """The round played to its end: after the moves, each time with the first legal one."""
        position = self.last(make)
        while not position.over:
            position.apply(position.legal_moves()[0])
        return position


# What is drawn does not depend on what was drawn before, so that hypothesis can make one thing small and leave the
# others as they are: a number is cut down to what fits.


@st.composite
def all_rules(draw: st.DrawFn) -> Rules:
    """Any rules that exist."""
    preset = draw(st.sampled_from(["family", "tournament", "classic"]))
    players = 2 + draw(st.integers(0, 12)) % (11 if preset == "family" else 13)
    if draw(st.booleans()):
        return Rules.of(preset, players)
    options: dict[str, Any] = {name: draw(st.sampled_from(values)) for name, values in CHOICES.items()}
    if options["hub"] == "placed" and options["starter"] == "holder":
        options["starter"] = "lot"
    if options["first_turn"] == "chain":
        options["first_turn_places"] = "own"
    top = draw(st.sampled_from(SETS))
    least, most = 2 if options["hub"] == "dealt" else 1, Rules.max_hand(players, top, options["hub"])
    hand = least + draw(st.integers(0, 94)) % (most - least + 1)
    blank, rounds = draw(st.sampled_from(BLANKS)), 1 + draw(st.integers(0, 18)) % (top + 1)
    return Rules.of(preset, players, set=top, hand=hand, blank=blank, rounds=rounds, **options)


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    """Any rules, any deal under them, and any legal moves from its beginning on, often to the end of the round."""
    rules = draw(all_rules())
    hub = rules.hubs[draw(st.integers(0, 18)) % len(rules.hubs)]
    deal = Deal.random(rules, hub, draw(st.integers(0, 2**32)))
    position = CoreRound(rules, deal)
    moves: list[str] = []
    for _ in range(draw(st.sampled_from([0, 1, 2, 3, 5, 8, 13, 25, 50, 100, LONGEST]))):
        if position.over:
            break
        legal = position.legal_moves()
        moves.append(legal[draw(st.integers(0, 10_000)) % len(legal)])
        position.apply(moves[-1])
    return Walk(rules, deal, moves)
