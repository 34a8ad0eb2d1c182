"""A ladder's report: one page that says how its engines stand, how sure that is, and what went wrong."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from caboose.arena.console.console import duration_text
from caboose.arena.ladder.config import LadderSpec
from caboose.arena.ladder.notices import notices
from caboose.arena.ladder.number_format import DASH, counted, cut, estimate_text, likelihood, milliseconds, share
from caboose.arena.ladder.rating_reference import Reference
from caboose.arena.ladder.report_figures import (
    ratings_figure,
    seats_figure,
    settling_figure,
    spreads_figure,
    times_figure,
)
from caboose.arena.ladder.report_fit import MOST_PICTURED, show_fit
from caboose.arena.ladder.report_setup import show_commands, show_engines, show_lists
from caboose.arena.ladder.report_statistics import (
    QUANTILES,
    Pairs,
    Spreads,
    pair_margins,
    ranked,
    settling,
    spreads,
)
from caboose.arena.ladder.standings_table import SURE
from caboose.arena.ladder.status import status_data
from caboose.arena.ladder.store import FaultFound, ListRow, Store
from caboose.arena.ladder.totals import Board, Sums, read_board
from caboose.arena.report.page import Cell, Column, Fact, Page, Section, Verdict
from caboose.arena.report.plots import Figure, number_text
from caboose.arena.stats.bootstrap import Floats
from caboose.arena.stats.game_table import NOBODY
from caboose.arena.stats.ratings import Standings, standings
from caboose.arena.stats.seat_bias import POWER, Gain, Seats, gain, seat_bias

SETTLED: Final = 0.975  # likelihood from which on an order of two counts as settled
FEWEST: Final = 10  # blocks of both before it does: intervals of fewer are too narrow (docs/explanation/statistics.md)
LAST_FAULTS: Final = 10
LOOKED: Final = 2.0  # pips per round: who finds only a greater bias of a seat has not looked for one
MOST_PAIRS: Final = 40  # engines up to which every pair has a cell; of more, each has its ``NEIGHBOURS``
NEIGHBOURS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page and the figures on it."""

    page: Page
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """All that a report tells of games. ``order``: the contestants that played, the best first, those that are
    provisional last. ``superiority`` is that of the standings, None where there are too many for all pairs. ``base``
    says what 0 is, ``settings`` are those of the standings."""

    board: Board
    standings: Standings
    superiority: Floats | None
    base: str
    settings: Mapping[str, Any]
    order: Sequence[int]
    gain: Gain
    seats: Sequence[Seats]
    pairs: Pairs
    spreads: Spreads

    def label(self, one: int) -> str:
        return self.board.entries[one].label

    def better(self, one: int, other: int) -> float:
        """How likely the first is the stronger one; not a number with one block, which differs from no other."""
        if self.fewest(one, other) < 2:
            return math.nan
        return float(self.standings.better(one, other) if self.superiority is None else self.superiority[one, other])

    @property
    def placed(self) -> Sequence[int]:
        """Those in ``order`` that have a place; all where none has."""
        return [one for one in self.order if self.standings.contestants[one].ranked] or self.order

    def settled(self, one: int, other: int) -> bool:
        return self.better(one, other) >= SETTLED and self.fewest(one, other) >= FEWEST

    def fewest(self, one: int, other: int) -> int:
        return min(self.standings.contestants[one].blocks, self.standings.contestants[other].blocks)


def make_report(
    folder: Path,
    spec: LadderSpec,
    store: Store,
    lists: Sequence[ListRow],
    *,
    runner: str,
    made: str,
    text: str,
    reference: Reference = Reference(),  # noqa: B008 - it cannot be changed
) -> Report:
    """The report of the games of ``lists``. ``runner`` is who plays now, ``made`` the date and the program, ``text``
    what stands in ``ladder.toml``. Raises ``CallError`` for an anchor that has not played, and ``RunError``."""
    status = status_data(folder, spec, store, runner)
    name = folder.resolve().name
    last = f" The last block ended {status['last'][:16].replace('T', ' ')} UTC." if status["last"] else ""
    running = f" A run is playing now ({runner})." if runner else ""
    page = Page(f"Ladder {name}", lead=f"Made {made}.{last}{running}", foot=_FOOT)
    board = read_board(store, lists)
    figures: list[Figure] = []
    if len(board.games):
        found = _find(board, reference)
        summary = page.section("Summary")
        _summary(summary, found, [row.name for row in lists])
        for text in notices(store, lists):
            summary.verdict("bad", text)
        figures += _standings(page.section("Standings"), found)
        show_fit(page.section("Fit"), found.standings.fit, [entry.label for entry in board.entries], found.order)
        _pairs(page.section("Every pair"), found)
        figures += _margins(page.section("Margins"), found)
        figures += _seats(page.section("Seats"), found)
        figures += _times(page.section("Time"), found)
        _faults(page.section("Faults"), found, store, lists)
        figures += _settling(page.section("How ratings settled"), found, store, lists)
    else:
        page.section("Summary").verdict("open", "No block has been played yet.")
    show_engines(page.section("Engines"), spec, board.entries)
    show_lists(page.section("Lists"), status, lists)
    show_commands(page.section("To do it again"), name, text)
    return Report(page=page, figures=figures)


_FOOT: Final = (
    "A block is one deal, played once in every rotation of the seats. All intervals are 95 % intervals and count "
    "blocks, not games. What the numbers mean and how they were checked: docs/explanation/statistics.md of Caboose."
)


def _find(board: Board, reference: Reference) -> _Found:
    contestants = len(board.entries)
    played = np.zeros(contestants, np.bool_)
    played[board.games.player[(board.games.player != NOBODY) & board.games.counted]] = True
    settings = reference.settings(board.entries, played.tolist())
    found = standings(board.games, contestants, **settings)
    order = ranked(found)
    return _Found(
        board=board,
        standings=found,
        superiority=found.superiority if len(order) <= MOST_PAIRS else None,
        base=reference.told(board.entries, found),
        settings=settings,
        order=order,
        gain=gain(board.games),
        seats=seat_bias(board.games),
        pairs=pair_margins(board.games, contestants),
        spreads=spreads(board.games, contestants),
    )


# ------------------------------------------------------------------------------------------------ how they stand


def _summary(section: Section, found: _Found, lists: Sequence[str]) -> None:
    best, stood = found.order[0], found.standings
    halves = _halves(found)
    faults = sum(sum(sums.faults.values()) for sums in found.board.sums)
    section.facts(
        [
            Fact("games", f"{stood.games:,}", f"{stood.blocks:,} blocks"),
            Fact("engines", f"{len(found.order)}", counted(len(lists), "list")),
            Fact("first", found.label(best), f"rating {estimate_text(stood.contestants[best].rating, 0)}"),
            Fact("widest interval", f"± {max(halves):,.0f}" if halves else DASH, "of a rating"),
            Fact("faults", f"{faults:,}", f"{share(stood.tainted / stood.games)} of games tainted"),
        ]
    )
    section.text(_words(found, lists))
    _leader(section, found)
    if stood.fit is not None and stood.fit.doubtful:
        section.verdict(
            "bad",
            "Ratings do not tell all: some engines fare better or worse against some others than any rating could say "
            "(see Fit).",
        )
    _seat_verdicts(section, found)
    if stood.tainted:
        section.verdict(
            "bad",
            f"{counted(faults, 'fault')} in {counted(stood.tainted, 'game')}: lost for the engine at fault, and not "
            "counted for the others at its table.",
        )
    else:
        section.verdict("good", "No game has a fault.")


def _words(found: _Found, lists: Sequence[str]) -> str:
    """How much was played, and how sure it is, in sentences."""
    stood = found.standings
    told = [
        f"{counted(len(found.order), 'engine')} played {counted(stood.games, 'game')} "
        f"in {counted(stood.blocks, 'block')}."
    ]
    halves = _halves(found)
    pairs = list(pairwise(found.placed))
    if halves:
        widths = dict.fromkeys(f"± {half:,.0f}" for half in (min(halves), max(halves)))
        told.append(f"Ratings are known to {' to '.join(widths)} points.")
        if len(pairs) > 1:
            sure = sum(found.settled(one, other) for one, other in pairs)
            told.append(
                f"Of {len(pairs)} pairs of neighbours in the standings {sure} {'is' if sure == 1 else 'are'} in an "
                f"order that is settled, with {share(SETTLED)} likelihood at least."
            )
    else:
        told.append("How sure ratings are nobody knows with a single block.")
    provisional = len(found.order) - len(found.placed)
    if provisional:
        told.append(
            f"{counted(provisional, 'engine')} with fewer blocks than a place needs {_be(provisional)} provisional."
        )
    if found.gain.factor is not None:
        told.append(
            "Playing each deal in every rotation of the seats was worth "
            f"{found.gain.factor:.1f} times as many games with a new deal for each."
        )
    if len(lists) > 1:
        told.append(f"The lists {', '.join(lists)} are counted together; margins of different rules are averaged.")
    return " ".join(told)


def _halves(found: _Found) -> list[float]:
    """Half the widths of the intervals of ratings, of those that have a place."""
    halves = [found.standings.contestants[one].rating.half for one in found.placed]
    return [half for half in halves if half is not None]


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _leader(section: Section, found: _Found) -> None:
    if len(found.order) < 2:
        return
    best, others = found.order[0], found.placed[1:] or found.order[1:]
    # Who cannot be compared at all is no rival; nan is never the least.
    rival = min(
        others, key=lambda other: math.inf if math.isnan(found.better(best, other)) else found.better(best, other)
    )
    likely = found.better(best, rival)
    who, other = found.label(best), found.label(rival)
    if math.isnan(likely) or found.fewest(best, rival) < FEWEST:
        section.verdict("open", f"{who} is first, but there are too few blocks to say that it leads.")
    elif likely >= SETTLED:
        section.verdict(
            "good",
            f"{who} leads: it is stronger than {other}, the hardest to tell from it, with {likelihood(likely)} "
            "likelihood.",
        )
    else:
        section.verdict(
            "open",
            f"{who} is first, but that is not settled: it is stronger than {other} with only {likelihood(likely)} "
            "likelihood.",
        )


def _standings(section: Section, found: _Found) -> list[Figure]:
    figure = ratings_figure(found.board, found.standings, found.order, found.base)
    section.figure(figure)
    columns = [
        Column("engine", numbers=False),
        *map(
            Column,
            ("rating", "stronger than the next", "margin", "rounds won", "games won", "blocks", "games", "faults"),
        ),
    ]
    rows = []
    for place, one in enumerate(found.order):
        each = found.standings.contestants[one]
        below = found.order[place + 1] if place + 1 < len(found.order) else None
        if below is not None and found.standings.contestants[below].ranked != each.ranked:
            below = None
        rows.append(
            [
                f"{place + 1}. {found.label(one)}" if each.ranked else f"{found.label(one)} (provisional)",
                estimate_text(each.rating, 0),
                "" if below is None else likelihood(found.better(one, below)),
                estimate_text(each.margin, 1),
                share(each.rounds_won.value),
                share(each.games_won.value),
                f"{each.blocks:,}",
                f"{each.games:,}",
                f"{sum(found.board.sums[one].faults.values()):,}",
            ]
        )
    section.table(
        columns,
        rows,
        caption=f"Rating: Elo of pairs of seats ({found.base}); of two with 100 points between them the better one "
        "ends before the other in 64 % of pairs. Margin: pips a round by which an engine beats the others at its "
        "table.",
    )
    return [figure]


def _pairs(section: Section, found: _Found) -> None:
    section.text(
        "What the engine of the row gains on that of the column, in pips a round where both sat at one table; below, "
        "how likely it is the stronger one by its rating: blue above 50 %, orange below, and the fuller the surer."
    )
    if found.superiority is None:
        _neighbours(section, found)
        return
    columns = [Column("engine", numbers=False), *(Column(found.label(one), upright=True) for one in found.order)]
    rows = [[found.label(one), *(_pair(found, one, other) for other in found.order)] for one in found.order]
    section.table(columns, rows, caption="Mean margin ± 95 % over blocks, and the likelihood of superiority.")


def _neighbours(section: Section, found: _Found) -> None:
    """The pairs that are next to each other, where all would be too many to read."""
    section.text(
        f"There are {len(found.order):,} engines, too many for all pairs: each is shown with the {NEIGHBOURS} that "
        "come next in the standings."
    )
    columns = [Column("engine", numbers=False)]
    columns += [Column(f"{at + 1} below" if at else "the next below") for at in range(NEIGHBOURS)]
    rows: list[list[str | Cell]] = []
    for place, one in enumerate(found.order):
        cells = [
            _named(_pair(found, one, other), found.label(other)) for other in found.order[place + 1 :][:NEIGHBOURS]
        ]
        rows.append([found.label(one), *cells, *[""] * (NEIGHBOURS - len(cells))])
    section.table(columns, rows, caption="Mean margin ± 95 % over blocks, and the likelihood of superiority.")


def _named(cell: str | Cell, label: str) -> Cell:
    if isinstance(cell, str):
        return Cell(text=label, below=cell)
    return Cell(text=label, below=f"{cell.text}\n{cell.below}", tone=cell.tone, strength=cell.strength)


def _pair(found: _Found, one: int, other: int) -> str | Cell:
    likely = found.better(one, other)
    if one == other or math.isnan(likely):
        return "" if one == other else DASH
    margin, half = float(found.pairs.margin[one, other]), float(found.pairs.half[one, other])
    text = "never met" if math.isnan(margin) else number_text(margin, "+,.1f")
    tone: Any = "blue" if likely >= 0.5 else "vermillion"
    sure = "" if math.isnan(half) else f"± {half:.1f}\n"
    return Cell(text=text, below=f"{sure}{likelihood(likely)}", tone=tone, strength=abs(2 * likely - 1))


def _margins(section: Section, found: _Found) -> list[Figure]:
    figure = spreads_figure(found.board, found.spreads, found.order[:MOST_PICTURED])
    if len(found.order) > MOST_PICTURED:
        section.text(f"The figure shows the best {MOST_PICTURED} engines.")
    section.figure(figure)
    named = [f"{round(100 * part)} %" for part in QUANTILES]
    columns = [
        Column("engine", numbers=False),
        *map(Column, ("games", "mean", "standard deviation", *named)),
    ]
    rows = []
    for one in found.order:
        spread = found.spreads.spreads[one]
        if spread is None:
            continue
        values = [spread.mean, *spread.quantiles]
        mean, *quantiles = [number_text(value, "+,.1f") for value in values]
        deviation = DASH if math.isnan(spread.deviation) else f"{spread.deviation:.1f}"
        rows.append([found.label(one), f"{spread.games:,}", mean, deviation, *quantiles])
    section.table(
        columns,
        rows,
        caption="Margins of single games, pips a round; so many per cent of the games of an engine were at or below "
        "the number.",
    )
    return [figure]


# ------------------------------------------------------------------------------------------------ whether it was fair


def _seat_verdicts(section: Section, found: _Found) -> None:
    for seats in found.seats:
        section.verdict(*_seat_verdict(seats))
    if not found.seats:
        section.verdict("open", "There is no whole block without a fault, so that nothing is known of seats.")


def _seat_verdict(seats: Seats) -> tuple[Verdict, str]:
    where = f"Seats at tables of {seats.seats}"
    if seats.p is None:
        return "open", f"{where}: too few blocks to tell ({seats.blocks:,})."
    tested = f"(p = {seats.p:.2g}, {counted(seats.blocks, 'block')})"
    if seats.p >= SURE:
        if seats.finds is None:
            return "open", f"{where}: no bias was found {tested}, but so few blocks hardly find any."
        finds = f"one of {seats.finds:,.1f} pips per round or more"
        if seats.finds > LOOKED:
            return "open", f"{where}: no bias was found {tested}, but so few blocks find only {finds}."
        likely = f"{finds} would be found with {share(POWER)} likelihood"
        return "good", f"{where}: consistent with no bias {tested}; {likely}."
    return (
        "bad",
        f"{where} differ more than chance should let them {tested}. Everybody sat everywhere: nobody gains by it.",
    )


def _seats(section: Section, found: _Found) -> list[Figure]:
    _seat_verdicts(section, found)
    if not found.seats:
        return []
    figure = seats_figure(found.seats)
    section.figure(figure)
    columns = [Column("table and seat", numbers=False), Column("margin"), Column("games won"), Column("blocks")]
    rows = []
    for seats in found.seats:
        for at, (margin, won) in enumerate(zip(seats.margin, seats.games_won, strict=True), 1):
            half = "?" if won.half is None else f"{100 * won.half:.1f}"
            wins = f"{share(won.value).removesuffix(' %')} ± {half} %"
            rows.append([f"{seats.seats} players, seat {at}", estimate_text(margin, 2), wins, f"{seats.blocks:,}"])
    section.table(
        columns,
        rows,
        caption="Only whole blocks without a fault count. The test is Hotelling's: p is how likely differences as "
        f"large as these are if no seat is better than another; below {SURE} it is called a bias.",
    )
    return [figure]


def _times(section: Section, found: _Found) -> list[Figure]:
    figure = times_figure(found.board, found.order)
    if figure is None:
        section.text("No time was measured.")
        return []
    section.figure(figure)
    named = (
        "moves",
        "ms a move",
        "longest, ms",
        "processor, ms a move",
        "time in all",
        "processor in all",
        "late, but forgiven",
    )
    columns = [Column("engine", numbers=False), *map(Column, named)]
    rows = []
    for one in found.order:
        sums = found.board.sums[one]
        processor = (
            (milliseconds(sums.cpu / sums.decisions), duration_text(sums.cpu / 1000)) if sums.cpu else (DASH, DASH)
        )
        rows.append(
            [
                found.label(one),
                f"{sums.decisions:,}",
                DASH if sums.time_mean is None else milliseconds(sums.time_mean),
                milliseconds(sums.slowest),
                processor[0],
                duration_text(sums.time / 1000),
                processor[1],
                f"{sums.overruns:,}",
            ]
        )
    section.table(
        columns,
        rows,
        caption="Time on the clock and of the processor. Processor time is known of engines in processes of their own. "
        "Late, but forgiven: replies after their time and within the margin that the time control allows.",
    )
    return [figure]


def _faults(section: Section, found: _Found, store: Store, lists: Sequence[ListRow]) -> None:
    sums = found.board.sums
    kinds = sorted({kind for one in found.order for kind in sums[one].faults})
    stood = found.standings
    section.text(
        f"{stood.tainted:,} of {stood.games:,} games are tainted by a fault."
        if stood.tainted
        else "No game was lost by a fault."
    )
    if not kinds and not any(sums[one].replays for one in found.order):
        return
    columns = [Column("engine", numbers=False), *map(Column, ("games", *kinds, "played again", "not counted"))]
    rows = [_fault_row(found, one, kinds, sums[one]) for one in found.order]
    section.table(
        columns,
        rows,
        caption="Faults by kind; games that were given up and played again; games that do not count for an engine "
        "because of the fault of another.",
    )
    last = deque((each for row in lists for each in store.faults(row.id)), maxlen=LAST_FAULTS)
    titles = ("engine", "kind", "what happened", "list")
    columns = [*(Column(title, numbers=False) for title in titles), *map(Column, ("block", "game", "round"))]
    names = {row.id: row.name for row in lists}
    told = []
    for each in reversed(last):
        key = store.block(each.block).key
        told.append(_fault_told(each, found, names[key.list], key.number))
    section.section("The last faults").table(
        columns, told, caption=f"The last ones, at most {LAST_FAULTS}. Blocks, games and rounds count from 1."
    )


def _fault_row(found: _Found, one: int, kinds: Sequence[str], sums: Sums) -> list[str | Cell]:
    shaded = [
        Cell(text=f"{sums.faults[kind]:,}", tone="vermillion" if sums.faults[kind] else None, strength=0.6)
        for kind in kinds
    ]
    uncounted = found.standings.contestants[one].uncounted
    return [found.label(one), f"{sums.games:,}", *shaded, f"{sums.replays:,}", f"{uncounted:,}"]


def _fault_told(each: FaultFound, found: _Found, list: str, block: int) -> Sequence[str]:
    labels = {entry.id: entry.label for entry in found.board.entries}
    again = ", played again" if each.replayed else ""
    told = [labels[each.entry], f"{each.fault.kind}{again}", cut(each.fault.detail)]
    return [*told, list, f"{block + 1:,}", f"{each.game + 1}", f"{each.fault.round}"]


def _settling(section: Section, found: _Found, store: Store, lists: Sequence[ListRow]) -> list[Figure]:
    base = {name: found.settings[name] for name in ("anchor", "level", "mean_of")}
    base["mean_of"] = base["mean_of"] & np.array([each.ranked for each in found.standings.contestants], np.bool_)
    points = settling(found.board.games, store.ended(lists), found.standings, **base)
    if len(points) < 3:
        section.text("There are too few blocks to show how ratings settled.")
        return []
    figure = settling_figure(found.board, points, found.order[:MOST_PICTURED])
    if len(found.order) > MOST_PICTURED:
        section.text(f"The best {MOST_PICTURED} engines are shown.")
    section.text(
        "An interval should narrow to a third as games grow tenfold, and later ratings should lie within earlier "
        "intervals. Ratings are relative: an engine that joins or leaves moves all others a little."
    )
    section.figure(figure)
    return [figure]
