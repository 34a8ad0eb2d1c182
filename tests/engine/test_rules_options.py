"""Presets and options: the tables of RULES.md §2 and §3, and what is refused."""

from __future__ import annotations

import dataclasses
import random
import re
from typing import Any

import pytest

from caboose.engine.rules.rules import (
    BLANKS,
    CHOICES,
    MEANINGS,
    OPTIONS,
    PARTNERS,
    PRESETS,
    SETS,
    Rules,
    RulesError,
    taken_along,
    tiles_in_set,
)
from implementations import random_rules
from paths import DOCS

PAGE = DOCS / "reference" / "rules.md"

# RULES.md §2, "set and hand by players": preset, players, default set, its hand, other sets by name with their hands.
TABLE: list[tuple[str, int, int, int, dict[int, int]]] = [
    ("classic", 2, 9, 15, {6: 7}),
    ("classic", 3, 9, 15, {6: 7}),
    ("classic", 4, 12, 15, {6: 7}),
    ("classic", 5, 12, 12, {}),
    ("classic", 6, 12, 12, {}),
    ("classic", 7, 12, 11, {}),
    ("classic", 8, 12, 11, {}),
    ("classic", 9, 15, 11, {}),
    ("classic", 10, 15, 11, {}),
    ("classic", 11, 15, 11, {}),
    ("classic", 12, 15, 11, {}),
    ("classic", 13, 18, 11, {}),
    ("classic", 14, 18, 11, {}),
    ("tournament", 2, 9, 8, {}),
    ("tournament", 3, 9, 8, {}),
    ("tournament", 4, 12, 12, {}),
    ("tournament", 5, 12, 12, {}),
    ("tournament", 6, 12, 12, {}),
    ("tournament", 7, 12, 10, {}),
    ("tournament", 8, 12, 10, {}),
    ("tournament", 9, 15, 11, {}),
    ("tournament", 10, 15, 11, {}),
    ("tournament", 11, 15, 11, {}),
    ("tournament", 12, 15, 11, {}),
    ("tournament", 13, 18, 11, {}),
    ("tournament", 14, 18, 11, {}),
    ("family", 2, 12, 16, {9: 15}),
    ("family", 3, 12, 16, {9: 13}),
    ("family", 4, 12, 15, {9: 10}),
    ("family", 5, 12, 14, {}),
    ("family", 6, 12, 12, {}),
    ("family", 7, 12, 10, {}),
    ("family", 8, 12, 9, {}),
    ("family", 9, 15, 11, {18: 11}),
    ("family", 10, 15, 11, {18: 11}),
    ("family", 11, 15, 11, {18: 11}),
    ("family", 12, 15, 11, {18: 11}),
]

# RULES.md §2, the other lines.
PRESET_OPTIONS: dict[str, dict[str, Any]] = {
    "classic": {
        "hub": "dealt", "starter": "holder", "first_turn": "chain", "first_turn_draw": "no",
        "first_turn_finish": "all", "first_turn_places": "own", "double_answer": "anywhere",
        "extra_after_doubles": "anywhere", "dead_double": "release", "blank": 50,
    },
    "tournament": {
        "hub": "placed", "starter": "lot", "first_turn": "chain", "first_turn_draw": "yes",
        "first_turn_finish": "now", "first_turn_places": "own", "double_answer": "anywhere",
        "extra_after_doubles": "anywhere", "dead_double": "release", "blank": 0,
    },
    "family": {
        "hub": "placed", "starter": "rotate", "first_turn": "single", "first_turn_draw": "yes",
        "first_turn_finish": "now", "first_turn_places": "any", "double_answer": "anywhere",
        "extra_after_doubles": "first", "dead_double": "release", "blank": 50,
    },
}  # fmt: skip


@pytest.mark.parametrize("top, count", [(6, 28), (9, 55), (12, 91), (15, 136), (18, 190)])
def test_sizes_of_the_sets(top: int, count: int) -> None:
    assert tiles_in_set(top) == count
    assert top in SETS


@pytest.mark.parametrize("preset, players, top, hand, others", TABLE)
def test_set_and_hand_by_players(preset: str, players: int, top: int, hand: int, others: dict[int, int]) -> None:
    rules = Rules.of(preset, players)
    assert (rules.preset, rules.players, rules.set, rules.hand) == (preset, players, top, hand)
    assert Rules.of(preset, players, set=top) == rules
    for other, other_hand in others.items():
        named = Rules.of(preset, players, set=other)
        assert (named.set, named.hand) == (other, other_hand)


def test_the_table_covers_every_number_of_players() -> None:
    for preset in PRESETS:
        allowed = [players for players in range(-1, 30) if _exists(preset, players)]
        assert allowed == [players for name, players, *_ in TABLE if name == preset]


def _exists(preset: str, players: int) -> bool:
    try:
        Rules.of(preset, players)
    except RulesError:
        return False
    return True


@pytest.mark.parametrize("preset", PRESETS)
def test_options_of_the_presets(preset: str) -> None:
    for players in (2, 7, 12):
        rules = Rules.of(preset, players)
        for name, value in PRESET_OPTIONS[preset].items():
            assert getattr(rules, name) == value, name
        assert rules.rounds == rules.set + 1
        assert list(rules.hubs) == list(range(rules.set, -1, -1))


def test_every_option_has_a_meaning() -> None:
    assert set(OPTIONS) == {*CHOICES, "set", "hand", "blank", "rounds"}
    assert set(OPTIONS) <= set(MEANINGS)


def test_every_value_of_every_option_can_be_set_on_its_own() -> None:
    for name, values in CHOICES.items():
        for value in values:
            assert getattr(Rules.of("family", 4, **{name: value}), name) == value
    for blank in BLANKS:
        assert Rules.of("family", 4, blank=blank).blank == blank
    for top in SETS:
        assert Rules.of("family", 2, set=top, hand=5).set == top


@pytest.mark.parametrize(
    "preset, options, taken",
    [
        ("family", {"first_turn": "chain"}, {"first_turn_places": "own"}),
        ("classic", {"first_turn_places": "any"}, {"first_turn": "single"}),
        ("tournament", {"first_turn_places": "any"}, {"first_turn": "single"}),
        ("tournament", {"starter": "holder"}, {"hub": "dealt"}),
        ("family", {"starter": "holder", "first_turn": "chain"}, {"hub": "dealt", "first_turn_places": "own"}),
        ("family", {"first_turn": "chain", "first_turn_places": "own"}, {}),
        ("family", {"starter": "holder", "engine": "dealt"}, {}),
        ("classic", {"first_turn": "chain"}, {}),
        ("family", {"first_turn": "single", "first_turn_places": None}, {}),
    ],
)
def test_an_option_takes_its_only_partner_along_and_says_so(
    preset: str, options: dict[str, Any], taken: dict[str, str]
) -> None:
    rules = Rules.of(preset, 4, **options)
    assert rules == Rules.of(preset, 4, **options | taken)
    partners = taken_along(preset, **options)
    assert {partner.other: partner.wanted for partner in partners} == taken
    for partner in partners:
        assert str(partner).startswith(f"{partner.option}={partner.value} takes {partner.other}={partner.wanted} along")
    words = [f"{name}={value}" for name, value in options.items() if value is not None]
    assert Rules.parse(" ".join([preset, *words])) == rules
    assert Rules.parse(str(rules)) == rules


def test_a_change_of_rules_takes_partners_along_too() -> None:
    chain = Rules.of("family", 4).with_options(first_turn="chain")
    assert (chain.first_turn, chain.first_turn_places) == ("chain", "own")
    anywhere = chain.with_options(first_turn_places="any")
    assert (anywhere.first_turn, anywhere.first_turn_places) == ("single", "any")
    with pytest.raises(RulesError, match="a chain lies on the own train"):
        chain.with_options(first_turn="chain", first_turn_places="any")


def test_two_partners_that_make_sense_are_left_to_choose() -> None:
    with pytest.raises(RulesError, match="Give starter=lot or starter=rotate, or hub=dealt"):
        Rules.of("classic", 4, hub="placed")


@pytest.mark.parametrize("rounds", [1, 2, 7, 13])
def test_a_short_game_plays_the_first_rounds_of_the_countdown(rounds: int) -> None:
    assert list(Rules.of("family", 4, rounds=rounds).hubs) == list(range(12, 12 - rounds, -1))
    assert Rules.of("family", 4, rounds="all").rounds == 13


@pytest.mark.parametrize("name", sorted(CHOICES))
@pytest.mark.parametrize("value", ["", "maybe", "YES", 3, 1.5, ("yes",)])
def test_a_bad_word_is_refused_and_the_allowed_ones_named(name: str, value: object) -> None:
    with pytest.raises(RulesError) as error:
        Rules.of("family", 4, **{name: value})
    assert str(error.value).startswith(f"{name}=")
    assert all(word in str(error.value) for word in CHOICES[name])


@pytest.mark.parametrize(
    "options, parts",
    [
        ({"set": 7}, ["set=7", "6, 9, 12, 15, 18"]),
        ({"set": "twelve"}, ["set='twelve'", "number"]),
        ({"set": True}, ["set=True"]),
        ({"blank": 10}, ["blank=10", "0, 25, 50"]),
        ({"blank": -1}, ["blank=-1", "0, 25, 50"]),
        ({"rounds": 0}, ["rounds=0", "1 to 13"]),
        ({"rounds": 14}, ["rounds=14", "1 to 13"]),
        ({"rounds": 2.0}, ["rounds=2.0"]),
        ({"hand": 0}, ["hand=0", "1 to 22"]),
        ({"hand": 23}, ["hand=23", "1 to 22", "double-12", "4 players"]),
        ({"hand": -3}, ["hand=-3"]),
        ({"hand": "many"}, ["hand='many'"]),
        ({"hub": "dealt", "hand": 1}, ["hand=1", "2 to 22", "hub=dealt"]),
        ({"starter": "holder", "hub": "placed"}, ["starter=holder", "hub=dealt", "lot", "rotate"]),
        (
            {"first_turn": "chain", "first_turn_places": "any"},
            ["first_turn=chain", "first_turn_places=own", "first_turn=single"],
        ),
        ({"starter": "holder", "hand": 1}, ["hand=1", "2 to 22", "hub=dealt"]),
        ({"set": 6}, ["double-6", "15 tiles", "at most 6"]),
        ({"colour": "red"}, ["colour", *OPTIONS]),
        ({"first_trun": "chain"}, ["first_trun", "did you mean 'first_turn'"]),
        ({"engine": "dealt", "hub": "dealt"}, ["hub", "twice"]),
    ],
)
def test_what_cannot_be_played_is_refused_with_what_is_allowed(options: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(RulesError) as error:
        Rules.of("family", 4, **options)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize(
    "preset, players, parts",
    [
        ("house", 4, ["'house'", "classic, tournament, family"]),
        ("family", 1, ["players=1", "2 to 12"]),
        ("family", 13, ["players=13", "2 to 12"]),
        ("classic", 15, ["players=15", "2 to 14"]),
        ("tournament", 0, ["players=0", "2 to 14"]),
        ("classic", 2.5, ["players=2.5", "number"]),
        ("classic", "four", ["players='four'", "number"]),
        ("classic", None, ["players=None", "number"]),
    ],
)
def test_bad_presets_and_players_are_refused(preset: str, players: Any, parts: list[str]) -> None:
    with pytest.raises(RulesError) as error:
        Rules.of(preset, players)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("top", SETS)
@pytest.mark.parametrize("hub", ["dealt", "placed"])
def test_the_largest_hand_uses_the_whole_set_and_one_more_is_refused(top: int, hub: str) -> None:
    available = tiles_in_set(top) - (hub == "placed")
    for players in (2, 5, 14):
        most = available // players
        if most < 2:
            continue
        options = {"set": top, "hub": hub, "starter": "lot"}
        assert Rules.of("classic", players, hand=most, **options).hand == most
        with pytest.raises(RulesError):
            Rules.of("classic", players, hand=most + 1, **options)


@pytest.mark.parametrize(
    "text, part",
    [
        ("", "no rules given"),
        ("   ", "no rules given"),
        ("house", "unknown preset"),
        ("family players", "name=value"),
        ("family players=", "name=value"),
        ("family =4", "name=value"),
        ("family players=4 players=5", "twice"),
        ("family set=12 set=12", "twice"),
        ("family hub=dealt engine=dealt", "twice"),
        ("family players=99999999999", "players"),
        ("family players=٤", "players"),
        ("family colour=red", "unknown rule option"),
        ("family first_turn_draw=true", "yes, no"),
    ],
)
def test_bad_text_is_refused(text: str, part: str) -> None:
    with pytest.raises(RulesError, match=part):
        Rules.parse(text)


def test_text_round_trip() -> None:
    rng = random.Random(5)
    presets = [Rules.of(preset, players) for preset, players, *_ in TABLE]
    for rules in presets + [random_rules(rng) for _ in range(500)]:
        text = str(rules)
        assert "\n" not in text and text.isascii()
        assert Rules.parse(text) == rules
        assert str(Rules.parse(text)) == text


def test_short_text_means_the_presets_values() -> None:
    assert Rules.parse("classic") == Rules.of("classic", 4)
    assert Rules.parse("classic players=2 set=6") == Rules.of("classic", 2, set=6)
    assert Rules.parse("tournament players=3 rounds=all blank=25") == Rules.of("tournament", 3, blank=25)
    assert Rules.of("family", "3", set="9", hand="4") == Rules.of("family", 3, set=9, hand=4)  # type: ignore[arg-type]


def test_aliases() -> None:
    assert Rules.of("family", 4, engine="dealt") == Rules.of("family", 4, hub="dealt")
    assert Rules.parse("family engine=dealt") == Rules.of("family", 4, hub="dealt")
    assert Rules.of("family", 4, first_turn_draw=False) == Rules.of("family", 4, first_turn_draw="no")
    assert Rules.of("family", 4, first_turn_draw=True) == Rules.of("family", 4)
    assert Rules.of("family", 4, hub=None, hand=None) == Rules.of("family", 4)


def test_rules_are_immutable_values() -> None:
    rules = Rules.of("family", 4)
    for field in dataclasses.fields(Rules):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(rules, field.name, getattr(rules, field.name))
    with pytest.raises((AttributeError, TypeError)):
        rules.colour = "red"  # type: ignore[attr-defined]
    same = Rules.of("family", 4)
    assert rules == same and hash(rules) == hash(same)
    assert rules != Rules.of("family", 4, blank=0)


def test_with_options_changes_what_is_given_and_checks_the_whole() -> None:
    rules = Rules.of("family", 4)
    changed = rules.with_options(blank=25, engine="dealt")
    assert (changed.blank, changed.hub, changed.hand) == (25, "dealt", rules.hand)
    assert rules.blank == 50
    with pytest.raises(RulesError, match="hub=dealt"):
        rules.with_options(starter="holder", hub="placed")
    with pytest.raises(RulesError, match="2 to 12"):
        rules.with_options(players=13)
    with pytest.raises(RulesError, match="unknown rule option"):
        rules.with_options(colour="red")
    with pytest.raises(RulesError, match="1 to 13"):
        rules.with_options(rounds=14)


def test_rules_made_directly_are_checked_too() -> None:
    values = dataclasses.asdict(Rules.of("family", 4))
    for name, value in [("players", 1), ("set", 13), ("hand", 0), ("blank", 7), ("rounds", 0), ("hub", "thrown")]:
        with pytest.raises(RulesError):
            Rules(**values | {name: value})


def test_all_rounds_stay_all_rounds_with_another_set() -> None:
    assert Rules.of("family", 2).with_options(set=6, hand=7).rounds == 7
    assert Rules.of("family", 2).with_options(set=18).rounds == 19
    assert Rules.of("family", 2, rounds=3, hand=7).with_options(set=6).rounds == 3
    assert Rules.of("family", 2, rounds=3).with_options(rounds="all").rounds == 13
    assert Rules.of("family", 2, rounds=3).with_options(rounds="all", set=6, hand=7).rounds == 7
    with pytest.raises(RulesError, match="set=7: expected one of 6, 9, 12, 15, 18"):
        Rules.of("family", 2).with_options(set=7)


@pytest.mark.parametrize("text", ["x" * 3000, "family " + "x" * 3000, f"family set={'9' * 3000}", "family blank=é\n"])
def test_errors_do_not_repeat_long_or_unprintable_words(text: str) -> None:
    with pytest.raises(RulesError) as caught:
        Rules.parse(text)
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


# The page.


def test_the_page_has_every_option_with_every_value_and_where_it_comes_from() -> None:
    rows: dict[str, dict[str, str]] = {}
    option = ""
    section = PAGE.read_text(encoding="utf-8").partition("## 6. Options")[2].partition("## 7")[0]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| option"):
            name, values, _, source = (cell.strip() for cell in line.strip("|").split("|"))
            option = re.sub(r"\W", "", name.replace("(or `engine`)", "")) or option
            assert source, line
            rows.setdefault(option, {}).update(dict.fromkeys(re.findall(r"\w+", values), source))
    assert set(rows) == set(OPTIONS)
    for name, words in CHOICES.items():
        assert set(rows[name]) == set(words)
        for preset in PRESETS:
            value = getattr(Rules.of(preset, 4), name)
            assert preset in rows[name][value] or "all presets" in rows[name][value] or "others" in rows[name][value]
    assert set(rows["blank"]) == set(map(str, BLANKS))
    assert set(rows["set"]) == set(map(str, SETS))


def test_the_page_has_every_partner() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## 6. Options")[2].partition("## 7")[0]
    told = [line[2:].replace("`", "") for line in section.splitlines() if " along: " in line]
    assert told == list(map(str, PARTNERS))
