"""What a ladder is, as its file describes it, and which blocks follow from that."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from caboose.arena.errors import CallError
from caboose.arena.ladder.config import parse_spec, read_spec
from caboose.arena.ladder.edit import add, init, remove
from caboose.arena.ladder.schedule import RandomTables, Schedule, block_seed, lineups, make_schedule
from caboose.arena.ladder.store import BlockKey, Store
from caboose.engine.rules import Rules
from caboose.protocol.timing import TimeControl
from killing import make_ladder

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

    def __init__(self) -> None:
        self.keys: set[BlockKey] = set()

    def played(self, list: int) -> Iterator[BlockKey]:
        return iter(sorted(self.keys))

    def results(self, list: int) -> Iterator[tuple[BlockKey, Any]]:
        return ((key, made_up(key)) for key in sorted(self.keys))


def made_up(key: BlockKey) -> Any:
    """The games of a block, which say that engines with greater numbers are stronger."""
    from caboose.arena.ladder.rows import SEAT

    seats = np.zeros((len(key.lineup), len(key.lineup)), SEAT)
    order = sorted(key.lineup, reverse=True)
    seats["entry"] = key.lineup
    seats["place"] = [order.index(entry) + 1 for entry in key.lineup]
    seats["counted"] = 1
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
        schedule.add(key, made_up(key))


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
