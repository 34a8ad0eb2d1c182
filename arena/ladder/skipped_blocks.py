"""The blocks that were given up: each had cost several workers. They are kept in the database until they are played."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from caboose.arena.ladder.duplicate_blocks import same
from caboose.arena.ladder.store import BlockKey, Store

_META: Final = "left out"


class LeftOut:
    """The blocks of a ladder that were given up, and why."""

    def __init__(self, store: Store) -> None:
        self._store = store
        kept = store.setting(_META, [])
        self._new: set[BlockKey] = set()  # those of this run
        try:
            blocks = {BlockKey(list, number, tuple(lineup)): str(why) for list, number, lineup, why in kept}
            self._blocks = {_plain(key): why for key, why in blocks.items()}
        except (TypeError, ValueError):
            raise store.damaged(_META) from None

    def add(self, key: BlockKey, why: str) -> None:
        """A block was given up."""
        self._blocks[_plain(key)] = why
        self._new.add(_plain(key))
        self._keep()

    def played(self, key: BlockKey) -> None:
        """A block was played, perhaps one of them."""
        if self._blocks.pop(_plain(key), None) is not None:
            self._keep()

    def told(self, *, new: bool = False) -> Sequence[str]:
        """They and why, for people, a line for each; only those of this run if ``new``."""
        names = {row.id: row.name for row in self._store.lists()}
        labels = {entry.id: entry.label for entry in self._store.entries()}
        return [
            f"list {names[key.list]}, block {key.number + 1} of {', '.join(labels[entry] for entry in key.lineup)} "
            f"is left out: {why}"
            for key, why in sorted(self._blocks.items())
            if key.list in names and labels.keys() >= {*key.lineup} and (not new or key in self._new)
        ]

    def _keep(self) -> None:
        self._store.set_meta(_META, json.dumps([[*key, why] for key, why in self._blocks.items()]))


def _plain(key: BlockKey) -> BlockKey:
    """A block, in whatever order its line-up is named."""
    return key._replace(lineup=same(key.lineup))
