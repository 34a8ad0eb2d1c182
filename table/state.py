"""The table at any moment of a round: what is drawn, and stepping through a round event by event.

The engine stops only where somebody has a choice. A replay stops after every event, so a position between two
choices is the one after them with the events that had not yet happened taken back: they are draws, passes and
the like, and change no train.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event, Observation, OpenDouble, Round, Table
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import MEXICAN, Tile
from caboose.protocol.records.records import event_words

# --------------------------------------------------------------------------------------------- value types


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A table at one moment.

    ``turn`` is the seat that acts next, by choice or by force; -1 when the round is over. ``open_doubles`` has the
    one that must be satisfied first in front; ``bound`` says that nothing else may be played now. ``chains`` has,
    for each seat, how many tiles its first turn's chain has. ``hands`` has the hands that are known, ``moves`` the
    legal moves where the seat has a choice and its hand is known. ``scores`` are the pips in all hands, by seat,
    when the round is over and the hands are known.
    """

    rules: Rules
    hub: int
    hub_lies: bool
    starter: int
    turn: int
    blocked: bool
    hand_sizes: tuple[int, ...]
    boneyard: int
    markers: tuple[bool, ...]
    trains: Mapping[int, tuple[Move, ...]]
    ends: Mapping[int, tuple[int, ...]]
    open_doubles: tuple[OpenDouble, ...]
    bound: bool
    chains: tuple[int, ...]
    hands: Mapping[int, tuple[Tile, ...]]
    moves: tuple[Move, ...] = ()
    scores: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        """The round is over."""
        return self.turn == -1


# --------------------------------------------------------------------------------------------------- scenes


def scene_of(table: Table) -> Scene:
    """The scene that ``table`` shows: of a round with all hands, of an observation with that seat's."""
    rules = table.rules
    hands: dict[int, tuple[Tile, ...]] = {}
    moves: tuple[Move, ...] = ()
    scores: tuple[int, ...] = ()
    if isinstance(table, Round):
        hands = dict(enumerate(table.hands))
        moves = tuple(table.legal_moves())
        scores = table.scores if table.over else ()
    elif isinstance(table, Observation):
        hands = {table.seat: table.hand}
        moves = tuple(table.legal_moves()) if table.turn == table.seat else ()
    doubles = table.open_doubles
    return Scene(
        rules=rules,
        hub=table.hub,
        hub_lies=True,
        starter=table.starter,
        turn=table.turn,
        blocked=table.blocked,
        hand_sizes=table.hand_sizes,
        boneyard=table.boneyard_size,
        markers=table.markers,
        trains=table.trains,
        ends={train: table.ends(train) for train in (*range(rules.players), MEXICAN)},
        open_doubles=doubles[::-1] if rules.doubles_order == "lifo" else doubles,
        bound=table.binding is not None,
        chains=_chains(rules, table.events),
        hands=hands,
        moves=moves,
        scores=scores,
    )


def before_events(scene: Scene, events: Sequence[Event]) -> Scene:
    """``scene`` with ``events``, the last ones before it, taken back. None of them is a play."""
    if not events:
        return scene
    sizes, markers, hands = list(scene.hand_sizes), list(scene.markers), dict(scene.hands)
    boneyard, hub_lies = scene.boneyard, scene.hub_lies
    for event in reversed(events):
        seat = event.seat
        if event.kind == "draw":
            sizes[seat] -= 1
            boneyard += 1
            if event.tile is not None and seat in hands:
                hands[seat] = tuple(tile for tile in hands[seat] if tile != event.tile)
        elif event.kind == "hub":
            sizes[seat] += 1
            hub_lies = False
            if seat in hands:
                hands[seat] = tuple(sorted([*hands[seat], Tile(scene.hub, scene.hub)], key=lambda tile: tile.id))
        elif event.kind == "mark":
            markers[seat] = False
    return replace(
        scene,
        turn=events[0].seat,
        blocked=False,
        hand_sizes=tuple(sizes),
        boneyard=boneyard,
        markers=tuple(markers),
        hands=hands,
        hub_lies=hub_lies,
        moves=(),
        scores=(),
    )


def _chains(rules: Rules, events: Sequence[Event]) -> tuple[int, ...]:
    lengths = [0] * rules.players
    if rules.first_turn == "chain":
        had = set()
        start = next((i for i, event in enumerate(events, 1) if event.kind == "hub"), 0)
        before = -1
        for event in events[start:]:
            if event.seat != before:
                had.add(before)
                before = event.seat
            if before not in had and event.kind == "play":
                lengths[before] += 1
    return tuple(lengths)


# ----------------------------------------------------------------------------------------------------- replay


class Replay:
    """A round played again from its deal and its events, to be looked at after any of them.

    Where the events do not follow the rules, the replay ends before the first that does not, and ``problem`` says
    why; it is empty otherwise. ``events`` are those that were replayed, ``ended`` says whether they end the round.
    Raises ``ValueError`` for a deal that is none under the rules.
    """

    def __init__(self, rules: Rules, deal: Deal, events: Sequence[Event]) -> None:
        self.rules = rules
        self.deal = deal
        self.problem = ""
        self._rounds: list[Round] = []  # at each choice, and at the end
        self._lengths: list[int] = []  # how many events each has behind it
        self.events = tuple(events[: self._run(Round(rules, deal), events)])
        self.ended = not self.problem and self._rounds[-1].over and len(self.events) == self._lengths[-1]

    def _run(self, round: Round, events: Sequence[Event]) -> int:
        """Plays the events; returns how many of them the rules allow."""
        while True:
            told = round.events
            seen = self._lengths[-1] if self._lengths else 0
            self._rounds.append(round)
            self._lengths.append(len(told))
            for number in range(seen, min(len(told), len(events))):
                if not _agrees(events[number], told[number]):
                    self.problem = f"expected {event_words(told[number])}"
                    return number
            if len(events) <= len(told):
                return len(events)
            event = events[len(told)]
            if round.over:
                self.problem = "the round is over, expected nothing more"
                return len(told)
            move = STOP if event.kind == "stop" else event.move
            if move is None or event.seat != round.turn or move not in round.legal_moves():
                legal = " ".join(map(str, round.legal_moves()))
                self.problem = f"expected seat {round.turn + 1} to play one of {legal}"
                return len(told)
            round = round.copy()
            round.apply(move)

    def __len__(self) -> int:
        """How many events there are; ``scene`` takes 0 to this."""
        return len(self.events)

    def scene(self, number: int) -> Scene:
        """The table after ``number`` events."""
        index = bisect_left(self._lengths, number)
        round = self._rounds[index]
        return before_events(scene_of(round), round.events[number:])

    def choices(self) -> list[tuple[int, Round]]:
        """Each choice: after how many events somebody had it, and the round then, which is not to be changed."""
        found = zip(self._lengths, self._rounds, strict=True)
        return [(length, round) for length, round in found if not round.over and length <= len(self)]

    def turns(self) -> list[int]:
        """After how many events each turn begins, and the last one ends."""
        events = self.events
        starts = [number for number in range(1, len(events)) if events[number].seat != events[number - 1].seat]
        return sorted({0, *starts, len(events)})


def _agrees(event: Event, told: Event) -> bool:
    return event == told or (event.kind == "draw" and event.tile is None and event == told._replace(tile=None))
