"""A game: one round for each double of the countdown, totals, winners and ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules


def rank_key(rounds: Sequence[int]) -> tuple[int, int, int]:
    """What decides between seats, smallest first: the total, then the number of rounds with zero points (more is
    better), then the lowest single round other than zero (docs/reference/rules.md, "The game")."""
    others = [score for score in rounds if score]
    return sum(rounds), len(others) - len(rounds), min(others, default=0)


def places(scores: Sequence[Sequence[int]], players: int) -> tuple[int, ...]:
    """The place of each seat from 1, equal seats sharing one; ``scores`` has a row of seats for each round."""
    keys = [rank_key([row[seat] for row in scores]) for seat in range(players)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def round_deal(rules: Rules, seed: int | Sequence[int], number: int, starter: int | None = None) -> Deal:
    """The deal of round ``number`` (from 1) of the game with this seed; ``starter`` as in ``Deal.random``."""
    seeds = [seed] if isinstance(seed, int | np.integer) else list(seed)
    return Deal.random(rules, rules.hubs[number - 1], [*map(int, seeds), number], starter)


class Game:
    """A whole game, round after round: play ``round`` to its end, call ``finish_round``, until ``over``.

    The deals come from ``seed`` (a whole number of at least 0, or a list of them), or are given: ``deals`` then
    has one for each round. Raises ``ValueError`` for deals that do not belong to the rules.
    """

    def __init__(self, rules: Rules, seed: int | Sequence[int] = 0, deals: Iterable[Deal] | None = None) -> None:
        self.rules = rules
        self._seed = seed
        self._deals = None if deals is None else tuple(deals)
        if self._deals is not None and [deal.hub for deal in self._deals] != list(rules.hubs):
            hubs = " ".join(str(hub) for hub in rules.hubs)
            raise ValueError(f"the deals of a game go by hub: expected the hubs {hubs}")
        self._scores: list[tuple[int, ...]] = []
        self._first_starter = 0
        self._deal: Deal | None = None
        self._round: Round | None = None
        self._start_round()

    @property
    def number(self) -> int:
        """The number of the running round from 1; after the last one it stays."""
        return min(len(self._scores) + 1, self.rules.rounds)

    @property
    def deal(self) -> Deal:
        """The deal of the running round."""
        assert self._deal is not None
        return self._deal

    @property
    def round(self) -> Round:
        """The running round; the last one when the game is over."""
        assert self._round is not None
        return self._round

    @property
    def over(self) -> bool:
        """All rounds are finished."""
        return len(self._scores) == self.rules.rounds

    @property
    def scores(self) -> tuple[tuple[int, ...], ...]:
        """The scores of the finished rounds, a row of seats for each."""
        return tuple(self._scores)

    @property
    def totals(self) -> tuple[int, ...]:
        """Each seat's points so far; fewer are better."""
        return tuple(sum(row[seat] for row in self._scores) for seat in range(self.rules.players))

    @property
    def places(self) -> tuple[int, ...]:
        """Each seat's place so far, from 1, with the rules' tie-breaks; equal seats share one."""
        return places(self._scores, self.rules.players)

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that won; several when they tie to the end. Empty until the game is over."""
        return tuple(seat for seat, place in enumerate(self.places) if place == 1) if self.over else ()

    def observe(self, seat: int) -> Observation:
        """What ``seat`` (from 0) knows of the running round and of the game: ``round.observe(seat)``.

        Raises ``ValueError`` for a seat that does not exist.
        """
        return self.round.observe(seat)

    def finish_round(self, scores: Sequence[int] | None = None) -> None:
        """Writes down the running round and deals the next, if there is one.

        The scores are the round's own unless given, as for a round that was not played to its end. Raises
        ``ValueError`` when the round still runs and no scores are given, or the game is over.
        """
        if self.over:
            raise ValueError("the game is over")
        if scores is None:
            if not self.round.over:
                raise ValueError(f"round {self.number} is not over")
            scores = self.round.scores
        if len(scores) != self.rules.players or min(scores) < 0:
            raise ValueError(f"scores {list(scores)}: expected {self.rules.players} numbers of at least 0")
        self._scores.append(tuple(int(score) for score in scores))
        if not self.over:
            self._start_round()

    def _start_round(self) -> None:
        number = self.number
        if self._deals is not None:
            deal = self._deals[number - 1]
        else:
            starter = None
            if self.rules.starter == "rotate" and number > 1:
                starter = (self._first_starter + number - 1) % self.rules.players
            deal = round_deal(self.rules, self._seed, number, starter)
        if number == 1:
            self._first_starter = deal.starter
        self._round = Round(self.rules, deal, self._scores)
        self._deal = deal
