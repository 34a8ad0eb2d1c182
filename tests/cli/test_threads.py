"""Commands have one thread for linear algebra; engines have the environment that the user gave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from caboose.cli.main import run
from caboose.protocol.process.launch import Launch
from caboose.protocol.process.threads import LIMITED, VARIABLES, limit_threads, limited_environment, users_environment
from players import engine_command

pytestmark = pytest.mark.usefixtures("still_readable")

PROGRAM = """
import sys
from caboose.{module} import main
sys.argv = ["caboose", {word!r}]
try:
    main()
except SystemExit:
    pass
import numpy, scipy.linalg, threadpoolctl
print(*{{pool["num_threads"] for pool in threadpoolctl.threadpool_info()}})
"""


@pytest.mark.parametrize(
    ("module", "word", "set_to"),
    [("cli.main", "rules", ""), ("arena.blocks.engine_process", "grmpf", ""), ("cli.main", "rules", "2")],
)
def test_a_program_has_one_thread_unless_told_otherwise(module: str, word: str, set_to: str) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core has one thread anyway")
    environment = {name: value for name, value in os.environ.items() if name not in (*VARIABLES, LIMITED)}
    if set_to:
        environment["OPENBLAS_NUM_THREADS"] = set_to
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM.format(module=module, word=word)], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=True, env=environment,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == (set_to or "1")


def test_what_the_user_set_stays_and_children_get_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, LIMITED):
        monkeypatch.delenv(name, raising=False)
    assert users_environment() is None
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    before = dict(os.environ)
    with monkeypatch.context() as within:
        for name in limited_environment():  # so that they are put back
            within.setenv(name, os.environ.get(name, ""))
            within.delenv(name) if name not in before else None
        limit_threads()
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1" and os.environ["OMP_NUM_THREADS"] == "7"
        limit_threads()  # a worker of ours, which inherits that
        assert users_environment() == before == Launch().environment()


def test_an_engine_sees_the_users_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.setenv(LIMITED, " ".join(VARIABLES[1:]))
    seen = tmp_path / "seen"
    body = f"import os; open({str(seen)!r}, 'w').write(' '.join(sorted(n for n in os.environ if 'THREADS' in n)))"
    engine = " ".join(f"'{word}'" for word in engine_command(tmp_path, body))
    assert run(["match", "greedy", engine, "--players", "2", "--rounds", "1", "--blocks", "1", "--nodes", "1"]) == 0
    assert seen.read_text() == "OPENBLAS_NUM_THREADS"
