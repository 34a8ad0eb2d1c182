"""Tables, texts and bars on a terminal, by rich, for words that anybody may have written.

``Console``, ``Text`` and ``TextColumn`` are those of rich, but no string is ever markup, an emoji's name or coloured
by what it looks like, and nothing that cannot be seen reaches the terminal. How something looks is said by ``style``
alone. tests/house/test_house.py keeps the ones of rich out of the rest of the house.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any, Self

import rich.console
import rich.progress
import rich.text
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment

from caboose.protocol.notation.lines import printable


class Text(rich.text.Text):
    """Text of which all is seen; of what cannot be printed only ends of lines stay what they are."""

    def __init__(self, text: str = "", style: Any = "", **how: Any) -> None:
        super().__init__(printable(text, "\n"), style, **how)

    def append(self, text: rich.text.Text | str, style: Any = None) -> Self:
        """Adds ``text`` at the end."""
        super().append(printable(text, "\n") if isinstance(text, str) else text, style)
        return self

    def append_text(self, text: rich.text.Text) -> Self:
        """Adds ``text``, and how it looks, at the end."""
        super().append_text(text)
        return self

    @classmethod
    def assemble(cls, *parts: Any, **how: Any) -> Self:
        """Text of parts: strings, pairs of a string and its style, texts."""
        made = super().assemble(*parts, **how)
        assert isinstance(made, cls)
        return made


class Console(rich.console.Console):
    """A console that takes all strings as they are, also those in tables and bars."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**{"highlight": False, **how, "markup": False, "emoji": False})

    def render_str(self, text: str, *, style: Any = "", **how: Any) -> rich.text.Text:
        """A string, wherever one stands, as text."""
        kept = {name: how[name] for name in ("justify", "overflow") if how.get(name) is not None}
        return Text(text, style, **kept)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """The pieces of what is to be shown; those of text that was made elsewhere are looked at once more."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else printable(segment.text, "\n")
            yield segment if shown == segment.text else Segment(shown, segment.style)


class TextColumn(rich.progress.TextColumn):
    """A column of a bar. What is filled into ``text_format`` is shown as it is."""

    def __init__(self, text_format: str, **how: Any) -> None:
        super().__init__(text_format, **{**how, "markup": False})

    def render(self, task: rich.progress.Task) -> rich.text.Text:
        """The words for ``task``."""
        return Text(self.text_format.format(task=task), self.style, justify=self.justify)


def cut(text: str, most: int) -> str:
    """``text`` made printable, and no wider than ``most`` columns of a terminal, with dots where it is cut."""
    shown = printable(text[: 4 * most])
    if len(text) <= 4 * most and cell_len(shown) <= most:
        return shown
    return f"{set_cell_size(shown, most - 3).rstrip()}..."


class PatientConsole(Console):
    """A console that falls silent when nobody reads any more what it prints, where there is more to do than to print.
    (Others end the program then, with exit code 1.)"""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        silence(self.file)


def silence(stream: IO[str]) -> None:
    """What is written to a stream that nobody reads goes nowhere from now on; or Python complains when it ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def duration_text(seconds: float) -> str:
    """A time span for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
