"""Files without an end, and larger than there is room for."""

from __future__ import annotations

import errno
import gzip
import io
import os
import subprocess
import threading
import tracemalloc
from pathlib import Path

import pytest

from caboose.arena.storage.files import open_input, read_text, read_whole
from caboose.arena.viewer.record_index import RecordFile
from caboose.cli.main import run


def test_no_more_is_read_than_allowed(tmp_path: Path) -> None:
    assert read_whole(io.BytesIO(b"abc"), 3) == b"abc" and read_whole(io.StringIO("abc"), 3) == "abc"
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfabc\r\n")
    assert read_text(path, 4) == "abc\n"
    with pytest.raises(OSError, match="larger than") as error:
        read_text(path, 3)
    assert error.value.errno == errno.EFBIG


@pytest.mark.parametrize(
    "call",
    [
        "analyse {}",
        "convert {}",
        "log {}",
        "show {}",
        "suite make -o {folder}/suite {}",
        "suite score {} planner --nodes 1",
        "tune {}",
        "verify {}",
        "verify --published {} {}",
    ],
)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end_is_refused(
    call: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(call.format(device, device, folder=tmp_path).split()) == 2
    assert f"{device}: it is a device, no file" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["ladder.toml", "ladder.db"])
def test_a_ladder_of_devices_is_refused(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ladder = tmp_path / "ladder"
    assert run(["ladder", "init", str(ladder), "--seed", "1"]) == 0
    (ladder / file).unlink()
    (ladder / file).symlink_to("/dev/zero")
    capsys.readouterr()
    assert run(["ladder", "status", str(ladder)]) != 0
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("command", ["analyse", "convert", "show", "verify"])
def test_a_line_without_an_end_ends_the_reading(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through a pipe, which is no device."""
    for module in ("cli.options.files", "arena.viewer.record_index"):
        monkeypatch.setattr(f"caboose.{module}.ENDLESS", 1 << 20)
    monkeypatch.setattr("caboose.protocol.records.reader.ENDLESS", 1 << 20)
    source, target = os.pipe()
    with os.fdopen(source, "rb") as pipe, subprocess.Popen(["cat", "/dev/zero"], stdout=target) as endless:
        os.close(target)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(pipe))
        assert run([command, "-"]) != 0
        endless.kill()
    told = capsys.readouterr()
    assert "has more than 1 MiB" in told.out + told.err


def test_a_huge_regular_file_without_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("caboose.arena.viewer.record_index.ENDLESS", 1 << 20)
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 23)
    with pytest.raises(OSError, match="has more than 1 MiB"):
        RecordFile(path)


def test_a_pipe_that_nobody_writes_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said that the program waits; what is written then is read."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr("caboose.arena.storage.files.WAIT", 0.01)
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        threading.Thread(target=path.write_bytes, args=(b"abc",)).start()

    monkeypatch.setattr("caboose.arena.storage.files.put_error", tell)
    with open_input(path) as file:
        assert file.read() == b"abc"
    assert told == [f"caboose: {path}: nobody writes to this pipe yet; waiting (Ctrl-C ends it)"]


def packed(path: Path, head: bytes, size: int) -> Path:
    """A small file of one huge line."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(size >> 20):
            file.write(b"x" * (1 << 20))
    return path


@pytest.mark.parametrize(
    ("call", "head", "code"),
    [
        ("log {}", b"log 1\n\n", 2),
        ("log {}", b"", 2),
        ("suite score {} planner --nodes 1", b"", 1),
        ("suite make -o {folder}/suite {}", b"game 1\n", 1),
    ],
)
def test_a_packed_line_is_never_whole_in_memory(
    call: str, head: bytes, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = packed(tmp_path / "bomb.gz", head, 1 << 27)
    words = call.format(path, folder=tmp_path).split()
    run(["verify", os.devnull])  # what is loaded once does not count
    tracemalloc.start()
    try:
        assert run(words) == code
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 50 << 20
    assert f"{path}:" in capsys.readouterr().err


def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("typer.Typer.__call__", fail)
    assert run(["rules"]) == 1
    assert capsys.readouterr().err == "caboose: the memory does not suffice\n"
