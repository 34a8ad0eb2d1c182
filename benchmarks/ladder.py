"""How long the standings of a large ladder take, and how much memory: a database with made-up games.

    python benchmarks/ladder.py --games 1000000

Strengths are drawn by lot, places follow Plackett and Luce; nothing is played.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from caboose.arena.ladder.edit import init
from caboose.arena.ladder.folder import DATABASE
from caboose.arena.ladder.rows import SEAT
from caboose.arena.ladder.store import BlockKey, Entry, Store

ENGINES: Final = 12
PLAYERS: Final = 4
PIPS: Final = 8.0  # a round: what luck does
MIB: Final = 1 << 10  # KiB, in which the system tells memory


def make_ladder(folder: Path, games: int, seed: int) -> None:
    """Makes a ladder in ``folder`` with ``games`` games between made-up engines, in blocks of a game for each seat."""
    init(folder, 1, in_process=True, records=False, logs=False)
    generator = np.random.default_rng(seed)
    with Store.open(folder / DATABASE, writing=True) as store:
        # Without waiting for the disk after each block, which takes most of the time here.
        store._connection.execute("PRAGMA synchronous = OFF")
        entries = [
            store.add_entry(
                Entry(0, f"engine-{number}", 0, f"{number}", "mcts", "", "1", "", "2026-01-01T00:00:00+00:00")
            )
            for number in range(ENGINES)
        ]
        row = store.add_list("main", PLAYERS, "made up")
        strengths = generator.normal(size=ENGINES)
        for number in range(games // PLAYERS):
            lineup = generator.permutation(ENGINES)[:PLAYERS]
            chances = strengths[lineup] + generator.gumbel(size=(PLAYERS, PLAYERS))
            places = 1 + np.argsort(np.argsort(-chances, axis=1), axis=1)
            seats = np.zeros((PLAYERS, PLAYERS), SEAT)
            seats["entry"] = [entries[at].id for at in lineup]
            seats["place"], seats["counted"], seats["rounds"], seats["decisions"] = places, 1, 13, 200
            seats["margin"] = PIPS * (2.5 - places) + generator.normal(size=places.shape)
            seats["games_won"] = places == 1
            seats["rounds_won"] = seats["games_won"]
            ids = tuple([entries[at].id for at in lineup])
            store.commit(BlockKey(row.id, number, ids), list(seats), [], finished="2026-01-01", record=None)


def measure(folder: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and MiB that ``caboose ladder standings`` takes, all of it."""
    before = time.perf_counter()
    command = [sys.executable, "-m", "caboose.arena.cli", "ladder", "standings", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - before
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / MIB


def main() -> None:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument(
        "--folder", type=Path, help="where to make the ladder, and leave it; used as it is if it is there"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "ladder"
        if not (folder / DATABASE).exists():
            make_ladder(folder, given.games, seed=1)
        size = (folder / DATABASE).stat().st_size / (1 << 20)
        with Store.open(folder / DATABASE) as store:
            _, games = store.counts()
        seconds, busy, memory = measure(folder)
        print(
            f"{games:,} games, {size:.0f} MiB on disk: standings in {seconds:.1f} s "
            f"({busy:.1f} s of processor time), {memory:.0f} MiB of memory"
        )


if __name__ == "__main__":
    main()
