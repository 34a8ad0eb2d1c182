"""Ladders: what is played, that nothing is lost, and that a killed one ends as one that nobody disturbed."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import caboose.arena.ladder.identity as identity
from caboose.arena.blocks import Bench, Plan, play_block
from caboose.arena.cli import run as run_cli
from caboose.arena.errors import CallError, RunError
from caboose.arena.executors import LocalExecutor, PoolExecutor
from caboose.arena.ladder.board import block_margins, read_board
from caboose.arena.ladder.books import book_path
from caboose.arena.ladder.config import parse_spec, read_spec
from caboose.arena.ladder.edit import add, init, remove
from caboose.arena.ladder.folder import DATABASE, LOCK, locked, runner
from caboose.arena.ladder.rows import FaultRow, fault_rows, seat_rows
from caboose.arena.ladder.run import Limit, open_store, play, prepare
from caboose.arena.ladder.schedule import RandomTables, Schedule, block_seed, lineups, make_schedule
from caboose.arena.ladder.store import SCHEMA, BlockKey, Store
from caboose.arena.lineup import Contestant, Entrant, Lineup, builtin_command
from caboose.arena.results import BlockResult, Crash, GameInBlock
from caboose.arena.stats import Scoreboard
from caboose.engine.rules import Rules
from caboose.protocol.referee import Fault, GameResult, RoundResult, SeatResult
from caboose.protocol.timing import TimeControl
from killing import Command, Quiet, count, facts, kill_often, make_ladder, play_all, recorded, run_command
from players import contestants_of, engine_command, lineup_of

HEAD = 'format = 1\nseed = "1"\n'
ENGINES = "".join(f'[[engine]]\nname = "{name}"\nbuiltin = "planner"\n' for name in "abcde")


def spec_of(text: str) -> Any:
    return parse_spec(HEAD + text, Path("x/ladder.toml"))


# ------------------------------------------------------------------------------------------ the description


def test_what_a_ladder_says_is_what_it_means() -> None:
    spec = spec_of(
        'in_process = true\n[[engine]]\nname = "deep"\nbuiltin = "mcts"\noptions = { Seed = 3, Endgame = 0 }\n'
        '[[engine]]\nname = "other"\ncommand = "sh other.sh -x"\nsandbox = true\nshare = ["/opt"]\nmax_memory = 100\n'
        '[[list]]\nname = "main"\nformat = "gauntlet"\npreset = "classic"\nplayers = 5\nset = 15\nrounds = 3\n'
        'rules = { double_answer = "chickenfoot" }\ntc = "60+0.5"\nround_cap = 20\nmargin = 80\nblocks = 7\n'
        'heroes = ["other"]\n[[list]]\nname = "quick"\n'
    )
    deep, other = spec.engines
    assert deep.options == (("Seed", "3"), ("Endgame", "0"))
    assert other.command == ("sh", "other.sh", "-x")
    launch = other.contestant(Path("folder")).launch
    assert (launch.sandbox, launch.shared, launch.hidden) == (True, ("/opt",), ("folder",))
    assert launch.resources.memory == 100 << 20
    main, quick = spec.lists
    assert main.rules == Rules.of("classic", 5, set=15, rounds=3, double_answer="chickenfoot")
    assert main.control == TimeControl(clock=60_000, increment=500, roundcap=20_000, margin=80)
    assert (main.engines, main.heroes, main.blocks) == (("deep", "other"), ("other",), 7)
    assert quick.control == TimeControl(movetime=20)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[engine]\n", "x/ladder.toml: Expected ']]' .*line 3"),
        ("sed = 1\n", "x/ladder.toml: there is no key sed; did you mean seed?"),
        ('[[engine]]\nname = "a b"\n', "engine 1: name: 'a b': expected 1 to 16 letters"),
        ('[[engine]]\nname = "a"\n', "engine a: expected either builtin or command"),
        ('[[engine]]\nname = "a"\nbuiltin = "omniscient"\n', "engine a: builtin: .*no measuring bot"),
        ('[[engine]]\nname = "a"\nbuiltin = "mtcs"\n', "engine a: unknown bot 'mtcs'; did you mean 'mcts'?"),
        ('[[engine]]\nname = "a"\nbuiltin = "mcts"\noptions = { Sed = 1 }\n', "engine a: .*Sed"),
        ('[[engine]]\nname = "a"\ncommand = ""\n', "engine a: command: it is empty, expected a program"),
        ('[[engine]]\nname = "a"\ncommand = "x \'"\n', "engine a: command: .* cannot be read"),
        ('[[engine]]\nname = "a"\ncommand = "x"\nshare = ["y"]\n', "engine a: share: .*expected sandbox = true"),
        ('[[engine]]\nname = "a"\nbuiltin = "mcts"\nmax_cpu = 9\n', "engine a: max_cpu: 9, expected that of a command"),
        (
            '[[engine]]\nname = "a"\ncommand = "x"\nmax_cpu = 0\n',
            "engine a: max_cpu: 0, expected a whole number from 1",
        ),
        (ENGINES + '[[engine]]\nname = "a"\ncommand = "x"\n', "engine 'a' is there twice"),
        (ENGINES + '[[list]]\nname = "m"\nformat = "swiss"\n', "list m: format: 'swiss', expected one of round-robin"),
        (
            ENGINES + '[[list]]\nname = "m"\nengines = ["a", "z"]\n',
            "list m: engines: 'z', expected names of engines: a, b",
        ),
        (ENGINES + '[[list]]\nname = "m"\nheroes = ["a"]\n', "list m: heroes: .*expected that the format is hero"),
        (ENGINES + '[[list]]\nname = "m"\nplayers = 15\n', "list m: players: 15, expected a whole number from 2 to 14"),
        (
            ENGINES + '[[list]]\nname = "m"\nrules = { hubb = "dealt" }\n',
            "list m: rules.hubb: 'dealt', expected a rule",
        ),
        (ENGINES + '[[list]]\nname = "m"\nset = 7\n', "list m: set=7: expected one of 6, 9"),
        (ENGINES + '[[list]]\nname = "m"\ntc = "soon"\n', "list m: tc: soon: expected BASE.INC in seconds"),
        (ENGINES + '[[list]]\nname = "m"\nmovetime = "fast"\n', "list m: movetime: 'fast', expected a number"),
        (ENGINES + '[[list]]\nname = "m"\nmovetime = -1\n', "list m: time control: movetime -1.0"),
        (ENGINES + '[[list]]\nname = "m"\nblocks = true\n', "list m: blocks: True, expected a whole number"),
        ("list = 5\n", "list: 5, expected tables, each begun by"),
    ],
)
def test_a_wrong_description_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(CallError, match=told):
        spec_of(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [("seed = 1\n", "format is missing"), ("format = 2\n", "newer"), ("format = 1\n", "seed is missing")],
)
def test_a_description_begins_with_format_and_seed(text: str, told: str) -> None:
    with pytest.raises(CallError, match=told):
        parse_spec(text, Path("ladder.toml"))


def test_changes_keep_what_people_wrote(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", {"name": "main", "engines": ["random", "mcts"]})
    path = tmp_path / "x" / "ladder.toml"
    text = path.read_text().replace('builtin = "mcts"', 'builtin = "mcts"  # the one that matters')
    path.write_text(text)
    add(tmp_path / "x", "engine", {"name": "more", "builtin": "mcts", "options": {"Seed": "2"}})
    spec = remove(tmp_path / "x", "engine", "random")
    assert [engine.name for engine in spec.engines] == ["greedy", "planner", "mcts", "more"]
    assert spec.lists[0].engines == ("mcts",)
    assert spec == read_spec(tmp_path / "x")
    assert "# the one that matters" in path.read_text()
    before = path.read_text()
    with pytest.raises(CallError, match="list main: mcts is all that its engines have"):
        remove(tmp_path / "x", "engine", "mcts")
    with pytest.raises(CallError, match="there is no engine 'nobody'; there are greedy, planner, mcts, more"):
        remove(tmp_path / "x", "engine", "nobody")
    with pytest.raises(CallError, match="list wrong: players: 1"):
        add(tmp_path / "x", "list", {"name": "wrong", "players": 1})
    assert path.read_text() == before
    with pytest.raises(CallError, match="there is a ladder already"):
        init(tmp_path / "x", 1, in_process=True, records=True)
    assert remove(tmp_path / "x", "list", "main").lists == ()


# --------------------------------------------------------------------------------------------- who meets whom


def make_lineups(format: str, players: int, heroes: str = "") -> list[str]:
    chosen = f"heroes = {list(heroes)}\n" if heroes else ""
    (spec,) = spec_of(f'{ENGINES}[[list]]\nname = "m"\nformat = "{format}"\nplayers = {players}\n{chosen}').lists
    numbers = {name: number for number, name in enumerate("abcde")}
    found = lineups(spec, range(5), [numbers[name] for name in spec.heroes])
    return ["".join("abcde"[engine] for engine in lineup) for lineup in found]


def test_each_format_has_its_lineups() -> None:
    assert make_lineups("round-robin", 4) == ["abcd", "abce", "abde", "acde", "bcde"]
    assert make_lineups("round-robin", 5) == ["abcde"]
    # More players than engines: all sit twice, and once more each pair in turn.
    assert {"".join(sorted(lineup)) for lineup in make_lineups("round-robin", 12)} == {
        "".join(sorted("aabbccddee" + one + other)) for one in "abcde" for other in "abcde" if one < other
    }
    assert make_lineups("hero", 3) == ["abb", "acc", "add", "aee"]
    assert make_lineups("hero", 2, "ab") == ["ab", "ac", "ad", "ae", "ba", "bc", "bd", "be"]
    assert make_lineups("gauntlet", 4, "ab") == ["acde", "bcde"]
    assert make_lineups("gauntlet", 3) == ["abc", "abd", "abe", "acd", "ace", "ade"]


def test_lineups_without_end_are_refused() -> None:
    engines = "".join(f'[[engine]]\nname = "e{number}"\nbuiltin = "planner"\n' for number in range(40))
    (spec,) = spec_of(f'{engines}[[list]]\nname = "m"\nplayers = 8\n').lists
    with pytest.raises(CallError, match="76,904,685 line-ups, at most 100,000 are played: expected format random"):
        lineups(spec, range(40), [0])


class Played:
    """Stands in for a store: the blocks of a list, with no games in them."""

    def __init__(self) -> None:
        self.keys: set[BlockKey] = set()

    def played(self, list: int) -> Iterator[BlockKey]:
        return iter(sorted(self.keys))

    def results(self, list: int) -> Iterator[tuple[BlockKey, Any]]:
        return ((key, made_up(key)) for key in sorted(self.keys))


def made_up(key: BlockKey) -> Any:
    """The games of a block, which say that engines with greater numbers are stronger."""
    from caboose.arena.ladder.rows import SEAT

    seats = np.zeros((len(key.lineup), len(key.lineup)), SEAT)
    order = sorted(key.lineup, reverse=True)
    seats["entry"] = key.lineup
    seats["place"] = [order.index(entry) + 1 for entry in key.lineup]
    seats["counted"] = 1
    seats["margin"] = seats["entry"]
    return seats


def drain(schedule: Schedule, store: Played, chance: random.Random | None = None, stop: int | None = None) -> None:
    """Plays a schedule, some blocks at a time that end in any order; ``stop`` leaves blocks in flight."""
    flying: list[BlockKey] = []
    while True:
        while len(flying) < (chance.randrange(1, 9) if chance else 1) and (key := schedule.take()):
            assert key not in store.keys
            flying.append(key)
        if not flying or (stop is not None and len(store.keys) >= stop):
            return
        key = flying.pop(chance.randrange(len(flying)) if chance else 0)
        store.keys.add(key)
        schedule.add(key, made_up(key))


@pytest.mark.parametrize("format", ["random", "round-robin", "even"])
def test_what_is_played_does_not_depend_on_how_often_it_was_stopped(format: str) -> None:
    more = 'format = "random"\npairing = "even"\n' if format == "even" else f'format = "{format}"\n'
    text = f'{ENGINES}[[list]]\nname = "m"\nplayers = 3\nblocks = 60\ngeneration = 8\n{more}'
    (spec,) = spec_of(text).lists
    roster = {name: number + 1 for number, name in enumerate("abcde")}

    def schedule(store: Played) -> Schedule:
        return make_schedule(spec, 1, 5, roster, cast(Store, store))

    undisturbed = Played()
    drain(schedule(undisturbed), undisturbed)
    assert len(undisturbed.keys) == (600 if format == "round-robin" else 60)
    sat = Counter(entry for key in undisturbed.keys for entry in key.lineup)
    if format != "random":
        assert max(sat.values()) - min(sat.values()) <= 1
    chance = random.Random(1)
    for _ in range(5):
        disturbed = Played()
        while len(disturbed.keys) < len(undisturbed.keys):
            drain(schedule(disturbed), disturbed, chance, len(disturbed.keys) + chance.randrange(1, 40))
        assert disturbed.keys == undisturbed.keys


def test_random_tables_go_on_when_somebody_joins_or_leaves() -> None:
    (spec,) = spec_of(f'{ENGINES}[[list]]\nname = "m"\nformat = "random"\nplayers = 3\nblocks = 40\n').lists
    store = Played()
    drain(RandomTables(spec, 1, 5, [1, 2, 3, 4], cast(Store, store)), store, None, 21)
    drain(RandomTables(spec, 1, 5, [1, 2, 3, 9], cast(Store, store)), store)
    assert sorted(key.number for key in store.keys) == [*range(40)]
    assert not any(4 in key.lineup for key in store.keys if key.number >= 21)
    assert any(9 in key.lineup for key in store.keys)


def test_line_ups_have_deals_of_their_own() -> None:
    assert block_seed(1, "m", ["a", "b"]) == block_seed(1, "m", ["b", "a"])
    seeds = [block_seed(1, "m"), block_seed(2, "m"), block_seed(1, "n")]
    seeds += [block_seed(1, "m", ["a", "b"]), block_seed(1, "m", ["a", "c"])]
    assert len(set(seeds)) == len(seeds)


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


def test_a_changed_built_in_bot_counts_as_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ladder(tmp_path / "x", {"name": "m", "players": 2, "blocks": 1}, engines=("greedy", "random"))
    play_all(tmp_path / "x")
    monkeypatch.setattr(identity, "_builtin_hash", lambda: "0" * 16)
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
        ("nodes = 10", "nodes = 20", "list m has changed since its first block .*nodes=10.* -> .*nodes=20"),
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
    from caboose.arena.blocks import KEPT, Players

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
