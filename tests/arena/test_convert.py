"""``caboose convert``: JSON loses nothing, the table says what happened, files are there whole or not at all."""

from __future__ import annotations

import csv
import gc
import io
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caboose.arena.export import formats as exports
from caboose.arena.export.event_table import COLUMNS, FLOATS, TEXTS, rows
from caboose.arena.export.formats import csv_table, game_object, json_lines
from caboose.cli.main import run
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules
from caboose.engine.rules.tiles import parse_tile, parse_train, train_name
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import (
    EventLine,
    FaultRecord,
    GameRecord,
    PlayerRecord,
    RecordError,
    RoundRecord,
    record_text,
)
from caboose.table.state import Replay
from record_samples import SMALL, play_record

RULES = [
    SMALL,
    Rules.of("family", 4, rounds=2),
    Rules.of("tournament", 14, rounds=1, double_answer="chickenfoot"),
    Rules.of("classic", 5, double_answer="own", rounds=2),
]
RECORDS = [play_record(rules, seed) for seed, rules in enumerate(RULES)]
RECORDS += [play_record(SMALL, 9, on_fault="forfeit"), play_record(SMALL, 9, on_fault="fallback", committed=False)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.games"
    path.write_text("".join(map(record_text, RECORDS)), encoding="utf-8")
    return path


def converted(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> bytes:
    """What the command prints."""
    assert run(["convert", *arguments]) == 0
    told = capfdbinary.readouterr()
    assert told.err == b""
    return told.out


# ---------------------------------------------------------------------------------------------------- JSON lines


def record_of(data: dict[str, Any]) -> GameRecord:
    """The record that an object of the JSON lines tells."""
    return GameRecord(
        rules=Rules(**data["rules"]),
        players=tuple(
            PlayerRecord(p["name"], tuple((key, text) for key, text in p["fields"])) for p in data["players"]
        ),
        rounds=tuple(map(round_of, data["rounds"])),
        unplayed=tuple(map(deal_of, data["unplayed"])),
        totals=tuple(data["totals"]),
        places=tuple(data["places"]),
        faults=tuple(FaultRecord(**fault | {"seat": fault["seat"] - 1}) for fault in data["faults"]),
        date=data["date"],
        event=data["event"],
        control=data["control"],
        commit=data["commit"],
        nonce=data["nonce"],
    )


def round_of(data: dict[str, Any]) -> RoundRecord:
    return RoundRecord(
        number=data["round"],
        hub=data["hub"],
        starter=data["starter"] - 1,
        deal=deal_of(data["deal"]),
        events=tuple(map(event_of, data["events"])),
        scores=tuple(data["scores"]),
        blocked=data["blocked"],
        finished=data["finished"],
    )


def deal_of(data: dict[str, Any]) -> Deal:
    hands = tuple(tuple(map(parse_tile, hand)) for hand in data["hands"])
    return Deal(data["hub"], hands, tuple(map(parse_tile, data["boneyard"])), (data["starter"] or 0) - 1)


def event_of(data: dict[str, Any]) -> EventLine:
    tile = parse_tile(data["tile"]) if "tile" in data else None
    move = None
    if "train" in data:
        assert tile is not None
        move = Move.of(tile, parse_train(data["train"]), data["match"])
    return EventLine(
        Event(data["kind"], data["seat"] - 1, tile, move), data.get("time"), data.get("score"), over=data.get("over")
    )


def test_json_lines_have_all_that_the_record_has(file: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = converted(capfdbinary, str(file)).decode("utf-8").split("\n")
    assert lines.pop() == ""
    assert [record_of(json.loads(line)) for line in lines] == RECORDS
    assert [json.loads(line)["game"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert "Dörte" in lines[1], "UTF-8, to be read by people too"


# ----------------------------------------------------------------------------------------------------- the table


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_row_for_each_event(file: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = converted(capfdbinary, str(file), "--to", "csv").decode("utf-8")
    assert text.startswith(",".join(COLUMNS) + "\n") and "\r" not in text
    given = iter(table(text))
    for game, record in enumerate(RECORDS, 1):
        for round in record.rounds:
            replay = Replay(record.rules, round.deal, [entry.event for entry in round.events])
            assert len(replay) == len(round.events)
            for number, (event, time, score, *_) in enumerate(round.events, 1):
                before, after, seat = replay.scene(number - 1), replay.scene(number), event.seat
                move = event.move
                chosen = event.kind == "play" or (event.kind == "stop" and STOP in before.moves)
                expected = {
                    "game": game,
                    "round": round.number,
                    "event": number,
                    "hub": round.hub,
                    "seat": seat + 1,
                    "player": record.players[seat].name,
                    "kind": event.kind,
                    "tile": event.tile,
                    "train": None if move is None else train_name(move.train),
                    "match": None if move is None else move.match,
                    "legal_moves": len(before.moves) if chosen else None,
                    "time": time,
                    "score": score,
                    "hand_size": after.hand_sizes[seat],
                    "boneyard": after.boneyard,
                    "round_score": round.scores[seat],
                    "game_score": record.totals[seat],
                    "place": record.places[seat],
                }
                assert next(given) == {key: "" if value is None else str(value) for key, value in expected.items()}
    assert next(given, None) is None


def test_a_game_against_the_rules_is_converted_all_the_same() -> None:
    first = RECORDS[1].rounds[0]
    plays = [i for i, entry in enumerate(first.events) if entry.event.kind == "play"]
    events = list(first.events)
    events[plays[3]], events[plays[4]] = events[plays[4]], events[plays[3]]
    made = list(rows(replace(RECORDS[1], rounds=(replace(first, events=tuple(events)),)), 7))
    assert len(made) == len(events) and {row.game for row in made} == {7}
    legal = [row.legal_moves for row in made if row.kind == "play"]
    assert None not in legal[:3] and set(legal[3:]) == {None}


def test_parquet_has_the_same_table(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(exports, "ROW_GROUP", 100)
    target = tmp_path / "out.parquet"
    assert run(["convert", str(file), "-o", str(target)]) == 0
    assert run(["convert", str(file), "-o", str(tmp_path / "out.csv")]) == 0
    got = parquet.ParquetFile(target)
    assert got.schema_arrow.names == list(COLUMNS)
    assert got.num_row_groups == -(-got.metadata.num_rows // 100)
    for name, kind in zip(COLUMNS, got.schema_arrow.types, strict=True):
        assert str(kind) == ("string" if name in TEXTS else "double" if name in FLOATS else "int32")
    given = got.read().to_pylist()
    expected = [tuple(row) for number, record in enumerate(RECORDS, 1) for row in rows(record, number)]
    assert [tuple(row.values()) for row in given] == expected


def test_parquet_needs_pyarrow(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(["convert", str(file), "-o", str(tmp_path / "out.parquet")]) == 2
    assert "needs pyarrow, which is not installed: expected" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_help_names_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "--help"]) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    assert [name for name in COLUMNS if f"{name} " not in told] == []


# ------------------------------------------------------------------------------------------------ memory, files


@pytest.mark.parametrize("format", [json_lines, csv_table])
def test_memory_does_not_grow_with_the_file(format: Any) -> None:
    class Sink(io.RawIOBase):
        size = 0

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.size += len(data)
            return len(data)

    def peak(games: int) -> int:
        tracemalloc.start()
        sink = Sink()
        with format(io.BufferedWriter(sink)) as write:
            for number in range(games):
                write(RECORDS[1], number)
                gc.collect()  # what is kept counts, not when the collector of this Python comes round
        assert sink.size > games * 5_000
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    gc.freeze()  # what is there already need not be looked through each time
    try:
        peak(2)
        assert peak(40) < peak(4) * 1.5
    finally:
        gc.unfreeze()


def test_games_that_cannot_be_read_are_reported_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [record_text(record) for record in RECORDS[:3]]
    path, target = tmp_path / "damaged.games", tmp_path / "out.csv"
    path.write_text("hello\n" + texts[0] + texts[1].replace("\nresult ", "\nresalt ") + texts[2], encoding="utf-8")
    errors = [found for found in read_records(path) if isinstance(found, RecordError)]
    assert len(errors) == 2
    assert run(["convert", str(path), "-o", str(target)]) == 1
    assert capsys.readouterr().err == "".join(f"caboose: {error}\n" for error in errors)
    assert {row["game"] for row in table(target.read_text(encoding="utf-8"))} == {"1", "3"}


def test_the_format_follows_the_name(file: Path, tmp_path: Path) -> None:
    for name, start in (("a.csv", "game,round"), ("b.JSONL", '{"format"'), ("c.txt", '{"format"'), ("d", '{"format"')):
        assert run(["convert", str(file), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert run(["convert", str(file), "-o", str(tmp_path / "e.jsonl"), "--to", "csv"]) == 0
    assert (tmp_path / "e.jsonl").read_text(encoding="utf-8").startswith("game,round")


def test_an_empty_file_is_an_empty_table(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert converted(capfdbinary, str(path)) == b""
    assert converted(capfdbinary, str(path), "--to", "csv").decode() == ",".join(COLUMNS) + "\n"


def test_standard_input_and_output(file: Path) -> None:
    command = [sys.executable, "-m", "caboose.cli.main", "convert", "-"]
    told = subprocess.run(command, input=file.read_bytes(), capture_output=True, timeout=60, check=False)
    assert (told.returncode, told.stderr) == (0, b"") and told.stdout.count(b"\n") == len(RECORDS)


def test_a_closed_pipe_is_no_error(file: Path) -> None:
    line = f"{sys.executable} -m caboose.cli.main convert {file} --to csv | head -n 1"
    told = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert (told.stdout, told.stderr) == (",".join(COLUMNS) + "\n", "")


def test_a_full_disk(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    assert run(["convert", str(file), "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "caboose: -o /dev/full: No space left on device\n"


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Path]:
    """A file that must stay as it is."""
    path = tmp_path / "old.csv"
    path.write_text("old")
    yield path
    assert path.read_text() == "old"
    assert not [other for other in tmp_path.iterdir() if other.name.endswith(".tmp")]


def test_nothing_is_replaced_when_it_goes_wrong(file: Path, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(record: GameRecord, game: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exports, "rows", interrupted)
    assert run(["convert", str(file), "-o", str(old)]) == 1


def test_wrong_calls(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        assert run(["convert", *arguments]) == 2
        told = capsys.readouterr()
        assert told.out == "" and told.err.startswith("caboose: ") and told.err.count("\n") == 1
        return told.err

    assert "--to xml: expected jsonl, csv, parquet" in refused(str(file), "--to", "xml")
    assert "No such file" in refused(str(tmp_path / "none"))
    assert "directory" in refused(str(tmp_path))
    assert "this is the file that is read" in refused(str(file), "-o", str(file), "--to", "csv")
    assert "No such file" in refused(str(file), "-o", str(tmp_path / "no" / "out.csv"))
    assert "directory" in refused(str(file), "-o", str(tmp_path))
    assert file.read_text(encoding="utf-8").startswith("game 1\n")


def test_objects_are_plain_json() -> None:
    data = game_object(RECORDS[4], 5)
    assert data["faults"][0]["seat"] == 2 and data["rounds"][-1]["finished"] is False
    assert list(data["rounds"][0]["events"][0])[:2] == ["seat", "kind"]
