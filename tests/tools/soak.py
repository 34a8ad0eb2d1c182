"""Looks for rare faults for as long as one likes: ``python tests/tools/soak.py --seconds 60 --jobs 2``.

Rounds and whole games of random rules are played on the fast core and on the reference and compared at every step
(``duel.py``), beliefs are compared with what was and with all deals that are possible (``believing.py``), and every
parser gets damaged text (``fuzzing.py``). Each of these has a number, so that it can be seen again. Exit codes: 0
nothing found, 1 something found (with the command that shows it again), 2 a wrong call.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Final, Protocol

sys.path.append(str(Path(__file__).parents[1] / "support"))

import belief_checks as believing
import duel
import fuzz as fuzzing
from fuzz_parsers import PARTS

PARSING: Final = 0.15  # the share of the time that goes to the parsers
BELIEVING: Final = 0.15  # and to beliefs
REPORT_EVERY: Final = 2.0  # seconds
SILENT: Final = 400.0  # seconds after which a job must be caught in a loop: longer than hypothesis makes examples small
TELL_EVERY: Final = 60.0  # seconds
MOST_FOUND: Final = 5  # faults after which a job ends

COUNTED: Final = (
    "preset", "players", "set", "hand", "hub", "starter", "first_turn", "first_turn_draw", "first_turn_finish",
    "first_turn_places", "double_answer", "doubles_order", "extra_after_doubles", "dead_double", "blank", "rounds",
)  # fmt: skip
HANDS: Final = (1, 4, 8, 12, 16, 30, 95)  # hands are counted together up to each of these


class Note(Protocol):
    """What a job is doing, where its parent can see it even after a crash."""

    value: bytes


@dataclass
class Report:
    """What was done."""

    rounds: int = 0
    games: int = 0
    moves: int = 0
    beliefs: int = 0
    found: int = 0
    values: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)  # rounds with each value
    met: collections.Counter[str] = field(default_factory=collections.Counter)  # rounds in which something happened
    texts: collections.Counter[str] = field(default_factory=collections.Counter)  # for each part of the parsers

    def add(self, other: Report) -> None:
        """Takes in what another one did."""
        self.rounds += other.rounds
        self.games += other.games
        self.moves += other.moves
        self.beliefs += other.beliefs
        self.found += other.found
        self.values += other.values
        self.met += other.met
        self.texts += other.texts

    def count(self, outcome: duel.Outcome) -> None:
        """Takes in a round or a game."""
        self.rounds += outcome.rounds
        self.games += outcome.is_game
        self.moves += outcome.moves
        self.met += outcome.met
        for name, value in option_values(outcome).items():
            self.values[name, value] += outcome.rounds


def option_values(outcome: duel.Outcome) -> dict[str, str]:
    """The value of each option, in the words in which they are counted."""
    rules = outcome.rules
    values = {name: str(getattr(rules, name)) for name in COUNTED}
    values["hand"] = hand_words(rules.hand)
    if not outcome.is_game:
        del values["rounds"]  # it is about games only
    elif rules.rounds == rules.set + 1:
        values["rounds"] = "all"
    elif rules.rounds > 1:
        values["rounds"] = "some"
    return values


def hand_words(hand: int) -> str:
    """The hands that a hand is counted with, such as ``5 to 8``."""
    at = next(at for at, most in enumerate(HANDS) if hand <= most)
    least = HANDS[at - 1] + 1 if at else 1
    return str(least) if least == HANDS[at] else f"{least} to {HANDS[at]}"


# A job is a process that does every so-manieth number.


def work(index: int, jobs: int, seed: int, until: Synchronized[float], doing: Note, pipe: Connection) -> None:
    """Compares and parses until the clock says ``until``; sends a report every few seconds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    report, found = Report(), 0
    began = told = time.monotonic()
    parsing = believed = 0.0
    number = case = belief = index
    parent = os.getppid()
    while found < MOST_FOUND and (now := time.monotonic()) < until.value and os.getppid() == parent:
        if now - told > REPORT_EVERY:
            pipe.send(report)
            report, told = Report(), now
        try:
            if parsing < PARSING * (now - began):
                part, at = PARTS[case % len(PARTS)], case // len(PARTS)
                case += jobs
                doing.value = f"--part {part.name} --case {at}".encode()
                report.texts[part.name] += part.run(seed, at)
                parsing += time.monotonic() - now
            elif believed < BELIEVING * (now - began):
                doing.value = f"--belief {belief}".encode()
                belief += jobs
                report.beliefs += believing.look(belief - jobs, seed)
                believed += time.monotonic() - now
            else:
                doing.value = f"--round {number}".encode()
                number += jobs
                report.count(duel.compare(number - jobs, seed))
        except (duel.Difference, fuzzing.Fault) as fault:
            found += 1
            report.found += 1
            tell(fault, doing.value.decode(), seed)
            told = 0.0  # it is to be counted also if this job crashes
    pipe.send(report)


def tell(fault: object, command: str, seed: int) -> None:
    """Prints a fault and how to see it again."""
    print(f"{fault}\nto see it again: python tests/tools/soak.py --seed {seed} {command}\n", flush=True)


class Job:
    """A process that works. It may crash, as the core is compiled, or never come back."""

    def __init__(self, index: int, jobs: int, seed: int, until: Synchronized[float]) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe(duplex=False)
        self._seed = seed
        self._doing: Note = context.Array("c", 200, lock=False)
        self._heard = time.monotonic()
        self._process = context.Process(target=work, args=(index, jobs, seed, until, self._doing, other))
        self._process.start()
        other.close()

    def receive(self) -> Report | None:
        """A report that has come; None when the job has ended."""
        self._heard = time.monotonic()
        try:
            report = self.pipe.recv()
        except EOFError:
            return None
        assert isinstance(report, Report)
        return report

    def end_if_stuck(self) -> None:
        """Ends a job of which nothing has been heard for too long."""
        if time.monotonic() - self._heard > SILENT:
            self._process.kill()

    def well_ended(self) -> bool:
        """Whether a job that has ended came to its end; if not, it is told what it was doing."""
        self._process.join()
        code = self._process.exitcode
        if code:
            tell(f"a job has died: exit code {code}", self._doing.value.decode(), self._seed)
        return code == 0


def soak(seed: int, seconds: float, rounds: float, jobs: int) -> Report:
    """Runs jobs until the time is over, or there were as many rounds, or Ctrl-C."""
    began = told = time.monotonic()
    until = multiprocessing.get_context("fork").Value("d", began + seconds)
    total = Report()
    running = {job.pipe: job for job in [Job(index, jobs, seed, until) for index in range(jobs)]}
    while running:
        try:
            for pipe in wait(list(running), timeout=1.0):
                assert isinstance(pipe, Connection)
                report = running[pipe].receive()
                if report:
                    total.add(report)
                else:
                    total.found += not running.pop(pipe).well_ended()
            for job in running.values():
                job.end_if_stuck()
            if total.rounds >= rounds:
                until.value = 0.0
            if time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                print(f"{told - began:.0f} s: {total.rounds:,} rounds, {total.found} faults", flush=True)
        except KeyboardInterrupt:
            until.value = 0.0
    return total


def show(report: Report, seconds: float, jobs: int, seed: int) -> None:
    """Prints what was done."""
    for name in COUNTED:
        values = {value: count for (option, value), count in report.values.items() if option == name}
        print(f"{name:20}", "  ".join(f"{value}: {values[value]:,}" for value in sorted(values, key=_by_number)))
    print(f"{'rounds with':20}", "  ".join(f"{what}: {count:,}" for what, count in sorted(report.met.items())))
    for part in PARTS:
        print(f"parser {part.name:13} {report.texts[part.name]:,} damaged texts")
    texts = sum(report.texts.values())
    did = f"{report.rounds:,} rounds ({report.games:,} games), {report.moves:,} moves, {report.beliefs:,} beliefs"
    did += f", {texts:,} texts"
    print(f"{did}, {report.found} faults; {seconds:.0f} s, {jobs} jobs, seed {seed}")


def _by_number(value: str) -> tuple[int, str]:
    """Numbers by their size, and then the words."""
    number = value.split(maxsplit=1)[0]
    return (int(number), "") if number.isdigit() else (sys.maxsize, value)


def again(seed: int, round: int | None, belief: int | None, part: str | None, case: int) -> None:
    """One thing only. Raises ``Difference`` or ``Fault``."""
    if round is not None:
        outcome = duel.compare(round, seed)
        print(f"{outcome.rules}\n{outcome.rounds} rounds, {outcome.moves} moves: no difference")
    elif belief is not None:
        print(f"{believing.look(belief, seed)} beliefs: no fault")
    else:
        tried = next(one for one in PARTS if one.name == part).run(seed, case)
        print(f"{tried} texts: no fault")


def main() -> int:
    """The command line."""
    parts = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(description="Look for rare faults of the rules, of beliefs and of the parsers.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (default 60)")
    parser.add_argument("--rounds", type=float, default=float("inf"), help="or until there were as many rounds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each core)")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other rounds and texts (default 1)")
    parser.add_argument("--round", type=int, help="compare only the round or game of this number")
    parser.add_argument("--belief", type=int, help="look only at beliefs of the round of this number")
    parser.add_argument("--part", choices=parts, help="try only this part of the parsers")
    parser.add_argument("--case", type=int, default=0, help="which texts --part tries")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs}: expected at least 1")
    if arguments.round is not None or arguments.belief is not None or arguments.part is not None:
        try:
            again(arguments.seed, arguments.round, arguments.belief, arguments.part, arguments.case)
        except (duel.Difference, fuzzing.Fault) as fault:
            print(fault)
            return 1
        return 0
    began = time.monotonic()
    report = soak(arguments.seed, arguments.seconds, arguments.rounds, arguments.jobs)
    show(report, time.monotonic() - began, arguments.jobs, arguments.seed)
    return 1 if report.found else 0


if __name__ == "__main__":
    sys.exit(main())
