"""The figures of a ladder's report."""

from __future__ import annotations

from collections.abc import Sequence

from caboose.arena.ladder.number_format import estimate_text
from caboose.arena.ladder.report_statistics import Checkpoint, Spreads
from caboose.arena.ladder.totals import Board
from caboose.arena.report.plots import Axis, Dots, Figure, Hill, Layer, Line, Plot, Rows, Rule
from caboose.arena.stats.bootstrap import Estimate
from caboose.arena.stats.ratings import Standings
from caboose.arena.stats.seat_bias import Seats

_MOST_SHADOWS = 8  # engines up to which each small plot shows the lines of the others, too
_SMALL = 130  # pixels


def ratings_figure(board: Board, found: Standings, order: Sequence[int], base: str) -> Figure:
    """The rating of each engine with its interval; ``base`` says what 0 is."""
    names = _names(board, order)
    estimates = [found.contestants[one].rating for one in order]
    ends = [end for each in estimates for end in (each.value, each.low, each.high)]
    plot = Plot(
        x=Axis.around(f"rating (Elo; {base})", ends, with_zero=True, form="+,.0f"),
        y=Rows(names),
        layers=[Rule(at=0), _dots(names, estimates, 0)],
    )
    return Figure(
        name="ratings",
        caption="Ratings, with the intervals in which they are with 95 % confidence.",
        alt="Ratings of the engines with their intervals, the best first.",
        plots=[plot],
    )


def spreads_figure(board: Board, found: Spreads, order: Sequence[int]) -> Figure:
    """How the margins of each engine spread."""
    layers: list[Layer] = [Rule(at=0)]
    middles = []
    shown = [one for one in order if found.spreads[one] is not None]
    for row, one in enumerate(shown):
        spread = found.spreads[one]
        assert spread is not None
        most = max(*spread.counts, 1)
        layers.append(Hill(row=row, edges=found.edges, heights=[count / most for count in spread.counts]))
        middles.append(spread.quantiles[2])
    dots = Dots(x=middles, y=range(len(shown)), tone="vermillion", label="median", notes=_names(board, shown))
    layers.append(dots)
    axis = Axis(label="margin of a game, pips a round", low=found.edges[0], high=found.edges[-1], form="+,.0f")
    return Figure(
        name="margins",
        caption="How the margins of single games are spread. Every hill has the same height; up to 0.4 % of all games "
        "are further out than is shown.",
        alt="The distribution of the margins of each engine, and its median.",
        plots=[Plot(x=axis, y=Rows(_names(board, shown)), layers=layers)],
    )


def seats_figure(kinds: Sequence[Seats]) -> Figure:
    """The margin of each seat, for each size of table."""
    every = [end for seats in kinds for each in seats.margin for end in (each.value, each.low, each.high)]
    axis = Axis.around("margin, pips a round", every, with_zero=True, form="+,.6g")
    plots = []
    for seats in kinds:
        names = tuple(f"seat {seat}" for seat in range(1, seats.seats + 1))
        dots = _dots(names, seats.margin, 1)
        plots.append(Plot(title=f"tables of {seats.seats}", x=axis, y=Rows(names), layers=[Rule(at=0), dots]))
    return Figure(
        name="seats",
        caption="What a seat is worth, whoever sits on it: its margin less the mean of all seats, with 95 % intervals. "
        "Seats are numbered in the order of play.",
        alt="The margin of each seat with its interval, for",
        plots=plots,
    )


def times_figure(board: Board, order: Sequence[int]) -> Figure | None:
    """What time each engine takes for a move; None where none was measured."""
    shown = [one for one in order if board.sums[one].time_mean]
    if not shown:
        return None
    names = _names(board, shown)
    sums = [board.sums[one] for one in shown]
    used = [row for row, each in enumerate(sums) if each.cpu]
    processor = [sums[row].cpu / sums[row].decisions for row in used]
    dots = [Dots(x=[each.time_mean or 0.0 for each in sums], y=range(len(sums)), label="mean")]
    if used:
        dots.append(Dots(x=processor, y=used, tone="vermillion", label="processor time, mean"))
    dots.append(Dots(x=[each.slowest for each in sums], y=range(len(sums)), tone="quiet", label="longest"))
    values = [x for layer in dots for x in layer.x]
    return Figure(
        name="times",
        caption="Time of a move in milliseconds, on a scale of factors.",
        alt="Mean and longest time of a move of each engine.",
        plots=[Plot(x=Axis.around_log("ms a move", values), y=Rows(names), layers=dots)],
    )


def settling_figure(board: Board, found: Sequence[Checkpoint], order: Sequence[int]) -> Figure:
    """How the rating of each engine and its interval settled."""
    lines = {one: _line(found, one) for one in order}
    # Intervals of the first few blocks may be so wide that nothing else could be seen beside them.
    late = [_line(found[len(found) // 2 :], one) for one in order]
    values = [y for line in lines.values() for y in line.y] + [y for line in late for y in (*line.low, *line.high)]
    x = Axis.around_log("games of the ladder", [float(each.games) for each in found])
    y = Axis.around("rating", values, form="+,.0f")
    shadows = [Line(x=line.x, y=line.y, tone="quiet") for line in lines.values()] if len(order) <= _MOST_SHADOWS else []
    plots = []
    for one in order:
        line = lines[one]
        layers: list[Layer] = [Rule(at=0, across=True), *shadows, line]
        if line.x:
            layers.append(Dots(x=line.x[-1:], y=line.y[-1:]))
        plots.append(Plot(title=board.entries[one].label, x=x, y=y, layers=layers, height=_SMALL))
    others = " Thin lines are the other engines." if shadows else ""
    return Figure(
        name="settling",
        caption=f"Ratings by the games played so far, with 95 % intervals.{others}",
        alt="Rating against games played, with the interval, of",
        plots=plots,
    )


def _line(found: Sequence[Checkpoint], one: int) -> Line:
    """The ratings of a contestant at the checkpoints at which it had an interval."""
    points = []
    for each in found:
        rating = each.standings.contestants[one].rating
        if rating.value is not None and rating.low is not None and rating.high is not None:
            points.append((float(each.games), rating.value, rating.low, rating.high))
    x, y, low, high = zip(*points, strict=True) if points else ((), (), (), ())
    return Line(x=x, y=y, low=low, high=high)


def _dots(names: Sequence[str], estimates: Sequence[Estimate], digits: int) -> Dots:
    known = [at for at, each in enumerate(estimates) if each.value is not None]
    return Dots(
        x=[estimates[at].value or 0.0 for at in known],
        y=known,
        low=[estimates[at].low for at in known],
        high=[estimates[at].high for at in known],
        notes=[f"{names[at]}: {estimate_text(estimates[at], digits)}" for at in known],
    )


def _names(board: Board, order: Sequence[int]) -> tuple[str, ...]:
    return tuple(board.entries[one].label for one in order)
