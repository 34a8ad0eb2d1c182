"""The shape of the house: imports go down only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BELOW = {"engine": set(), "protocol": {"engine"}, "bots": {"engine"}, "arena": {"engine", "protocol", "bots"}}
PACKAGE = re.compile(r"^\s*(?:from|cimport|import)\s+caboose\.(\w+)", re.MULTILINE)


def imported(path: Path) -> set[str]:
    """The packages of the project that a source file imports, by ``import`` or ``cimport``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(PACKAGE.findall(text))
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("caboose.")}


@pytest.mark.parametrize("package", BELOW)
def test_imports_go_down_only(package: str) -> None:
    sources = [p for p in (ROOT / package).rglob("*") if p.suffix in (".py", ".pyx", ".pxd", ".pyi")]
    assert len(sources) > 3
    for path in sources:
        assert imported(path) <= BELOW[package] | {package}, path.name
