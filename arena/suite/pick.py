"""Which positions a suite gets: some choices of recorded rounds, spread over tables and phases by a seed."""

from __future__ import annotations

import hashlib
import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from caboose.arena.suite.suite import PHASES, Place
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.round import Event, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.notation.notation import deal_text
from caboose.protocol.records.records import GameRecord, RecordError
from caboose.table.state import Replay

MOST_MOVES: Final = 100  # of a position
_SPARE: Final = 3  # times as many rounds are kept as should be needed: some lack a phase


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round that was played: its deal, all its events, and the scores of the rounds before it."""

    rules: Rules
    deal: Deal
    events: Sequence[Event]
    past: Sequence[Sequence[int]] = ()

    @property
    def name(self) -> str:
        """The digits by which its deal is known in a suite."""
        text = f"{_table(self.rules)} {deal_text(self.rules, self.deal)}"
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


@dataclass(slots=True)
class Unreadable:
    """What of the records could not be used: how many games, and what was wrong with the first."""

    games: int = 0
    first: str = ""

    def add(self, text: str) -> None:
        """One more."""
        self.games += 1
        self.first = self.first or text


def recorded_rounds(records: Iterable[GameRecord | RecordError], unreadable: Unreadable) -> Iterator[PlayedRound]:
    """The finished rounds of records; what cannot be read is told to ``unreadable``."""
    for record in records:
        if isinstance(record, RecordError):
            unreadable.add(str(record))
            continue
        past: list[tuple[int, ...]] = []
        for round in record.rounds:
            if round.finished:
                yield PlayedRound(record.rules, round.deal, [line.event for line in round.events], tuple(past))
            past.append(round.scores)


def pick(rounds: Iterable[PlayedRound], positions: int, per_round: int, seed: int) -> list[Place]:
    """``positions`` choices of ``rounds``, as many for each kind of table and phase as there can be, in a fixed order.

    A table is a preset with its options and a number of players. Each deal is used once, in the first of the games that
    have it, for ``per_round`` choices at most. Forced moves are no choices. Rounds whose events are against the rules
    are left out. Tables take turns, so that the first positions are as well spread as all of them. The result depends
    on the set of deals, the first game of each, and the seed. Needs memory for some times as many rounds as are picked.
    """
    tables: dict[str, _Table] = {}
    for played in rounds:
        tables.setdefault(_table(played.rules), _Table(positions // per_round * _SPARE + _SPARE)).add(played, seed)
    picked: dict[str, list[Place]] = {}
    left = positions
    # The tables with the fewest rounds first: what they cannot give the others do.
    names = sorted(tables, key=lambda name: (len(tables[name].kept), name))
    for number, name in enumerate(names):
        share = -(-left // (len(names) - number))
        picked[name] = _pick_some(tables[name].in_order(), share, per_round, seed)
        left -= len(picked[name])
    ranks = zip_longest(*(picked[name] for name in sorted(picked)))
    return [place for rank in ranks for place in rank if place is not None]


class _Table:
    """The rounds of a table with the lowest numbers, which are drawn by lot for each deal."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: list[tuple[int, str]] = []  # a heap, the highest number first
        self.rounds: dict[str, PlayedRound] = {}

    def add(self, played: PlayedRound, seed: int) -> None:
        name = played.name
        if name in self.rounds:
            return
        lot = -int.from_bytes(hashlib.sha256(f"{seed} {name}".encode("ascii")).digest()[:8], "big")
        if len(self.kept) == self.most:
            if lot <= self.kept[0][0]:
                return
            del self.rounds[heapq.heapreplace(self.kept, (lot, name))[1]]
        else:
            heapq.heappush(self.kept, (lot, name))
        self.rounds[name] = played

    def in_order(self) -> Iterator[PlayedRound]:
        return (self.rounds[name] for _, name in sorted(self.kept, reverse=True))


def _pick_some(rounds: Iterable[PlayedRound], most: int, per_round: int, seed: int) -> list[Place]:
    places: list[Place] = []
    wanted = 0  # the phase whose turn it is
    for played in rounds:
        if len(places) >= most:
            break
        replay = Replay(played.rules, played.deal, played.events)
        if replay.problem or not replay.ended:
            continue
        name = played.name
        lot = random.Random(f"{seed} {name}")
        choices = [(event, round) for event, round in replay.choices() if 1 < len(round.legal_moves()) <= MOST_MOVES]
        thirds = [number * len(choices) // len(PHASES) for number in range(len(PHASES) + 1)]
        chosen: list[tuple[int, Round, int]] = []
        for _ in range(min(per_round, most - len(places))):
            first, end = list(pairwise(thirds))[wanted]
            free = [choice for choice in choices[first:end] if choice not in [(e, r) for e, r, _ in chosen]]
            if not free:
                break
            chosen.append((*lot.choice(free), wanted))
            wanted = (wanted + 1) % len(PHASES)
        places += [Place(round.observe(round.turn, played.past), name, PHASES[phase]) for _, round, phase in chosen]
    return places


def _table(rules: Rules) -> str:
    """What tells one table from another: how many rounds are played at it does not."""
    return str(rules.with_options(rounds=1))
