"""The positions that an engine is asked about."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules

SMALL = Rules.of("family", 2, set=6, hand=6)
USUAL = Rules.of("family", 4)


@dataclass(slots=True)
class Table:
    """A round in which one seat is the engine's and the others play at random, always the same."""

    round: Round
    seat: int
    chance: random.Random
    scores: tuple[tuple[int, ...], ...] = ()

    def views(self) -> Iterator[Observation]:
        """What the seat sees each time that it has to choose; ``play`` must be called before the next."""
        while self._to_seat():
            yield self.round.observe(self.seat, self.scores)

    def play(self, move: Move) -> None:
        """Plays a move of the seat."""
        self.round.apply(move)

    def _to_seat(self) -> bool:
        """Plays on until the seat has to choose; False when the round is over first."""
        while not self.round.over and self.round.turn != self.seat:
            self.round.apply(self.chance.choice(self.round.legal_moves()))
        return not self.round.over


def table(rules: Rules, seat: int = 0, seed: int = 1, number: int = 1) -> Table:
    """Round ``number`` (from 1) of a game, its earlier rounds with made-up scores."""
    chance = random.Random(f"{seed} {seat}")
    scores = tuple(tuple(chance.randrange(60) for _ in range(rules.players)) for _ in range(number - 1))
    deal = Round.deal(rules, rules.hubs[number - 1], seed)
    return Table(deal, seat, chance, scores)


def positions(rules: Rules, seat: int, count: int, wanted: Callable[[Observation], bool]) -> list[Observation]:
    """The first ``count`` positions that are ``wanted``, at most one of a round."""
    found: list[Observation] = []
    for seed in itertools.count(1):
        at = table(rules, seat, seed)
        for view in at.views():
            if wanted(view):
                found.append(view)
                break
            at.play(at.chance.choice(view.legal_moves()))
        if len(found) == count:
            return found
    raise AssertionError


@lru_cache(64)
def position(rules: Rules = USUAL, seat: int = 0, *, after: int = 0) -> Observation:
    """A position with a choice, after at least so many events."""
    return positions(rules, seat, 1, lambda view: len(view.events) >= after and len(view.legal_moves()) > 1)[0]
