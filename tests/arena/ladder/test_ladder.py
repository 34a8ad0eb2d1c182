"""Ladders: what is played, that nothing is lost, and that a killed one ends as one that nobody disturbed."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import caboose.arena.config.engine_identity as identity
from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.arena.blocks.contestants import Contestant, Entrant, Lineup, builtin_command
from caboose.arena.blocks.game_rows import FaultRow, fault_rows, seat_rows
from caboose.arena.blocks.results import BlockResult, Crash, GameInBlock
from caboose.arena.errors import CallError, PlayError, RunError
from caboose.arena.execution.executors import (
    MAX_GIVEN_UP,
    MAX_LOSSES,
    Done,
    LocalExecutor,
    Losses,
    OnLost,
    PoolExecutor,
    Task,
)
from caboose.arena.ladder.config import read_spec
from caboose.arena.ladder.edit import add
from caboose.arena.ladder.record_files import book_path
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.ladder.status import status_data
from caboose.arena.ladder.store import SCHEMA
from caboose.arena.ladder.totals import block_margins, read_board, read_totals
from caboose.arena.match.standings import Scoreboard
from caboose.arena.stats.ratings import standings
from caboose.arena.stats.seat_bias import gain
from caboose.arena.storage.ladder_folder import DATABASE, LOCK, locked, runner
from caboose.cli.main import run as run_cli
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.referee import Fault, GameResult, RoundResult, SeatResult
from caboose.protocol.referee.timing import TimeControl
from kill_ladder import Command, Quiet, count, facts, kill_often, make_ladder, play_all, recorded, run_command
from players import contestants_of, engine_command, lineup_of

# ------------------------------------------------------------------------------------------------------ rows


def test_rows_have_what_the_scoreboard_has() -> None:
    lineup = lineup_of(contestants_of(["greedy", "random"]), 3)
    plan = Plan(
        rules=Rules.of("family", 3, rounds=2), lineup=lineup, control=TimeControl(nodes=1), seed=4, in_process=True
    )
    with Bench(plan) as bench:
        block = play_block(plan, bench, 0, lambda: None)
    games = list(block.games)
    # A fault on a seat of the second game, and one for which the third was played again.
    fault = Fault("dead", "it ended", 1, 2)
    seats = list(games[1].result.seats)
    seats[0] = SeatResult(seats[0].total, 3, 1.5, 1.0, 2, fault)
    games[1] = GameInBlock(games[1].seating, GameResult(games[1].result.rounds, tuple(seats)))
    games[2] = GameInBlock(games[2].seating, games[2].result, (Crash(1, fault),))
    block = BlockResult(0, tuple(games))
    board = Scoreboard(["greedy", "random"], lineup.entries)
    board.add(block)
    ids = [(7, 8)[entry] for entry in lineup.entries]
    rows = np.concatenate([seat_rows(game, ids) for game in block.games])
    for standing, entry in zip(board.standings(), (7, 8), strict=True):
        mine = rows[rows["entry"] == entry]
        counted = mine[mine["counted"] == 1]
        assert len(counted) == standing.games
        assert counted["rounds"].sum() == standing.rounds
        assert counted["margin"].mean() == pytest.approx(standing.margin.mean, rel=1e-6)
        assert counted["points"].sum() / standing.rounds == standing.score
        assert counted["rounds_won"].mean() == pytest.approx(standing.rounds_won)
        assert counted["games_won"].mean() == pytest.approx(standing.games_won)
        assert mine["decisions"].sum() == standing.decisions
    assert fault_rows(block) == [FaultRow(1, 0, fault, False), FaultRow(2, 1, fault, True)]


def test_a_game_without_a_round_has_a_row() -> None:
    fault = Fault("start", "no such program", 1, 0)
    game = GameInBlock((0, 1), GameResult((), (SeatResult(0, 2, 0, 0, 0, fault), SeatResult(0, 1, 0, 0, 0))))
    assert seat_rows(game, [3, 4])["margin"].tolist() == [0, 0]
    none = RoundResult(6, 0, (0, 0), False, 0, 0, complete=False)
    assert seat_rows(GameInBlock((0, 1), GameResult((none,), game.result.seats)), [3, 4])["rounds_won"].tolist() == [
        0,
        0.5,
    ]


# ---------------------------------------------------------------------------------------------------- playing

LISTS: tuple[dict[str, Any], ...] = (
    {"name": "tables", "format": "random", "players": 3, "blocks": 10, "generation": 2},
    {"name": "pairs", "format": "round-robin", "players": 2, "blocks": 1, "engines": ["random", "greedy", "planner"]},
)


def test_a_ladder_is_the_same_wherever_and_however_often_it_runs(tmp_path: Path) -> None:
    make_ladder(tmp_path / "once", *LISTS)
    assert play_all(tmp_path / "once").games == 10 * 3 + 3 * 2
    expected = facts(tmp_path / "once")
    assert len(expected) == 36
    make_ladder(tmp_path / "parts", *LISTS)
    assert play_all(tmp_path / "parts", Limit(blocks=4)).blocks == 4
    assert play_all(tmp_path / "parts", Limit(seconds=0)).blocks == 0
    with locked(tmp_path / "parts"), open_store(tmp_path / "parts", writing=True) as store:
        ready = prepare(tmp_path / "parts", read_spec(tmp_path / "parts"), store)
        assert ready.left == 9
        assert play(ready, PoolExecutor(2), Limit(), Quiet()) == ""
        assert ready.left == 0
    assert facts(tmp_path / "parts") == expected
    assert recorded(tmp_path / "parts") == recorded(tmp_path / "once")
    assert play_all(tmp_path / "parts").blocks == 0


def test_a_killed_ladder_ends_as_one_that_nobody_disturbed(tmp_path: Path) -> None:
    lists = ({**LISTS[0], "blocks": 12, "rounds": 2},)
    make_ladder(tmp_path / "undisturbed", *lists)
    play_all(tmp_path / "undisturbed")
    make_ladder(tmp_path / "killed", *lists)
    assert kill_often(tmp_path / "killed", 2, random.Random(2), partial(Command, tmp_path / "killed", 2)) > 0
    play_all(tmp_path / "killed")
    assert facts(tmp_path / "killed") == facts(tmp_path / "undisturbed")
    assert recorded(tmp_path / "killed") == recorded(tmp_path / "undisturbed")


def test_an_interrupted_run_keeps_what_was_finished(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", LISTS[0])

    class Interrupting(Quiet):
        def block_over(self, *about: object) -> None:
            super().block_over()
            if self.blocks == 3:
                raise KeyboardInterrupt

    with open_store(tmp_path / "x", writing=True) as store:
        ready = prepare(tmp_path / "x", read_spec(tmp_path / "x"), store)
        assert play(ready, LocalExecutor(), Limit(), Interrupting()) == "interrupted"
    assert count(tmp_path / "x") == 3


class GivingUp(LocalExecutor):
    """An executor to which some blocks are fatal."""

    def __init__(self, *fatal: int) -> None:
        super().__init__()
        self.fatal = fatal

    def run(
        self, tasks: Iterable[Task | None], on_game: Callable[[], None], on_lost: OnLost | None = None
    ) -> Iterator[Done]:
        assert on_lost is not None
        for task in tasks:
            if task is None:
                return
            if task.block in self.fatal:
                on_lost(task, "3 workers died")
            else:
                yield from super().run([task], on_game)


def test_a_block_that_cannot_be_played_is_left_out_told_and_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    make_ladder(folder, LISTS[0])
    with open_store(folder, writing=True) as store:
        ready = prepare(folder, read_spec(folder), store)
        problem = play(ready, GivingUp(1, 6), Limit(), Quiet())
        first, second = problem.split("; ")
        assert first.startswith("list tables, block 2 of ") and first.endswith(" is left out: 3 workers died")
        assert second.startswith("list tables, block 7 of ")
        assert [key.number for key in store.played(1)] == [0, 2, 3, 4, 5, 7, 8, 9]  # nothing waits for them
        assert status_data(folder, ready.spec, store, "")["left_out"] == [first, second]
        again = prepare(folder, read_spec(folder), store)
        # Of this run, and of the others that were not tried, nothing.
        assert play(again, GivingUp(6), Limit(blocks=1), Quiet()) == ""
        assert status_data(folder, ready.spec, store, "")["left_out"] == [second]
    play_all(folder)
    assert count(folder) == 10
    assert len(recorded(folder)) == 30
    with open_store(folder) as store:
        assert status_data(folder, read_spec(folder), store, "")["left_out"] == []


def test_where_no_block_can_be_played_the_run_ends(tmp_path: Path) -> None:
    losses = Losses(lambda task, why: None)
    plan = Plan(
        rules=Rules.of("family", 2),
        lineup=lineup_of(contestants_of(["greedy", "random"]), 2),
        control=TimeControl(nodes=1),
        seed=4,
    )
    assert [losses.again(Task(plan, 0), "x") for _ in range(MAX_LOSSES)] == [True, True, False]
    losses.played(Task(plan, 9))
    for number in range(MAX_GIVEN_UP - 1):
        assert [losses.again(Task(plan, number), "x") for _ in range(MAX_LOSSES)] == [True, True, False]
    last = Task(plan, MAX_GIVEN_UP)
    assert losses.again(last, "x") and losses.again(last, "x")
    with pytest.raises(PlayError, match="10 blocks in a row could not be played; block 11: x"):
        losses.again(last, "x")


def test_a_foreign_engine_plays_and_a_changed_one_counts_as_another(tmp_path: Path) -> None:
    command = engine_command(tmp_path)
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1}, engines=("greedy",))
    add(tmp_path / "x", "engine", {"name": "own", "command": [*command]})
    play_all(tmp_path / "x")
    assert play_all(tmp_path / "x").blocks == 0
    Path(command[-1]).write_text(Path(command[-1]).read_text() + "# changed\n")
    with open_store(tmp_path / "x", writing=True) as store:
        ready = prepare(tmp_path / "x", read_spec(tmp_path / "x"), store)
        (news,) = ready.news
        assert news.startswith("own has changed (hash ")
        assert news.endswith("from now on it counts as another entry, own#2")
        assert play(ready, LocalExecutor(), Limit(), Quiet()) == ""
        assert [entry.label for entry in store.entries()] == ["greedy", "own", "own#2"]
        board = read_board(store, store.lists())
        assert [len(margins) for margins in block_margins(board.games, 3)] == [2, 1, 1]
    first, second = facts(tmp_path / "x")[:2], facts(tmp_path / "x")[2:]
    assert [seat["total"] for game in first for seat in game["seats"]] == [
        seat["total"] for game in second for seat in game["seats"]
    ]  # the same deals, and it plays as before


def test_totals_are_those_of_all_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = ({"name": "pairs", "players": 2, "blocks": 2}, {"name": "threes", "players": 3, "blocks": 3})
    make_ladder(tmp_path / "x", *lists, engines=("greedy", "random", "planner"), records=False)
    play_all(tmp_path / "x")
    monkeypatch.setattr("caboose.arena.ladder.store.CHUNK", 5)
    with open_store(tmp_path / "x") as store:
        board, totals = read_board(store, store.lists()), read_totals(store, store.lists())
    found, expected = totals.tally.standings(replicates=20), standings(board.games, 3, replicates=20)
    assert found.contestants == expected.contestants
    assert (found.games, found.blocks) == (totals.games, expected.blocks) == (21, 9)
    assert totals.fairness.gain().blocks == gain(board.games).blocks == 9
    assert totals.sums == board.sums
    assert [of.games for of in board.sums] == [17, 17, 17]
    # A block that lacks a game is damage, and is told.
    with sqlite3.connect(tmp_path / "x" / DATABASE) as connection:
        connection.execute("DELETE FROM games WHERE block = 2 AND game = 1")
    connection.close()
    with open_store(tmp_path / "x") as store, pytest.raises(RunError, match="a block of a wrong length"):
        read_totals(store, store.lists())


def test_a_changed_built_in_bot_counts_as_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1}, engines=("greedy", "random"))
    play_all(tmp_path / "x")
    monkeypatch.setattr(identity, "builtin_hash", lambda: "0" * 16)
    play_all(tmp_path / "x")
    with open_store(tmp_path / "x") as store:
        assert [entry.label for entry in store.entries()] == ["greedy", "random", "greedy#2", "random#2"]


def test_an_engine_that_does_not_start_is_told_before_anything_is_played(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2}, engines=("greedy",))
    add(tmp_path / "x", "engine", {"name": "own", "command": ["/no/such/program"]})
    with pytest.raises(RunError, match="own: the engine does not start"):
        play_all(tmp_path / "x")
    assert count(tmp_path / "x") == 0


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "nodes = 10",
            "nodes = 20",
            r"list m has changed since its first block \(nodes 10 -> 20\), and its 1 block would not go",
        ),
        ('seed = "5"', 'seed = "6"', "the seed has changed since the ladder was made: expected 5"),
    ],
)
def test_games_that_do_not_go_together_are_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1}, engines=("greedy", "random"))
    play_all(tmp_path / "x")
    path = tmp_path / "x" / "ladder.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(CallError, match=told):
        play_all(tmp_path / "x")


def test_built_in_players_outlive_a_plan() -> None:
    from caboose.arena.blocks.block import KEPT, Players

    names = ["greedy", "random", "planner"]
    contestants = [Contestant(f"{name}{n}", Entrant(name, builtin_command(name))) for n in range(4) for name in names]

    def plan(*numbers: int) -> Plan:
        lineup = Lineup(tuple([contestants[number] for number in numbers]), (0, 1))
        rules = Rules.of("family", 2, rounds=1)
        return Plan(rules=rules, lineup=lineup, control=TimeControl(nodes=1), seed=4, in_process=True)

    with Players() as players:
        first = players.bench(plan(0, 1)).players
        assert players.bench(plan(0, 1)).players is first
        assert players.bench(plan(1, 2)).players[0] is first[1]
        assert players.bench(plan(0, 3)).players[0] is first[0]
        for number in range(4, 12):
            players.bench(plan(number, 3))
        assert len(players._kept) == KEPT
        assert players.bench(plan(0, 3)).players[0] is not first[0]


# ------------------------------------------------------------------------------------- what cannot be written


@pytest.fixture
def ladder(tmp_path: Path) -> Path:
    """A ladder with a block in it."""
    make_ladder(tmp_path / "x", LISTS[0])
    play_all(tmp_path / "x", Limit(blocks=1))
    return tmp_path / "x"


def test_two_runs_on_one_folder_are_refused(ladder: Path) -> None:
    with locked(ladder):
        assert runner(ladder).startswith(f"pid {os.getpid()} on ")
        told = subprocess.run(run_command(ladder, 1), capture_output=True, text=True, check=False)
        assert told.returncode == 1
        assert f"another run plays here (pid {os.getpid()} on " in told.stderr
        assert runner(ladder).startswith(f"pid {os.getpid()} on ")  # who is refused leaves the name alone
    assert runner(ladder) == ""
    (ladder / LOCK).write_text("pid 1 on nowhere\n")  # as a killed run leaves it
    assert runner(ladder) == ""
    play_all(ladder, Limit(blocks=1))
    assert count(ladder) == 2


@contextmanager
def changed(path: Path, statement: str) -> Iterator[None]:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    yield


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (f"PRAGMA user_version = {SCHEMA + 1}", f"made by a newer Caboose .schema {SCHEMA + 1}"),
        ("PRAGMA application_id = 7", "this is not the database of a ladder"),
    ],
)
def test_a_newer_or_foreign_database_is_left_alone(ladder: Path, statement: str, told: str) -> None:
    with changed(ladder / DATABASE, statement):
        before = (ladder / DATABASE).read_bytes()
        for writing in (False, True):
            with pytest.raises(RunError, match=told):
                open_store(ladder, writing=writing)
        assert (ladder / DATABASE).read_bytes() == before


@pytest.mark.parametrize("what", ["head", "middle", "text", "nothing"])
def test_a_damaged_database_is_told_and_left_alone(ladder: Path, what: str) -> None:
    path = ladder / DATABASE
    data = bytearray(path.read_bytes())
    if what == "head":
        data[:16] = bytes(16)
    elif what == "middle":
        data[4096:] = bytes(len(data) - 4096)
    elif what == "text":
        data = bytearray(b"not a database\n" * 1000)
    else:
        data = bytearray()
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"the database is damaged|not the database of a ladder"):
        play_all(ladder)
    assert path.read_bytes() == data


def test_a_full_disk_loses_nothing(ladder: Path) -> None:
    with open_store(ladder, writing=True) as store:
        ready = prepare(ladder, read_spec(ladder), store)
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(RunError, match=r"ladder\.db: the disk is full; all blocks before are kept"):
            play(ready, LocalExecutor(), Limit(), Quiet())
    before = count(ladder)
    assert 1 <= before < 10
    play_all(ladder)
    assert count(ladder) == 10
    assert len(recorded(ladder)) == 30


def test_a_record_that_cannot_be_written_loses_nothing(ladder: Path) -> None:
    book = book_path(ladder, "tables")
    kept = book.rename(book.with_suffix(".kept"))
    book.symlink_to("/dev/full")
    with pytest.raises(RunError, match="No space left on device; all blocks before are kept"):
        play_all(ladder)
    assert count(ladder) == 1
    book.unlink()
    kept.rename(book)
    with book.open("ab") as file:
        file.write(b"# commit sha256 of a block that was lost\n\ncaboose gam")
    play_all(ladder)
    assert len(recorded(ladder)) == 30
    assert b"was lost" not in book.read_bytes()


def test_a_missing_record_file_is_told(ladder: Path) -> None:
    book = book_path(ladder, "tables")
    book.write_bytes(book.read_bytes()[:-1])
    with pytest.raises(RunError, match="games are missing"):
        recorded(ladder)
    book.unlink()
    with pytest.raises(RunError, match="are not there any more"):
        recorded(ladder)


@contextmanager
def unprivileged(place: Path) -> Iterator[None]:
    """Makes this process one of a user who may look into ``place`` and is not the superuser, who may write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    while place.stat().st_uid == 0 and not place.stat().st_mode & 1:
        place.chmod(0o711)
        place = place.parent
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("killed", [False, True])
def test_a_folder_that_cannot_be_written_to_can_be_read(
    ladder: Path, killed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``killed``: there is something in the WAL, which only who may write there can read."""
    copy = tmp_path / "copy"
    with open_store(ladder, writing=True) as store:
        store.add_list("more", 2, "")
        if killed:
            shutil.copytree(ladder, copy)
    if not killed:
        shutil.copytree(ladder, copy)
    assert (copy / f"{DATABASE}-wal").exists() == killed
    (copy / f"{DATABASE}-shm").unlink(missing_ok=True)
    assert run_cli(["ladder", "status", str(ladder)]) == 0  # all is loaded that it takes
    assert run_cli(["ladder", "run", str(ladder), "--minutes", "0"]) == 0
    capsys.readouterr()
    for path in [*copy.iterdir(), copy]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with unprivileged(tmp_path):
            assert run_cli(["ladder", "run", str(copy)]) == 1
            told = capsys.readouterr()
            assert told.err == f"caboose: {copy / LOCK}: Permission denied: a run must be able to write to the folder\n"
            assert run_cli(["ladder", "status", str(copy)]) == killed
            told = capsys.readouterr()
            assert f"{copy / DATABASE}: it cannot be opened" in told.err if killed else "1 block, 3 games" in told.out
    finally:
        copy.chmod(0o755)


def test_a_reader_cannot_write(ladder: Path) -> None:
    with open_store(ladder) as store, pytest.raises(RunError, match=r"ladder\.db: it cannot be written to"):
        store.add_list("more", 2, "")


def test_what_is_no_ladder_is_told(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"there is no ladder\.toml, expected a ladder"):
        read_spec(tmp_path)
    with pytest.raises(RunError, match="there is no such database"):
        open_store(tmp_path)
