"""A comparison as it is kept in a folder: read without playing, whether it is over, was interrupted or goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from caboose.arena.compare.comparison import DEFAULT_MOST, Comparison
from caboose.arena.compare.judge import Judge
from caboose.arena.compare.run import CALL, EXACT, KEY, Verdict, conclude, load, make_judge
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.errors import RunError
from caboose.arena.ladder.run import open_store
from caboose.arena.ladder.store import FaultFound, Store
from caboose.arena.stats.sprt import SequentialTest
from caboose.arena.storage.ladder_folder import DATABASE, runner
from caboose.arena.storage.sqlite import damaged
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl

LAST_FAULTS: Final = 10
_ROLES: Final = ("A", "B", "the pool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A comparison that is kept. ``judge`` has judged its blocks, and ``found`` is what they come to so far.

    ``settings`` are those of ``Comparison.settings``, with the engines as they are started and the time; in ``found``
    the engines have but their names. ``last``: the last faults, at most ``LAST_FAULTS``, each with the name of its
    engine and the number of its block, from 0. ``runner`` plays there now, empty if nobody does. ``call`` was the last
    command line, empty if it is not known.
    """

    judge: Judge
    found: Verdict
    settings: dict[str, str]
    last: tuple[tuple[str, int, FaultFound], ...]
    runner: str
    call: str


def is_comparison(folder: Path) -> bool:
    """Whether a comparison is kept in ``folder``. Raises ``RunError`` for a database that cannot be read."""
    if not (folder / DATABASE).is_file():
        return False
    with open_store(folder) as store:
        return bool(store.meta(KEY))


def read_kept(folder: Path) -> Kept:
    """The comparison in ``folder`` as far as it is. Raises ``RunError``."""
    playing = runner(folder)
    with open_store(folder) as store, store.snapshot():
        if not store.meta(KEY):
            raise RunError(f"{folder}: this is a ladder, expected the folder of a comparison")
        entries = tuple([entry for entry in store.entries() if entry.edition == 1])
        try:
            settings = json.loads(store.meta(KEY))
            wanted = sum(role in settings for role in _ROLES)
            if len(entries) < wanted or not store.lists():
                raise RunError(f"{folder}: the comparison has not begun: expected that its engines have started once")
            comparison = _comparison(store, settings, [entry.name for entry in entries[:wanted]])
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise RunError(damaged(folder / DATABASE, f"the settings of the comparison: {error!r}")) from None
        numbers = [entry.id for entry in entries[:wanted]]
        judge = make_judge(comparison, numbers)
        row = store.lists()[0].id
        load(judge, store, row, numbers)
        names = {entry.id: entry.name for entry in entries}
        last = [*store.faults(row)][-LAST_FAULTS:]
        faults = [(names.get(each.entry, "?"), store.block(each.block).key.number, each) for each in last]
        why = "" if judge.over else "its blocks so far"
        return Kept(
            judge=judge,
            found=conclude(comparison, judge, entries[:wanted], why, 0.0),
            settings=settings,
            last=tuple(reversed(faults)),
            runner=playing,
            call=store.meta(CALL),
        )


def _comparison(store: Store, settings: dict[str, str], names: list[str]) -> Comparison:
    """What is compared, as far as its blocks need it to be judged: engines have but names, and the time is not known.
    Raises ``KeyError``, ``TypeError`` and ``ValueError`` for settings that are none."""
    low, unit = settings["H0"].split()
    exact = json.loads(store.meta(EXACT) or "{}")  # an older Caboose kept but what people see
    engines = [EngineSpec(name=name, builtin="", command=()) for name in names]
    return Comparison(
        one=engines[0],
        other=engines[1],
        pool=engines[2] if len(engines) > 2 else None,
        rules=Rules.parse(settings["the rules"]),
        control=TimeControl(),
        bounds=SequentialTest(
            low=float(exact.get("low", low)),
            high=float(exact.get("high", settings["H1"].split()[0])),
            unit=unit,
            alpha=float(exact.get("alpha", settings["alpha"])),
            beta=float(exact.get("beta", settings["beta"])),
        ),
        most=int(exact.get("most", DEFAULT_MOST)),
        seed=int(settings["the seed"]),
        strict=settings["strict"] == "yes",
    )
