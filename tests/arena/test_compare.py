"""Comparisons: the verdict is that of the blocks in their order, whatever happens while they are played."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from caboose.arena.blocks.block_order import shared_seats
from caboose.arena.blocks.contestants import builtin_command
from caboose.arena.blocks.game_rows import SEAT, Seats
from caboose.arena.compare.comparison import Comparison
from caboose.arena.compare.judge import Judge, values_of
from caboose.arena.compare.progress import CompareProgress, alike_text
from caboose.arena.compare.run import Verdict, interval, make_judge, run_test
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.console.console import Console
from caboose.arena.execution.executors import Done, LocalExecutor, OnLost, Task
from caboose.arena.ladder.edit import init
from caboose.arena.ladder.run import open_store
from caboose.arena.ladder.schedule import lineups
from caboose.arena.ladder.totals import read_board
from caboose.arena.stats.sprt import CONTINUE, H1, SequentialTest, State, block_values
from caboose.cli.main import run
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl
from paths import DOCS
from players import engine_command

CALL = "compare planner greedy --in-process --nodes 1 --rounds 1 --players 2 --seed 7"


def engine(name: str, builtin: str = "") -> EngineSpec:
    return EngineSpec(name=name, builtin=builtin or name, command=builtin_command(builtin or name))


def comparison(players: int = 2, *, pool: EngineSpec | None = None, **more: object) -> Comparison:
    """``planner`` against ``greedy``, which is a matter of some fifty blocks."""
    settings: dict[str, object] = {
        "other": engine("greedy"),
        "rules": Rules.of("family", players, rounds=1),
        "control": TimeControl(nodes=1),
        "bounds": SequentialTest(low=0, high=60, unit="elo"),
        "seed": 7,
        "in_process": True,
    }
    return Comparison(one=engine("planner"), pool=pool, **settings | more)  # type: ignore[arg-type]


def figures(found: Verdict) -> Verdict:
    """All but what the clock and the calendar say."""
    return replace(found, seconds=0.0, entries=tuple([replace(entry, since="") for entry in found.entries]))


class Disordered(LocalExecutor):
    """Plays some blocks at once as far as anybody can see: they end in an order by lot."""

    def __init__(self, seed: int, at_once: int = 8) -> None:
        super().__init__()
        self._random = Random(seed)
        self._at_once = at_once

    def run(
        self, tasks: Iterable[Task | None], on_game: Callable[[], None], on_lost: OnLost | None = None
    ) -> Iterator[Done]:
        waiting: list[Task] = []
        source = iter(tasks)
        while True:
            while len(waiting) < self._at_once and (task := next(source, None)) is not None:
                waiting.append(task)
            if not waiting:
                return
            task = waiting.pop(self._random.randrange(len(waiting)))
            yield from super().run([task], on_game)


def test_verdicts_do_not_depend_on_the_order_in_which_blocks_end(tmp_path: Path) -> None:
    expected = run_test(comparison(3), LocalExecutor(), folder=tmp_path / "one")
    assert expected.verdict == H1
    assert expected.better
    for seed in range(2):
        assert figures(run_test(comparison(3), Disordered(seed))) == figures(expected)
    # What is kept tells the same to who computes it in another way.
    with open_store(tmp_path / "one") as store:
        games = read_board(store, store.lists()).games
        order = [key[1:] for key in store.played(1)]
    _, scores = block_values(games, 0, 1, "elo")
    values = dict(zip(order, scores.tolist(), strict=True))
    state, test = State(), comparison(3).bounds
    judge = make_judge(comparison(3), [1, 2])
    while test.verdict(state) == CONTINUE:
        assert judge._next is not None
        state = state.with_blocks([values[judge._next]])
        judge._next = next(judge._order)
    assert (state.count, test.verdict(state)) == (expected.tally.blocks, H1)
    assert test.llr(state) == expected.llr
    assert expected.gain == interval(test, state)
    assert sum(expected.tally.pairs) == 2 * expected.tally.games


def test_a_comparison_that_is_killed_ends_as_one_that_is_not(tmp_path: Path) -> None:
    expected = run_test(comparison(), LocalExecutor())
    folder, random = tmp_path / "state", Random(3)
    kills = 0
    while kills < 6:
        child = os.fork()
        if not child:
            try:
                run_test(comparison(), Disordered(kills, 4), folder=folder)
            finally:
                os._exit(0)
        time.sleep(random.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1
    assert figures(run_test(comparison(), Disordered(9), folder=folder)) == figures(expected)
    with open_store(folder) as store:
        blocks = store.counts()
    # Once more: nothing is played, as all is known.
    assert figures(run_test(comparison(), LocalExecutor(), folder=folder)) == figures(expected)
    with open_store(folder) as store:
        assert store.counts() == blocks


def test_two_that_play_alike_are_told_so() -> None:
    with CompareProgress(Console(stderr=True)) as progress:
        alike = comparison(
            4, other=engine("same", "planner"), most=12, bounds=SequentialTest(low=0, high=1, unit="pips")
        )
        found = run_test(alike, LocalExecutor(), watcher=progress)
        assert "all 12 blocks are even" in " ".join(progress._gains())
    assert (found.verdict, found.llr, found.pips.value, found.pips.half) == (CONTINUE, 0, 0, 0)


@pytest.mark.parametrize("blocks, says", [(1, "the only block is even"), (5, "all 5 blocks are even")])
def test_short_runs_of_two_that_play_alike_are_told_so_too(
    blocks: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = f"compare planner planner --in-process --nodes 1 --rounds 1 --players 2 --seed 3 --max-blocks {blocks}"
    assert run(call.split()) == 3
    assert f"{says}: are they different engines?" in capsys.readouterr().out
    assert run([*CALL.split(), "--max-blocks", "2"]) == 3
    output = capsys.readouterr().out
    assert "even" not in output
    assert "1 block from the one before; a verdict needs 24" in output


def test_what_is_told_of_blocks_that_are_the_same() -> None:
    for values, unit, says in (
        ([], "pips", ""),
        ([3.5], "pips", ""),
        ([0.0], "pips", "the only block is even"),
        ([0.0, 0.0], "elo", "all 2 blocks are the same"),
        ([1.0] * 7, "elo", "all 7 blocks are the same"),
        ([0.5] * 7, "nelo", "all 7 blocks are even"),
        ([0.0, 0.0, 1.0], "pips", ""),
    ):
        told = alike_text(State().with_blocks(values), unit)
        assert told.startswith(says) and bool(told) == bool(says)


def test_seats_are_shared() -> None:
    tables = {2: [(5, 6)], 4: [(5, 6, 6, 6), (6, 5, 5, 5)], 5: [(5, 5, 6, 6, 6), (6, 6, 5, 5, 5)]}
    for players, expected in tables.items():
        assert lineups(comparison(players).ladder().lists[0], [5, 6], [5, 6]) == expected
    for players in range(2, 15):
        for lineup in shared_seats(0, 1, players):
            few = min(sum(lineup), players - sum(lineup))
            assert few >= (1 if players == 6 else players // 3)
            # No order round the table looks the same after a turn.
            order = Random(players).sample(lineup, players)
            assert len({tuple(order[turn:] + order[:turn]) for turn in range(players)}) == players
    pooled = comparison(4, pool=engine("random")).ladder().lists[0]
    assert lineups(pooled, [5, 6, 8], [5, 6]) == [(5, 6, 8, 8)]
    assert comparison(5).bounds.games == 5
    with pytest.raises(ValueError, match="at least 3 players"):
        comparison(2, pool=engine("random"))
    with pytest.raises(ValueError, match="told apart"):
        comparison(4, pool=engine("greedy"))


def fabricated(places: list[list[tuple[int, int]]], points: list[list[int]], fault: int | None = None) -> Seats:
    """One block: for each game (entry, place) of the seats, and their points. ``fault`` is an entry that failed in the
    first game."""
    seats = np.zeros((1, len(places), len(places[0])), SEAT)
    for game, (of_game, scores) in enumerate(zip(places, points, strict=True)):
        for seat, ((entry, place), score) in enumerate(zip(of_game, scores, strict=True)):
            row = seats[0, game, seat]
            others = [b for (who, _), b in zip(of_game, scores, strict=True) if who != entry]
            failed = game == 0 and entry == fault
            row["entry"], row["place"], row["points"], row["rounds"] = entry, place, score, 1
            row["margin"] = np.mean(others) - score
            row["fault"], row["counted"] = failed, fault is None or game > 0 or failed
            row["games_won"] = place == 1
    return seats


def test_blocks_say_who_was_ahead() -> None:
    games = [[(1, 1), (2, 2), (3, 3)], [(3, 1), (1, 2), (2, 2)], [(2, 1), (3, 2), (1, 3)]]
    points = [[0, 10, 20], [5, 7, 7], [1, 2, 30]]
    (block,) = values_of(fabricated(games, points), {1: 0, 2: 1}, [(0, 0, 0)])
    assert block.pairs == (1, 1, 1)
    assert block.first == (1.0, 1.0)
    assert block.values == pytest.approx(((10 + 0 - 29) / 3, 0.5), abs=1e-4)
    # A fault of the pool takes the game away, one of the two is lost for it.
    (block,) = values_of(fabricated(games, points, fault=3), {1: 0, 2: 1}, [(0, 0, 1)])
    assert block.values == pytest.approx(((0 - 29) / 2, 0.25))
    assert (block.pairs, block.games, block.faults) == ((0, 1, 1), 2, (0, 0, 2))


def test_a_fault_ends_a_strict_test_and_blocks_without_a_value_do_not_count() -> None:
    games, points = [[(1, 1), (3, 2), (2, 3)]], [[0, 1, 2]]
    order = [(number, (1, 2, 3)) for number in range(9)]
    test = SequentialTest(low=0, high=1, unit="pips")
    for strict, judged in ((True, 3), (False, 5)):
        judge = Judge(test, iter(order), 1, 2, most=5, strict=strict)
        for number in (4, 3, 2, 1, 0, 5):
            assert not judge.over
            seats = fabricated(games, points, fault=3 if number == 2 else None)
            judge.add([order[number]], seats, [(0, 0, 0)])
            if judge.over:
                break
        assert judge.tally.blocks == judged
        assert judge.state.count == judged - 1
        assert judge.tally.faults == (0, 0, 1)
        assert judge.verdict == CONTINUE


@pytest.mark.parametrize(
    "more, code, says",
    [
        ("--elo1 60", 0, "planner against greedy: H1 accepted (60 Elo)"),
        ("--pips0 40 --pips1 60", 1, "planner against greedy: H0 accepted (40 pips a round)"),
        ("--nelo0 0 --nelo1 1 --max-blocks 13", 3, "planner against greedy: undecided (not more than 13 blocks)"),
    ],
)
def test_the_exit_code_is_the_answer(more: str, code: int, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*CALL.split(), *more.split()]) == code
    output = capsys.readouterr()
    assert output.out.startswith(says)
    assert all(f"\n{name}" in output.out for name in ("H0, H1", "LLR", "Played", "Gain", "Pairs", "A ", "B ", "Seed"))
    assert max(map(len, output.out.splitlines()[:8])) <= 80


def test_calls_that_make_no_sense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "state"
    short = [*CALL.split(), "--max-blocks", "12", "--state", str(state)]
    assert run(short) == 3
    ladder, other = tmp_path / "ladder", tmp_path / "other"
    init(ladder, 1, in_process=True, records=False, logs=False)
    other.mkdir()
    (other / "thesis.txt").touch()
    capsys.readouterr()
    wrong = {
        "--elo0 5": "expected --elo1 too",
        "--elo0 5 --elo1 2": "H0 must be below H1",
        "--elo0 0 --elo1 5 --pips0 0 --pips1 3": "expected one unit",
        "--pips0 -1e300 --pips1 1e300": "H0 and H1 are -1e+300 and 1e+300 pips, expected at most 1e+12",
        "--pips0 0 --pips1 1e-300": "H0 and H1 are 1e-300 apart, expected at least 1e-09",
        "--alpha 0.7": "alpha is between 0 and 0.5",
        "--pool random": "expected at least 3",
        "--records": "together with --state",
        f"--state {ladder}": "this is a ladder",
        f"--state {other}": "there is thesis.txt in it",
        f"--state {other / 'thesis.txt'}": "this is a file",
        f"--state {state} --pips1 4": "another comparison is kept there (H1: 1 pips, not 4 pips)",
        f"--state {state} --seed 8": "the seed: 7, not 8",
        f"--state {state} --name 2=other": "B: greedy greedy, not other greedy",
    }
    for more, says in wrong.items():
        assert run([*CALL.split(), *shlex.split(more)]) == 2
        assert says in " ".join(capsys.readouterr().err.split())
    # Another number of blocks is no other comparison, and its seed is known.
    assert run([*CALL.split()[:-2], "--max-blocks", "14", "--state", str(state), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["blocks"] == 14


def test_an_engine_that_does_not_start_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "greedy", "/bin/false --", "--nodes", "1", "--rounds", "1"]) == 3
    assert "does not start" in capsys.readouterr().err


def test_a_changed_engine_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = engine_command(tmp_path, "")
    call = ["compare", "greedy", shlex.join(command), "--nodes", "1", "--rounds", "1", "--players", "2", "--in-process"]
    call += ["--max-blocks", "1", "--state", str(tmp_path / "state")]
    assert run(call) == 3
    engine_command(tmp_path, "pass")
    assert run(call) == 2
    assert "is not the program any more" in " ".join(capsys.readouterr().err.split())


def test_json_is_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*CALL.split(), "--max-blocks", "12", "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    page = (DOCS / "guides" / "compare.md").read_text(encoding="utf-8")
    for key in [*data, *data["engines"][0], *data["gain"]]:
        assert f"`{key}`" in page, key
    assert data["verdict"] is None


@pytest.mark.parametrize("error", [SystemExit(1), ZeroDivisionError()])
def test_what_goes_wrong_is_no_answer(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("typer.Typer.__call__", fail)
    assert run(["compare", "greedy", "random"]) == 3
    assert run(["rules"]) == 1
