"""Many rounds at once: the same for any number of threads, and the same game as a round that is stepped through."""

from __future__ import annotations

import random
import signal
import subprocess
import sys

import numpy as np
import pytest

from caboose.engine.policy.playout import policy_move
from caboose.engine.policy.policy_weights import WEIGHTS
from caboose.engine.policy.simulate import POLICIES, simulate
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import PRESETS, Rules
from implementations import random_rules


@pytest.mark.parametrize("policy", POLICIES)
def test_the_threads_do_not_matter_and_the_seed_does(policy: str) -> None:
    rules = Rules.of("classic", 3)
    once = simulate(rules, 3000, policy, seed=7)
    for threads in (2, 3, 0):
        for one, other in zip(once, simulate(rules, 3000, policy, seed=7, threads=threads), strict=True):
            assert np.array_equal(one, other)
    assert np.array_equal(once.scores[:1500], simulate(rules, 1500, policy, seed=7).scores)
    assert not np.array_equal(once.scores, simulate(rules, 3000, policy, seed=8).scores)


def test_results_make_sense_under_all_rules() -> None:
    rng = random.Random(3)
    for _ in range(60):
        rules = random_rules(rng)
        for policy in POLICIES:
            done = simulate(rules, 20, policy, seed=rng.randrange(1000), hub=rng.randrange(rules.set + 1))
            assert done.scores.shape == done.winners.shape == (20, rules.players)
            assert np.array_equal(done.winners, done.scores == done.scores.min(axis=1, keepdims=True))
            assert (done.plays >= 1).all() or rules.hand * rules.players < 8
            assert (done.draws >= 0).all()
            # Nobody goes out in a blocked round, so somebody holds a tile: 0-0 alone may count nothing.
            assert (done.scores[done.blocked].sum(axis=1) > 0).all()


def stepped(
    rules: Rules, policy: str, rounds: int, weights: dict[str, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean scores, plays, draws and blocked rounds of rounds stepped through from Python, and their standard errors."""
    rng = random.Random(policy)
    rows = []
    for seed in range(rounds):
        round_ = Round.deal(rules, seed=[5, seed])
        while not round_.over:
            moves = round_.legal_moves()
            if policy == "random":
                round_.apply(rng.choice(moves))
            else:
                round_.apply(policy_move(round_.observe(round_.turn), policy, weights=weights))
        kinds = [event.kind for event in round_.events]
        rows.append((sum(round_.scores), kinds.count("play"), kinds.count("draw"), round_.blocked))
    table = np.array(rows, float)
    return table.mean(axis=0), table.std(axis=0) / np.sqrt(rounds)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("policy", ["random", "greedy"])
@pytest.mark.parametrize("answer", ["anywhere", "chickenfoot"])
def test_simulated_rounds_are_the_rounds_of_the_rules(preset: str, policy: str, answer: str) -> None:
    """Deals differ, so means are compared; the seeds are fixed, so the result is always the same."""
    rules = Rules.of(preset, 3, double_answer=answer)
    means, errors = stepped(rules, policy, 400)
    done = simulate(rules, 20_000, policy)
    fast = [done.scores.sum(axis=1).mean(), done.plays.mean(), done.draws.mean(), done.blocked.mean()]
    assert (np.abs(means - fast) <= 4 * errors + 0.02).all(), (means, fast, errors)


def test_what_is_wrong_with_a_call_is_said() -> None:
    rules = Rules.of("family", 4)
    with pytest.raises(ValueError, match="unknown policy 'bold': expected one of random, greedy, planner"):
        simulate(rules, 1, "bold")
    for rounds in (-1, 2**31, 2**80, 1.5, "3", None):
        with pytest.raises(ValueError, match=f"rounds {rounds!r}: expected a whole number from 0 to 2147483647"):
            simulate(rules, rounds)  # type: ignore[arg-type]
    for nodes in (-1, 2**31, 1.5):
        with pytest.raises(ValueError, match=f"plan_nodes {nodes!r}: expected a whole number from 0 to 2147483647"):
            simulate(rules, 1, "planner", plan_nodes=nodes)  # type: ignore[arg-type]
    for threads in (-1, 1025, 2.0):
        with pytest.raises(ValueError, match=f"threads {threads}: expected a number of threads up to 1024"):
            simulate(rules, 1, threads=threads)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed -1: expected a whole number of at least 0"):
        simulate(rules, 1, seed=-1)
    for hub in (-1, 13, 1.5):
        with pytest.raises(ValueError, match=f"hub {hub}: a double-12 set has doubles from 0 to 12"):
            simulate(rules, 1, hub=hub)  # type: ignore[arg-type]
    assert simulate(rules, 0).scores.shape == (0, 4)
    assert np.array_equal(simulate(rules, np.int64(3)).scores, simulate(rules, 3).scores)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("policy", "nodes"), [("random", 30), ("planner", 100_000)])
def test_ctrl_c_ends_it_before_its_time(threads: int, policy: str, nodes: int) -> None:
    """What is asked for takes hours, or many minutes."""
    code = f"""if True:
        from caboose.engine import Rules, simulate
        print("ready", flush=True)
        simulate(Rules.of("classic", 2, set=18, hand=40), 20_000_000, "{policy}", threads={threads}, plan_nodes={nodes})
    """
    command = [sys.executable, "-P", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.endswith("KeyboardInterrupt\n")


LOW = {name: weight.min for name, weight in WEIGHTS.items()}
HIGH = {name: weight.max for name, weight in WEIGHTS.items()}


@pytest.mark.parametrize("players, weights", [(2, LOW), (4, {}), (8, HIGH)])
def test_planned_rounds_are_those_of_the_planner(players: int, weights: dict[str, int]) -> None:
    """Playouts rank sets of tiles where the planner ranks moves, and keep their plans, so means are compared."""
    rules = Rules.of("classic", players, first_turn="single", double_answer="anywhere")
    means, errors = stepped(rules, "planner", 250, weights)
    done = simulate(rules, 20_000, "planner", plan_nodes=10_000, weights=weights)
    fast = [done.scores.sum(axis=1).mean(), done.plays.mean(), done.draws.mean(), done.blocked.mean()]
    assert (np.abs(means - fast) <= 4 * errors + 0.02).all(), (means, fast, errors)


def test_every_seat_may_play_in_its_own_way() -> None:
    """Better players have fewer pips left, whichever seat is theirs, and deals do not depend on who plays them."""
    rules = Rules.of("family", 3)
    for seat in range(3):
        ways = ["random"] * 3
        ways[seat] = "planner"
        scores = simulate(rules, 1000, ways, seed=4).scores
        assert scores[:, seat].mean() + 20 < np.delete(scores, seat, axis=1).mean()
    blocked = simulate(Rules.of("classic", 2), 300, ["greedy", "random"], seed=4)
    assert np.array_equal(blocked.scores, simulate(Rules.of("classic", 2), 300, ["greedy", "random"], seed=4).scores)
    assert not np.array_equal(blocked.scores, simulate(Rules.of("classic", 2), 300, "greedy", seed=4).scores)


@pytest.mark.parametrize("preset", PRESETS)
def test_seats_that_are_told_one_by_one_play_as_those_that_are_told_together(preset: str) -> None:
    rules = Rules.of(preset, 4)
    assert all(
        np.array_equal(one, other)
        for one, other in zip(
            simulate(rules, 200, ["greedy"] * 4, seed=2), simulate(rules, 200, "greedy", seed=2), strict=True
        )
    )
    # A planner among planners whose wishes are the same in other words plays their rounds.
    usual = {name: weight.default for name, weight in WEIGHTS.items()}
    mixed = simulate(rules, 200, "planner", seed=2, plan_nodes=[30, 30, 30, 30], weights=[usual, {}, {}, {}])
    together = simulate(rules, 200, "planner", seed=2)
    assert np.abs(mixed.scores.mean() - together.scores.mean()) < 0.5
    assert (mixed.scores == together.scores).all(axis=1).mean() > 0.9


def test_weights_and_tries_of_a_seat_are_its_own() -> None:
    rules = Rules.of("family", 4)
    bad: list[dict[str, int]] = [{"next": 0, "planned": -1, "elsewhere": 20, "double": -500}, {}, {}, {}]
    scores = simulate(rules, 2000, "planner", seed=1, weights=bad).scores.mean(axis=0)
    assert scores[0] > scores[1:].max() + 5
    scores = simulate(rules, 2000, "planner", seed=1, plan_nodes=[1, 100, 100, 100]).scores.mean(axis=0)
    assert scores[0] > scores[1:].max() + 5


def test_what_is_wrong_with_seats_is_said() -> None:
    rules = Rules.of("family", 4)
    with pytest.raises(ValueError, match="policy: 3 for 4 players, expected one for each, or one for all"):
        simulate(rules, 1, ["random"] * 3)
    with pytest.raises(ValueError, match="weights: 2 for 4 players"):
        simulate(rules, 1, "planner", weights=[{}, {}])
    with pytest.raises(ValueError, match="plan_nodes: 5 for 4 players"):
        simulate(rules, 1, "planner", plan_nodes=[1] * 5)
    with pytest.raises(ValueError, match="unknown policy 7: expected one of"):
        simulate(rules, 1, ["random", 7, "greedy", "random"])  # type: ignore[list-item]
    for policy in (7, b"greedy"):
        with pytest.raises(ValueError, match=f"unknown policy {policy!r}: expected one of"):
            simulate(rules, 1, policy)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rules 'classic': expected Rules"):
        simulate("classic", 1)  # type: ignore[arg-type]
    for points in ("x", 10.9, True, None):
        with pytest.raises(ValueError, match=f"weight next {points!r}: expected a whole number from 0 to 500"):
            simulate(rules, 1, "planner", weights={"next": points})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="weights 7: expected a mapping"):
        simulate(rules, 1, "planner", weights=[7, {}, {}, {}])  # type: ignore[list-item]
