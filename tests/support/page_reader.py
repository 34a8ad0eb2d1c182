"""A reader of pages that people look at, which asks for more than a browser does: ``read_page``."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Final

_VOID: Final = {"meta", "br", "hr", "img", "link", "input"}
_LOADING: Final = ("src", "href", "xlink:href", "srcset", "data", "action", "poster", "background")


class PageReader(HTMLParser):
    """What is on a page: ``headings`` (level, text), ``tables`` (rows of texts of cells), ``text`` in all, ``ids``."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[tuple[int, str]] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        assert tag not in ("script", "iframe", "object", "embed", "link", "base"), f"<{tag}> on a page"
        for name, value in attributes:
            assert not name.startswith("on"), f"{name} on <{tag}>"
            if name in _LOADING:
                assert (value or "").startswith("#"), f"{name}={value}: expected a place on the page"
                self.links.append((value or "")[1:])
            assert not re.search(r"url\(|@import", value or ""), f"{name}={value}"
        if given.get("id"):
            self.ids.append(given["id"] or "")
        if tag == "html":
            assert given.get("lang"), "a page says its language"
        if given.get("role") == "img":
            assert given.get("aria-label"), "a picture tells what it shows"
        if tag == "th":
            assert given.get("scope") in ("row", "col"), "a table's head says of what"
            assert "table" in self._open
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag in ("h1", "h2", "h3", "h4"):
            self.headings.append((int(tag[1]), ""))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> where <{self._open[-1:]}> is open"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            assert not re.search(r"url\(|@import|http", data)
            return
        self.text += data
        if self._open and self._open[-1] in ("h1", "h2", "h3", "h4"):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)
        if "table" in self._open and ("td" in self._open or "th" in self._open):
            self.tables[-1][-1][-1] += data

    def end(self) -> None:
        self.close()
        assert not self._open, f"never closed: {self._open}"


def read_page(html: str) -> PageReader:
    """Reads a page. Raises ``AssertionError`` for tags that are not closed or wrongly nested, for anything that is
    loaded from elsewhere or runs, for a table whose rows differ in width, names that are given twice, links to nowhere,
    and heads of tables and pictures that do not say what they are."""
    assert html.startswith("<!DOCTYPE html>")
    reader = PageReader()
    reader.feed(html)
    reader.end()
    assert len(set(reader.ids)) == len(reader.ids), "an id is there twice"
    assert set(reader.links) <= set(reader.ids), "a link leads nowhere"
    for table in reader.tables:
        assert len({len(row) for row in table}) == 1, "the rows of a table differ in width"
    levels = [level for level, _ in reader.headings]
    assert levels.count(1) <= 1 and all(after <= before + 1 for before, after in pairwise(levels))
    return reader
