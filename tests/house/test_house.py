"""The shape of the house: imports go down only."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from paths import ROOT

BELOW = {
    "engine": set(),
    "protocol": {"engine"},
    "bots": {"engine"},
    "table": {"engine", "protocol"},
    "arena": {"engine", "protocol", "bots", "table"},
    "cli": {"engine", "protocol", "bots", "table", "arena"},
}
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


WORDS = {
    "rich.console": {"Console"},
    "rich.text": {"Text"},
    "rich.progress": {"TextColumn"},
    "rich": {"print", "print_json"},
    "rich.markup": {"render", "escape"},
}
PRINTERS = ("output.py", "console.py", "cli.py")  # where words stay words; cli.py has words of ours alone


def unsafe(tree: ast.AST) -> list[str]:
    """What in a source could print words of others as markup, or as commands to the terminal."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"import {alias.name}" for alias in node.names if alias.name.split(".")[0] == "rich"]
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            found += [f"from {node.module} import {name}" for name in names & WORDS.get(node.module or "", set())]
        elif isinstance(node, ast.keyword) and node.arg in ("markup", "emoji", "ensure_ascii"):
            found.append(f"{node.arg}=")
        elif isinstance(node, ast.Attribute) and node.attr in ("from_markup", "from_ansi", "echo", "secho"):
            found.append(f".{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            text = ast.unparse(node.args[0]) if node.args else ""
            if not text.startswith(("json.dumps(", "json_text.dumps(", "json_text(")):  # ASCII, or made printable
                found.append(f"print({text})")
        elif isinstance(node, ast.Attribute) and node.attr == "write" and ast.unparse(node).startswith("sys.std"):
            found.append(ast.unparse(node))
    return found


def test_words_of_others_are_printed_in_one_place() -> None:
    """Use ``caboose.arena.console.console`` for tables, texts and bars, ``caboose.arena.console.output`` for lines."""
    for package in ("arena", "bots"):
        for path in (ROOT / package).rglob("*.py"):
            if path.name not in PRINTERS:
                found = unsafe(ast.parse(path.read_text(encoding="utf-8")))
                assert not found, f"{path.relative_to(ROOT)}: {found}"


@pytest.mark.parametrize(
    "source",
    [
        "from rich.console import Console",
        "from rich.text import Text",
        "from rich import print",
        "import rich.text as text",
        "print(f'{name}: done')",
        "typer.echo(name)",
        "Console(markup=True)",
        "Text.from_markup(name)",
        "sys.stdout.write(name)",
        "json.dumps(name, ensure_ascii=False)",
    ],
)
def test_what_would_be_unsafe(source: str) -> None:
    assert unsafe(ast.parse(source))


# --- the packages within a floor ----------------------------------------------------------------------------------

NAME = re.compile(r"^\s*(?:from|cimport|import)\s+caboose\.(\w+)\.(\w+)", re.MULTILINE)


def rooms(floor: str) -> dict[str, set[str]]:
    """The packages and loose modules of a floor, each with those that it imports."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / floor).rglob("*"):
        if path.suffix in (".py", ".pyx", ".pxd"):
            room = path.relative_to(ROOT / floor).with_suffix("").parts[0]
            if room != "__init__":
                imports = {name for where, name in NAME.findall(path.read_text(encoding="utf-8")) if where == floor}
                found.setdefault(room, set()).update(imports - {room})
    return found


# In cli/ the words that the help shows are written from the commands, which they stand for.
@pytest.mark.parametrize("floor", [floor for floor in BELOW if floor != "cli"])
def test_packages_of_a_floor_import_each_other_in_one_direction(floor: str) -> None:
    order = list(TopologicalSorter(rooms(floor)).static_order())  # raises CycleError
    assert order


def test_no_module_lies_loose_in_the_arena() -> None:
    assert {path.name for path in (ROOT / "arena").glob("*.py")} == {"__init__.py", "errors.py"}


def test_every_package_says_what_it_is_for() -> None:
    for floor in BELOW:
        for path in (ROOT / floor).rglob("__init__.py"):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert text and len(text) > 20, path.relative_to(ROOT)
