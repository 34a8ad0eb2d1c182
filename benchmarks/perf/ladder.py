"""How long the standings and the report of a large ladder take, and how much memory: a database with made-up games.

    python benchmarks/perf/ladder.py --games 1000000
    python benchmarks/perf/ladder.py --games 10000 --engines 200 --report
    python benchmarks/perf/ladder.py --games 10000 --engines 1000 --report
    python benchmarks/perf/ladder.py --games 300 --engines 100

Strengths are drawn by lot, places follow Plackett and Luce; nothing is played. OPENBLAS_NUM_THREADS=1 shows what one
thread takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

from caboose.arena.blocks.game_rows import SEAT
from caboose.arena.ladder.edit import init
from caboose.arena.ladder.store import BlockKey, Entry, Store
from caboose.arena.storage.ladder_folder import DATABASE

ENGINES: Final = 12  # unless told otherwise
PLAYERS: Final = 4
PIPS: Final = 8.0  # a round: what luck does
MIB: Final = 1 << 10  # KiB, in which the system tells memory


def make_ladder(folder: Path, games: int, seed: int, engines: int = ENGINES) -> None:
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
            for number in range(engines)
        ]
        row = store.add_list("main", PLAYERS, "made up")
        strengths = generator.normal(size=engines)
        for number in range(games // PLAYERS):
            lineup = generator.permutation(engines)[:PLAYERS]
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


def measure(folder: Path, *words: str) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and MiB that ``caboose ladder`` with ``words`` takes, all of it."""
    before = time.perf_counter()
    command = [sys.executable, "-m", "caboose.cli.main", "ladder", *words, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - before, used.ru_utime + used.ru_stime, used.ru_maxrss / MIB


def main() -> None:
    """The script."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--engines", type=int, default=ENGINES)
    parser.add_argument("--report", action="store_true", help="measure the report and the standings as JSON, too")
    parser.add_argument(
        "--folder", type=Path, help="where to make the ladder, and leave it; used as it is if it is there"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "ladder"
        if not (folder / DATABASE).exists():
            make_ladder(folder, given.games, 1, given.engines)
        size = (folder / DATABASE).stat().st_size / (1 << 20)
        with Store.open(folder / DATABASE) as store:
            _, games = store.counts()
            engines = len(store.entries())
        print(f"{games:,} games of {engines} engines, {size:.0f} MiB on disk")
        for words in [["standings"], *([["standings", "--json"], ["report"]] if given.report else [])]:
            seconds, busy, memory = measure(folder, *words)
            told = f"{seconds:6.1f} s ({busy:.1f} s of processor time), {memory:.0f} MiB of memory"
            print(f"{' '.join(words):<18} {told}", flush=True)
        if given.report:
            print(f"the page has {(folder / 'report.html').stat().st_size / (1 << 20):.1f} MiB")


if __name__ == "__main__":
    main()
