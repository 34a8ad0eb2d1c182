"""What holds in every round, whatever the rules: checked from the events alone, or against the reference's judgement.

A failing example comes small (two players, double-6, few tiles, few moves); the last test sees to that.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import groupby

import hypothesis
import pytest
from hypothesis import given, settings

from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import TILES
from implementations import CoreRound, differences, picture
from reference import MEXICAN, ReferenceRound, Tile, whole_set
from strategies import Walk, all_rules, walks

EVERY_MOVE = [Move.of(tile, train, match) for tile in TILES for train in range(MEXICAN + 1) for match in set(tile)]
EVERY_MOVE.append(STOP)


@given(walks())
def test_the_core_and_the_reference_agree(walk: Walk) -> None:
    for core, reference in zip(walk.positions(CoreRound), walk.positions(ReferenceRound), strict=True):
        assert differences(core, reference, whole=len(core.events) % 8 == 0 or core.over) == []


@given(walks())
def test_tiles_are_conserved(walk: Walk) -> None:
    everything = Counter(whole_set(walk.rules.set))
    for position in walk.positions():
        on_table: list[Tile] = [(walk.deal.hub, walk.deal.hub)]
        on_table += [tile for kind, _, tile, _ in position.events if kind == "play" and tile]
        assert Counter(on_table + position.boneyard + [tile for hand in position.hands for tile in hand]) == everything
        lying = [move for moves in position.trains.values() for move in moves]
        assert sorted(lying) == sorted(move for kind, _, _, move in position.events if move)


@given(walks())
def test_hands_are_what_was_dealt_and_drawn_and_not_played(walk: Walk) -> None:
    for position in walk.positions():
        hands: list[set[Tile]] = [set(hand) for hand in walk.deal.hands]
        boneyard = list(walk.deal.boneyard)
        for kind, seat, tile, _ in position.events:
            if kind == "draw":
                assert tile == boneyard.pop(0)
                hands[seat].add(tile)
            elif kind == "play":
                assert tile is not None
                hands[seat].remove(tile)
            elif kind == "hub":
                hands[seat].remove((walk.deal.hub, walk.deal.hub))
        assert [set(hand) for hand in position.hands] == hands
        assert position.hand_sizes == [len(hand) for hand in hands]
        assert position.boneyard == boneyard
        assert isinstance(position, CoreRound) and position.round.boneyard_size == len(boneyard)
        assert [train for train in position.trains if position.round.started(train)] == list(position.trains)


@settings(max_examples=60)
@given(walks())
def test_generated_moves_are_exactly_the_legal_ones_of_all_conceivable(walk: Walk) -> None:
    core, reference = walk.last(), walk.last(ReferenceRound)
    assert isinstance(core, CoreRound) and isinstance(reference, ReferenceRound)
    legal = set(core.legal_moves())
    assert legal == {str(move) for move in EVERY_MOVE if reference.is_legal(str(move))}
    before = picture(core)
    for move in EVERY_MOVE[len(legal) :: 31]:
        if str(move) not in legal:
            with pytest.raises(ValueError):
                core.round.apply(move)
    assert picture(core) == before, "a refused move left a trace"


@given(walks())
def test_a_copy_is_independent(walk: Walk) -> None:
    core = walk.last()
    assert isinstance(core, CoreRound)
    twin = CoreRound.of(core.round.copy())
    before = picture(core)
    assert picture(twin) == before
    if not core.over:
        twin.apply(twin.legal_moves()[-1])
        assert picture(core) == before
        after = picture(twin)
        core.apply(core.legal_moves()[0])
        assert picture(twin) == after


@given(walks())
def test_markers_change_only_as_the_rules_say(walk: Walk) -> None:
    """A pass puts one down; a tile of the owner on the own train takes it up; nothing else touches any."""
    for position in walk.positions():
        markers = [False] * walk.rules.players
        for kind, seat, _, move in position.events:
            if kind == "mark":
                assert not markers[seat], "a new marker where one lies"
                markers[seat] = True
            elif kind == "pass":
                assert markers[seat], "a pass without a new marker where none lies"
            elif move is not None and move.endswith(f"@{seat + 1}"):
                markers[seat] = False
        assert position.markers == markers


@given(walks())
def test_others_play_only_on_marked_trains_or_on_open_doubles(walk: Walk) -> None:
    markers = [False] * walk.rules.players
    open_doubles: list[tuple[int, int]] = []
    done: list[tuple[str, int, Tile | None, str | None]] = []
    for position in walk.positions():
        for kind, seat, _, move in position.events[len(done) :]:
            if move is not None:
                ends, _, train = move.partition("@")
                own = train == str(seat + 1)
                to_double = train != "M" and (int(train) - 1, int(ends.split("-")[0])) in open_doubles
                assert own or train == "M" or markers[int(train) - 1] or to_double
                if own:
                    markers[seat] = False
            elif kind == "mark":
                markers[seat] = True
        done = position.events
        open_doubles = [(double.train, double.pips) for double in position.open_doubles]


LETTERS = {"draw": "D", "stop": "S", "mark": "M", "pass": "M"}
CHAIN = re.compile(r"D?[tT]+S|D?M")
TURN = re.compile(r"(D?T)*D?[tM]")  # doubles, then a tile that is none, or a pass; each after a draw, or not
LAST_TURN = re.compile(r"(D?T)*D?[tT]|D?[tT]+")


@given(walks())
def test_every_event_stands_where_it_belongs(walk: Walk) -> None:
    """Turn by turn as letters: ``t`` a tile, ``T`` a double, ``D`` a draw, ``S`` a stop, ``M`` a pass."""
    rules = walk.rules
    position = walk.finished()
    events = position.events
    laid = [number for number, (kind, *_) in enumerate(events) if kind == "hub"]
    assert len(laid) == (rules.hub == "dealt")
    for number in laid:
        # Seats draw for the hub in turn from the first one on; who has it lays it down.
        drawn = events[:number]
        assert [(kind, seat) for kind, seat, *_ in drawn] == [("draw", n % rules.players) for n in range(number)]
        if drawn:
            assert drawn[-1][2] == (walk.deal.hub, walk.deal.hub) and events[number][1] == drawn[-1][1]
        if rules.starter == "holder":
            assert position.starter == events[number][1]
        events = events[number + 1 :]

    boneyard = len(walk.deal.boneyard) - sum(laid)
    turns = [list(turn) for _, turn in groupby(events, key=lambda event: event[1])]
    for number, turn in enumerate(turns):
        seat = turn[0][1]
        assert seat == (position.starter + number) % rules.players, "the turns go round"
        letters = ""
        drawn_tile: Tile | None = None
        for kind, _, tile, move in turn:
            if move is None:
                letter = LETTERS[kind]
            else:
                assert tile is not None
                letter = "T" if tile[0] == tile[1] else "t"
                assert drawn_tile in (None, tile), "after a draw only the drawn tile is played"
            if letter == "M" and not letters.endswith("D"):
                may_draw = number >= rules.players or rules.first_turn_draw == "yes" or "T" in letters
                assert boneyard == 0 or not may_draw, "who cannot play draws first"
            if letter == "D":
                boneyard -= 1
            drawn_tile = tile if letter == "D" else None
            letters += letter
        first = number < rules.players
        if first and rules.first_turn_draw == "no":
            assert not letters.startswith("D")
        form = CHAIN if first and rules.first_turn == "chain" else TURN
        out = not position.hands[seat] and number >= len(turns) - rules.players
        assert form.fullmatch(letters) or (out and LAST_TURN.fullmatch(letters)), (letters, turn)
    assert boneyard == len(position.boneyard)


@given(walks())
def test_every_round_ends_out_or_blocked_and_is_scored(walk: Walk) -> None:
    rules, position = walk.rules, walk.last()
    tiles = len(whole_set(rules.set))
    choices = len(walk.moves)
    while not position.over:
        position.apply(position.legal_moves()[-1])
        choices += 1
    assert choices <= tiles + rules.players, "each choice is a tile, or the stop of a first turn"
    assert position.turn == -1 and position.legal_moves() == []
    for hand, score in zip(position.hands, position.scores, strict=True):
        assert score == sum(low + high for low, high in hand) + (rules.blank if (0, 0) in hand else 0)

    out = [seat for seat, hand in enumerate(position.hands) if not hand]
    kinds = [kind for kind, *_ in position.events]
    assert position.blocked == (not out)
    if position.blocked:
        assert position.boneyard == []
        assert set(kinds[-rules.players :]) <= {"pass", "mark", "draw"}
        lap = [seat for kind, seat, *_ in position.events if kind in ("pass", "mark")][-rules.players :]
        assert sorted(lap) == list(range(rules.players))
    elif len(out) > 1 or position.events[-1][1] not in out:
        assert rules.first_turn_finish == "all"
    else:
        assert kinds[-1] in ("play", "stop")


@settings(max_examples=300)
@given(all_rules())
def test_rules_are_the_same_after_text(rules: Rules) -> None:
    text = str(rules)
    assert text.isascii() and text.isprintable()
    assert Rules.parse(text) == rules
    assert str(Rules.parse(text)) == text


class MarkersStay(ReferenceRound):
    """A round with a common fault: markers are never removed."""

    def _play(self, text: str) -> None:
        before = list(self.markers)
        super()._play(text)
        self.markers = before


def is_wrong(walk: Walk) -> bool:
    """Whether the fault shows itself on this walk."""
    positions = zip(walk.positions(), walk.positions(MarkersStay), strict=True)
    try:
        return any(differences(right, wrong, whole=False) for right, wrong in positions)
    except ValueError:  # the faulty one refuses a move
        return True


def test_failing_examples_become_small() -> None:
    # From which walk hypothesis starts depends on the modules that are loaded, whose constants it tries; from some it
    # ends at a walk of many players that no single step makes smaller. So it starts from four.
    small = settings(max_examples=2000, database=None)
    found = [hypothesis.find(walks(), is_wrong, settings=small, random=random.Random(seed)) for seed in range(4)]
    walk = min(found, key=lambda walk: (walk.rules.players, len(walk.moves)))
    assert walk.rules.players <= 3, walk
    assert len(walk.moves) <= 10, walk
