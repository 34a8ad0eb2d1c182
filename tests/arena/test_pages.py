"""Pages and plots: whole HTML, nothing from elsewhere, all text escaped; figures on a page and as files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from caboose.arena.report.html import element, written
from caboose.arena.report.image_files import save
from caboose.arena.report.page import Cell, Column, Fact, Page
from caboose.arena.report.plots import Axis, Dots, Figure, Grid, Hill, Line, Plot, Rows, Rule, number_text
from page_reader import read_page

BAD: Final = "<script>alert('&')</script>\x00\u202e"


def figure(*plots: Plot) -> Figure:
    return Figure(name="some", caption=f"Caption {BAD}", alt=f"Alt {BAD}", plots=plots)


def rows() -> Plot:
    dots = Dots(
        x=[1.0, 2.0], y=[0, 1], low=[0.5, None], high=[1.5, None], tone="vermillion", label=BAD, notes=[BAD, BAD]
    )
    hill = Hill(row=1, edges=[0.0, 1.0, 2.0], heights=[0.5, 1.0], note=BAD)
    return Plot(x=Axis(label=BAD, low=0, high=3), y=Rows((BAD, "$x_1$")), layers=[Rule(at=0, label=BAD), hill, dots])


def numbers() -> Plot:
    x, y = Axis.around_log("games", [1.0, 1000.0]), Axis.around("rating", [-50.0, 80.0, None], form="+,.0f")
    line = Line(x=[1.0, 10.0], y=[0.0, 5.0], low=[-50.0, 0.0], high=[50.0, 10.0], label="line", dashed=True)
    grid = Grid(x_edges=[1.0, 10.0, 100.0], y_edges=[0.0, 50.0], values=[[1.0, float("nan")]])
    points = Dots(x=[10.0], y=[3.0], low=[1.0], high=[9.0])
    return Plot(title=BAD, x=x, y=y, layers=[grid, Rule(at=0, across=True, label="nought"), line, points], height=100)


def page() -> Page:
    made = Page(f"Title {BAD}", lead=BAD, foot=BAD)
    section = made.section(f"First {BAD}")
    section.text("text ", element("strong", BAD), " more")
    section.facts([Fact(BAD, BAD, BAD), Fact("games", "5")])
    section.verdict("good", BAD)
    section.items([BAD])
    section.code(BAD)
    section.figure(figure(rows()))
    part = made.section("Second").section("Part")
    columns = [Column(BAD, numbers=False), Column("b", upright=True), Column("c")]
    part.table(columns, [[BAD, Cell(text=BAD, below=BAD, tone="blue", strength=0.5, code=True), "3"]], caption=BAD)
    part.figure(Figure(name="other", caption="c", alt="a", plots=[rows(), numbers()]))
    return made


def test_a_page_is_whole_and_needs_nothing_else() -> None:
    read = read_page(page().html())
    assert read.headings[0] == (1, "Title <script>alert('&')</script>\\x00\\u202e")
    assert [level for level, _ in read.headings] == [1, 2, 2, 3]
    assert "default-src 'none'" in page().html()


def test_text_stays_text() -> None:
    html = page().html()
    assert "<script" not in html
    assert "\x00" not in html and "\u202e" not in html
    assert html.count("&lt;script&gt;") > 15


def test_only_words_without_end_may_break_within() -> None:
    names = ["WeightNextMarked=191 PlanNodes=870", "x" * 30]
    made = Page("Title")
    made.section("One").table([Column("a", numbers=False), Column("b")], [[name, "1"] for name in names], caption="c")
    row_names = re.findall(r'<th scope="row" class="([a-z ]+)"><div>([^<]+)</div>', made.html())
    assert row_names == [("text", names[0]), ("text long", names[1])]
    # What may break anywhere is named in the style, and nothing else of a row's name is.
    assert re.findall(r"(tbody th[^{]*) \{[^}]*anywhere", made.html()) == ["tbody th.long div"]


def test_names_of_attributes_and_mixed_text() -> None:
    made = element("p", "a", element("b", "c", stroke_width=1.50, class_="d"), "e", None, "f")
    assert written(made) == '<p>a<b stroke-width="1.5" class="d">c</b>ef</p>'


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (-330, 330, False, [-200, 0, 200]),
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.4, 1.9, False, [0.5, 0.75, 1, 1.25, 1.5, 1.75]),
        (1, 1000, True, [1, 10, 100, 1000]),
        (2, 30, True, [2, 5, 10, 20]),
        (1, 10**9, True, [1, 100, 10**4, 10**6, 10**8]),
        (1.2, 1.9, True, [1.2, 1.4, 1.6, 1.8]),
    ],
)
def test_ticks_are_round_numbers_within_the_range(low: float, high: float, log: bool, expected: list[float]) -> None:
    assert Axis(label="", low=low, high=high, log=log).ticks() == pytest.approx(expected)


def test_axes_that_cannot_be() -> None:
    for low, high, log in ((1, 1, False), (0, float("inf"), False), (0, 1, True)):
        with pytest.raises(ValueError, match="axis x: from"):
            Axis(label="x", low=low, high=high, log=log)
    for axis in (Axis.around("x", []), Axis.around("x", [None, 5.0]), Axis.around_log("x", [0.0])):
        assert axis.low < axis.high and axis.ticks()
    assert Axis.around("x", [3.0, 5.0], with_zero=True).at(-9) == 0


def test_numbers_have_a_real_minus_sign_and_no_sign_of_nought() -> None:
    assert [number_text(value, "+,.1f") for value in (-1234.56, -0.04, 0.0, 2)] == [
        "\u22121,234.6",
        "0.0",
        "0.0",
        "+2.0",
    ]


def test_the_stretched_part_follows_the_axes() -> None:
    plot = Plot(x=Axis(label="", low=0, high=10), y=Axis(label="", low=0, high=2), layers=[Line(x=[0, 5], y=[0, 2])])
    made = Page("x")
    made.section("y").figure(figure(plot))
    assert "M0.0 220.0L500.0 0.0" in made.html()


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    svg, png = save(figure(rows(), numbers()), tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<script" not in svg.read_text()
    assert sorted(tmp_path.iterdir()) == [png, svg]
    save(figure(rows(), numbers()), tmp_path)


def test_the_reader_of_pages_finds_what_is_wrong() -> None:
    for wrong in (
        "<p><b></p></b>",
        "<p>",
        '<img src="http://x/y.png" alt="">',
        '<a href="x.html">x</a>',
        "<script></script>",
    ):
        with pytest.raises(AssertionError):
            read_page(f"<!DOCTYPE html>\n<html lang='en'><body>{wrong}</body></html>")
    assert read_page("<!DOCTYPE html>\n<html lang='en'><p>a</p></html>").text == "\na"
