"""How much blocks vary, measured from a ladder or a match: what the number of blocks for a gain depends on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from caboose.arena.blocks.game_rows import SEAT, seat_rows
from caboose.arena.blocks.results import ResultError, read_result
from caboose.arena.errors import CallError, cause
from caboose.arena.ladder.run import open_store
from caboose.arena.ladder.totals import read_board
from caboose.arena.stats.game_table import Games, join
from caboose.arena.stats.sprt import NORMAL, State, block_values


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of the block values of one contestant, over ``blocks`` blocks at tables of ``players``:
    margins in pips a round, or scores (0 to 1); and their kurtosis, 3 where nothing is known of it."""

    label: str
    players: int | None
    blocks: int
    deviation: float
    kurtosis: float = NORMAL


def ladder_spreads(folder: Path, unit: str) -> list[Spread]:
    """Those of all entries of a ladder, for each size of table. Raises ``RunError``."""
    with open_store(folder) as store:
        board = read_board(store, store.lists())
    return _spreads(board.games, [entry.label for entry in board.entries], unit)


def match_spreads(path: Path, unit: str) -> list[Spread]:
    """Those of all contestants of a match. Raises ``CallError`` for a file that is not there, or holds none."""
    try:
        result = read_result(path)
    except OSError as error:
        raise CallError(f"{path}: {cause(error)}: expected a ladder or what `caboose match --json` wrote") from None
    except ResultError as error:
        raise CallError(f"{error}, expected a ladder or what `caboose match --json` wrote") from None
    seats = [seat_rows(game, result.entries) for block in result.blocks for game in block.games]
    numbers = [block.block for block in result.blocks for _ in block.games]
    if not seats:
        return []
    rows = np.stack(seats)
    assert rows.dtype == SEAT
    games = Games(
        block=np.array(numbers, np.int64),
        player=rows["entry"].astype(np.int32),
        place=rows["place"].astype(np.int16),
        margin=rows["margin"],
        rounds_won=rows["rounds_won"],
        games_won=rows["games_won"],
        counted=rows["counted"].astype(bool),
    )
    return _spreads(games, [contestant.label for contestant in result.contestants], unit)


def _spreads(games: Games, labels: list[str], unit: str) -> list[Spread]:
    found = []
    widths = (games.player >= 0).sum(axis=1)
    for players in np.unique(widths).tolist():
        part = join([games.select(widths == players)])
        for number, label in enumerate(labels):
            _, values = block_values(part, number, None, unit)
            if len(values) > 1 and float(values.std()) > 0:
                kurtosis = float(State().with_blocks(values.tolist()).moments.kurtosis.item())
                found.append(Spread(label, players, len(values), float(values.std(ddof=1)), kurtosis))
    return found
