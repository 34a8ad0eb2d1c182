"""The rules once more, in plain Python: slow, obvious, and independent of the fast core.

``ReferenceRound`` follows docs/reference/rules.md sentence by sentence. Tiles are plain tuples ``(low, high)``, moves
are their text (``5-12@M``, ``stop``), a position is lists and dicts. ``legal_moves`` generates; ``objection`` judges
any conceivable move by what forbids it, and shares none of the generator's reasoning. ``ReferenceGame`` adds rounds up.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.rules import Rules

Tile = tuple[int, int]
Event = tuple[str, int, Tile | None, str | None]  # kind, seat, tile, text of the move

MEXICAN: Final = 14
MOVE: Final = re.compile(r"(0|[1-9][0-9]?)-(0|[1-9][0-9]?)@(M|[1-9][0-9]?)")


def tile_of(a: int, b: int) -> Tile:
    """The tile with these ends."""
    return (min(a, b), max(a, b))


def whole_set(top: int) -> list[Tile]:
    """Every tile of a double-``top`` set, each once."""
    return [(low, high) for high in range(top + 1) for low in range(high + 1)]


NUMBERS: Final = {tile: number for number, tile in enumerate(whole_set(18))}


def tile_number(tile: Tile) -> int:
    """The place of a tile in the order 0-0, 0-1, 1-1, 0-2, 1-2, 2-2, …, in which moves are listed."""
    return NUMBERS[tile]


def train_name(train: int) -> str:
    """``M``, or the number of the seat from 1."""
    return "M" if train == MEXICAN else str(train + 1)


@dataclass
class OpenDouble:
    """A double that still needs tiles: one, or three under chickenfoot."""

    train: int
    pips: int
    need: int


@dataclass
class Turn:
    """What the seat to move has done in this turn."""

    seat: int
    tiles: int = 0  # played in this turn
    doubles: int = 0  # of them doubles that oblige: none in a chain
    drawn: Tile | None = None  # the tile drawn after the last one played


class ReferenceRound:
    """One round, open to everybody's eyes. Forced steps happen by themselves, as in the fast core."""

    def __init__(self, rules: Rules, deal: Deal) -> None:
        self.rules = rules
        self.hub = deal.hub
        self.hands: list[list[Tile]] = [[(t[0], t[1]) for t in hand] for hand in deal.hands]
        self.boneyard: list[Tile] = [(t[0], t[1]) for t in deal.boneyard]
        self.markers = [False] * rules.players
        self.open_doubles: list[OpenDouble] = []  # oldest first
        self.trains: dict[int, list[str]] = {}  # the moves that built each train
        self.table: list[Tile] = [(deal.hub, deal.hub)]
        self.events: list[Event] = []
        self.first_turn_done = [False] * rules.players
        self.passes = 0  # in a row, on a table that did not change
        self.over = False
        self.blocked = False
        self._ends = {train: [deal.hub] for train in [*range(rules.players), MEXICAN]}

        self.starter = deal.starter
        if rules.hub == "dealt":
            holder = self._lay_hub()
            if rules.starter == "holder":
                self.starter = holder
        self.current = Turn(self.starter)
        self._forced_steps()

    # What can be seen.

    @property
    def turn(self) -> int:
        """The seat that must choose; -1 when the round is over."""
        return -1 if self.over else self.current.seat

    @property
    def hand_sizes(self) -> list[int]:
        """How many tiles each seat holds."""
        return [len(hand) for hand in self.hands]

    @property
    def scores(self) -> list[int]:
        """The pips left in each hand; 0-0 counts what the rules say."""
        return [sum(self.rules.blank if tile == (0, 0) else sum(tile) for tile in hand) for hand in self.hands]

    @property
    def binding(self) -> OpenDouble | None:
        """The open double that must be satisfied before anything else (§4.3)."""
        if self.open_doubles and self.current.doubles == 0:
            return self._first_in_order()
        return None

    def ends(self, train: int) -> list[int]:
        """The pips open on a train, ascending."""
        return sorted(self._ends[train])

    def copy(self) -> ReferenceRound:
        """An independent round in the same position."""
        twin = copy.copy(self)
        twin.hands = [list(hand) for hand in self.hands]
        twin.boneyard = list(self.boneyard)
        twin.markers = list(self.markers)
        twin.open_doubles = [copy.copy(double) for double in self.open_doubles]
        twin.trains = {train: list(moves) for train, moves in self.trains.items()}
        twin.table = list(self.table)
        twin.events = list(self.events)
        twin.first_turn_done = list(self.first_turn_done)
        twin._ends = {train: list(ends) for train, ends in self._ends.items()}
        twin.current = copy.copy(self.current)
        return twin

    # Legal moves, generated.

    def legal_moves(self) -> list[str]:
        """By train, then by the end that is touched, then by tile; ``stop`` last."""
        if self.over:
            return []
        moves = []
        for train, end, _, tile in sorted(self._fitting()):
            other = tile[1] if tile[0] == end else tile[0]
            moves.append(f"{end}-{other}@{train_name(train)}")
        if self._in_chain() and self.current.tiles > 0:
            moves.append("stop")
        return moves

    def _fitting(self) -> set[tuple[int, int, int, Tile]]:
        """What the seat to move may play now: train, end, and the tile after its number."""
        turn = self.current
        tiles = self.hands[turn.seat] if turn.drawn is None else [turn.drawn]
        found = set()
        for train, end, wanted in self._places():
            for tile in tiles:
                is_double = tile[0] == tile[1]
                if end in tile and (wanted == "any tile" or is_double):
                    found.add((train, end, tile_number(tile), tile))
        return found

    def _places(self) -> list[tuple[int, int, str]]:
        """Where the seat to move may play now: train, end, and whether any tile or only doubles."""
        rules, turn = self.rules, self.current
        binding = self.binding
        if binding is not None:
            return [(binding.train, binding.pips, "any tile")]

        usable = [turn.seat]
        limited = not self.first_turn_done[turn.seat] and rules.first_turn_places == "own"
        if not limited:
            usable += [seat for seat, marked in enumerate(self.markers) if marked and seat != turn.seat]
            usable += [MEXICAN]
        everywhere = [(train, end, "any tile") for train in usable for end in self._ends[train]]
        doubles_everywhere = [(train, end, "double") for train in usable for end in self._ends[train]]

        # The first tile of a turn, a chain, or a turn whose doubles died at once: free choice.
        if not self.open_doubles:
            return everywhere

        # The seat has played a double and must play again.
        newest, first = self.open_doubles[-1], self._first_in_order()
        on_newest = (newest.train, newest.pips, "any tile")
        on_first = (first.train, first.pips, "any tile")
        last_tile_is_bound = rules.extra_after_doubles == "first" and turn.doubles >= 2
        if rules.double_answer == "chickenfoot":
            return [on_newest]
        if rules.double_answer == "own" and turn.drawn is None:
            return [on_first]
        return [on_first, *doubles_everywhere] if last_tile_is_bound else everywhere

    def _in_chain(self) -> bool:
        return self.rules.first_turn == "chain" and not self.first_turn_done[self.current.seat]

    def _first_in_order(self) -> OpenDouble:
        """Of the open doubles, the one that ``doubles_order`` puts first."""
        return self.open_doubles[0 if self.rules.doubles_order == "fifo" else -1]

    # Legal moves, judged.

    def is_legal(self, text: str) -> bool:
        """Whether the seat to move may make this move; any text at all may be asked about."""
        return self.objection(text) is None

    def objection(self, text: str) -> str | None:
        """Why the move is not legal now; None when it is."""
        if self.over:
            return "the round is over"
        turn, rules = self.current, self.rules
        seat = turn.seat
        first_turn = not self.first_turn_done[seat]

        if text == "stop":
            if not first_turn or rules.first_turn != "chain":
                return "only a chain can be stopped"
            return None if turn.tiles else "a chain that can be started must be"

        written = MOVE.fullmatch(text)
        if written is None:
            return "this is not a move"
        match, other = int(written[1]), int(written[2])
        train = MEXICAN if written[3] == "M" else int(written[3]) - 1
        tile = tile_of(match, other)
        if train not in self._ends:
            return "there is no such train"
        if tile not in self.hands[seat]:
            return "the tile is not in the hand"
        if turn.drawn is not None and tile != turn.drawn:
            return "after a draw only the drawn tile may be played"
        if match not in self._ends[train]:
            return "the tile does not match the train"

        bound = self.open_doubles and turn.doubles == 0
        if bound:
            first = self._first_in_order()
            if (train, match) != (first.train, first.pips):
                return "an open double must be satisfied first"
            return None
        if train != seat:
            if first_turn and rules.first_turn_places == "own":
                return "the first turn is for the own train"
            if train != MEXICAN and not self.markers[train]:
                return "somebody else's train without a marker"

        if turn.doubles > 0 and self.open_doubles:
            newest, first = self.open_doubles[-1], self._first_in_order()
            answers_newest = (train, match) == (newest.train, newest.pips)
            answers_first = (train, match) == (first.train, first.pips)
            is_double = match == other
            if rules.double_answer == "chickenfoot":
                return None if answers_newest else "the chickenfoot comes first"
            if rules.double_answer == "own" and turn.drawn is None and not answers_first:
                return "the own double that doubles_order puts first must be answered first"
            if rules.extra_after_doubles == "first" and turn.doubles >= 2 and not is_double and not answers_first:
                return "the last tile after several doubles goes on the first of them"
        return None

    # Playing.

    def apply(self, text: str) -> None:
        """Plays a move of the seat to move, then every forced step. Raises ``ValueError`` when it is not legal."""
        objection = self.objection(text)
        if objection is not None:
            raise ValueError(f"{text}: {objection}")
        if text == "stop":
            self._event("stop")
            self._end_turn()
        else:
            self._play(text)
        self._forced_steps()

    def _play(self, text: str) -> None:
        turn, rules = self.current, self.rules
        ends, name = text.split("@")
        match, other = map(int, ends.split("-"))
        train = MEXICAN if name == "M" else int(name) - 1
        tile = tile_of(match, other)
        is_double = match == other
        in_chain = self._in_chain()

        self.hands[turn.seat].remove(tile)
        self.table.append(tile)
        self.trains.setdefault(train, []).append(text)
        self._event("play", tile, text)
        turn.tiles += 1
        turn.drawn = None
        self.passes = 0
        if train == turn.seat:
            self.markers[turn.seat] = False

        answered = [d for d in self.open_doubles if (d.train, d.pips) == (train, match)]
        for double in answered:
            double.need -= 1
            if double.need == 0:
                self.open_doubles.remove(double)
        if not answered or answered[0].need == 0:
            self._ends[train].remove(match)
        self._ends[train].append(other)

        if is_double and not in_chain:
            turn.doubles += 1
            self.open_doubles.append(OpenDouble(train, match, 3 if rules.double_answer == "chickenfoot" else 1))
        if rules.dead_double == "release":
            self.open_doubles = [d for d in self.open_doubles if not self.is_dead(d.pips)]

        if not self.hands[turn.seat]:
            on_first_turn = not self.first_turn_done[turn.seat]
            if on_first_turn and rules.first_turn_finish == "all":
                self._end_turn()
            else:
                self.over = True
        elif not in_chain and not is_double:
            self._end_turn()

    def is_dead(self, pips: int) -> bool:
        """Whether every tile with these pips lies on the table."""
        return all(tile_of(pips, other) in self.table for other in range(self.rules.set + 1))

    # Forced steps.

    def _forced_steps(self) -> None:
        """Draws, passes and ends of chains, until somebody has a choice or the round is over."""
        while not self.over and not self._fitting():
            turn = self.current
            if self._in_chain() and turn.tiles > 0:
                self._event("stop")
                self._end_turn()
            elif self._may_draw():
                turn.drawn = self._draw(turn.seat)
            else:
                self._pass()

    def _may_draw(self) -> bool:
        turn = self.current
        if not self.boneyard or turn.drawn is not None:
            return False
        has_not_started = not self.first_turn_done[turn.seat] and turn.tiles == 0
        return not has_not_started or self.rules.first_turn_draw == "yes"

    def _draw(self, seat: int) -> Tile:
        tile = self.boneyard.pop(0)
        self.hands[seat].append(tile)
        self.events.append(("draw", seat, tile, None))
        return tile

    def _pass(self) -> None:
        """The seat cannot play: marker, and the turn is over. A whole lap of passes ends the round (§1, §6.8)."""
        seat = self.current.seat
        limited = not self.first_turn_done[seat] and self.rules.first_turn_places == "own" and self.binding is None
        if self.markers[seat]:
            self._event("pass")
            self.passes += 1
        else:
            self._event("mark")
            self.markers[seat] = True
            self.passes = 1
        if limited:
            self.passes = 0
        if not self.boneyard and self.passes >= self.rules.players:
            self.over = True
            self.blocked = True
        else:
            self._end_turn()

    def _end_turn(self) -> None:
        self.first_turn_done[self.current.seat] = True
        somebody_is_out = not all(self.hands)
        if somebody_is_out and all(self.first_turn_done):
            self.over = True
        self.current = Turn((self.current.seat + 1) % self.rules.players)

    def _lay_hub(self) -> int:
        """The dealt hub goes to the middle; who lays it there."""
        hub = (self.hub, self.hub)
        seat = 0
        holders = [s for s, hand in enumerate(self.hands) if hub in hand]
        if holders:
            seat = holders[0]
        else:
            while self._draw(seat) != hub:
                seat = (seat + 1) % self.rules.players
        self.hands[seat].remove(hub)
        self.events.append(("hub", seat, None, None))
        return seat

    def _event(self, kind: str, tile: Tile | None = None, move: str | None = None) -> None:
        self.events.append((kind, self.current.seat, tile, move))


class ReferenceGame:
    """The scores of a game's rounds, and who won (RULES.md §2, *game won by*)."""

    def __init__(self, players: int, scores: Sequence[Sequence[int]] = ()) -> None:
        self.players = players
        self.scores = [list(row) for row in scores]

    @property
    def totals(self) -> list[int]:
        """The sum of each seat."""
        return [sum(row[seat] for row in self.scores) for seat in range(self.players)]

    @property
    def winners(self) -> list[int]:
        """Who has won if the game ends now."""
        return self._best_of(list(range(self.players)))

    @property
    def places(self) -> list[int]:
        """Each seat's place from 1: the winners, then the winners among the others, and so on."""
        places = [0] * self.players
        left = list(range(self.players))
        while left:
            best = self._best_of(left)
            for seat in best:
                places[seat] = 1 + self.players - len(left)
            left = [seat for seat in left if seat not in best]
        return places

    def _best_of(self, seats: list[int]) -> list[int]:
        """Lowest total; then more rounds with zero; then the lowest single round other than zero; then shared."""
        totals = self.totals
        lowest = min(totals[seat] for seat in seats)
        seats = [seat for seat in seats if totals[seat] == lowest]

        zeros = {seat: sum(row[seat] == 0 for row in self.scores) for seat in seats}
        most = max(zeros.values())
        seats = [seat for seat in seats if zeros[seat] == most]

        others = {seat: [row[seat] for row in self.scores if row[seat] > 0] for seat in seats}
        smallest = {seat: min(rounds) if rounds else 0 for seat, rounds in others.items()}
        least = min(smallest.values())
        return [seat for seat in seats if smallest[seat] == least]


def perft(position: ReferenceRound, depth: int) -> int:
    """How many sequences of ``depth`` moves there are from here; a round that ends earlier counts once."""
    if depth == 0 or position.over:
        return 1
    moves = position.legal_moves()
    if depth == 1:
        return len(moves)
    count = 0
    for move in moves:
        after = position.copy()
        after.apply(move)
        count += perft(after, depth - 1)
    return count


def perft_points(position: ReferenceRound, depth: int) -> tuple[int, int]:
    """As ``perft``, and the pips left in all hands after each of the sequences, added up."""
    if depth == 0 or position.over:
        return 1, sum(position.scores)
    count = points = 0
    for move in position.legal_moves():
        after = position.copy()
        after.apply(move)
        more = perft_points(after, depth - 1)
        count, points = count + more[0], points + more[1]
    return count, points
