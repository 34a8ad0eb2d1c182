"""A comparison from its first block, or from where it was, to its verdict.

It is kept as a ladder with one list: its folder can be read by ``caboose ladder standings``, ``games`` and ``export``.
What it plays, and in which order it looks at it, follows from its seed; so whatever ends it, called again it comes to
the verdict, after the blocks, that it would have come to.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from caboose.arena import caboose_version
from caboose.arena.blocks.block_order import block_order
from caboose.arena.blocks.game_rows import FaultRow, Seats
from caboose.arena.compare.comparison import LIST, Comparison, difference
from caboose.arena.compare.judge import UNITS, Judge, Place, Tally
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.execution.executors import Executor
from caboose.arena.ladder.config import FILE
from caboose.arena.ladder.run import Limit, Run, open_store, play, prepare
from caboose.arena.ladder.schedule import lineups
from caboose.arena.ladder.store import BlockKey, Entry, FaultFound, Store
from caboose.arena.stats.bootstrap import CONFIDENCE, Estimate
from caboose.arena.stats.sprt import CONTINUE, H0, H1, SequentialTest, State
from caboose.arena.storage.ladder_folder import DATABASE, LOCK, locked
from caboose.arena.storage.sqlite import beside
from caboose.protocol.referee.referee import Fault

KEY: Final = "comparison"  # of the setting in the database by which it is known to be one
EXACT: Final = "test"  # of that which has the hypotheses with all their digits, and the most blocks of the last call
CALL: Final = "call"  # of that which has the last command line
_CHUNK: Final = 2000  # blocks that are read at once


class Watcher(Protocol):
    """Somebody who follows a comparison. The judge knows how it stands."""

    def begin(self, judge: Judge) -> None:
        """It is going to play, or was over already."""

    def game_over(self) -> None:
        """A game was played."""

    def block_over(self, games: int) -> None:
        """A block of that many games was played, kept and judged, or waits for others."""


class Nobody:
    """A watcher that sees nothing."""

    def begin(self, judge: Judge) -> None: ...

    def game_over(self) -> None: ...

    def block_over(self, games: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a comparison ended. All but ``seconds`` is the same however often it was interrupted, under node limits.

    ``verdict`` is ``H1`` (the one is better by what the bounds say), ``H0`` or ``continue``; then ``why`` says why it
    ended. ``tally`` are the blocks that were judged, ``llr`` is what they come to. ``gain`` is by how much the one is
    better in the unit of the test, ``pips`` and ``elo`` the same in these, each with its 95 % interval over blocks.
    ``entries``: the engines as they are, the one first, and ``faults`` the first fault of each in the blocks that were
    judged, or None. ``to_go``: about how many blocks are missing, if that is known.
    """

    comparison: Comparison
    verdict: str
    why: str
    llr: float
    tally: Tally
    gain: Estimate
    pips: Estimate
    elo: Estimate
    entries: tuple[Entry, ...]
    faults: tuple[Fault | None, ...]
    to_go: float | None
    seconds: float

    @property
    def state(self) -> State:
        """What the test knows of the blocks."""
        return self.tally.states[UNITS.index("pips" if self.comparison.bounds.unit == "pips" else "elo")]

    @property
    def better(self) -> bool | None:
        """Whether the one is better, as far as the test says; None where it does not."""
        return {H1: True, H0: False}.get(self.verdict)


def run_test(
    comparison: Comparison,
    executor: Executor,
    *,
    folder: Path | None = None,
    limit: Limit | None = None,
    watcher: Watcher | None = None,
    call: str = "",
) -> Verdict:
    """Plays ``comparison`` with ``executor``, which it closes, until there is a verdict, or until ``limit``.

    ``folder`` keeps it, and the next call with it goes on there; without one it is gone at the end. ``call``, the
    command line, is kept with it. An interruption (Ctrl-C) ends it undecided. Raises ``CallError`` where the folder has
    another comparison, ``RunError`` when an engine does not start or something other than a player fails for good.
    """
    started = time.monotonic()
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="caboose-compare-")))
        _make(folder, comparison)
        stack.enter_context(locked(folder))
        store = stack.enter_context(_open(folder, comparison))
        ladder = comparison.ladder()
        run = prepare(folder, ladder, store)
        entries = tuple([run.roster[engine.name] for engine in comparison.engines])
        for entry in entries:
            if entry.edition > 1:
                raise CallError(
                    f"{folder}: {entry.name} is not the program any more with which this comparison began (its hash or "
                    "its version has changed): expected the same, or another folder"
                )
        test = {name: getattr(comparison.bounds, name) for name in ("low", "high", "alpha", "beta")}
        store.set_meta(EXACT, json.dumps(test | {"most": comparison.most}))
        store.set_meta(CALL, call)
        numbers = [entry.id for entry in entries]
        judge = make_judge(comparison, numbers)
        follower = _Follower(judge, numbers, watcher or Nobody())
        load(judge, store, run.lists[0].row.id, numbers)
        why = play(run, executor, limit or Limit(), follower, lambda: judge.over)
        faults = _first_faults(comparison, judge, entries, store, run.lists[0].row.id)
        return conclude(comparison, judge, entries, why, time.monotonic() - started, faults)


def make_judge(comparison: Comparison, entries: Sequence[int]) -> Judge:
    """The judge of a comparison that has seen nothing yet; ``entries`` has the numbers of the engines' entries."""
    order = _order(comparison, entries)
    return Judge(comparison.bounds, order, *entries[:2], most=comparison.most, strict=comparison.strict)


def _order(comparison: Comparison, entries: Sequence[int]) -> Iterator[Place]:
    """The order in which blocks are judged."""
    spec = comparison.ladder().lists[0]
    return block_order(comparison.seed, LIST, lineups(spec, entries, entries[:2]), range(comparison.most))


def kept_seed(folder: Path) -> int | None:
    """The seed of the comparison in ``folder``, None where there is none yet. Raises ``RunError``."""
    if not (folder / DATABASE).exists():
        return None
    with open_store(folder) as store:
        seed = store.meta("seed")
    return int(seed) if seed else None


def load(judge: Judge, store: Store, list: int, entries: Sequence[int]) -> None:
    """Lets ``judge`` have what was played before. ``entries`` as for ``make_judge``."""
    kinds = {entry: kind for kind, entry in enumerate(entries)}
    replays: Counter[tuple[int, int]] = Counter()
    for fault in store.faults(list):
        if fault.replayed:
            replays[fault.block, kinds[fault.entry]] += 1
    numbers = {row.key: row.id for row in store.blocks(list)} if replays else {}
    results = store.results(list)
    while some := [*islice(results, _CHUNK)]:
        of_block = [numbers.get(key, 0) for key, _ in some]
        again = [(replays[id, 0], replays[id, 1], replays[id, 2]) for id in of_block]
        judge.add([_place(key) for key, _ in some], np.stack([seats for _, seats in some]), again)


class _Follower:
    """Follows the run of the ladder, and hands its blocks to the judge."""

    def __init__(self, judge: Judge, entries: Sequence[int], watcher: Watcher) -> None:
        self._judge = judge
        self._kinds = {entry: kind for kind, entry in enumerate(entries)}
        self._watcher = watcher

    def begin(self, run: Run) -> None:
        """As a watcher of the ladder."""
        self._watcher.begin(self._judge)

    def game_over(self) -> None:
        """As a watcher of the ladder."""
        self._watcher.game_over()

    def block_over(self, key: BlockKey, games: Sequence[Seats], faults: Sequence[FaultRow]) -> None:
        """As a watcher of the ladder."""
        again = Counter(self._kinds[int(games[row.game][row.seat]["entry"])] for row in faults if row.replayed)
        self._judge.add([_place(key)], np.stack(games)[None], [(again[0], again[1], again[2])])
        self._watcher.block_over(len(games))


def _place(key: BlockKey) -> Place:
    return key.number, key.lineup


# ------------------------------------------------------------------------------------------------- the folder


def _make(folder: Path, comparison: Comparison) -> None:
    """Makes the folder of a comparison, if there is none. Raises ``CallError`` for one that is something else."""
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder}: this is a file, expected the folder of a comparison, or a new one")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / FILE).exists():
            raise CallError(f"{folder}: this is a ladder, expected the folder of a comparison, or a new one")
        if not (folder / DATABASE).exists():
            ours = (LOCK, *beside(DATABASE))
            if others := [name for name in os.listdir(folder) if name not in ours]:
                raise CallError(
                    f"{folder}: there is {others[0]} in it, expected the folder of a comparison, or a new one"
                )
    except OSError as error:
        raise RunError(f"{folder}: {cause(error)}") from None


def _open(folder: Path, comparison: Comparison) -> Store:
    """The database of a comparison, which is made if there is none. The folder is locked."""
    settings = json.dumps(comparison.settings())
    if not (folder / DATABASE).exists():
        now = datetime.now(UTC).isoformat(timespec="seconds")
        meta = {"seed": str(comparison.seed), "created": now, "caboose": caboose_version(), KEY: settings}
        Store.create(folder / DATABASE, meta)
    store = open_store(folder, writing=True)
    kept = store.meta(KEY)
    wrong = difference(kept, settings) if kept else ""
    if not kept or wrong:
        store.close()
        raise CallError(
            f"{folder}: another comparison is kept there ({wrong}): expected the same call, or another folder"
            if kept
            else f"{folder}: this is a ladder, expected the folder of a comparison, or a new one"
        )
    return store


# ------------------------------------------------------------------------------------------------- the verdict


def _first_faults(
    comparison: Comparison, judge: Judge, entries: tuple[Entry, ...], store: Store, number: int
) -> tuple[Fault | None, ...]:
    """The first fault of each engine in the blocks that were judged, in their order."""
    first: dict[int, Fault] = {}
    if any(judge.tally.faults):
        places = {row.id: _place(row.key) for row in store.blocks(number)}
        at: dict[Place, list[FaultFound]] = {}
        for found in store.faults(number):
            at.setdefault(places[found.block], []).append(found)
        for place in islice(_order(comparison, [entry.id for entry in entries]), judge.tally.blocks):
            for found in at.get(place, []):
                first.setdefault(found.entry, found.fault)
    return tuple([first.get(entry.id) for entry in entries])


def conclude(
    comparison: Comparison,
    judge: Judge,
    entries: tuple[Entry, ...],
    why: str,
    seconds: float,
    faults: tuple[Fault | None, ...] = (),
) -> Verdict:
    """What ``judge`` has found. ``why`` it ended if there is no verdict; empty where that follows from the judge.
    ``faults`` has the first fault of each engine."""
    pips, elo = judge.tally.states
    decided = judge.verdict != CONTINUE
    if not decided and not why:
        if comparison.strict and any(judge.tally.faults):
            why = "there was a fault"
        elif judge.tally.blocks >= comparison.most:
            why = f"not more than {comparison.most:,} block{'' if comparison.most == 1 else 's'}"
        else:
            why = "its time is over"
    return Verdict(
        comparison=comparison,
        verdict=judge.verdict,
        why="" if decided else why,
        llr=judge.llr,
        tally=judge.tally,
        gain=interval(judge.test, judge.state),
        pips=interval(SequentialTest(low=0, high=1, unit=UNITS[0]), pips),
        elo=interval(SequentialTest(low=0, high=1, unit=UNITS[1]), elo),
        entries=entries,
        faults=faults,
        to_go=None if decided else judge.to_go,
        seconds=seconds,
    )


def interval(test: SequentialTest, state: State) -> Estimate:
    """The effect that blocks have shown, in the unit of a test, with Student's interval over them. What has no end on
    the scale is None."""
    if not state.count:
        return Estimate()
    deviation = math.sqrt(state.variance)
    value = _finite(test.effect(state.mean, deviation))
    if state.count < 2:
        return Estimate(value)
    from scipy.special import stdtrit  # slow to load

    error = deviation / math.sqrt(state.count - 1)
    half = float(stdtrit(state.count - 1, (1 + CONFIDENCE) / 2)) * error
    low, high = (_finite(test.effect(state.mean + side, deviation)) for side in (-half, half))
    per = None if low is None or high is None or half == 0 else error * (high - low) / (2 * half)
    return Estimate(value, 0.0 if half == 0 else per, low, high)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
