"""The fast core against the reference: a round or a whole game of a given number, compared at every step."""

from __future__ import annotations

import collections
import random
import traceback
from dataclasses import dataclass, field
from typing import Final

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.rules import Rules
from implementations import STYLES, CoreRound, choose, differences, random_deal, random_rules
from reference import ReferenceGame, ReferenceRound, Tile

GAMES: Final = 0.02  # this share of the numbers are games of as many rounds as the rules say
WHOLE: Final = 0.05  # the history is compared at the end, and at this share of the steps


class Difference(Exception):
    """The two implementations disagree; the text says where and how."""


@dataclass
class Outcome:
    """What a number was: its rules, whether it was a game, and what happened in it."""

    rules: Rules
    is_game: bool
    rounds: int = 0
    moves: int = 0
    met: collections.Counter[str] = field(default_factory=collections.Counter)  # rounds in which something happened


def compare(number: int, seed: int) -> Outcome:
    """Plays the round or game of this number on both. Raises ``Difference``."""
    rng = random.Random(f"{seed}/{number}")
    rules = random_rules(rng)
    outcome = Outcome(rules, rng.random() < GAMES)
    if outcome.is_game:
        _play_game(rules, rng, outcome)
    else:
        deal = random_deal(rules, rng)
        _play_round(rules, deal, None, rng, outcome)
    return outcome


def _play_game(rules: Rules, rng: random.Random, outcome: Outcome) -> None:
    """A whole game: the countdown, the starters, the totals and the places too."""
    game = Game(rules, seed=rng.getrandbits(40))
    rows: list[list[int]] = []
    first = game.deal.starter
    while not game.over:
        number = len(rows)
        expected = {"hub": rules.set - number}
        if rules.starter == "rotate":
            expected["starter"] = (first + number) % rules.players
        for name, value in expected.items():
            if getattr(game.deal, name) != value:
                raise Difference(
                    f"round {number + 1} of a game: {name} {getattr(game.deal, name)}, not {value}\n{rules}"
                )
        rows.append(_play_round(rules, game.deal, CoreRound.of(game.round), rng, outcome))
        game.finish_round()
    reference = ReferenceGame(rules.players, rows)
    ours = [list(game.totals), list(game.winners), list(game.places), len(game.scores)]
    theirs = [reference.totals, reference.winners, reference.places, rules.rounds]
    if ours != theirs:
        raise Difference(f"totals, winners, places, rounds of a game: {ours}, not {theirs}\n{rules}\nscores: {rows}")


def _play_round(rules: Rules, deal: Deal, core: CoreRound | None, rng: random.Random, outcome: Outcome) -> list[int]:
    """A round on both; its scores."""
    style = rng.choice(STYLES)
    played: list[str] = []
    met: set[str] = set()
    try:
        core = core or CoreRound(rules, deal)
        reference = ReferenceRound(rules, deal)
        while True:
            wrong = differences(core, reference, whole=reference.over or rng.random() < WHOLE)
            if wrong or reference.over:
                break
            _look(reference, met)
            move = choose(core.legal_moves(), core.turn, style, rng)
            core.apply(move)
            reference.apply(move)
            played.append(move)
    except Exception:
        wrong = [traceback.format_exc()]
    if wrong:
        text = [f"after {len(played)} moves", f"rules: {rules}", f"deal: {deal}", f"moves: {' '.join(played)}", *wrong]
        raise Difference("\n".join(text))
    _look_back(reference, met)
    outcome.rounds += 1
    outcome.moves += len(played)
    outcome.met.update(met)
    return reference.scores


# What a round had in it: so that one sees that the rare things were there.


def _look(position: ReferenceRound, met: set[str]) -> None:
    if len(position.open_doubles) > 1:
        met.add("several open doubles")
    if position.current.doubles > 1:
        met.add("several doubles in a turn")


def _look_back(position: ReferenceRound, met: set[str]) -> None:
    kinds = [kind for kind, *_ in position.events]
    if position.blocked:
        met.add("blocked")
    elif _is_double(position.events[-1][2]):
        met.add("out with a double")
    if "hub" in kinds[1:]:
        met.add("drew for the hub")
    if not position.boneyard:
        met.add("boneyard used up")
    if sum(not hand for hand in position.hands) > 1:
        met.add("several out at once")
    if any(position.is_dead(double.pips) for double in position.open_doubles):
        met.add("dead double held")
    if any(len(set(ends)) < len(ends) for ends in map(position.ends, position.trains)):
        met.add("two equal ends on a train")


def _is_double(tile: Tile | None) -> bool:
    return tile is not None and tile[0] == tile[1]
