"""Texts as cells of a CSV file, which a spreadsheet may open: none is a formula.

A program cannot tell a spreadsheet in CSV that a cell is text, and quoting does not: ``=1+1`` is a formula in quotes
too. An apostrophe before it makes it text (OWASP, CSV Injection). So that nothing is lost, texts that begin with an
apostrophe get one more: whoever takes one off the beginning of a text has it as it was. Numbers have none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

# What begins a formula, by itself or after blanks, which some programs leave out; the last four are the wide = + - @ of
# Japanese keyboards.
_BEGINNINGS: Final = frozenset("'=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@lru_cache(4096)
def cell(text: str) -> str:
    """``text`` as a cell, ``encodable``."""
    whole = encodable(text)
    return f"'{whole}" if whole.lstrip(" \u00a0\u3000")[:1] in _BEGINNINGS else whole


def encodable(text: str) -> str:
    """``text`` with escapes such as ``\\udc80`` for halves of surrogate pairs, which UTF-8 cannot have."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
