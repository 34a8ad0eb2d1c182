"""What playing each deal in every rotation gains, and how two bots best share a table.

    python benchmarks/experiments/rotation.py [--blocks N] [--players 2 4 8] [--only NAME]

For pairs that differ more and less it plays blocks of one round a game under the rules ``family``: one against copies
of the other, as ``caboose match`` does; sharing the seats as in ``caboose compare``; and with half of the seats each.
The figures of docs/explanation/statistics.md: the variance factor, the gain of the first bot in pips a round, and the
standard deviation of a block.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import caboose.bots as bots
from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.arena.blocks.block_order import shared_seats
from caboose.arena.blocks.contestants import About, Lineup, make_contestants, make_entrants
from caboose.arena.stats.game_table import Games, join
from caboose.arena.stats.seat_bias import gain
from caboose.arena.stats.sprt import State, block_values
from caboose.engine.bot_api import Bot, Limits
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl
from played import columns, renumbered


class Differing:
    """A built-in bot that differs a little from itself: searches ``nodes`` nodes, or plays ``often`` one of 100 moves
    as ``random`` would."""

    def __init__(self, builtin: str, *, nodes: int = 1, often: int = 0, **options: str) -> None:
        self.name = builtin
        self._bot = bots.create(builtin, **options)
        self._lots = bots.create("random")
        self.options = self._bot.options
        self._nodes, self._often = nodes, often

    def set_option(self, name: str, value: str) -> None:
        """As a bot."""
        self._bot.set_option(name, value)

    def new_game(self) -> None:
        """As a bot."""
        self._bot.new_game()

    def choose(self, observation: Observation, limits: Limits) -> Move:
        """As a bot."""
        # By lot, but the same wherever the same is seen: the number of events and the hand decide.
        lot = hash((len(observation.events), *[tile.id for tile in observation.hand])) % 100
        bot = self._lots if lot < self._often else self._bot
        return bot.choose(observation, replace(limits, nodes=self._nodes))


Maker = Callable[[], Bot]
PAIRS: Final[dict[str, tuple[Maker, Maker]]] = {
    "greedy, of 20 moves one by lot": (lambda: Differing("greedy"), lambda: Differing("greedy", often=5)),
    "greedy, of 5 moves one by lot": (lambda: Differing("greedy"), lambda: Differing("greedy", often=20)),
    "planner, PlanNodes 10000, 100": (lambda: Differing("planner"), lambda: Differing("planner", PlanNodes="100")),
    "planner, greedy": (lambda: Differing("planner"), lambda: Differing("greedy")),
    "mcts, 120 and 100 nodes": (lambda: Differing("mcts", nodes=120), lambda: Differing("mcts", nodes=100)),
}


def ways(players: int) -> dict[str, list[tuple[int, ...]]]:
    """The ways to share a table, each as line-ups that are played in turn."""
    half = players // 2
    found: dict[str, list[tuple[int, ...]]] = {"one": [(0,) + (1,) * (players - 1)]}
    if players > 2:
        found |= {"shared": shared_seats(0, 1, players), "halves": [(0,) * half + (1,) * (players - half)]}
    return found


def play(pair: tuple[Maker, Maker], entries: tuple[int, ...], blocks: int, seed: int = 1) -> Games:
    """Blocks between the two; ``entries`` has 0 or 1 for each player."""
    contestants = make_contestants(make_entrants(["greedy", "planner"], ()), [About()] * 2, ())
    plan = Plan(
        rules=Rules.of("family", len(entries), rounds=1),
        lineup=Lineup(contestants, entries),
        control=TimeControl(nodes=1),
        seed=seed,
        in_process=True,
    )
    players = [pair[entry]() for entry in entries]
    with Bench(plan, players) as bench:
        played = [play_block(plan, bench, block, lambda: None) for block in range(blocks)]
    faults = [seat.fault for block in played for game in block.games for seat in game.result.seats if seat.fault]
    if faults:
        raise RuntimeError(f"a bot failed: {faults[0].detail}")
    return columns(played, entries)


def main() -> None:
    """Prints a line for each pair, size of table and way to share it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--blocks", type=int, default=400)
    parser.add_argument("--players", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--only", default="", help="only pairs whose name begins so")
    given = parser.parse_args()
    for name, pair in PAIRS.items():
        for players in given.players if name.startswith(given.only) else []:
            for way, lineups in ways(players).items():
                start = time.process_time()
                parts = [play(pair, lineup, given.blocks // len(lineups)) for lineup in lineups]
                games = join([renumbered(part, len(parts), at) for at, part in enumerate(parts)])
                _, values = block_values(games, 0, 1, "pips")
                state = State().with_blocks(values.tolist())
                deviation = state.variance**0.5
                factor = gain(games).factor
                print(
                    f"{name:<32} {players} players, {way:<6} {len(values):>5} blocks: "
                    f"factor {'-' if factor is None else f'{factor:.2f}':>6}, gain {state.mean:+6.2f} ± "
                    f"{1.96 * deviation / len(values) ** 0.5:.2f}, deviation {deviation:6.2f}, "
                    f"{time.process_time() - start:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
