"""``verify``: a record of a game that can have happened is right, and the line that is wrong is named."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from caboose.engine.rules.moves import STOP
from caboose.engine.rules.round import Event, Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.protocol.records.records import GameRecord, event_words, record_text
from caboose.protocol.records.verify import verify
from implementations import random_rules
from record_samples import play_record, problems, read
from reference import ReferenceGame, ReferenceRound

TEXT = record_text(play_record())
FAULTY = record_text(play_record(on_fault="fallback"))
FORFEITED = record_text(play_record(on_fault="forfeit"))
BLOCKED = next(
    text
    for text in (record_text(play_record(Rules.of("family", 4, set=6, hand=6, rounds=1), seed)) for seed in range(99))
    if " blocked\n" in text
)
ROTATING = record_text(play_record(Rules.of("family", 3, set=6, hand=7, rounds=3), committed=False))


def number_of(pattern: str, text: str = TEXT, which: int = 1) -> int:
    """The number of the first line, or of a later one, that matches."""
    return [number for number, line in enumerate(text.splitlines(), 1) if re.match(pattern, line)][which - 1]


def line_of(pattern: str, text: str = TEXT, which: int = 1) -> str:
    """That line."""
    return text.splitlines()[number_of(pattern, text, which) - 1]


def changed(text: str, number: int, *lines: str) -> str:
    """``text`` with other lines in the place of that number."""
    told = text.splitlines()
    told[number - 1 : number] = lines
    return "\n".join([*told, ""])


def check(text: str, number: int, *parts: str) -> None:
    """That just this line is named, and how."""
    (problem,) = problems(text)
    assert str(problem).startswith(f"file:{number}: "), str(problem)
    for part in parts:
        assert part in str(problem)


# ---------------------------------------------------------------------------------------- what is right


@pytest.mark.parametrize("seed", range(60))
def test_games_by_the_rules_are_right(seed: int) -> None:
    rules = random_rules(random.Random(seed))
    rules = rules.with_options(rounds=min(rules.rounds, 3))
    for how in ("", "fallback", "forfeit"):
        record = play_record(rules, seed, committed=seed % 5 > 0, on_fault=how)
        assert verify(record) is None
        assert problems(record_text(record)) == []


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 5, 9])
def test_the_presets(preset: str, players: int) -> None:
    assert problems(record_text(play_record(Rules.of(preset, players)))) == []


def test_a_fault_before_the_first_decision() -> None:
    text = changed(FORFEITED, number_of("fault", FORFEITED), "fault 3 round 1 decision 0 start it does not")
    untimed = "\n".join(line.split(" time ")[0] for line in text.splitlines())
    assert problems(untimed.replace("places 1 3 2", "places 2 1 3")) == []


# ------------------------------------------------------------------------------- what is wrong, by its kind


def test_a_wrong_first_line_of_a_round() -> None:
    at = number_of("round 2")
    check(changed(TEXT, at, "round 3 hub 5 starter 1"), at, "round 3, expected round 2")
    check(changed(TEXT, at, "round 2 hub 4 starter 1"), at, "hub 4, expected hub 5, as the hubs count down")
    message = "starter 2, expected starter 1, as that seat has the hub"
    check(changed(TEXT, at, "round 2 hub 5 starter 2"), at, message)


def test_the_first_turn_goes_round() -> None:
    (record,) = read(ROTATING)
    assert isinstance(record, GameRecord) and verify(record) is None
    first = record.rounds[0].starter
    third, wrong = (first + 2) % 3 + 1, first + 1
    at = number_of("deal", ROTATING, 3)
    line = line_of("deal", ROTATING, 3).replace(f"starter {third}", f"starter {wrong}")
    message = f"deal: starter {wrong}, expected starter {third}, as the first turn goes round"
    check(changed(ROTATING, at, line), at, message)
    at = number_of("round 1", ROTATING)
    wrong = first % 3 + 2 if first % 3 < 2 else 1
    deal = number_of("deal", ROTATING)
    message = f"starter {wrong}, expected starter {first + 1}, as in line {deal}"
    check(changed(ROTATING, at, f"round 1 hub 6 starter {wrong}"), at, message)


def test_wrong_events() -> None:
    at = number_of(". draw")
    line = line_of(". draw")  # 1 draw 0-2
    assert line == "1 draw 0-2"
    check(changed(TEXT, at, "1 draw 0-3"), at, "1 draw 0-3, expected 1 draw 0-2")
    check(changed(TEXT, at, "2 draw 0-2"), at, "2 draw 0-2, expected 1 draw 0-2")
    check(changed(TEXT, at, "1 mark"), at, "1 mark, expected 1 draw 0-2")
    check(changed(TEXT, at), at, "1 play 0-2@1, expected 1 draw 0-2")
    check(changed(TEXT, at, line, line), at + 1, "1 draw 0-2, expected 1 play 0-2@1")
    at = number_of(". mark")
    check(changed(TEXT, at, "1 pass"), at, "1 pass, expected 1 mark")
    check(changed(TEXT, at), at, "2 play 5-1@1, expected 1 mark")
    at = number_of(". pass")
    check(changed(TEXT, at, "2 mark"), at, "2 mark, expected 2 pass")
    at = number_of(". hub")
    check(changed(TEXT, at, "2 hub"), at, "2 hub, expected 3 hub")
    check(changed(TEXT, at), at, "3 play 6-4@3, expected 3 hub")
    at = number_of("1 stop")  # it comes by itself
    check(changed(TEXT, at), at, "2 play 6-2@2, expected 1 stop")


def test_a_move_that_is_not_legal() -> None:
    at = number_of("2 play 6-1@M")
    check(changed(TEXT, at, "2 play 6-0@M"), at, "2 play 6-0@M, expected 2 play 6-1@M")
    check(changed(TEXT, at, "3 play 6-1@M"), at, "3 play 6-1@M, expected 2 play 6-1@M")


def test_too_few_and_too_many_events() -> None:
    at = number_of("scores")
    check(changed(TEXT, at, "3 pass", line_of("scores")), at, "3 pass, expected scores, as the round is over")
    check(changed(TEXT, at - 1), at - 1, "scores, expected 2 play 5-1@1")


def test_wrong_scores() -> None:
    at = number_of("scores")
    assert line_of("scores") == "scores 15 0 50"
    check(changed(TEXT, at, "scores 14 0 50"), at, "scores 14 0 50, expected scores 15 0 50")
    message = "scores: blocked, expected no such word, as the round ended"
    check(changed(TEXT, at, "scores 15 0 50 blocked"), at, message)
    at = number_of("scores .* blocked", BLOCKED)
    line = line_of("scores", BLOCKED).removesuffix(" blocked")
    check(changed(BLOCKED, at, line), at, "scores: no word blocked, expected blocked, as the round ended")


def test_an_unfinished_round() -> None:
    at = number_of("scores")
    check(changed(TEXT, at, "scores 15 0 50 unfinished"), at, "unfinished, expected no such word, as the round is over")
    at = number_of("scores", FORFEITED)
    line = line_of("scores", FORFEITED)
    check(changed(FORFEITED, at, line.removesuffix(" unfinished")), at, "scores, expected 2 play")
    at_fault = number_of("fault", FORFEITED)
    without = changed(FORFEITED, at_fault)
    check(without, at, "unfinished, expected a fault in round 1, which alone ends a game so")


def test_wrong_faults() -> None:
    for text in (FAULTY, FORFEITED):
        at = number_of("fault", text)
        message = "fault: decision 6 after 4 events of seat 2 with a time, expected decision 5"
        check(changed(text, at, "fault 2 round 1 decision 6 late"), at, message)
        check(changed(text, at, "fault 3 round 1 decision 5 late"), at, "decision 5 after", "of seat 3 with a time")
    at = number_of("fault", FAULTY)
    check(changed(FAULTY, at, "fault 2 round 4 decision 5 late"), at, "fault: round 4, expected 1 to 3")
    wrong = changed(FAULTY, number_of("2 play 5-1@M", FAULTY), "2 play 5-1@M time 3.5")
    check(wrong, at, "fault: decision 5 after 5 events of seat 2 with a time, expected decision 6")
    message = "fault: round 1, expected one from 2 on, where seat 2 has a time"
    check(changed(wrong, at, "fault 2 round 1 decision 6 late"), at, message)


def test_a_wrong_result() -> None:
    at = number_of("result")
    assert line_of("result") == "result totals 15 35 154 places 1 2 3"
    check(changed(TEXT, at, "result totals 15 36 154 places 1 2 3"), at, "totals 15 36 154, expected totals 15 35 154")
    check(changed(TEXT, at, "result totals 15 35 154 places 1 3 2"), at, "places 1 3 2, expected places 1 2 3")
    at = number_of("result", FAULTY)
    line = line_of("result", FAULTY).replace("places 1 3 2", "places 1 2 3")
    check(changed(FAULTY, at, line), at, "places 1 2 3, expected places 1 3 2")  # a seat with a fault is last


def test_rounds_that_are_missing() -> None:
    (record,) = read(TEXT)
    assert isinstance(record, GameRecord)
    shorter = replace(record, rounds=record.rounds[:2], commit="", nonce="")
    found = verify(shorter)
    assert found is not None and (found.what, found.expected) == ("result after 2 rounds", "round 3 of 3")


# ------------------------------------------------------------------------------------------- the commitment


def test_an_opening_that_does_not_give_the_commitment() -> None:
    at = number_of("open")
    message = f"open: this and the deals are not what line {number_of('commit')} committed to, expected an opening"
    check(changed(TEXT, at, "open " + "0" * 32), at, message)
    check(changed(TEXT, number_of("commit"), "commit sha256 " + "0" * 64), at, message)
    # The last tiles of the first boneyard were never drawn.
    deal = number_of("deal")
    start, *_, a, b = line_of("deal").rpartition(" boneyard ")[2].split()
    swapped = line_of("deal").replace(f"{a} {b}", f"{b} {a}")
    check(changed(TEXT, deal, swapped), at, message)
    assert start not in (a, b)


def test_a_deal_that_was_changed_is_named() -> None:
    at = number_of("deal", which=2)
    line = line_of("deal", which=2)
    a, b, *_ = line.rpartition(" boneyard ")[2].split()
    text = changed(TEXT, at, line.replace(f" boneyard {a} {b}", f" boneyard {b} {a}"))
    where = number_of("1 draw", which=3)
    check(text, at, f"not what line 9 committed to, and line {where} contradicts it (1 draw {a}), expected the deal")
    # Without the commitment nobody can tell.
    text = changed(changed(text, number_of("open"), "open"), number_of("commit"))
    check(text, where - 1, f"1 draw {a}, expected 1 draw {b}")


def test_a_deal_against_the_rules_that_was_not_read() -> None:
    record = play_record(committed=False)
    hands = (record.rounds[0].deal.hands[0],) * 3
    rounds = (replace(record.rounds[0], deal=replace(record.rounds[0].deal, hands=hands)), *record.rounds[1:])
    found = verify(replace(record, rounds=rounds))
    assert found is not None and "in the deal twice" in found.what
    deal = replace(record.rounds[0].deal, hub=5)
    found = verify(replace(record, rounds=(replace(record.rounds[0], deal=deal), *record.rounds[1:])))
    assert found is not None and found.what == "deal: hub 5"


# ----------------------------------------------------------------------- whatever line is changed, it is found

SMALL_GAMES = [
    Rules.of("family", 2, set=6, hand=7, rounds=2),
    Rules.of("classic", 3, set=6, rounds=1),
    Rules.of("tournament", 2, rounds=1),
    Rules.of("family", 3, set=9, hand=8, rounds=1, double_answer="chickenfoot"),
    Rules.of("family", 4, set=6, hand=6, rounds=1, double_answer="own", doubles_order="lifo"),
]


def is_named(text: str, number: int) -> bool:
    """Whether a line is found to be wrong, or one of the two or three of which one must be. Nothing else may be."""
    found = problems(text)
    assert len(found) <= 1
    return bool(found) and (found[0].line == number or f" in line {number}" in str(found[0]))


def is_possible(text: str) -> bool:
    """Whether the other implementation of the rules finds a game possible: it may have been another, but it is one."""
    (record,) = read(text)
    if not isinstance(record, GameRecord):
        return False
    for told in record.rounds:
        round = ReferenceRound(record.rules, told.deal)
        for number, entry in enumerate(told.events):
            if len(round.events) == number:
                text = str(entry.event.move or STOP)
                if not round.is_legal(text):
                    return False
                round.apply(text)
        events = [(kind, seat, tile, move and str(move)) for kind, seat, tile, move in (e.event for e in told.events)]
        if (
            round.events != events
            or not round.over
            or (round.blocked, tuple(round.scores)) != (told.blocked, told.scores)
        ):
            return False
    game = ReferenceGame(record.rules.players, [round.scores for round in record.rounds])
    return (tuple(game.totals), tuple(game.places)) == (record.totals, record.places)


def other_numbers(text: str) -> Iterator[tuple[int, str]]:
    """``text`` with one number changed, in any line with events, tiles or scores, and the number of that line."""
    for at, line in enumerate(text.splitlines(), 1):
        if re.match(r"\d+ (play|draw|mark|pass|stop|hub)|round|scores|result|deal", line):
            for match in re.finditer(r"\d+", line.split(" time ")[0].split(" score ")[0]):
                for number in (int(match[0]) + 1, int(match[0]) - 1):
                    if number >= 0:
                        yield at, changed(text, at, f"{line[: match.start()]}{number}{line[match.end() :]}")


@pytest.mark.parametrize("rules", SMALL_GAMES, ids=lambda rules: f"{rules.preset}-{rules.double_answer}")
def test_any_other_number_is_found(rules: Rules) -> None:
    text = record_text(play_record(rules, 1))
    assert is_possible(text)
    harmless = 0
    for at, other in other_numbers(text):
        if not is_named(other, at):
            # The same tile elsewhere, and all that follows could follow.
            assert problems(other) == [] and is_possible(other)
            assert re.search(r" play (\d+-\d+)@", other.splitlines()[at - 1])
            harmless += 1
    assert harmless <= 3


def other_moves(text: str) -> Iterator[tuple[int, str]]:
    """``text`` with one move changed into another that was legal then, and the number of that line."""
    (record,) = read(text)
    assert isinstance(record, GameRecord)
    for told in record.rounds:
        round = Round(record.rules, told.deal)
        for number, entry in enumerate(told.events):
            if len(round.events) > number:
                continue
            played = entry.event.move or STOP
            for move in round.legal_moves():
                if move != played:
                    event = Event("play", round.turn, move.tile, move) if move.tile else Event("stop", round.turn)
                    yield entry.line, changed(text, entry.line, event_words(event))
            round.apply(played)


@pytest.mark.parametrize("rules", SMALL_GAMES, ids=lambda rules: f"{rules.preset}-{rules.double_answer}")
def test_any_other_legal_move_is_found(rules: Rules) -> None:
    """The hardest case: the line by itself is right."""
    tiles = 0
    for seed in (3, 4):
        text = record_text(play_record(rules, seed))
        for at, other in other_moves(text):
            if not is_named(other, at):
                assert problems(other) == [] and is_possible(other)
            tiles += 1
    assert tiles > 40


@pytest.mark.parametrize("rules", SMALL_GAMES, ids=lambda rules: f"{rules.preset}-{rules.double_answer}")
def test_lines_that_are_lost_doubled_or_swapped_are_found(rules: Rules) -> None:
    text = record_text(play_record(rules, 5))
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        if re.match(r"\d|round|scores|result|open|deal|end", line):
            for other in (changed(text, at), changed(text, at, line, line)):
                assert len(problems(other)) == 1
            if line != lines[at % len(lines)] and line != "end":
                swapped = changed(changed(text, at + 1, line), at, lines[at])
                assert problems(swapped) != [] or is_possible(swapped)


def test_the_line_is_named_that_makes_all_right() -> None:
    # A tile that was never played, in the place of one that is played again later.
    named = [(at, str(found)) for at, other in other_moves(TEXT) for found in problems(other) if found.line == at]
    at, told = next((at, told) for at, told in named if "does not lead to" in told)
    assert re.match(r"file:(\d+): \d \w+.* does not lead to line (\d+) \(.+\), expected \d (play|stop)", told)
    assert line_of(".*", TEXT, at).split(" time ")[0] in told.rpartition("expected ")[2]


def test_with_more_than_one_wrong_line_the_first_contradiction_is_named() -> None:
    at = number_of("scores")
    text = changed(changed(TEXT, at, "scores 14 0 50"), number_of("scores", which=2), "scores 0 34 55")
    check(text, at, "scores 14 0 50, expected scores 15 0 50")


def test_what_is_only_noted_is_not_checked() -> None:
    text = re.sub(r" (time|score) \S+", "", TEXT)
    text = re.sub("(?m)^(date|event|control).*\n", "", text).replace("Ann", "Zoë").replace("chance", "skill")
    assert problems(text) == []


def test_the_search_for_the_wrong_line_ends_soon() -> None:
    lines = record_text(play_record(Rules.of("classic", 14, rounds=1), 1)).splitlines()
    last = len(lines) - 6
    began = time.perf_counter()
    for at in (last, last - 40, last - 80):
        lines[at] = re.sub(r"\d+-\d+", "0-0", lines[at])
        assert problems("\n".join(lines)) != []
    assert time.perf_counter() - began < 20


# -------------------------------------------------------------------------------------------- a large game


def test_fourteen_players_and_one_tile() -> None:
    """Two rounds of the largest game there is; every round of one was verified by hand."""
    rules = Rules.of("classic", 14, rounds=2)
    assert rules.set == 18
    text = record_text(play_record(rules, 7))
    assert problems(text) == []
    rng = random.Random(7)
    plays = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\d+ play", line)]
    for at in rng.sample(plays, 12):
        line = text.splitlines()[at - 1]
        other = re.sub(r"play (\d+)-(\d+)", lambda m: f"play {m[1]}-{(int(m[2]) + 1) % 19}", line)
        assert is_named(changed(text, at, other), at)
