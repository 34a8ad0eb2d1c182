"""First turns, starters and doubles, option by option (RULES.md §2 to §4), laid out by hand for both."""

from __future__ import annotations

import pytest

from reference import MEXICAN
from staged_rounds import MakeRound, classic, doubles, family, on_both, play, staged, story, tail, tournament

# The start.


@on_both
def test_the_holder_of_a_dealt_hub_lays_it_down_and_starts(make: MakeRound) -> None:
    rules = classic(3, 3)
    game = make(rules, staged(rules, ["6-1 0-1 0-2", "6-2 1-1 1-2", "6-6 6-3 3-3"]))
    assert story(game) == "3:hub"
    assert (game.starter, game.turn) == (2, 2)
    assert game.hand_sizes == [3, 3, 2]
    assert len(game.boneyard) == 28 - 9


@on_both
@pytest.mark.parametrize("starter", [0, 1, 2])
@pytest.mark.parametrize("kind", ["lot", "rotate"])
def test_with_lot_and_rotate_the_deal_says_who_starts(make: MakeRound, kind: str, starter: int) -> None:
    rules = family(3, 2, starter=kind)
    game = make(rules, staged(rules, ["6-1 0-1", "6-2 1-1", "6-3 3-3"], starter=starter))
    assert game.events == []
    assert (game.starter, game.turn) == (starter, starter)
    assert len(game.boneyard) == 27 - 6


@on_both
def test_the_holder_of_the_hub_need_not_be_the_starter(make: MakeRound) -> None:
    rules = family(3, 2, hub="dealt", starter="lot")
    game = make(rules, staged(rules, ["6-1 0-1", "6-6 6-2", "6-3 3-3"], starter=2))
    assert story(game) == "2:hub"
    assert game.turn == 2
    assert game.hand_sizes == [2, 1, 2]


@on_both
def test_drawing_for_the_hub_starts_at_seat_1_whoever_starts_the_round(make: MakeRound) -> None:
    rules = family(3, 2, hub="dealt", starter="lot")
    game = make(rules, staged(rules, ["6-1 0-1", "0-4 6-2", "6-3 3-3"], boneyard="0-0 6-6", starter=2))
    assert story(game) == "1:draw=0-0 2:draw=6-6 2:hub"
    assert game.turn == 2
    assert game.hand_sizes == [3, 2, 2]


# First turn: chain.


@on_both
def test_a_chain_must_be_started_and_then_may_be_stopped(make: MakeRound) -> None:
    rules = tournament(2, 4)
    game = make(rules, staged(rules, ["6-3 3-3 3-0 0-1", "6-4 4-1 1-1 0-2"]))
    assert game.legal_moves() == ["6-3@1"]
    play(game, "6-3@1")
    assert game.turn == 0
    assert game.legal_moves() == ["3-0@1", "3-3@1", "stop"]
    play(game, "3-3@1")
    assert game.legal_moves() == ["3-0@1", "stop"]
    play(game, "stop")
    assert tail(game, 1) == ["1:stop"]
    assert game.turn == 1
    assert game.legal_moves() == ["6-4@2"]


@on_both
def test_a_chain_that_nothing_continues_ends_by_itself_without_a_draw(make: MakeRound) -> None:
    rules = tournament(2, 4)
    game = make(rules, staged(rules, ["6-3 0-0 1-1 0-1", "6-4 4-1 2-2 0-2"], boneyard="3-4"))
    play(game, "6-3@1")
    assert story(game) == "1:6-3@1 1:stop"
    assert game.turn == 1
    assert game.markers == [False, False]


@on_both
def test_doubles_in_a_chain_oblige_nobody(make: MakeRound) -> None:
    rules = tournament(2, 4)
    game = make(rules, staged(rules, ["6-3 3-3 6-0 0-1", "6-4 4-1 1-1 3-2"]))
    play(game, "6-3@1 3-3@1")
    assert tail(game, 1) == ["1:stop"]
    assert doubles(game) == []
    assert game.legal_moves() == ["6-4@2"]
    play(game, "6-4@2 stop 6-0@M")
    assert doubles(game) == []


@on_both
def test_a_chain_double_is_no_chickenfoot(make: MakeRound) -> None:
    rules = tournament(2, 4, double_answer="chickenfoot")
    game = make(rules, staged(rules, ["6-3 3-3 3-0 0-1", "6-4 4-1 1-1 3-2"]))
    play(game, "6-3@1 3-3@1 3-0@1")
    assert game.ends(0) == [0]
    assert doubles(game) == []


@on_both
def test_the_mexican_train_opens_with_the_second_turn_after_a_chain(make: MakeRound) -> None:
    rules = tournament(2, 3)
    game = make(rules, staged(rules, ["6-3 6-0 0-1", "6-4 6-1 3-0"]))
    assert game.legal_moves() == ["6-0@1", "6-3@1"]
    play(game, "6-3@1")
    assert game.legal_moves() == ["6-1@2", "6-4@2"]
    play(game, "6-4@2")
    assert game.legal_moves() == ["6-0@M"]


@on_both
def test_a_marked_train_is_not_open_to_a_first_turn_on_the_own_train(make: MakeRound) -> None:
    rules = tournament(2, 3)
    game = make(rules, staged(rules, ["2-3 2-2 0-1", "6-4 6-1 3-0"], boneyard="0-0"))
    assert story(game) == "1:draw=0-0 1:mark"
    assert game.legal_moves() == ["6-1@2", "6-4@2"]


@on_both
def test_who_cannot_start_the_chain_draws_and_may_start_with_the_drawn_tile(make: MakeRound) -> None:
    rules = tournament(2, 3)
    game = make(rules, staged(rules, ["2-1 1-1 0-1", "6-4 6-1 3-0"], boneyard="6-2 6-0"))
    assert story(game) == "1:draw=2-6"
    assert game.legal_moves() == ["6-2@1"]
    play(game, "6-2@1")
    assert game.legal_moves() == ["2-1@1", "stop"]
    play(game, "2-1@1 1-1@1 1-0@1")
    assert game.over and game.scores[0] == 0


@on_both
def test_who_cannot_start_the_chain_is_marked_without_a_draw_where_the_rules_say_so(make: MakeRound) -> None:
    rules = classic(2, 3)
    game = make(rules, staged(rules, ["6-6 1-1 0-1", "6-4 6-1 3-0"], boneyard="6-2 6-0"))
    assert story(game) == "1:hub 1:mark"
    assert game.turn == 1
    # From the second turn on there is a draw.
    play(game, "6-4@2")
    assert tail(game, 2) == ["2:stop", "1:draw=2-6"]


@on_both
def test_a_chain_that_uses_the_last_tile_has_no_stop(make: MakeRound) -> None:
    rules = classic(2, 3)
    game = make(rules, staged(rules, ["6-6 6-1 1-1", "2-4 0-2 3-0"]))
    play(game, "6-1@1 1-1@1")
    assert story(game) == "1:hub 1:6-1@1 1:1-1@1 2:mark"
    assert game.over and not game.blocked
    assert game.scores == [0, 6 + 2 + 3]


@on_both
@pytest.mark.parametrize("finish, turn", [("now", -1), ("all", 1)])
def test_going_out_on_a_single_first_turn(make: MakeRound, finish: str, turn: int) -> None:
    rules = family(2, 1, first_turn_finish=finish)
    game = make(rules, staged(rules, ["6-1", "6-2"]))
    play(game, "6-1@1")
    assert game.turn == turn
    if finish == "all":
        play(game, "6-2@2")
    assert game.over
    assert game.scores == ([0, 8] if finish == "now" else [0, 0])


@on_both
def test_going_out_later_ends_the_round_at_once_also_when_all_got_a_first_turn(make: MakeRound) -> None:
    rules = classic(2, 3)
    game = make(rules, staged(rules, ["6-6 6-1 1-5", "6-4 4-2 3-0"]))
    play(game, "6-1@1 stop 6-4@2 stop 1-5@1")
    assert game.over and not game.blocked
    assert game.scores == [0, 6 + 3]


# First turn: single.


@on_both
@pytest.mark.parametrize("places, moves", [("any", ["6-0@1", "6-0@2", "6-0@M"]), ("own", ["6-0@2"])])
def test_where_a_single_first_turn_may_play(make: MakeRound, places: str, moves: list[str]) -> None:
    rules = family(2, 3, first_turn_places=places)
    game = make(rules, staged(rules, ["1-1 1-2 1-3", "6-0 0-1 0-2"], boneyard="2-2"))
    assert story(game) == "1:draw=2-2 1:mark"
    assert game.legal_moves() == moves


@on_both
def test_a_single_first_turn_is_one_tile(make: MakeRound) -> None:
    rules = family(2, 3)
    game = make(rules, staged(rules, ["6-3 3-1 1-2", "6-0 0-1 0-2"]))
    play(game, "6-3@1")
    assert game.turn == 1


@on_both
@pytest.mark.parametrize("draw", ["yes", "no"])
def test_who_cannot_play_a_single_first_turn(make: MakeRound, draw: str) -> None:
    rules = family(2, 3, first_turn_draw=draw)
    game = make(rules, staged(rules, ["0-3 3-1 1-2", "6-0 0-1 0-2"], boneyard="6-1"))
    if draw == "yes":
        assert story(game) == "1:draw=1-6"
        assert game.legal_moves() == ["6-1@1", "6-1@M"]
    else:
        assert story(game) == "1:mark"


@on_both
def test_an_open_double_binds_a_first_turn(make: MakeRound) -> None:
    rules = family(3, 3)
    game = make(rules, staged(rules, ["6-5 1-1 1-2", "5-5 6-1 0-0", "6-0 5-0 0-2"]))
    play(game, "6-5@M 5-5@M 6-1@2")
    assert doubles(game) == [(MEXICAN, 5, 1)]
    assert game.turn == 2
    assert game.legal_moves() == ["5-0@M"]


@on_both
def test_a_double_on_a_single_first_turn_allows_a_draw_whatever_first_turn_draw_says(make: MakeRound) -> None:
    rules = family(2, 3, first_turn_draw="no")
    game = make(rules, staged(rules, ["6-5 1-1 1-2", "5-5 3-1 0-0"], boneyard="5-2"))
    play(game, "6-5@M 5-5@M")
    assert tail(game, 2) == ["2:5-5@M", "2:draw=2-5"]
    assert game.legal_moves() == ["5-2@M"]


# Later turns.


@on_both
def test_who_cannot_play_draws_one_tile_only(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-0 0-1", "6-2 2-3"], boneyard="1-1 6-4"))
    assert story(game) == "1:draw=1-1 1:mark"
    assert game.boneyard[0] == (4, 6)


@on_both
def test_who_can_play_must(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["6-1 0-1", "6-2 2-3"]))
    assert game.legal_moves() == ["6-1@1", "6-1@M"]
    for move in ("stop", "pass", "draw"):
        with pytest.raises(ValueError):
            game.apply(move)


@on_both
@pytest.mark.parametrize("blank, score", [(0, 3), (25, 28), (50, 53)])
def test_what_the_blank_counts(make: MakeRound, blank: int, score: int) -> None:
    rules = family(2, 2, blank=blank)
    game = make(rules, staged(rules, ["6-1 0-1", "0-0 1-2"]))
    assert game.scores == [8, score]


@on_both
def test_the_blank_is_the_hub_of_the_last_round(make: MakeRound) -> None:
    rules = family(2, 2)
    game = make(rules, staged(rules, ["0-1 1-1", "0-2 1-2"], hub=0))
    assert game.ends(MEXICAN) == [0]
    assert game.legal_moves() == ["0-1@1", "0-1@M"]


# Doubles.


@on_both
@pytest.mark.parametrize("answer", ["3-0@1", "5-5@M", "5-0@M", "6-2@3"])
def test_the_tile_after_a_double_goes_anywhere_also_under_first_after_one_double(make: MakeRound, answer: str) -> None:
    rules = family(3, 6)
    hands = ["6-3 3-3 5-5 3-0 5-0 6-2", "6-5 1-1 2-2 3-1 5-1 0-1", "0-0 1-2 1-4 2-4 4-4 0-2"]
    game = make(rules, staged(rules, hands, boneyard="0-4"))
    play(game, "6-3@1 6-5@M")
    assert game.turn == 0 and game.markers == [False, False, True]
    play(game, "3-3@1")
    assert game.turn == 0
    assert game.legal_moves() == ["3-0@1", "6-2@3", "5-0@M", "5-5@M"]
    play(game, answer)


@on_both
@pytest.mark.parametrize(
    "extra, order, moves",
    [
        ("anywhere", "fifo", ["3-0@1", "6-2@3", "5-0@M"]),
        ("anywhere", "lifo", ["3-0@1", "6-2@3", "5-0@M"]),
        ("first", "fifo", ["3-0@1"]),
        ("first", "lifo", ["5-0@M"]),
    ],
)
def test_where_the_tile_after_two_doubles_goes(make: MakeRound, extra: str, order: str, moves: list[str]) -> None:
    rules = family(3, 6, extra_after_doubles=extra, doubles_order=order)
    hands = ["6-3 3-3 5-5 3-0 5-0 6-2", "6-5 1-1 2-2 3-1 5-1 0-1", "0-0 1-2 1-4 2-4 4-4 0-2"]
    game = make(rules, staged(rules, hands, boneyard="0-4"))
    play(game, "6-3@1 6-5@M 3-3@1 5-5@M")
    assert doubles(game) == [(0, 3, 1), (MEXICAN, 5, 1)]
    assert game.binding is None
    assert game.legal_moves() == moves


@on_both
def test_a_third_double_goes_anywhere_under_first(make: MakeRound) -> None:
    rules = family(3, 7, set=9)
    hands = ["9-3 3-3 5-5 3-0 5-0 9-5 2-2", "9-2 9-4 2-4 2-5 2-6 2-7 2-8", "0-1 1-1 0-4 1-4 4-4 0-0 1-3"]
    game = make(rules, staged(rules, hands, boneyard="6-6 6-7 7-7", hub=9, starter=2))
    play(game, "9-3@1 9-2@3 9-5@M 9-4@2 3-3@1 5-5@M")
    assert game.markers == [False, False, True]
    assert game.legal_moves() == ["3-0@1", "2-2@3"]
    play(game, "2-2@3")
    assert doubles(game) == [(0, 3, 1), (MEXICAN, 5, 1), (2, 2, 1)]
    assert game.legal_moves() == ["3-0@1"]


@on_both
def test_under_first_who_has_nothing_for_the_first_double_draws_and_is_marked(make: MakeRound) -> None:
    rules = family(3, 6)
    hands = ["6-3 3-3 5-5 2-2 5-0 0-0", "6-5 1-1 6-4 3-1 5-1 0-1", "1-2 1-4 6-2 4-4 0-2 3-4"]
    game = make(rules, staged(rules, hands, boneyard="0-4"))
    play(game, "6-3@1 6-5@M 6-2@3 3-3@1 5-5@M")
    # 5-0 would fit the Mexican train.
    assert tail(game, 3) == ["1:5-5@M", "1:draw=0-4", "1:mark"]


@on_both
def test_a_double_binds_the_player_who_left_it_too(make: MakeRound) -> None:
    rules = family(2, 4)
    hands = ["6-3 3-3 6-5 3-0", "6-4 0-1 0-2 4-1"]
    game = make(rules, staged(rules, hands, boneyard="0-0"))
    play(game, "6-3@1 6-4@2 3-3@1 6-5@M")
    assert tail(game, 2) == ["2:draw=0-0", "2:mark"]
    assert game.legal_moves() == ["3-0@1"]


@on_both
def test_satisfying_a_double_on_the_own_train_takes_the_marker_off(make: MakeRound) -> None:
    rules = family(2, 4)
    hands = ["6-3 3-3 0-0 0-2", "6-4 0-1 4-4 4-1"]
    game = make(rules, staged(rules, hands, boneyard="1-1 1-5 3-0"))
    play(game, "6-3@1 6-4@2 3-3@1")
    assert tail(game, 4) == ["1:mark", "2:draw=1-5", "2:mark", "1:draw=0-3"]
    assert game.markers == [True, True]
    play(game, "3-0@1")
    assert game.markers == [False, True]
    assert game.turn == 1


@on_both
def test_the_own_double_must_be_answered_first_under_own(make: MakeRound) -> None:
    rules = family(2, 4, double_answer="own")
    game = make(rules, staged(rules, ["6-3 3-3 3-0 5-0", "6-5 0-1 0-2 1-1"]))
    play(game, "6-3@1 6-5@M 3-3@1")
    assert game.legal_moves() == ["3-0@1"]


@on_both
@pytest.mark.parametrize(
    "drawn, moves",
    [("3-4", ["3-4@1"]), ("5-4", ["5-4@M"]), ("3-5", ["3-5@1", "5-3@M"]), ("5-5", ["5-5@M"])],
)
def test_under_own_only_the_drawn_tile_may_go_elsewhere(make: MakeRound, drawn: str, moves: list[str]) -> None:
    rules = family(2, 4, double_answer="own")
    game = make(rules, staged(rules, ["6-3 3-3 0-0 5-0", "6-5 0-1 0-2 1-1"], boneyard=drawn))
    play(game, "6-3@1 6-5@M 3-3@1")
    # 5-0 in the hand would fit the Mexican train, too.
    assert game.turn == 0
    assert game.legal_moves() == moves


@on_both
def test_under_own_who_cannot_answer_is_marked_although_another_place_fits(make: MakeRound) -> None:
    rules = family(2, 4, double_answer="own")
    game = make(rules, staged(rules, ["6-3 3-3 0-0 5-0", "6-5 0-1 0-2 3-1"], boneyard="1-1"))
    play(game, "6-3@1 6-5@M 3-3@1")
    assert tail(game, 3) == ["1:3-3@1", "1:draw=1-1", "1:mark"]
    assert game.legal_moves() == ["3-1@1"]


@on_both
def test_under_own_an_empty_boneyard_gives_the_marker_at_once(make: MakeRound) -> None:
    rules = family(2, 14, hub="dealt", double_answer="own")
    hands = ["6-6 6-3 3-3 5-0 0-0 0-1 1-1 0-2 1-2 2-2 0-4 1-4 2-4 4-4", ""]
    game = make(rules, staged(rules, hands))
    play(game, "6-3@1 6-5@M 3-3@1")
    assert tail(game, 2) == ["1:3-3@1", "1:mark"]
    assert game.turn == 1
    assert game.legal_moves() == ["3-0@1", "3-1@1", "3-2@1", "3-4@1", "3-5@1"]


BOTH_EXTRAS = pytest.mark.parametrize("extra", ["anywhere", "first"])


@on_both
@BOTH_EXTRAS
@pytest.mark.parametrize("order, answer", [("fifo", "3-4@1"), ("lifo", "5-0@M")])
def test_under_own_doubles_order_says_which_of_two_doubles_a_hand_answers(
    make: MakeRound, order: str, answer: str, extra: str
) -> None:
    """``extra_after_doubles`` is about the tile after several doubles, and not about which of them comes first."""
    rules = family(2, 4, double_answer="own", doubles_order=order, extra_after_doubles=extra)
    game = make(rules, staged(rules, ["6-3 3-3 0-0 5-0", "6-5 1-1 0-2 1-2"], boneyard="5-5 3-4"))
    play(game, "6-3@1 6-5@M 3-3@1 5-5@M")
    # Under fifo 5-0 may not be played: seat 1 draws 3-4.
    assert tail(game, 1) == ["1:draw=3-4" if order == "fifo" else "1:5-5@M"]
    assert game.turn == 0
    assert game.legal_moves() == [answer]


@on_both
@BOTH_EXTRAS
def test_under_own_the_oldest_of_two_doubles_is_answered(make: MakeRound, extra: str) -> None:
    """1-2 fits the newer double, and yet 5 must be answered."""
    options = {"first_turn": "single", "first_turn_places": "any", "double_answer": "own", "doubles_order": "fifo"}
    rules = tournament(2, 4, extra_after_doubles=extra, **options)
    game = make(rules, staged(rules, ["6-5 5-5 1-2 0-3", "6-1 4-4 3-3 2-2"], boneyard="1-1 0-5"))
    play(game, "6-5@1 6-1@M 5-5@1 1-1@M")
    assert tail(game, 3) == ["1:draw=1-1", "1:1-1@M", "1:draw=0-5"]
    assert game.legal_moves() == ["5-0@1"]
    play(game, "5-0@1")
    assert doubles(game) == [(MEXICAN, 1, 1)]
    assert tail(game, 2)[0].startswith("2:draw")


@on_both
@BOTH_EXTRAS
@pytest.mark.parametrize("order, answer", [("fifo", "4-1@1"), ("lifo", "5-0@2")])
def test_under_own_one_of_three_doubles_is_answered(make: MakeRound, order: str, answer: str, extra: str) -> None:
    rules = family(2, 6, double_answer="own", doubles_order=order, extra_after_doubles=extra)
    hands = ["6-4 4-4 6-3 5-0 0-1 0-2", "6-5 1-1 1-2 2-2 6-2 6-1"]
    game = make(rules, staged(rules, hands, boneyard="6-0 3-3 5-5 4-1"))
    play(game, "6-4@1 6-5@2 6-3@M 4-4@1 3-3@M 5-5@2")
    assert doubles(game) == [(0, 4, 1), (MEXICAN, 3, 1), (1, 5, 1)]
    assert game.legal_moves() == [answer]


@on_both
@pytest.mark.parametrize(
    "extra, drawn, moves",
    [
        ("anywhere", "5-4", ["5-4@M"]),
        ("anywhere", "3-5", ["3-5@1", "5-3@M"]),
        ("first", "3-5", ["3-5@1"]),
        ("first", "3-4", ["3-4@1"]),
    ],
)
def test_under_own_where_a_tile_goes_that_is_drawn_after_two_doubles(
    make: MakeRound, extra: str, drawn: str, moves: list[str]
) -> None:
    rules = family(2, 4, double_answer="own", extra_after_doubles=extra)
    game = make(rules, staged(rules, ["6-3 3-3 0-0 0-1", "6-5 1-1 0-2 1-2"], boneyard=f"5-5 {drawn}"))
    play(game, "6-3@1 6-5@M 3-3@1 5-5@M")
    assert tail(game, 1) == [f"1:draw={'-'.join(sorted(drawn.split('-')))}"]
    assert game.legal_moves() == moves


@on_both
def test_a_chickenfoot_needs_three_tiles_before_any_other_place_is_legal(make: MakeRound) -> None:
    rules = family(3, 6, double_answer="chickenfoot")
    hands = ["6-3 3-3 3-0 5-5 5-0 0-1", "6-5 3-1 1-1 5-1 1-2 4-4", "6-4 3-2 3-4 4-2 2-2 0-2"]
    game = make(rules, staged(rules, hands))
    play(game, "6-3@1 6-5@M 6-4@3 3-3@1")
    assert doubles(game) == [(0, 3, 3)]
    assert game.legal_moves() == ["3-0@1"]
    play(game, "3-0@1")
    assert doubles(game) == [(0, 3, 2)]
    assert game.ends(0) == [0, 3]
    assert game.legal_moves() == ["3-1@1"]
    play(game, "3-1@1")
    assert doubles(game) == [(0, 3, 1)]
    assert game.ends(0) == [0, 1, 3]
    assert game.legal_moves() == ["3-2@1", "3-4@1"]
    play(game, "3-4@1")
    assert doubles(game) == []
    assert game.ends(0) == [0, 1, 4]
    assert game.legal_moves() == ["0-1@1", "0-5@1", "1-0@1", "5-0@M", "5-5@M"]
    play(game, "0-5@1")
    assert game.ends(0) == [1, 4, 5]


@on_both
def test_a_chickenfoot_ends_when_the_tiles_of_its_value_run_out(make: MakeRound) -> None:
    rules = tournament(2, 10, double_answer="chickenfoot")
    hands = ["6-3 3-0 0-2 2-3 3-1 1-4 4-3 3-3 3-5 4-4", "6-2 2-1 1-0 5-1"]
    game = make(rules, staged(rules, hands))
    play(game, "6-3@1 3-0@1 0-2@1 2-3@1 3-1@1 1-4@1 4-3@1 stop 6-2@2 stop 3-3@1")
    assert doubles(game) == [(0, 3, 3)]
    play(game, "3-5@1")
    assert doubles(game) == []
    assert game.ends(0) == [3, 5]
    assert game.turn == 1
    assert "2-1@2" in game.legal_moves()


@on_both
def test_who_cannot_add_to_the_own_chickenfoot_draws_and_is_marked(make: MakeRound) -> None:
    rules = family(2, 4, double_answer="chickenfoot")
    game = make(rules, staged(rules, ["6-3 3-3 0-0 5-0", "6-5 0-1 0-2 3-1"], boneyard="5-5"))
    play(game, "6-3@1 6-5@M 3-3@1")
    assert tail(game, 3) == ["1:3-3@1", "1:draw=5-5", "1:mark"]
    assert doubles(game) == [(0, 3, 3)]
    assert game.legal_moves() == ["3-1@1"]


@on_both
@pytest.mark.parametrize("move", ["5-5@M", "3-3@1"])
def test_going_out_with_a_double_ends_the_round_at_once(make: MakeRound, move: str) -> None:
    rules = family(2, 2)
    hands = ["6-3 3-3" if move == "3-3@1" else "6-3 5-5", "6-5 0-1"]
    game = make(rules, staged(rules, hands))
    play(game, f"6-3@1 6-5@M {move}")
    assert game.over and not game.blocked
    assert game.scores == [0, 1]
    assert tail(game, 1) == [f"1:{move}"]
