"""Time controls and clocks: what a seat is told, what it has, what it has left."""

from __future__ import annotations

import pytest

from caboose.bots import create
from caboose.bots.mcts import MctsBot
from caboose.engine.bot_api import Limits
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import SeatClock, TimeControl


def test_a_bank_pays_only_for_what_is_beyond_the_allowance() -> None:
    clock = SeatClock(TimeControl(clock=1000, allowance=100))
    assert clock.allowed() == 1100
    clock.spend(60)
    assert clock.allowed() == 1100
    clock.spend(400)
    assert clock.allowed() == 800
    assert clock.limits() == Limits(clock=700, increment=0, allowance=100)
    clock.spend(800)
    assert clock.allowed() == 100  # the bank is empty, the allowance is not
    clock.spend(130)  # the margin forgave 30 ms …
    assert clock.limits().clock == 0
    assert clock.allowed() == 70  # … once


def test_an_increment_is_added_after_each_move() -> None:
    clock = SeatClock(TimeControl(clock=1000, increment=50))
    clock.spend(300)
    assert clock.allowed() == 750
    assert clock.limits() == Limits(clock=750, increment=50, allowance=0)


def test_caps_add_up_and_that_of_a_round_begins_anew() -> None:
    clock = SeatClock(TimeControl(movetime=500, roundcap=800, gamecap=1500))
    assert clock.allowed() == 500
    clock.spend(450)
    assert clock.limits() == Limits(movetime=500, roundcap=350, gamecap=1050)
    assert clock.allowed() == 350
    clock.new_round()
    assert clock.allowed() == 500
    clock.spend(500)
    clock.new_round()
    clock.spend(450)
    assert clock.allowed() == 100
    clock.spend(120)
    assert clock.limits().gamecap == 0
    assert clock.allowed() == -20


def test_grace_is_for_the_first_move_and_costs_nothing() -> None:
    clock = SeatClock(TimeControl(clock=1000, grace=500))
    assert clock.allowed() == 1500
    assert clock.limits().clock == 1000
    clock.spend(450)
    assert clock.allowed() == 1000
    clock = SeatClock(TimeControl(movetime=100, grace=500))
    clock.spend(550)
    assert clock.allowed() == 100


@pytest.mark.parametrize("control", [TimeControl(nodes=5), TimeControl(playouts=5, grace=100), TimeControl()])
def test_without_a_time_only_the_guard_limits(control: TimeControl) -> None:
    clock = SeatClock(control)
    assert clock.allowed() is None
    assert not control.timed
    assert clock.limits() == Limits(nodes=control.nodes, playouts=control.playouts)
    clock.spend(1e6)
    assert clock.allowed() is None


@pytest.mark.parametrize("name", ["movetime", "clock", "roundcap", "gamecap"])
def test_every_time_is_one(name: str) -> None:
    assert TimeControl(**{name: 5.0}).timed  # type: ignore[arg-type]


def test_controls_in_words() -> None:
    assert str(TimeControl(clock=30_000, allowance=100)) == "30 s a game beyond 0.1 s a move"
    assert str(TimeControl(clock=30_000, allowance=100, increment=50)) == (
        "30 s a game and 0.05 s a move beyond 0.1 s a move"
    )
    assert str(TimeControl(movetime=20, roundcap=5000, gamecap=60_000)) == (
        "20 ms a move, at most 5 s a round, at most 60 s a game"
    )
    assert str(TimeControl(playouts=1500)) == "1,500 playouts a move"


def budget(limits: Limits) -> float:
    """The most seconds that ``mcts`` gives a move at the start of a game of four."""
    round_ = Round.deal(Rules.of("family", 4), seed=1)
    bot = create("mcts", Overhead="0")
    assert isinstance(bot, MctsBot)
    found = bot._budget(round_.observe(round_.turn), limits)
    assert found is not None
    return found.most


def test_mcts_keeps_within_every_kind_of_limit() -> None:
    plain = budget(Limits(clock=60_000, increment=0))
    assert budget(Limits(clock=60_000, increment=0, allowance=200)) == pytest.approx(plain + 0.2)
    assert budget(Limits(clock=0, allowance=200)) == pytest.approx(0.2)
    assert budget(Limits(gamecap=60_000)) == plain
    assert plain < budget(Limits(roundcap=60_000)) < 30  # it has to last for fewer moves
    assert budget(Limits(roundcap=60_000, movetime=100)) == 0.1
    assert budget(Limits(roundcap=100, gamecap=60_000)) < 0.1


def test_mcts_counts_playouts_as_nodes() -> None:
    round_ = Round.deal(Rules.of("family", 4), seed=1)
    seen = round_.observe(round_.turn)
    counts = []
    for limits in (Limits(nodes=300), Limits(playouts=300), Limits(nodes=300, playouts=10_000)):
        limits.report = lambda info: counts.append(info.nodes)
        create("mcts").choose(seen, limits)
    assert len(counts) == 3 and len(set(counts)) == 1 and counts[0] <= 300
