"""Matches: blocks, executors, results. The same seed is the same match, wherever and however it is played."""

from __future__ import annotations

import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from caboose.arena.blocks.block import Bench, block_deals, deal_seed, play_block, seatings
from caboose.arena.blocks.results import MatchResult, ResultError, read_result, write_result
from caboose.arena.console.console import Console
from caboose.arena.errors import CallError, RunError
from caboose.arena.execution.executors import Done, Executor, LocalExecutor, OnLost, PoolExecutor, Task
from caboose.arena.match.console_report import MatchProgress
from caboose.arena.match.match import standings
from matches import Quiet, make_plan, run
from players import contestants_of, engine_command, is_alive, lineup_of, wait_until, without_warning


def facts(result: MatchResult) -> list[object]:
    """All of a match that must not depend on clocks."""
    told: list[object] = []
    for block in result.blocks:
        for game in block.games:
            seats = [replace(seat, time=0, slowest=0, cpu=0, overruns=0, worst_overrun=0) for seat in game.result.seats]
            told.append((block.block, game.seating, game.result.rounds, seats))
    return told


# ---------------------------------------------------------------------------------------------- line-up


def test_two_contestants_are_a_hero_and_copies() -> None:
    contestants = contestants_of(["mcts", "planner"])
    assert lineup_of(contestants, None).entries == (0, 1, 1, 1)
    assert lineup_of(contestants, 2).entries == (0, 1)
    assert lineup_of(contestants, 14).entries == (0, *[1] * 13)
    assert lineup_of(contestants_of(["mcts", "planner", "greedy"]), None).entries == (0, 1, 2)


@pytest.mark.parametrize(
    ("words", "players", "message"),
    [
        ([], None, "0 contestants given: expected 2 to 14"),
        (["greedy"], 4, "1 contestant given"),
        (["greedy"] * 15, None, "15 contestants given"),
        (["greedy"] * 3, 4, "--players 4 with 3 contestants: expected as many"),
        (["greedy"] * 2, 15, "--players 15: expected 2 to 14"),
        (["greedy"] * 2, 1, "--players 1: expected 2 to 14"),
    ],
)
def test_numbers_of_players_that_do_not_fit(words: list[str], players: int | None, message: str) -> None:
    with pytest.raises(CallError, match=message):
        lineup_of(contestants_of(words), players)


def test_labels_and_options() -> None:
    made = contestants_of(
        ["random", "mcts", "random", "./bots/mine.v2.py --fast"],
        ["python3 -u other.py"],
        ["random.Seed=1", "2.Seed=2", "mine_v2.Depth=4", "5.A.b=c=d", "other.Empty="],
    )
    assert [c.label for c in made] == ["random#1", "mcts", "random#2", "mine_v2", "other"]
    assert [dict(c.options) for c in made] == [
        {"Seed": "1"},
        {"Seed": "2"},
        {"Seed": "1"},
        {"Depth": "4"},
        {"A.b": "c=d", "Empty": ""},
    ]
    assert made[3].command == ("./bots/mine.v2.py", "--fast")
    assert made[1].builtin == "mcts" and made[3].builtin == ""
    one = contestants_of(["random", "random"], [], ["random#2.Seed=3"])
    assert [dict(c.options) for c in one] == [{}, {"Seed": "3"}]


@pytest.mark.parametrize(
    ("words", "engines", "options", "message"),
    [
        (["plannr", "mcts"], [], [], r"unknown bot 'plannr'; did you mean 'planner'\?"),
        (["foo", "bar"], [], [], "unknown bot 'foo'. The built-in bots are"),
        (["a 'b", "mcts"], [], [], "command line cannot be read: No closing quotation"),
        (["mcts"], ["  "], [], "command line is empty"),
        (["mcts", "greedy"], [], ["Seed=5"], "--option Seed=5: expected NAME.Option=value"),
        (["mcts", "greedy"], [], ["mcts.Seed"], "expected NAME.Option=value"),
        (["mcts", "greedy"], [], ["3.Seed=5"], "there is no contestant 3, expected 1 to 2"),
        (["mcts", "greedy"], [], ["mct.Seed=5"], "there is no contestant 'mct'; they are mcts, greedy"),
        (["mcts", "greedy"], [], ["mcts.Seed=5", "1.Seed=6"], "mcts.Seed is given twice"),
        (["mcts", "greedy"], [], ["mcts.Sead=5"], r"option '?Sead"),
        (["mcts", "greedy"], [], ["mcts.Seed=x"], "option Seed: 'x'"),
    ],
)
def test_line_ups_that_are_wrong(words: list[str], engines: list[str], options: list[str], message: str) -> None:
    with pytest.raises(CallError, match=message):
        contestants_of(words, engines, options)


# ---------------------------------------------------------------------------------------------- blocks


def test_every_entry_has_every_seat_once_in_a_block() -> None:
    plan = make_plan("greedy", "random", "greedy", "random", "greedy")
    orders = set()
    for block in range(30):
        games = seatings(plan, block)
        assert len(games) == 5
        for seats in (*games, *zip(*games, strict=True)):
            assert sorted(seats) == [0, 1, 2, 3, 4]
        # The deal stays and the players move on by one: everyone keeps the same neighbours.
        start = games[0].index(0)
        orders.add(games[0][start:] + games[0][:start])
    assert len(orders) > 10  # and other blocks have other neighbours


def test_blocks_have_seeds_of_their_own_that_never_change() -> None:
    assert deal_seed(5, 0) == deal_seed(5, 0)
    seeds = {tuple(deal_seed(seed, block)) for seed in (5, 6, 1 << 127) for block in range(100)}
    assert len(seeds) == 300
    # Numbers that stored matches rely on.
    assert deal_seed(2024, 3) == [714607273, 1025014207, 3190115556, 298769948]
    assert seatings(make_plan("greedy", "random", seed=2024), 3)[0] == (3, 2, 0, 1)


def test_the_games_of_a_block_have_the_same_deals() -> None:
    plan = make_plan("greedy", "random", rounds=2, recording=True)
    with Bench(plan) as bench:
        block = play_block(plan, bench, 0, lambda: None)
    deals = {tuple(r.log.deal for r in game.result.rounds if r.log) for game in block.games}
    assert len(block.games) == 4 and deals == {tuple(block_deals(plan, 0))} and len(block_deals(plan, 0)) == 2


@pytest.mark.parametrize("players", [2, 4])
def test_a_bot_against_itself_is_exactly_even_in_every_block(players: int) -> None:
    result = run(make_plan("greedy", "greedy", players=players, rounds=2), 10)
    for block in result.blocks:
        only = replace(result, blocks=(block,))
        assert [standing.margin.mean for standing in standings(only)] == [0.0, 0.0]


# ------------------------------------------------------------------------------- the same match everywhere


def test_the_same_seed_is_the_same_match_everywhere(tmp_path: Path) -> None:
    plan = make_plan("mcts", "planner", "random")
    watcher = Quiet()
    expected = facts(run(plan, 3, watcher=watcher))
    assert (watcher.games, watcher.blocks) == (9, 3)
    assert facts(run(plan, 3)) == expected
    processes = replace(plan, in_process=False)
    assert facts(run(processes, 3)) == expected
    assert facts(run(processes, 3, PoolExecutor(2))) == expected
    assert facts(run(replace(plan, seed=12), 1)) != expected[:3]


class Backwards:
    """An executor whose blocks finish in the opposite order."""

    def run(
        self, tasks: Iterable[Task | None], on_game: Callable[[], None], on_lost: OnLost | None = None
    ) -> Iterator[Done]:
        with LocalExecutor() as local:
            yield from local.run(reversed(list(tasks)), on_game)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def test_results_are_in_block_order_whatever_finishes_first() -> None:
    plan = make_plan("greedy", "random")
    late = run(plan, 5, Backwards())
    assert [block.block for block in late.blocks] == [0, 1, 2, 3, 4]
    assert late.blocks[1:3] == [late.blocks[1], late.blocks[2]] and late.blocks[-1].block == 4
    assert facts(late) == facts(run(plan, 5))
    timeless = [(s.score, s.rounds_won, s.games_won, s.margin) for s in standings(late)]
    assert timeless == [(s.score, s.rounds_won, s.games_won, s.margin) for s in standings(run(plan, 5))]


# -------------------------------------------------------------------------------------------- failing workers


class Killer(Quiet):
    """A watcher that kills a worker of the pool after each of ``games``."""

    def __init__(self, pool: PoolExecutor, games: range) -> None:
        super().__init__()
        self.pool = pool
        self.when = games

    def game_over(self) -> None:
        super().game_over()
        if self.games in self.when:
            process = self.pool._workers[0].process
            process.kill()
            process.join()


def test_the_block_of_a_lost_worker_is_played_again() -> None:
    plan = make_plan("greedy", "random", rounds=3)
    pool = PoolExecutor(1)
    result = run(plan, 2, pool, watcher=Killer(pool, range(3, 4)))
    assert result.problem == ""
    assert facts(result) == facts(run(plan, 2))


def test_a_block_that_costs_worker_after_worker_is_given_up() -> None:
    pool = PoolExecutor(1)
    result = run(make_plan("greedy", "random", rounds=13), 2, pool, watcher=Killer(pool, range(1, 100)))
    why = "is left out: 3 workers died of it"
    assert result.problem == f"block 1 {why}; block 2 {why}"
    assert not result.blocks
    assert pool._workers == []


def test_a_worker_has_a_session_of_its_own() -> None:
    sessions: set[bool] = set()

    class Looking(Quiet):
        def game_over(self) -> None:
            (worker,) = multiprocessing.active_children()
            assert worker.pid is not None
            sessions.add(os.getsid(worker.pid) == worker.pid)

    run(make_plan("random", "greedy", players=2), 2, PoolExecutor(1), watcher=Looking())
    assert sessions == {True}


def test_an_exception_in_a_worker_is_told() -> None:
    plan = make_plan("greedy", "random")
    broken = replace(plan, on_fault="shrug")
    with PoolExecutor(1) as pool, pytest.raises(RunError, match="on_fault 'shrug'"):
        list(pool.run([Task(broken, 0), Task(broken, 1)], lambda: None))


# ------------------------------------------------------------------------------------------------ engines


def test_engines_never_learn_the_seed(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    spy = (
        "import sys, os\n"
        f"spied = open({str(seen)!r}, 'a', buffering=1)\n"
        "spied.write(repr((sys.argv, dict(os.environ))))\n"
        "def spying(lines):\n"
        "    for line in lines:\n"
        "        spied.write(line)\n"
        "        yield line\n"
        "sys.stdin = spying(sys.stdin)\n"
    )
    command = shlex.join(engine_command(tmp_path, before=spy))
    seed = 0x5EED_5EED_5EED_5EED_5EED_5EED_5EED_5EED
    plan = make_plan("greedy", engines=[command], seed=seed, players=2)
    assert not any(game.result.tainted for block in run(plan, 2).blocks for game in block.games)
    told = seen.read_text(encoding="utf-8")
    assert told.count("newgame") == 4
    for secret in (seed, *deal_seed(seed, 0), *deal_seed(seed, 1)):
        assert str(secret) not in told and f"{secret:x}" not in told


def test_engines_are_introduced_and_new_in_each_game(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    command = shlex.join(engine_command(tmp_path, before=f"open({str(log)!r}, 'a').write('x')\n"))
    result = run(make_plan("greedy", engines=[command]), 3)
    told = result.contestants[1]
    assert (told.label, told.engine, told.version, told.builtin) == ("toy", "toy", "7", "")
    # Once to be introduced, and one for each of three seats in each of three blocks of four games: the deals of a
    # block come again, and an engine that lives on would know them.
    assert log.read_text(encoding="utf-8") == "x" * (1 + 3 * 3 * 4)


def test_faults_are_counted_where_they_belong(tmp_path: Path) -> None:
    command = shlex.join(engine_command(tmp_path, "if asked == 2: sys.exit(1)"))
    result = run(make_plan("greedy", engines=[command], players=2), 3)
    greedy, toy = standings(result)
    assert toy.faults == {"dead": 6} and toy.games == 6 and toy.games_won == 0
    assert greedy.faults == {} and greedy.games == 0 and greedy.uncounted == 6
    assert result.problem == ""


def test_an_engine_that_cannot_be_used_stops_the_match_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"missing: the engine does not start: .*No such file"):
        make_plan("greedy", engines=[str(tmp_path / "missing")])
    command = shlex.join(engine_command(tmp_path))
    with pytest.raises(CallError, match="toy: toy has no option 'Speed'"):
        make_plan("greedy", engines=[command], options=["toy.Speed=9"])


# ----------------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(terminal: bool) -> None:
    screen = StringIO()
    console = Console(file=screen, force_terminal=terminal, width=80)
    with MatchProgress(console, 16) as progress:
        run(make_plan("greedy", "random", rounds=2), 4, watcher=progress)
    told = screen.getvalue()
    assert (("16/16" in told) and ("greedy +" in told)) == terminal
    assert terminal or told.strip() == ""


# -------------------------------------------------------------------------------------------------- files


def test_a_result_is_the_same_after_a_file(tmp_path: Path) -> None:
    command = shlex.join(engine_command(tmp_path, "if asked == 9: sys.exit(1)"))
    result = run(make_plan("greedy", "random", "mcts", engines=[command], rounds=2), 2)
    assert any(game.result.tainted for block in result.blocks for game in block.games)
    file = tmp_path / "result.json"
    write_result(result, standings(result), file)
    assert read_result(file) == replace(result, blocks=tuple(result.blocks))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.json", "toy.py"]
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["seed"] == "11"
    assert [row["label"] for row in data["standings"]] == ["greedy", "random", "mcts", "toy"]
    assert data["standings"][3]["faults"]
    assert len(data["blocks"]) == 2 and len(data["blocks"][0]["games"]) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not the result of a match"),
        ('{"format": "caboose match", "format_version": 9}', "format version 9, expected 1"),
        ('{"format": "caboose match", "format_version": 1}', "caboose: expected a value, it is missing"),
    ],
)
def test_files_that_are_no_results(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        read_result(file)


def test_a_result_that_was_edited(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    write_result(run(make_plan("greedy", "random"), 1), [], file)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"hub": 12', '"hub": "12"', 1), encoding="utf-8")
    with pytest.raises(ResultError, match=r"blocks\[0\].games\[0\].result.rounds\[0\].hub: expected a whole number"):
        read_result(file)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("old", encoding="utf-8")
    result = run(make_plan("greedy", "random"), 1)
    with pytest.raises(TypeError):
        write_result(result, [object()], file)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_blocks_are_taken_when_they_are_played() -> None:
    plan = make_plan("greedy", "random", players=2)
    executors: list[tuple[Executor, int]] = [(LocalExecutor(), 1), (PoolExecutor(2), 2)]
    for executor, most in executors:
        taken: list[int] = []

        def take(block: int, taken: list[int] = taken) -> Task:
            taken.append(block)
            return Task(plan, block)

        with executor:
            for finished, _ in enumerate(executor.run(map(take, range(6)), lambda: None), 1):
                assert len(taken) <= finished + most
        assert taken == list(range(6))


# ------------------------------------------------------------------------------- however it ends, all are gone


def start_match(tmp_path: Path, concurrency: int) -> tuple[subprocess.Popen[str], Path, Path]:
    """A match that takes long, and the files to which its engines write their numbers and it its result. Eight at once
    are in test_nothing_left.py."""
    pids = tmp_path / "pids"
    pids.touch()
    before = f"import os\nopen({str(pids)!r}, 'a').write(str(os.getpid()) + '\\n')\n"
    command = shlex.join(engine_command(tmp_path, "time.sleep(0.005)", before=before))
    result = tmp_path / "result.json"
    call = [sys.executable, "-m", "caboose.cli.main", "match", command, "random", "--in-process", "--players", "2"]
    call += ["--rounds", "1", "--rule", "hand=6", "--set", "6", "--blocks", "5000", "--movetime", "30000"]
    call += ["--concurrency", str(concurrency), "--json", str(result), "--record", str(tmp_path / "games")]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    games = tmp_path / "games"
    assert wait_until(lambda: games.exists() and b"\nend\n" in games.read_bytes(), 60)
    # All workers have begun: one that is only starting tells of the lost connection, which is not what is looked at.
    assert wait_until(lambda: len(pids.read_text(encoding="utf-8").split()) >= concurrency, 60)
    return process, pids, result


def all_gone(pids: Path) -> bool:
    numbers = [int(word) for word in pids.read_text(encoding="utf-8").split()]
    assert numbers
    return wait_until(lambda: not any(is_alive(number) for number in numbers))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_an_interrupted_match_tells_what_it_has(tmp_path: Path, number: signal.Signals) -> None:
    process, pids, file = start_match(tmp_path, 1)
    process.send_signal(number)
    process.send_signal(number)  # impatience does no harm
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert without_warning(err) == ""
    assert "interrupted: " in out and "toy" in out and "random" in out
    result = read_result(file)
    assert result.problem == "interrupted"
    assert 0 < len(result.blocks) < result.asked == 5000
    assert all(len(block.games) == 2 for block in result.blocks)
    assert all_gone(pids)


def test_ctrl_c_reaches_the_whole_group_and_is_handled_once(tmp_path: Path) -> None:
    # As a terminal does it: the signal goes to the workers too.
    ours = os.getpgid(0)
    process, pids, file = start_match(tmp_path, 2)
    assert os.getpgid(process.pid) == ours
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
    for child in children:
        os.kill(int(child), signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, without_warning(err)) == (1, "")
    assert read_result(file).problem == "interrupted"
    assert all_gone(pids)
