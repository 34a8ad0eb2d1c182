"""Beliefs looked at from every side: by the suite a little, by ``soak.py`` as long as one likes."""

from __future__ import annotations

import collections
import random
import traceback
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from caboose.engine.belief.belief import Belief
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import tiles_in_set
from duel import Difference
from implementations import STYLES, CoreRound, choose, random_deal, random_rules
from worlds import in_order, possible_deals, replayed

SHARE: Final = 0.1  # of the positions of a round that are looked at
FEW: Final = 60  # deals, up to which they are counted too
TRIED: Final = 400
RARE: Final = 1e-7  # as improbable as this is wrong


def where(round_: Round) -> npt.NDArray[np.float64]:
    """Where each tile is, as a belief writes it."""
    out = np.zeros((round_.rules.players + 1, tiles_in_set(round_.rules.set)))
    for row, tiles in enumerate([*round_.hands, round_.boneyard]):
        out[row, [tile.id for tile in tiles]] = 1
    return out


def check_world(view: Observation, seed: int) -> None:
    """A world, its deal and the matrix are such as may be thought. Raises ``AssertionError``."""
    belief = Belief(view)
    world = belief.sample(seed)
    again = replayed(view, belief.deal(seed))
    assert again is not None, "what was seen cannot be played from the deal"
    assert again == world
    assert world.observe(view.seat, view.past_scores) == view
    assert world.turn == view.turn
    matrix, here = belief.matrix(20, seed), where(world)
    assert matrix.sum(axis=1) == pytest.approx(here.sum(axis=1))
    assert matrix.sum(axis=0) == pytest.approx(here.sum(axis=0))


def chance_of(view: Observation, deals: Sequence[Deal], samples: int) -> float:
    """The probability of counts as uneven as those of ``samples`` deals of a belief; 0 when one is not possible."""
    drawn = sum(event.kind == "draw" for event in view.events)
    belief = Belief(view)
    counts = collections.Counter(in_order(belief.deal(seed), drawn) for seed in range(samples))
    if not set(counts) <= set(deals):
        return 0.0
    return float(stats.chisquare([counts[deal] for deal in deals]).pvalue)


def look(number: int, seed: int) -> int:
    """Beliefs at some positions of the round of this number; how many. Raises ``Difference``."""
    rng = random.Random(f"beliefs {seed}/{number}")
    rules = random_rules(rng)
    deal = random_deal(rules, rng)
    core, style = CoreRound(rules, deal), rng.choice(STYLES)
    played: list[str] = []
    looked = 0
    while True:
        if rng.random() < SHARE:
            view = core.round.observe(rng.randrange(rules.players))
            try:
                check_world(view, rng.getrandbits(62))
                deals = possible_deals(view, TRIED)
                if deals is not None and 1 < len(deals) <= FEW:
                    chance = chance_of(view, deals, 20 * len(deals))
                    assert chance > RARE, f"not uniform over {len(deals)} deals: probability {chance}"
            except Exception:
                text = [f"seat {view.seat + 1} after {len(played)} moves", f"rules: {rules}", f"deal: {deal}"]
                text += [f"moves: {' '.join(played)}", traceback.format_exc()]
                raise Difference("\n".join(text)) from None
            looked += 1
        if core.over:
            return looked
        move = choose(core.legal_moves(), core.turn, style, rng)
        core.apply(move)
        played.append(move)
