"""What contestants are called: a short, plain name for each, that nobody else has.

Engines choose their own names, and may lie: a name is cut and cleaned, and one that somebody else has, or that is a
built-in bot's, does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

import caboose.bots as bots

MAX_LABEL: Final = 16  # characters, so that the standings fit 80 columns

# Programs that only run another one: an engine is named after what they are given to run.
_INTERPRETERS: Final = (
    "awk", "bash", "bun", "deno", "env", "gawk", "lua", "mawk", "node", "perl", "pypy", "python", "ruby", "sh",
)  # fmt: skip
_NUMBERED: Final = 3  # characters that a number takes: # and two digits
_FOREIGN: Final = "#engine"  # behind a built-in bot's name: no plain name has a #
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9+-]+")


def plain(text: str) -> str:
    """``text`` as a name of ASCII letters, digits, ``+``, ``-`` and ``_``, not long; empty where there is neither
    letter nor digit, and for a number, which would be taken for that of a contestant."""
    name = _NOT_PLAIN.sub("_", text).lstrip("_+-")[:MAX_LABEL].rstrip("_")
    return "" if name.isdigit() else name


def command_name(command: Sequence[str]) -> str:
    """What to call an engine of which only the command is known: its program, or what an interpreter runs."""
    program = PurePath(command[0]).stem
    if program.rstrip("0123456789.") in _INTERPRETERS:
        scripts = [word for word in command[1:] if word and not word.startswith("-")]
        files = [word for word in scripts if "/" in word or "." in word]
        program = next((PurePath(word).stem for word in files or scripts), program)
    return plain(program) or "engine"


def is_reserved(name: str) -> bool:
    """Whether it is a built-in bot's, or looks like it."""
    return name.casefold() in (*bots.BOTS, *bots.MEASURING)


def make_labels(given: Sequence[str], builtins: Sequence[str], said: Sequence[str], called: Sequence[str]) -> list[str]:
    """A label for each contestant, no two the same: the name that the call has ``given`` it, or the built-in bot's, or
    the one that it ``said``, or what its command is ``called``. All are plain or empty, but the last is never empty.

    What an engine said does not count where it is a built-in bot's name, or was given to another: then its command
    names it. So it does where several engines say the same, if their commands' names differ. Of those that have the
    same name even so each gets a number; a name that was given stays as it is.
    """
    names = [a or b or c or d for a, b, c, d in zip(given, builtins, said, called, strict=True)]
    folded = [name.casefold() for name in names]
    for n, name in enumerate(folded):
        if given[n] or builtins[n]:
            continue
        same = [m for m, other in enumerate(folded) if other == name]
        differ = len({called[m].casefold() for m in same}) == len(same)
        if is_reserved(name) or (len(same) > 1 and (differ or any(given[m] for m in same))):
            names[n] = called[n]
        if is_reserved(names[n]):
            names[n] = names[n][: MAX_LABEL - len(_FOREIGN)] + _FOREIGN
    often = _counts(names)
    cut = [
        name if given[n] or often[name.casefold()] == 1 else name[: MAX_LABEL - _NUMBERED]
        for n, name in enumerate(names)
    ]
    often, number = _counts(cut), Counter[str]()
    labels = []
    for n, name in enumerate(cut):
        number[name.casefold()] += 1
        alone = given[n] or often[name.casefold()] == 1
        labels.append(name if alone else f"{name}#{number[name.casefold()]}")
    return labels


def _counts(names: Sequence[str]) -> Counter[str]:
    """How often each name is there; large and small letters are the same."""
    return Counter(name.casefold() for name in names)
