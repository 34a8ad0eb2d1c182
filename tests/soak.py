"""The fast core against the reference for as long as one likes: ``python tests/soak.py --seconds 60 --seed 1``.

Every round has its own number, so a difference can be looked at again: ``--round N`` plays that one only.
Exit codes: 0 no difference, 1 a difference (described so that it can be reproduced), 2 a wrong call.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from collections.abc import Iterable

from caboose.engine.rules import Rules
from comparing import STYLES, CoreRound, choose, differences, random_deal, random_rules
from reference import ReferenceRound

COUNTED = (
    "preset", "players", "set", "hub", "starter", "first_turn", "first_turn_draw", "first_turn_finish",
    "first_turn_places", "double_answer", "doubles_order", "extra_after_doubles", "dead_double", "blank",
)  # fmt: skip


class Difference(Exception):
    """The two implementations disagree."""


def compare_round(number: int, seed: int) -> tuple[Rules, int, bool]:
    """Plays a round on both; its rules, its moves and whether it was blocked. Raises ``Difference``."""
    rng = random.Random(f"{seed}/{number}")
    rules = random_rules(rng)
    deal = random_deal(rules, rng)
    style = rng.choice(STYLES)
    played: list[str] = []
    try:
        core, reference = CoreRound(rules, deal), ReferenceRound(rules, deal)
        while True:
            # All events are compared where it matters most; each step would make long rounds slow.
            wrong = differences(core, reference, with_events=reference.over or rng.random() < 0.2)
            if wrong or reference.over:
                break
            move = choose(reference.legal_moves(), reference.turn, style, rng)
            core.apply(move)
            reference.apply(move)
            played.append(move)
    except ValueError as error:
        wrong = [f"raised {error}"]
    if wrong:
        raise Difference(
            "\n".join(
                [
                    f"round {number} of seed {seed}: the two differ after {len(played)} moves",
                    f"rules: {rules}",
                    f"deal: {deal}",
                    f"moves: {' '.join(played)}",
                    *wrong,
                ]
            )
        )
    return rules, len(played), reference.blocked


def soak(seed: int, numbers: Iterable[int], seconds: float) -> int:
    """Compares rounds until the time is over; the exit code."""
    counts: collections.Counter[tuple[str, object]] = collections.Counter()
    rounds = moves = blocked = 0
    began = time.monotonic()
    for number in numbers:
        if time.monotonic() - began >= seconds:
            break
        try:
            rules, length, was_blocked = compare_round(number, seed)
        except Difference as difference:
            print(difference)
            print(f"to see it again: python tests/soak.py --seed {seed} --round {number}")
            return 1
        rounds, moves, blocked = rounds + 1, moves + length, blocked + was_blocked
        counts.update((name, getattr(rules, name)) for name in COUNTED)
    for name in COUNTED:
        values = sorted((value for key, value in counts if key == name), key=lambda v: (str(type(v)), v))
        print(f"{name:20}", "  ".join(f"{value}: {counts[name, value]}" for value in values))
    elapsed = time.monotonic() - began
    print(f"{rounds} rounds, {moves} moves, {blocked} blocked, 0 differences, {elapsed:.1f} s, seed {seed}")
    return 0


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare the fast core with the reference on random rounds.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other rounds (default 1)")
    parser.add_argument("--round", type=int, help="only the round of this number")
    arguments = parser.parse_args()
    numbers = range(sys.maxsize) if arguments.round is None else [arguments.round]
    return soak(arguments.seed, numbers, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
