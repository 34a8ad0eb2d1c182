"""What a ladder is, as its file describes it, and which blocks follow from that."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from caboose.arena.blocks.block_order import block_seed
from caboose.arena.errors import CallError
from caboose.arena.ladder.config import parse_spec, read_spec
from caboose.arena.ladder.edit import add, init, remove
from caboose.arena.ladder.schedule import RandomTables, Schedule, lineups, make_schedule
from caboose.arena.ladder.store import BlockKey, Store
from caboose.engine.rules.rules import Rules
from caboose.protocol.referee.timing import TimeControl
from kill_ladder import make_ladder

HEAD = 'format = 1\nseed = "1"\n'
ENGINES = "".join(f'[[engine]]\nname = "{name}"\nbuiltin = "planner"\n' for name in "abcde")


def spec_of(text: str) -> Any:
    return parse_spec(HEAD + text, Path("x/ladder.toml"))


# ------------------------------------------------------------------------------------------ the description


def test_what_a_ladder_says_is_what_it_means() -> None:
    spec = spec_of(
        'in_process = true\n[[engine]]\nname = "deep"\nbuiltin = "mcts"\noptions = { Seed = 3, Endgame = 0 }\n'
        '[[engine]]\nname = "other"\ncommand = "sh other.sh -x"\nsandbox = true\nshare = ["/opt"]\nmax_memory = 100\n'
        '[[list]]\nname = "main"\nformat = "gauntlet"\npreset = "classic"\nplayers = 5\nset = 15\nrounds = 3\n'
        'rules = { double_answer = "chickenfoot" }\ntc = "60+0.5"\nround_cap = 20\nmargin = 80\nblocks = 7\n'
        'heroes = ["other"]\n[[list]]\nname = "quick"\n'
    )
    deep, other = spec.engines
    assert deep.options == (("Seed", "3"), ("Endgame", "0"))
    assert other.command == ("sh", "other.sh", "-x")
    launch = other.contestant(Path("folder")).launch
    assert (launch.sandbox, launch.shared, launch.hidden) == (True, ("/opt",), ("folder",))
    assert launch.resources.memory == 100 << 20
    main, quick = spec.lists
    assert main.rules == Rules.of("classic", 5, set=15, rounds=3, double_answer="chickenfoot")
    assert main.control == TimeControl(clock=60_000, increment=500, roundcap=20_000, margin=80)
    assert (main.engines, main.heroes, main.blocks) == (("deep", "other"), ("other",), 7)
    assert quick.control == TimeControl(movetime=20)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[engine]\n", "x/ladder.toml: Expected ']]' .*line 3"),
        ("sed = 1\n", "x/ladder.toml: there is no key sed; did you mean seed?"),
        ('[[engine]]\nname = "a b"\n', "engine 1: name: 'a b': expected 1 to 16 letters"),
        ('[[engine]]\nname = "a"\n', "engine a: expected either builtin or command"),
        ('[[engine]]\nname = "a"\nbuiltin = "omniscient"\n', "engine a: builtin: .*no measuring bot"),
        ('[[engine]]\nname = "a"\nbuiltin = "mtcs"\n', "engine a: unknown bot 'mtcs'; did you mean 'mcts'?"),
        ('[[engine]]\nname = "a"\nbuiltin = "mcts"\noptions = { Sed = 1 }\n', "engine a: .*Sed"),
        ('[[engine]]\nname = "a"\ncommand = ""\n', "engine a: command: it is empty, expected a program"),
        ('[[engine]]\nname = "a"\ncommand = "x \'"\n', "engine a: command: .* cannot be read"),
        ('[[engine]]\nname = "a"\ncommand = "x"\nshare = ["y"]\n', "engine a: share: .*expected sandbox = true"),
        ('[[engine]]\nname = "a"\nbuiltin = "mcts"\nmax_cpu = 9\n', "engine a: max_cpu: 9, expected that of a command"),
        (
            '[[engine]]\nname = "a"\ncommand = "x"\nmax_cpu = 0\n',
            "engine a: max_cpu: 0, expected a whole number from 1",
        ),
        (ENGINES + '[[engine]]\nname = "a"\ncommand = "x"\n', "engine 'a' is there twice"),
        (ENGINES + '[[list]]\nname = "m"\nformat = "swiss"\n', "list m: format: 'swiss', expected one of round-robin"),
        (
            ENGINES + '[[list]]\nname = "m"\nengines = ["a", "z"]\n',
            "list m: engines: 'z', expected names of engines: a, b",
        ),
        (ENGINES + '[[list]]\nname = "m"\nheroes = ["a"]\n', "list m: heroes: .*expected that the format is hero"),
        (ENGINES + '[[list]]\nname = "m"\nplayers = 15\n', "list m: players: 15, expected a whole number from 2 to 14"),
        (
            ENGINES + '[[list]]\nname = "m"\nrules = { hubb = "dealt" }\n',
            "list m: rules.hubb: 'dealt', expected a rule",
        ),
        (ENGINES + '[[list]]\nname = "m"\nset = 7\n', "list m: set=7: expected one of 6, 9"),
        (ENGINES + '[[list]]\nname = "m"\ntc = "soon"\n', "list m: tc: soon: expected BASE.INC in seconds"),
        (ENGINES + '[[list]]\nname = "m"\nmovetime = "fast"\n', "list m: movetime: 'fast', expected a number"),
        (ENGINES + '[[list]]\nname = "m"\nmovetime = -1\n', "list m: time control: movetime -1.0"),
        (ENGINES + '[[list]]\nname = "m"\nblocks = true\n', "list m: blocks: True, expected a whole number"),
        ("list = 5\n", "list: 5, expected tables, each begun by"),
    ],
)
def test_a_wrong_description_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(CallError, match=told):
        spec_of(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [("seed = 1\n", "format is missing"), ("format = 2\n", "newer"), ("format = 1\n", "seed is missing")],
)
def test_a_description_begins_with_format_and_seed(text: str, told: str) -> None:
    with pytest.raises(CallError, match=told):
        parse_spec(text, Path("ladder.toml"))


def test_changes_keep_what_people_wrote(tmp_path: Path) -> None:
    make_ladder(tmp_path / "x", {"name": "main", "engines": ["random", "mcts"]})
    path = tmp_path / "x" / "ladder.toml"
    text = path.read_text().replace('builtin = "mcts"', 'builtin = "mcts"  # the one that matters')
    path.write_text(text)
    add(tmp_path / "x", "engine", {"name": "more", "builtin": "mcts", "options": {"Seed": "2"}})
    spec = remove(tmp_path / "x", "engine", "random")
    assert [engine.name for engine in spec.engines] == ["greedy", "planner", "mcts", "more"]
    assert spec.lists[0].engines == ("mcts",)
    assert spec == read_spec(tmp_path / "x")
    assert "# the one that matters" in path.read_text()
    before = path.read_text()
    with pytest.raises(CallError, match="list main: mcts is all that its engines have"):
        remove(tmp_path / "x", "engine", "mcts")
    with pytest.raises(CallError, match="there is no engine 'nobody'; there are greedy, planner, mcts, more"):
        remove(tmp_path / "x", "engine", "nobody")
    with pytest.raises(CallError, match="list wrong: players: 1"):
        add(tmp_path / "x", "list", {"name": "wrong", "players": 1})
    assert path.read_text() == before
    with pytest.raises(CallError, match="there is a ladder already"):
        init(tmp_path / "x", 1, in_process=True, records=True, logs=False)
    assert remove(tmp_path / "x", "list", "main").lists == ()


# --------------------------------------------------------------------------------------------- who meets whom


def make_lineups(format: str, players: int, heroes: str = "") -> list[str]:
    chosen = f"heroes = {list(heroes)}\n" if heroes else ""
    (spec,) = spec_of(f'{ENGINES}[[list]]\nname = "m"\nformat = "{format}"\nplayers = {players}\n{chosen}').lists
    numbers = {name: number for number, name in enumerate("abcde")}
    found = lineups(spec, range(5), [numbers[name] for name in spec.heroes])
    return ["".join("abcde"[engine] for engine in lineup) for lineup in found]


def test_each_format_has_its_lineups() -> None:
    assert make_lineups("round-robin", 4) == ["abcd", "abce", "abde", "acde", "bcde"]
    assert make_lineups("round-robin", 5) == ["abcde"]
    # More players than engines: all sit twice, and once more each pair in turn.
    assert {"".join(sorted(lineup)) for lineup in make_lineups("round-robin", 12)} == {
        "".join(sorted("aabbccddee" + one + other)) for one in "abcde" for other in "abcde" if one < other
    }
    assert make_lineups("hero", 3) == ["abb", "acc", "add", "aee"]
    assert make_lineups("hero", 2, "ab") == ["ab", "ac", "ad", "ae", "ba", "bc", "bd", "be"]
    assert make_lineups("gauntlet", 4, "ab") == ["acde", "bcde"]
    assert make_lineups("gauntlet", 3) == ["abc", "abd", "abe", "acd", "ace", "ade"]


def test_lineups_without_end_are_refused() -> None:
    engines = "".join(f'[[engine]]\nname = "e{number}"\nbuiltin = "planner"\n' for number in range(40))
    (spec,) = spec_of(f'{engines}[[list]]\nname = "m"\nplayers = 8\n').lists
    with pytest.raises(CallError, match="76,904,685 line-ups, at most 100,000 are played: expected format random"):
        lineups(spec, range(40), [0])


class Played:
    """Stands in for a store: the blocks of a list, with no games in them."""

    def __init__(self, failing: int = 0) -> None:
        self.keys: set[BlockKey] = set()
        self.failing = failing

    def played(self, list: int) -> Iterator[BlockKey]:
        return iter(sorted(self.keys))

    def results(self, list: int) -> Iterator[tuple[BlockKey, Any]]:
        return ((key, made_up(key, self.failing)) for key in sorted(self.keys))

    def lost(self, list: int) -> Iterator[tuple[BlockKey, int, int]]:
        return ((key, self.failing, len(key.lineup)) for key in sorted(self.keys) if self.failing in key.lineup)


def made_up(key: BlockKey, failing: int = 0) -> Any:
    """The games of a block, which say that engines with greater numbers are stronger; one may fail in all its games."""
    from caboose.arena.blocks.game_rows import SEAT

    seats = np.zeros((len(key.lineup), len(key.lineup)), SEAT)
    order = sorted(key.lineup, reverse=True)
    seats["entry"] = key.lineup
    seats["place"] = [order.index(entry) + 1 for entry in key.lineup]
    seats["fault"] = seats["entry"] == failing
    seats["counted"] = seats["fault"] | (failing not in key.lineup)
    seats["margin"] = seats["entry"]
    return seats


def drain(schedule: Schedule, store: Played, chance: random.Random | None = None, stop: int | None = None) -> None:
    """Plays a schedule, some blocks at a time that end in any order; ``stop`` leaves blocks in flight."""
    flying: list[BlockKey] = []
    while True:
        while len(flying) < (chance.randrange(1, 9) if chance else 1) and (key := schedule.take()):
            assert key not in store.keys
            flying.append(key)
        if not flying or (stop is not None and len(store.keys) >= stop):
            return
        key = flying.pop(chance.randrange(len(flying)) if chance else 0)
        store.keys.add(key)
        schedule.add(key, made_up(key, store.failing))


@pytest.mark.parametrize("format", ["random", "round-robin", "even"])
def test_what_is_played_does_not_depend_on_how_often_it_was_stopped(format: str) -> None:
    more = 'format = "random"\npairing = "even"\n' if format == "even" else f'format = "{format}"\n'
    text = f'{ENGINES}[[list]]\nname = "m"\nplayers = 3\nblocks = 60\ngeneration = 8\n{more}'
    (spec,) = spec_of(text).lists
    roster = {name: number + 1 for number, name in enumerate("abcde")}

    def schedule(store: Played) -> Schedule:
        return make_schedule(spec, 1, 5, roster, cast(Store, store))

    undisturbed = Played()
    drain(schedule(undisturbed), undisturbed)
    assert len(undisturbed.keys) == (600 if format == "round-robin" else 60)
    sat = Counter(entry for key in undisturbed.keys for entry in key.lineup)
    if format != "random":
        assert max(sat.values()) - min(sat.values()) <= 1
    chance = random.Random(1)
    for _ in range(5):
        disturbed = Played()
        while len(disturbed.keys) < len(undisturbed.keys):
            drain(schedule(disturbed), disturbed, chance, len(disturbed.keys) + chance.randrange(1, 40))
        assert disturbed.keys == undisturbed.keys


def schedule_of(store: Played, names: str, absent: tuple[int, ...] = (), **keys: Any) -> Schedule:
    """The schedule of a list of engines whose tables stand in the order of ``names``; a is 1, b is 2, and so on."""
    engines = "".join(f'[[engine]]\nname = "{name}"\nbuiltin = "planner"\n' for name in names)
    values = "".join(f"{key} = {value!r}\n" for key, value in ({"name": "m"} | keys).items())
    (spec,) = spec_of(f"{engines}[[list]]\n{values}").lists
    roster = {name: "abcdefgh".index(name) + 1 for name in names}
    return make_schedule(spec, 1, 5, roster, cast(Store, store), absent)


@pytest.mark.parametrize(
    "keys",
    [
        {"format": "round-robin", "players": 2},
        {"format": "round-robin", "players": 3},
        {"format": "round-robin", "players": 7},
        {"format": "gauntlet", "players": 3, "heroes": ["c", "d"]},
        {"format": "gauntlet", "players": 6, "heroes": ["a"]},
        {"format": "hero", "players": 2, "heroes": ["a", "c"]},
        {"format": "hero", "players": 4, "heroes": ["a", "c"]},
        {"format": "random", "players": 3},
    ],
)
def test_a_line_up_counts_as_played_whatever_its_order(keys: dict[str, Any]) -> None:
    keys = keys | {"blocks": 3}
    store = Played()
    drain(schedule_of(store, "abcd", **keys), store)
    assert len({(key.number, tuple(sorted(key.lineup))) for key in store.keys}) == len(store.keys)
    if "heroes" in keys:
        keys["heroes"] = keys["heroes"][::-1]
    for names in ("dcba", "bcda", "bacd"):
        again = schedule_of(store, names, **keys)
        assert again.played == again.total == len(store.keys)
        assert again.take() is None
        # A newcomer plays, and nobody plays again.
        if keys["format"] != "random" and keys["players"] < 5:
            more = Played()
            more.keys |= store.keys
            drain(schedule_of(more, f"e{names}", **keys), more)
            assert more.keys > store.keys
            assert all(5 in key.lineup for key in more.keys - store.keys)


SET_ASIDE: list[dict[str, Any]] = [
    {"format": "random", "players": 2, "blocks": 120},
    {"format": "random", "players": 3, "blocks": 90, "pairing": "even"},
    {"format": "random", "players": 7, "blocks": 60},
    {"format": "round-robin", "players": 2, "blocks": 12},
    {"format": "round-robin", "players": 3, "blocks": 12},
    {"format": "gauntlet", "players": 3, "blocks": 12},
]


def every_block(keys: dict[str, Any]) -> set[BlockKey]:
    store = Played()
    drain(schedule_of(store, "abcde", **keys), store)
    return store.keys


@pytest.mark.parametrize("keys", SET_ASIDE)
def test_who_always_fails_is_set_aside_in_the_same_blocks_however_often_it_was_stopped(keys: dict[str, Any]) -> None:
    keys = keys | {"generation": 4}
    undisturbed = Played(failing=2)
    schedule = schedule_of(undisturbed, "abcde", **keys)
    drain(schedule, undisturbed)
    games = sum(keys["players"] for key in undisturbed.keys if 2 in key.lineup)
    # It is known to fail two generations later, in which it may sit at every table.
    assert 20 <= games <= 20 + 3 * 4 * keys["players"]
    (aside,) = schedule.aside()
    assert (aside.entry, aside.lost) == (2, aside.games) and aside.lost >= 20
    assert schedule.played + schedule.skipped == schedule.total
    if keys["format"] == "random":
        assert schedule.skipped == 0  # others sit there
    else:
        without = {key for key in every_block(keys) if 2 not in key.lineup}
        assert {key for key in undisturbed.keys if 2 not in key.lineup} == without
    chance = random.Random(3)
    for _ in range(5):
        disturbed = Played(failing=2)
        while len(disturbed.keys) < len(undisturbed.keys):
            before = len(disturbed.keys)
            drain(schedule_of(disturbed, "abcde", **keys), disturbed, chance, before + chance.randrange(1, 30))
            assert len(disturbed.keys) > before
        assert disturbed.keys == undisturbed.keys


def test_nobody_is_set_aside_without_a_fault_or_where_that_is_off() -> None:
    for failing, aside in ((2, 0), (0, 20)):
        store = Played(failing)
        drain(schedule_of(store, "abcde", format="round-robin", players=3, blocks=12, set_aside=aside), store)
        assert len(store.keys) == 120


def test_where_all_but_one_are_set_aside_a_list_ends() -> None:
    for format in ("random", "round-robin"):
        store = Played(failing=2)
        schedule = schedule_of(store, "ab", format=format, players=2, blocks=1_000_000_000)
        drain(schedule, store)
        assert 10 <= len(store.keys) <= 60
        assert schedule.played + schedule.skipped == schedule.total


def test_who_always_fails_is_drawn_no_more_than_evenly() -> None:
    sat = []
    for number in range(8):
        store = Played(failing=2)
        keys: dict[str, Any] = {"players": 2, "blocks": 150, "set_aside": 0, "generation": 4}
        drain(schedule_of(store, "abcd", name=f"m{number}", format="random", **keys), store)
        sat.append(sum(2 in key.lineup for key in store.keys))
    # 75 of 150 is even, and by chance a mean of 8 is 2 off; it was 105 when nothing held it.
    assert np.mean(sat) < 75 + 3 * np.sqrt(150 / 4 / 8)


@pytest.mark.parametrize("keys", [*SET_ASIDE, {"format": "hero", "players": 4, "blocks": 5, "heroes": ["a", "c"]}])
def test_blocks_with_one_that_does_not_start_wait_for_it(keys: dict[str, Any]) -> None:
    store = Played()
    schedule = schedule_of(store, "abcde", absent=(3,), **keys)
    drain(schedule, store)
    assert schedule.played == len(store.keys) == schedule.total - schedule.skipped
    assert not any(3 in key.lineup for key in store.keys)
    if keys["players"] < 5:
        assert store.keys and schedule.skipped
    drain(schedule_of(store, "abcde", **keys), store)
    if keys["format"] == "random":
        assert len(store.keys) == keys["blocks"]
        assert any(3 in key.lineup for key in store.keys)
    else:
        assert store.keys == every_block(keys)


def test_a_list_ends_where_every_table_has_one_that_does_not_start() -> None:
    for format in ("random", "round-robin"):
        schedule = schedule_of(Played(), "abc", absent=(3,), format=format, players=3, blocks=1_000_000_000)
        assert schedule.take() is None
        assert schedule.skipped == schedule.total


def test_random_tables_go_on_when_somebody_joins_or_leaves() -> None:
    (spec,) = spec_of(f'{ENGINES}[[list]]\nname = "m"\nformat = "random"\nplayers = 3\nblocks = 40\n').lists
    store = Played()
    drain(RandomTables(spec, 1, 5, [1, 2, 3, 4], cast(Store, store)), store, None, 21)
    drain(RandomTables(spec, 1, 5, [1, 2, 3, 9], cast(Store, store)), store)
    assert sorted(key.number for key in store.keys) == [*range(40)]
    assert not any(4 in key.lineup for key in store.keys if key.number >= 21)
    assert any(9 in key.lineup for key in store.keys)


def test_line_ups_have_deals_of_their_own() -> None:
    assert block_seed(1, "m", ["a", "b"]) == block_seed(1, "m", ["b", "a"])
    seeds = [block_seed(1, "m"), block_seed(2, "m"), block_seed(1, "n")]
    seeds += [block_seed(1, "m", ["a", "b"]), block_seed(1, "m", ["a", "c"])]
    assert len(set(seeds)) == len(seeds)
