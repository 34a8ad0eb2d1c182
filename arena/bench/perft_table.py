"""The table of known perft counts that comes with the package: ``engine/rules/perft.tsv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Final

from caboose.engine.rules.game import Game
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules

COLUMNS: Final = ("rules", "hub", "seed", "quick", "slow", "confirmed", "points", "counts")


@dataclass(frozen=True, slots=True)
class Row:
    """A round and its counts: ``counts[d - 1]`` is how many sequences of ``d`` moves there are.

    ``points`` are the pips left in all hands, summed over the sequences of ``slow`` moves. The suite counts to depth
    ``quick``, and with the slow implementation in ``tests/`` to ``slow``; that one once confirmed every count to depth
    ``confirmed``.
    """

    number: int  # from 1
    text: str  # the rules in short: what is not the preset's
    rules: Rules
    hub: int
    seed: int
    quick: int
    slow: int
    confirmed: int
    points: int
    counts: tuple[int, ...]

    @property
    def depth(self) -> int:
        """The depth of the last count, which takes about a second."""
        return len(self.counts)

    def round(self) -> Round:
        """The round at its first choice."""
        return round_of_game(self.rules, self.hub, self.seed)


def read_table() -> list[Row]:
    """All rows of the table."""
    text = resources.files("caboose.engine.rules").joinpath("perft.tsv").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [
        Row(
            number=number,
            text=row["rules"],
            rules=Rules.parse(row["rules"]),
            hub=int(row["hub"]),
            seed=int(row["seed"]),
            quick=int(row["quick"]),
            slow=int(row["slow"]),
            confirmed=int(row["confirmed"]),
            points=int(row["points"]),
            counts=tuple(map(int, row["counts"].split())),
        )
        for number, row in enumerate(csv.DictReader(lines, delimiter="\t"), 1)
    ]


def round_of_game(rules: Rules, hub: int, seed: int) -> Round:
    """The round with this hub in the game of this seed, at its first choice.

    Raises ``ValueError`` for a hub that the game does not come to.
    """
    if hub not in rules.hubs:
        raise ValueError(
            f"hub {hub}: a game of {rules.rounds} rounds with a double-{rules.set} set has the hubs "
            f"{rules.hubs[0]} to {rules.hubs[-1]}"
        )
    game = Game(rules, seed)
    while game.round.hub != hub:
        game.finish_round([0] * rules.players)
    return game.round


def count_points(round: Round, depth: int) -> int:
    """The pips left in all hands, summed over the sequences of ``depth`` moves, as ``perft`` counts them."""
    if depth == 0 or round.over:
        return sum(round.scores)
    total = 0
    for move in round.legal_moves():
        after = round.copy()
        after.apply(move)
        total += count_points(after, depth - 1)
    return total
