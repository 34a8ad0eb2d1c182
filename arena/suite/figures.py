"""What the scores of engines come to: means with intervals over deals, paired differences, parts, and depth.

A mean over positions varies with the deals, and positions of one deal are alike. So the variance of a mean m of n
values is that of the sums of (value - m) over each of G deals: G / (G - 1) times the sum of their squares, divided by
n² (Liang & Zeger 1986). The interval is Student's t with G - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.arena.match.standings import CONFIDENCE, Interval
from caboose.arena.suite.score import Score
from caboose.arena.suite.suite import PHASES, Place, Suite

BLUNDER: Final = 3.0  # pips
QUANTILES: Final = (0.5, 0.8, 0.9)  # shares of positions of which it is told when they are settled

Values = npt.NDArray[np.float64]

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True)
class Part:
    """The mean loss in some of the positions: those of a ``kind`` (``phase``, ``players`` or ``preset``) that have
    ``value``."""

    kind: str
    value: str
    loss: Interval


@dataclass(frozen=True, slots=True)
class Step:
    """An engine under one of its limits: mean loss, agreement and the share of positions settled there (both 0 to 1),
    ms and nodes a decision."""

    limit: str
    loss: Interval
    agreement: float | None
    settled: float | None
    time: float | None
    nodes: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What an engine's score comes to. ``loss`` is in pips a decision, ``behind`` by how much that is more than the
    lowest of all engines, in the positions that both answered; both are means over positions. ``agreement`` and
    ``blunders`` are shares of them. ``time`` is ms a decision, ``nodes_per_second`` what the engine says of itself.
    What is not known is None."""

    label: str
    limit: str
    answered: int
    loss: Interval
    behind: Interval
    agreement: Interval
    blunders: Interval
    time: float | None
    nodes_per_second: float | None
    parts: tuple[Part, ...]
    steps: tuple[Step, ...]
    faults: tuple[tuple[int, str], ...]


# --------------------------------------------------------------------------------------------------- figures


def mean_over_deals(values: Values, deals: Sequence[str]) -> Interval:
    """The mean of values, of which nan does not count, with its interval over deals; a deal for each value."""
    there = ~np.isnan(values)
    count = int(there.sum())
    if count == 0:
        return Interval(None, None, 0)
    mean = float(values[there].mean())
    _, groups = np.unique(np.asarray(deals)[there], return_inverse=True)
    sums = np.bincount(groups, values[there] - mean)
    if len(sums) < 2:
        return Interval(mean, None, count)
    # Here and not above: it takes long to load.
    from scipy.special import stdtrit

    quantile = float(stdtrit(len(sums) - 1, (1 + CONFIDENCE) / 2))
    variance = len(sums) / (len(sums) - 1) * float((sums**2).sum()) / count**2
    return Interval(mean, quantile * math.sqrt(variance), count)


def figures(suite: Suite, scores: Sequence[Score], blunder: float = BLUNDER) -> list[Figures]:
    """The figures of each score, in their order. Scores may be of fewer positions than the suite has."""
    losses = [score.losses() for score in scores]
    means = [float(np.nanmean(each)) if not np.isnan(each).all() else math.inf for each in losses]
    best = means.index(min(means)) if means else 0
    return [
        _figures(suite, score, difference(scores[best], score, suite), losses[number], blunder)
        for number, score in enumerate(scores)
    ]


def difference(one: Score, other: Score, suite: Suite) -> Interval:
    """By how much ``other`` loses more than ``one``: position by position, over those that both answered."""
    mine = dict(zip(one.positions, one.losses(), strict=True))
    common = [number for number in other.positions if number in mine]
    theirs = dict(zip(other.positions, other.losses(), strict=True))
    values = np.array([theirs[number] - mine[number] for number in common])
    return mean_over_deals(values, [suite.positions[number].place.deal for number in common])


def _figures(suite: Suite, score: Score, behind: Interval, losses: Values, blunder: float) -> Figures:
    places = [suite.positions[number].place for number in score.positions]
    deals = [place.deal for place in places]
    answers = score.last_answers()
    searched = sum(answer.search_time for answer in answers)
    return Figures(
        label=score.entry.contestant.label,
        limit=str(score.entry.control),
        answered=int((~np.isnan(losses)).sum()),
        loss=mean_over_deals(losses, deals),
        behind=behind,
        agreement=mean_over_deals(score.agreement(), deals),
        blunders=mean_over_deals(score.blunders(blunder), deals),
        time=_mean([answer.time for answer in answers]),
        nodes_per_second=1000 * sum(answer.nodes for answer in answers) / searched if searched else None,
        parts=tuple(_parts(places, losses)),
        steps=tuple(_steps(score, deals)) if score.entry.earlier else (),
        faults=tuple(score.faults),
    )


def _parts(places: Sequence[Place], losses: Values) -> Iterable[Part]:
    kinds: tuple[tuple[str, Callable[[Place], str]], ...] = (
        ("phase", lambda place: place.phase),
        ("players", lambda place: str(place.view.rules.players)),
        ("preset", lambda place: place.view.rules.preset),
    )
    for kind, value_of in kinds:
        values = [value_of(place) for place in places]
        order = PHASES if kind == "phase" else sorted(set(values), key=lambda value: (len(value), value))
        for value in order:
            chosen = [number for number, each in enumerate(values) if each == value]
            if chosen:
                yield Part(kind, value, mean_over_deals(losses[chosen], [places[number].deal for number in chosen]))


def _steps(score: Score, deals: Sequence[str]) -> Iterable[Step]:
    settled = score.settled()
    for step, control in enumerate(score.entry.controls):
        answers = score.last_answers(step)
        agreement = [float(share) for share in score.agreement(step) if not math.isnan(share)]
        yield Step(
            limit=str(control),
            loss=mean_over_deals(score.losses(step), deals),
            agreement=_mean(agreement),
            settled=float(settled[:, step].mean()) if len(settled) else None,
            time=_mean([answer.time for answer in answers]),
            nodes=_mean([float(answer.nodes) for answer in answers]) if any(a.nodes for a in answers) else None,
        )


def depth(steps: Sequence[Step], share: float) -> Step | None:
    """The smallest limit under which at least ``share`` of the positions are settled; None if there is none."""
    return next((step for step in steps if step.settled is not None and step.settled >= share), None)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
