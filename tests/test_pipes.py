"""A question and its answer in one call: what was written, what came, and when."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from caboose.protocol.pipes import exchange

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


def test_an_answer_and_its_times(ends: Ends) -> None:
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


def test_what_does_not_fit_is_not_written(ends: Ends) -> None:
    read, write, *_ = ends
    sent, _, _, came = exchange(write, read, b"x" * 1_000_000, 0.1)
    assert 0 < sent < 1_000_000 and came is None
    assert exchange(write, read, b"y", 0.1)[::3] == (0, None)


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
