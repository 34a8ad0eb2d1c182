"""What is tuned: the parameters, their ranges, and how they are laid out in a unit cube.

Choices have no order, so that a place of the cube only says which of them is meant: the cube is for proposing. How far
places are from each other is told by ``Space.points``, where all choices of a parameter are equally far apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.protocol.notation.lines import printable

GRAINS: Final = 10_000  # steps of the range of a parameter that has none of its own: what is asked for is written short
SHOWN: Final = 60  # characters of a name and its value: an engine may have choices of any length
DIGITS: Final = 12  # of a value that are kept: steps must not leave the dust of binary fractions

Floats = npt.NDArray[np.float64]
Values = tuple[float, ...]
"""A value for each parameter, in the order of the space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter from ``low`` to ``high``, both included, in steps of ``step`` from ``low`` on.

    Where ``log`` is set, equal ratios are equally far apart; ``low`` is then above 0. ``current`` is the value that it
    has now, which need not be on a step. ``kind`` is that of the option: ``spin``, ``check``, ``string`` or ``combo``.

    A ``combo`` has ``choices``, at least two; its values are their numbers, from 0 on, with the step 1."""

    name: str
    low: float
    high: float
    step: float
    current: float
    log: bool = False
    kind: str = "spin"
    choices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the values are called, from 0 on, where they are no numbers."""
        return ("false", "true") if self.kind == "check" else self.choices

    def place(self, value: float) -> float:
        """Where ``value`` lies, from 0 at ``low`` to 1 at ``high``."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """The allowed value that is nearest to a place, which may lie outside; each choice has an equal share."""
        place = min(max(place, 0.0), 1.0)
        if self.choices:
            return float(min(int(place * len(self.choices)), len(self.choices) - 1))
        raw = self.low * (self.high / self.low) ** place if self.log else self.low + place * (self.high - self.low)
        return self.snapped(raw)

    def snapped(self, value: float) -> float:
        """The nearest allowed value."""
        most = math.floor((self.high - self.low) / self.step * (1 + 1e-12))
        steps = min(max(round((value - self.low) / self.step), 0), most)
        return round(self.low + steps * self.step, DIGITS)

    def neighbours(self, value: float) -> list[float]:
        """The allowed values next to one."""
        near = {self.snapped(value - self.step), self.snapped(value + self.step)}
        return sorted(near - {value})

    def around(self, value: float, share: float) -> list[float]:
        """The allowed values about ``share`` of the range below and above one, at least a step; all other choices."""
        if self.choices:
            return [float(number) for number in range(len(self.choices)) if number != value]
        at = self.place(value)
        wide = {self.value(at - share), self.value(at + share)} - {value}
        return sorted(wide) if wide else self.neighbours(value)

    def text(self, value: float) -> str:
        """``value`` as the engine is given it."""
        if self.names:
            return self.names[int(value)]
        return str(int(value)) if float(value).is_integer() else repr(float(value))


@dataclass(frozen=True, slots=True)
class Space:
    """The parameters that are tuned together."""

    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order."""
        return tuple([parameter.name for parameter in self.parameters])

    @property
    def current(self) -> Values:
        """The values as they are now."""
        return tuple([parameter.current for parameter in self.parameters])

    def places(self, values: Sequence[Values]) -> Floats:
        """Points of the unit cube: (values, parameters)."""
        rows = [[p.place(v) for p, v in zip(self.parameters, row, strict=True)] for row in values]
        return np.array(rows, float).reshape(len(values), len(self))

    @property
    def widths(self) -> tuple[int, ...]:
        """How many coordinates each parameter has in ``points``: one, or one for each choice."""
        return tuple([len(parameter.choices) or 1 for parameter in self.parameters])

    @property
    def ordered(self) -> npt.NDArray[np.bool_]:
        """(parameters,): whether the values of each have an order, which choices have not."""
        return np.array([not parameter.choices for parameter in self.parameters], bool)

    def points(self, places: Floats) -> Floats:
        """Where places of the unit cube lie when distances are to mean something: (places, coordinates).

        A choice is a corner of a simplex, and all of them are 1 apart, as the ends of any other range are."""
        columns = []
        for parameter, column in zip(self.parameters, places.T, strict=True):
            if parameter.choices:
                count = len(parameter.choices)
                numbers = np.clip(np.floor(column * count), 0, count - 1)
                columns += [(numbers == number) * math.sqrt(0.5) for number in range(count)]
            else:
                columns.append(column)
        return np.column_stack(columns)

    def values(self, place: Sequence[float] | Floats) -> Values:
        """The allowed values nearest to a point of the unit cube."""
        return tuple([p.value(float(x)) for p, x in zip(self.parameters, place, strict=True)])

    def options(self, values: Values) -> tuple[tuple[str, str], ...]:
        """The options by name, as text."""
        return tuple([(p.name, p.text(v)) for p, v in zip(self.parameters, values, strict=True)])

    def told(self, values: Values) -> str:
        """Values for people: ``Noise=4 WinBonus=10``."""
        return " ".join(printable(f"{name}={text}", most=SHOWN) for name, text in self.options(values))
