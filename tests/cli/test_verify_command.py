"""The records that a match writes, and ``caboose verify``, which checks them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.blocks.block import Plan, block_deals
from caboose.arena.blocks.contestants import make_entrants, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.blocks.recorder import control_text, open_record
from caboose.arena.blocks.results import MatchResult
from caboose.arena.execution.executors import Executor, LocalExecutor, PoolExecutor
from caboose.arena.match.match import play_match
from caboose.arena.match.standings import Scoreboard
from caboose.cli.main import run
from caboose.engine.rules.rules import Rules
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord, RecordError, commitment, record_text
from caboose.protocol.records.verify import verify
from caboose.protocol.referee.timing import TimeControl
from players import engine_command, lineup_of, wait_until
from record_samples import play_record

QUICK = ["--rounds", "1", "--blocks", "2", "--in-process", "--nodes", "20", "--seed", "3"]
GAME = play_record()
TEXT = record_text(GAME)


def make_plan(*words: str, **more: Any) -> Plan:
    contestants = meet(make_entrants(words, []), parse_options(more.pop("options", [])), TimeControl())
    lineup = lineup_of(contestants, more.pop("players", None))
    rules = Rules.of("family", lineup.players, rounds=more.pop("rounds", 1))
    defaults: dict[str, Any] = {"control": TimeControl(nodes=20), "seed": 11, "in_process": True, "recording": True}
    return Plan(rules=rules, lineup=lineup, **(defaults | more))


class Watcher:
    """Looks into the file at the end of each game."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[tuple[int, int]] = []  # lines with a commitment, and games

    def game_over(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        self.seen.append((text.count("# commit sha256 "), text.count("\nend\n")))

    def block_over(self, board: Scoreboard) -> None:
        pass


def play(plan: Plan, path: Path, blocks: int, executor: Executor | None = None) -> tuple[MatchResult, Watcher]:
    watcher = Watcher(path)
    with open_record(path) as file:
        return play_match(plan, blocks, executor or LocalExecutor(), watcher, record=file), watcher


def read(path: Path) -> list[GameRecord]:
    """The games of a file in which all is right."""
    found = []
    for record in read_records(path):
        assert isinstance(record, GameRecord), str(record)
        assert verify(record) is None
        found.append(record)
    return found


def caboose(*arguments: str | Path, stdin: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "caboose.cli.main", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, **more)


# -------------------------------------------------------------------------------------- what a match writes


def test_games_are_recorded_block_by_block(tmp_path: Path) -> None:
    plan = make_plan("greedy", "random", rounds=2)
    result, watcher = play(plan, tmp_path / "games", 2)
    # A deal comes again in each game of its block: nothing of it is written before the last one is over.
    assert watcher.seen == [(1, 0)] * 4 + [(2, 4)] * 4
    games = read(tmp_path / "games")
    assert [game.event for game in games] == [
        f"caboose match, block {block}, game {game}" for block in (1, 2) for game in (1, 2, 3, 4)
    ]
    played = [game for block in result.blocks for game in block.games]
    for game, told in zip(games, played, strict=True):
        assert game.rules == plan.rules
        assert [player.name for player in game.players] == [("greedy", "random")[e > 0] for e in told.seating]
        assert [round.scores for round in game.rounds] == [round.scores for round in told.result.rounds]
        assert game.totals == tuple(seat.total for seat in told.result.seats)
        assert game.places == tuple(seat.place for seat in told.result.seats)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", game.date)
        times = [entry.time for round in game.rounds for entry in round.events if entry.time is not None]
        assert len(times) == sum(seat.decisions for seat in told.result.seats)
        assert sum(times) == pytest.approx(sum(seat.time for seat in told.result.seats), abs=len(times) * 0.001)
    assert all(round.log is None for block in result.blocks for game in block.games for round in game.result.rounds)


def test_what_was_committed_to_is_opened(tmp_path: Path) -> None:
    plan = make_plan("greedy", "random", players=3, rounds=3)
    play(plan, tmp_path / "games", 3)
    text = (tmp_path / "games").read_text(encoding="utf-8")
    published = re.findall(r"(?m)^# commit sha256 (\w+) block (\d+)$", text)
    games = read(tmp_path / "games")
    assert [number for _, number in published] == ["1", "2", "3"]
    assert [game.commit for game in games] == [commit for commit, _ in published for _ in range(3)]
    for block in range(3):
        ours = games[3 * block : 3 * block + 3]
        assert {tuple(round.deal for round in game.rounds) for game in ours} == {tuple(block_deals(plan, block))}
        assert {game.nonce for game in ours} == {ours[0].nonce}
        assert ours[0].commit == commitment(plan.rules, ours[0].nonce, block_deals(plan, block))


def test_the_same_match_again_has_other_nonces_and_the_same_games(tmp_path: Path) -> None:
    def facts(game: GameRecord) -> GameRecord:
        rounds = [replace(r, events=tuple(e._replace(time=None, line=0) for e in r.events)) for r in game.rounds]
        return replace(game, rounds=tuple(rounds), commit="", nonce="", date="")

    plan = make_plan("mcts", "planner", players=2, rounds=2)
    results, told, nonces = [], [], set()
    executors: list[Executor] = [LocalExecutor(), LocalExecutor(), PoolExecutor(2)]
    for number, executor in enumerate(executors):
        result, _ = play(plan, tmp_path / str(number), 2, executor)
        games = read(tmp_path / str(number))
        results.append([game.seating for block in result.blocks for game in block.games])
        told.append(sorted(map(facts, games), key=lambda game: game.event))
        nonces |= {game.nonce for game in games}
    assert told[0] == told[1] == told[2] and results[0] == results[1] == results[2]
    assert len(nonces) == 6


def test_the_seed_of_a_match_is_not_in_its_record(tmp_path: Path) -> None:
    plan = make_plan("greedy", "random", players=2, seed=123456789)
    play(plan, tmp_path / "games", 1)
    assert "123456789" not in (tmp_path / "games").read_text(encoding="utf-8")


def test_players_and_their_evaluations(tmp_path: Path) -> None:
    engine = shlex.join(engine_command(tmp_path, "say('info score ' + str(-1.5))"))
    plan = make_plan("mcts", engine, "random", options=["mcts.Seed=5", "mcts.Noise=3"], in_process=False)
    play(plan, tmp_path / "games", 1)
    game = read(tmp_path / "games")[0]
    players = {player.name: dict(player.fields) for player in game.players}
    assert set(players) == {"mcts", "toy", "random"}
    (mcts,) = [player for player in game.players if player.name == "mcts"]
    assert mcts.fields[0] == ("bot", "mcts") and mcts.fields[1][0] == "version"
    assert mcts.fields[2:] == (("option", "Seed=5"), ("option", "Noise=3"))
    assert players["toy"] == {"engine": "toy", "version": "7", "command": engine}
    scores: dict[str, set[float | None]] = {name: set() for name in players}
    for round in game.rounds:
        for entry in round.events:
            if entry.time is not None:
                scores[game.players[entry.event.seat].name].add(entry.score)
    assert scores["toy"] == {-1.5} and scores["random"] == {None}
    assert len(scores["mcts"]) > 1 and None not in scores["mcts"]


@pytest.mark.parametrize("on_fault", ["fallback", "forfeit"])
@pytest.mark.parametrize(
    ("fault", "on_go"), [("illegal", "legal = ['0-0@M']"), ("dead", "sys.exit(3) if asked > 4 else 0")]
)
def test_games_with_faults_are_right(tmp_path: Path, on_fault: str, fault: str, on_go: str) -> None:
    engine = shlex.join(engine_command(tmp_path, on_go))
    plan = make_plan(engine, "greedy", players=2, rounds=2, on_fault=on_fault, in_process=False)
    result, _ = play(plan, tmp_path / "games", 1)
    games = read(tmp_path / "games")
    assert len(games) == 2
    for game, told in zip(games, result.blocks[0].games, strict=True):
        (failed,) = game.faults
        known = told.result.seats[failed.seat].fault
        assert known is not None and failed.kind == known.kind == fault
        assert (failed.round, failed.decision, failed.detail) == (known.round, known.decision, known.detail)
        assert game.rounds[-1].finished == (on_fault == "fallback")


def test_a_match_that_never_begins_for_a_player(tmp_path: Path) -> None:
    """It fails before the first decision: the forfeit leaves a round in which nobody chose anything."""
    before = "import os\nopen('started', 'a').write('x')\nif os.path.getsize('started') > 1: raise SystemExit\n"
    folder = tmp_path / "it is"
    folder.mkdir()
    engine = f"cd {shlex.quote(str(folder))} && exec {shlex.join(engine_command(tmp_path, before=before))}"
    command = shlex.join(["sh", "-c", engine])
    for on_fault in ("fallback", "forfeit"):
        (folder / "started").unlink(missing_ok=True)
        plan = make_plan(command, "greedy", players=2, on_fault=on_fault, in_process=False)
        play(plan, tmp_path / on_fault, 1)
        games = read(tmp_path / on_fault)
        assert [(fault.round, fault.decision, fault.kind) for g in games for fault in g.faults] == [(1, 0, "start")] * 2


def test_long_texts_are_cut(tmp_path: Path) -> None:
    """Lines must not become too long to be read."""
    command = shlex.join([*engine_command(tmp_path), "\x01" * 30_000, "|" * 30_000])
    play(make_plan(command, "greedy", players=2, in_process=False), tmp_path / "games", 1)
    (toy,) = [player for player in read(tmp_path / "games")[0].players if player.name == "toy"]
    assert [len(text) for key, text in toy.fields if key == "command"] == [1000]


def test_time_controls_as_text() -> None:
    assert control_text(TimeControl(movetime=20)) == "movetime 20 margin 50"
    assert control_text(TimeControl(clock=60_000, increment=500.5, margin=0)) == "clock 60000 increment 500.5 margin 0"
    assert control_text(TimeControl(nodes=1_000_000)) == "nodes 1000000 guard 60000"


# ---------------------------------------------------------------------------------------------- cut off


def test_games_are_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "games"
    plan = make_plan("greedy", "random", players=2)
    for before, errors in ((b"", 0), (TEXT.encode(), 0), (TEXT.encode()[:-1], 0), (TEXT.encode()[:-20], 1)):
        path.write_bytes(before)
        play(plan, path, 1)
        told = list(read_records(path))
        assert sum(isinstance(record, RecordError) for record in told) == errors
        assert sum(isinstance(record, GameRecord) and verify(record) is None for record in told) == 3 - errors - (
            not before
        )


def test_a_kill_leaves_whole_games(tmp_path: Path) -> None:
    path = tmp_path / "games"
    call = ["match", "greedy", "random", "--players", "2", "--rounds", "2", "--in-process", "--record", str(path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "caboose.cli.main", *call, "--blocks", "100000"], stdout=subprocess.DEVNULL
    )
    assert wait_until(lambda: path.exists() and path.read_bytes().count(b"\nend\n") > 20, 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    told = list(read_records(path))
    games = [record for record in told if isinstance(record, GameRecord)]
    assert len(games) > 20 and all(verify(game) is None for game in games)
    assert len(told) - len(games) <= 1 and (len(told) == len(games) or isinstance(told[-1], RecordError))
    # The next match goes on in the same file.
    assert caboose(*call, "--blocks", "1").returncode == 0
    again = [record for record in read_records(path) if isinstance(record, GameRecord)]
    assert len(again) == len(games) + 2


# ------------------------------------------------------------------------------------------- the command


def test_verify_says_what_it_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games"
    assert run(["match", "greedy", "random", *QUICK, "--record", str(path)]) == 0
    capsys.readouterr()
    assert run(["verify", str(path)]) == 0
    told = capsys.readouterr()
    assert re.fullmatch(r"8 games, 8 rounds, [\d,]+ events: 0 problems\n", told.out) and told.err == ""
    (tmp_path / "one").write_text(TEXT, encoding="utf-8")
    assert run(["verify", str(tmp_path / "one"), str(tmp_path / "one")]) == 0
    assert capsys.readouterr().out.startswith("2 games, 6 rounds, ")
    (tmp_path / "nothing").touch()
    assert run(["verify", str(tmp_path / "nothing")]) == 1  # nothing was verified
    nothing = f"{tmp_path / 'nothing'}: there is no game in it\n"
    assert capsys.readouterr().out == f"{nothing}0 games, 0 rounds, 0 events: 1 problem\n"


def test_verify_names_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = TEXT.replace("1 draw 0-2", "1 draw 0-3")
    (tmp_path / "wrong").write_text(TEXT + "\n" + wrong + TEXT[:-4] + TEXT, encoding="utf-8")
    (tmp_path / "junk").write_text("junk\n" + TEXT, encoding="utf-8")
    assert run(["verify", str(tmp_path / "wrong"), str(tmp_path / "junk")]) == 1
    told = capsys.readouterr()
    size = TEXT.count("\n")
    draw = TEXT.splitlines().index("1 draw 0-2") + 1
    first, second, third, last = told.out.splitlines()
    assert first == f"{tmp_path}/wrong:{size + 1 + draw}: 1 draw 0-3, expected 1 draw 0-2"
    assert second.startswith(f"{tmp_path}/wrong:{3 * size + 1}: a game begins within the one that begins in line ")
    assert third == f"{tmp_path}/junk:1: 'junk' stands outside of games, expected game 1"
    assert last.endswith(": 3 problems") and last.startswith("4 games, 12 rounds, ")
    assert told.err == ""


def test_verify_of_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good").write_text(TEXT, encoding="utf-8")
    assert run(["verify", str(tmp_path / "none"), str(tmp_path), str(tmp_path / "good")]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("1 game, 3 rounds, ")
    assert told.err == f"caboose: {tmp_path}/none: No such file or directory\ncaboose: {tmp_path}: Is a directory\n"
    assert run(["verify"]) == 2
    assert "Missing argument" in capsys.readouterr().err


def test_verify_reads_standard_input() -> None:
    told = caboose("verify", "-", stdin=TEXT.encode() + b"\0")
    assert told.returncode == 1 and told.stderr == b""
    assert told.stdout.decode().startswith(f"-:{TEXT.count(chr(10)) + 1}: ")


def test_verify_ends_quietly_when_nobody_reads_on() -> None:
    command = f"{shlex.quote(sys.executable)} -m caboose.cli.main verify - | head -n 1"
    stdin = (TEXT.replace("1 draw 0-2", "1 draw 0-3") * 3000).encode()
    told = subprocess.run(["sh", "-c", command], input=stdin, capture_output=True, timeout=60, check=False)
    assert told.stderr == b"" and told.stdout.count(b"\n") == 1


@pytest.mark.parametrize("name", [b"games \xff", "Dörte\nX".encode(), b"-x"])
def test_verify_of_files_with_odd_names(tmp_path: Path, name: bytes) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    try:
        Path(os.fsdecode(path)).write_bytes(b"junk")
    except OSError:
        pytest.skip("this file system does not take such a name")
    for environment in ({}, {"PYTHONIOENCODING": "ascii"}):
        command = [os.fsencode(sys.executable), b"-m", b"caboose.cli.main", b"verify", path]
        told = subprocess.run(command, capture_output=True, timeout=60, check=False, env=os.environ | environment)
        assert (told.returncode, told.stderr) == (1, b"") and b"'junk' stands outside of games" in told.stdout


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\xff" * 9, b"game 1", b"game 1\n" * 9, b"x" * 10_000_000, TEXT.encode("utf-16")]
)
def test_verify_never_fails(data: bytes) -> None:
    told = caboose("verify", "-", stdin=data)
    assert told.returncode == 1 and told.stderr == b""
    assert told.stdout.count(b"\n") < 12 and max(map(len, told.stdout.splitlines())) < 300
