"""The tables of the tiles, computed anew; tiles, trains and moves as text."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.tiles import MEXICAN, TILES, Tile, parse_tile, parse_train, tile_of, train_name
from paths import ROOT

HEADER = (ROOT / "engine" / "rules" / "tiles.h").read_text()


def table(name: str) -> list[int]:
    """The numbers of a table of tiles.h."""
    body = re.search(rf"{name}(?:\[\d+\])+ = \{{(.*?)\}};", HEADER, re.DOTALL)
    assert body is not None
    return [int(number, 0) for number in re.findall(r"0x[0-9a-f]+|\d+", body[1].replace("ULL", ""))]


def words(tiles: list[Tile]) -> list[int]:
    """A set of tiles as three 64-bit words."""
    bits = sum(1 << tile.id for tile in tiles)
    return [bits >> 64 * word & (1 << 64) - 1 for word in range(3)]


def test_the_numbers_of_the_tiles_go_on_from_set_to_set() -> None:
    assert [tile.id for tile in TILES] == list(range(190))
    for top in (6, 9, 12, 15, 18):
        assert {t for t in TILES if t.high <= top} == set(TILES[: (top + 1) * (top + 2) // 2])


def test_tables_of_the_core() -> None:
    assert table("caboose_low") == [tile.low for tile in TILES]
    assert table("caboose_high") == [tile.high for tile in TILES]
    assert table("caboose_doubles") == words([tile for tile in TILES if tile.is_double])
    assert table("caboose_with") == [word for v in range(19) for word in words([t for t in TILES if v in t])]


def test_moves_are_one_object_each_and_text_both_ways() -> None:
    seen = set()
    for tile in TILES:
        for train in range(MEXICAN + 1):
            for match in set(tile):
                move = Move.of(tile, train, match)
                assert (move.tile, move.train, move.match, move.open) == (tile, train, match, sum(tile) - match)
                assert Move.parse(str(move)) is move
                seen.add(move)
    assert len(seen) == 15 * (190 * 2 - 19)
    assert Move.parse("stop") is STOP
    assert STOP.tile is None
    assert pickle.loads(pickle.dumps(STOP)) is STOP
    assert copy.deepcopy(Move.parse("5-12@M")) is Move.parse("5-12@M")


@pytest.mark.parametrize(
    "text",
    ["", "5-12", "5-12@", "5-12@N", "5-12@0", "5-12@15", "19-0@1", "5--1@1", "@M", "5-12@M@M", "pass", "5-12@m"],
)
def test_what_is_no_move_is_refused_and_says_what_is_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a (move|train)"):
        Move.parse(text)


@pytest.mark.parametrize("text", ["", "3", "3-", "-3", "3-19", "3-x", "3_0-1", "3-4-5", "+3-4", " 3-4", "003-4"])
def test_what_is_no_tile_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a tile"):
        parse_tile(text)


def test_trains_and_tiles_as_text() -> None:
    assert parse_tile("12-3") == (3, 12)
    assert str(tile_of(12, 3)) == "3-12"
    for train in range(MEXICAN + 1):
        assert parse_train(train_name(train)) == train
    with pytest.raises(ValueError, match="no tile"):
        tile_of(3, 19)
    with pytest.raises(ValueError, match="no side"):
        Move.of((3, 12), 0, 5)
    with pytest.raises(ValueError, match="expected 0 to 14"):
        Move.of((3, 12), 15, 3)
