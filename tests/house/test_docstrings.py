"""What ``help()`` shows of the compiled modules is what their stubs say."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

from paths import ROOT

STUBS = sorted(path.relative_to(ROOT) for package in ("engine", "protocol") for path in (ROOT / package).rglob("*.pyi"))


@pytest.mark.parametrize("path", STUBS, ids=lambda path: path.stem)
def test_the_compiled_modules_say_what_their_stubs_say(path: Path) -> None:
    module = importlib.import_module(f"caboose.{'.'.join(path.with_suffix('').parts)}")
    stub = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    nodes = [(module, node) for node in stub.body]
    nodes += [(getattr(module, c.name), node) for c in stub.body if isinstance(c, ast.ClassDef) for node in c.body]
    said = 0
    for owner, node in nodes:
        # Attributes that Cython makes have no docstring at run time.
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or (doc := ast.get_docstring(node)) is None:
            continue
        thing = inspect.getattr_static(owner, node.name)
        if inspect.isgetsetdescriptor(thing) or inspect.ismemberdescriptor(thing):
            if thing.__doc__:
                assert inspect.cleandoc(thing.__doc__) == doc, node.name
            continue
        thing = getattr(thing, "__func__", thing)
        assert thing.__doc__ and inspect.cleandoc(thing.__doc__) == doc, node.name
        said += 1
    assert said
