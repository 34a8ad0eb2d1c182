"""A ladder that is killed again and again: ``python tests/tools/kill_ladder.py --kills 50``.

It is killed with SIGKILL at times drawn by lot: while it starts, while it plays, while it keeps a block. At the end it
must have exactly the games of a ladder that nobody disturbed, in its database and in its record files. Exit codes: 0 so
it is, 1 it is not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from caboose.arena.blocks.game_rows import TIMES
from caboose.arena.execution.executors import LocalExecutor
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.edit import add, init
from caboose.arena.ladder.export import export_lines, export_records
from caboose.arena.ladder.run import Limit, Run, open_store, play, prepare
from caboose.arena.ladder.store import Store
from caboose.arena.storage.ladder_folder import DATABASE, locked
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord

SEED: Final = 5
MOST_AT_ONCE: Final = 3  # blocks that a run finishes before it is killed
WAIT: Final = 120.0  # seconds for a block; not a promise, but the end of a test that hangs


class Quiet:
    """A watcher that counts."""

    def __init__(self) -> None:
        self.games = 0
        self.blocks = 0

    def begin(self, run: Run) -> None: ...

    def game_over(self) -> None:
        self.games += 1

    def block_over(self, *about: object) -> None:
        self.blocks += 1


def make_ladder(folder: Path, *lists: dict[str, Any], engines: tuple[str, ...] = (), **more: Any) -> None:
    """A ladder of the built-in bots, or of those named, in this process."""
    init(folder, SEED, in_process=True, records=more.pop("records", True), logs=more.pop("logs", False))
    for name in engines or ("random", "greedy", "planner", "mcts"):
        add(folder, "engine", {"name": name, "builtin": name})
    for values in lists:
        add(folder, "list", {"nodes": 10, "rounds": 1} | values)


def play_all(folder: Path, limit: Limit | None = None) -> Quiet:
    """Plays what is left, or as far as ``limit`` says, in this process."""
    watcher = Quiet()
    with locked(folder), open_store(folder, writing=True) as store:
        problem = play(prepare(folder, read_spec(folder), store), LocalExecutor(), limit or Limit(), watcher)
    assert problem == ""
    return watcher


def facts(folder: Path) -> list[dict[str, Any]]:
    """All games of a ladder, but for what the clock says."""
    place = folder.parent / f"{folder.name}.jsonl"
    with open_store(folder) as store, place.open("wb") as file:
        export_lines(store, store.lists(), file)
    games = [json.loads(line) for line in place.read_text().splitlines()]
    for game in games:
        del game["finished"]
        for seat in game["seats"]:
            for name in TIMES:
                del seat[name]
    return games


def recorded(folder: Path) -> list[tuple[object, ...]]:
    """All games of the record files, in the order of the database, but for what the clock and the nonces say."""
    place = folder.parent / f"{folder.name}.txt"
    with open_store(folder) as store, place.open("wb") as file:
        export_records(folder, store, store.lists(), file)
    games: list[tuple[object, ...]] = []
    with place.open("rb") as file:
        for game in read_records(file, str(place)):
            assert isinstance(game, GameRecord), game
            rounds = [(round.deal, [line.event for line in round.events], round.scores) for round in game.rounds]
            games.append((game.event, game.players, rounds, game.totals, game.places))
    return games


def count(folder: Path) -> int:
    """How many blocks are kept."""
    with Store.open(folder / DATABASE) as store:
        return store.counts()[0]


def run_command(folder: Path, concurrency: int) -> list[str]:
    """The command that plays what is left."""
    command = [sys.executable, "-m", "caboose.cli.main", "ladder", "run", str(folder)]
    return [*command, "--concurrency", str(concurrency)]


class Command:
    """A run by the command, as people start it."""

    def __init__(self, folder: Path, concurrency: int) -> None:
        command = run_command(folder, concurrency)
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ended(self) -> bool:
        """Whether it has come to its end."""
        return self._process.poll() == 0

    def kill(self) -> None:
        """Kills it."""
        self._process.kill()
        self._process.wait()


class Fork:
    """A run in a copy of this process, which plays at once, since all is loaded."""

    def __init__(self, folder: Path) -> None:
        self._status: int | None = None
        self._pid = os.fork()
        if not self._pid:
            try:
                play_all(folder)
                os._exit(0)
            finally:
                os._exit(1)

    def ended(self) -> bool:
        """Whether it has come to its end."""
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status == 0

    def kill(self) -> None:
        """Kills it."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            _, self._status = os.waitpid(self._pid, 0)


def kill_often(folder: Path, kills: int, chance: random.Random, start: Callable[[], Command | Fork]) -> int:
    """Plays a ladder with runs that are killed, up to ``kills`` times; returns how often. The last one is not finished,
    unless the ladder was at its end before."""
    for done in range(kills):
        wanted = count(folder) + chance.randrange(MOST_AT_ONCE + 1)
        run = start()
        limit = time.monotonic() + WAIT
        while count(folder) < wanted and not run.ended() and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.1)
        if run.ended():
            return done
        run.kill()
    return kills


def main() -> None:
    """The script."""
    parser = argparse.ArgumentParser(description="Kill a ladder again and again, and compare it with another.")
    parser.add_argument("--kills", type=int, default=50, help="of which every fifth is one of the command")
    parser.add_argument("--seed", type=int, default=1, help="of the times at which it is killed")
    parser.add_argument("--concurrency", type=int, default=2)
    given = parser.parse_args()
    blocks = 2 * given.kills
    lists: tuple[dict[str, Any], ...] = (
        {"name": "tables", "format": "random", "players": 3, "blocks": blocks, "generation": 8},
        {"name": "pairs", "format": "round-robin", "players": 2, "blocks": max(blocks // 12, 1)},
    )
    with tempfile.TemporaryDirectory() as temporary:
        disturbed, undisturbed = Path(temporary) / "disturbed", Path(temporary) / "undisturbed"
        make_ladder(undisturbed, *lists)
        play_all(undisturbed)
        make_ladder(disturbed, *lists)
        chance, done = random.Random(given.seed), 0
        for number in range(given.kills):
            one = partial(Command, disturbed, given.concurrency) if number % 5 == 0 else partial(Fork, disturbed)
            done += kill_often(disturbed, 1, chance, one)
        play_all(disturbed)
        same = facts(disturbed) == facts(undisturbed) and recorded(disturbed) == recorded(undisturbed)
        told = "exactly the games of an undisturbed run" if same else "NOT the games of an undisturbed run"
        print(f"killed {done} times, {count(disturbed)} blocks: {told}")
    sys.exit(0 if same and done == given.kills else 1)


if __name__ == "__main__":
    main()
