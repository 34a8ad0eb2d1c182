"""A page: one HTML file with sections, that needs no other file, no network and no script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal
from xml.etree.ElementTree import Element

from caboose.arena.report.html import Child, append, element, written
from caboose.arena.report.plots import Figure, Tone
from caboose.arena.report.svg import figure

_MANY: Final = 12  # narrow columns that go on a sheet of paper with all that is in them
_LONG: Final = 30  # letters of a word from which on it may break at the end of a line

# Nothing is loaded and no script runs, whatever a page holds.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

Verdict = Literal["good", "bad", "open"]
_SIGNS: Final[dict[Verdict, str]] = {"good": "✓", "bad": "✗", "open": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a table: ``text``, below it ``below`` in small letters. It is shaded with ``tone``, by ``strength`` (0
    to 1). ``code`` is set in letters of equal width."""

    text: str
    below: str = ""
    tone: Tone | None = None
    strength: float = 0.0
    code: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``numbers`` stand on the right. ``upright`` titles are turned, where there are many narrow
    columns."""

    title: str
    numbers: bool = True
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure that one sees first: ``value`` in large letters, what it is, and more about it."""

    name: str
    value: str
    note: str = ""


class Section:
    """A part of a page, under a heading. Its methods add to it in the order in which they are called."""

    def __init__(self, title: str, *, level: int = 2) -> None:
        self.title = title
        self.name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
        self._level = level
        self.element = element("section", element(f"h{level}", title), aria_label=title)
        if level == 2:
            self.element.set("id", self.name)

    def section(self, title: str) -> Section:
        """A part of this part, with a heading one level lower."""
        made = Section(title, level=self._level + 1)
        append(self.element, made.element)
        return made

    def text(self, *parts: Child) -> None:
        """A paragraph: text and elements."""
        append(self.element, element("p", *parts))

    def verdict(self, verdict: Verdict, text: str) -> None:
        """A judgement that is seen at a glance, with its sign."""
        sign = element("span", _SIGNS[verdict], class_="sign", aria_hidden="true")
        append(self.element, element("p", sign, element("span", text), class_=f"verdict {verdict}"))

    def facts(self, facts: Iterable[Fact]) -> None:
        """Figures side by side."""
        made = element("dl", class_="facts")
        for fact in facts:
            note = element("dd", fact.note, class_="note") if fact.note else None
            append(made, element("div", element("dt", fact.name), element("dd", fact.value), note))
        append(self.element, made)

    def items(self, items: Iterable[str]) -> None:
        """A list of texts."""
        append(self.element, element("ul", *(element("li", item) for item in items)))

    def code(self, text: str) -> None:
        """Text as one types it, such as commands."""
        made = element("pre", element("code", text), tabindex="0", role="region", aria_label=f"{self.title}: commands")
        append(self.element, made)

    def figure(self, what: Figure) -> None:
        """A figure with its caption."""
        append(self.element, figure(what))

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, caption: str) -> None:
        """A table, in a box in which it scrolls if it is wider than the page. The first cell of a row is its name."""
        head = element("tr", *(_title(column) for column in columns))
        body = element("tbody")
        for row in rows:
            line = element("tr")
            for at, (column, cell) in enumerate(zip(columns, row, strict=True)):
                append(line, _cell(column, cell if isinstance(cell, Cell) else Cell(text=cell), head=at == 0))
            append(body, line)
        table = element("table", element("thead", head), body)
        # The caption is beside the box, not in the table: it would scroll with it.
        upright = sum(column.upright for column in columns)
        kind = "scroll tall" if upright else "scroll"
        box = element("div", table, class_=kind, tabindex="0", role="region", aria_label=caption)
        many = "many" if upright > _MANY else "some"
        append(self.element, element("figure", box, element("figcaption", caption), class_=many))


class Page:
    """A page with ``title``. ``lead`` stands below it, ``foot`` at the end."""

    def __init__(self, title: str, *, lead: str = "", foot: str = "") -> None:
        self._title = title
        self._lead = lead
        self._foot = foot
        self._sections: list[Section] = []

    def section(self, title: str) -> Section:
        """A new section at the end. Titles differ from each other."""
        made = Section(title)
        self._sections.append(made)
        return made

    def html(self) -> str:
        """The whole file."""
        links = [element("li", element("a", each.title, href=f"#{each.name}")) for each in self._sections]
        head = element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", self._title),
            element("style", _style()),
        )
        body = element(
            "body",
            element("header", element("h1", self._title), element("p", self._lead) if self._lead else None),
            element("nav", element("ul", *links), aria_label="Contents"),
            element("main", *(each.element for each in self._sections)),
            element("footer", element("p", self._foot)) if self._foot else None,
        )
        return f"<!DOCTYPE html>\n{written(element('html', head, body, lang='en'))}\n"


@cache
def _style() -> str:
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


def _title(column: Column) -> Element:
    text: Child = element("span", column.title) if column.upright else column.title
    kinds = [kind for kind, there in (("number", column.numbers), ("upright", column.upright)) if there]
    return element("th", text, scope="col", class_=" ".join(kinds) or "text")


def _cell(column: Column, cell: Cell, *, head: bool) -> Element:
    kinds = ["number" if column.numbers else "text"]
    text: Child = element("code", cell.text) if cell.code else cell.text
    below = element("small", cell.below) if cell.below else None
    made = element("th", element("div", text, below)) if head else element("td", text, below)
    if head:
        made.set("scope", "row")
        if any(len(word) >= _LONG for word in cell.text.split()):
            kinds.append("long")
    if cell.tone:
        kinds.append(f"shaded tone-{cell.tone}")
        made.set("style", f"--strength: {round(100 * cell.strength)}%")
    made.set("class", " ".join(kinds))
    return made
