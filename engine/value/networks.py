"""The networks that say what a round under way is worth: their weights, by rules.

A line of ``networks.tsv`` is a preset, a number of players, and the numbers of ``Network`` in ``value.pxd``, in the
order that they have there.
"""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from caboose.engine.rules.rules import Rules

PATH: Final = Path(__file__).with_name("networks.tsv")
NUMBERS: Final = 518

Weights = npt.NDArray[np.float32]


def read_networks(path: Path = PATH) -> dict[tuple[str, int], Weights]:
    """The weights of a file by preset and players, each an array of 518 numbers.

    Raises ``OSError`` for a file that cannot be read, and for one that holds anything else.
    """
    networks = {}
    for number, line in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), 1):
        try:
            preset, players, *words = line.split("\t")
            weights = np.array(words, np.float32)
            if len(weights) != NUMBERS or not np.isfinite(weights).all():
                raise ValueError
            networks[preset, int(players)] = weights
        except ValueError:
            # Nobody's input but a part of the program: to callers it is like a file that is missing.
            what = f"line {number} is damaged: expected a preset, players and {NUMBERS} numbers"
            raise OSError(errno.EBADMSG, what, str(path)) from None
    return networks


def write_networks(networks: dict[tuple[str, int], Weights], path: Path = PATH) -> None:
    """Writes what ``read_networks`` reads."""
    lines = []
    for (preset, players), weights in sorted(networks.items()):
        lines.append("\t".join([preset, str(players), *(f"{weight:.6g}" for weight in weights)]))
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def is_usual(rules: Rules) -> bool:
    """Whether these are the rules of their preset for so many players, for any number of rounds."""
    if rules not in _USUAL:
        _USUAL[rules] = replace(rules, rounds=1) == Rules.of(rules.preset, rules.players, rounds=1)
    return _USUAL[rules]


def network_for(rules: Rules) -> Weights | None:
    """The weights of the network for these rules, any number of rounds; None where there is none.

    Raises what ``read_networks`` raises.
    """
    if rules not in _FOUND:
        _FOUND[rules] = read_networks().get((rules.preset, rules.players)) if is_usual(rules) else None
    return _FOUND[rules]


# So that rules are compared and the file is read once for a game and not once for a move. (A decorator that caches
# would give the function another signature than its annotations.)
_USUAL: Final[dict[Rules, bool]] = {}
_FOUND: Final[dict[Rules, Weights | None]] = {}
