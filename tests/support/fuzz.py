"""Damaged text for every parser: it is read, and then what was read can be written and read back, or it is refused
with the parser's own error and a reason. Nothing else may happen.

``fuzz_parts.PARTS`` is the list of parsers. The suite tries a little of each; ``soak.py`` goes on as long as one likes.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

EXAMPLES: Final = 300  # texts of one case
LONGEST_REASON: Final = 1000

# What editors, other systems and tired people put into text.
JUNK: Final = (
    "", " ", "\n", "\r\n", "\r", "\t", "\0", "\x1b[31m", "\ufeff", "\u00a0", "é", "\u0663", "\U0001f06b", "–", "-",
    "--", "@", ":", "=", "/", "|", "#", "\\", "\\x", "\\ud800", "'", "{", "%s", "0", "00", "1", "007", "19", "-1",
    "1.5", "1e9", "nan", "²", "9" * 20, "M", "m", "stop", "draw", "end", "game 1", "\ngame 1\n", "12-12", "19-19",
    "0-0@M", "1:draw=0-0", "x" * 70, "9 " * 50, "x" * 3000,
)  # fmt: skip
PIECE: Final = re.compile(r"\s+|\w+|[^\w\s]")


class Fault(Exception):
    """A parser did what it must not do; the text has the smallest example that was found, and the traceback."""


@dataclass(frozen=True)
class Target:
    """A parser: texts that it reads, how it reads one, how to write what was read, and the error that it may raise."""

    name: str
    samples: Sequence[str]
    read: Callable[[str], Any]
    refusal: type[Exception]
    write: Callable[[Any], str] | None = None

    def check(self, text: str) -> bool:
        """Whether ``text`` is read. Raises ``AssertionError``, or what the parser raises, where it is wrong."""
        try:
            value = self.read(text)
        except self.refusal as error:
            check_reason(str(error))
            return False
        if self.write is not None:
            written = self.write(value)
            again = self.read(written)
            assert again == value, f"{written!r} is read as {again!r}, and not as {value!r}"
            assert self.write(again) == written, "what is written is not always the same"
        return True


class Part:
    """Parsers that belong together."""

    def __init__(self, name: str, make: Callable[[], list[Target]]) -> None:
        self.name = name
        self._make = make

    @cached_property
    def targets(self) -> list[Target]:
        """The parsers."""
        return self._make()

    def run(self, seed: int, case: int, examples: int = EXAMPLES) -> int:
        """Tries damaged texts on one of the parsers; how many. Raises ``Fault``."""
        target = self.targets[case % len(self.targets)]
        tried = 0
        last = ""

        @hypothesis.seed(f"{seed}/{self.name}/{case}")
        @settings(
            max_examples=examples,
            database=None,
            derandomize=False,
            deadline=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(damaged(target.samples))
        def check(text: str) -> None:
            nonlocal tried, last
            tried, last = tried + 1, text
            target.check(text)

        try:
            check()
        except Exception:
            raise Fault(f"{target.name}: {last!r}\n{traceback.format_exc(limit=-4)}") from None
        return tried


def check_reason(reason: str) -> None:
    """Whether an error is one for people: a line that can be printed, of some length."""
    assert reason.strip(), "an error without a reason"
    assert reason.isprintable(), f"an error that is not one printable line: {reason!r}"
    assert len(reason) <= LONGEST_REASON, f"an error of {len(reason)} characters: {reason[:200]!r}"


@st.composite
def damaged(draw: st.DrawFn, samples: Sequence[str]) -> str:
    """One of the texts with a few pieces taken out, put in, doubled, moved, or from another text."""
    text = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 4))):
        pieces = PIECE.findall(text)
        at = draw(st.integers(0, len(pieces)))
        size = draw(st.integers(0, 6))
        cut = pieces[at : at + size]
        match draw(st.sampled_from(["junk", "out", "twice", "move", "other", "letters"])):
            case "junk":
                pieces[at : at + size] = [draw(st.sampled_from(JUNK))]
            case "out":
                del pieces[at : at + size]
            case "twice":
                pieces[at:at] = cut
            case "move":
                del pieces[at : at + size]
                to = draw(st.integers(0, len(pieces)))
                pieces[to:to] = cut
            case "other":
                other = PIECE.findall(draw(st.sampled_from(samples)))
                start = draw(st.integers(0, len(other)))
                pieces[at : at + size] = other[start : start + draw(st.integers(0, 12))]
            case _:
                pieces[at : at + size] = [draw(st.text(max_size=3))]
        text = "".join(pieces)
    return text
