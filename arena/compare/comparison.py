"""What is compared, how it is played, and how sure the answer shall be."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Final

from caboose.arena.config.engine_spec import MOST_BLOCKS, EngineSpec
from caboose.arena.ladder.config import DEFAULT_GENERATION, PAIR, PAIRINGS, LadderSpec, ListSpec
from caboose.arena.stats.sprt import SequentialTest
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl

LIST: Final = "compare"  # the only list of a comparison's database
REPORT: Final = "report.html"
DEFAULT_TEST: Final = SequentialTest(low=0, high=1, unit="pips")
DEFAULT_MOST: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Whether ``one`` is better than ``other``, under ``rules`` and ``control``.

    Both sit on equally many seats, in turn on fewer and on more than half of them (``shared_seats``); or, if there is a
    ``pool``, on one each while the pool has the rest. ``bounds`` are the hypotheses; how many games a block has is
    put into them here. After ``most`` blocks the test ends undecided, under ``strict`` also with the first fault.
    ``seed`` decides all deals. ``records`` keeps the games as text. Raises ``ValueError`` for what makes no sense.
    """

    one: EngineSpec
    other: EngineSpec
    pool: EngineSpec | None = None
    rules: Rules
    control: TimeControl
    bounds: SequentialTest = DEFAULT_TEST
    most: int = DEFAULT_MOST
    seed: int
    in_process: bool = False
    on_fault: str = "fallback"
    crashed: str = "lost"
    strict: bool = False
    records: bool = False

    def __post_init__(self) -> None:
        names = [engine.name for engine in self.engines]
        if len(set(names)) < len(names):
            raise ValueError(f"engines are told apart by their names, but they are {', '.join(names)}")
        if self.pool is not None and self.rules.players < 3:
            raise ValueError("with a pool a table has at least 3 players")
        if not 1 <= self.most <= MOST_BLOCKS:
            raise ValueError(f"a test has 1 to {MOST_BLOCKS:,} blocks at most, not {self.most}")
        object.__setattr__(self, "bounds", replace(self.bounds, games=self.rules.players))

    @property
    def engines(self) -> tuple[EngineSpec, ...]:
        """All that play: the one, the other, and the pool if there is one."""
        return (self.one, self.other) if self.pool is None else (self.one, self.other, self.pool)

    def ladder(self) -> LadderSpec:
        """The ladder that plays it: one list, which is longer than the test may be."""
        names = tuple([engine.name for engine in self.engines])
        spec = ListSpec(
            name=LIST,
            format=PAIR,
            rules=self.rules,
            control=self.control,
            blocks=self.most,
            engines=names,
            heroes=names[:2],
            pairing=PAIRINGS[0],
            generation=DEFAULT_GENERATION,
            on_fault=self.on_fault,
            crashed=self.crashed,
        )
        return LadderSpec(
            seed=self.seed, in_process=self.in_process, records=self.records, engines=self.engines, lists=(spec,)
        )

    def settings(self) -> dict[str, str]:
        """All that must be the same when the test goes on later, as text by name: all but ``most``."""
        bounds = self.bounds
        told = {name: _told(engine) for name, engine in zip(("A", "B", "the pool"), self.engines, strict=False)}
        told |= {
            "the rules": str(self.rules),
            "the time": str(self.control),
            "H0": f"{bounds.low:g} {bounds.unit}",
            "H1": f"{bounds.high:g} {bounds.unit}",
            "alpha": f"{bounds.alpha:g}",
            "beta": f"{bounds.beta:g}",
            "the seed": str(self.seed),
        }
        policies = {"in process": self.in_process, "strict": self.strict, "records": self.records}
        told |= {name: "yes" if value else "no" for name, value in policies.items()}
        return told | {
            "on a fault": self.on_fault,
            "a crashed game": self.crashed,
            "limits of time": repr(self.control),
        }


def difference(kept: str, now: str) -> str:
    """The first thing in which two comparisons' settings (as JSON) differ, for people; empty where none does."""
    before, after = json.loads(kept), json.loads(now)
    for name in [*before, *after]:
        if before.get(name) != after.get(name):
            return f"{name}: {before.get(name, 'none')}, not {after.get(name, 'none')}"
    return ""


def _told(engine: EngineSpec) -> str:
    """An engine with all that it is started with."""
    parts = [engine.name, engine.builtin or shlex.join(engine.command)]
    parts += [f"{name}={value}" for name, value in engine.options]
    if engine.sandbox:
        parts.append("sandbox" + "".join(f" +{path}" for path in engine.share))
    if not engine.builtin:
        parts.append(repr(engine.resources))
    return " ".join(parts)
