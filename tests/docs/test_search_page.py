"""The page on the search: it lists every source that it leans on, and no other."""

from __future__ import annotations

import re

from paths import DOCS

PAGE = (DOCS / "explanation" / "search.md").read_text(encoding="utf-8")


def test_sources_are_those_that_the_text_names() -> None:
    """As (Name 2001), (Name & Other 2001) or (Name et al. 2001), and in the list at the end with the year last."""
    text, listed = re.sub(r"\s+", " ", PAGE).split(" ## Sources ")
    entries = [entry for entry in listed.split("- ") if re.search(r"\b\d{4}\b", entry)]
    named = re.findall(r"([A-Z][\w']+)(?: et al\.)? ((?:19|20)\d\d)\b", text)
    assert len(entries) > 10 and len(named) > 10
    for name, year in named:
        assert any(f" {name}" in entry and year in entry for entry in entries), f"{name} {year}"
    for entry in entries:
        assert any(f" {name}" in entry and year in entry for name, year in named), entry
