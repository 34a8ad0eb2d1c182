"""What a match leaves behind, as values and as JSON.

Only plain values are kept: a result read from a file equals the one that was written, and can be read without the
programs that played it.
"""

from __future__ import annotations

import json
import os
import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, overload

from caboose.arena import caboose_version
from caboose.arena.blocks.contestants import Contestant
from caboose.arena.storage.files import open_read, read_text, temporary_beside
from caboose.arena.storage.json_codec import DecodeError, decode, encode
from caboose.bots import MEASURING
from caboose.protocol.referee.referee import Fault, GameResult
from caboose.protocol.referee.timing import TimeControl

FORMAT: Final = "caboose match"
FORMAT_VERSION: Final = 1
MOST: Final = 1 << 32  # characters of a file; a million games take far less


class ResultError(ValueError):
    """A file that holds no match result. The text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A fault of ``seat`` (from 0) for which a game was given up and played again."""

    seat: int
    fault: Fault


@dataclass(frozen=True, slots=True)
class GameInBlock:
    """A game and who sat where: ``seating`` has, for each seat, the number of an entry of the line-up. ``crashes`` are
    those of the tries before it, which count for nothing else."""

    seating: tuple[int, ...]
    result: GameResult
    crashes: tuple[Crash, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockResult:
    """A whole block: one game for each rotation of the seats, all with the same deals. ``block`` counts from 0. Limits
    of time were ``scale`` times as long as the match has them."""

    block: int
    games: tuple[GameInBlock, ...]
    scale: float = 1.0


class Blocks(Sequence[BlockResult]):
    """Blocks in the order of their numbers, packed: a long match has many, and looks at them once, at its end."""

    def __init__(self, blocks: Iterable[BlockResult] = ()) -> None:
        self._packed: dict[int, bytes] = {}
        for block in blocks:
            self.add(block)

    def add(self, block: BlockResult) -> None:
        """Takes a block in. Those that were there may not be looked at meanwhile."""
        self._packed[block.block] = zlib.compress(pickle.dumps(block), 1)

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> BlockResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockResult]: ...
    def __getitem__(self, index: int | slice) -> BlockResult | Sequence[BlockResult]:
        numbers = sorted(self._packed)[index]
        return self._unpack(numbers) if isinstance(numbers, int) else [self._unpack(number) for number in numbers]

    def __iter__(self) -> Iterator[BlockResult]:
        return map(self._unpack, sorted(self._packed))

    def _unpack(self, number: int) -> BlockResult:
        block: BlockResult = pickle.loads(zlib.decompress(self._packed[number]))
        return block


@dataclass(frozen=True, slots=True)
class Played:
    """A contestant as it played: what was asked for, and what an engine said of itself (empty for built-in bots).

    ``measuring`` is what a measuring bot saw of what is hidden, and empty for all who played honestly.
    """

    label: str
    builtin: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    engine: str = ""
    version: str = ""
    author: str = ""
    measuring: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """A match: how it was set up and all whole blocks that were played, by number.

    ``rules`` is the text of ``Rules``. ``entries`` has the number of a contestant for each player of a game.
    ``seed`` is text, as it has more digits than most programs that read JSON keep. ``problem`` says why fewer blocks
    than ``asked`` were played, and is empty when all were. ``started`` is a date and time (ISO 8601, UTC).
    """

    caboose: str
    started: str
    seconds: float
    rules: str
    contestants: tuple[Played, ...]
    entries: tuple[int, ...]
    control: TimeControl
    on_fault: str
    restart: str = "auto"
    crashed: str = "lost"
    in_process: bool
    concurrency: int
    seed: str
    asked: int
    blocks: Sequence[BlockResult]
    problem: str = ""


def result_text(result: MatchResult, standings: Any) -> Iterator[str]:
    """``result`` as JSON, in pieces, with its ``standings`` (for those who only want those) and a block on each
    line."""
    data = {"format": FORMAT, "format_version": FORMAT_VERSION} | encode(replace(result, blocks=()))
    data.pop("blocks")
    yield "{\n"
    for key, value in data.items():
        yield f"{json.dumps(key)}: {json.dumps(value)},\n"
    yield '"standings": ['
    yield from _rows(standings)
    yield '],\n"blocks": ['
    yield from _rows(result.blocks)
    yield "]\n}\n"


def write_result(result: MatchResult, standings: Any, path: Path) -> None:
    """Writes ``result_text``.

    A regular file is there whole or not at all; a link is followed, and a pipe or a device is written to. Raises
    ``OSError``.
    """
    path = path.resolve()
    text = result_text(result, standings)
    if path.exists() and not path.is_file():
        with open(path, "w", encoding="utf-8", opener=open_read) as file:
            file.writelines(text)
        return
    # Beside the target: a rename is whole only within a file system.
    temporary = temporary_beside(path)
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.writelines(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_result(path: Path) -> MatchResult:
    """The result that ``write_result`` wrote. Raises ``ResultError`` and ``OSError``."""
    try:
        data = json.loads(read_text(path, MOST))
    except ValueError as error:
        raise ResultError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise ResultError(f"{path}: not the result of a match")
    version = data.pop("format_version", None)
    if version != FORMAT_VERSION:
        raise ResultError(f"{path}: format version {version}, expected {FORMAT_VERSION}")
    data.pop("standings", None)
    try:
        return decode(MatchResult, data)
    except (DecodeError, ValueError) as error:
        raise ResultError(f"{path}: {error}") from None


def _rows(items: Iterable[object]) -> Iterator[str]:
    for number, item in enumerate(items):
        yield f"{',' if number else ''}\n{json.dumps(encode(item))}"


def introduce(contestant: Contestant) -> Played:
    """What there is to know of a contestant."""
    played = Played(contestant.label, contestant.builtin, contestant.command, contestant.options)
    if contestant.builtin:
        measuring = MEASURING[contestant.builtin].sees if contestant.builtin in MEASURING else ""
        return replace(played, version=caboose_version(), measuring=measuring)
    about = contestant.about
    return replace(played, engine=about.name, version=about.version, author=about.author)
