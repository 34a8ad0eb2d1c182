"""Fills in ``engine/rules/perft.tsv``: a new row needs only its rules, hub and seed, with tabs between them. The rest
of it is counted by ``python tests/tools/perft_rows.py``, with the core and with the slow implementation.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import accumulate
from pathlib import Path
from typing import Final

from caboose.arena.bench.perft_table import COLUMNS, count_points, round_of_game
from caboose.engine.rules.game import Game
from caboose.engine.rules.perft import perft
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules

sys.path.append(str(Path(__file__).parents[1] / "support"))

from paths import ROOT
from reference import ReferenceRound
from reference import perft as reference_perft

TABLE: Final = ROOT / "engine" / "rules" / "perft.tsv"
MOST: Final = 60_000_000  # sequences: about a second
LONGEST: Final = 0.8  # seconds after which it does not go deeper
QUICK: Final = 400_000  # sequences of all depths together, that the suite counts with the core …
SLOW: Final = 12_000  # … and with the slow implementation
DEEPEST: Final = 60  # no round of a row that is counted to its end is longer


def start(rules: Rules, hub: int, seed: int) -> ReferenceRound:
    """The same round as ``round_of_game``, for the reference."""
    game = Game(rules, seed)
    while game.round.hub != hub:
        game.finish_round([0] * rules.players)
    return ReferenceRound(rules, game.deal)


def count(round_: Round) -> list[int]:
    """The counts of a row: to about a second, or to the end of all rounds."""
    counts: list[int] = []
    while len(counts) < DEEPEST:
        began = time.process_time()
        number = perft(round_, len(counts) + 1)
        if number > MOST:
            break
        counts.append(number)
        if time.process_time() - began > LONGEST:
            break
    if len(counts) == DEEPEST:
        while counts[-2:-1] == counts[-1:]:
            counts.pop()
    return counts


def within(counts: list[int], most: int) -> int:
    """To which depth there are at most ``most`` sequences of all depths together."""
    return max(1, sum(total <= most for total in accumulate(counts)))


def filled(rules: Rules, hub: int, seed: int, seconds: float) -> list[str]:
    """The columns of a row after the first three. Raises ``ValueError`` where the two implementations differ."""
    round_ = round_of_game(rules, hub, seed)
    counts = count(round_)
    quick, slow = within(counts, QUICK), within(counts, SLOW)
    confirmed, last, reference = 0, 0.0, start(rules, hub, seed)
    while confirmed < len(counts):
        # The next depth takes as much longer as it has more sequences.
        if confirmed and last * counts[confirmed] / counts[confirmed - 1] > seconds:
            break
        began = time.process_time()
        slowly = reference_perft(reference, confirmed + 1)
        last = time.process_time() - began
        if slowly != counts[confirmed]:
            raise ValueError(f"depth {confirmed + 1}: {counts[confirmed]}, the slow one counts {slowly}")
        confirmed += 1
    return [*map(str, (quick, slow, confirmed, count_points(round_, slow))), " ".join(map(str, counts))]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Fill in the rows of engine/rules/perft.tsv.")
    parser.add_argument("--anew", action="store_true", help="the filled ones too")
    parser.add_argument("--seconds", type=float, default=15.0, help="what the slow implementation gets for a depth")
    arguments = parser.parse_args()
    lines = TABLE.read_text(encoding="ascii").splitlines()
    out = [line for line in lines if line.startswith("#")] + ["\t".join(COLUMNS)]
    for number, line in enumerate([line for line in lines if not line.startswith("#")][1:], 1):
        row = line.split("\t")
        if arguments.anew or len(row) < len(COLUMNS):
            print(f"row {number}: {line}", flush=True)
            text, hub, seed, *_ = row
            row = [text, hub, seed, *filled(Rules.parse(text), int(hub), int(seed), arguments.seconds)]
        out.append("\t".join(row))
    TABLE.write_text("\n".join(out) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
