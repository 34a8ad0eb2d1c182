"""Figures as files: SVG and PNG, by matplotlib (``caboose[plots]``).

They have no background, and grey letters that can be read on white and on black.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings, filterwarnings

from caboose.arena.errors import CallError
from caboose.arena.report.html import clean
from caboose.arena.report.plots import SHAPES, Axis, Dots, Figure, Grid, Hill, Line, Plot, Rows, Rule, Tone
from caboose.arena.report.svg import ROW
from caboose.arena.storage.files import temporary_beside

KINDS: Final = ("svg", "png")
INK: Final = "#767676"
COLOURS: Final[dict[Tone, str]] = {
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
    "quiet": "#a0a0a0",
}
_MARKERS: Final = {"circle": "o", "diamond": "D", "square": "s", "triangle": "^", "stroke": "|"}
_WIDTH: Final = 7.2  # inches
_DOTS: Final = 100  # an inch; of a PNG two to each of these
_ACROSS: Final = 3  # plots beside each other


def check_matplotlib() -> None:
    """Raises ``CallError`` where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError:
        raise CallError("pictures are drawn by matplotlib, which is not here: pip install 'caboose[plots]'") from None


def save(what: Figure, folder: Path) -> list[Path]:
    """Writes ``folder/NAME.svg`` and ``.png``, each whole or not at all; returns both. Raises ``OSError``."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    across = min(len(what.plots), _ACROSS)
    down = math.ceil(len(what.plots) / across)
    tall = max(len(plot.y.labels) * ROW if isinstance(plot.y, Rows) else plot.height for plot in what.plots)
    # Names that come from engines are no formulas: a dollar sign is a dollar sign.
    with rc_context({"svg.hashsalt": what.name, "text.parse_math": False, "font.size": 9}), catch_warnings():
        filterwarnings("ignore", "Glyph")  # a letter that matplotlib has not is drawn as a box
        canvas = Canvas(figsize=(_WIDTH, down * (tall + 70) / _DOTS), layout="constrained", dpi=2 * _DOTS)
        FigureCanvasAgg(canvas)
        places = canvas.subplots(down, across, squeeze=False).ravel()
        for axes, plot in zip(places, what.plots, strict=False):
            _draw(axes, plot, 6 if across == 1 else 4)
        for axes in places[len(what.plots) :]:
            axes.set_axis_off()
        _key(canvas, what)
        paths = [folder / f"{what.name}.{kind}" for kind in KINDS]
        for path, kind in zip(paths, KINDS, strict=True):
            date = {"Date": None} if kind == "svg" else {}
            temporary = temporary_beside(path)
            try:
                canvas.savefig(temporary, format=kind, transparent=True, metadata=date)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    return paths


def _draw(axes: Any, plot: Plot, most: int) -> None:
    _axis(axes.xaxis, axes.set_xscale, axes.set_xlim, plot.x, most)
    axes.set_xlabel(clean(plot.x.label), color=INK)
    if isinstance(plot.y, Rows):
        axes.set_ylim(len(plot.y.labels) - 0.5, -0.5)
        axes.set_yticks(range(len(plot.y.labels)), [clean(label) for label in plot.y.labels])
    else:
        _axis(axes.yaxis, axes.set_yscale, axes.set_ylim, plot.y, most)
        axes.set_ylabel(clean(plot.y.label), color=INK)
    if plot.title:
        axes.set_title(clean(plot.title), color=INK, fontsize=9, loc="left")
    axes.tick_params(colors=INK, which="both")
    axes.grid(color=INK, alpha=0.2)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(INK)
    for order, layer in enumerate(plot.layers, 2):
        _layer(axes, plot, layer, order)


def _axis(ticks: Any, scale: Any, limit: Any, axis: Axis, most: int) -> None:
    scale("log" if axis.log else "linear")
    limit(axis.low, axis.high)
    found = axis.ticks(most)
    ticks.set_ticks(found, [axis.text(tick) for tick in found])
    ticks.set_ticks([], minor=True)


def _layer(axes: Any, plot: Plot, layer: Dots | Line | Hill | Grid | Rule, order: int) -> None:
    if isinstance(layer, Dots):
        _dots(axes, plot, layer, order)
    elif isinstance(layer, Line):
        colour, style = COLOURS[layer.tone], "--" if layer.dashed else "-"
        if layer.low and layer.high:
            axes.fill_between(layer.x, layer.low, layer.high, color=colour, alpha=0.2, linewidth=0, zorder=order)
        wide = 0.8 if layer.tone == "quiet" else 1.6
        faint = 0.55 if layer.tone == "quiet" else 1.0
        axes.plot(layer.x, layer.y, linestyle=style, color=colour, linewidth=wide, alpha=faint, zorder=order)
    elif isinstance(layer, Hill):
        base = layer.row + 0.42
        tops = [base - 0.84 * height for height in layer.heights]
        edges, heights = [layer.edges[0]], [base]
        for (left, right), top in zip(pairwise(layer.edges), tops, strict=True):
            edges += [left, right]
            heights += [top, top]
        axes.fill_between(
            [*edges, layer.edges[-1]], [*heights, base], base, color=COLOURS[layer.tone], alpha=0.4, zorder=order
        )
    elif isinstance(layer, Grid):
        from matplotlib.colors import to_rgba

        for values, bottom, top in zip(layer.values, layer.y_edges[:-1], layer.y_edges[1:], strict=True):
            full = [0.04 + 0.92 * layer.strength(value) if math.isfinite(value) else 0.0 for value in values]
            colours = [[to_rgba(COLOURS[layer.tone], alpha) for alpha in full]]
            axes.pcolormesh(layer.x_edges, [bottom, top], colours, zorder=order)
    elif layer.across:
        axes.axhline(layer.at, color=INK, linestyle=":", linewidth=1, zorder=order)
    else:
        axes.axvline(layer.at, color=INK, linestyle=":", linewidth=1, zorder=order)


def _dots(axes: Any, plot: Plot, dots: Dots, order: int) -> None:
    colour = COLOURS[dots.tone]
    for at, (x, y) in enumerate(zip(dots.x, dots.y, strict=True)):
        low, high = (dots.low[at], dots.high[at]) if dots.low and dots.high else (None, None)
        if low is None or high is None:
            continue
        if isinstance(plot.y, Rows):
            axes.plot([low, high], [y, y], color=colour, linewidth=1.6, marker="|", zorder=order)
        else:
            axes.plot([x, x], [low, high], color=colour, linewidth=1.6, zorder=order)
    axes.plot(dots.x, dots.y, _MARKERS[SHAPES[dots.tone]], color=colour, markersize=5, zorder=order)


def _key(canvas: Any, what: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for text, tone, kind, dashed in what.key():
        style: Any = ("--" if dashed else "-") if kind is Line else ""
        marker = "" if kind is Line else _MARKERS[SHAPES[tone]]
        handles.append(Line2D([], [], color=COLOURS[tone], marker=marker, linestyle=style, label=clean(text)))
    if handles:
        canvas.legend(handles=handles, loc="outside upper left", ncols=3, frameon=False, labelcolor=INK)
