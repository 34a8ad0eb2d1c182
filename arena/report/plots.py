"""What is to be seen on a plot, as values, whoever draws it.

A ``Figure`` has one or more ``Plot``; a plot has two axes, and layers, of which the first is at the back. Colours are
``TONES``, which colour-blind people can tell apart; every tone has a shape of its own, as colour alone tells nobody
enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Tone = Literal["blue", "vermillion", "green", "purple", "quiet"]
Shape = Literal["circle", "diamond", "square", "triangle", "stroke"]

TONES: Final[tuple[Tone, ...]] = ("blue", "vermillion", "green", "purple")
SHAPES: Final[dict[Tone, Shape]] = {
    "blue": "circle",
    "vermillion": "diamond",
    "green": "square",
    "purple": "triangle",
    "quiet": "stroke",
}
MINUS: Final = "\N{MINUS SIGN}"

_NICE: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Numbers from ``low`` to ``high``, evenly or, if ``log``, by their logarithms (both above 0). ``form`` is how they
    are written (``format``). With ``names`` the whole numbers from 0 on are written as these, and no others. Raises
    ``ValueError`` where the range is empty or not finite."""

    label: str
    low: float
    high: float
    log: bool = False
    form: str = ",.6g"
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"axis {self.label}: from {self.low} to {self.high}, expected a range")
        if self.log and self.low <= 0:
            raise ValueError(f"axis {self.label}: from {self.low}, expected more than 0 for logarithms")

    @classmethod
    def around(cls, label: str, values: Iterable[float | None], *, with_zero: bool = False, form: str = ",.6g") -> Axis:
        """An even axis with some room around ``values``; those that are None or not finite do not matter."""
        known = [value for value in values if value is not None and math.isfinite(value)]
        low, high = min(known, default=0.0), max(known, default=0.0)
        if with_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        return cls(label=label, low=low - room, high=high + room, form=form)

    @classmethod
    def around_log(cls, label: str, values: Iterable[float], *, form: str = ",.6g") -> Axis:
        """A logarithmic axis with some room around those of ``values`` that are above 0."""
        known = [value for value in values if value > 0 and math.isfinite(value)]
        low, high = min(known, default=1.0), max(known, default=10.0)
        room = max((high / low) ** 0.06, 1.1)
        return cls(label=label, low=low / room, high=high * room, log=True, form=form)

    @classmethod
    def of_names(cls, label: str, names: tuple[str, ...]) -> Axis:
        """An axis of things that have a name each, and no order, numbered from 0."""
        return cls(label=label, low=-0.5, high=len(names) - 0.5, names=names)

    def at(self, value: float) -> float:
        """Where ``value`` is: 0 at the low end, 1 at the high end, and not beyond."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def text(self, value: float) -> str:
        """``value`` as it is written."""
        return self.names[round(value)] if self.names else number_text(value, self.form)

    def ticks(self, most: int = 6) -> list[float]:
        """Up to ``most`` round numbers within the range; of names all, as none stands for another."""
        if self.names:
            return [float(number) for number in range(len(self.names))]
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            for factors in ((1, 2, 5), (1, 3), (1,)):
                found = [factor * 10.0**power for power in range(first - 1, last + 1) for factor in factors]
                found = [value for value in found if self.low <= value <= self.high]
                if 2 <= len(found) <= most:
                    return found
            if last - first >= 2:
                return [10.0**power for power in range(first, last + 1, -(-(last - first) // (most - 1)))]
        exact = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(exact))
        step = next(factor for factor in _NICE if factor * power >= exact * (1 - 1e-9)) * power
        numbers = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        return [number * step for number in numbers]


@dataclass(frozen=True, slots=True)
class Rows:
    """An axis of names, from the top. A layer's y is the number of a row, from 0; half a row lies between two."""

    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Points, of which those that have ``low`` and ``high`` have an interval too: along x if the y axis is of rows,
    else along y. ``label`` is for the key. ``notes`` say more about each, where one points at it."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    tone: Tone = "blue"
    label: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Points joined by a line, with a band from ``low`` to ``high`` if they are given. ``dashed``: it has gaps."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    tone: Tone = "blue"
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hill:
    """A distribution over a row: ``heights`` (0 to 1) between the ``edges``, of which there is one more."""

    row: int
    edges: Sequence[float]
    heights: Sequence[float]
    tone: Tone = "blue"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Values on rectangles: ``values[i][j]`` between ``y_edges[i]``, ``y_edges[i + 1]`` and ``x_edges[j]``,
    ``x_edges[j + 1]``. The least is shown faintest, the greatest in the full tone. ``form`` is how they are written
    where one points at one."""

    x_edges: Sequence[float]
    y_edges: Sequence[float]
    values: Sequence[Sequence[float]]
    tone: Tone = "blue"
    form: str = ",.4g"

    def strength(self, value: float) -> float:
        """How full the tone of a value is, 0 to 1."""
        known = [value for row in self.values for value in row if math.isfinite(value)]
        low, high = min(known, default=0.0), max(known, default=0.0)
        return 0.5 if low == high else (value - low) / (high - low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A line across the plot, where x is ``at``, or where y is if ``across``."""

    at: float
    across: bool = False
    label: str = ""


Layer = Dots | Line | Hill | Grid | Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Layers between two axes. ``title`` is for those that stand beside others. ``height`` is that of the inner part,
    in CSS pixels; plots with rows have the height of their rows."""

    x: Axis
    y: Axis | Rows
    layers: Sequence[Layer]
    title: str = ""
    height: int = 220


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Plots that are shown together. ``name`` is that of its files, ``caption`` stands below it, ``alt`` tells what is
    seen to who does not see it."""

    name: str
    caption: str
    alt: str
    plots: Sequence[Plot]

    def key(self) -> list[tuple[str, Tone, type[Dots] | type[Line], bool]]:
        """Text, tone, kind and whether it is dashed, of each layer with a label; the same one once."""
        found = []
        for plot in self.plots:
            for layer in plot.layers:
                if isinstance(layer, (Dots, Line)) and layer.label:
                    found.append((layer.label, layer.tone, type(layer), isinstance(layer, Line) and layer.dashed))
        return list(dict.fromkeys(found))


def number_text(value: float, form: str) -> str:
    """``value`` by ``form``, with a real minus sign, and without a sign where nothing but zeros are left."""
    text = format(value, form)
    if text[:1] in "+-" and not any("1" <= digit <= "9" for digit in text):
        text = text[1:]
    return text.replace("-", MINUS)
