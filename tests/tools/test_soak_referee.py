"""The referee's part of ``make soak``: it judges verdicts rightly, and a few matches of it."""

from __future__ import annotations

import signal
import time

import pytest

import soak_referee
from fault_engines import children
from misdeeds import MISDEEDS, Misdeed
from soak_matches import EXACT, FINE, GOOD, HELD_UP, SLOW, UNSEEN, Notes, Report, Request, judge, play_match

BEGIN, WAIT = 1000.0, 0.2
BY_NAME = {misdeed.name: misdeed for misdeed in (GOOD, *MISDEEDS)}


def judged(name: str, fault: str, deed: float | None, said: float | None, stamp: float) -> tuple[str, str]:
    """What is made of a request and its verdict; all times are seconds since it began."""
    request = Request("go", 7, BEGIN, WAIT, stamp=BEGIN + stamp, fault=fault, detail="why")
    notes = Notes()
    if deed is not None:
        notes.deeds[7] = BEGIN + deed
    if said is not None:
        notes.said[7].append((BEGIN + said, BEGIN + said))
    return judge(BY_NAME[name], request, notes)


@pytest.mark.parametrize(
    ("name", "fault", "deed", "said", "stamp", "wrong"),
    [
        ("(none)", "late", None, 0.1, 0.2, "late, though it answered 100.0 ms before the deadline"),
        ("is late by a second", "late", 0.0, 0.1, 0.2, "late, though it answered 100.0 ms before the deadline"),
        ("(none)", "", None, 0.3, 0.3, "a move of 100.0 ms after the deadline was taken"),
        ("(none)", "garbled", None, 0.1, 0.1, "garbled: why"),
        ("(none)", "dead", None, None, 0.1, "called a crash"),
        ("hangs", "dead", 0.0, None, 0.2, "called a crash"),
        ("crashes", "late", 0.05, None, 0.2, "late, 150.0 ms after it had done that"),
        ("is late and illegal", "illegal", 0.0, 0.25, 0.25, "a late move was called illegal"),
        ("plays illegally", "", 0.0, 0.1, 0.1, "no fault"),
        ("plays illegally", "garbled", 0.0, 0.1, 0.1, "garbled: why"),
        ("plays illegally", "illegal", None, 0.1, 0.1, "illegal: why"),
    ],
)
def test_wrong_verdicts_are_seen(
    name: str, fault: str, deed: float | None, said: float | None, stamp: float, wrong: str
) -> None:
    said_wrong = judged(name, fault, deed, said, stamp)[1]
    assert said_wrong.startswith(f"{name}: ") and wrong in said_wrong


@pytest.mark.parametrize(
    ("name", "fault", "deed", "said", "stamp", "outcome"),
    [
        ("(none)", "", None, 0.1, 0.1, FINE),
        ("(none)", "", None, WAIT + EXACT / 2, WAIT + EXACT / 2, FINE),
        ("(none)", "late", None, None, 0.2, SLOW),
        ("(none)", "late", None, 0.21, 0.2, SLOW),
        ("is late by a second", "", 0.0, 0.5, WAIT, HELD_UP),
        ("is late and illegal", "illegal", 0.0, 0.5, WAIT, "illegal: the referee was held up"),
        ("crashes", "late", 0.19, None, 0.2, SLOW),
        ("crashes", "dead", 0.1, None, 0.1, "dead"),
        ("hangs", "late", 0.0, None, 0.2, "late"),
        ("plays illegally", "illegal", 0.0, 0.1, 0.1, "illegal"),
    ],
)
def test_right_verdicts_are_right(
    name: str, fault: str, deed: float | None, said: float | None, stamp: float, outcome: str
) -> None:
    assert judged(name, fault, deed, said, stamp) == (outcome, "")


def test_a_crash_may_be_seen_at_the_next_request() -> None:
    notes = Notes(deeds={7: BEGIN})
    closing = BY_NAME["closes its input"]
    assert judge(closing, Request("go", 8, BEGIN, WAIT, fault="dead", detail="why"), notes) == ("dead", "")
    assert "a crash was called a stall" in judge(closing, Request("go", 8, BEGIN, WAIT, fault="late"), notes)[1]


@pytest.mark.parametrize("misdeed", [misdeed for misdeed in MISDEEDS if misdeed.kind and misdeed.on_go == "pass"])
def test_faults_before_the_first_move(misdeed: Misdeed) -> None:
    what = "start" if misdeed.kind == "start" else "newgame"
    asked = Request(what, 0, BEGIN, WAIT)
    assert "no fault at" in judge(misdeed, asked, Notes())[1]
    asked.fault = misdeed.kind
    assert judge(misdeed, asked, Notes()) == (misdeed.kind, "")
    asked.fault, asked.detail = "garbled", "why"
    assert f"garbled at {what}: why" in judge(misdeed, asked, Notes())[1]


def test_matches_are_played_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    before = children()
    report = soak_referee.soak(seed=7, seconds=120, games=1, jobs=2)
    again = play_match("7.0.0")
    assert children() == before
    assert report.games >= 4 and report.moves > 10 and not report.wrong and not any(report.left.values())
    assert not again.wrong and UNSEEN not in {outcome for _, outcome in again.verdicts}
    assert soak_referee.show(report, "heading")
    table = capsys.readouterr().out
    assert all(misdeed.name in table for misdeed in MISDEEDS) and "wrong verdicts: 0" in table
    report.wrong.append("something")
    assert not soak_referee.show(report, "heading")


def test_nothing_is_left_of_a_referee_that_is_killed() -> None:
    before = children()
    job = soak_referee.Job("7.0", soak_referee.make_end(time.monotonic() + 120))
    assert job.receive() is not None
    job.kill(signal.SIGKILL)
    while job.receive() is not None:
        pass
    assert job.finish() == Report(killed=1)
    assert children() == before
