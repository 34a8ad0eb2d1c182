"""What separates words in text from outside: ASCII blanks and nothing else.

``str.split`` and its kin also take no-break spaces, em spaces, and separators that no editor shows. A text that holds
one of them looks like another text; here it is a wrong word, and the error shows it.
"""

from __future__ import annotations

import re
from typing import Final

BLANKS: Final = " \t\n\r\v\f"

_GAP: Final = re.compile(f"[{BLANKS}]+")


def words_of(text: str, most: int = -1) -> list[str]:
    """The words of ``text``, as ``text.split(None, most)`` has them where all blanks are ASCII.

    After ``most`` words the rest is one more, without the blanks before it; -1: no limit.
    """
    if text.isascii() and text.isprintable():  # nearly always; and then nothing but a space is a blank
        return text.split(None, most)
    inner = text.lstrip(BLANKS) if most >= 0 else text.strip(BLANKS)
    # Of re.split 0 is no limit.
    words = [inner] if most == 0 else _GAP.split(inner, max(most, 0))
    return [word for word in words if word]
