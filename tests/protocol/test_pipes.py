"""A question and its answer in one call: what was written, what came, and when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from caboose.protocol.process.pipes import count_waiting, exchange, hear

Ends = tuple[int, int, int, int]  # where we read and write, where the other side does


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Two pipes."""
    (read, their_write), (their_read, write) = os.pipe(), os.pipe()
    for descriptor in (read, write):
        os.set_blocking(descriptor, False)
    opened = [read, write, their_read, their_write]
    yield read, write, their_read, their_write
    for descriptor in opened:
        try:
            os.close(descriptor)
        except OSError:
            assert descriptor in (their_read, their_write)  # a test has closed it


@pytest.fixture(params=[False, True])
def counted(request: pytest.FixtureRequest) -> None:
    """Without and with the system's count of how long we waited for a processor."""
    if request.param:
        count_waiting()


def test_an_answer_and_its_times(ends: Ends, counted: None) -> None:
    read, write, their_read, their_write = ends

    def answer() -> None:
        assert os.read(their_read, 100) == b"go\n"
        time.sleep(0.05)
        os.write(their_write, b"move\n")

    thread = threading.Thread(target=answer)
    thread.start()
    before = time.monotonic()
    sent, begin, end, came = exchange(write, read, b"go\n", 10.0)
    after = time.monotonic()
    thread.join()
    assert (sent, came) == (3, b"move\n")
    assert before <= begin and begin + 0.05 <= end <= after


def test_what_came_before_is_left_there_and_nothing_is_written(ends: Ends) -> None:
    read, write, their_read, their_write = ends
    os.write(their_write, b"early\n")
    assert exchange(write, read, b"go\n", 10.0)[::3] == (-1, None)
    assert os.read(read, 100) == b"early\n"
    os.set_blocking(their_read, False)
    with pytest.raises(BlockingIOError):
        os.read(their_read, 100)


def test_without_an_answer_it_ends_in_time(ends: Ends) -> None:
    read, write, *_ = ends
    sent, begin, end, came = exchange(write, read, b"go\n", 0.1)
    assert (sent, came) == (3, None)
    assert end - begin >= 0.1
    assert exchange(write, read, b"go\n", -1.0)[::3] == (3, None)
    before = time.monotonic()
    stamp, came = hear(read, 0.1)
    assert came is None and before + 0.1 <= stamp <= time.monotonic()


def test_what_does_not_fit_is_not_written(ends: Ends) -> None:
    read, write, *_ = ends
    sent, _, _, came = exchange(write, read, b"x" * 1_000_000, 0.1)
    assert 0 < sent < 1_000_000 and came is None
    assert exchange(write, read, b"y", 0.1)[::3] == (0, None)


def test_what_is_heard_without_a_question(ends: Ends, counted: None) -> None:
    read, _, _, their_write = ends
    os.write(their_write, b"more\n")
    before = time.monotonic()
    stamp, came = hear(read, 10.0)
    assert came == b"more\n" and before <= stamp <= time.monotonic()
    os.close(their_write)
    assert hear(read, 10.0)[1] == b""


def test_the_ends_of_pipes(ends: Ends) -> None:
    read, write, their_read, their_write = ends
    os.close(their_read)
    with pytest.raises(BrokenPipeError):
        exchange(write, read, b"go\n", 10.0)
    os.close(their_write)
    assert exchange(write, read, b"go\n", 10.0)[0] == -1  # an end can be read too


def test_signals_are_heard_while_it_waits(ends: Ends) -> None:
    class Alarm(Exception):
        pass

    def ring(number: int, frame: object) -> None:
        raise Alarm

    read, write, *_ = ends
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Alarm):
            exchange(write, read, b"go\n", 60.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


HELD_UP = """
import os, sys, time
from caboose.protocol.process.pipes import count_waiting, exchange
counter = int(sys.argv[1])
os.open = lambda *_: counter
count_waiting()
os.set_blocking(0, False)
_, begin, stamp, came = exchange(1, 0, b"go\\n", 60.0)
print(begin, stamp, time.monotonic())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts how long a process waited for its turn")
@pytest.mark.parametrize(
    ("count", "left_out"),
    [
        ("0 40000000 2", 0.04),  # it slept, was woken, and then waited that long
        ("0 40000000 3", 0.0),  # it had more turns than one: nobody can tell when it waited
        ("0 9999000000000 2", 0.0),  # it did not sleep, but waited for its turn to
    ],
)
def test_time_that_we_waited_for_a_processor_is_left_out(tmp_path: Path, count: str, left_out: float) -> None:
    file = tmp_path / "counter"
    file.write_text("0 0 1")
    with file.open("rb") as counter:
        command = [sys.executable, "-c", HELD_UP, str(counter.fileno())]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, pass_fds=[counter.fileno()]) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.read(3) == b"go\n"
            stat = Path(f"/proc/{process.pid}/stat")
            while stat.read_text().rpartition(")")[2].split()[0] != "S":  # it waits for us
                time.sleep(0.001)
            time.sleep(0.05)
            process.send_signal(signal.SIGSTOP)
            file.write_text(count)
            process.stdin.write(b"move\n")
            written = time.monotonic()
            time.sleep(0.1)
            process.send_signal(signal.SIGCONT)
            begin, stamp, end = map(float, process.stdout.read().split())
    assert begin + 0.05 <= stamp <= end - left_out
    assert left_out or stamp >= written + 0.1
