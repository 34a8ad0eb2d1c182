"""What Python shows of the game: seats count from 0, no number is invented, what makes no sense is refused at once."""

from __future__ import annotations

import ast
import inspect
import math
import pickle
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import caboose.engine.bot_api
import caboose.engine.search.search
from caboose.bots import create
from caboose.engine import (
    MEXICAN,
    STOP,
    Belief,
    Candidate,
    Event,
    Info,
    Limits,
    Move,
    Observation,
    Round,
    Search,
)
from caboose.engine.rules.seats import SeatError, written
from caboose.protocol.messages import info_line, parse_info_line
from paths import ROOT
from staged_rounds import family, staged

RULES = family(2, 4)
# Seat 0 has one move, 6-5 on its own train or on the Mexican one; seat 1 none but 6-1.
ROUND = Round(RULES, staged(RULES, ["6-5 5-5 1-2 0-3", "6-1 4-4 3-3 2-2"], boneyard="1-1 0-5"))


def replay(*events: Event, **options: Any) -> Observation:
    given: dict[str, Any] = {"hub": 6, "seat": 0, "starter": 0, "hand": ROUND.hands[0]} | options
    return Observation.replay(RULES, events=events, **given)


def play(seat: int, text: str) -> Event:
    move = Move.parse(text)
    return Event("play", seat, move.tile, move)


# What is called, what its error says in Python, and what the same error says in text.
ERRORS: list[tuple[Callable[[], object], str, str]] = [
    (
        lambda: ROUND.apply(Move.parse("4-4@2")),
        "4-4 on train 1 is not legal for seat 0: expected one of 6-5 on train 0, ",
        "4-4@2 is not legal for seat 1: expected one of 6-5@1 6-5@M",
    ),
    (
        lambda: ROUND.observe(1).legal_moves(),
        "seat 1 is not to move: it is the turn of seat 0",
        "seat 2 is not to move: it is the turn of seat 1",
    ),
    (lambda: Search(ROUND.observe(1)), "seat 1 is not to move", "seat 2 is not to move"),
    (lambda: create("greedy").choose(ROUND.observe(1), Limits()), "seat 1 is not to move", "seat 2 is not to move"),
    (
        lambda: Search(ROUND.observe(0), moves=[STOP]),
        "moves stop: expected legal ones",
        "moves stop: expected legal ones",
    ),
    (
        lambda: Search(ROUND.observe(0)).difference(Move.parse("6-5@1"), Move.parse("6-5@M")),
        "6-5 on train 0 and 6-5 on MEXICAN were not tried",
        "6-5@1 and 6-5@M were not tried",
    ),
    (lambda: replay(seat=2), "seat 2: expected 0 to 1", "seat 3: expected 1 to 2"),
    (lambda: replay(starter=-1), "starter -1: expected 0 to 1", "starter 0: expected 1 to 2"),
    (
        lambda: replay(play(1, "6-1@2")),
        "event 1: it is the turn of seat 0, not of seat 1",
        "event 1: it is the turn of seat 1, not of seat 2",
    ),
    (
        lambda: replay(play(0, "5-6@2"), hand=[tile for tile in ROUND.hands[0] if 6 not in tile]),
        "event 1: 5-6 on train 1 does not fit: the open places are 6 on train 0, 6 on MEXICAN",
        "event 1: 5-6@2 does not fit: the open places are 6@1 6@M",
    ),
    (lambda: replay(Event("draw", 0)), "a draw of seat 0 does not show", "a draw of seat 1 does not show"),
    (
        lambda: replay(Event("draw", 0, Move.parse("5-5@1").tile)),
        "hand: 4 tiles do not agree with the events: seat 0 would have been dealt 3",
        "hand: 4 tiles do not agree with the events: seat 1 would have been dealt 3",
    ),
    (
        lambda: replay(Event("mark", 0)),
        "seat 0 holds a tile that can be played",
        "seat 1 holds a tile that can be played",
    ),
]


@pytest.mark.parametrize("call, python, text", ERRORS)
def test_errors_count_seats_from_0_in_python_and_from_1_in_text(
    call: Callable[[], object], python: str, text: str
) -> None:
    with pytest.raises(SeatError) as raised:
        call()
    assert python in str(raised.value)
    assert text in written(raised.value)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), written(again)) == (str(raised.value), written(raised.value))


def test_no_error_of_the_engine_adds_1_to_a_seat() -> None:
    for source in [*(ROOT / "engine").glob("*.py"), *(ROOT / "engine").glob("*.pyx")]:
        raised = re.findall(r"raise \w+\((?:[^()]|\([^()]*\))*\)", source.read_text(encoding="utf-8"))
        assert [text for text in raised if re.search(r"(seat|starter|turn|players?) \+ 1|train_name", text)] == [], (
            source
        )


def test_what_python_shows_of_a_move_counts_from_0_and_makes_the_move() -> None:
    names = {"Move": Move, "MEXICAN": MEXICAN, "STOP": STOP}
    for text in ("5-12@1", "12-5@14", "12-12@M", "0-0@3", "stop"):
        move = Move.parse(text)
        assert eval(repr(move), names) is move
    assert repr(Move.parse("5-12@3")) == "Move.of((5, 12), train=2, match=5)"
    assert "train=1" in repr(play(1, "6-1@2")) and "seat=1" in repr(play(1, "6-1@2"))
    assert "seat 0 to move" in repr(ROUND)


# Limits.


@pytest.mark.parametrize("name", ["movetime", "clock", "increment", "allowance", "roundcap", "gamecap"])
@pytest.mark.parametrize("value", ["x", "5", -5, -0.001, math.nan, -math.inf, True, [1], 1j, 10**400])
def test_a_time_that_is_none_is_refused_at_once(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} .*: expected milliseconds, a number of at least 0"):
        Limits(**{name: value})


@pytest.mark.parametrize("name", ["nodes", "playouts"])
@pytest.mark.parametrize("value", ["x", "5", 0, -5, 1.5, 2.0, math.inf, True, [1]])
def test_a_count_that_is_none_is_refused_at_once(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} .*: expected a whole number of at least 1"):
        Limits(**{name: value})


@pytest.mark.parametrize("name, value", [("infinite", 1), ("infinite", "no"), ("stop", True), ("report", "print")])
def test_other_limits_that_make_no_sense(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} .*: expected"):
        Limits(**{name: value})


def test_limits_that_make_sense() -> None:
    for value in (0, 0.0, 2, 2.5, math.inf, 10**15):
        assert Limits(movetime=value).movetime == value
    assert Limits(nodes=1, playouts=10**9, infinite=True, stop=threading.Event(), report=print).nodes == 1


# Candidates.


def test_there_is_one_class_of_candidates() -> None:
    assert vars(caboose.engine.search.search)["Candidate"] is caboose.engine.bot_api.Candidate is Candidate
    assert Candidate._fields == ("move", "visits", "score", "error", "win")
    said: list[Info] = []
    create("mcts").choose(ROUND.observe(0), Limits(nodes=200, report=said.append))
    search = Search(ROUND.observe(0), **create("mcts").settings(RULES))  # type: ignore[attr-defined]
    search.run(200)
    assert list(said[-1].candidates) == search.candidates()


def alone() -> Observation:
    """What a seat sees that has one legal move."""
    round_ = Round(RULES, staged(RULES, ["6-5 1-2 0-3 0-1", "1-1 4-4 3-3 2-2"]))
    round_.apply(Move.parse("6-5@1"))
    while len(round_.legal_moves()) > 1:
        round_.apply(round_.legal_moves()[0])
    return round_.observe(round_.turn)


@pytest.mark.parametrize("seen", [alone(), ROUND.observe(0)], ids=["one move", "some moves"])
def test_what_was_not_looked_at_has_no_score(seen: Observation) -> None:
    search = Search(seen)
    for candidate in search.candidates():
        assert candidate == Candidate(candidate.move, 0)
        assert (candidate.score, candidate.error, candidate.win) == (None, None, None)
    said: list[Info] = []
    stop = threading.Event()
    stop.set()
    create("mcts").choose(seen, Limits(movetime=0, infinite=True, stop=stop, report=said.append))
    for info in said:
        assert (info.score is None) == (info.nodes == 0)
    nothing = Info(time=1.0, candidates=search.candidates())
    assert info_line(nothing) == "info time 1 nodes 0 nps 0"
    assert parse_info_line(info_line(nothing)) == Info(time=1.0)


def test_a_move_alone_is_looked_at_when_somebody_asks() -> None:
    seen = alone()
    (move,) = seen.legal_moves()
    said: list[Info] = []
    assert create("mcts").choose(seen, Limits(nodes=50, report=said.append)) == move
    assert said == []  # nothing was asked that the rules do not answer
    assert create("mcts").choose(seen, Limits(nodes=50, infinite=True, report=said.append)) == move
    assert said[-1].nodes > 0 and said[-1].score is not None
    assert create("mcts").choose(seen, Limits(infinite=True, report=said.append)) == move  # and this ends
    search = Search(seen, moves=[move])
    search.run(100)
    (candidate,) = search.candidates()
    assert candidate.visits == search.nodes > 0
    assert search.decided and search.best == move and search.lead == math.inf
    assert candidate.score is not None and candidate.error is not None and candidate.win is not None


def test_one_world_says_nothing_of_the_error() -> None:
    search = Search(ROUND.observe(0))
    search.run(search.racing)
    assert {(c.visits, c.error, c.score is None) for c in search.candidates()} == {(1, None, False)}


# Signatures.


def stub_parameters(stub: Path, name: str) -> dict[str, tuple[str | None, bool]]:
    """The parameters of a class of ``stub``: the default as it is written, if any, and whether it goes by name only."""
    classes = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ClassDef)]
    (kind,) = [node for node in classes if node.name == name]
    (made,) = [node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    plain, named = made.args.args[1:], made.args.kwonlyargs
    defaults = [None] * (len(plain) - len(made.args.defaults)) + list(made.args.defaults)
    found: dict[str, tuple[str | None, bool]] = {}
    for arguments, values, keyword in ((plain, defaults, False), (named, made.args.kw_defaults, True)):
        for argument, value in zip(arguments, values, strict=True):
            found[argument.arg] = (None if value is None else ast.unparse(value), keyword)
    return found


@pytest.mark.parametrize("kind, module", [(Search, "search/search"), (Round, "rules/round"), (Belief, "belief/belief")])
def test_inspect_knows_the_parameters_of_compiled_classes(kind: type, module: str) -> None:
    shown = inspect.signature(kind)
    stub = stub_parameters(ROOT / "engine" / f"{module}.pyi", kind.__name__)
    assert [*shown.parameters] == [*stub]
    for name, (default, keyword) in stub.items():
        parameter = shown.parameters[name]
        assert parameter.default == (inspect.Parameter.empty if default is None else eval(default))
        assert (parameter.kind is inspect.Parameter.KEYWORD_ONLY) == keyword
