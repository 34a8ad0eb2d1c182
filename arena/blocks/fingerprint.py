"""What programs are made of, as short hashes: equal ones are the same program on any machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from caboose.protocol.process.child import program

# What the built-in bots are made of: the compiled engine and its data, and the bots.
_PARTS: Final = (("caboose.engine", (".so", ".tsv", ".npz")), ("caboose.bots", (".py",)))
_DIGITS: Final = 16  # of a hash that are kept: 64 bits


@cache
def builtin_hash() -> str:
    """The hash of this installation's compiled engine and of its bots. Raises ``OSError``."""
    return _hash(_built_in())


def command_hash(command: Sequence[str]) -> str:
    """The hash of the program that a command runs and of the files that it names. Raises ``OSError``."""
    return _hash(_files(command))


def _built_in() -> Iterator[Path]:
    for package, endings in _PARTS:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield from sorted(file for file in Path(place).rglob("*") if file.suffix in endings)


def _files(command: Sequence[str]) -> Iterator[Path]:
    yield Path(program(command[0]))
    for word in command[1:]:
        if "\0" not in word and os.path.isfile(word):
            yield Path(word)


def _hash(files: Iterator[Path]) -> str:
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:_DIGITS]
