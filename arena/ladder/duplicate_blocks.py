"""Line-ups that differ in their order alone, and blocks that were played a second time because of that."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

# A temporary view goes before a table of the same name, so that whoever reads blocks reads these.
_HIDDEN: Final = """
CREATE TEMP TABLE twice (id INTEGER PRIMARY KEY);
CREATE TEMP VIEW blocks AS SELECT * FROM main.blocks WHERE id NOT IN (SELECT id FROM twice)
"""


def same(lineup: Sequence[int]) -> tuple[int, ...]:
    """What line-ups have in common that differ in their order alone: they play the same deals."""
    return tuple(sorted(lineup))


def lineup_text(lineup: Sequence[int]) -> str:
    """A line-up as it is kept."""
    return " ".join(map(str, lineup))


def lineup_of(text: str) -> tuple[int, ...]:
    """The line-up that ``lineup_text`` wrote."""
    return tuple(map(int, text.split()))


def hide_twice(connection: sqlite3.Connection, lineup_of: Callable[[str], tuple[int, ...]] = lineup_of) -> bool:
    """Hides blocks that are in a ladder's database a second time, for this connection; returns whether there are any.
    The one that was kept first counts."""
    # Two quick looks spare nearly all ladders a slow one: a list may have a block of each number, or of each line-up.
    sql = "SELECT DISTINCT list FROM (SELECT list FROM blocks GROUP BY list, number HAVING count(*) > 1)"
    orders: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for (list,) in connection.execute(sql).fetchall():
        for (lineup,) in connection.execute("SELECT DISTINCT lineup FROM blocks WHERE list = ?", (list,)):
            orders[list, same(lineup_of(lineup))] += 1
    suspects = {list for (list, _), found in orders.items() if found > 1}
    seen: set[tuple[int, int, tuple[int, ...]]] = set()
    hidden = []
    for list in sorted(suspects):
        sql = "SELECT id, number, lineup FROM blocks WHERE list = ? ORDER BY id"
        for id, number, lineup in connection.execute(sql, (list,)):
            key = (list, number, same(lineup_of(lineup)))
            if key in seen:
                hidden.append((id,))
            seen.add(key)
    if hidden:
        connection.execute("PRAGMA temp_store = MEMORY")  # there may be no room, or no right to write
        for statement in _HIDDEN.split(";"):
            connection.execute(statement)
        connection.executemany("INSERT INTO twice VALUES (?)", hidden)
    return bool(hidden)
