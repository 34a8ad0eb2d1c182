"""Engines that break the protocol: each fault has its right name, costs its own seat alone, and is over in time."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from caboose.protocol.process.process import EngineProcess, LackError
from caboose.protocol.referee.timing import TimeControl
from fault_engines import SLACK, children, nothing_left
from games import play
from misdeeds import AT, LONG, MISDEEDS, Misdeed, Outcome, meet
from paths import DOCS
from players import Scripted, engine_command, wait_until

PAGE = DOCS / "explanation" / "referee.md"
PATIENT = TimeControl(movetime=30_000)
AT_ONCE = 8  # games; most of them sleep
TRIES = 4


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with nothing_left():
        yield


def seat_of(misdeed: Misdeed) -> int:
    """Some play first and some last."""
    return len(misdeed.name) % 2


def check(misdeed: Misdeed, outcome: Outcome) -> None:
    """It has the outcome that is stated, and costs nobody else."""
    result, recovery = outcome
    bad, good = result.seats[seat_of(misdeed)], result.seats[1 - seat_of(misdeed)]
    assert good.fault is None and good.decisions > AT
    assert len(result.rounds) == 2 and all(round.complete for round in result.rounds)
    if not misdeed.kind:
        assert bad.fault is None, bad.fault
        assert bad.decisions > AT
        assert bad.overruns >= ("by a millisecond" in misdeed.name)
        return
    assert bad.fault is not None
    assert bad.fault.kind == misdeed.kind, bad.fault
    assert misdeed.detail in bad.fault.detail
    assert bad.place == 2 and good.place == 1
    assert bad.fault.decision in ((0,) if misdeed.on_go == "pass" else (AT, AT + 1))  # some show at the next request
    control = misdeed.control
    wanted = 0.0  # it shows at once
    if control is not LONG and control.movetime is not None:
        wanted = control.movetime + control.margin if bad.fault.decision else control.startup
    assert recovery < wanted / 1000 + SLACK


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """What came of each misdeed, of many at the same time. A busy machine may make an engine late before it misbehaves,
    and a referee that is held up forgives; so those that have little time may try again."""
    folder = tmp_path_factory.mktemp("misdeeds")

    def play(misdeed: Misdeed) -> Outcome:
        own = folder / misdeed.name
        own.mkdir()
        for _ in range(1 if misdeed.control is LONG else TRIES):
            outcome = meet(misdeed, own, seat=seat_of(misdeed))
            with suppress(AssertionError):
                check(misdeed, outcome)
                break
        return outcome

    with nothing_left(), ThreadPoolExecutor(AT_ONCE) as threads:
        return dict(zip([misdeed.name for misdeed in MISDEEDS], threads.map(play, MISDEEDS), strict=True))


@pytest.mark.parametrize("misdeed", MISDEEDS, ids=lambda misdeed: misdeed.name.replace(" ", "-"))
def test_a_misdeed_has_its_outcome_and_costs_nobody_else(outcomes: Mapping[str, Outcome], misdeed: Misdeed) -> None:
    check(misdeed, outcomes[misdeed.name])


def test_the_page_says_what_becomes_of_each() -> None:
    rows = re.findall(r"^\| ([a-z][^|]+) \| (?:`(\w+)`|no fault) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(misdeed.name, misdeed.kind) for misdeed in MISDEEDS]


def test_overruns_are_in_the_log(tmp_path: Path) -> None:
    with EngineProcess(engine_command(tmp_path, "asked == 2 and time.sleep(0.2)"), margin=5000) as engine:
        result = play([engine, Scripted()], control=TimeControl(movetime=150, margin=5000), recording=True)
    log = result.rounds[0].log
    assert log is not None
    own = [made for made in log.decisions if log.events[made.event].seat == 0]
    assert own[1].over == own[1].time - 150 > 0
    assert result.seats[0].worst_overrun >= own[1].over
    assert result.seats[0].overruns == sum(made.over > 0 for made in own)


def test_an_engine_does_not_pay_when_the_referee_was_stopped(tmp_path: Path) -> None:
    # Stopped at its first move, and set going again when its time is long over; the engine answered meanwhile.
    script = (
        "import os, signal, subprocess\n"
        "def stop():\n"
        "    keeper = open(f'/proc/{os.getppid()}/stat').read()\n"
        "    referee = int(keeper.rpartition(')')[2].split()[1])\n"
        "    subprocess.Popen(['sh', '-c', f'sleep 0.9; kill -CONT {referee}'])\n"
        "    os.kill(referee, signal.SIGSTOP)\n"
    )
    command = engine_command(tmp_path, "asked == 1 and stop()", before=script)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with EngineProcess(command, margin=50) as engine:
                seat = play([engine, Scripted()], control=TimeControl(movetime=400)).seats[0]
            os.write(write, f"{seat.fault and seat.fault.kind} {seat.overruns >= 1}".encode())
        finally:
            os._exit(0)
    os.close(write)
    told = os.read(read, 100).decode()
    os.close(read)
    os.waitpid(child, 0)
    assert told == "None True"


def test_our_own_shortage_is_nobodys_fault(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    command = engine_command(tmp_path)
    play([Scripted(), Scripted()])  # loads what it needs
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # those are taken
    try:
        with pytest.raises(LackError, match="Too many open files"):
            play([EngineProcess(command), Scripted()])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_processor_time_counts_also_that_of_children(tmp_path: Path) -> None:
    burn = "exec('end = time.process_time() + 0.05\\nwhile time.process_time() < end: pass')"
    with EngineProcess(engine_command(tmp_path, f"asked < 3 and {burn}")) as engine:
        seat = play([engine, Scripted()], control=PATIENT).seats[0]
        assert 100 <= seat.cpu < 3000
    # A child that goes on running; the engine answers when that has burnt its share.
    helper = f"(ends := os.pipe()) and (os.fork() or ({burn}, os.write(ends[1], b'x'), time.sleep(60)))"
    with EngineProcess(engine_command(tmp_path, f"asked < 3 and ({helper}, os.read(ends[0], 1))")) as engine:
        seat = play([engine, Scripted()], control=PATIENT).seats[0]
        assert 100 <= seat.cpu < 3000
    assert play([Scripted(), Scripted()]).seats[0].cpu == 0


def test_an_engine_that_is_barred_does_not_start_again(tmp_path: Path) -> None:
    engine = EngineProcess(engine_command(tmp_path))
    engine.start()
    pid = engine.pid
    engine.bar("it is out")
    assert wait_until(lambda: pid not in children())
    fault = play([engine, Scripted()]).seats[0].fault
    assert fault is not None and (fault.kind, fault.detail, fault.decision) == ("start", "it is out", 0)
