"""What an unknown key is answered with: all keys that a table of a study or a ladder may have, as docs/ has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from caboose.arena.errors import CallError
from caboose.arena.ladder.config import parse_spec
from caboose.arena.tuning.config import read_study
from paths import DOCS

UNKNOWN = "zzzz = 1\n"

STUDY = """\
format = 1
{top}
[engine]
builtin = "mcts"
{engine}
[parameter.Noise]
{parameter}
[[list]]
{list}
[verify]
{verify}
"""
LADDER = """\
format = 1
seed = 1
{top}
[[engine]]
name = "a"
builtin = "mcts"
{engine}
[[list]]
name = "main"
{list}
"""


def documented(page: str, begin: str) -> set[str]:
    """The keys of the first table behind the line that begins with ``begin``."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(begin))
    first = next(at for at in range(start, len(lines)) if lines[at].startswith("| key |"))
    keys: set[str] = set()
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        keys |= set(re.findall(r"`(\w+)`", line.split("|")[1]))
    return keys


def expected(told: str) -> set[str]:
    """The keys that an error names."""
    found = re.search(r"there is no key zzzz, expected one of ([\w, ]+)$", told)
    assert found, told
    return set(found[1].split(", "))


@pytest.mark.parametrize(
    ("table", "begin", "others"),
    [
        ("top", "## The file", {"engine", "parameter", "list", "opponent", "verify", "measure"}),
        ("parameter", "`[parameter.NAME]`", set()),
        ("list", "", set()),
        ("engine", "", set()),
        ("verify", "", set()),
    ],
)
def test_a_study_names_all_keys(table: str, begin: str, others: set[str], tmp_path: Path) -> None:
    known = {"engine": documented("guides/ladder.md", "Of an `[[engine]]`:") - {"name", "dealt_as"}}
    lists = documented("guides/ladder.md", "Of a `[[list]]`:") - {
        "format",
        "engines",
        "heroes",
        "pairing",
        "generation",
        "blocks",
        "set_aside",
    }
    known["list"] = lists | {"weight", "pool"}
    known["verify"] = {"blocks", "gain", "alpha", "beta"}
    parts = dict.fromkeys(("top", "parameter", "list", "engine", "verify"), "") | {table: UNKNOWN}
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(**parts))
    with pytest.raises(CallError) as refused:
        read_study(path)
    assert expected(str(refused.value)) == (documented("guides/tuning.md", begin) if begin else known[table]) | others


@pytest.mark.parametrize(
    ("table", "begin", "others"),
    [
        ("top", "## ladder.toml", {"engine", "list"}),
        ("engine", "Of an `[[engine]]`:", set()),
        ("list", "Of a `[[list]]`:", set()),
    ],
)
def test_a_ladder_names_all_keys(table: str, begin: str, others: set[str]) -> None:
    parts = dict.fromkeys(("top", "engine", "list"), "") | {table: UNKNOWN}
    with pytest.raises(CallError) as refused:
        parse_spec(LADDER.format(**parts), Path("ladder.toml"))
    assert expected(str(refused.value)) == documented("guides/ladder.md", begin) | others
