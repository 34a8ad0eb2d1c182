"""The measuring bots: what they know, what they gain by it, and that nothing mistakes them for players."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from caboose.arena.blocks.block import Bench, Plan, play_block
from caboose.arena.blocks.results import read_result
from caboose.arena.errors import CallError
from caboose.arena.match.standings import Scoreboard
from caboose.bots import BOTS, MEASURING, BotError, create, create_measuring
from caboose.cli.main import run
from caboose.engine.bot_api import Bot, Knowing, Limits
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import TILES, Tile, tile_of
from caboose.engine.search.search import Search
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import GameRecord
from caboose.protocol.referee.referee import play_game
from caboose.protocol.referee.timing import TimeControl
from implementations import random_deal, random_rules
from players import Scripted, contestants_of, lineup_of
from tried import tried

QUICK = ["--rounds", "1", "--blocks", "1", "--players", "2", "--nodes", "20", "--seed", "3"]


def positions(count: int, seed: str) -> Iterator[tuple[Round, Round]]:
    """Choices between moves in random rounds, each twice: the boneyards differ in their order only."""
    rng = random.Random(seed)
    while count:
        rules = random_rules(rng)
        deal = random_deal(rules, rng)
        round_ = Round(rules, deal)
        moves = []
        for _ in range(rng.randrange(40)):
            if round_.over:
                break
            moves.append(rng.choice(round_.legal_moves()))
            round_.apply(moves[-1])
        left = list(round_.boneyard)
        if round_.over or len(round_.legal_moves()) == 1 or len(left) < 2:
            continue
        rng.shuffle(left)
        other = Round(rules, replace(deal, boneyard=(*deal.boneyard[: len(deal.boneyard) - len(left)], *left)))
        for move in moves:
            other.apply(move)
        count -= 1
        yield round_, other


# ------------------------------------------------------------------------------------------------- refusals


def test_they_are_not_among_the_bots() -> None:
    assert set(MEASURING) == {"omniscient", "openhands"}
    assert not set(MEASURING) & set(BOTS)
    for name, kind in MEASURING.items():
        bot = create_measuring(name, Seed=5)
        assert isinstance(bot, Bot) and isinstance(bot, Knowing)
        assert bot.name == name == kind.name
        own = [option for option in bot.options if option != "Shown"]
        assert own == list(create("mcts").options)
        with pytest.raises(BotError, match=rf"^{name} sees all hands.*no opponent.*--in-process"):
            create(name)
        with pytest.raises(CallError, match="no opponent"):
            contestants_of([name, "planner"])
    for name in BOTS:
        assert not isinstance(create(name), Knowing)
        with pytest.raises(BotError, match="expected one of omniscient, openhands"):
            create_measuring(name)


@pytest.mark.parametrize("name", MEASURING)
def test_commands_refuse_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    matches = ["match", name, "greedy", *QUICK], ["match", "greedy", name, *QUICK]
    for call in (["engine", name], ["check", name], *matches):
        assert run(call) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"caboose: {name} sees all hands") and told.err.count("\n") == 1
    for call in (["engine", "--help"], ["match", "--help"]):
        assert run(call) == 0
        offered = capsys.readouterr().out.split("--engine")[0]
        assert "mcts" in offered
        assert name not in offered


def test_an_option_that_they_lack_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "openhands", "greedy", "--in-process", *QUICK, "--option", "openhands.Sed=1"]) == 2
    assert "openhands has no option 'Sed'" in capsys.readouterr().err


@pytest.mark.parametrize("name", MEASURING)
def test_an_observation_is_not_enough(name: str) -> None:
    round_ = Round.deal(Rules.of("family", 2), seed=4)
    seen = round_.observe(round_.turn)
    bot = create_measuring(name)
    with pytest.raises(ValueError, match="expected the round itself"):
        bot.choose(seen, Limits(nodes=5))
    another = Round.deal(Rules.of("family", 2), seed=5, starter=round_.turn)
    with pytest.raises(ValueError, match="another round than the one observed"):
        bot.choose_knowing(another, seen, Limits(nodes=5))


# --------------------------------------------------------------------------------------- what is told of them


@pytest.mark.parametrize(("name", "sees"), [("omniscient", "all hands and the boneyard"), ("openhands", "all hands")])
def test_a_match_says_that_one_took_part(
    name: str, sees: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, record = tmp_path / "result.json", tmp_path / "games.txt"
    files = ["--json", str(result), "--record", str(record)]
    assert run(["match", "greedy", name, "--in-process", *QUICK, *files]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"{name} is a measuring bot: it sees {sees}." in told
    assert told.count("measuring") == 1
    assert [played.measuring for played in read_result(result).contestants] == ["", sees]
    assert [played["measuring"] for played in json.loads(result.read_text())["contestants"]] == ["", sees]
    games = list(read_records(record))
    assert len(games) == 2
    for game in games:
        assert isinstance(game, GameRecord)
        said = {player.name: dict(player.fields).get("measuring") for player in game.players}
        assert said == {"greedy": None, name: f"sees {sees}"}
    assert run(["verify", str(record)]) == 0


def test_a_match_without_them_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "greedy", "random", "--in-process", *QUICK]) == 0
    assert "measuring" not in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ the referee


class Meddler(Scripted):
    """Is told the round, and plays on in what it was given."""

    def __init__(self) -> None:
        super().__init__(self.refuse)
        self.told: list[tuple[Round, Observation]] = []

    def refuse(self, observation: Observation, limits: Limits) -> Move:
        """Nobody asks it this way."""
        raise AssertionError("asked without the round")

    def choose_knowing(self, round_: Round, observation: Observation, limits: Limits) -> Move:
        """The first legal move, after it played it."""
        self.told.append((round_.copy(), observation))
        move = round_.legal_moves()[0]
        round_.apply(move)
        return move


def test_the_referee_tells_the_round_to_who_declares_it_alone() -> None:
    rules = Rules.of("family", 3, rounds=2)
    meddler = Meddler()
    others = [Scripted(lambda seen, limits: seen.legal_moves()[0]) for _ in range(2)]
    game = Game(rules, seed=7)
    result = play_game(game, [others[0], meddler, others[1]], TimeControl(nodes=5), fallback=create("greedy"))
    assert not result.tainted
    assert len(meddler.told) == result.seats[1].decisions > 0
    for round_, seen in meddler.told:
        assert seen.seat == round_.turn == 1
        assert round_.observe(1, seen.past_scores) == seen
    # The others play as if nobody knew anything.
    plain = [Scripted(lambda seen, limits: seen.legal_moves()[0]) for _ in range(3)]
    again = play_game(Game(rules, seed=7), plain, TimeControl(nodes=5), fallback=create("greedy"))
    assert again.rounds == result.rounds


# ---------------------------------------------------------------------------------------------- what they know


@pytest.mark.parametrize("name", MEASURING)
def test_choices_are_legal_and_come_again_under_all_rules(name: str) -> None:
    for round_, _ in positions(80, name):
        before = round_.copy()
        seen = round_.observe(round_.turn)
        move = create_measuring(name).choose_knowing(round_, seen, Limits(nodes=60))
        assert move in seen.legal_moves()
        assert round_ == before
        assert create_measuring(name).choose_knowing(round_, seen, Limits(nodes=60)) is move


def test_only_omniscient_depends_on_the_order_of_the_boneyard() -> None:
    choices: dict[str, int] = dict.fromkeys(MEASURING, 0)
    for one, other in positions(120, "order"):
        assert one.observe(one.turn) == other.observe(other.turn)
        for name in MEASURING:
            bot = create_measuring(name)
            moves = [bot.choose_knowing(r, r.observe(r.turn), Limits(nodes=100)) for r in (one, other)]
            choices[name] += moves[0] is not moves[1]
    assert choices["openhands"] == 0
    assert choices["omniscient"] > 10


def endgame(other_hand: tuple[Tile, Tile], next_tile: Tile) -> Round:
    """Seat 1 holds 6-1 and 6-2, of which the second goes down in its next turn. Seat 2 has nothing for the hub 6-6 and
    draws first."""
    hands = (tile_of(1, 6), tile_of(2, 6)), other_hand
    used = {*hands[0], *other_hand, tile_of(6, 6), next_tile}
    rest = [tile for tile in TILES[:28] if tile not in used]
    return Round(Rules.of("family", 2, set=6, hand=2), Deal(6, hands, (next_tile, *rest), 0))


def scores_expected(round_: Round, open_boneyard: bool) -> dict[str, float]:
    """What a search that sees the hands expects of each move."""
    search = Search(round_.observe(0), 1, truth=round_, open_boneyard=open_boneyard)
    search.run(400)
    return {str(move): value for move, _, value, *_ in tried(search.candidates())}


HEAVY = tile_of(3, 3), tile_of(4, 4)
LIGHT = tile_of(0, 1), tile_of(0, 2)


def test_omniscient_sees_what_will_be_drawn() -> None:
    """1-5 can be played where 6-1 lies on the Mexican train, and stays in the hand otherwise; 2-5 likewise with 6-2."""
    ends_with_1, ends_with_2 = endgame(HEAVY, tile_of(1, 5)), endgame(HEAVY, tile_of(2, 5))
    assert scores_expected(ends_with_1, True) == {"6-1@1": 20, "6-2@1": 20, "6-1@M": 14, "6-2@M": 20}
    assert scores_expected(ends_with_2, True) == {"6-1@1": 21, "6-2@1": 21, "6-1@M": 21, "6-2@M": 14}
    assert scores_expected(ends_with_1, False) == scores_expected(ends_with_2, False)


def test_openhands_sees_the_hands() -> None:
    """The drawn tile is worth 0 to 10 pips, and the two that the other seat keeps 14 or 3."""
    heavy, light = endgame(HEAVY, tile_of(1, 5)), endgame(LIGHT, tile_of(1, 5))
    assert heavy.observe(0) == light.observe(0)
    assert all(14 < value < 24 for value in scores_expected(heavy, False).values())
    assert all(0 < value < 13 for value in scores_expected(light, False).values())


def test_who_is_shown_nothing_guesses_like_mcts() -> None:
    for round_, _ in positions(30, "nothing"):
        seen = round_.observe(round_.turn)
        mcts, blind = create("mcts", Seed=2), create_measuring("openhands", Seed=2, Shown=0)
        assert blind.choose_knowing(round_, seen, Limits(nodes=100)) is mcts.choose(seen, Limits(nodes=100))


def test_what_is_shown_of_the_hands_is_true() -> None:
    known = hidden = 0
    for round_, _ in positions(60, "shown"):
        seat = round_.turn
        where = {tile: row for row, hand in enumerate(round_.hands) if row != seat for tile in hand}
        where.update(dict.fromkeys(round_.boneyard, round_.rules.players))
        seen = round_.observe(seat)
        even, inferred = (
            Search(seen, 3, truth=round_, open_boneyard=False, shown=0.5, inference=weight).believed(100)
            for weight in (0.0, 0.07)
        )
        sure = [tile for tile in where if even[:, tile.id].max() > 0.999]
        assert all(even[where[tile], tile.id] > 0.999 and inferred[where[tile], tile.id] > 0.999 for tile in sure)
        known += len(sure)
        hidden += len(where)
    assert 0.45 < known / hidden < 0.8


def test_knowing_more_plays_better() -> None:
    """A fixed set of deals, so the result is always the same."""
    margins = {}
    for name in ("mcts", "openhands", "omniscient"):
        lineup = lineup_of(contestants_of([name, "planner"], [], [], measuring=True), 3)
        rules = Rules.of("family", 3, rounds=1)
        plan = Plan(rules=rules, lineup=lineup, control=TimeControl(nodes=100), seed=1, in_process=True)
        board = Scoreboard(["hero", "planner"], lineup.entries)
        with Bench(plan) as bench:
            for block in range(16):
                board.add(play_block(plan, bench, block, lambda: None))
        hero, _ = board.standings()
        assert hero.margin.mean is not None and not hero.faults
        margins[name] = hero.margin.mean
    assert margins["openhands"] > margins["mcts"] + 8
    assert margins["omniscient"] > margins["openhands"] + 8
