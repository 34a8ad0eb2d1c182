"""The cases that implementations get wrong: RULES.md §6, by number. The faults seen are in ``test_known_faults.py``.

Every round is laid out by hand and played on both implementations.
"""

from __future__ import annotations

import pytest

from caboose.engine.rules.rules import Rules
from reference import MEXICAN, whole_set
from staged_rounds import (
    CLOSING,
    CLOSING_HANDS,
    MakeRound,
    classic,
    doubles,
    family,
    on_both,
    play,
    staged,
    story,
    tail,
    tournament,
)


@on_both
def test_case_01_a_round_can_end_on_a_double(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["6-5 5-5", "0-1 0-2"], boneyard="1-1"))
    play(game, "6-5@1 5-5@1")
    assert story(game) == "1:6-5@1 2:draw=1-1 2:mark 1:5-5@1"
    assert game.over and not game.blocked
    assert game.turn == -1 and game.legal_moves() == []
    assert game.scores == [0, 1 + 2 + 2]
    assert doubles(game) == [(0, 5, 1)]


@on_both
def test_case_01_a_round_can_end_on_the_first_turn(make: MakeRound) -> None:
    rules = tournament(2, 2)
    game = make(rules, staged(rules, ["6-5 5-5", "6-1 0-2"]))
    play(game, "6-5@1 5-5@1")
    assert story(game) == "1:6-5@1 1:5-5@1"
    assert game.over and not game.blocked
    assert game.scores == [0, 7 + 2]


@on_both
def test_case_01_several_can_finish_with_zero_when_all_get_the_first_turn(make: MakeRound) -> None:
    rules = classic(4, 3)
    hands = ["6-1 0-2 1-1", "6-6 6-5 5-5", "6-4 4-3 3-3", "0-0 0-1 6-2"]
    game = make(rules, staged(rules, hands))
    assert game.starter == 1 and story(game) == "2:hub"
    play(game, "6-5@2 5-5@2")
    assert not game.over and game.turn == 2
    play(game, "6-4@3 4-3@3 3-3@3")
    assert not game.over and game.turn == 3
    play(game, "6-2@4")
    assert not game.over and game.turn == 0
    play(game, "6-1@1")
    assert not game.over and game.turn == 0
    play(game, "stop")
    assert game.over and not game.blocked
    assert game.scores == [2 + 2, 0, 0, 50 + 1]
    assert tail(game, 4) == ["4:6-2@4", "4:stop", "1:6-1@1", "1:stop"]


@on_both
def test_case_02_others_start_the_train_of_a_marked_player(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["4-1 0-1 0-0", "6-4 0-2 0-3"], boneyard="1-1 6-0"))
    assert story(game) == "1:draw=1-1 1:mark"
    assert game.ends(0) == [6]
    play(game, "6-4@1")
    assert game.ends(0) == [4]
    assert game.markers == [True, False]
    assert game.legal_moves() == ["4-1@1"]
    play(game, "4-1@1")
    assert game.markers == [False, False]
    assert game.ends(0) == [1]


@on_both
def test_case_02_the_owner_cannot_start_a_train_that_others_started(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["2-1 0-1 0-0", "6-4 0-2 0-3"], boneyard="1-1 6-0"))
    play(game, "6-4@1")
    assert game.legal_moves() == ["6-0@M"]


@on_both
def test_case_03_playing_on_a_marked_train_leaves_both_markers(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "4-2 0-3"], boneyard="1-1 2-2 6-4 6-0"))
    assert story(game) == "1:draw=1-1 1:mark 2:draw=2-2 2:mark 1:draw=4-6"
    assert game.legal_moves() == ["6-4@1", "6-4@2", "6-4@M"]
    play(game, "6-4@2")
    assert game.markers == [True, True]


@on_both
@pytest.mark.parametrize("place, left", [("1", False), ("2", True), ("M", True)])
def test_case_03_only_a_tile_on_the_own_train_takes_the_marker_off(make: MakeRound, place: str, left: bool) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "4-2 0-3"], boneyard="1-1 2-2 6-4 6-0"))
    play(game, f"6-4@{place}")
    assert game.markers[0] is left
    assert game.markers[1] is True


@on_both
def test_case_03_a_tile_of_somebody_else_does_not_take_the_owners_marker_off(make: MakeRound) -> None:
    rules = family(3, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "6-3 0-3", "3-1 0-4"], boneyard="1-1"))
    play(game, "6-3@1 3-1@1")
    assert game.markers == [True, False, False]


@on_both
def test_case_04_an_open_double_on_an_unmarked_train_is_satisfied_and_then_the_train_is_closed(make: MakeRound) -> None:
    rules = family(3, 4)
    hands = ["6-3 3-3 6-5 0-0", "6-4 3-1 0-4 0-5", "6-2 1-4 1-5 2-4"]
    game = make(rules, staged(rules, hands))
    play(game, "6-3@1 6-4@2 6-2@3 3-3@1 6-5@M")
    assert game.markers == [False, False, False]
    assert doubles(game) == [(0, 3, 1)]
    assert game.legal_moves() == ["3-1@1"]
    play(game, "3-1@1")
    assert doubles(game) == []
    assert game.ends(0) == [1]
    assert game.turn == 2
    assert game.legal_moves() == ["2-4@3", "5-1@M"]


@on_both
def test_case_05_the_mexican_train_starts_with_the_hub_when_every_train_has_moved_on(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["6-3 3-1 6-0", "6-4 4-2 4-1"]))
    play(game, "6-3@1 6-4@2")
    assert game.ends(MEXICAN) == [6]
    assert game.legal_moves() == ["3-1@1", "6-0@M"]
    play(game, "6-0@M")
    assert game.ends(MEXICAN) == [0]


@on_both
def test_case_06_no_train_is_started_while_a_double_is_open(make: MakeRound) -> None:
    rules = family(3, 4)
    hands = ["6-3 3-3 6-5 0-0", "0-1 0-2 1-1 1-2", "6-4 3-0 2-4 4-4"]
    game = make(rules, staged(rules, hands, boneyard="0-5 6-0"))
    play(game, "6-3@1 6-4@3 3-3@1 6-5@M")
    # Seat 2 draws 6-0, which fits its own train, not started yet; the open 3-3 forbids it.
    assert tail(game, 3) == ["1:6-5@M", "2:draw=0-6", "2:pass"]
    assert game.ends(1) == [6]
    assert game.legal_moves() == ["3-0@1"]


@on_both
def test_case_06_the_mexican_train_is_not_started_while_a_double_is_open(make: MakeRound) -> None:
    rules = family(3, 4)
    hands = ["6-3 3-3 5-0 0-0", "6-5 0-2 1-1 1-2", "6-4 6-0 2-4 3-0"]
    game = make(rules, staged(rules, hands, boneyard="5-5 6-1"))
    # 3-3 stays open: nothing continues it, the drawn 5-5 fits nowhere.
    play(game, "6-3@1 6-5@2 6-4@3 3-3@1")
    assert tail(game, 4) == ["1:draw=5-5", "1:mark", "2:draw=1-6", "2:mark"]
    assert game.ends(MEXICAN) == [6]
    assert game.legal_moves() == ["3-0@1"]
    play(game, "3-0@1")
    assert "0-0@1" in game.legal_moves()


@on_both
def test_case_07_a_drawn_double_obliges_again(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["6-3 0-0 0-1", "6-4 4-2 1-2"], boneyard="3-3 3-5"))
    play(game, "6-3@1 6-4@2")
    assert tail(game, 1) == ["1:draw=3-3"]
    assert game.legal_moves() == ["3-3@1"]
    play(game, "3-3@1")
    assert game.turn == 0 and tail(game, 1) == ["1:draw=3-5"]
    assert game.legal_moves() == ["3-5@1"]
    play(game, "3-5@1")
    assert game.turn == 1
    assert doubles(game) == []


@on_both
def test_case_07_who_cannot_go_on_after_a_drawn_double_is_marked_and_the_double_binds(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["6-3 0-0 0-1", "6-4 4-2 3-2"], boneyard="3-3 5-5"))
    play(game, "6-3@1 6-4@2 3-3@1")
    assert tail(game, 3) == ["1:3-3@1", "1:draw=5-5", "1:mark"]
    assert doubles(game) == [(0, 3, 1)]
    assert game.turn == 1
    assert game.legal_moves() == ["3-2@1"]


@on_both
def test_case_08_only_a_full_lap_of_passes_on_an_unchanged_table_blocks(make: MakeRound) -> None:
    rules = family(2, 14, hub="dealt")
    game = make(rules, staged(rules, CLOSING_HANDS))
    assert len(game.boneyard) == 0
    play(game, CLOSING)
    # Two passes in a row put new markers down; the third, by the seat that is marked, completes a lap.
    assert tail(game, 4) == ["1:0-6@M", "2:mark", "1:mark", "2:pass"]
    assert game.over and game.blocked
    assert game.scores == [sum(low + high for low, high in hand) + 50 * ((0, 0) in hand) for hand in game.hands]


@on_both
def test_case_08_a_new_marker_starts_the_lap_again(make: MakeRound) -> None:
    """Only seat 1 holds tiles with 1, 2 and 9; seat 2, marked all the time, passes until the train of seat 1 opens."""
    rules = family(2, 27, set=9)
    ones_twos_nines = " ".join(f"{a}-{b}" for b in range(10) for a in range(b + 1) if {a, b} & {1, 2, 9} and a != 9)
    game = make(rules, staged(rules, [ones_twos_nines + " 3-3", ""], hub=9))
    assert len(game.boneyard) == 0
    moves = "9-3@1 9-1@2 1-2@2 2-9@2 3-1@1 1-4@1 4-9@1 9-5@1 5-1@1 1-6@1 6-9@1 9-7@1 7-1@1 1-0@1 0-2@1 2-8@1 8-9@1"
    play(game, moves)
    assert story(game).count("2:pass") + 1 == len(moves.split())
    play(game, "9-0@1")
    # A pass of seat 2, then one of seat 1 with a new marker: not a lap, for seat 2 can play now.
    assert tail(game, 3) == ["1:9-0@1", "2:pass", "1:mark"]
    assert not game.over
    assert game.turn == 1
    assert game.legal_moves() == ["0-0@1", "0-3@1", "0-4@1", "0-5@1", "0-6@1", "0-7@1", "0-8@1"]


@on_both
def test_case_08_a_tile_starts_the_count_anew(make: MakeRound) -> None:
    rules = family(2, 14, hub="dealt")
    hands = ["6-1 1-2 2-6 6-5 0-6 6-3 6-4 3-1 1-4 1-5 5-0 0-1 0-0 0-2", "6-6"]
    game = make(rules, staged(rules, hands))
    # Seat 2 has none of the tiles with 0, 1 or 6 and is marked at once: pass, tile, pass, tile … never blocks.
    play(game, "6-1@1 1-2@1 2-6@1 6-3@1 3-1@1 1-4@1 4-6@1 6-5@1 5-1@1 1-0@1")
    assert not game.over
    assert story(game).count("2:mark") == 1 and story(game).count("2:pass") == 9


@on_both
def test_case_08_a_first_turn_pass_limited_to_the_own_train_does_not_count(make: MakeRound) -> None:
    rules = tournament(2, 14, hub="dealt")
    game = make(rules, staged(rules, ["6-1 1-2 2-6 6-3 3-4 4-6 6-5 5-0 0-6", ""]))
    play(game, "6-1@1 1-2@1 2-6@1 6-3@1 3-4@1 4-6@1 6-5@1 5-0@1 0-6@1")
    # Counted with the first-turn pass of seat 2 and the new marker of seat 1, two passes would have been a lap.
    assert tail(game, 4) == ["1:stop", "2:mark", "1:mark", "2:pass"]
    assert game.blocked


@on_both
@pytest.mark.parametrize("dead_double", ["release", "hold"])
def test_case_09_a_dead_double_is_noticed_when_the_last_tile_lies_elsewhere(make: MakeRound, dead_double: str) -> None:
    rules = tournament(2, 11, dead_double=dead_double)
    hands = ["6-3 3-0 0-2 2-3 3-1 1-4 4-3 3-3 5-3 6-5 4-4", "6-2 2-1 1-0 1-5"]
    game = make(rules, staged(rules, hands, boneyard="0-0"))
    play(game, "6-3@1 3-0@1 0-2@1 2-3@1 3-1@1 1-4@1 4-3@1 stop 6-2@2 stop 6-5@M 2-1@2 3-3@1")
    assert doubles(game) == [(0, 3, 1)]
    play(game, "5-3@M")
    if dead_double == "release":
        assert doubles(game) == []
        assert game.turn == 1
        assert game.legal_moves()[:2] == ["1-0@2", "1-1@2"]
    else:
        assert doubles(game) == [(0, 3, 1)]
        assert game.blocked


@on_both
def test_case_09_a_double_that_is_dead_when_it_is_played_still_obliges_its_player(make: MakeRound) -> None:
    rules = tournament(2, 11)
    hands = ["6-3 3-0 0-2 2-3 3-1 1-4 4-3 3-3 3-5 6-5 4-4", "6-2 2-1 1-0 0-5"]
    game = make(rules, staged(rules, hands, boneyard="0-0 0-6"))
    play(game, "6-3@1 3-0@1 0-2@1 2-3@1 3-1@1 1-4@1 4-3@1 stop 6-2@2 stop 6-5@M 2-1@2 5-3@M 1-0@2 3-3@1")
    # It never binds anybody, but who played it must play again, cannot, and is marked.
    assert tail(game, 3) == ["1:3-3@1", "1:draw=0-0", "1:mark"]
    assert doubles(game) == []
    assert game.ends(0) == [3]
    assert game.turn == 1
    assert "0-5@2" in game.legal_moves()


@on_both
def test_case_10_the_seats_draw_for_the_hub_and_keep_what_they_draw(make: MakeRound) -> None:
    rules = classic(3, 3)
    hands = ["1-1 1-2 1-3", "2-2 2-3 2-4", "3-3 3-4 3-5"]
    game = make(rules, staged(rules, hands, boneyard="0-0 0-1 0-2 0-3 6-6 6-1"))
    assert story(game) == (
        "1:draw=0-0 2:draw=0-1 3:draw=0-2 1:draw=0-3 2:draw=6-6 2:hub 2:mark 3:mark 1:mark 2:draw=1-6"
    )
    assert game.starter == 1
    assert game.turn == 1
    assert game.hand_sizes == [5, 5, 4]
    assert {(0, 0), (0, 3)} <= set(game.hands[0])
    assert (6, 6) not in game.hands[1]


@on_both
def test_case_10_the_boneyard_can_shrink_to_nothing_before_the_first_tile(make: MakeRound) -> None:
    rules = classic(2, 2)
    elsewhere = {(0, 0), (0, 1), (0, 2), (0, 3), (6, 6)}
    others = [f"{low}-{high}" for low, high in whole_set(6) if (low, high) not in elsewhere]
    game = make(rules, staged(rules, ["0-0 0-1", "0-2 0-3"], boneyard=" ".join([*others, "6-6"])))
    assert len(game.boneyard) == 0
    assert game.hand_sizes == [2 + 12, 2 + 12 - 1]
    assert game.starter == 1


@on_both
def test_case_11_four_players_with_seven_tiles_leave_no_boneyard(make: MakeRound) -> None:
    rules = Rules.of("classic", 4, set=6)
    game = make(rules, staged(rules, ["6-6 6-0 6-1 6-2 6-3 6-4 6-5", "", "", ""]))
    assert len(game.boneyard) == 0
    assert game.hand_sizes == [6, 7, 7, 7]
    play(game, "6-0@1")
    # Nothing continues the chain, nobody else can start, nobody draws.
    assert story(game) == "1:hub 1:6-0@1 1:stop 2:mark 3:mark 4:mark"
    assert game.turn == 0 and not game.over


@on_both
@pytest.mark.parametrize("preset, left", [("classic", 4), ("tournament", 3), ("family", 3)])
def test_case_12_twelve_players_leave_three_or_four_tiles(make: MakeRound, preset: str, left: int) -> None:
    rules = Rules.of(preset, 12, set=15)
    assert rules.hand == 11
    hands = ["15-0" if rules.hub == "placed" else "15-15 15-0", *[""] * 11]
    game = make(rules, staged(rules, hands, hub=15))
    assert game.turn == 0
    assert len(game.boneyard) == left


@on_both
def test_case_13_a_tile_that_fits_two_ends_of_a_chickenfoot_gives_two_moves(make: MakeRound) -> None:
    rules = family(2, 5, double_answer="chickenfoot")
    game = make(rules, staged(rules, ["6-3 3-3 3-0 3-2 0-1", "6-4 3-1 4-5 4-4 2-4"]))
    play(game, "6-3@1 6-4@2 3-3@1 3-0@1 3-1@1 3-2@1")
    assert game.ends(0) == [0, 1, 2]
    play(game, "4-5@2")
    assert game.legal_moves() == ["0-1@1", "1-0@1"]
    play(game, "1-0@1")
    assert game.over
    assert game.ends(0) == [0, 0, 2]


@on_both
def test_case_14_forced_steps_empty_the_boneyard_and_block_the_round(make: MakeRound) -> None:
    rules = family(2, 12)
    game = make(rules, staged(rules, CLOSING_HANDS, boneyard="0-0 0-1 0-2"))
    play(game, CLOSING)
    assert tail(game, 7) == ["1:0-6@M", "2:draw=0-0", "2:mark", "1:draw=0-1", "1:mark", "2:draw=0-2", "2:pass"]
    assert game.over and game.blocked
    assert len(game.boneyard) == 0
