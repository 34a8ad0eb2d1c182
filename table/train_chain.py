"""A train as one line of tiles: which touches which, and where more may come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from caboose.engine.rules.moves import Move
from caboose.engine.rules.tiles import MEXICAN
from caboose.table.state import Scene

_TOES: Final = 3  # what a chickenfoot double takes


@dataclass(slots=True, eq=False)
class Link:
    """A tile on a train. ``after`` are the tiles that touch it further out; ``open`` says that more may come there,
    and ``need`` how many tiles it wants as an open double, 0 for none."""

    move: Move
    after: list[Link] = field(default_factory=list)
    foot: bool = False
    open: bool = False
    need: int = 0


Bracket = Literal["(", ")"]


def chain(scene: Scene, train: int) -> list[Link | Bracket]:
    """The tiles of ``train`` from the hub on. Where a chickenfoot double splits it, all branches but the last stand
    in brackets, as in ``5-5 (5-3 3-9) (5-8) 5-1``."""
    root = _grow(scene, train)
    return [] if root is None else list(_branch(root, main=True))


def _grow(scene: Scene, train: int) -> Link | None:
    """The tiles of a train as a tree; the hub is no chickenfoot, so one tile touches it."""
    chickenfoot = scene.rules.double_answer == "chickenfoot"
    first = scene.chains[train] if train != MEXICAN else 0
    needs = {double.pips: double.need for double in scene.open_doubles if double.train == train}
    root: Link | None = None
    ends: list[Link] = []  # where more may come, oldest first
    for number, move in enumerate(scene.trains.get(train, ())):
        link = Link(move, foot=chickenfoot and move.open == move.match and number >= first)
        if root is not None:
            place = _place(ends, move.match)
            place.after.append(link)
            if not place.foot or len(place.after) == _TOES:
                ends.remove(place)
        else:
            root = link
        ends.append(link)
    for link in ends:
        link.open = True
        if link.foot or not chickenfoot:
            link.need = needs.get(link.move.open, 0) if link.move.open == link.move.match else 0
    return root


def _place(ends: Sequence[Link], value: int) -> Link:
    """The end that a tile goes to: a double that wants tiles before any other of the same value."""
    fitting = [link for link in ends if link.move.open == value]
    return next((link for link in reversed(fitting) if link.foot), fitting[-1])


def _branch(link: Link, main: bool) -> Iterator[Link | Bracket]:
    if not main:
        yield "("
    while True:
        yield link
        if not link.after:
            break
        *others, following = link.after
        for other in others:
            yield from _branch(other, main=False)
        link = following
    if not main:
        yield ")"
