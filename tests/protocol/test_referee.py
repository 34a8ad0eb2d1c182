"""One refereed game: who is asked what, what it costs, and what a fault does."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from caboose.engine.bot_api import Info, Limits
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.process import EngineProcess, close_all
from caboose.protocol.referee.referee import GameResult, play_game
from caboose.protocol.referee.timing import TimeControl
from games import RELAXED, play
from players import Chooser, Scripted, engine_command, first_legal, is_alive, last_legal


def facts(result: GameResult) -> list[object]:
    """What must not depend on clocks."""
    seats = [(seat.total, seat.place, seat.decisions, seat.fault and seat.fault.kind) for seat in result.seats]
    return [result.rounds, seats]


class Clock:
    """Time that passes only where it is said to. Bots in this process are timed by it."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def slow(self, seconds: float, chooser: Chooser = first_legal) -> Chooser:
        """``chooser``, which takes so long."""

        def choose(observation: Observation, limits: Limits) -> Move:
            self.now += seconds
            return chooser(observation, limits)

        return choose


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("caboose.protocol.referee.referee.time", clock)
    return clock


# ------------------------------------------------------------------------------------------------ a clean game


@pytest.mark.parametrize("preset", ["classic", "tournament", "family"])
def test_a_whole_game(preset: str) -> None:
    result = play([Scripted(), Scripted(last_legal), Scripted()], rounds=4, preset=preset)
    hub = Rules.of(preset, 3).set
    assert [round.hub for round in result.rounds] == [hub, hub - 1, hub - 2, hub - 3]
    assert all(round.complete and round.plays > 3 for round in result.rounds)
    assert [seat.total for seat in result.seats] == [sum(r.scores[i] for r in result.rounds) for i in range(3)]
    assert sorted(seat.place for seat in result.seats)[0] == 1
    best = min(seat.total for seat in result.seats)
    assert all(result.seats[winner].total == best for winner in result.winners)
    assert not result.tainted


def test_the_same_game_twice() -> None:
    bots = [Scripted(), Scripted(last_legal)]
    assert facts(play(bots, rounds=3)) == facts(play(bots, rounds=3))
    assert facts(play(bots, rounds=3)) != facts(play(bots, rounds=3, seed=2))


def test_only_choices_are_asked_and_counted() -> None:
    bots = [Scripted() for _ in range(4)]
    result = play(bots, rounds=2)
    for seat, (bot, fared) in enumerate(zip(bots, result.seats, strict=True)):
        assert fared.decisions == len(bot.asked) > 0
        assert bot.games == 1
        for observation in bot.asked:
            assert observation.seat == observation.turn == seat
            assert len(observation.legal_moves()) > 1
    assert sum(len(bot.asked) for bot in bots) < sum(round.plays for round in result.rounds)


def test_players_see_the_scores_of_earlier_rounds() -> None:
    bot = Scripted()
    result = play([bot, Scripted()], rounds=3)
    scores = tuple(round.scores for round in result.rounds)
    assert {observation.past_scores for observation in bot.asked} == {scores[:0], scores[:1], scores[:2]}


def test_a_log_plays_the_game_again() -> None:
    rules = Rules.of("classic", 3, rounds=3)
    bots = [Scripted(), Scripted(last_legal), Scripted()]
    result = play_game(Game(rules, seed=5), bots, RELAXED, fallback=Scripted(), recording=True)
    for number, told in enumerate(result.rounds):
        assert told.log is not None
        again = Round(rules, told.log.deal)
        while not again.over:
            # A chain that ends by itself writes the same event as one that is stopped.
            event = told.log.events[len(again.events)]
            again.apply(event.move or STOP)
        assert again.events == told.log.events
        assert again.scores == told.scores
        asked = sum(len(o.past_scores) == number for bot in bots for o in bot.asked)
        assert len(told.log.decisions) == asked
        assert all(told.log.events[made.event].kind in ("play", "stop") for made in told.log.decisions)
    assert all(round.log is None for round in play(bots).rounds)


def test_a_log_has_the_scores_that_players_expect(tmp_path: Path) -> None:
    command = engine_command(tmp_path, "say('info time 1 score -2.5'); say('info string no score')")

    def reporting(observation: Observation, limits: Limits) -> Move:
        assert limits.report is not None
        limits.report(Info(score=1.0))
        limits.report(Info(score=3.25))
        return first_legal(observation, limits)

    with EngineProcess(command) as engine:
        result = play([engine, Scripted(reporting), Scripted()], recording=True)
    log = result.rounds[0].log
    assert log is not None
    scores = {log.events[made.event].seat: made.score for made in log.decisions}
    assert scores == {0: -2.5, 1: 3.25, 2: None}


def test_the_number_of_bots_must_fit() -> None:
    game = Game(Rules.of("family", 3, rounds=1))
    with pytest.raises(ValueError, match="2 bots for 3 players"):
        play_game(game, [Scripted(), Scripted()], RELAXED, fallback=Scripted())
    with pytest.raises(ValueError, match="on_fault 'shrug': expected one of fallback, forfeit"):
        play([Scripted(), Scripted()], on_fault="shrug")


# ---------------------------------------------------------------------------------------------------- time


def test_limits_are_handed_on() -> None:
    for control in (TimeControl(movetime=1234), TimeControl(nodes=77)):
        bot = Scripted()
        play([bot, Scripted()], control=control)
        assert {(got.movetime, got.nodes, got.clock) for got in bot.limits} == {(control.movetime, control.nodes, None)}


def test_the_clock_runs_for_a_whole_game_and_only_while_asked(clock: Clock) -> None:
    bot, other = Scripted(clock.slow(0.002)), Scripted()
    result = play([bot, other], rounds=2, control=TimeControl(clock=60_000, increment=1))
    clocks = [limits.clock for limits in bot.limits if limits.clock is not None]
    assert len(clocks) == result.seats[0].decisions > 3
    assert clocks[0] == 60_000
    assert {limits.increment for limits in bot.limits} == {1}
    assert all(later < before for before, later in pairwise(clocks))
    spent = 60_000 + len(clocks[:-1]) - clocks[-1]  # with an increment for each move but the last
    assert spent == pytest.approx(2 * len(clocks[:-1]))
    assert result.seats[0].time == pytest.approx(2 * len(clocks))
    assert result.seats[0].slowest == pytest.approx(2)
    assert other.limits[-1].clock == 60_000 + len(other.limits[:-1])


def test_a_clock_that_has_run_out_is_a_fault(clock: Clock) -> None:
    result = play([Scripted(clock.slow(0.02)), Scripted()], control=TimeControl(clock=30, margin=0))
    assert result.seats[0].fault is not None
    assert result.seats[0].fault.kind == "late"
    assert result.seats[0].fault.decision == 2


def test_the_margin_of_a_clock_is_given_once_and_not_at_each_move(clock: Clock) -> None:
    result = play([Scripted(clock.slow(0.02)), Scripted()], rounds=13, control=TimeControl(clock=30, margin=60))
    fault = result.seats[0].fault
    assert fault is not None and fault.kind == "late"
    assert fault.decision == 5  # 30 ms and 60 ms of margin are four moves


@pytest.mark.parametrize(
    "bad",
    [
        {"movetime": 0},
        {"movetime": float("nan")},
        {"clock": -1},
        {"clock": float("inf")},
        {"nodes": 0},
        {"guard": 0},
        {"margin": -1, "movetime": 1},
        {"increment": 1},
    ],
)
def test_time_controls_that_make_no_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected a number|needs a clock"):
        TimeControl(**bad)


def test_time_controls_in_words() -> None:
    assert str(TimeControl(movetime=20)) == "20 ms a move"
    assert str(TimeControl(clock=60_000, increment=500)) == "60 s a game and 0.5 s a move"
    assert str(TimeControl(nodes=2000)) == "2,000 nodes a move"


# --------------------------------------------------------------------------------- faults of bots in this process


def raises(observation: Observation, limits: Limits) -> Move:
    raise RuntimeError("one line\nand another")


def illegal(observation: Observation, limits: Limits) -> Move:
    moves = observation.legal_moves()
    return next(m for m in (Move.parse("0-0@1"), Move.parse("1-1@1"), STOP) if m not in moves)


def nonsense(observation: Observation, limits: Limits) -> Any:
    return "12-5@1"


@pytest.mark.parametrize(
    ("chooser", "seconds", "kind", "words"),
    [
        (raises, 0, "dead", "raised RuntimeError: one line and another"),
        (illegal, 0, "illegal", "the legal moves were"),
        (illegal, 0.0149, "illegal", "the legal moves were"),
        (nonsense, 0, "garbled", "returned str, expected Move"),
        (first_legal, 0.0151, "late", "took 15.1 ms, allowed were 15.0 ms with the margin"),
        (illegal, 0.0151, "late", "took 15.1 ms, allowed were 15.0 ms with the margin"),
    ],
)
def test_a_fault_costs_its_own_seat_the_game(clock: Clock, chooser: Any, seconds: float, kind: str, words: str) -> None:
    bad, fallback = Scripted(clock.slow(seconds, chooser)), Scripted()
    control = TimeControl(movetime=5, margin=10)
    others = [Scripted(), Scripted(last_legal)]
    result = play([others[0], bad, others[1]], rounds=3, control=control, fallback=fallback)
    fault = result.seats[1].fault
    assert fault is not None
    assert (fault.kind, fault.round, fault.decision) == (kind, 1, 1)
    assert words in fault.detail and "\n" not in fault.detail
    assert len(bad.asked) == 1 == result.seats[1].decisions  # it is not asked again
    assert len(fallback.asked) > 2
    assert len(result.rounds) == 3 and all(round.complete for round in result.rounds)  # the game goes on
    assert result.seats[1].place == 3
    assert {result.seats[0].place, result.seats[2].place} == {1, 2}
    assert result.seats[0].fault is None is result.seats[2].fault
    assert result.tainted and 1 not in result.winners


def test_a_seat_with_a_fault_is_last_also_with_the_lowest_total() -> None:
    def fails_late(observation: Observation, limits: Limits) -> Move:
        if len(observation.past_scores) == 2:
            raise RuntimeError("enough")
        return first_legal(observation, limits)

    for seed in range(20):
        result = play([Scripted(fails_late), Scripted(last_legal)], rounds=3, seed=seed)
        assert [seat.place for seat in result.seats] == [2, 1]
        if result.seats[0].total < result.seats[1].total:
            break
    else:
        pytest.fail("it never had the lowest total")


def test_when_all_fail_nobody_wins() -> None:
    result = play([Scripted(raises), Scripted(illegal)])
    assert [seat.place for seat in result.seats] == [2, 2]
    assert result.winners == ()
    assert result.rounds[0].complete


def test_forfeit_ends_the_game() -> None:
    def fails_late(observation: Observation, limits: Limits) -> Move:
        if len(observation.past_scores) == 1:
            raise RuntimeError("enough")
        return first_legal(observation, limits)

    fallback = Scripted()
    result = play([Scripted(), Scripted(fails_late)], rounds=5, on_fault="forfeit", fallback=fallback)
    assert [round.complete for round in result.rounds] == [True, False]
    assert result.seats[1].fault is not None and result.seats[1].fault.round == 2
    assert [seat.place for seat in result.seats] == [1, 2]
    assert fallback.asked == []
    assert sum(result.rounds[1].scores) > 0  # the pips in the hands where it stopped


def test_keyboard_interrupt_is_no_fault() -> None:
    def interrupted(observation: Observation, limits: Limits) -> Move:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play([Scripted(), Scripted(interrupted)])


# -------------------------------------------------------------------------------------------- engine processes


def test_processes_play_as_bots_in_this_process_do(tmp_path: Path) -> None:
    command = engine_command(tmp_path)
    with EngineProcess(command) as one, EngineProcess(command) as two:
        mixed = play([one, Scripted(last_legal), two], rounds=3)
    alone = play([Scripted(), Scripted(last_legal), Scripted()], rounds=3)
    assert facts(mixed) == facts(alone)
    assert mixed.seats[0].time > 0


def test_engines_play_many_games(tmp_path: Path) -> None:
    with EngineProcess(engine_command(tmp_path)) as engine:
        pid = engine.pid
        results = [play([engine, Scripted()], seed=seed) for seed in range(5)]
        assert engine.pid == pid
    assert not any(result.tainted for result in results)
    assert pid is not None and not is_alive(pid)


@pytest.mark.parametrize(
    ("on_go", "kind", "control"),
    [
        ("if asked == 3: sys.exit(3)", "dead", RELAXED),
        ("if asked == 3: sys.stdin.read()", "late", TimeControl(movetime=500, margin=100)),
        ("if asked == 3: say('bestmove ' + words[1] + ' banana')", "garbled", RELAXED),
    ],
)
def test_a_fault_of_an_engine(tmp_path: Path, on_go: str, kind: str, control: TimeControl) -> None:
    engine = EngineProcess(engine_command(tmp_path, on_go), margin=control.margin)
    with engine:
        first = engine.pid
        result = play([Scripted(), engine], control=control, rounds=2)
        fault = result.seats[1].fault
        assert fault is not None
        assert (fault.kind, fault.round, fault.decision) == (kind, 1, 3)
        assert result.seats[1].place == 2 and len(result.rounds) == 2
        assert first is not None and not is_alive(first)  # it does not think on while others are on the clock
        again = play([engine, Scripted()], control=control)  # the next game finds it started anew
        assert again.seats[0].decisions == 3
        second = engine.pid
    assert second is None or not is_alive(second)


def test_an_engine_that_does_not_start(tmp_path: Path) -> None:
    result = play([EngineProcess([str(tmp_path / "nothing")]), Scripted()])
    fault = result.seats[0].fault
    assert fault is not None
    assert (fault.kind, fault.round, fault.decision) == ("start", 1, 0)
    assert result.rounds[0].complete and result.seats[0].decisions == 0
    forfeited = play([EngineProcess([str(tmp_path / "nothing")]), Scripted()], on_fault="forfeit")
    assert [round.complete for round in forfeited.rounds] == [False]


def test_engines_are_gone_after_an_exception(tmp_path: Path) -> None:
    class Bug(Exception):
        pass

    engine = EngineProcess(engine_command(tmp_path))
    fallback = Scripted()

    def buggy(observation: Observation, limits: Limits) -> Move:
        raise Bug

    fallback.chooser = buggy
    engine.start()
    pid = engine.pid
    with pytest.raises(Bug), engine:
        play([engine, Scripted(raises)], fallback=fallback)
    assert pid is not None and not is_alive(pid)


def test_fourteen_players_and_nineteen_rounds_through_processes(tmp_path: Path) -> None:
    command = engine_command(tmp_path)
    engines = [EngineProcess(command) for _ in range(14)]
    try:
        result = play(engines, rounds=19, preset="classic")
    finally:
        close_all(engines)
    assert [round.hub for round in result.rounds] == list(range(18, -1, -1))
    assert not result.tainted
    assert sorted(seat.place for seat in result.seats)[0] == 1
    assert all(engine.pid is None for engine in engines)
