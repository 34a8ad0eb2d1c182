"""The exact endgame, against plain max^n on rounds, and what it promises besides."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import BLANKS, CHOICES, Rules, RulesError
from caboose.engine.search.search import Search
from caboose.engine.value.endgame import Solution, solve
from caboose.protocol.notation.notation import observation_text
from tried import tried

ANSWERS: Final = ("anywhere", "own", "chickenfoot")


def any_rules(chance: random.Random, players: int, hand: int, **options: object) -> Rules:
    """Rules of a double-6 set with all options that matter in a round mixed."""
    while True:
        mixed: dict[str, object] = {name: chance.choice(values) for name, values in CHOICES.items()}
        mixed |= {"set": 6, "hand": hand, "blank": chance.choice(BLANKS)}
        try:
            return Rules.of("classic", players, **(mixed | options))
        except RulesError:
            continue


def endgames(count: int, players: int, hand: int, tiles: int, seed: int, **options: object) -> Iterator[Round]:
    """Rounds after random moves, as they stand when the boneyard is empty and at most so many tiles are held."""
    chance = random.Random(f"{players} {hand} {seed}")
    found = 0
    while found < count:
        round_ = Round.deal(any_rules(chance, players, hand, **options), seed=chance.getrandbits(40))
        most = chance.randint(3, tiles)
        while not round_.over and (round_.boneyard_size or sum(round_.hand_sizes) > most):
            round_.apply(chance.choice(round_.legal_moves()))
        if not round_.over:
            found += 1
            yield round_


def value(scores: tuple[int, ...], seat: int, bonus: float = 10.0) -> float:
    """What the scores at the end are worth to a seat."""
    others = [score for other, score in enumerate(scores) if other != seat]
    return sum(others) / len(others) - scores[seat] + (bonus if scores[seat] <= min(others) else 0.0)


def plain_scores(round_: Round) -> tuple[int, ...]:
    """The scores at the end by max^n, as it is written in books, with the ties as the solver has them."""
    if round_.over:
        return round_.scores
    seats = len(round_.hand_sizes)
    seat = round_.turn
    ends = []
    for move in round_.legal_moves():
        after = round_.copy()
        after.apply(move)
        ends.append(plain_scores(after))
    # Values of equal worth must not differ in their last bits.
    return max(ends, key=lambda end: (round(value(end, seat), 6), *(end[(seat + i) % seats] for i in range(1, seats))))


def check(round_: Round) -> None:
    """The solver's values are those of plain max^n, and so are the values after its move."""
    solution = solve(round_)
    seats = range(len(round_.hand_sizes))
    expected = [value(plain_scores(round_), seat) for seat in seats]
    assert solution.solved
    assert solution.values == pytest.approx(expected, abs=1e-6)
    assert solution.move is not None
    after = round_.copy()
    after.apply(solution.move)
    assert [value(plain_scores(after), seat) for seat in seats] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("answer", ANSWERS)
def test_it_agrees_with_plain_maxn(players: int, answer: str) -> None:
    choices = 0
    for round_ in endgames(80, players, 5, 8, 1, double_answer=answer):
        check(round_)
        choices += len(round_.legal_moves()) > 1
    assert choices > 25


def test_it_agrees_with_plain_maxn_when_some_have_their_first_turn_yet() -> None:
    checked = 0
    for round_ in endgames(80, 13, 2, 26, 2, hub="placed", double_answer="anywhere"):
        turns = {event.seat for event in round_.events if event.kind != "draw"}
        if len(turns) < 13 and solve(round_, 10).solved:
            check(round_)
            checked += 1
    assert checked > 10


def test_two_seats_win_what_the_other_loses() -> None:
    for round_ in endgames(60, 2, 6, 14, 3):
        first, second = solve(round_, win_bonus=0.0).values
        assert first == -second
        first, second = solve(round_, win_bonus=7.0).values
        assert first + second == (14.0 if first == second else 7.0)


def test_the_budget_is_kept() -> None:
    cut = 0
    for round_ in endgames(100, 4, 6, 14, 4):
        whole = solve(round_)
        assert whole.solved
        for nodes in {n for n in (1, whole.nodes // 2, whole.nodes - 1) if 0 < n < whole.nodes}:
            assert solve(round_, nodes) == Solution((), None, nodes, False)
            cut += 1
        # A smaller table forgets more.
        enough = solve(round_, 1 + 4 * whole.nodes)
        assert enough.solved
        assert (enough.values, enough.move) == (whole.values, whole.move)
    assert cut > 100


def test_what_cannot_be_solved_is_refused() -> None:
    round_ = Round.deal(Rules.of("family", 2), seed=1)
    with pytest.raises(ValueError, match="58 tiles in the boneyard"):
        solve(round_)
    with pytest.raises(ValueError, match="at least 1"):
        solve(round_, 0)
    while not round_.over:
        round_.apply(round_.legal_moves()[0])
    with pytest.raises(ValueError, match="the round is over"):
        solve(round_)


def test_solving_leaves_nothing_behind() -> None:
    """The same again, whatever was solved between, and the rounds are as they were."""
    rounds = [round_ for players in (2, 3, 4) for round_ in endgames(30, players, 6, 12, 5)]
    copies = [round_.copy() for round_ in rounds]
    first = [solve(round_) for round_ in rounds]
    assert [solve(round_) for round_ in reversed(rounds)] == first[::-1]
    assert rounds == copies


def searches(count: int, tiles: int) -> Iterator[tuple[Round, Search]]:
    """Choices at the end of a round, and searches that solve their worlds."""
    for players in (2, 3, 4):
        for round_ in endgames(count, players, 6, tiles, 6):
            if len(round_.legal_moves()) > 1:
                yield round_, Search(round_.observe(round_.turn), 3, endgame=tiles, truth=round_)


def test_a_search_of_the_truth_finds_what_is_solved() -> None:
    found = 0
    for round_, search in searches(60, 10):
        search.run(search.size)
        seat = round_.turn
        solution = solve(round_)
        after = round_.copy()
        after.apply(search.best)
        value_after = value(after.scores, seat) if after.over else solve(after).values[seat]
        assert value_after == pytest.approx(solution.values[seat], abs=1e-6)
        # The race shows scores without the bonus.
        assert solution.values[seat] - tried(search.candidates())[0].score == pytest.approx(0.0, abs=1e-6) or (
            solution.values[seat] - tried(search.candidates())[0].score == pytest.approx(10.0, abs=1e-6)
        )
        found += 1
    assert found > 50


def test_a_search_that_solves_is_the_same_however_it_is_cut() -> None:
    for round_, _ in searches(10, 12):
        whole, parts = (Search(round_.observe(round_.turn), 3, endgame=12) for _ in range(2))
        whole.run(400)
        while parts.nodes < whole.nodes and not parts.decided:
            parts.run(parts.racing)
        assert parts.candidates()[0] == whole.candidates()[0]


def test_the_only_world_is_solved_once() -> None:
    """Two seats with an empty boneyard hide nothing: the first solution is the answer, and costs have no error."""
    decided = 0
    for round_ in endgames(30, 2, 6, 10, 6):
        if len(round_.legal_moves()) < 2:
            continue
        search = Search(round_.observe(round_.turn), 3, endgame=10)
        search.run(100_000)
        if search.nodes < 1000:
            decided += 1
            assert search.decided
            solution = solve(round_)
            first, second, *_ = tried(search.candidates())
            assert (first.move, first.error) == (search.best, 0)
            # The race shows scores without the bonus.
            assert solution.values[round_.turn] - first.score == pytest.approx(10 * first.win, abs=1e-6)
            assert search.difference(first.move, second.move)[0] >= 0
            assert search.difference(first.move, second.move)[1] == pytest.approx(0, abs=1e-6)
            whole = Search(round_.observe(round_.turn), 3, endgame=10)
            while not whole.decided:
                whole.run(whole.racing)
            assert whole.candidates() == search.candidates()
    assert decided > 10


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process may have more memory than it is allowed")
def test_a_table_that_does_not_fit_is_made_smaller() -> None:
    round_ = next(round_ for round_ in endgames(20, 3, 6, 10, 6) if len(round_.legal_moves()) > 1)
    text = observation_text(round_.observe(round_.turn))
    program = """
import resource, sys
from caboose.engine import Search
from caboose.protocol.notation.notation import parse_observation
seen = parse_observation(sys.stdin.read())
whole = Search(seen, memory=1)
whole.run(300)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
search = Search(seen, memory=4096)
search.run(300)
assert search.solving
print(search.candidates() == whole.candidates())
"""
    done = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_memory_changes_the_time_and_not_the_values() -> None:
    """What is found in a table is what would be found without it."""
    for round_, _ in searches(6, 12):
        seen = round_.observe(round_.turn)
        small, large = (Search(seen, 3, endgame=12, memory=size, truth=round_) for size in (1, 64))
        small.run(100)
        large.run(100)
        assert small.candidates() == large.candidates()


def test_only_the_end_of_a_round_is_solved() -> None:
    round_ = Round.deal(Rules.of("classic", 4, set=6), seed=3)
    assert round_.boneyard_size == 0
    seen = round_.observe(round_.turn)
    held = sum(round_.hand_sizes) - len(seen.hand)
    assert Search(seen, endgame=held).solving
    assert not Search(seen, endgame=held - 1).solving
    assert not Search(seen, endgame=0).solving
    full = Round.deal(Rules.of("family", 4), seed=3)
    assert not Search(full.observe(full.turn), endgame=200).solving
