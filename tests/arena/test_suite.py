"""``caboose suite``: positions with targets, and how engines fare on them."""

from __future__ import annotations

import doctest
import gzip
import json
import math
import shlex
import threading
from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caboose.arena.blocks.contestants import Contestant, Entrant, builtin_command
from caboose.arena.match.standings import t_interval
from caboose.arena.suite.figures import depth, difference, figures, mean_over_deals
from caboose.arena.suite.file import place_object, position_line, read_position, read_suite, rules_text
from caboose.arena.suite.make import part_of
from caboose.arena.suite.pick import PlayedRound, Unreadable, pick, recorded_rounds
from caboose.arena.suite.play import Fixture, play_round
from caboose.arena.suite.score import MOST_FAULTS, Answer, Entry, Score, score
from caboose.arena.suite.suite import PHASES, Loss, Place
from caboose.arena.suite.target import StoppedError, find_losses, search_settings
from caboose.cli.main import run
from caboose.engine.rules.rules import Rules
from caboose.protocol.records.records import record_text
from caboose.protocol.referee.timing import TimeControl
from paths import DOCS
from players import engine_command
from record_samples import SMALL, play_record

MAKE = tuple(shlex.split("--play 4 --players 3 --set 6 --rule hand=5 --by planner --nodes 500 --positions 6 --seed 5"))
PAGE = DOCS / "guides" / "suite.md"
MOST_BYTES = 300_000  # of the package's suite


@cache
def rounds(count: int = 8) -> tuple[PlayedRound, ...]:
    tables = [Rules.of("family", 3, set=6, hand=5), Rules.of("classic", 2)]
    return tuple(play_round(Fixture(rules, n), ("planner",), 1) for rules in tables for n in range(count))


@cache
def made(folder: Path) -> Path:
    """A small suite."""
    path = folder / "small.jsonl"
    assert run(["suite", "make", "-o", str(path), *MAKE]) == 0
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("suite"))


def builtin(name: str) -> Contestant:
    return Contestant(name, Entrant(name, builtin_command(name)))


def entry(name: str, nodes: int = 100, **more: Any) -> Entry:
    return Entry(builtin(name), TimeControl(nodes=nodes), **more)


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on standard error, on one line."""
    return " ".join(capsys.readouterr().err.split())


# ------------------------------------------------------------------------------------------------ which positions


def test_positions_are_spread_over_tables_and_phases() -> None:
    places = pick(rounds(), 12, 2, seed=1)
    assert Counter(place.view.rules.preset for place in places) == {"family": 6, "classic": 6}
    assert Counter(place.phase for place in places) == dict.fromkeys(PHASES, 4)
    assert max(Counter(place.deal for place in places).values()) == 2
    assert len(set(map(str, map(place_object, places)))) == 12
    assert all(len(place.view.legal_moves()) > 1 and place.view.turn == place.view.seat for place in places)
    assert [place.view.rules.preset for place in places[:4]] == ["classic", "family"] * 2


def test_the_seed_decides_and_the_order_of_deals_does_not() -> None:
    places = pick(rounds(), 6, 1, seed=1)
    assert pick(rounds()[::-1], 6, 1, seed=1) == places
    assert pick(rounds(), 6, 1, seed=2) != places


def test_the_same_deal_in_another_game_is_not_picked_again() -> None:
    once = pick(rounds(2), 100, 3, seed=1)
    assert pick([*rounds(2), *rounds(2)], 100, 3, seed=1) == once
    assert len(once) == 12  # three of each of four deals


def test_positions_of_records_have_the_scores_of_the_rounds_before() -> None:
    record = play_record(SMALL, seed=3)
    places = pick(recorded_rounds([record], Unreadable()), 100, 1, seed=1)
    assert len(places) == len(record.rounds)
    past = {len(place.view.past_scores): place.view.past_scores for place in places}
    for number in range(len(record.rounds)):
        assert past[number] == tuple(round.scores for round in record.rounds[:number])


def test_a_position_holds_nothing_that_its_seat_does_not_see(small: Path) -> None:
    for position in read_suite(str(small)).positions:
        events = json.loads(position_line(position))["events"].split()
        seat = position.place.view.seat + 1
        assert all(event.startswith(f"{seat}:") for event in events if "draw=" in event)


# --------------------------------------------------------------------------------------------------------- targets


def test_targets_have_every_move_with_the_best_first(small: Path) -> None:
    suite = read_suite(str(small))
    assert len(suite.positions) == suite.header.positions == 6
    for position in suite.positions:
        assert set(position.losses) == set(position.place.view.legal_moves())
        losses = list(position.losses.values())
        assert losses[0] == Loss(0.0, 0.0)
        assert losses[1:] == sorted(losses[1:], key=lambda loss: loss.pips)
        for move, pair in find(position.place, suite.header.seed).items():
            assert pair == pytest.approx((position.losses[move].pips, position.losses[move].error), abs=0.0051)


def find(place: Place, seed: int, nodes: int = 500) -> dict[Any, Any]:
    losses = find_losses(place, nodes, seed, search_settings({}), threading.Event())
    return {move: (loss.pips, loss.error) for move, loss in losses.items()}


def test_more_playouts_make_targets_surer(small: Path) -> None:
    place = max((p.place for p in read_suite(str(small)).positions), key=lambda p: len(p.view.legal_moves()))
    few = [error for _, error in find(place, 5).values()]
    many = [error for _, error in find(place, 5, 8000).values()]
    assert sum(many) < 0.6 * sum(few)


def test_a_search_that_is_stopped_says_so(small: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        find_losses(read_suite(str(small)).positions[0].place, 500, 0, search_settings({}), stop)


# ---------------------------------------------------------------------------------------------------------- making


@pytest.mark.parametrize("kept", [1, 3, 7])
def test_a_call_goes_on_where_one_was_killed(kept: int, small: Path, tmp_path: Path) -> None:
    whole = small.read_bytes()
    again = tmp_path / "again.jsonl"
    lines = whole.splitlines(keepends=True)
    part_of(again).write_bytes(b"".join(lines[:kept]) + lines[kept % 7][:20])
    assert run(["suite", "make", "-o", str(again), *MAKE, "--concurrency", "2"]) == 0
    assert again.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [again]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"nodes":500', '"nodes":600', "it is of another suite; call again as then, or remove it to begin anew: nodes"),
        ('"phase":"early"', '"phase":"late"', "has another position"),
        ('"phase":"early"', '"phase":"erly"', 'phase: "erly", expected one of early, middle, late'),
    ],
)
def test_what_is_kept_of_another_suite_is_refused(
    old: str, new: str, said: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again.jsonl"
    part_of(again).write_text(small.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert run(["suite", "make", "-o", str(again), *MAKE]) == 2
    assert said in told(capsys)
    assert not again.exists()


def test_records_may_be_packed_and_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = record_text(play_record(SMALL, seed=3)) + record_text(play_record(SMALL, seed=4))
    path = tmp_path / "games.txt.gz"
    path.write_bytes(gzip.compress(f"{text}game 1\nrules nosuch\n".encode()))
    target = tmp_path / "suite.jsonl.gz"
    call = ["suite", "make", str(path), "-o", str(target), "--nodes", "500", "--positions", "4"]
    assert run(call) == 0
    assert "1 game cannot be read; the first: " in told(capsys)
    assert len(read_suite(str(target)).positions) == 4
    path.write_bytes(path.read_bytes()[:-20])
    assert run([*call[:4], str(tmp_path / "other.jsonl"), *call[5:]]) == 1
    assert f"{path}: the packed file is damaged" in told(capsys)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "expected files with recorded games, or rounds to play"),
        ("nosuch.txt", "nosuch.txt: No such file or directory"),
        ("nosuch.txt --by mcts", "--by is for rounds that are played: expected --play too"),
        ("--play 1 --by omniscient", "--by omniscient: expected one of random"),
        ("--play 1 --option Level=3", "option Level: it does not say how to search, expected Confidence"),
        ("--play 1 --option Laps", "--option Laps: expected NAME=VALUE"),
        ("--play 1 --players 2 --set 7", "set"),
    ],
)
def test_wrong_calls_of_make(arguments: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suite", "make", "-o", str(tmp_path / "x"), *shlex.split(arguments)]) == 2
    assert said in told(capsys)


# --------------------------------------------------------------------------------------------------------- the file


def test_what_is_written_is_read_again(small: Path) -> None:
    for line in small.read_text(encoding="utf-8").splitlines()[1:]:
        assert position_line(read_position(line)) == line


@pytest.mark.parametrize(
    "rules",
    [
        Rules.of("family", 4),
        Rules.of("classic", 8),
        Rules.of("tournament", 3, set=9),
        Rules.of("family", 12, set=6, hand=1),
        Rules.of("classic", 2, blank=0, double_answer="chickenfoot", rounds=3),
    ],
)
def test_rules_in_few_words_are_the_same_rules(rules: Rules) -> None:
    assert Rules.parse(rules_text(rules)) == rules


@pytest.mark.parametrize(
    ("line", "old", "new", "said"),
    [
        (1, '"suite":1', '"suite":2', "suite: 2, expected 1"),
        (1, '"suite":1,', "", "there is no field suite, expected the header of a suite"),
        (1, '"nodes":500', '"nodes":"many"', 'nodes: "many", expected a whole number of at least 1'),
        (2, "{", "", "this is no JSON"),
        (2, '"deal"', '"dael"', "there is no field deal, expected deal, phase"),
        (3, '"hub":', '"hub":9', "the position makes no sense: hub"),
        (3, '"events":"', '"events":"1:zzz ', "events: word 1: "),
        (3, '"hand":"', '"hand":"x', "hand: word 1: "),
        (4, '"losses":{"', '"losses":{"9-9@M":[0,0],"', "losses: 9-9@M is not legal, expected one of "),
        (5, "[0.0,0.0]", "[0.5,0.0]", "losses: the first move has a loss, expected the best first"),
        (5, "[0.0,0.0]", "[0.0,-1]", "expected [loss, standard error] in pips"),
        (1, '"positions":6', '"positions":7', "6 positions, expected 7, as line 1 says"),
    ],
)
def test_damaged_files_name_line_and_field(
    line: int, old: str, new: str, said: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = small.read_text(encoding="utf-8").splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    assert run(["suite", "score", str(path), "random"]) == 1
    error = told(capsys)
    assert said in error
    assert f"{path}:{line}:" in error or "as line 1 says" in error


# ---------------------------------------------------------------------------------------------------------- scoring


def test_scores_are_the_same_for_any_concurrency(small: Path) -> None:
    suite = read_suite(str(small))
    entries = [entry("random", seeds=(0, 1, 2)), entry("mcts", earlier=(TimeControl(nodes=25),))]
    one, four = (score(suite, entries, concurrency=count) for count in (1, 4))
    part = score(suite, entries, positions=[4, 1])
    for number in range(2):
        assert (one[number].losses() == four[number].losses()).all()
        assert (one[number].losses()[[4, 1]] == part[number].losses()).all()
        assert (one[number].settled() == four[number].settled()).all()


def test_a_process_scores_as_the_bot_does_here(small: Path) -> None:
    suite = read_suite(str(small))
    here, there = (score(suite, [entry("greedy")], in_process=inside)[0] for inside in (True, False))
    moves = [[answer.move for answer in each.last_answers()] for each in (here, there)]
    assert moves[0] == moves[1]


def test_an_engine_that_fails_is_named_and_the_rest_is_kept(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = shlex.join(engine_command(tmp_path, "if asked == 3: sys.exit(3)"))
    assert run(["suite", "score", str(small), "greedy", engine, "--json"]) == 1
    greedy, toy = json.loads(capsys.readouterr().out)["engines"]
    assert (greedy["answered"], greedy["faults"]) == (6, [])
    assert toy["answered"] == 4
    assert [fault["position"] for fault in toy["faults"]] == [3, 6]
    assert toy["faults"][0]["fault"] == "dead: it exited with code 3"
    assert run(["suite", "score", str(small), "greedy", engine]) == 1
    assert "position 3: dead: it exited with code 3" in capsys.readouterr().out


def test_who_fails_all_the_time_is_asked_no_more(small: Path, tmp_path: Path) -> None:
    contestant = Contestant("toy", Entrant("", tuple(engine_command(tmp_path, "sys.exit(3)"))))
    suite = read_suite(str(small))
    broken = Entry(contestant, TimeControl(nodes=1), earlier=(TimeControl(nodes=1),) * 2)
    found = score(suite, [broken, entry("greedy")])
    assert len(found[0].faults) == MOST_FAULTS
    assert np.isnan(found[0].losses()).all()
    assert not np.isnan(found[1].losses()).any()
    assert figures(suite, found)[0].loss.mean is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "no ENGINE: expected one at least"),
        ("nosuch", "unknown bot 'nosuch'"),
        ("mcts --limit 2.nodes=5", "--limit 2.nodes=5: there is no contestant 2"),
        ("mcts --limit mcts.depth=5", "expected NAME.LIMIT=NUMBER with nodes, movetime or playouts"),
        ("mcts --limit mcts.nodes=x", "--limit mcts.nodes=x: expected a number"),
        ("mcts --limit mcts.nodes=0", "nodes 0: expected a number above 0"),
        ("mcts --option mcts.Nosuch=1", "mcts has no option 'Nosuch'"),
        ("mcts --players 5", "--players 5: "),
        ("omniscient", "omniscient sees"),
    ],
)
def test_wrong_calls_of_score(arguments: str, said: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suite", "score", str(small), *shlex.split(arguments)]) == 2
    assert said in told(capsys)


def test_limits_of_one_engine(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["suite", "score", str(small), "mcts", "mcts", "--nodes", "40", "--limit", "2.nodes=80", "--depth", "--json"]
    assert run(call) == 0
    first, second = json.loads(capsys.readouterr().out)["engines"]
    assert [step["limit"] for step in first["steps"]] == ["20 nodes a move", "40 nodes a move"]
    assert [step["limit"] for step in second["steps"]] == [f"{n} nodes a move" for n in (20, 40, 80)]
    assert first["loss"] == second["steps"][1]["loss"]


# ---------------------------------------------------------------------------------------------------------- figures


def test_means_over_deals_of_one_position_are_students() -> None:
    values = [0.0, 1.0, 3.0, -0.5]
    found = mean_over_deals(np.array([*values, math.nan]), ["a", "b", "c", "d", "e"])
    assert found.half == pytest.approx(t_interval(values).half)
    assert (found.mean, found.count) == (0.875, 4)


def test_positions_of_one_deal_count_as_one() -> None:
    """Each value twice says no more than once."""
    values, deals = np.array([0.0, 1.0, 3.0, -0.5]), ["a", "b", "c", "d"]
    twice = mean_over_deals(np.repeat(values, 2), [deal for deal in deals for _ in range(2)])
    assert twice.half == pytest.approx(mean_over_deals(values, deals).half)


def test_settled_is_agreeing_from_then_on(small: Path) -> None:
    suite = read_suite(str(small))
    sure, wrong = Answer(None, Loss(0.0, 0.0)), Answer(None, Loss(9.0, 1.0))
    rows = [[wrong, sure, sure], [sure, wrong, sure], [sure, sure, wrong], [sure, sure, sure]]
    steps = (TimeControl(nodes=20), TimeControl(nodes=40))
    found = Score(entry("mcts", 80, earlier=steps), (0, 1, 2, 3), tuple(tuple((a,) for a in row) for row in rows))
    assert found.settled().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]]
    assert found.losses(0).tolist() == [9.0, 0.0, 0.0, 0.0]
    assert found.blunders(3.0).tolist() == [0.0, 0.0, 1.0, 0.0]
    step = depth(figures(suite, [found])[0].steps, 0.5)
    assert step is not None and step.limit == "40 nodes a move"
    assert depth(figures(suite, [found])[0].steps, 0.8) is None


def test_a_loss_within_noise_agrees() -> None:
    assert Loss(1.97, 1.0).certain
    assert not Loss(1.95, 1.0).certain


def test_the_suite_of_the_package_ranks_known_strengths() -> None:
    """On a part of it; docs/guides/suite.md has the whole."""
    packed = files("caboose.arena.suite").joinpath("standard.jsonl.gz").read_bytes()
    assert len(packed) < MOST_BYTES
    suite = read_suite("standard")
    tables = Counter((p.place.view.rules.preset, p.place.view.rules.players) for p in suite.positions)
    assert set(tables) == {(preset, n) for preset in ("family", "classic", "tournament") for n in (2, 4, 8)}
    names = ("random", "greedy", "planner", "mcts")
    found = score(suite, [entry(name, 200) for name in names], positions=range(270))
    means = [float(each.losses().mean()) for each in found]
    assert means == sorted(means, reverse=True)
    worse = difference(found[-1], found[0], suite)
    assert worse.mean is not None and worse.half is not None and worse.mean > worse.half


def test_the_session_of_the_page() -> None:
    session = PAGE.read_text(encoding="utf-8").partition("```python\n>>>")[2].partition("```")[0]
    case = doctest.DocTestParser().get_doctest(f">>>{session}\n", {}, "suite.md", None, None)
    assert len(case.examples) > 5
    assert doctest.DocTestRunner().run(case).failed == 0


def test_the_lines_of_the_page_are_a_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, position = (
        part.partition("```")[0].strip() for part in PAGE.read_text(encoding="utf-8").split("```json\n")[1:]
    )
    path = tmp_path / "page.jsonl"
    one = "".join(line.strip() for line in position.splitlines())
    path.write_text(header.replace('"positions":900', '"positions":1') + f"\n{one}\n", encoding="utf-8")
    assert run(["suite", "score", str(path), "greedy"]) == 0
