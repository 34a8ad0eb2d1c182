"""Plots as SVG within a page.

A drawing is as wide as there is room, and its letters stay as large as they are: x is given in percent of the inner
part of the plot, y in pixels. Lines and bands, which cannot be given in percent, are in a part that is stretched. What
stands outside of the inner part (names, numbers) has its room by padding. Colours are those of the page's style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final
from xml.etree.ElementTree import Element

from caboose.arena.report.html import append, element
from caboose.arena.report.plots import (
    SHAPES,
    Axis,
    Dots,
    Figure,
    Grid,
    Hill,
    Layer,
    Line,
    Plot,
    Rows,
    Rule,
    Shape,
    Tone,
    number_text,
)

ROW: Final = 28  # pixels of a row
_WIDTHS: Final = {"ijlI.,:;'|! ": 4.0, "frt-()[]/": 5.2, "mwMW%@": 12.0}  # pixels of letters, in a wide face
_LETTER: Final = 7.7  # of the others
_LONGEST: Final = 20  # letters of a row's name that are shown
_TOP, _BOTTOM, _RIGHT = 8, 40, 14  # pixels of room around the inner part
_NARROW: Final = 328  # pixels that a plot has on a narrow screen
_GAP: Final = 8  # pixels between two numbers
_WIDE: Final = 1000  # of the stretched part, in units of its own

_SHAPES: Final[dict[Shape, str]] = {
    "diamond": "M0-5.6L5.6 0 0 5.6-5.6 0z",
    "square": "M-4.2-4.2H4.2V4.2H-4.2z",
    "triangle": "M0-5.4L5.2 4.2H-5.2z",
    "stroke": "M-2.2-6.5H2.2V6.5H-2.2z",
}


def figure(what: Figure) -> Element:
    """The ``figure`` element of a page."""
    made = element("figure", id=f"figure-{what.name}")
    key = what.key()
    if key:
        append(made, element("ul", *(_key(*item) for item in key), class_="key", aria_hidden="true"))
    drawings = [plot(each, f"{what.alt} {each.title}".strip()) for each in what.plots]
    append(made, drawings[0] if len(drawings) == 1 else element("div", *drawings, class_="panels"))
    append(made, element("figcaption", what.caption))
    return made


def plot(what: Plot, alt: str) -> Element:
    """One plot; ``alt`` tells what is seen."""
    height = len(what.y.labels) * ROW if isinstance(what.y, Rows) else what.height
    svg = element("svg", width="100%", height=height, role="img", aria_label=alt)
    left = _left(what.y)
    for part in (*_x_axis(what.x, height, left), *_y_axis(what.y, height)):
        append(svg, part)
    for layer in what.layers:
        for part in _layer(what, layer, height):
            append(svg, part)
    top = _TOP + (0 if isinstance(what.y, Rows) or not what.y.label else 16)
    room = f"padding: {top}px {_RIGHT}px {_BOTTOM}px {left}px"
    title = element("p", what.title, class_="plot-title") if what.title else None
    return element("div", title, element("div", svg, style=room), class_="plot")


# ------------------------------------------------------------------------------------------------ axes


def _left(axis: Axis | Rows) -> int:
    texts = [_shortened(label) for label in axis.labels] if isinstance(axis, Rows) else map(axis.text, axis.ticks())
    return round(14 + max(map(_width, texts), default=0))


def _width(text: str) -> float:
    return sum(next((wide for letters, wide in _WIDTHS.items() if letter in letters), _LETTER) for letter in text)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _x_axis(axis: Axis, height: float, left: float) -> Iterator[Element]:
    ticks = axis.ticks()
    texts = [axis.text(tick) for tick in ticks]
    # Where a narrow screen has no room for all numbers, every other one is left out; 0 is not.
    crowded = sum(_width(text) + _GAP for text in texts) > _NARROW - left - _RIGHT
    kept = ticks.index(0) % 2 if 0 in ticks else 0
    for number, (tick, text) in enumerate(zip(ticks, texts, strict=True)):
        at = _percent(axis, tick)
        spare = " spare" if crowded and number % 2 != kept else ""
        yield element("line", x1=at, x2=at, y1=0, y2=height, class_="grid")
        yield element("text", text, x=at, y=height + 16, class_=f"tick middle{spare}")
    yield element("text", axis.label, x="100%", y=height + 34, class_="axis end")


def _y_axis(axis: Axis | Rows, height: float) -> Iterator[Element]:
    if isinstance(axis, Rows):
        for row, name in enumerate(axis.labels):
            middle = _down(axis, row, height)
            yield element("line", x1="0", x2="100%", y1=middle, y2=middle, class_="grid")
            title = element("title", name) if _shortened(name) != name else None
            yield element("text", _shortened(name), title, x=-8, y=middle + 4, class_="name end")
        return
    for tick in axis.ticks():
        at = _down(axis, tick, height)
        yield element("line", x1="0", x2="100%", y1=at, y2=at, class_="grid")
        yield element("text", axis.text(tick), x=-8, y=at + 4, class_="tick end")
    if axis.label:
        yield element("text", axis.label, x=4 - _left(axis), y=-12, class_="axis")


def _percent(axis: Axis, value: float) -> str:
    return f"{100 * axis.at(value):.2f}%"


def _down(axis: Axis | Rows, value: float, height: float) -> float:
    return (value + 0.5) * ROW if isinstance(axis, Rows) else height * (1 - axis.at(value))


# ------------------------------------------------------------------------------------------------ layers


def _layer(what: Plot, layer: Layer, height: float) -> Iterator[Element]:
    if isinstance(layer, Dots):
        yield from _dots(what, layer, height)
    elif isinstance(layer, Line):
        yield _line(what, layer, height)
    elif isinstance(layer, Hill):
        yield _hill(what, layer, height)
    elif isinstance(layer, Grid):
        yield from _grid(what, layer, height)
    else:
        yield from _rule(what, layer, height)


def _dots(what: Plot, dots: Dots, height: float) -> Iterator[Element]:
    for at, (x, y) in enumerate(zip(dots.x, dots.y, strict=True)):
        group = element("g", class_=f"tone-{dots.tone}")
        if at < len(dots.notes):
            append(group, element("title", dots.notes[at]))
        across, down = _percent(what.x, x), _down(what.y, y, height)
        low, high = (dots.low[at], dots.high[at]) if dots.low and dots.high else (None, None)
        if low is not None and high is not None:
            if isinstance(what.y, Rows):
                ends = [_percent(what.x, low), _percent(what.x, high)]
                append(group, element("line", x1=ends[0], x2=ends[1], y1=down, y2=down, class_="whisker"))
                for end in ends:
                    append(group, element("line", x1=end, x2=end, y1=down - 4, y2=down + 4, class_="whisker"))
            else:
                ys = [_down(what.y, end, height) for end in (low, high)]
                append(group, element("line", x1=across, x2=across, y1=ys[0], y2=ys[1], class_="whisker"))
        append(group, _mark(SHAPES[dots.tone], across, down))
        yield group


def _mark(shape: Shape, x: str | float, y: float) -> Element:
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4.8, class_="mark")
    return element("svg", element("path", d=_SHAPES[shape], class_="mark"), x=x, y=y, class_="shape")


def _line(what: Plot, line: Line, height: float) -> Element:
    xs = [_WIDE * what.x.at(x) for x in line.x]
    made = _stretched(height, class_=f"tone-{line.tone}")
    if line.low and line.high:
        band = [(x, _down(what.y, low, height)) for x, low in zip(xs, line.low, strict=True)]
        band += reversed([(x, _down(what.y, high, height)) for x, high in zip(xs, line.high, strict=True)])
        append(made, element("path", d=f"M{_points(band)}z", class_="band"))
    path = [(x, _down(what.y, y, height)) for x, y in zip(xs, line.y, strict=True)]
    append(made, element("path", d=f"M{_points(path)}", class_="line dashed" if line.dashed else "line"))
    return made


def _hill(what: Plot, hill: Hill, height: float) -> Element:
    base, tall = _down(what.y, hill.row, height) + 0.42 * ROW, 0.84 * ROW
    edges = [_WIDE * what.x.at(edge) for edge in hill.edges]
    points = [(edges[0], base)]
    for (left, right), share in zip(pairwise(edges), hill.heights, strict=True):
        points += [(left, base - tall * share), (right, base - tall * share)]
    points.append((edges[-1], base))
    made = _stretched(height, class_=f"tone-{hill.tone}")
    append(
        made,
        element("path", element("title", hill.note) if hill.note else None, d=f"M{_points(points)}z", class_="hill"),
    )
    return made


def _grid(what: Plot, grid: Grid, height: float) -> Iterator[Element]:
    group = element("g", class_=f"tone-{grid.tone}")
    for values, bottom, top in zip(grid.values, grid.y_edges[:-1], grid.y_edges[1:], strict=True):
        y, end = _down(what.y, top, height), _down(what.y, bottom, height)
        for value, left, right in zip(values, grid.x_edges[:-1], grid.x_edges[1:], strict=True):
            if math.isfinite(value):
                x, wide = what.x.at(left), what.x.at(right) - what.x.at(left)
                title = element("title", number_text(value, grid.form))
                full = f"--strength: {4 + 92 * grid.strength(value):.0f}%"
                cell = element("rect", title, y=y, height=end - y, style=full, class_="cell")
                cell.attrib |= {"x": f"{100 * x:.2f}%", "width": f"{100 * wide:.2f}%"}
                append(group, cell)
    yield group


def _rule(what: Plot, rule: Rule, height: float) -> Iterator[Element]:
    if rule.across:
        at = _down(what.y, rule.at, height)
        yield element("line", x1="0", x2="100%", y1=at, y2=at, class_="rule")
        if rule.label:
            yield element("text", rule.label, x="100%", y=at - 5, class_="tick end")
    else:
        across = _percent(what.x, rule.at)
        yield element("line", x1=across, x2=across, y1=0, y2=height, class_="rule")
        if rule.label:
            yield element("text", rule.label, x=across, y=-2, class_="tick middle")


def _stretched(height: float, **attributes: str) -> Element:
    return element(
        "svg", width="100%", height=height, viewBox=f"0 0 {_WIDE} {height}", preserveAspectRatio="none", **attributes
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _key(text: str, tone: Tone, kind: type[Dots] | type[Line], dashed: bool) -> Element:
    svg = element("svg", width=24, height=12, class_=f"tone-{tone}")
    if kind is Line:
        append(svg, element("path", d="M0 6H24", class_="line dashed" if dashed else "line"))
    else:
        append(svg, _mark(SHAPES[tone], 12, 6))
    return element("li", svg, text)
