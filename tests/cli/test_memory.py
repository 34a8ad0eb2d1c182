"""Too little memory is told in a line, however little it is."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys

import pytest

from caboose.arena.console.memory import LEAST, MIB, MUCH, NO_MEMORY, for_lack_of_memory, lacking_space
from caboose.cli.main import run


@pytest.mark.parametrize(
    ("mebibytes", "call"),
    [(30, "rules"), (30, "ladder status x"), (60, "bench"), (110, "verify x"), (250, "ladder run x")],
)
def test_a_small_address_space(mebibytes: int, call: str) -> None:
    # Each is where a library has ended the process, or tried for ever, or was half loaded.
    limits = (mebibytes * MIB, mebibytes * MIB)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "caboose.cli.main", *call.split()], capture_output=True, text=True, timeout=60,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"caboose: {NO_MEMORY}") and done.stderr.count("\n") == 1


def test_a_bot_as_an_engine_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "caboose.arena.blocks.engine_process", "greedy"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (60 * MIB,) * 2),
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        done.stderr.startswith(f"caboose: {NO_MEMORY}: this process may have 60 MiB") and done.stderr.count("\n") == 1
    )


def test_what_is_needed_grows_with_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (MUCH, MUCH))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert not lacking_space("ladder") and not lacking_space("--help") and not lacking_space("")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert "for ladder" in lacking_space("ladder")
    assert not lacking_space("log") and LEAST < MUCH


def _raise(error: BaseException, cause: BaseException | None = None) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (_raise(ImportError("numpy is not there"), MemoryError()), True),
        (ImportError("No module named x"), False),
        (ValueError("memory"), False),
    ],
)
def test_by_what_it_is_known(
    error: BaseException, lacks: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert for_lack_of_memory(error) is lacks

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("typer.Typer.__call__", fail)
    assert run(["rules"]) == 1
    told = capsys.readouterr().err
    assert ("Traceback" in told) is not lacks
    assert not lacks or (NO_MEMORY in told and told.count("\n") == 1)
