"""Who plays next: tables of players out of many contestants, where the standings are least certain.

Skill is followed block by block with the Bradley–Terry model of Weng and Lin (2011), as openskill has it: a mean and a
standard deviation for each contestant (``weng_lin``). (Its Plackett–Luce model takes from both when they tie.) It is
only for pairing; standings are made anew from all games (``ratings``).
A block is one result, by the mean places in it, since its games share their deals. Bots do not change: the deviations
are not widened from block to block (openskill's tau is 0).

A table is drawn one by one. How much there is to learn from a pair is

    (sd_i² + sd_j²) · 2 Φ(−|mean_i − mean_j| / √(sd_i² + sd_j²))

the variance of their difference times how doubtful their order is. So those who are little known come first, then those
whose order is open, and two that play alike do not take all games: they get well known. A small part of the draw is
even, so that everybody meets everybody now and then. Of one that fails nothing is learned, and it stays unknown: it is
drawn no more often than an even draw would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.arena.stats.bootstrap import Floats
from caboose.arena.stats.weng_lin import update

MEAN: Final = 25.0
DEVIATION: Final = 25 / 3
EVEN: Final = 0.05  # the part of each draw in which all have the same chance


@dataclass(frozen=True, slots=True)
class Skills:
    """What is known of each contestant, in openskill's units: the mean and the standard deviation of its skill."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def after(self, table: Sequence[int], places: Sequence[float]) -> Skills:
        """This, and a block between the contestants ``table`` with the mean ``places``, where less is better.

        Raises ``ValueError`` when somebody is at the table twice, or places are missing.
        """
        if len(set(table)) != len(table) or len(table) != len(places) or len(table) < 2:
            raise ValueError(f"a block is rated by a place for each of two or more: {list(table)}, {list(places)}")
        mean, deviation = list(self.mean), list(self.deviation)
        found = update([mean[i] for i in table], [deviation[i] for i in table], places)
        for i, rated in zip(table, found, strict=True):
            mean[i], deviation[i] = rated
        return Skills(tuple(mean), tuple(deviation))

    def awaiting(self, tables: Iterable[Sequence[int]]) -> Skills:
        """This, as if blocks at ``tables`` had ended as expected: only the deviations change."""
        skills = self
        for table in tables:
            ended = skills.after(table, [-skills.mean[i] for i in table])
            skills = Skills(self.mean, ended.deviation)
        return skills


def unknown(contestants: int) -> Skills:
    """Before the first game."""
    return Skills((MEAN,) * contestants, (DEVIATION,) * contestants)


def next_table(
    skills: Skills,
    players: int,
    seed: Sequence[int],
    pending: Iterable[Sequence[int]] = (),
    *,
    out: Collection[int] = (),
    even: Collection[int] = (),
) -> list[int]:
    """The next table: numbers of contestants, ascending.

    ``pending`` are the tables that are being played, whose results are not in ``skills``. Contestants that are ``out``
    are not drawn; those that are ``even`` no more often than if all had the same chance. The same arguments give the
    same table; ``seed`` should differ from block to block, as (seed of the ladder, number of the block) does. Raises
    ``ValueError`` when there are not enough contestants.
    """
    count = len(skills.mean)
    most = count - len(set(out))
    if not 2 <= players <= most:
        raise ValueError(f"a table of {players} out of {most} contestants: expected 2 to {most} players")
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(seed))))
    learning = _learning(skills.awaiting(pending))
    learning[[*out]] = learning[:, [*out]] = 0.0
    held = np.zeros(count, np.bool_)
    held[[*even]] = True
    table: list[int] = []
    for _ in range(players):
        free = np.ones(count, np.bool_)
        free[[*table, *out]] = False
        weight = (learning[table].sum(axis=0) if table else learning.sum(axis=0)) * free
        total = weight.sum()
        alike = free / free.sum()
        chance = (1 - EVEN) * weight / total + EVEN * alike if total > 0 else alike
        if even:
            chance = _held(chance / chance.sum(), alike, held)
        table.append(int(generator.choice(count, p=chance / chance.sum())))
    return sorted(table)


def _held(chance: Floats, alike: Floats, held: npt.NDArray[np.bool_]) -> Floats:
    """Chances of which those that are ``held`` are at most ``alike``; the others share what is left over."""
    least = np.where(held, np.minimum(chance, alike), 0.0)
    others = np.where(held, 0.0, chance)
    total = others.sum()
    shared: Floats = alike if total <= 0 else least + others * (1 - least.sum()) / total
    return shared


def _learning(skills: Skills) -> Floats:
    """How much there is to learn from each pair: (contestants, contestants), 0 on the diagonal."""
    from scipy.special import ndtr

    mean, variance = np.array(skills.mean), np.array(skills.deviation) ** 2
    both = variance[:, None] + variance
    learning: Floats = both * 2 * ndtr(-np.abs(mean[:, None] - mean) / np.sqrt(both))
    np.fill_diagonal(learning, 0.0)
    return learning
