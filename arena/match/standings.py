"""What a match says about its contestants, and how sure it is.

The formulas:

- The *margin* of a seat in a round is the mean score of the seats that belong to other contestants minus its own
  score: pips, more is better. The margin of a contestant in a block is the mean over its seats and the rounds of the
  block. It is computed in whole numbers, so it is exactly 0 where all play alike.
- A contestant's margin is the mean m of its n block margins. The block is the unit because games with the same deals
  are not independent. Its 95 % interval is m ± t · s / √n, where s is the standard deviation of the block margins
  (with n − 1) and t the 0.975 quantile of Student's t distribution with n − 1 degrees of freedom.
- A round is won by the lowest score in it, a game by the first place. Who ties shares: each of k winners has 1/k.
- A game with a fault does not count for the seats without one. For a seat with a fault it counts as played and lost,
  as are all its rounds, and in each of them its score is at least the worst at the table.

Times cover all games.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from caboose.arena.blocks.game_rows import shares
from caboose.arena.blocks.results import BlockResult, GameInBlock

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over ``count`` values, and half the width of its 95 % confidence interval.

    ``mean`` is None without values, ``half`` is None with fewer than two.
    """

    mean: float | None
    half: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How a contestant fared. Shares are 0 to 1, scores and margins pips a round, times ms a move.

    ``games`` and ``rounds`` are those that count for it, summed over its seats; what would be a mean or share over
    none is None. ``faults`` counts its own by kind, ``uncounted`` the games on its seats that others' faults took
    away, ``replays`` its crashes for which a game was played again. ``overruns`` moves came after their limit, but
    within the margin, the worst by ``worst_overrun`` ms. ``cpu_mean`` is the processor time of its engines, ms a move;
    None where that is not known. ``stops`` times or more a signal stopped one of its engines.
    """

    label: str
    seats: int
    games: int
    rounds: int
    score: float | None
    rounds_won: float | None
    games_won: float | None
    margin: Interval
    decisions: int
    time_mean: float | None
    time_max: float
    faults: Mapping[str, int]
    uncounted: int
    overruns: int = 0
    worst_overrun: float = 0.0
    cpu_mean: float | None = None
    replays: int = 0
    stops: int = 0


def t_interval(values: Sequence[float]) -> Interval:
    """The mean of independent ``values`` with its Student t interval."""
    count = len(values)
    if count == 0:
        return Interval(None, None, 0)
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    # Here and not above: it takes longer to load than many a command to run.
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return Interval(mean, quantile * math.sqrt(variance / count), count)


@dataclass(slots=True)
class _Tally:
    """What a contestant has gathered so far."""

    games: int = 0
    rounds: int = 0
    points: int = 0
    rounds_won: float = 0.0
    games_won: float = 0.0
    margins: list[float] = field(default_factory=list)  # one for each block that counts
    time: float = 0.0
    decisions: int = 0
    slowest: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    uncounted: int = 0
    overruns: int = 0
    worst_overrun: float = 0.0
    cpu: float = 0.0
    replays: int = 0
    stops: int = 0


class Scoreboard:
    """Gathers blocks and tells the standings so far. ``entries`` has the number of a contestant for each player."""

    def __init__(self, labels: Sequence[str], entries: Sequence[int]) -> None:
        self._labels = tuple(labels)
        self._entries = tuple(entries)
        self._tallies = [_Tally() for _ in labels]

    def add(self, block: BlockResult) -> None:
        """Counts a whole block."""
        for number, tally in enumerate(self._tallies):
            pips, rounds = 0, 0
            for game in block.games:
                for seat, entry in enumerate(game.seating):
                    if self._entries[entry] == number and _counts(tally, game, seat):
                        others = [s for s, e in enumerate(game.seating) if self._entries[e] != number]
                        pips += _add_rounds(tally, game, seat, others)
                        rounds += len(game.result.rounds)
            if rounds:
                others_count = sum(owner != number for owner in self._entries)
                tally.margins.append(pips / (others_count * rounds))

    def standings(self) -> list[Standing]:
        """How each contestant fared, in their order."""
        return [
            Standing(
                label=label,
                seats=self._entries.count(number),
                games=tally.games,
                rounds=tally.rounds,
                score=_ratio(tally.points, tally.rounds),
                rounds_won=_ratio(tally.rounds_won, tally.rounds),
                games_won=_ratio(tally.games_won, tally.games),
                margin=t_interval(tally.margins),
                decisions=tally.decisions,
                time_mean=_ratio(tally.time, tally.decisions),
                time_max=tally.slowest,
                faults=dict(tally.faults),
                uncounted=tally.uncounted,
                overruns=tally.overruns,
                worst_overrun=tally.worst_overrun,
                cpu_mean=_ratio(tally.cpu, tally.decisions) if tally.cpu else None,
                replays=tally.replays,
                stops=tally.stops,
            )
            for number, (label, tally) in enumerate(zip(self._labels, self._tallies, strict=True))
        ]


def _counts(tally: _Tally, game: GameInBlock, seat: int) -> bool:
    """Counts the game itself for the contestant on ``seat``; says whether its rounds count too."""
    own = game.result.seats[seat]
    tally.time += own.time
    tally.decisions += own.decisions
    tally.slowest = max(tally.slowest, own.slowest)
    tally.overruns += own.overruns
    tally.worst_overrun = max(tally.worst_overrun, own.worst_overrun)
    tally.cpu += own.cpu
    tally.stops += own.stops
    tally.replays += sum(crash.seat == seat for crash in game.crashes)
    if own.fault is not None:
        tally.faults[own.fault.kind] += 1
    elif game.result.tainted:
        tally.uncounted += 1
        return False
    winners = game.result.winners
    tally.games += 1
    tally.games_won += 1 / len(winners) if seat in winners else 0.0
    return True


def _add_rounds(tally: _Tally, game: GameInBlock, seat: int, others: Sequence[int]) -> int:
    """Counts the rounds of a game; returns how much more all ``others`` had in them than ``seat``, added up."""
    faulty = game.result.seats[seat].fault is not None
    pips = 0
    for round in game.result.rounds:
        own = max(round.scores) if faulty else round.scores[seat]
        pips += sum(round.scores[other] for other in others) - len(others) * own
        tally.rounds += 1
        tally.points += own
        tally.rounds_won += 0.0 if faulty else shares(round.scores)[seat]
    return pips


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None
