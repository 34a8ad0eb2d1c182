"""The standings and the state of a ladder, for people (80 columns) and as values for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.table import Table

from caboose.arena.console.console import Console, Text, cut
from caboose.arena.ladder.notices import notices
from caboose.arena.ladder.rating_reference import Reference
from caboose.arena.ladder.report_fit import fit_data, fit_told
from caboose.arena.ladder.status import LABEL
from caboose.arena.ladder.store import ListRow, Store
from caboose.arena.ladder.totals import Totals, read_totals
from caboose.arena.stats.bootstrap import Estimate
from caboose.arena.stats.ratings import Standing, Standings
from caboose.arena.stats.seat_bias import LEVEL

FORMAT: Final = "caboose ladder standings"
FORMAT_VERSION: Final = 1
SURE: Final = LEVEL


def print_standings(
    console: Console,
    store: Store,
    lists: Sequence[ListRow],
    *,
    times: bool = False,
    reference: Reference = Reference(),  # noqa: B008 - it cannot be changed
) -> None:
    """Prints how the engines stand in ``lists``, with ``times`` also what time they used. Raises ``CallError`` for an
    anchor that has not played, and ``RunError``."""
    board = read_totals(store, lists, times=times)
    if not board.games:
        for text in ["No block has been played yet.", *notices(store, lists)]:
            _say(console, text)
        return
    found = reference.standings(board.entries, board.tally)
    console.print(_table(board, found))
    console.print()
    _say(
        console,
        "Rating: Elo of pairs of seats (100 more: ahead in 64 % of them); "
        f"{reference.told(board.entries, found)}; next: how likely it is stronger than the one below. "
        "Margin: pips a round by which it beats the others at its table. "
        f"± 95 % (bootstrap over {found.blocks:,} blocks, {found.games:,} games).",
    )
    for text in [
        *_remarks(board, found, reference),
        *fit_told(found.fit, [each.label for each in board.entries]),
        *notices(store, lists),
    ]:
        _say(console, text)
    if times:
        console.print()
        console.print(_times(board, found))


def standings_data(
    store: Store,
    lists: Sequence[ListRow],
    reference: Reference = Reference(),  # noqa: B008 - it cannot be changed
) -> dict[str, Any]:
    """The same, and more, as values for JSON."""
    board = read_totals(store, lists)
    found = reference.standings(board.entries, board.tally)
    labels = [entry.label for entry in board.entries]
    better = found.superiority
    entries = []
    for standing in _playing(found):
        entry, sums = board.entries[standing.contestant], board.sums[standing.contestant]
        estimates = {name: asdict(getattr(standing, name)) for name in ("rating", "margin", "rounds_won", "games_won")}
        entries.append(
            {
                "label": entry.label,
                "name": entry.name,
                "edition": entry.edition,
                "builtin": entry.builtin,
                "engine": entry.engine,
                "version": entry.version,
                "games": standing.games,
                "blocks": standing.blocks,
                "uncounted": standing.uncounted,
                "ranked": standing.ranked,
                "current": reference.current is None or entry.id in reference.current,
                **estimates,
                "score": sums.score,
                "decisions": sums.decisions,
                "time_mean": sums.time_mean,
                "time_max": sums.slowest,
                "overruns": sums.overruns,
                "cpu_mean": sums.cpu / sums.decisions if sums.cpu and sums.decisions else None,
                "faults": dict(sums.faults),
                "replays": sums.replays,
            }
        )
    order = [each.contestant for each in _playing(found)]
    played = [labels[each.contestant] for each in found.contestants if each.blocks]
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "lists": [row.name for row in lists],
        "blocks": found.blocks,
        "games": found.games,
        "tainted": found.tainted,
        "entries": entries,
        "superiority": [[_known(better[one, other]) for other in order] for one in order],
        "gain": asdict(board.fairness.gain()),
        "seats": [asdict(seats) for seats in board.fairness.seats()],
        "notices": notices(store, lists),
        "reference": {
            "anchor": reference.anchor if reference.anchor in played else None,
            "rating": reference.rating if reference.anchor in played else 0.0,
            "mean": reference.mean,
            "min_blocks": reference.min_blocks,
        },
        "fit": None if found.fit is None else fit_data(found.fit, labels),
    }


def _table(board: Totals, found: Standings) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("engine", no_wrap=True)
    for title in ("rating\n± 95 %", "next\n%", "margin\n± 95 %", "rounds\nwon %", "games\nwon %", "blocks", "faults"):
        table.add_column(title, justify="right", no_wrap=True)
    ranked = _playing(found)
    for at, standing in enumerate(ranked):
        faults = sum(board.sums[standing.contestant].faults.values())
        below = ranked[at + 1].contestant if at + 1 < len(ranked) and ranked[at + 1].ranked else None
        if not standing.ranked and (not at or ranked[at - 1].ranked):
            table.add_row(Text("provisional", style="dim"))
        table.add_row(
            cut(board.entries[standing.contestant].label, LABEL),
            _estimate(standing.rating, 0),
            "" if below is None else _percent(_known(found.better(standing.contestant, below)), 0),
            _estimate(standing.margin, 1),
            _percent(standing.rounds_won.value, 1),
            _percent(standing.games_won.value, 1),
            f"{standing.blocks:,}",
            Text(str(faults), style="bold red" if faults else ""),
        )
    return table


def _times(board: Totals, found: Standings) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("engine", no_wrap=True)
    for title in ("ms/move\nmean", "\nmax", "processor\nms/move", "late, but\nforgiven", "games", "score"):
        table.add_column(title, justify="right", no_wrap=True)
    for standing in _playing(found):
        sums = board.sums[standing.contestant]
        table.add_row(
            cut(board.entries[standing.contestant].label, LABEL),
            "-" if sums.time_mean is None else f"{sums.time_mean:.1f}",
            f"{sums.slowest:.0f}",
            f"{sums.cpu / sums.decisions:.1f}" if sums.cpu and sums.decisions else "-",
            f"{sums.overruns:,}",
            f"{sums.games:,}",
            "-" if sums.score is None else f"{sums.score:.1f}",
        )
    return table


def _remarks(board: Totals, found: Standings, reference: Reference) -> list[str]:
    """What else must be known to read the numbers."""
    remarks = []
    two = [standing for standing in _playing(found) if standing.games]
    if len(two) == 2:
        one, other = (each.contestant for each in two)
        labels = board.entries[one].label, board.entries[other].label
        difference = _estimate(found.difference(one, other), 1)
        remarks.append(f"{labels[0]} against {labels[1]}: {difference} Elo, as `caboose compare` counts.")
    if not all(each.ranked for each in _playing(found)):
        remarks.append(
            f"Provisional: fewer than {_many(reference.min_blocks, 'block')} without a fault (--min-blocks); in no "
            "mean."
        )
    out = [each for each in _playing(found) if each.ranked and not reference.has_part(board.entries[each.contestant])]
    if out and not reference.anchor:
        names = ", ".join(board.entries[each.contestant].label for each in out[:8])
        more = f" and {len(out) - 8} more" if len(out) > 8 else ""
        remarks.append(f"Not in the mean, as they do not take part any more: {names}{more} (--mean all).")
    factor = board.fairness.gain().factor
    if factor is not None:
        remarks.append(f"Playing each deal in every rotation was worth {factor:.1f} times as many games.")
    for seats in board.fairness.seats():
        if seats.p is not None and seats.p < SURE:
            remarks.append(
                f"Seats at tables of {seats.seats} differ more than chance should let them (p = {seats.p:.3f}, "
                f"{seats.blocks} blocks); blocks give every seat to everybody, so that nobody gains by it."
            )
    if found.tainted:
        remarks.append(
            "A game with a fault is lost for the engine at fault and does not count for the others: "
            f"{found.tainted:,} of {found.games:,}."
        )
    return remarks


def _playing(found: Standings) -> list[Standing]:
    return [standing for standing in found.ranked() if standing.games or standing.uncounted]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _estimate(estimate: Estimate, digits: int) -> str:
    if estimate.value is None:
        return "-"
    half = "?" if estimate.half is None else f"{estimate.half:.{digits}f}"
    # Adding 0.0 turns the -0.0 that rounding may leave into 0.0.
    return f"{round(estimate.value, digits) + 0.0:+.{digits}f} ± {half}"


def _percent(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}"


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style))
