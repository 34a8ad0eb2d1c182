"""The report of a comparison: one page with its verdict, how the likelihood ratio went, and what the blocks said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from caboose.arena.compare.kept import LAST_FAULTS, Kept
from caboose.arena.compare.progress import NAMES, alike_text
from caboose.arena.compare.run import interval
from caboose.arena.ladder.number_format import DASH, counted, cut, estimate_text, share
from caboose.arena.match.console_report import table_text
from caboose.arena.report.page import Column, Fact, Page, Section
from caboose.arena.report.plots import Axis, Figure, Line, Plot, Rule, number_text
from caboose.arena.stats.sprt import CONTINUE, FEWEST, H1, State, moments_of

POINTS: Final = 600  # of a curve
BINS: Final = 40
DIGITS: Final = {"pips": 2, "elo": 1, "nelo": 1}
EVEN: Final = {"pips": 0.0, "elo": 0.5, "nelo": 0.5}
_ROLES: Final = {"A": "A", "B": "B", "the pool": "Pool"}
_FOOT: Final = "What the figures mean: docs/explanation/statistics.md, docs/guides/compare.md."


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page and the figures on it."""

    page: Page
    figures: Sequence[Figure]


def make_report(kept: Kept, made: str) -> Report:
    """The report of a comparison that is kept; ``made`` is the date and the program."""
    one, other = kept.found.comparison.one.name, kept.found.comparison.other.name
    running = f" A run is playing now ({kept.runner})." if kept.runner else ""
    page = Page(f"{one} against {other}", lead=f"Made {made}.{running}", foot=_FOOT)
    _summary(page.section("Summary"), kept)
    figures = []
    values = kept.judge.values
    if len(values) > 1:
        states = _states(values)
        figures = [_likelihood(kept, states), _gain(kept, states), _blocks(kept)]
        for title, figure in zip(("Likelihood", "Gain", "Blocks"), figures, strict=True):
            page.section(title).figure(figure)
    _results(page.section("Results"), kept)
    _faults(page.section("Faults"), kept)
    _players(page.section("Who played"), kept)
    _again(page.section("To do it again"), kept)
    return Report(page=page, figures=figures)


def _summary(part: Section, kept: Kept) -> None:
    found, tally, test = kept.found, kept.found.tally, kept.found.comparison.bounds
    one = found.comparison.one.name
    low, high = test.bounds
    unit, digits = NAMES[test.unit], DIGITS[test.unit]
    estimate = estimate_text(found.gain, digits)
    part.facts(
        [
            Fact("LLR", number_text(found.llr, "+.2f"), f"H0 at {_signed(low)}, H1 at {_signed(high)}"),
            Fact("blocks", f"{tally.blocks:,}", counted(tally.games, "game")),
            Fact(f"gain of {cut(one)}", estimate, f"{unit}, 95 %"),
            Fact("blocks that differ", f"{found.state.changes:,}", f"from the one before; {FEWEST} for a verdict"),
            Fact("faults", f"{sum(tally.faults):,}", f"{tally.clean:,} of {counted(tally.games, 'game')} without one"),
        ]
    )
    claim = f"H0: the gain is {test.low:g}; H1: it is {test.high:g} {unit}"
    if found.verdict == H1:
        part.verdict("good", f"H1 accepted: {one} is better by {test.high:g} {unit}, rather than by {test.low:g}.")
    elif found.verdict != CONTINUE:
        part.verdict("bad", f"H0 accepted: {one} is better by {test.low:g} {unit}, rather than by {test.high:g}.")
    else:
        more = "" if found.to_go is None else f" About {found.to_go:,.0f} blocks more would tell."
        part.verdict("open", f"Undecided ({found.why}).{more}")
        if alike := alike_text(found.state, test.unit):
            part.text(f"{alike[0].upper()}{alike[1:]}")
    part.text(
        f"{claim}. H1 may be accepted where H0 is true in a share {test.alpha:g} of tests (alpha), H0 where H1 is true "
        f"in a share {test.beta:g} (beta)."
    )
    if found.verdict != CONTINUE:
        part.text("A test stops when its mean is far out: on average the gain is less far from 0 than it is here.")


def _states(values: Sequence[float]) -> list[tuple[int, State]]:
    """What was known after blocks, at most ``POINTS`` of them evenly, with their numbers from 1; the last is there."""
    wanted = {round(at) for at in np.linspace(1, len(values), min(POINTS, len(values)))}
    state, found = State(), []
    for number, value in enumerate(values, 1):
        state = state.with_blocks([value])
        if number in wanted:
            found.append((number, state))
    return found


def _likelihood(kept: Kept, states: Sequence[tuple[int, State]]) -> Figure:
    test = kept.judge.test
    low, high = test.bounds
    llrs = test.llrs(moments_of([state for _, state in states])).tolist()
    numbers = [float(number) for number, _ in states]
    enough = next((number for number, state in states if state.changes >= FEWEST), None)
    early = f"{FEWEST} blocks differed from the one before them only after block {enough:,}" if enough else ""
    early = early or f"fewer than {FEWEST} blocks differ from the one before them so far"
    if test.unit == "elo":
        early = f"{early}: until then the ratio is that of a win or a loss"
    else:
        early = f"{early}: nothing is decided before that"
    return Figure(
        name="likelihood",
        caption="The logarithm of the likelihood ratio (LLR) after each block. The test ends with H1 at "
        f"{_signed(high)} and with H0 at {_signed(low)}; {early}.",
        alt="The LLR after each block, between its two bounds.",
        plots=[
            Plot(
                x=Axis.around("blocks", [0.0, *numbers], form=",.0f"),
                y=Axis.around("LLR", [*llrs, low, high], form="+,.3g"),
                layers=[
                    Rule(at=0.0, across=True),
                    Line(x=[0.0, numbers[-1]], y=[high, high], tone="green", label="H1", dashed=True),
                    Line(x=[0.0, numbers[-1]], y=[low, low], tone="vermillion", label="H0", dashed=True),
                    Line(x=[0.0, *numbers], y=[0.0, *llrs], label="LLR"),
                ],
                height=280,
            )
        ],
    )


def _gain(kept: Kept, states: Sequence[tuple[int, State]]) -> Figure:
    test = kept.judge.test
    points = []
    for number, state in states:
        gain = interval(test, state)
        if gain.value is not None and gain.low is not None and gain.high is not None:
            points.append((float(number), gain.value, gain.low, gain.high))
    if points[len(points) // 20 :]:  # the first intervals are so wide that nothing else could be seen
        points = points[len(points) // 20 :]
    x, y, low, high = ([point[at] for point in points] for at in range(4)) if points else ([], [], [], [])
    late = len(x) // 8
    unit = NAMES[test.unit]
    end = float(states[-1][0])
    return Figure(
        name="gain",
        caption=f"The mean gain in {unit} by the number of blocks, with its 95 % interval over blocks, which holds for "
        "a number of blocks that was fixed before.",
        alt="The mean gain by the number of blocks, with its interval.",
        plots=[
            Plot(
                x=Axis.around("blocks", [0.0, end], form=",.0f"),
                y=Axis.around(f"gain, {unit}", [*y, *low[late:], *high[late:], test.low, test.high], form="+,.4g"),
                layers=[
                    Line(x=[0.0, end], y=[test.high] * 2, tone="green", label="H1", dashed=True),
                    Line(x=[0.0, end], y=[test.low] * 2, tone="vermillion", label="H0", dashed=True),
                    Line(x=x, y=y, low=low, high=high, label="mean gain"),
                ],
            )
        ],
    )


def _blocks(kept: Kept) -> Figure:
    test, values = kept.judge.test, np.array(kept.judge.values)
    even = values == EVEN[test.unit]
    rest = values[~even]
    word = "pips a round" if test.unit == "pips" else "score of A against B"
    edges: Sequence[float] = []
    counts: Sequence[int] = []
    if len(rest):
        found = np.histogram(rest, bins=min(BINS, max(8, len(rest) // 4)))
        counts, edges = found[0].tolist(), found[1].tolist()
    x = [edge for edge in edges for _ in range(2)]
    y = [0.0, *(float(count) for count in counts for _ in range(2)), 0.0] if counts else []
    of = kept.judge.state.moments
    shape = (
        f"Standard deviation {kept.judge.state.variance**0.5:.3g}, skewness {number_text(of.skewness.item(), '+.2f')}"
    )
    shape += f", kurtosis {of.kurtosis.item():.1f} (a normal distribution has 0 and 3)"
    shape += f", correlation of a block with the next {number_text(of.serial.item(), '+.2f')}"
    return Figure(
        name="blocks",
        caption=f"{int(even.sum()):,} of {counted(len(values), 'block')} ({share(float(even.mean()))}) were even; the "
        f"values of the others, in {word}. {shape}.",
        alt=f"The values of the blocks that were not even; {share(float(even.mean()))} were.",
        plots=[
            Plot(
                x=Axis.around(word, [*x, EVEN[test.unit]]),
                y=Axis(label="blocks", low=0.0, high=1.06 * max([*counts, 1]), form=",.6g"),
                layers=[Rule(at=EVEN[test.unit]), Line(x=x, y=y, low=[0.0] * len(x), high=y)],
            )
        ],
    )


def _results(part: Section, kept: Kept) -> None:
    tally, comparison = kept.found.tally, kept.found.comparison
    pairs = sum(tally.pairs)
    rows: list[list[str]] = []
    for name, wins, first in (
        (comparison.one.name, tally.pairs, tally.first[0]),
        (comparison.other.name, tally.pairs[::-1], tally.first[1]),
    ):
        shares = [f"{count:,} ({share(count / pairs)})" if pairs else DASH for count in wins]
        rows.append([name, *shares, share(first / tally.clean) if tally.clean else DASH])
    titles = ("pairs won", "tied", "lost", "first places")
    part.table(
        [Column("engine", numbers=False), *map(Column, titles)],
        rows,
        caption=f"How often a seat of the one ended before one of the other, level with it, behind it, in the "
        f"{counted(tally.clean, 'game')} without a fault; and its share of first places.",
    )
    found = kept.found
    gains = [
        [NAMES[unit], estimate_text(gain, DIGITS[unit])] for unit, gain in (("pips", found.pips), ("elo", found.elo))
    ]
    if comparison.bounds.unit == "nelo":
        gains.append([NAMES["nelo"], estimate_text(found.gain, DIGITS["nelo"])])
    part.table(
        [Column("unit", numbers=False), Column(f"gain of {comparison.one.name}")],
        gains,
        caption="How much better it is, with 95 % intervals over blocks.",
    )


def _faults(part: Section, kept: Kept) -> None:
    engines = kept.found.comparison.engines
    rows = [[engine.name, f"{count:,}"] for engine, count in zip(engines, kept.found.tally.faults, strict=False)]
    part.table(
        [Column("engine", numbers=False), Column("faults")],
        rows,
        caption="Faults in the blocks that were judged: crashes, late and illegal moves, games played again.",
    )
    if kept.last:
        told = []
        for name, block, each in kept.last:
            again = ", played again" if each.replayed else ""
            numbers = [f"{block + 1:,}", f"{each.game + 1}", f"{each.fault.round}"]
            told.append([name, f"{each.fault.kind}{again}", cut(each.fault.detail), *numbers])
        columns = [*(Column(title, numbers=False) for title in ("engine", "kind", "what happened"))]
        columns += map(Column, ("number", "game", "round"))
        part.table(
            columns,
            told,
            caption=f"The last ones that are kept, at most {LAST_FAULTS}, the last first. Numbers of deals, games and "
            "rounds count from 1.",
        )


def _players(part: Section, kept: Kept) -> None:
    rows = []
    for role, entry in zip(_ROLES, kept.found.entries, strict=False):
        told = kept.settings.get(role, "")
        played = " ".join(filter(None, (entry.builtin or entry.engine, entry.version)))
        rows.append([_ROLES[role], entry.name, played, told, entry.since[:16].replace("T", " ")])
    titles = ("", "engine", "what it says it is", "how it is started", "since (UTC)")
    part.table(
        [Column(title, numbers=False) for title in titles],
        rows,
        caption="Who played, with all options.",
    )


def _again(part: Section, kept: Kept) -> None:
    comparison = kept.found.comparison
    part.items(
        [
            f"Table: {table_text(comparison.rules)}",
            f"Rules: {comparison.rules}",
            f"Time: {kept.settings.get('the time', DASH)}",
            f"Seed: {comparison.seed}",
            f"At most {comparison.most:,} blocks",
        ]
    )
    if kept.call:
        part.code(kept.call)


def _signed(value: float) -> str:
    return number_text(value, "+.2f")
