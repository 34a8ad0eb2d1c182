"""Studies for the tests of tuning: small ones, played in this process or in copies of it that are killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from caboose.arena.execution.executors import Executor, LocalExecutor
from caboose.arena.storage.ladder_folder import locked
from caboose.arena.tuning.config import read_study
from caboose.arena.tuning.open_study import begin, look
from caboose.arena.tuning.result import study_data
from caboose.arena.tuning.run import Study, play
from caboose.arena.tuning.store import DATABASE, Played, StudyStore

WAIT = 120.0  # seconds; the end of a test that hangs

GAMES = """\
format = 1
seed = 5
method = "{method}"
blocks = 60
in_process = true

[engine]
builtin = "planner"

[parameter.PlanNodes]
min = 1
max = 1000
log = true
current = 30

[[list]]
players = 2
rounds = 1
pool = ["greedy", "self"]
nodes = 1
{list}
[verify]
blocks = 40
{more}"""

MADE_UP = """\
format = 1
seed = 7
method = "{method}"
objective = "score.py:score"
blocks = 150

[engine]
builtin = "mcts"

[parameter.WinBonus]
max = 100

[parameter.Noise]
max = 50
{more}"""

CHOICES = """\
format = 1
seed = 7
method = "{method}"
objective = "score.py:choose"
blocks = 150

[engine]
builtin = "mcts"

[parameter.Playouts]
{list}

[parameter.Noise]
max = 50
{more}"""

SCORE = '''\
"""A made-up objective whose best values are known: WinBonus 70, Noise 30. The noise of a sample depends on all."""
import hashlib
import os
from pathlib import Path

DEATH = Path(__file__).with_name("death")


def score(options, sample):
    if sample == 60 and DEATH.exists():
        DEATH.unlink()
        os._exit(3)
    bonus, noise = int(options["WinBonus"]), int(options["Noise"])
    digest = hashlib.sha256(f"{bonus} {noise} {sample}".encode()).digest()
    luck = sum(digest) / len(digest) - 127.5
    return -8 * ((bonus - 70) / 100) ** 2 - 8 * ((noise - 30) / 50) ** 2 + luck / 4


def choose(options, sample):
    """The same for Playouts and Noise; the best choice stands last in the list, next to the worst one."""
    worth = {"planner": 0.0, "greedy": -4.0, "random": 3.0}[options["Playouts"]]
    bonus = {"planner": 1, "greedy": 2, "random": 3}[options["Playouts"]]
    return worth + score({"WinBonus": bonus, "Noise": options["Noise"]}, sample) + 8 * ((bonus - 70) / 100) ** 2
'''


class Quiet:
    """A watcher that sees nothing."""

    def begin(self, study: Study) -> None: ...

    def game_over(self) -> None: ...

    def block_over(self, *about: object) -> None: ...


def write_study(folder: Path, text: str, method: str, *, more: str = "", list: str = "") -> Path:
    """The file of a study, and beside it the made-up objective."""
    folder.mkdir(exist_ok=True)
    (folder / "score.py").write_text(SCORE)
    path = folder / "study.toml"
    path.write_text(text.format(method=method, more=more, list=list))
    return path


def run_study(path: Path, executor: Executor | None = None, seconds: float | None = None) -> Study:
    """Plays a study to its end, or as far as ``seconds`` go, in this process."""
    spec = read_study(path)
    spec.folder.mkdir(exist_ok=True)
    with locked(spec.folder), ExitStack() as stack:
        study, store = begin(spec, stack)
        problem = play(study, store, executor or LocalExecutor(), Quiet(), seconds)
    assert problem == ""
    return study


def begin_study(path: Path) -> None:
    """Begins a study: a block is kept, and no more are played."""
    spec = read_study(path)
    spec.folder.mkdir(exist_ok=True)
    with locked(spec.folder), ExitStack() as stack:
        study, store = begin(spec, stack)
        store.add(study.wanted[0], Played(0.0, 0))


def facts(path: Path) -> dict[str, Any]:
    """All that a study came to, and all its blocks."""
    study = look(read_study(path))
    data = study_data(study)
    del data["file"]
    return data | {"known": {str(piece): played for piece, played in study.known.items()}}


def count(path: Path) -> int:
    """How many blocks are kept."""
    place = read_study(path).folder / DATABASE
    if not place.exists():
        return 0
    with StudyStore.open(place) as store:
        return sum(1 for _ in store.blocks())


def killed(path: Path, more: int, pause: float) -> bool:
    """Runs a study in a copy of this process and kills it ``pause`` seconds after ``more`` blocks; returns whether it
    had ended before."""
    wanted, limit = count(path) + more, time.monotonic() + WAIT
    pid = os.fork()
    if not pid:
        try:
            run_study(path)
            os._exit(0)
        finally:
            os._exit(1)
    status = 0
    while count(path) < wanted and time.monotonic() < limit:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0
            return True
        time.sleep(0.005)
    time.sleep(pause)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFEXITED(status)


Killer = Callable[[Path, int, float], bool]
