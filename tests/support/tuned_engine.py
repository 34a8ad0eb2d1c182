"""A small foreign engine, and a study of it by games."""

from __future__ import annotations

import json
import sys
from pathlib import Path

STUDY = """\
format = 1
seed = 1
method = "random"
blocks = 8
batch = 2
in_process = true

[engine]
command = {command}

[parameter.Skill]

[[list]]
players = 2
set = 6
rules = { hand = 3 }
rounds = 1
nodes = 1
guard = 0.3
pool = ["random"]

[verify]
blocks = 0
"""

# Plays the first legal move, or with more skill a later one. ``doing`` is what it does besides with more skill than 6.
ENGINE = """\
import os, sys, time
skill, legal = 2, []
for line in sys.stdin:
    words = line.split()
    if words[0] == "caboose":
        print("id name pupil\\noption name Skill type spin default 2 min 0 max 9\\ncabooseok 1", flush=True)
    elif words[0] == "setoption":
        skill = int(words[-1])
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "go":
        if skill > 6:
            {doing}
        print("bestmove", words[1], legal[min(skill, len(legal) - 1)], flush=True)
    elif words[0] == "quit":
        break
"""


def write(folder: Path, doing: str = "pass") -> Path:
    """The file of a study, and its engine beside it."""
    engine = folder / "pupil.py"
    engine.write_text(ENGINE.replace("{doing}", doing))
    path = folder / "study.toml"
    path.write_text(STUDY.replace("{command}", json.dumps([sys.executable, "-I", "-S", str(engine)])))
    return path
