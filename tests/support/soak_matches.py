"""Matches of random kinds with engines that misbehave at random, and whether the referee judged each of them rightly.

Engines write down when they answer and when they misbehave, by the same clock as the referee. So what they say decides
whether a verdict is right, and not how busy the machine is: an engine that could not answer in time is late, also if it
is a good one.
"""

from __future__ import annotations

import collections
import os
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from caboose.arena.blocks.block import CRASHED, CRASHES, RESTARTS, Bench, Plan, play_block
from caboose.arena.blocks.contestants import Contestant, Entrant, Lineup, builtin_command
from caboose.arena.blocks.results import GameInBlock
from caboose.engine.bot_api import Bot, Limits, Option, OptionError
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.gamelog import read_log
from caboose.protocol.process.launch import PLAIN, Launch
from caboose.protocol.process.process import EngineFault, EngineProcess
from caboose.protocol.referee.referee import FAULT_POLICIES
from caboose.protocol.referee.timing import TimeControl
from fault_engines import children, descriptors
from implementations import random_rules
from misdeeds import LONG, MISDEEDS, NO_MARGIN, SHORT, WIDE_MARGIN, Misdeed
from players import wait_until

MARK: Final = "CABOOSE_SOAK"  # in the environment of all that a match starts
GOOD: Final = Misdeed(name="(none)")
HELD: Final = 0.5  # the share of a limit within which a busy machine may keep an engine from being seen to misbehave
EXACT: Final = 0.001  # seconds: nearer to a deadline than stamps are promised to be, either verdict will do
GONE: Final = 20.0  # seconds that the system is given to end what was killed

# How a verdict came about, beside the kinds of faults.
FINE: Final = "no fault"
SLOW: Final = "late: the machine was slow"
HELD_UP: Final = "no fault: the referee was held up"
WITHIN: Final = "no fault: the margin was wide"
UNSEEN: Final = "no fault: the game was over"
NOT_DONE: Final = "did not come to it"
OUT: Final = "was out"

_NOTES: Final = """
import os, sys, time
_file = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(*what):
    os.write(_file, (' '.join(map(str, what)) + '\\n').encode())
def flush():
    begin = time.monotonic_ns()
    _unnoted()
    if words[0] == 'go':
        note('said', words[1], begin, time.monotonic_ns())
_unnoted, sys.stdout.flush = sys.stdout.flush, flush
"""
_DEED: Final = "note('deed', words[1], time.monotonic_ns(), 0); "


# --------------------------------------------------------------------------------------------- what engines do


@dataclass(slots=True)
class Request:
    """Something that an engine was asked for: ``start``, ``newgame``, or ``go`` with its number. Times are seconds of
    ``time.monotonic``; ``wait`` those from ``begin`` to the deadline. ``fault`` and ``detail`` are the verdict."""

    what: str
    number: int
    begin: float
    wait: float
    stamp: float = 0.0
    over: bool = False
    fault: str = ""
    detail: str = ""

    @property
    def deadline(self) -> float:
        """When its time was over, the margin included."""
        return self.begin + self.wait

    @property
    def forgiven(self) -> bool:
        """Whether the referee looked too late to tell when the answer came."""
        return self.what == "go" and abs(self.stamp - self.deadline) < 1e-6


@dataclass(slots=True)
class Notes:
    """What an engine wrote down: when it misbehaved, and of all that it said in answer to a ``go`` the seconds just
    before and just after that."""

    deeds: dict[int, float] = field(default_factory=dict)
    said: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: collections.defaultdict(list))

    @classmethod
    def read(cls, path: Path) -> Notes:
        """From the file; there is none of an engine that never came so far."""
        notes = cls()
        for line in path.read_text(encoding="ascii").splitlines() if path.exists() else ():
            what, number, begin, end = line.split()
            if what == "deed":
                notes.deeds[int(number)] = int(begin) / 1e9
            else:
                notes.said[int(number)].append((int(begin) / 1e9, int(end) / 1e9))
        return notes

    def answers(self, request: Request) -> list[tuple[float, float]]:
        """When something was said to a request; the last of it is the answer, if it came so far."""
        return [times for times in self.said.get(request.number, ()) if times[0] >= request.begin]


class Watched(EngineProcess):
    """Remembers all that it was asked for in this try of a game, and how soon it was gone after a fault."""

    def __init__(self, command: Sequence[str], control: TimeControl, launch: Launch) -> None:
        startup = control.startup / 1000
        super().__init__(
            command, start_timeout=startup, margin=control.margin, guard=control.guard / 1000, launch=launch
        )
        self._startup = startup
        self._grace = control.margin / 1000
        self._longest = control.guard / 1000
        self.requests: list[Request] = []
        self.ended_after: list[float] = []
        """Seconds by which its end came after the limit, or after its fault was seen."""
        self._failed_at = 0.0

    def start(self) -> None:
        if not self.running:
            self._request(Request("start", 0, time.monotonic(), self._startup), super().start)

    def new_game(self) -> None:
        self._request(Request("newgame", 0, time.monotonic(), self._startup), super().new_game)

    def ask(self, observation: Observation, limits: Limits, allowed: float | None, legal: Sequence[Move]) -> Move:
        wait = self._longest if allowed is None else allowed / 1000 + self._grace
        request = Request("go", self._number + 1, time.monotonic(), wait)
        try:
            move: Move = self._request(request, lambda: super(Watched, self).ask(observation, limits, allowed, legal))
        finally:
            if self._talk is not None:
                request.stamp = self._talk.channel.stamp
                request.begin = request.stamp - self.last_time / 1000
            request.over = not request.fault and allowed is not None and self.last_time > allowed
        return move

    def _request(self, request: Request, call: Any) -> Any:
        self.requests.append(request)
        try:
            return call()
        except EngineFault as fault:
            request.fault, request.detail = fault.kind, fault.detail
            in_vain = fault.kind == "late" or "within" in fault.detail
            self._failed_at = request.deadline if in_vain else time.monotonic()
            raise

    def close(self) -> None:
        super().close()
        if self._failed_at:
            self.ended_after.append(time.monotonic() - self._failed_at)
            self._failed_at = 0.0


@dataclass(frozen=True, slots=True)
class Seated(Contestant):
    """A contestant that misbehaves, or does not, and writes that down in the file ``notes``."""

    misdeed: Misdeed = GOOD
    notes: Path = Path()

    def player(
        self, control: TimeControl, in_process: bool, launch: Launch = PLAIN, cpus: tuple[int, ...] = ()
    ) -> EngineProcess:
        return Watched(self.command, control, launch)


class Finisher:
    """The player that finishes for others; it is told of a new game when a game begins, before all others."""

    name = "finisher"
    options: Mapping[str, Option] = {}

    def __init__(self, bot: Bot, table: Table) -> None:
        self._bot = bot
        self._table = table

    def set_option(self, name: str, value: str) -> None:
        raise OptionError(f"no option {name}")

    def new_game(self) -> None:
        self._table.begin_try()

    def choose(self, observation: Observation, limits: Limits) -> Move:
        return self._bot.choose(observation, limits)


# ------------------------------------------------------------------------------------------------- verdicts


def judge(misdeed: Misdeed, request: Request, notes: Notes) -> tuple[str, str]:
    """How a request ended, in the words of the table, and what is wrong with that verdict (empty if nothing is)."""
    judged = _judge_go if request.what == "go" else _judge_start
    return judged(misdeed, request, notes)


def _judge_start(misdeed: Misdeed, request: Request, notes: Notes) -> tuple[str, str]:
    at_start = misdeed.kind == "start"
    here = request.what == ("start" if at_start else "newgame") and (at_start or misdeed.code)
    if not request.fault:
        return FINE, f"{misdeed.name}: no fault at {request.what}" if here else ""
    if here and request.fault == misdeed.kind:
        return request.fault, ""
    if request.fault == misdeed.kind == "dead" and notes.deeds:  # in the game before, at its last move
        return request.fault, ""
    if request.fault in ("start", "late") and request.detail.startswith(("no cabooseok within", "no readyok within")):
        return SLOW, ""
    return request.fault, f"{misdeed.name}: {request.fault} at {request.what}: {request.detail}"


def _judge_go(misdeed: Misdeed, request: Request, notes: Notes) -> tuple[str, str]:
    deed = notes.deeds.get(request.number)
    said = notes.answers(request)
    after = request.deadline
    in_time = bool(said) and said[-1][0] <= after + EXACT
    in_vain = bool(said) and said[0][0] > after + EXACT and not request.forgiven
    if not request.fault:
        if in_vain:
            return FINE, f"{misdeed.name}: a move of {_ms(said[0][0] - after)} after the deadline was taken"
        if deed is not None and misdeed.kind == "late" and (request.forgiven or in_time):
            return WITHIN if in_time else HELD_UP, ""
        if deed is not None and misdeed.kind not in ("", "dead"):
            return FINE, f"{misdeed.name}: no fault"
        return FINE, ""
    if request.fault == "late":
        if said and said[-1][1] < after - EXACT:
            return "late", f"{misdeed.name}: late, though it answered {_ms(after - said[-1][1])} before the deadline"
        if deed is not None and misdeed.kind == "late":
            return "late", ""
        if deed is not None and misdeed.kind and deed < after - HELD * request.wait:
            return "late", f"{misdeed.name}: late, {_ms(after - deed)} after it had done that: {request.detail}"
        if misdeed.kind == "dead" and any(number < request.number for number in notes.deeds):
            return "late", f"{misdeed.name}: a crash was called a stall: {request.detail}"
        return SLOW, ""
    if request.fault == "dead":
        if misdeed.kind == "dead" and any(number <= request.number for number in notes.deeds):
            return "dead", ""
        return "dead", f"{misdeed.name}: called a crash: {request.detail}"
    if in_vain:
        return request.fault, f"{misdeed.name}: a late move was called {request.fault}: {request.detail}"
    if deed is not None and misdeed.kind == request.fault:
        return request.fault, ""
    if deed is not None and misdeed.kind == "late" and (request.forgiven or in_time):
        return f"{request.fault}: {'the margin was wide' if in_time else 'the referee was held up'}", ""
    return request.fault, f"{misdeed.name}: {request.fault}: {request.detail}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


# --------------------------------------------------------------------------------------------------- matches


@dataclass
class Report:
    """What was played, and all that was found."""

    matches: int = 0
    games: int = 0
    replays: int = 0
    moves: int = 0
    verdicts: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)
    """Games by misdeed and outcome."""
    overruns: int = 0
    stamps: list[float] = field(default_factory=list)
    """Seconds from just before an engine wrote to our stamp."""
    ended_after: list[float] = field(default_factory=list)
    memory: tuple[int, ...] = ()
    """Bytes that a referee used from time to time, of the one that lived longest."""
    left: collections.Counter[str] = field(default_factory=collections.Counter)
    killed: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Takes in what another one did."""
        self.matches += other.matches
        self.games += other.games
        self.replays += other.replays
        self.moves += other.moves
        self.verdicts += other.verdicts
        self.overruns += other.overruns
        self.stamps += other.stamps
        self.ended_after += other.ended_after
        self.memory = max(self.memory, other.memory, key=len)
        self.left += other.left
        self.killed += other.killed
        self.wrong += other.wrong


class Table:
    """The engines of a match, and what they were asked for in each try of each game."""

    def __init__(self, lineup: Lineup, players: Sequence[Bot]) -> None:
        self.players = players
        self.seated = {
            player: lineup.contestants[entry]
            for entry, player in zip(lineup.entries, players, strict=True)
            if isinstance(player, Watched)
        }
        self.tries: list[dict[Watched, list[Request]]] = []
        self.last_tries: list[int] = []
        """The number of the try that counted, for each game."""

    def begin_try(self) -> None:
        """A game begins, or begins anew."""
        self.tries.append({})
        for player in self.seated:
            player.requests = self.tries[-1][player] = []

    def game_over(self) -> None:
        """The last try counts."""
        self.last_tries.append(len(self.tries) - 1)

    def check(self, plan: Plan, games: Sequence[GameInBlock], report: Report) -> None:
        """Judges all that happened."""
        notes = {}
        for player, seated in self.seated.items():
            assert isinstance(seated, Seated)
            notes[player] = Notes.read(seated.notes)
            report.ended_after += player.ended_after
        out: set[Watched] = set()
        for requests in self.tries:
            for player, asked in requests.items():
                seated = self.seated[player]
                assert isinstance(seated, Seated)
                outcome = OUT if player in out else self._check_player(seated.misdeed, asked, notes[player], report)
                report.verdicts[seated.misdeed.name, outcome] += 1
                if plan.restart == "off" and any(request.fault for request in asked):
                    out.add(player)
        report.games += len(games)
        report.replays += len(self.tries) - len(games)
        for game, number in zip(games, self.last_tries, strict=True):
            report.wrong += self._check_game(plan, game, self.tries[number])
        crashes = sum(
            request.fault in CRASHES for requests in self.tries for asked in requests.values() for request in asked
        )
        kept = [crash.fault for game in games for crash in game.crashes]
        kept += [
            seat.fault for game in games for seat in game.result.seats if seat.fault and seat.fault.kind in CRASHES
        ]
        if len(kept) != crashes:
            report.wrong.append(f"{len(kept)} crashes were written down, and there were {crashes}")

    def _check_player(self, misdeed: Misdeed, asked: list[Request], notes: Notes, report: Report) -> str:
        """One player in one try; gives the outcome."""
        last = FINE
        for request in asked:
            outcome, wrong = judge(misdeed, request, notes)
            if wrong:
                report.wrong.append(wrong)
            if outcome != FINE:
                last = outcome
            if request.what == "go":
                report.moves += 1
                report.overruns += request.over
                said = notes.answers(request)
                if len(said) == 1 and not request.fault:
                    report.stamps.append(abs(request.stamp - said[0][0]))
        if last == FINE and misdeed.on_go != "pass":
            if not any(request.number in notes.deeds for request in asked):
                return NOT_DONE
            if misdeed.kind:
                return UNSEEN  # it died after its last move, or the like
        return last

    def _check_game(self, plan: Plan, game: GameInBlock, tried: dict[Watched, list[Request]]) -> list[str]:
        """Whether the result of a game says what happened in it."""
        wrong = []
        seats = game.result.seats
        for number, (entry, seat) in enumerate(zip(game.seating, seats, strict=True)):
            player = self.players[entry]
            if not isinstance(player, Watched):
                continue
            asked = tried[player]
            faults = [request.fault for request in asked if request.fault]
            kept = [seat.fault.kind] if seat.fault is not None else []
            if faults != kept:
                wrong.append(f"seat {number + 1} had the faults {faults}, and the result says {kept}")
            went = [request for request in asked if request.what == "go"]
            if seat.decisions != len(went):
                wrong.append(f"seat {number + 1} was asked {len(went)} times, and the result says {seat.decisions}")
            if seat.overruns != sum(request.over for request in went):
                wrong.append(f"seat {number + 1}: {seat.overruns} overruns in the result")
        clean = [seat.place for seat in seats if seat.fault is None]
        faulty = [seat.place for seat in seats if seat.fault is not None]
        if faulty and clean and max(clean) >= min(faulty):
            wrong.append(f"places of clean seats {clean}, of faulty ones {faulty}")
        whole = all(round.complete for round in game.result.rounds)
        if not (plan.on_fault == "forfeit" and faulty) and (not whole or len(game.result.rounds) != plan.rules.rounds):
            wrong.append(f"{len(game.result.rounds)} rounds of {plan.rules.rounds} were played, whole: {whole}")
        return wrong


def draw_rules(rng: random.Random) -> Rules:
    """Rules of any kind, for few players and few rounds."""
    most = 14 if rng.random() < 0.03 else 5
    while (rules := random_rules(rng)).players > most:
        pass
    return replace(rules, rounds=min(rules.rounds, rng.randint(1, 2)))


def draw_control(rng: random.Random, misdeeds: Sequence[Misdeed]) -> TimeControl:
    """A time control of any kind under which all these show what they do."""
    controls = [misdeed.control for misdeed in misdeeds]
    hurried = any(control is not LONG for control in controls)
    unit = float(rng.randint(200, 400) if hurried else rng.randint(3000, 6000))
    timed: list[dict[str, Any]] = [
        {"movetime": unit},
        {"clock": 3 * unit, "increment": unit / 20},
        {"clock": 2 * unit, "allowance": unit / 2},
        {"movetime": unit, "roundcap": 4 * unit, "gamecap": 6 * unit},
        {"movetime": unit, "playouts": 10},
    ]
    margin = rng.choice((0, 20, 50, 100))
    if NO_MARGIN in controls:
        margin = 0
    elif WIDE_MARGIN in controls:
        margin = 3000
    elif rng.random() < 0.2 and not any("limit()" in misdeed.on_go for misdeed in misdeeds):
        timed = [{"nodes": 100}, {"playouts": 10}]
    startup = rng.randint(800, 1500) if any(m.control is SHORT and m.on_go == "pass" for m in misdeeds) else 20_000
    grace = rng.choice((0, 0, 300))
    return TimeControl(**rng.choice(timed), margin=margin, guard=unit, grace=grace, startup=startup)


def draw_match(rng: random.Random, folder: Path) -> Plan:
    """A match of any kind; its engines are written into ``folder``."""
    rules = draw_rules(rng)
    contestants: list[Contestant] = []
    while not any(isinstance(contestant, Seated) for contestant in contestants):
        contestants = [_draw_contestant(rng, folder, f"p{number}") for number in range(rules.players)]
    misdeeds = [contestant.misdeed for contestant in contestants if isinstance(contestant, Seated)]
    logs = folder / "logs"
    if logged := rng.random() < 0.1:
        logs.mkdir()
    return Plan(
        rules=rules,
        lineup=Lineup(tuple(contestants), tuple(range(rules.players))),
        control=draw_control(rng, misdeeds),
        seed=rng.getrandbits(128),
        on_fault=rng.choice((FAULT_POLICIES[0], *FAULT_POLICIES)),
        restart=rng.choice((*RESTARTS, *RESTARTS[:-1])),
        crashed=rng.choice((CRASHED[0], *CRASHED)),
        in_process=True,
        recording=rng.random() < 0.3,
        launch=PLAIN,
        logs=logs if logged else None,
    )


def _draw_contestant(rng: random.Random, folder: Path, label: str) -> Contestant:
    kind = rng.random()
    if kind < 0.2:
        name = rng.choice(("random", "greedy", "planner"))
        return Contestant(label, Entrant(name, builtin_command(name)))
    misdeed = GOOD if kind < 0.5 else rng.choice(MISDEEDS)
    notes = folder / f"{label}.notes"
    command = misdeed.make(
        folder, name=label, at=rng.choice((2, 2, 3, 4)), before=_NOTES.format(path=str(notes)), on_go=_DEED
    )
    return Seated(label, Entrant("", tuple(command)), misdeed=misdeed, notes=notes)


def play_match(key: str) -> Report:
    """Plays the match of this name, judges it, and looks at what it has left behind."""
    report = Report(matches=1)
    os.environ[MARK] = mark = f"{os.getpid()}/{key}"
    before = descriptors()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = draw_match(random.Random(key), folder)
        with Bench(plan) as bench:
            table = Table(plan.lineup, bench.players)
            bench.fallback = Finisher(bench.fallback, table)
            block = play_block(plan, bench, 0, table.game_over)
        report.left["descriptors"] += len(descriptors() - before)
        report.left["children"] += len(children())
        wait_until(lambda: not marked(mark), GONE)
        report.left["processes"] += len(marked(mark))
        table.check(plan, block.games, report)
        if plan.logs is not None:
            _check_logs(plan.logs, len(table.tries), report)
            shutil.rmtree(plan.logs)
        ours = {name for label in plan.lineup.contestants for name in (f"{label.label}.py", f"{label.label}.notes")}
        report.left["files"] += len({path.name for path in folder.iterdir()} - ours)
    report.wrong = [f"{wrong}\n  {key}: {plan.rules}, {plan.control}, {plan.on_fault}, restart {plan.restart}, "
                    f"crashed {plan.crashed}" for wrong in report.wrong]  # fmt: skip
    return report


def _check_logs(logs: Path, tries: int, report: Report) -> None:
    """Whether each game, and each of its tries, has a log that can be read."""
    files = sorted(logs.iterdir())
    if len(files) != tries:
        report.wrong.append(f"{len(files)} logs of {tries} games")
    for path in files:
        with path.open("rb") as file:
            for _ in read_log(file, path.name):
                pass


def marked(mark: str) -> list[int]:
    """The processes that were started with this mark, or one that begins like it."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if wanted in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
