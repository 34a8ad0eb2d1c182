"""What ratings are measured from, and who has a place in the standings."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from caboose.arena.errors import CallError
from caboose.arena.ladder.config import FILE, LadderSpec, read_spec
from caboose.arena.ladder.store import Entry, Store
from caboose.arena.stats.ratings import Standings, Tally

MIN_BLOCKS: Final = 10  # intervals of fewer are too narrow (docs/explanation/statistics.md)
MEANS: Final = ("current", "all")
MOST_RATING: Final = 1_000_000
_NAMED: Final = 20  # engines that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """``anchor`` is the label of the entry whose rating is ``rating``; empty: a mean is 0. Under ``mean`` "current" it
    is that of the entries in ``current`` (all where it is None), under "all" of all that have a place. Who has fewer
    than ``min_blocks`` blocks with a game without a fault has none, is provisional, and in no mean. ``must`` says that
    an anchor that has not played is an error."""

    anchor: str = ""
    rating: float = 0.0
    current: Collection[int] | None = None
    mean: str = MEANS[0]
    min_blocks: int = MIN_BLOCKS
    must: bool = False

    def settings(self, entries: Sequence[Entry], played: Sequence[bool]) -> dict[str, Any]:
        """What ``Tally.standings`` is to be told; ``played`` says which entries have a block that counts. Raises
        ``CallError`` for an anchor that has none, if it ``must``."""
        known = [entry.label for entry, there in zip(entries, played, strict=True) if there]
        anchor = next((at for at, entry in enumerate(entries) if entry.label == self.anchor), None)
        if anchor is not None and not played[anchor]:
            anchor = None
        if self.anchor and anchor is None and self.must:
            more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
            raise CallError(
                f"--anchor {self.anchor}: no game of such an engine counts; expected one of "
                f"{', '.join(known[:_NAMED]) or 'none'}{more}"
            )
        mean_of = np.array([self.has_part(entry) for entry in entries], np.bool_)
        level = self.rating if anchor is not None else 0.0
        return {"anchor": anchor, "level": level, "mean_of": mean_of, "fewest": self.min_blocks}

    def has_part(self, entry: Entry) -> bool:
        """Whether the rating of an entry is in the mean, if it has a place."""
        return self.mean == "all" or self.current is None or entry.id in self.current

    def standings(self, entries: Sequence[Entry], tally: Tally) -> Standings:
        """The standings of a ladder's ``tally``. Raises ``CallError`` as ``settings``."""
        return tally.standings(**self.settings(entries, tally.played.tolist()))

    def told(self, entries: Sequence[Entry], found: Standings) -> str:
        """What 0 is, for people."""
        settings = self.settings(entries, [bool(each.blocks) for each in found.contestants])
        if settings["anchor"] is not None:
            return f"{self.anchor} has {self.rating:g}"
        missing = f"{self.anchor}, the anchor, has not played; " if self.anchor else ""
        having = [each for each in found.contestants if each.ranked]
        some = [each for each in having if self.has_part(entries[each.contestant])]
        if not some or len(some) == len([each for each in found.contestants if each.blocks]):
            return f"{missing}their mean is 0"
        who = "engines that still take part" if len(some) < len(having) else "engines with a place"
        return f"{missing}the mean of the {len(some)} {who} is 0"


def parse_anchor(where: str, text: str) -> tuple[str, float]:
    """The label and the rating of ``ENGINE`` or ``ENGINE=RATING``. Raises ``CallError``."""
    label, equals, number = text.partition("=")
    try:
        rating = float(number if number.isascii() else "") if equals else 0.0
    except ValueError:
        rating = math.nan
    if not label or not abs(rating) <= MOST_RATING:
        raise CallError(
            f"{where}: {text!r}: expected the name of an engine, or ENGINE=RATING with a number from "
            f"-{MOST_RATING:,} to {MOST_RATING:,}"
        )
    return label, rating


def make_reference(
    folder: Path,
    store: Store,
    anchor: str | None = None,
    mean: str = MEANS[0],
    min_blocks: int = MIN_BLOCKS,
    spec: LadderSpec | None = None,
) -> Reference:
    """The reference that a call and ``ladder.toml`` ask for; the call decides. ``spec`` None: it is read, if it is
    there (what ``caboose compare --state`` keeps has none). Raises ``CallError``."""
    if spec is None and (folder / FILE).exists():
        spec = read_spec(folder)
    label, rating = "", 0.0
    if anchor is not None:
        label, rating = parse_anchor("--anchor", anchor)
    elif spec is not None and spec.anchor:
        label, rating = parse_anchor(f"{folder / FILE}: anchor", spec.anchor)
    names = None if spec is None else {engine.name for engine in spec.engines}
    return Reference(
        anchor=label,
        rating=rating,
        current=_current(store, names),
        mean=mean,
        min_blocks=min_blocks,
        must=anchor is not None,
    )


def _current(store: Store, names: Collection[str] | None) -> set[int]:
    """The entries of engines that still take part, which are those in ``names`` (None: all): of several editions the
    one that played last."""
    editions: dict[str, list[int]] = {}
    for entry in store.entries():
        if names is None or entry.name in names:
            editions.setdefault(entry.name, []).append(entry.id)
    open_ones = {id for ids in editions.values() if len(ids) > 1 for id in ids}
    names_of = {id: name for name, ids in editions.items() for id in ids}
    found: dict[str, int] = {}
    if open_ones:
        several = {names_of[id] for id in open_ones}
        for block in store.latest():
            for id in block.key.lineup:
                if id in open_ones:
                    found.setdefault(names_of[id], id)
            if len(found) == len(several):
                break
    return {found.get(name, ids[-1]) for name, ids in editions.items()}
