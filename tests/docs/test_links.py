"""Links of the pages: each leads to a file that is there, and to a heading that is on its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paths import DOCS, ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
ABROAD = ("http://", "https://", "mailto:")


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    names: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = sum(1 for other in names if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
        names.add(f"{name}-{number}" if number else name)
    return names


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for one, other in LINK.findall(text):
        link = one or other
        if link.startswith(ABROAD):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_every_page_can_be_reached_from_the_index() -> None:
    seen, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = [one for one, _ in LINK.findall(page.read_text(encoding="utf-8")) if not one.startswith(ABROAD)]
        waiting += [(page.parent / link.partition("#")[0]).resolve() for link in links if not link.startswith("#")]
    assert [page.name for page in sorted(DOCS.rglob("*.md")) if page not in seen] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A b\n[x](#a-b) [y](#c) [z](other.md) `[w](no.md)`\n", encoding="utf-8")
    assert broken_links(page) == ["#c", "other.md"]
