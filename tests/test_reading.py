"""Files without an end, and larger than there is room for."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest

from caboose.arena.cli import run
from caboose.arena.reading import read_text, read_whole


def test_no_more_is_read_than_allowed(tmp_path: Path) -> None:
    assert read_whole(io.BytesIO(b"abc"), 3) == b"abc" and read_whole(io.StringIO("abc"), 3) == "abc"
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfabc\r\n")
    assert read_text(path, 4) == "abc\n"
    with pytest.raises(OSError, match="larger than") as error:
        read_text(path, 3)
    assert error.value.errno == errno.EFBIG


@pytest.mark.parametrize("call", ["tune {}", "suite score {} planner --nodes 1"])
def test_a_device_without_an_end_is_refused(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(call.format("/dev/zero").split()) == 2
    assert capsys.readouterr().err.startswith("caboose: /dev/zero: it is larger than 256 MiB")


def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("typer.Typer.__call__", fail)
    assert run(["rules"]) == 1
    assert capsys.readouterr().err == "caboose: the memory does not suffice\n"
