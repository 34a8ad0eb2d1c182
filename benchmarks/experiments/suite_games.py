"""How far the loss on a suite tells who wins games: ``python benchmarks/experiments/suite_games.py [SUITE]``, about a
minute.

The variants are those whose margins over three planners docs/explanation/search.md has (4 players, ``family``,
double-12, one round a deal). Each is asked the suite's positions for that table with three seeds. The table is in
docs/guides/suite.md.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

import numpy as np

from caboose.arena.blocks.contestants import Contestant, Entrant
from caboose.arena.suite.figures import mean_over_deals
from caboose.arena.suite.file import STANDARD, read_suite
from caboose.arena.suite.score import Entry, score
from caboose.protocol.referee.timing import TimeControl

SEEDS: Final = (0, 1, 2)
NODES: Final = (100, 300, 1000, 3000)
PARTS: Final = {
    "Playouts=greedy": -0.1, "Playouts=random": 0.4, "PlanNodes=5": 5.1, "Noise=0": 7.3, "Inference=0": 4.3,
    "WinBonus=0": 5.9, "Endgame=0": 6.0,
}  # fmt: skip

# Bot, options, nodes; the margin in pips a round.
MARGINS: Final[tuple[tuple[str, str, int, float], ...]] = (
    ("random", "", 1, -33.5),
    ("planner", "", 1, 0.0),
    *(("mcts", "", nodes, margin) for nodes, margin in zip(NODES, (5.4, 6.0, 7.9, 8.6), strict=True)),
    *(("mcts", "Laps=0", nodes, margin) for nodes, margin in zip(NODES, (-0.1, 4.3, 5.9, 8.9), strict=True)),
    *(
        ("mcts", f"Level={level}", 2000, margin)
        for level, margin in enumerate((-17.8, -11.7, -10.1, -5.0, -1.9, -0.1, 3.7, 4.5, 7.2, 6.2), 1)
    ),
    *(("mcts", f"Laps=0 {part}", 1000, margin) for part, margin in PARTS.items()),
)


def main() -> None:
    """Prints the loss of each variant beside its margin, and their correlation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("suite", nargs="?", default=STANDARD)
    suite = read_suite(parser.parse_args().suite)
    views = [position.place.view for position in suite.positions]
    numbers = [n for n, view in enumerate(views) if (view.rules.preset, view.rules.players) == ("family", 4)]
    deals = [suite.positions[number].place.deal for number in numbers]
    losses, margins = [], []
    print(
        f"{len(numbers)} positions\nvariant                          margin  loss ± 95 %    seconds of processor time"
    )
    for name, options, nodes, margin in MARGINS:
        chosen = tuple((option, value) for option, _, value in (text.partition("=") for text in options.split()))
        seeds = SEEDS if name in ("mcts", "random") else ()
        entry = Entry(Contestant(name, Entrant(name, ()), chosen), TimeControl(nodes=nodes), seeds=seeds)
        begun = time.process_time()
        found = mean_over_deals(score(suite, [entry], positions=numbers)[0].losses(), deals)
        took = time.process_time() - begun
        assert found.mean is not None
        losses.append(found.mean)
        margins.append(margin)
        label = f"{name} {options} {nodes}"
        print(f"{label:32s} {margin:6.1f}  {found.mean:.3f} ± {found.half or 0:.3f}  {took:6.1f}", flush=True)
    all_losses, all_margins = np.array(losses), np.array(margins)
    for what, which in (("all", all_margins > -100), ("that beat planner", all_margins > 0)):
        slope, start = np.polyfit(all_losses[which], all_margins[which], 1)
        off = all_margins[which] - np.polyval((slope, start), all_losses[which])
        correlation = np.corrcoef(all_losses[which], all_margins[which])[0, 1]
        print(
            f"{what} ({which.sum()}): correlation {correlation:.2f}, {slope:.1f} pips a round for a pip a decision, "
            f"{off.std():.1f} off that line (standard deviation)"
        )


if __name__ == "__main__":
    main()
