"""The words of the command line: each command with its line of help and its options.

They stand in a file, so that the help and the completion of a shell need not load the commands, which takes half a
second. ``python -m caboose.cli.command_words`` writes it anew (``make words``); a test compares it with the commands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("command_words.tsv")
HEADING: Final = "command\thelp\toptions"
VALUE: Final = "="


@dataclass(frozen=True, slots=True)
class Words:
    """A command: ``path`` is ``("ladder", "run")``, ``help`` its first paragraph in a line. An option is all that it is
    called, ``("-o", "--output")``, and ends with ``=`` where it takes a value."""

    path: tuple[str, ...]
    help: str
    options: tuple[tuple[str, ...], ...] = ()

    @property
    def line(self) -> str:
        """As it stands in the file."""
        return "\t".join([" ".join(self.path), self.help, " ".join([",".join(names) for names in self.options])])


def read_words(path: Path = FILE) -> list[Words]:
    """All commands, in the order of the help; those of a group stand after it."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        command, help, options = line.split("\t")
        names = tuple([tuple(option.split(",")) for option in options.split()])
        found.append(Words(tuple(command.split()), help, names))
    return found


def write_words(words: Iterable[Words], path: Path = FILE) -> None:
    """Writes the file."""
    path.write_text("\n".join([HEADING, *[each.line for each in words], ""]), encoding="utf-8")


def main() -> None:
    """Writes the file as the commands are now."""
    from caboose.cli.app import look_words

    write_words(look_words())


if __name__ == "__main__":
    main()
