"""How a round starts: who holds what, how the boneyard lies, who plays first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from caboose.engine.rules.rules import Rules, tiles_in_set
from caboose.engine.rules.tiles import TILES, Tile

if TYPE_CHECKING:
    from caboose.engine.rules.round import Round


@dataclass(frozen=True, slots=True)
class Deal:
    """A whole round's start. ``hands`` has a row for each seat, ``boneyard`` lies in drawing order.

    ``starter`` is the seat with the first turn where the rules do not give it to the holder of the hub;
    under ``starter=holder`` it is -1. With a placed hub no hand holds it; with a dealt one it is among the
    hands or in the boneyard.
    """

    hub: int
    hands: tuple[tuple[Tile, ...], ...]
    boneyard: tuple[Tile, ...]
    starter: int

    @staticmethod
    def random(rules: Rules, hub: int | None = None, seed: int | Sequence[int] = 0, starter: int | None = None) -> Deal:
        """A uniformly random deal; the same ``seed`` (or list of seeds) gives the same deal.

        ``hub`` is 0 to ``rules.set``, by default the set's highest double. ``starter`` is a seat; None draws
        lots (the first round of ``starter=rotate``, and every round of ``lot``). Raises ``ValueError``.
        """
        if hub is None:
            hub = rules.set
        if not 0 <= hub <= rules.set:
            raise ValueError(f"hub {hub}: a double-{rules.set} set has doubles from 0 to {rules.set}")
        if starter is not None and not 0 <= starter < rules.players:
            raise ValueError(f"starter {starter}: expected a seat from 0 to {rules.players - 1}")
        if rules.starter == "holder" and starter is not None:
            raise ValueError(f"starter {starter}: under starter=holder the holder of the hub starts")
        seeds = [seed] if isinstance(seed, int | np.integer) else list(seed)
        if not seeds or not all(isinstance(part, int | np.integer) and part >= 0 for part in seeds):
            raise ValueError(f"seed {seed!r}: expected a whole number of at least 0, or a list of them")
        generator = Generator(PCG64(SeedSequence(seed)))
        lot = int(generator.integers(rules.players))
        hub_tile = Tile(hub, hub)
        pool = [t for t in TILES[: tiles_in_set(rules.set)] if rules.hub == "dealt" or t != hub_tile]
        order = [pool[i] for i in generator.permutation(len(pool))]
        cuts = [order[i * rules.hand : (i + 1) * rules.hand] for i in range(rules.players)]
        if rules.starter == "holder":
            starter = -1
        elif starter is None:
            starter = lot
        return Deal(
            hub=hub,
            hands=tuple(tuple(sorted(hand, key=lambda t: t.id)) for hand in cuts),
            boneyard=tuple(order[rules.players * rules.hand :]),
            starter=starter,
        )


def deal_of(round: Round) -> Deal:
    """The deal with which ``round`` began, each hand in ascending order."""
    hands = [set(hand) for hand in round.hands]
    drawn = []
    for event in reversed(round.events):
        if event.kind == "hub":
            hands[event.seat].add(Tile(round.hub, round.hub))
        elif event.tile is not None and event.kind == "play":
            hands[event.seat].add(event.tile)
        elif event.tile is not None and event.kind == "draw":
            hands[event.seat].remove(event.tile)
            drawn.append(event.tile)
    return Deal(
        hub=round.hub,
        hands=tuple(tuple(sorted(hand, key=lambda tile: tile.id)) for hand in hands),
        boneyard=(*reversed(drawn), *round.boneyard),
        starter=-1 if round.rules.starter == "holder" else round.starter,
    )
