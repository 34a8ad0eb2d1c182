"""The table as it is drawn: it fits, it says what is true, and it hides what is hidden.

``REGENERATE_GOLDEN=1 pytest tests/arena/test_show.py`` writes the pictures of ``tests/golden/show`` anew; look at the
difference before you commit it.
"""

from __future__ import annotations

import io
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from caboose.arena.console.console import Console, Text
from caboose.arena.viewer.draw import ASCII, MONOCHROME, Pen, Picture, draw, render
from caboose.arena.viewer.help import help_lines
from caboose.arena.viewer.layout import MIN_WIDTH, least_height
from caboose.arena.viewer.plain_text import game_text
from caboose.arena.viewer.replay import Hands, Shown, picture_of
from caboose.engine.rules.moves import STOP
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import MEXICAN
from caboose.protocol.records.records import EventLine, GameRecord, PlayerRecord
from caboose.table.state import Replay, Scene, scene_of
from caboose.table.train_chain import Link, chain
from paths import TESTS
from record_samples import play_record

GOLDEN = TESTS / "golden" / "show"
REGENERATE = os.environ.get("REGENERATE_GOLDEN") == "1"

ANSWERS = ("anywhere", "own", "chickenfoot")
TABLES = [
    Rules.of(preset, players, double_answer=answer, rounds=1, **options)
    for number, (players, preset, options) in enumerate(
        [
            *((players, ("classic", "tournament", "family")[players % 3], {}) for players in range(2, 13)),
            (13, "classic", {}),
            (14, "tournament", {}),
            (2, "family", {"set": 18, "hand": 60}),  # long trains
            (4, "classic", {"set": 6, "hand": 3}),  # the hub is often in the boneyard
        ]
    )
    for answer in ANSWERS
    if number % 3 != ANSWERS.index(answer) or players > 12
]
SCREENS = [(80, 24), (120, 40), (61, 30), (200, 70)]
on_all_tables = pytest.mark.parametrize(
    "rules", TABLES, ids=lambda rules: f"{rules.preset}-{rules.players}-{rules.double_answer}-{rules.set}"
)


@cache
def shown(rules: Rules, seed: int = 1) -> Shown:
    return Shown(play_record(rules, seed))


def pictures(game: Shown, number: int = 1) -> Iterator[Picture]:
    """Some moments of a round, each with other hands to be seen."""
    chance = random.Random(str(game.record.rules))
    total = len(game.replay(number))
    hands: list[Hands] = ["turn", "all", "none", 0, len(game.names) - 1]
    for event in sorted({0, total, *chance.sample(range(total + 1), min(total, 5))}):
        picture = picture_of(game, number, event, chance.choice(hands))
        yield replace(picture, title="A title", corner="game 1", place=f"event {event}", keys="keys")


def plain(lines: list[Text]) -> str:
    return "".join(f"{line.plain.rstrip()}\n" for line in lines)


# ------------------------------------------------------------------------------------------------ what is drawn


@on_all_tables
def test_pictures_fill_the_screen_and_never_overflow(rules: Rules) -> None:
    names = ["玲" * 9, "Ludwig van Beethoven", "", "x"] * 4
    for picture in pictures(shown(rules)):
        picture = replace(picture, names=names[: rules.players], callings=names[: rules.players], totals=[4321] * 14)
        for width, height in [*SCREENS, (MIN_WIDTH, least_height(rules.players))]:
            lines = draw(picture, Pen(width), height)
            assert len(lines) == height
            assert max(line.cell_len for line in lines) <= width
        for width in (MIN_WIDTH, 80):
            assert max(line.cell_len for line in draw(picture, Pen(width, ASCII, MONOCHROME))) <= width


@pytest.mark.parametrize("rules", [TABLES[0], TABLES[-1]], ids=str)
def test_small_screens_are_told_what_is_needed(rules: Rules) -> None:
    picture = next(pictures(shown(rules)))
    for width, height in [(1, 1), (10, 3), (59, 50), (200, least_height(rules.players) - 1)]:
        lines = draw(picture, Pen(width), height)
        assert len(lines) == height and max(line.cell_len for line in lines) <= width
    told = " ".join(plain(draw(picture, Pen(59), 50)).split())
    assert f"needs {MIN_WIDTH} columns and {least_height(rules.players)} lines" in told


def test_every_number_of_players_fits_80_by_24() -> None:
    assert [players for players in range(2, 15) if least_height(players) > 24] == []


@on_all_tables
def test_on_paper_everything_is_there(rules: Rules) -> None:
    """With no limit to the lines every tile on the table and in the hands is drawn once, and every end."""
    game = shown(rules)
    for picture in pictures(game):
        scene = picture.scene
        text = plain(draw(replace(picture, log=(), situation=""), Pen(80, ASCII)))
        table = text.partition("trains\n")[2].partition("moves ")[0]
        wanted = [f"{move.match}-{move.open}" for moves in scene.trains.values() for move in moves]
        wanted += [str(tile) for seat in picture.shown for tile in scene.hands[seat]]
        assert Counter(re.findall(r"[0-9]+-[0-9]+", table)) == Counter(wanted)


def test_a_picture_can_be_printed_by_rich() -> None:
    picture = next(pictures(shown(TABLES[0])))
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(render(picture, 80, 24))
    assert console.export_text().count("\n") == 24


# --------------------------------------------------------------------------------------------- what a scene says


@on_all_tables
def test_scenes_agree_with_the_engine(rules: Rules) -> None:
    replay = shown(rules, seed=2).replay(1)
    assert replay.ended and not replay.problem
    round = None
    for number in range(len(replay) + 1):
        scene = replay.scene(number)
        check_tiles(scene)
        assert scene.over == (number == len(replay))
        if not scene.over:
            assert scene.turn == replay.events[number].seat
            event = replay.events[number]
            if scene.moves:
                assert (STOP if event.kind == "stop" else event.move) in scene.moves
            else:
                assert event.kind != "play"
    round = replay._rounds[-1]
    assert replay.scene(len(replay)) == scene_of(round)
    assert scene.scores == round.scores


def check_tiles(scene: Scene) -> None:
    """Every tile is somewhere, and the sizes are those of the hands."""
    rules = scene.rules
    assert scene.hand_sizes == tuple(len(scene.hands[seat]) for seat in range(rules.players))
    held = [tile for hand in scene.hands.values() for tile in hand]
    laid = [move.tile for moves in scene.trains.values() for move in moves]
    assert len(set(held + laid)) == len(held) + len(laid)
    in_set = (rules.set + 1) * (rules.set + 2) // 2
    assert len(held) + len(laid) + scene.boneyard + scene.hub_lies == in_set


@on_all_tables
def test_chains_have_the_ends_of_the_engine(rules: Rules) -> None:
    replay = shown(rules, seed=3).replay(1)
    for number in range(0, len(replay) + 1, 3):
        scene = replay.scene(number)
        for train in (*range(rules.players), MEXICAN):
            links = [piece for piece in chain(scene, train) if isinstance(piece, Link)]
            assert Counter(link.move for link in links) == Counter(scene.trains.get(train, ()))
            if links:
                assert tuple(sorted(link.move.open for link in links if link.open)) == scene.ends[train]
            wanted = {(double.pips, double.need) for double in scene.open_doubles if double.train == train}
            assert {(link.move.open, link.need) for link in links if link.need} == wanted


def test_observations_can_be_drawn() -> None:
    replay = shown(TABLES[0]).replay(1)
    for round in replay._rounds[::5]:
        whole = scene_of(round)
        seen = scene_of(round.observe(1))
        assert set(seen.hands) == {1}
        assert bool(seen.moves) == (round.turn == 1)
        assert replace(seen, hands={}, moves=(), scores=()) == replace(whole, hands={}, moves=(), scores=())


def test_what_one_seat_sees_has_nothing_of_the_others() -> None:
    game = shown(Rules.of("classic", 3, set=6, hand=6, rounds=1))
    drawn = False
    for event in range(len(game.replay(1)) + 1):
        picture = picture_of(game, 1, event, 1, most=1000)
        assert set(picture.scene.hands) == {1}
        assert not picture.scene.moves or picture.scene.turn == 1
        for line in picture.log:
            if line.what.startswith("draws"):
                drawn = True
                assert ("a tile" in line.what) == (line.who != game.callings[1])
        assert picture_of(game, 1, event, "none").scene.hands == {}
    assert drawn


# ---------------------------------------------------------------------------------------------- golden pictures


def named(rules: Rules, seed: int, *names: str) -> Shown:
    """A random game with other names."""
    record = play_record(rules, seed)
    return Shown(replace(record, players=tuple(PlayerRecord(name) for name in names)))


@pytest.mark.parametrize(
    ("name", "game", "event", "hands"),
    [
        ("family", named(Rules.of("family", 4, rounds=1), 5, "mcts", "planner", "greedy", "random"), 58, "turn"),
        ("family-all", named(Rules.of("family", 4, rounds=1), 5, "mcts", "planner", "greedy", "random"), 58, "all"),
        (
            "chickenfoot",
            named(
                Rules.of("family", 3, set=9, hand=12, double_answer="chickenfoot", rounds=1), 8, "Ann", "Bob", "Cleo"
            ),
            62,
            "all",
        ),
        ("classic-14", named(Rules.of("classic", 14, rounds=1), 1, *["mcts", *["planner"] * 13]), 130, "turn"),
        ("classic-14-all", named(Rules.of("classic", 14, rounds=1), 1, *["mcts", *["planner"] * 13]), 130, "all"),
        ("the-end", named(Rules.of("tournament", 5, rounds=1), 3, "Ann", "Bob", "Cleo", "Dee", "Eve"), -1, 2),
    ],
)
def test_golden_pictures(name: str, game: Shown, event: int, hands: Hands) -> None:
    total = len(game.replay(1))
    event = event if event >= 0 else total
    picture = replace(
        picture_of(game, 1, event, hands),
        title="A match, block 3, game 2",
        corner="game 2 of 24",
        place=f"event {event} of {total}",
        keys="the keys",
    )
    compare_with(name, plain(draw(picture, Pen(80), 24)))


def test_golden_text() -> None:
    game = named(Rules.of("classic", 3, set=6, hand=5, rounds=2), 4, "Ann", "Bob", "Cleo")
    compare_with("text", "".join(f"{line}\n" for line in game_text(game, range(1, 3), "turn", 80)))


def test_golden_help() -> None:
    lines = help_lines(Pen(80), 24)
    assert len(lines) == 24 and max(line.cell_len for line in lines) <= 80
    compare_with("help", plain(lines))


def compare_with(name: str, text: str) -> None:
    file = GOLDEN / f"{name}.txt"
    if REGENERATE:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------ games that are wrong


def edited(record: GameRecord, change: int) -> GameRecord:
    """The record with event ``change`` of its first round left out; the lines of its events counted from 100."""
    first = record.rounds[0]
    events = [entry._replace(line=100 + number) for number, entry in enumerate(first.events)]
    del events[change]
    return replace(record, rounds=(replace(first, events=tuple(events), scores_line=999), *record.rounds[1:]))


def test_a_game_against_the_rules_is_shown_as_far_as_it_goes() -> None:
    record = play_record()
    for change in range(len(record.rounds[0].events)):
        game = Shown(edited(record, change))
        replay = game.replay(1)
        total = len(replay)
        assert change <= total < len(record.rounds[0].events)
        told = picture_of(game, 1, total, "all").situation
        if replay.problem:
            line = game.record.rounds[0].events[total].line
            assert told.startswith(f"Line {line} is against the rules: expected ")
        else:
            assert told == "Line 999: the round is not over, expected more events"
        for number in range(total + 1):
            assert draw(picture_of(game, 1, number, "all"), Pen(80), 24)


def test_a_game_that_a_fault_ended() -> None:
    record = play_record(on_fault="forfeit")
    game = Shown(record)
    last = len(record.rounds)
    picture = picture_of(game, last, len(game.replay(last)), "turn")
    assert picture.situation == "The game ended here, in the middle of the round"
    assert any("fails in this round: took 75.3 ms | slept" in line.what for line in game.log(last, 1, "all", 9))


def test_names_cannot_harm_the_terminal() -> None:
    record = play_record()
    players = tuple(PlayerRecord(name) for name in ("\x1b[2Jx", "a\nb\u202e", "\x07"))
    game = Shown(replace(record, players=players, event="\x1b]0;title\x07"))
    text = "".join(game_text(game, range(1, 2), "all", 80))
    assert text.isprintable()
    assert game.names == ["\\x1b[2Jx", "a\\nb\\u202e", "\\x07"]


def test_times_and_scores_stand_beside_the_events() -> None:
    record = play_record()
    first = record.rounds[0]
    events = [EventLine(entry.event) for entry in first.events]
    at = next(i for i, entry in enumerate(events) if entry.event.kind == "play")
    events[at] = events[at]._replace(time=18.25, score=-3.25)
    game = Shown(replace(record, rounds=(replace(first, events=tuple(events)), *record.rounds[1:])))
    assert game.log(1, at + 1, "all", 5)[-1].note.split() == ["18", "ms", "-3.2"]
    assert [line.note for line in game.log(1, len(events), "all", 999) if line.note] == ["18 ms    -3.2"]


def test_a_replay_does_not_need_to_know_what_was_drawn() -> None:
    replay = shown(TABLES[1]).replay(1)
    unknown = [event._replace(tile=None) if event.kind == "draw" else event for event in replay.events]
    assert Replay(replay.rules, replay.deal, unknown).ended
