"""``docs/reference/notation.md``: every example on the page is what the code writes, reads and refuses."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from caboose.protocol.notation import notation
from caboose.protocol.notation.notation import NotationError, parse_rules
from paths import DOCS

TEXT: Final = (DOCS / "reference" / "notation.md").read_text(encoding="utf-8")
EXAMPLES: Final = re.findall(r"^```(\w+)(?: (loose|refused))?\n(.*?)\n```$", TEXT, re.M | re.S)
RULES: Final = parse_rules(next(text for kind, how, text in EXAMPLES if kind == "rules" and not how))

READERS: Final[dict[str, Callable[[str], Any]]] = {
    "tiles": notation.parse_tiles,
    "moves": notation.parse_moves,
    "events": notation.parse_events,
    "rules": notation.parse_rules,
    "deal": lambda text: notation.parse_deal(RULES, text),
    "position": notation.parse_position,
    "observation": notation.parse_observation,
}
WRITERS: Final[dict[str, Callable[[Any], str]]] = {
    "tiles": notation.tiles_text,
    "moves": notation.moves_text,
    "events": notation.events_text,
    "rules": str,
    "deal": lambda deal: notation.deal_text(RULES, deal),
    "position": notation.position_text,
    "observation": notation.observation_text,
}


def examples(how: str) -> list[Any]:
    """The examples that are canonical (""), typed freely ("loose") or refused."""
    return [pytest.param(kind, text, id=kind) for kind, h, text in EXAMPLES if h == how and kind in READERS]


@pytest.mark.parametrize(("kind", "text"), examples(""))
def test_what_the_page_shows_is_what_is_written(kind: str, text: str) -> None:
    assert WRITERS[kind](READERS[kind](text)) == text


def test_the_page_shows_everything() -> None:
    assert {kind for kind, how, _ in EXAMPLES if not how} >= set(READERS)


@pytest.mark.parametrize(("kind", "text"), examples("loose"))
def test_what_the_page_types_freely_means_what_it_says(kind: str, text: str) -> None:
    (canonical,) = [shown for other, how, shown in EXAMPLES if other == kind and not how]
    assert WRITERS[kind](READERS[kind](text)) == canonical


@pytest.mark.parametrize(("kind", "text"), examples("refused"))
def test_what_the_page_refuses_is_refused_like_that(kind: str, text: str) -> None:
    text, _, error = text.partition("\n! ")
    with pytest.raises(NotationError) as refused:
        READERS[kind](text)
    assert str(refused.value) == error


def test_what_the_page_does_in_python_works() -> None:
    (session,) = [text for kind, _, text in EXAMPLES if kind == "python"]
    case = doctest.DocTestParser().get_doctest(session + "\n", {}, "notation.md", None, None)
    assert case.examples
    assert doctest.DocTestRunner().run(case).failed == 0


def test_the_page_names_every_function() -> None:
    for name in notation.__all__:
        assert f"`{name}" in TEXT
