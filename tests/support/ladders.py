"""Ladders for the tests: what commands say of them."""

from __future__ import annotations

import pytest

from caboose.cli.main import run


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    """What a command prints, and what it says on standard error, with their lines joined."""
    assert run(["ladder", *arguments]) == code
    captured = capsys.readouterr()
    return " ".join(captured.out.split()), " ".join(captured.err.split())
