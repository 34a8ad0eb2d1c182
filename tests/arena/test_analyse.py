"""``caboose analyse``: what it says is what the search found, about what the seat could know."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.analysis.analysis import Decided, Effort, Thinking, beliefs_of, summary, thread_pool
from caboose.bots.mcts import TUNED, MctsBot
from caboose.cli.main import run
from caboose.engine.belief.belief import Belief
from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules, tiles_in_set
from caboose.engine.rules.tiles import TILES
from caboose.engine.search.search import Search
from caboose.protocol.notation.notation import observation_text, position_text
from caboose.protocol.records.records import record_text
from caboose.table.state import Replay
from record_samples import SMALL, play_record
from tried import tried

GAME = play_record(SMALL, seed=3)


@cache
def middle(players: int = 4, choices: int = 30) -> Round:
    """A round of which some choices were made, and in which the next one is among several moves."""
    round = Round.deal(Rules.of("family", players), seed=5)
    while choices > 0 or len(round.legal_moves()) < 3:
        legal = round.legal_moves()
        round.apply(legal[choices % len(legal)])
        choices -= 1
    return round


def view() -> Observation:
    return middle().observe(middle().turn)


def think(seen: Observation, nodes: int = 1000, top: int = 1, **more: Any) -> Thinking:
    thinking = Thinking(seen, Effort(nodes=nodes, seed=7), top, **more)
    thinking.run(lambda done: None)
    return thinking


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "games.txt"
    path.write_text(record_text(GAME) + record_text(play_record(SMALL, seed=4)), encoding="utf-8")
    return path


def analyse(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert run(["analyse", *map(str, arguments)]) == code
    return capsys.readouterr().out


def answer(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:
    return json.loads(analyse(capsys, *arguments, "--json", code=code))


def timeless(content: Any) -> Any:
    """An answer without what differs from run to run."""
    content["choice"].pop("seconds")
    return content


# ---------------------------------------------------------------------------------- two moves in the same worlds


def test_a_difference_is_that_of_the_scores_with_a_smaller_error() -> None:
    moves = view().legal_moves()[:2]
    search = Search(view(), 1, confidence=math.inf, win_bonus=0, moves=moves)
    search.run(800)
    found = {candidate.move: candidate for candidate in tried(search.candidates())}
    assert set(found) == set(moves)
    assert [candidate.visits for candidate in found.values()] == [400, 400]
    one, other = found[moves[0]], found[moves[1]]
    difference, error = search.difference(*moves)
    assert difference == pytest.approx(one.score - other.score)
    assert 0 < error < math.hypot(one.error, other.error)
    assert search.difference(*reversed(moves)) == pytest.approx((-difference, error))
    assert search.difference(moves[0], moves[0]) == (0, 0)


def test_a_difference_has_the_bonus_for_winning_in_it() -> None:
    moves = view().legal_moves()[:2]
    search = Search(view(), 1, confidence=math.inf, win_bonus=25, moves=moves)
    search.run(2000)
    found = {candidate.move: candidate for candidate in tried(search.candidates())}
    value = {move: found[move].score + 25 * found[move].win for move in moves}
    assert search.difference(*moves)[0] == pytest.approx(value[moves[0]] - value[moves[1]])
    assert any(0 < found[move].win < 1 for move in moves)


def test_moves_and_differences_that_make_no_sense_are_refused() -> None:
    legal = view().legal_moves()
    for moves in ([], [legal[0], legal[0]], [legal[0], STOP]):
        with pytest.raises(ValueError, match="expected legal ones, each once"):
            Search(view(), moves=moves)
    early = middle(choices=14)
    search = Search(early.observe(early.turn), confidence=2.0, laps=0)
    first, last = early.legal_moves()[0], early.legal_moves()[-1]
    with pytest.raises(ValueError, match="not tried in the same worlds"):
        search.difference(first, last)
    search.run(3000)
    best, *others = [candidate.move for candidate in search.candidates()]
    left = {candidate.move for candidate in search.candidates() if candidate.visits < search.worlds}
    gone = next(move for move in others if move in left)
    with pytest.raises(ValueError, match="not tried in the same worlds"):
        search.difference(best, gone)
    with pytest.raises(ValueError, match="on train 2 is no move of the race"):
        Search(view(), moves=legal[:1]).difference(legal[0], legal[1])


# --------------------------------------------------------------------------------------------------- a choice


def test_the_best_costs_nothing_and_the_played_move_is_always_compared() -> None:
    for played in view().legal_moves():
        choice = think(view(), played=played).result()
        assert choice.best.cost == 0
        assert choice.taken is not None
        assert choice.taken.cost is not None
        assert choice.taken.cost_error is not None
        assert choice.mistake == (choice.taken.cost > choice.taken.cost_error)
        assert (played == choice.best.move) == (choice.taken is choice.best)
        assert sum(ranked.share for ranked in choice.candidates) == pytest.approx(1)
        if played != choice.best.move:
            assert choice.taken.worlds == choice.best.worlds == 500
            worlds = {ranked.worlds for ranked in choice.candidates if ranked not in (choice.best, choice.taken)}
            assert worlds == {0}


def test_moves_that_come_to_the_same_are_no_mistakes() -> None:
    # The last tile of the hand fits in several places, and the round is over wherever it goes.
    round = next(
        position
        for seed in range(100)
        for position in last_tiles(seed)
        if position.hand_sizes[position.turn] == 1 and len(position.legal_moves()) > 1
    )
    for played in round.legal_moves():
        choice = think(round.observe(round.turn), 200, played=played).result()
        assert choice.best.win == 1
        assert choice.taken is not None
        assert (choice.taken.cost, choice.taken.cost_error, choice.mistake) == (0, 0, False)


def last_tiles(seed: int) -> Iterator[Round]:
    round = Round.deal(Rules.of("family", 3, set=6, hand=5, blank=0), seed=seed)
    while not round.over:
        yield round.copy()
        round.apply(round.legal_moves()[-1])


@pytest.mark.parametrize(("preset", "players"), [("family", 3), *TUNED])
def test_it_thinks_as_mcts_does(preset: str, players: int) -> None:
    rules = Rules.of(preset, players)
    round = Round.deal(rules, seed=3)
    seen = round.observe(round.turn)
    search = Search(seen, 7, **MctsBot().settings(rules))
    search.run(1000)
    raced = {ranked.move: ranked.visits for ranked in think(seen).result().candidates}
    assert raced == {candidate.move: candidate.visits for candidate in search.candidates()}


def test_only_what_the_seat_knows_counts() -> None:
    """All worlds in which it sees the same give the same analysis."""
    text = {str((think(seen := world.observe(world.turn), 600).result().candidates, beliefs_of(seen).hidden))
            for world in [middle(), *(Belief(view()).sample(seed) for seed in range(3))]}  # fmt: skip
    assert len(text) == 1


def test_threads_change_nothing() -> None:
    one = think(view(), 3000, 3).result()
    with thread_pool(3) as pool:
        thinking = Thinking(view(), Effort(nodes=3000, seed=7, threads=3), 3, pool=pool)
        thinking.run(lambda done: None)
    assert thinking.result().candidates == one.candidates


def test_a_time_limit_ends_it() -> None:
    thinking = Thinking(view(), Effort(movetime=5), 3)
    thinking.run(lambda done: None)
    assert 0 < thinking.result().nodes < 1_000_000


def test_a_sum_has_all_choices_of_a_seat() -> None:
    seen = view()
    choices = [think(seen, played=move).result() for move in seen.legal_moves()]
    row = summary(seen.seat, [Decided(1, 0, choice) for choice in choices])
    taken = [choice.taken for choice in choices if choice.taken is not None]
    assert (row.choices, row.others) == (len(choices), len(choices) - 1)
    assert row.cost == pytest.approx(sum(ranked.cost or 0 for ranked in taken))
    assert row.error == pytest.approx(math.hypot(*[ranked.cost_error or 0 for ranked in taken]))
    assert row.mistakes == sum(choice.mistake for choice in choices)
    assert summary(seen.seat ^ 1, [Decided(1, 0, choice) for choice in choices]).choices == 0


# ---------------------------------------------------------------------------------------------------- beliefs


def test_the_belief_is_that_of_the_engine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "position").write_text(position_text(middle()), encoding="ascii")
    told = answer(capsys, tmp_path / "position", "--nodes", 50)["belief"]
    rules, belief = middle().rules, Belief(view())
    assert told["tiles"] == [str(tile) for tile in TILES[: tiles_in_set(rules.set)]]
    assert len(told["matrix"]) == rules.players + 1
    sizes = [*middle().hand_sizes, middle().boneyard_size]
    assert [sum(row) for row in told["matrix"]] == pytest.approx(sizes, abs=1e-3)
    assert [hidden["seat"] for hidden in told["hidden"]] == [
        *(seat + 1 for seat in range(rules.players) if seat != middle().turn),
        None,
    ]
    proved = 0
    for hidden in told["hidden"][:-1]:
        seat = hidden["seat"] - 1
        assert hidden["tiles"] == middle().hand_sizes[seat]
        assert len(hidden["cohorts"]) == len(belief.cohorts(seat))
        for pips in hidden["without"]:
            proved += 1
            assert all(pips not in tile for tile in middle().hands[seat])
            assert all(told["matrix"][seat][tile.id] == 0 for tile in TILES[: len(told["tiles"])] if pips in tile)
        weights = [tile.low + tile.high or rules.blank for tile in TILES[: len(told["tiles"])]]
        row = told["matrix"][seat]
        assert hidden["pips"] == pytest.approx(
            sum(share * weight for share, weight in zip(row, weights, strict=True)), abs=1e-2
        )
    assert proved
    assert told["inference"] == 0.07
    proofs = answer(capsys, tmp_path / "position", "--nodes", 50, "--proofs")["belief"]
    assert proofs["inference"] == 0
    assert proofs["matrix"] == [[round(share, 6) for share in row] for row in belief.matrix(4000).tolist()]
    assert proofs["matrix"] != told["matrix"]


# ------------------------------------------------------------------------------------------- the command: a position


def test_a_position_and_its_observation_say_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "position").write_text(position_text(middle()), encoding="ascii")
    (tmp_path / "observation").write_text(observation_text(view()), encoding="ascii")
    first = timeless(answer(capsys, tmp_path / "position", "--nodes", 300))
    assert first == timeless(answer(capsys, tmp_path / "observation", "--nodes", 300))
    assert first["kind"] == "position"
    assert first["complete"]
    assert first["seat"] == first["turn"] == middle().turn + 1
    assert {candidate["move"] for candidate in first["choice"]["candidates"]} == set(map(str, middle().legal_moves()))
    stdin = io.TextIOWrapper(io.BytesIO(position_text(middle()).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert first == timeless(answer(capsys, "-", "--nodes", 300))


def test_fewer_moves_listed_are_judged_alike(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The best move is judged in worlds of its own also when it is the only one that is listed."""
    (tmp_path / "position.txt").write_text(position_text(middle()))
    choice = answer(capsys, tmp_path / "position.txt", "--nodes", "300", "--top", "1", "--no-belief")["choice"]
    assert choice["candidates"][0]["worlds"] == choice["candidates"][1]["worlds"] > 0
    assert not any(candidate["worlds"] for candidate in choice["candidates"][2:])


def test_a_seat_that_is_not_to_move_has_beliefs_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "position").write_text(position_text(middle()), encoding="ascii")
    other = middle().turn % 4 + 2 if middle().turn < 3 else 1
    told = answer(capsys, tmp_path / "position", "--seat", other)
    assert told["choice"] is None
    assert told["hand"] == [str(tile) for tile in middle().hands[other - 1]]
    text = analyse(capsys, tmp_path / "position", "--seat", other)
    assert f"seat {other} while seat {middle().turn + 1} is to move" in text
    assert "cost" not in text


@pytest.mark.parametrize("players", [2, 14])
def test_a_table_fits_80_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path, players: int) -> None:
    round = Round.deal(Rules.of("tournament", players), seed=1)
    for number in range(6 * players):
        if not round.over:
            round.apply(round.legal_moves()[number % len(round.legal_moves())])
    (tmp_path / "p").write_text(position_text(round), encoding="ascii")
    text = analyse(capsys, tmp_path / "p", "--nodes", 300, "--top", 2)
    tables = text.split("\n\n")
    assert max(map(len, text.splitlines()[1:])) <= 80
    listed = re.findall(r"^(?:\d+-\d+@\w+|stop) ", tables[1], re.MULTILINE)
    assert len(listed) == min(2, len(round.legal_moves()))
    assert len(re.findall(r"^ ?\d+  ", tables[-1], re.MULTILINE)) == players - 1
    assert "(boneyard)" in tables[-1]
    assert "(boneyard)" not in analyse(capsys, tmp_path / "p", "--nodes", 300, "--no-belief")


def test_too_few_playouts_are_said_to_be_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "p").write_text(position_text(middle()), encoding="ascii")
    assert "No playout" in analyse(capsys, tmp_path / "p", "--nodes", 1)
    candidates = answer(capsys, tmp_path / "p", "--nodes", 1)["choice"]["candidates"]
    assert {candidate["score"] for candidate in candidates} == {None}


# ---------------------------------------------------------------------------------------------- the command: a game


def test_all_real_choices_of_a_game_are_analysed(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    told = answer(capsys, path, "--nodes", 60)
    expected = []
    for number, round in enumerate(GAME.rounds, 1):
        events = [entry.event for entry in round.events]
        for event, position in Replay(GAME.rules, round.deal, events).choices():
            if len(position.legal_moves()) > 1:
                expected.append((number, event, position.turn + 1, str(events[event].move or "stop")))
    found = [(c["round"], c["event"], c["seat"], c["played"]["move"]) for c in told["choices"]]
    assert found == expected
    assert len(found) > 20
    assert [seat["name"] for seat in told["seats"]] == [player.name for player in GAME.players]
    for seat in told["seats"]:
        own = [choice for choice in told["choices"] if choice["seat"] == seat["seat"]]
        assert seat["choices"] == len(own)
        assert seat["mistakes"] == sum(choice["mistake"] for choice in own)
        assert seat["cost"] == pytest.approx(sum(choice["played"]["cost"] for choice in own), abs=0.01)
    for choice in told["choices"]:
        assert choice["mistake"] == (choice["played"]["cost"] > choice["played"]["cost_error"])
    only = answer(capsys, path, "--nodes", 60, "--seat", 2, "--round", 1)
    assert only["choices"] == [c for c in told["choices"] if (c["seat"], c["round"]) == (2, 1)]
    assert [seat["seat"] for seat in only["seats"]] == [2]


def test_one_event_says_what_the_whole_game_says_of_it(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    choice = next(
        choice
        for choice in answer(capsys, path, "--nodes", 200, "--round", 2)["choices"]
        if choice["played"]["move"] != choice["best"]["move"]
    )
    place = ["--round", 2, "--event", choice["event"]]
    told = answer(capsys, path, *place, "--nodes", 200, "--top", 1)
    assert (told["game"], told["round"], told["event"], told["turn"]) == (1, 2, choice["event"], choice["seat"])
    assert told["choice"]["played"] == choice["played"]["move"]
    assert choice["best"] == told["choice"]["candidates"][0]
    assert choice["played"] in told["choice"]["candidates"]
    text = analyse(capsys, path, *place, "--nodes", 200, "--top", 1)
    assert f"{choice['played']['move']} was played" in text


def test_mistakes_are_listed_by_cost_and_all_in_order(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    text = analyse(capsys, path, "--nodes", 400, "--round", 1)
    costs = [float(cost) for cost in re.findall(r"(\d+\.\d) ± \d+\.\d  mistake$", text, re.MULTILINE)]
    assert costs
    assert costs == sorted(costs, reverse=True)
    one = analyse(capsys, path, "--nodes", 400, "--round", 1, "--top", 1)
    assert one.count("  mistake\n") == 1
    if len(costs) > 1:
        assert f"{len(costs) - 1} smaller ones not shown" in one
    listed = analyse(capsys, path, "--nodes", 400, "--round", 1, "--all").split("\n\n")[1].splitlines()[1:]
    events = [int(line.split()[1]) for line in listed]
    assert events == sorted(events)
    assert sum(line.rstrip().endswith("mistake") for line in listed) == len(costs)
    assert len(events) == len(answer(capsys, path, "--nodes", 20, "--round", 1)["choices"])


def test_another_game_of_the_file(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    assert "game 2" in analyse(capsys, path, "--game", 2, "--nodes", 20, "--round", 1).splitlines()[0]


def test_a_game_against_the_rules_is_analysed_up_to_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = record_text(GAME).splitlines(keepends=True)
    plays = [at for at, line in enumerate(lines) if re.match(r"\d play", line)]
    lines[plays[8]] = re.sub(r"play \S+", "play 6-6@2", lines[plays[8]])
    (tmp_path / "bad").write_text("".join(lines), encoding="utf-8")
    assert run(["analyse", str(tmp_path / "bad"), "--nodes", "20", "--round", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    assert f"Line {plays[8] + 1} is against the rules" in err
    told = json.loads(out)
    assert told["choices"]
    assert not told["complete"]


# ---------------------------------------------------------------------------------------------- interrupted, refused


def test_ctrl_c_leaves_what_was_found(
    capsys: pytest.CaptureFixture[str], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 3

    @contextmanager
    def impatient(what: str, total: int | None) -> Iterator[Any]:
        def tick(done: int) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        yield tick

    monkeypatch.setattr("caboose.cli.commands.analyse.progress_bar", impatient)
    told = answer(capsys, path, "--nodes", 20, code=1)
    assert len(told["choices"]) == 3
    assert not told["complete"]
    event = told["choices"][0]["event"]
    left = 2
    told = answer(capsys, path, "--round", 1, "--event", event, "--nodes", 100_000, code=1)
    assert not told["complete"]
    assert 0 < told["choice"]["nodes"] < 100_000


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("games --seat 4", 2, "--seat 4: expected 1 to 3"),
        ("games --round 4", 2, "--round 4: expected 1 to 3 in game 1"),
        ("games --game 3", 2, "--game 3: expected 1 to 2"),
        ("games --event 3", 2, "expected --round too"),
        ("games --round 1 --event 9999", 2, "nobody has a choice after it in round 1, expected such as"),
        ("games --proofs", 2, "--proofs is for a position: expected --event too"),
        ("position --proofs --no-belief", 2, "--proofs and --no-belief are given: expected one of them"),
        ("games --belief", 2, "are for a position: expected --event too"),
        ("games --all --top 3", 2, "expected one of them"),
        ("games --round 1 --event 0 --all", 2, "expected one of them"),
        ("games --nodes 5 --movetime 5", 2, "expected one of them"),
        ("games --nodes 0", 2, "--nodes"),
        ("games --threads 9", 2, "--threads"),
        ("position --seat 5", 2, "--seat 5: expected 1 to 4"),
        ("position --game 1", 2, "holds a position, expected recorded games"),
        ("position --event 0", 2, "holds a position, expected recorded games"),
        ("observation --seat 9", 2, "--seat 9: expected 1 to 4"),
        ("over", 1, "the round is over"),
        ("missing", 2, "No such file"),
        (".", 2, "Is a directory"),
        ("empty", 1, "it is empty, expected a recorded game"),
        ("prose", 1, "line 2, column 1: 'once' stands at the beginning: expected a recorded game"),
        ("binary", 1, "byte 1 is 0xff, which is no UTF-8"),
        ("huge", 1, "too long for a position"),
        ("broken", 1, "unknown rule option 'sat'"),
        ("cut", 1, "the file ends within the game"),
        ("impossible", 1, "no deal agrees with what seat 1 has seen"),
    ],
)
def test_what_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: str,
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(path.parent)
    over = middle().copy()
    while not over.over:
        over.apply(over.legal_moves()[0])
    texts = {
        "games": path.read_text(encoding="utf-8"),
        "position": position_text(middle()),
        "observation": observation_text(view()),
        "over": position_text(over),
        "empty": "# nothing\n",
        "prose": "\nOnce upon a time",
        "huge": "rules " * 300_000,
        "broken": position_text(middle()).replace(" set=", " sat="),
        "cut": record_text(GAME).partition("scores")[0],
        "impossible": IMPOSSIBLE,
    }
    for name, text in texts.items():
        if name == arguments.split(maxsplit=1)[0]:
            Path(name).write_text(text, encoding="utf-8")
    Path("binary").write_bytes(b"\xff\xfe")
    assert run(["analyse", *arguments.split()]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


# Seat 2 could not play on the 6, nor with what it drew, and then plays a 6.
IMPOSSIBLE = """
rules family players=2 set=6 hand=2
seat 1 round 1 hub 6 starter 2
events 2:draw 2:mark 1:6-5@1 2:6-4@2
hand 0-5
"""
