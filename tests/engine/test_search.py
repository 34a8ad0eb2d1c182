"""The search: the same result however it is cut up, times that are kept, levels, and what a game needs."""

from __future__ import annotations

import itertools
import math
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pytest

from caboose.bots import create
from caboose.bots.mcts import LEVELS, MctsBot
from caboose.engine.belief.belief import Belief
from caboose.engine.bot_api import Info, Limits
from caboose.engine.policy.playout import policy_move
from caboose.engine.policy.policy_weights import WEIGHTS
from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.engine.search.search import MAX_THREADS, POLICIES, Search, game_chances
from paths import DOCS
from tried import tried

FAMILY = Rules.of("family", 4)

T = TypeVar("T")


def choices(rules: Rules, seed: int, after: int = 0) -> Observation:
    """A real choice, the first one after so many moves."""
    round_ = Round.deal(rules, seed=seed)
    for number in itertools.count():
        legal = round_.legal_moves()
        if number >= after and len(legal) > 1:
            return round_.observe(round_.turn)
        round_.apply(legal[number % len(legal)])
    raise AssertionError


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 4, 8])
def test_threads_and_portions_do_not_matter(preset: str, players: int) -> None:
    seen = choices(Rules.of(preset, players), 5, after=players)
    whole = Search(seen, 3)
    whole.run(3000)
    portions = Search(seen, 3)
    for portion in (700, 1, 299, 1500, 500):
        portions.run(portion)
    # What is left of a portion that is less than a world is lost, so the numbers of worlds may differ a little.
    portions.run(whole.nodes - portions.nodes)
    assert portions.candidates() == whole.candidates()
    with ThreadPoolExecutor(MAX_THREADS) as pool:
        for threads in (2, 3, MAX_THREADS):
            threaded = Search(seen, 3, threads=threads)
            threaded.run(3000, pool)
            assert threaded.candidates() == whole.candidates()
            assert (threaded.nodes, threaded.worlds) == (whole.nodes, whole.worlds)


class Counting(ThreadPoolExecutor):
    """A pool that knows how many worlds its threads had a part in."""

    worlds = 0

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        self.worlds += args[-1]
        return super().submit(fn, *args, **kwargs)


def test_threads_work_from_the_first_world_on() -> None:
    """Also in portions of a millisecond, which are a few worlds where those are inferred."""
    seen = choices(FAMILY, 8, after=20)
    with Counting(1) as pool:
        search = Search(seen, 3, threads=2, confidence=math.inf)
        for _ in range(40):
            search.run(20 * search.racing, pool)
        assert search.worlds > 400
        assert pool.worlds > 0.9 * search.worlds


def test_a_bot_with_threads_plays_the_same() -> None:
    seen = choices(FAMILY, 8, after=6)
    infos: list[Info] = []
    moves = {create("mcts", Threads=n).choose(seen, Limits(nodes=4000, report=infos.append)) for n in (1, 2, 4)}
    assert len(moves) == 1
    assert infos[0].candidates == infos[1].candidates == infos[2].candidates


def test_wrong_calls_are_refused() -> None:
    seen = choices(FAMILY, 1)
    for threads in (0, -1, MAX_THREADS + 1):
        with pytest.raises(ValueError, match=f"threads {threads}: expected 1 to {MAX_THREADS}"):
            Search(seen, threads=threads)
    for name, value in [
        *[(name, -1) for name in ("confidence", "win_bonus", "game_weight", "noise", "endgame", "inference", "memory")],
        *[(name, math.nan) for name in ("confidence", "win_bonus", "game_weight", "inference")],
        ("plan_nodes", 0),
        ("plan_nodes", 2**31 - 1),
        ("noise", 2**31 - 1),
        ("seed", -1),
        ("seed", 2**63),
        ("game_weight", 1.5),
        ("inference", math.inf),
    ]:
        with pytest.raises(ValueError, match=f"{name} .*: expected"):
            Search(seen, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="float"):
        Search(seen, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="policy 'wild': expected one of planner, greedy, random"):
        Search(seen, policy="wild")
    with pytest.raises(ValueError, match="a search in 2 threads needs a pool"):
        Search(seen, threads=2).run(100)


def test_playouts_are_played_as_told() -> None:
    scores = {}
    for policy in POLICIES:
        seen = choices(FAMILY, 8, after=6)
        search = Search(seen, 1, policy=policy)
        search.run(2000)
        assert create("mcts", Seed=1, Playouts=policy).choose(seen, Limits(nodes=2000)) == search.best
        scores[policy] = [candidate.score for candidate in search.candidates()]
    assert len({tuple(row) for row in scores.values()}) == len(POLICIES)


def test_candidates_say_how_sure_they_are() -> None:
    search = Search(choices(FAMILY, 3), 1, confidence=math.inf)
    assert [candidate.visits for candidate in search.candidates()] == [0] * search.size
    assert search.lead == 0.0
    search.run(200 * search.size)
    early = tried(search.candidates())
    search.run(1800 * search.size)
    late = tried(search.candidates())
    assert {candidate.visits for candidate in late} == {2000}
    assert all(0.2 < b.error / a.error * math.sqrt(10) < 5 for a, b in zip(early, late, strict=True))
    assert all(0 <= candidate.win <= 1 for candidate in late)
    assert search.best == late[0].move
    assert 0 <= search.lead < math.inf
    alone = Search(choices(FAMILY, 3), 1, confidence=0.0)
    alone.run(200 * alone.size)
    assert alone.decided
    assert alone.lead == math.inf


def test_the_time_for_a_move_is_kept() -> None:
    """No more than the limit, and a forced move at once. The clock of a busy machine allows no more than this."""
    seen = choices(FAMILY, 3)
    bot = create("mcts", Confidence=10_000, Overhead=0)
    infos: list[Info] = []
    bot.choose(seen, Limits(movetime=30, report=infos.append))
    assert infos[-1].nodes > 0
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    start = time.monotonic()
    bot.choose(seen, Limits(infinite=True, stop=stop))
    assert time.monotonic() - start < 20


def test_a_close_race_gets_more_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = MctsBot()
    budget = bot._budget(choices(FAMILY, 3), Limits(clock=60_000, increment=100))
    assert budget is not None
    assert 0 < budget.usual < budget.most <= 0.3 * 60
    assert bot._budget(choices(FAMILY, 3), Limits(movetime=50)) == (0.048, 0.048)
    assert bot._budget(choices(FAMILY, 3), Limits(movetime=50, infinite=True)) == (0.048, 0.048)
    assert bot._budget(choices(FAMILY, 3), Limits(infinite=True)) is None
    nearly_out = bot._budget(choices(FAMILY, 3), Limits(clock=1))
    assert nearly_out == (0.0, 0.0)


def test_time_goes_where_it_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that says 1 ms more each time it is asked: so long takes each portion of a search, on any machine."""
    ticks = itertools.count()
    monkeypatch.setattr("caboose.bots.mcts.time.perf_counter", lambda: 0.001 * next(ticks))
    limits = Limits(clock=2000)
    ended = set()
    for seed in range(12):
        seen = choices(FAMILY, seed, after=4 * seed)
        budget = MctsBot()._budget(seen, limits)
        assert budget is not None
        said: list[Info] = []
        limits.report = said.append
        create("mcts", Seed=seed).choose(seen, limits)
        took = said[-1].time / 1000 - 0.001  # the report asks once more
        assert took < budget.most
        if took < 0.9 * budget.usual:
            ended.add("decided")
            more = Search(seen, seed)
            more.run(said[-1].nodes + 1000)
            assert more.decided and more.nodes == said[-1].nodes
        else:
            ended.add("clear" if took < 1.1 * budget.usual else "close")
    assert ended == {"decided", "clear", "close"}


def test_levels_play_worse_and_worse_but_not_at_random() -> None:
    """Over many positions, what a level gives away by the judgement of a long search grows as levels fall."""
    lost = dict.fromkeys((1, 5, 9, 10), 0.0)
    worst = 0.0
    for seed in range(40):
        seen = choices(FAMILY, seed, after=seed % 20)
        search = Search(seen, 1, confidence=math.inf)
        search.run(400 * search.size)
        score = {candidate.move: candidate.score for candidate in tried(search.candidates())}
        worst += max(score.values()) - sum(score.values()) / len(score)
        for level in lost:
            move = create("mcts", Level=level, Seed=seed).choose(seen, Limits(nodes=2000))
            lost[level] += max(score.values()) - score[move]
    assert lost[1] > lost[5] > lost[9] >= lost[10]
    assert lost[1] < worst
    assert list(LEVELS) == list(range(1, 10))


def test_a_level_plays_nothing_that_it_takes_for_bad() -> None:
    """What seems worse by more than its slip is never played, and what seems nearly as good is."""
    excluded, second = 0, dict.fromkeys((1, 4, 7), 0)
    for seed in range(40):
        seen = choices(FAMILY, seed, after=seed % 20)
        for number in second:
            said: list[Info] = []
            move = create("mcts", Level=number, Seed=seed).choose(seen, Limits(report=said.append))
            score = {candidate.move: candidate.score for candidate in tried(said[-1].candidates)}
            lost = {move: max(score.values()) - value for move, value in score.items()}
            assert lost[move] <= LEVELS[number].slip
            second[number] += lost[move] > 0
            excluded += sum(pips > LEVELS[number].slip for pips in lost.values())
    assert excluded > 60
    assert second[1] > second[7] > 0


def test_what_a_game_needs() -> None:
    rules = Rules.of("family", 3)
    past = [(0, 0, 0)] * (rules.rounds - 1)
    assert game_chances(rules, past, (10, 11, 50)) == (1.0, 0.0, 0.0)
    assert game_chances(rules, past, (10, 10, 50)) == (0.5, 0.5, 0.0)
    assert game_chances(rules, past[1:], (20, 20, 20)) == pytest.approx([1 / 3] * 3)
    early, late = (game_chances(rules, past[:n], (0, 30, 30))[0] for n in (1, rules.rounds - 2))
    assert 1 / 3 < early < late < 1
    with pytest.raises(ValueError, match="expected 3 numbers in each"):
        game_chances(rules, [(1, 2)], (1, 2, 3))


def test_chances_in_a_game_are_those_of_played_games() -> None:
    """Of games in which planners play the rest, as many are won as the chance says, within a few per cent."""
    rules = Rules.of("family", 3)
    left = 3
    sums = simulate(rules, 3000 * left, "planner", seed=4).scores.reshape(3000, left, 3).sum(axis=1)
    past = [(0, 0, 0)] * (rules.rounds - left - 1)
    for start in ((0, 0, 0), (0, 20, 40), (60, 0, 30)):
        totals = sums + np.array(start)
        best = totals == totals.min(axis=1, keepdims=True)
        shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
        assert np.abs(shares - game_chances(rules, past, start)).max() < 0.06


def test_in_the_last_round_only_the_game_counts() -> None:
    """Who is hopelessly behind has nothing to choose between moves; who is not, has."""
    round_ = Round.deal(FAMILY, seed=3)
    racing = {}
    for behind in (0, 100_000):
        row = tuple(behind if seat == round_.turn else 10 for seat in range(4))
        search = Search(round_.observe(round_.turn, [row] * (FAMILY.rounds - 1)), 1, game_weight=1.0, confidence=1.0)
        search.run(4000)
        racing[behind] = search.racing
    assert racing[100_000] == search.size
    assert racing[0] < search.size


def test_what_others_chose_says_where_tiles_are() -> None:
    """Over rounds of planners the true place of each hidden tile is thought likelier when their choices count."""
    gains = []
    for seed in range(10):
        round_ = Round.deal(FAMILY, seed=[78, seed])
        number = 0
        while not round_.over:
            legal = round_.legal_moves()
            seen = round_.observe(round_.turn)
            number += len(legal) > 1
            if number == 30 and len(legal) > 1:
                hands = [*round_.hands, round_.boneyard]
                holders = [(row, tile.id) for row, hand in enumerate(hands) if row != seen.seat for tile in hand]
                without, searched, told = (
                    sum(math.log(cells[at] + 0.002) for at in holders)
                    for cells in (
                        Search(seen, 1, inference=0.0).believed(300),
                        Search(seen, 1, inference=0.07).believed(300),
                        Belief(seen).matrix(300, 1, inference=0.07),
                    )
                )
                gains.append((searched - without, told - without))
                break
            round_.apply(policy_move(seen, "planner") if len(legal) > 1 else legal[0])
    assert len(gains) >= 8
    assert all(mean > 1 for mean in np.mean(gains, axis=0))


def test_worlds_agree_with_what_is_proved_whatever_others_chose() -> None:
    """Choices make worlds more or less likely, never impossible ones possible; the rows add up."""
    for players, preset in ((2, "family"), (5, "classic"), (9, "tournament")):
        rules = Rules.of(preset, players)
        for after in (players, 5 * players):
            seen = choices(rules, 4, after=after)
            search = Search(seen, 2)
            belief = Belief(seen)
            proved = belief.matrix(2000)
            for found in (search.believed(200), told := belief.matrix(200, 3, inference=0.07)):
                assert np.allclose(found.sum(axis=1)[:-1], seen.hand_sizes)
                assert found[-1].sum() == pytest.approx(seen.boneyard_size)
                assert not found[proved == 0].any() or found[proved == 0].max() < 0.02
            assert np.array_equal(told, belief.matrix(200, 3, inference=0.07))
            before = search.candidates()
            search.run(500)
            other = Search(seen, 2)
            other.run(500)
            assert search.candidates() == other.candidates() != before
    with pytest.raises(ValueError, match="samples 0: expected at least 1"):
        search.believed(0)


def test_of_equal_moves_the_first_candidate_is_played() -> None:
    """Where hands are nearly known several moves come to the same in every world."""
    equal = 0
    for seed in range(4):
        round_ = Round.deal(Rules.of("family", 2, set=6, hand=13), seed=seed)
        while not round_.over:
            if len(round_.legal_moves()) > 1:
                search = Search(round_.observe(round_.turn), 1)
                search.run(300)
                first, second, *_ = search.candidates()
                assert search.best == first.move
                equal += first.visits == second.visits and first.score == second.score
            round_.apply(policy_move(round_.observe(round_.turn), "planner"))
    assert equal > 5


def test_scores_may_be_as_great_as_a_line_can_say() -> None:
    round_ = Round.deal(FAMILY, seed=3)
    most = 10**15 - 1
    seen = round_.observe(round_.turn, [tuple(most if seat == 1 else 0 for seat in range(4))])
    search = Search(seen, game_weight=1.0)
    search.run(100)
    assert search.nodes > 0
    assert game_chances(FAMILY, seen.past_scores, (most, 0, 0, 0)) == pytest.approx((0, 0, 0.5, 0.5))


def test_the_page_tells_the_options_as_they_are() -> None:
    page = (DOCS / "explanation" / "search.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| (`\w+` \|.*) \|$", page.partition("\n## Options\n")[2].partition("\n## ")[0], re.MULTILINE)
    rows = []
    for option in MctsBot.declared:
        choices = ("true", "false") if option.type == "check" else option.choices
        values = " ".join(f"`{value}`" for value in choices) or f"{option.min} to {option.max}"
        values = values.replace(str(2**63 - 1), "2^63 − 1")
        default = f"`{str(option.default).lower()}`" if choices else option.default
        rows.append(f"`{option.name}` | {values} | {default} | {option.help}")
    assert told == rows


def test_weights_of_playouts() -> None:
    seen = choices(FAMILY, 5, after=4)
    plain = Search(seen, 1)
    told = Search(seen, 1, weights={name: weight.default for name, weight in WEIGHTS.items()})
    other = Search(seen, 1, weights={"elsewhere": 200, "double": -100})
    for search in (plain, told, other):
        search.run(400)
    assert plain.candidates() == told.candidates() != other.candidates()
    for weights, words in (
        ({"nothing": 1}, "weight 'nothing': expected one of next, "),
        ({"planned": 0}, "weight planned 0: expected -500 to -1"),
    ):
        with pytest.raises(ValueError, match=words):
            Search(seen, 1, weights=weights)
