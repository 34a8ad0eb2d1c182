"""What people must know of a ladder beside its numbers: blocks that were played twice, and engines that do not play."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from caboose.arena.ladder.set_aside import Aside
from caboose.arena.ladder.store import ListRow, Store

_ASIDE: Final = "set aside"  # among the settings of the database
_ABSENT: Final = "not started"


def notices(store: Store, lists: Sequence[ListRow] | None = None) -> list[str]:
    """Sentences for people, a text for each notice; of ``lists`` alone if they are given. Raises ``RunError``."""
    names = {row.name for row in store.lists() if lists is None or row in lists}
    told = [
        f"List {name}: {_counted(count, 'block')} {'is' if count == 1 else 'are'} there twice, since an earlier "
        "Caboose played line-ups again when engines had changed their order. Each counts once."
        for name, count in store.twice().items()
        if name in names
    ]
    labels = {entry.id: entry.label for entry in store.entries()}
    told += [
        aside_text(name, labels.get(each.entry, str(each.entry)), each)
        for name, found in kept_aside(store).items()
        for each in found
        if name in names
    ]
    return told + [f"{name} did not play in the last run. {why}" for name, why in kept_absent(store).items()]


def aside_text(list: str, label: str, aside: Aside) -> str:
    """What is told of an engine that is set aside."""
    return (
        f"List {list}: {label} is set aside, since {aside.lost:,} of its {aside.games:,} games were lost by its "
        "faults. Its other games are not played."
    )


def keep_aside(store: Store, list: int, found: Sequence[Aside]) -> None:
    """Keeps who is set aside in a list."""
    before = store.setting(_ASIDE, {})
    kept = {key: value for key, value in before.items() if key != str(list)}
    if found:
        kept[str(list)] = [[each.entry, each.lost, each.games] for each in found]
    if kept != before:
        store.set_meta(_ASIDE, json.dumps(kept))


def kept_aside(store: Store) -> Mapping[str, Sequence[Aside]]:
    """Who is set aside, by the name of the list."""
    rows = {str(row.id): row.name for row in store.lists()}
    kept = store.setting(_ASIDE, {})
    try:
        return {rows[key]: [Aside(*map(int, each)) for each in found] for key, found in kept.items() if key in rows}
    except (TypeError, ValueError):
        raise store.damaged(_ASIDE) from None


def keep_absent(store: Store, absent: Mapping[str, str]) -> None:
    """Keeps which engines did not start in this run, and why."""
    if store.setting(_ABSENT, {}) != absent:
        store.set_meta(_ABSENT, json.dumps(absent))


def kept_absent(store: Store) -> Mapping[str, str]:
    """The engines that did not start in the last run, and why."""
    kept: Mapping[str, str] = store.setting(_ABSENT, {})
    return kept


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
