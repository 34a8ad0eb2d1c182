"""What a seat cannot know does not reach its process: neither by what it is sent, nor by what lies around.

A seat's input is compared between worlds that differ only in what the seat cannot know. They come from
``Belief``, which has its own tests.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from caboose.arena.blocks.block import deal_seed
from caboose.bots import create
from caboose.cli.main import run
from caboose.engine.belief.belief import Belief
from caboose.engine.bot_api import Limits
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event, Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.messages import go_line
from caboose.protocol.notation.observation import observation_lines
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from implementations import choose, random_rounds
from players import Scripted, engine_command, without_warning

Writer = Callable[[Round, int], list[str]]

# --- what it is sent ---------------------------------------------------------------------------------------------


def public(events: Sequence[Event], seat: int) -> list[Event]:
    """What a seat sees of events, worked out here and not in the core: the tile of a draw is its drawer's alone."""
    return [e._replace(tile=None) if e.kind == "draw" and e.seat != seat else e for e in events]


def sent(round_: Round, seat: int) -> list[str]:
    """What the seat's process is sent when it is asked."""
    return [*observation_lines(round_.observe(seat)), go_line(1, Limits(nodes=10))]


def play_on(round_: Round, count: int, style: str, rng: random.Random) -> None:
    """Plays at most ``count`` moves."""
    for _ in range(count):
        if not round_.over:
            legal = {str(move): move for move in round_.legal_moves()}
            round_.apply(legal[choose(list(legal), round_.turn, style, rng)])


def chosen(event: Event) -> Move | None:
    """The move that an event was, if it was one. A chain ends by a move or by itself: nobody can tell."""
    return STOP if event.kind == "stop" else event.move


def inputs(
    rules: Rules, deal: Deal, told: Sequence[Event], seat: int, write: Writer
) -> tuple[dict[int, list[str]], int]:
    """Plays a world for as long as the seat sees what it saw in ``told``: its input at each of its turns, by the number
    of events before it, and at which event the difference became public."""
    round_ = Round(rules, deal)
    found: dict[int, list[str]] = {}
    seen = public(told, seat)
    while True:
        events = public(round_.events, seat)
        same = next((n for n, (one, other) in enumerate(zip(events, seen, strict=False)) if one != other), len(events))
        if same < len(events) or round_.over:
            return found, same
        if round_.turn == seat:
            found[same] = write(round_, seat)
        move = chosen(told[same]) if same < len(told) and told[same].seat == round_.turn else None
        if move is None or move not in round_.legal_moves():
            return found, same
        round_.apply(move)


def check_worlds(count: int, write: Writer) -> tuple[int, int]:
    """Compares random rounds with other worlds; at how many turns, and how many of the differences became public."""
    turns = shown = 0
    for rules, deal, style, rng in random_rounds(count, "secrecy"):
        seat = rng.randrange(rules.players)
        round_ = Round(rules, deal)
        play_on(round_, rng.randrange(60), style, rng)
        known = len(round_.events)
        hidden = Belief(round_.observe(seat)).deal(rng.getrandbits(40))
        play_on(round_, 400, style, rng)
        one, end = inputs(rules, deal, round_.events, seat, write)
        assert end == len(round_.events)
        other, end = inputs(rules, hidden, round_.events, seat, write)
        # Until the seat saw what it saw nothing may differ, and from then on whatever it did not see may show.
        assert end >= known
        assert other == {number: text for number, text in one.items() if number <= end}
        turns += len(other)
        shown += end < len(round_.events)
    return turns, shown


def test_the_input_of_a_seat_is_the_same_until_the_difference_is_public() -> None:
    turns, shown = check_worlds(300, sent)
    assert turns > 1000
    assert shown > 180  # the worlds do differ


LEAKS: dict[str, Callable[[Round, int], object]] = {
    "the boneyard": lambda round_, seat: round_.boneyard,
    "its last tile": lambda round_, seat: round_.boneyard[-1:],
    "a hand": lambda round_, seat: round_.hands[seat - 1],
    "pips of a hand": lambda round_, seat: sum(tile.low + tile.high for tile in round_.hands[seat - 1]) % 2,
    "a drawn tile": lambda round_, seat: round_.events,
}


@pytest.mark.parametrize("leak", LEAKS)
def test_the_comparison_finds_leaks(leak: str) -> None:
    with pytest.raises(AssertionError):
        check_worlds(60, lambda round_, seat: [*sent(round_, seat), str(LEAKS[leak](round_, seat))])


EAR = (
    "import sys\nclass Ear:\n    def __iter__(self): return self\n    def __next__(self):\n"
    "        line = sys.__stdin__.readline()\n        if not line: raise StopIteration\n"
    "        open(sys.argv[1], 'a').write(line)\n        return line\nsys.stdin = Ear()\n"
)


class Repeating(Scripted):
    """A player that makes the moves of its script for as long as they are legal."""

    def __init__(self, script: dict[int, Move]) -> None:
        super().__init__(self.next_move)
        self.script = script

    def next_move(self, observation: Observation, limits: Limits) -> Move:
        legal = observation.legal_moves()
        move = self.script.get(len(observation.events))
        return move if move in legal else legal[0]


def heard_in_a_game(folder: Path, rules: Rules, seat: int, deals: Sequence[Deal], script: dict[int, Move]) -> str:
    """All that the process on ``seat`` is sent in a game; the others play by the script."""
    heard = folder / "heard"
    heard.unlink(missing_ok=True)
    with EngineProcess([*engine_command(folder, before=EAR), str(heard)]) as engine:
        players = [Repeating(script) for _ in range(rules.players)]
        table = [engine if number == seat else player for number, player in enumerate(players)]
        result = play_game(Game(rules, deals=deals), table, TimeControl(nodes=10), fallback=create("greedy"))
        assert not result.tainted
    return heard.read_text(encoding="ascii")


@pytest.mark.parametrize("preset", ["family", "classic", "tournament"])
def test_a_process_hears_the_same_in_whole_games(tmp_path: Path, preset: str) -> None:
    """The bytes that come through the pipe, in a game of two rounds whose second one differs wholly."""
    rules = Rules.of(preset, 3, rounds=2)
    rng = random.Random(preset)
    for number in range(3):
        seat = rng.randrange(3)
        game = Game(rules, seed=rng.getrandbits(60))
        first, round_ = game.deal, game.round
        stop = rng.randrange(5, 40)
        seen = round_.observe(seat)
        while not round_.over:
            legal = round_.legal_moves()
            move = legal[0] if round_.turn == seat else rng.choice(legal)
            if round_.turn == seat and len(legal) > 1 and len(round_.events) < stop:
                seen = round_.observe(seat)
            round_.apply(move)
        moves = {at: chosen(event) for at, event in enumerate(round_.events)}
        script = {at: move for at, move in moves.items() if move is not None}
        game.finish_round()
        second = game.deal
        others = [Belief(seen).deal(rng.getrandbits(40)), Deal.random(rules, second.hub, number, None)]
        if rules.starter == "rotate":
            others[1] = Deal.random(rules, second.hub, number, second.starter)
        one = heard_in_a_game(tmp_path, rules, seat, [first, second], script)
        other = heard_in_a_game(tmp_path, rules, seat, others, script)
        assert one != other
        last = one.index("\n".join(["", *observation_lines(seen), "go "]))
        assert one[:last] == other[:last]


# --- what lies around --------------------------------------------------------------------------------------------

SEED = 918273645546372819
SNOOP = """
import os, sys
def look(path):
    try:
        return open(path, 'rb').read()
    except OSError:
        return b''
with open(os.path.join(os.path.dirname(sys.argv[0]), 'found'), 'ab') as found:
    for pid in filter(str.isdigit, os.listdir('/proc')):
        for name in ('cmdline', 'environ'):
            found.write(look(f'/proc/{pid}/{name}') + b'\\n')
"""


def match_call(folder: Path, *more: str) -> list[str]:
    command = shlex.join(engine_command(folder, before=SNOOP))
    call = [sys.executable, "-m", "caboose.cli.main", "match", "greedy", command, "--players", "2", "--rounds", "1"]
    return [*call, "--set", "9", "--json", str(folder / "result"), *more]


def test_a_seed_from_standard_input_is_seen_by_nobody(tmp_path: Path) -> None:
    # By engines of workers, beside built-in engines.
    call = match_call(tmp_path, "--seed", "-", "--blocks", "2", "--concurrency", "2")
    done = subprocess.run(call, input=f"{SEED}\n", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, without_warning(done.stderr)) == (0, "")
    assert json.loads((tmp_path / "result").read_text(encoding="utf-8"))["seed"] == str(SEED)
    found = (tmp_path / "found").read_bytes()
    assert b"caboose.cli.main" in found
    assert str(SEED).encode() not in found


def test_a_seed_in_the_call_is_seen(tmp_path: Path) -> None:
    # So that the test above would find one; and so the help says.
    call = match_call(tmp_path, "--seed", str(SEED), "--blocks", "1", "--in-process")
    done = subprocess.run(call, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert str(SEED).encode() in (tmp_path / "found").read_bytes()


@pytest.mark.parametrize(("given", "shown"), [("", "''"), ("x\n", "'x'"), ("-1\n", "'-1'"), ("9" * 2000, "'999")])
def test_a_seed_that_is_none(
    given: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "seed"
    file.write_text(given, encoding="ascii")
    with file.open(encoding="ascii") as source:
        monkeypatch.setattr(sys, "stdin", source)
        assert run(["match", "greedy", "random", "--seed", "-"]) == 2
    assert f"--seed -: standard input begins with {shown}" in capsys.readouterr().err


def test_seeds_that_nobody_can_guess_go_through_a_hash() -> None:
    words = {tuple(deal_seed(seed, block)) for seed in (1 << 64, (1 << 64) + 1, 1 << 127) for block in range(20)}
    assert len(words) == 60
    assert all(len(four) == 4 and all(0 <= word < 1 << 32 for word in four) for four in words)
    digest = hashlib.sha256(b"18446744073709551616 7").hexdigest()
    assert "".join(f"{word:08x}" for word in deal_seed(1 << 64, 7)) == digest[:32]


PRIED = """
import os, sys, time
from caboose.protocol.process.child import Child
from caboose.protocol.process.hide import hide
hide()
code = ("import sys\\ntry:\\n open(f'/proc/{sys.argv[1]}/mem', 'rb')\\nexcept OSError: sys.exit(3)")
child = Child([sys.executable, "-c", code, str(os.getpid())])
child.wait(time.monotonic() + 30)
child.reap()
child.close_pipes()
print(child.returncode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_memory_of_a_referee_is_hidden_without_a_sandbox_too() -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is hidden from the superuser")
    done = subprocess.run([sys.executable, "-c", PRIED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "3\n"
