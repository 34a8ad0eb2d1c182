"""What the operating system refuses is told in words, with what it was about: never ``[Errno 24]``."""

from __future__ import annotations

import ast
import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import caboose.arena
import caboose.protocol
from caboose.arena.errors import PlayError, cause, reason
from caboose.protocol.process.child import LackError

KINDS = {"OSError", "FileNotFoundError", "PermissionError", "BlockingIOError"}
CODES = sorted(errno.errorcode)
FOLDERS = [Path(package.__path__[0]) for package in (caboose.arena, caboose.protocol)]


@pytest.mark.parametrize("code", CODES)
def test_every_error_has_words(code: int) -> None:
    for error in (OSError(code, os.strerror(code)), OSError(code, os.strerror(code), "/a/b"), LackError(code, "", "a")):
        text = reason(error)
        assert "[Errno" not in text and "None" not in text and "\n" not in text
        assert text.startswith("/a/b: ") or error.filename != "/a/b"
        assert cause(error)


def test_words_of_its_own_stay() -> None:
    assert cause(OSError(errno.ENOMEM, "it is larger than 256 MiB")) == "it is larger than 256 MiB"
    assert cause(OSError("a tape tore")) == reason(OSError("a tape tore")) == "a tape tore"
    assert cause(OSError()) == "OSError"
    assert reason(PlayError("a block")) == "a block"
    assert "ulimit -n" in reason(LackError(errno.EMFILE, os.strerror(errno.EMFILE), "greedy"))
    assert reason(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "x")) == "x: No such file or directory"


def _worded(handler: ast.ExceptHandler) -> Iterator[int]:
    """The lines in which a handler makes its error a text by itself."""

    def is_error(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == handler.name

    for node in ast.walk(handler):
        if isinstance(node, ast.FormattedValue):
            if is_error(node.value) or "strerror" in ast.dump(node.value):
                yield node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and is_error(node.args[0]):
            yield node.lineno


def test_nobody_words_them_on_his_own() -> None:
    """In a handler of ``OSError`` the error becomes text through ``cause`` and ``reason`` alone."""
    found = []
    for path in sorted(path for folder in FOLDERS for path in folder.rglob("*.py")):
        for handler in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(handler, ast.ExceptHandler) and handler.type is not None and handler.name is not None:
                kinds = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
                if kinds & KINDS:
                    found += [f"{path.name}:{line}" for line in _worded(handler)]
    assert found == []


def test_too_few_files() -> None:
    call = "match greedy random --rounds 1 --blocks 8 --nodes 1 --concurrency 4 --players 2"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "caboose.cli.main", *call.split()], capture_output=True, text=True, timeout=60,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14)),
    )  # fmt: skip
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert "[Errno" not in told and "Traceback" not in told
    assert "ulimit -n" in told
