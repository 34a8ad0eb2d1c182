"""The report of a study: one page with what was found, how, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Final

import numpy as np

from caboose.arena import caboose_version
from caboose.arena.report.page import Cell, Column, Fact, Page, Section
from caboose.arena.report.plots import Axis, Dots, Figure, Grid, Layer, Line, Plot, Rows, Rule, Tone
from caboose.arena.stats.sprt import CONTINUE
from caboose.arena.tuning.result import (
    gain_text,
    in_unit,
    number,
    range_texts,
    spoiled,
    undecided,
    unit_of,
    verdict_lines,
)
from caboose.arena.tuning.run import Study
from caboose.arena.tuning.space import Floats, Parameter, Values
from caboose.arena.tuning.surface_queries import SURE, Response

REPORT: Final = "report.html"
POINTS: Final = 61  # of a slice
CELLS: Final = 24  # of a contour, each way
MOST_PAIRS: Final = 6  # of parameters that have a contour
MOST_STEPS: Final = 60
MOST_TRIED: Final = 25  # candidates in the table
LETTERS: Final = 36  # of names below a contour

_MARKS: Final[dict[str, Tone]] = {"recommended": "vermillion", "its value now": "green"}


def report(study: Study) -> str:
    """The page, as HTML that needs nothing else."""
    spec = study.spec
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = Page(
        f"Study {spec.path.stem}",
        lead=f"{spec.method}, {spec.objective}; made {now} by Caboose {caboose_version()}.",
        foot=f"Seed {spec.seed}. What the figures mean: docs/guides/tuning.md.",
    )
    _summary(page.section("Summary"), study)
    if len(study.search.seen.candidates) < 2:
        return page.html()
    surface = study.search.averaged()
    middle = study.recommended.values if study.recommended is not None else study.space.current
    if study.search.steps:
        _convergence(page.section("Convergence"), study, surface)
    _importance(page.section("Importance"), study, surface)
    _slices(page.section("Slices"), study, surface, middle)
    if len(study.space) > 1:
        _contours(page.section("Contours"), study, surface, middle)
    _tried(page.section("Candidates"), study, surface)
    return page.html()


def _summary(part: Section, study: Study) -> None:
    search, spec, unit = study.search, study.spec, in_unit(study)
    fresh = sum(piece.fresh for piece in study.known)
    faults = f", {study.faults:,} faults" if study.faults and not spec.games else ""
    facts = [
        Fact(spec.pieces, f"{len(study.known):,}", f"{fresh:,} to verify{faults}"),
        Fact("candidates", f"{len(search.seen.candidates):,}", f"{len(search.dropped):,} stopped early"),
    ]
    if spec.games:
        facts.insert(0, Fact("games", f"{study.games:,}", f"{study.faults:,} faults"))
    found = study.recommended
    if found is not None:
        span = f"{gain_text(found.gain.low)} to {gain_text(found.gain.high)}"
        facts.append(Fact("expected gain", gain_text(found.gain.mean), f"{span}{unit}"))
    verdict = study.result.verdict if study.result is not None else None
    if verdict is not None:
        facts.append(Fact(f"gain on {spec.fresh}", gain_text(verdict.gain), f"± {number(verdict.half)}{unit}"))
    part.facts(facts)
    if wrong := spoiled(study):
        part.verdict("bad", f"{wrong[0].upper()}{wrong[1:]}.")
    elif study.result is None:
        part.verdict("open", "The study is not over: these are its figures so far.")
    elif found is not None and found.values == study.space.current:
        part.verdict("open", "No better values than the current ones were found.")
    elif verdict is None:
        part.verdict("open", "The recommendation was not tested.")
    elif verdict.holds:
        part.verdict("good", f"The gain holds on {spec.fresh}.")
    elif verdict.verdict == CONTINUE:
        part.verdict("open", undecided(study, verdict))
    else:
        part.verdict("bad", f"The gain does not hold on {spec.fresh}: keep the current values.")
    if verdict is not None:
        part.items(verdict_lines(study, verdict))
    if found is not None:
        rows = []
        for at, parameter in enumerate(study.space.parameters):
            values = map(parameter.text, (parameter.current, found.values[at], found.luckiest[at]))
            rows.append([parameter.name, *range_texts(parameter), *values])
        columns = [Column("parameter", numbers=False), *map(Column, ("from", "to", "now", "recommended", "luckiest"))]
        part.table(columns, rows, caption="Parameters. The luckiest candidate is not what is recommended.")


def _convergence(part: Section, study: Study, surface: Response) -> None:
    steps = study.search.steps
    if len(steps) > MOST_STEPS:
        steps = [steps[round(at)] for at in np.linspace(0, len(steps) - 1, MOST_STEPS)]
    pieces = study.spec.pieces
    gains = [surface.gain(step.values) for step in steps]
    blocks = [float(step.blocks) for step in steps]
    low, high = [gain.low for gain in gains], [gain.high for gain in gains]
    line = Line(x=blocks, y=[gain.mean for gain in gains], low=low, high=high, label="what was thought best then")
    plot = Plot(
        x=Axis.around(pieces, [0.0, *blocks], form=",.0f"),
        y=Axis.around(", ".join(filter(None, ["gain", unit_of(study)])), [*low, *high, 0.0], form="+,.3g"),
        layers=[Rule(at=0.0, across=True, label="now"), line],
    )
    part.figure(
        Figure(
            name="best-by-blocks",
            caption=f"What was thought best after so many {pieces}, and the gain over the current values that all "
            f"{pieces} together now expect of it, with its 95 % interval.",
            alt=f"The expected gain of the best values by the number of {pieces}.",
            plots=[plot],
        )
    )


def _importance(part: Section, study: Study, surface: Response) -> None:
    shares = surface.importance
    order = np.argsort(-shares, kind="stable")
    names = tuple([study.space.names[at] for at in order])
    dots = Dots(x=[100 * float(shares[at]) for at in order], y=list(range(len(order))))
    part.figure(
        Figure(
            name="shares",
            caption="How much of the variation of the expected gain over the whole space each parameter accounts "
            "for by itself. What is missing to 100 % is due to several together. Where the surface is flat this says "
            "nothing.",
            alt="The importance of each parameter.",
            plots=[Plot(x=Axis(label="% of the variation", low=0, high=100), y=Rows(names), layers=[dots])],
        )
    )


def _slices(part: Section, study: Study, surface: Response, middle: Values) -> None:
    centre = study.space.places([middle])[0]
    lines = []
    for at, parameter in enumerate(study.space.parameters):
        along = np.linspace(0, 1, len(parameter.names) or POINTS)
        places = np.repeat(centre[None], len(along), axis=0)
        places[:, at] = along
        mean, error = surface.gains(places)
        lines.append((parameter, [_value(parameter, x) for x in along.tolist()], mean, SURE * error))
    edges = [float(v) for _, _, mean, half in lines for v in (*(mean - half), *(mean + half))]
    unit = f", in {unit_of(study)}," if unit_of(study) else ""
    gains = Axis.around("gain", edges, form="+,.3g")
    plots = []
    for at, (parameter, values, mean, half) in enumerate(lines):
        low, high = (mean - half).tolist(), (mean + half).tolist()
        marks = [(parameter.current, _at_current(surface, study, middle, at), "its value now")]
        if study.recommended is not None:
            marks.insert(0, (middle[at], surface.gain(middle).mean, "recommended"))
        layers: list[Layer]
        if parameter.names:  # names have room in rows
            rows = Dots(x=mean.tolist(), y=values, low=low, high=high, label="expected gain of a value")
            layers = [Rule(at=0.0), rows]
            layers += [Dots(x=[gain], y=[value], tone=_MARKS[label], label=label) for value, gain, label in marks]
            plots.append(Plot(title=parameter.name, x=gains, y=Rows(parameter.names), layers=layers))
        else:
            band = Line(x=values, y=mean.tolist(), low=low, high=high, label="expected gain")
            layers = [band, Rule(at=0.0, across=True)]
            layers += [Dots(x=[value], y=[gain], tone=_MARKS[label], label=label) for value, gain, label in marks]
            plots.append(Plot(title=parameter.name, x=_axis(parameter), y=gains, layers=layers, height=150))
    part.figure(
        Figure(
            name="by-parameter",
            caption=f"The expected gain{unit} with its 95 % interval when one parameter changes and all others are "
            f"{_middle_word(study)}.",
            alt="The expected gain by each parameter.",
            plots=plots,
        )
    )


def _middle_word(study: Study) -> str:
    """What the values of the parameters are that do not change."""
    return "as recommended" if study.recommended is not None else "as they are now"


def _at_current(surface: Response, study: Study, middle: Values, at: int) -> float:
    changed = (*middle[:at], study.space.current[at], *middle[at + 1 :])
    return surface.gain(changed).mean


def _contours(part: Section, study: Study, surface: Response, middle: Values) -> None:
    order = np.argsort(-surface.importance, kind="stable").tolist()
    pairs = sorted(combinations(range(len(order)), 2), key=sum)[:MOST_PAIRS]
    for pair in [(order[a], order[b]) for a, b in pairs]:
        # Names have more room at the side.
        one, other = sorted(pair, key=lambda at: sum(map(len, study.space.parameters[at].names)))
        across, up = study.space.parameters[one], study.space.parameters[other]
        mean, error = _grid(study, surface, middle, one, other)
        x_edges, y_edges = _cells(across)[1], _cells(up)[1]
        tried = study.search.seen.candidates
        plots = []
        for title, values in (("expected gain", mean), ("standard error", error)):
            layers: list[Layer] = [
                Grid(x_edges=x_edges, y_edges=y_edges, values=values.tolist(), form=",.3g"),
                Dots(x=[v[one] for v in tried], y=[v[other] for v in tried], tone="quiet", label="tried"),
                Dots(x=[across.current], y=[up.current], tone="green", label="now"),
            ]
            if study.recommended is not None:
                layers.append(Dots(x=[middle[one]], y=[middle[other]], tone="vermillion", label="recommended"))
            plots.append(Plot(title=title, x=_axis(across, LETTERS), y=_axis(up), layers=layers))
        part.figure(
            Figure(
                name=f"contour-{across.name}-{up.name}",
                caption=f"{across.name} and {up.name}, all others {_middle_word(study)}: the expected gain, from "
                f"{gain_text(float(mean.min()))} (faint) to {gain_text(float(mean.max()))}{in_unit(study)}, and its "
                f"standard error, from {number(float(error.min()))} to {number(float(error.max()))}.",
                alt=f"The expected gain by {across.name} and {up.name}, and its standard error.",
                plots=plots,
            )
        )


def _grid(study: Study, surface: Response, middle: Values, one: int, other: int) -> tuple[Floats, Floats]:
    """Expected gain and standard error, rows by ``other``."""
    across, up = _cells(study.space.parameters[one])[0], _cells(study.space.parameters[other])[0]
    places = np.repeat(study.space.places([middle]), len(across) * len(up), axis=0)
    places[:, one], places[:, other] = np.tile(across, len(up)), np.repeat(up, len(across))
    mean, error = surface.gains(places)
    return mean.reshape(len(up), len(across)), error.reshape(len(up), len(across))


def _cells(parameter: Parameter) -> tuple[Floats, list[float]]:
    """The middles of the cells of a contour, as places, and their edges, as values; a choice is a cell."""
    if parameter.names:
        count = len(parameter.names)
        return np.linspace(0, 1, count), [number - 0.5 for number in range(count + 1)]
    edges = np.linspace(0, 1, CELLS + 1)
    return (edges[:-1] + edges[1:]) / 2, [_value(parameter, x) for x in edges.tolist()]


def _tried(part: Section, study: Study, surface: Response) -> None:
    tried = study.search.seen.candidates
    mean, error = surface.gains(study.space.places(tried))
    order = np.argsort(-mean, kind="stable")[:MOST_TRIED]
    rows: list[Sequence[str | Cell]] = []
    for at in order:
        values = tried[at]
        count, raw, _ = study.search.seen.difference(values, study.space.current)
        told = [gain_text(raw) if count else "-", gain_text(float(mean[at])), number(SURE * float(error[at]))]
        rows.append([study.space.told(values), f"{len(study.search.seen.of(values)):,}", *told])
    counted = "units" if study.spec.games else study.spec.pieces
    titles = (counted, f"in its {study.spec.pieces}", "expected gain", "± 95 %")
    columns = [Column("values", numbers=False), *map(Column, titles)]
    part.table(columns, rows, caption=f"The best of {len(tried):,} candidates, by what is expected of them.")


def _axis(parameter: Parameter, letters: int = 0) -> Axis:
    """The axis of a parameter; with ``letters`` its names together have about so many at most."""
    if parameter.names:
        most = max(letters // len(parameter.names), 3) if letters else None
        return Axis.of_names(parameter.name, tuple([name[:most] for name in parameter.names]))
    if parameter.log:
        return Axis.around_log(parameter.name, [parameter.low, parameter.high])
    return Axis.around(parameter.name, [parameter.low, parameter.high])


def _value(parameter: Parameter, place: float) -> float:
    """The value at a place, not rounded to what is allowed."""
    if parameter.log:
        return float(parameter.low * (parameter.high / parameter.low) ** place)
    return parameter.low + place * (parameter.high - parameter.low)
