"""Steps about time, and about the end."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from statistics import median
from typing import Final

from caboose.arena.conformance.positions import position
from caboose.arena.conformance.probe import Probe
from caboose.arena.conformance.steps import Broken, Skip, Steps
from caboose.engine.bot_api import Limits
from caboose.protocol.messages import go_line
from caboose.protocol.notation.observation import observation_lines

_TO: Final = "From the referee to the engine"
_FROM: Final = "From the engine to the referee"
_TIME: Final = "Time"
_TRIES: Final = 3  # a machine may stall; an engine is too late when it is so each time
_LARGEST: Final = 10**15 - 1  # the largest number that the grammar writes
_THINKING: Final = 0.15  # seconds after which it surely thinks
_LONG: Final = Limits(movetime=60_000.0)
_COLD: Final = 20.0  # ms, the usual limit of a match
_STARTS: Final = 5  # of new processes, of which …
_LATE: Final = 2  # … so many have to be late: those are two of five games
_COLD_PATIENCE: Final = 5.0  # seconds after which no more are started
_TOGETHER: Final = "all that are given hold together"

TIME: Final = Steps()
END: Final = Steps()


def _in_time(probe: Probe, limits: Limits, allowed: float) -> None:
    """Asks within ``limits``, for which the answer may take ``allowed`` milliseconds."""
    view = position()
    times = []
    for _ in range(_TRIES):
        begin = probe.ask(view, limits)
        times.append(probe.answer(view, begin, allowed / 1000 + probe.patience).seconds * 1000)
        if times[-1] <= allowed + probe.margin:
            return
    raise Broken(
        f"the fastest of {_TRIES} answers took {min(times):,.0f} ms, expected {allowed:,.0f} ms and a margin of "
        f"{probe.margin:,.0f} ms at most"
    )


def _stopped(probe: Probe, limits: Limits) -> None:
    """Asks, says ``stop`` while it thinks, and wants the answer at once."""
    view = position()
    times = []
    for _ in range(_TRIES):
        begin = probe.ask(view, limits)
        probe.pause(_THINKING)
        stop = time.monotonic()
        probe.send("stop")
        came = begin + probe.answer(view, begin).seconds
        times.append((came - stop) * 1000)
        if times[-1] <= probe.margin:
            return
    raise Broken(
        f"the fastest of {_TRIES} answers took {min(times):,.0f} ms from stop, expected a margin of "
        f"{probe.margin:,.0f} ms at most"
    )


def _need(probe: Probe, capability: str) -> None:
    if capability not in probe.capabilities:
        raise Skip(f"it does not claim the capability {capability}")


# --- time --------------------------------------------------------------------------------------------------------


@TIME.step("time.movetime", "keeps to `movetime 250`", "the answer must arrive within this time", _TIME)
def _movetime(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=250.0), 250)


@TIME.step("time.tiny", "keeps to `movetime 1`", "the answer must arrive within this time", _TIME)
def _tiny(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=1.0), 1)


@TIME.step(
    "time.cold",
    "keeps to `movetime 20` also with the first move of a new process",
    "Without such a grace the first move of a new process has no more time than any other",
    _TIME,
    must=False,
)
def _cold(probe: Probe) -> None:
    allowed = _COLD + probe.margin
    firsts: list[float] = []
    later: list[float] = []
    end = time.monotonic() + _COLD_PATIENCE
    while len(firsts) < _STARTS and (len(firsts) < _LATE or time.monotonic() < end):
        probe.restart()
        probe.send("newgame")
        probe.ready()
        for number, after in enumerate((0, 8, 16)):
            view = position(after=after)
            begin = probe.ask(view, Limits(movetime=_COLD))
            took = probe.answer(view, begin, allowed / 1000 + probe.patience).seconds * 1000
            (later if number else firsts).append(took)
    if min(later) > allowed:
        raise Skip(f"its later moves are late as well: the fastest took {min(later):,.0f} ms")
    late = sum(took > allowed for took in firsts)
    if late >= _LATE:
        grace = 10 * math.ceil(1.5 * (max(firsts) - _COLD) / 10)  # some more, as this was only a few
        raise Broken(
            f"the first moves of {len(firsts)} new processes took {min(firsts):,.0f} to {max(firsts):,.0f} ms, and "
            f"{late} of them were late, with movetime {_COLD:.0f} and a margin of {probe.margin:,.0f} ms; later moves "
            f"took {median(later):,.0f} ms. Expected that it loads and warms up before readyok; or give its first "
            f"moves more time, such as --grace {grace} in a match"
        )


@TIME.step("time.none", "answers at once to `movetime 0`", "All times are whole milliseconds.", "Lines")
def _none(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=0.0), 0)


@TIME.step("time.clock", "keeps to a clock", "what is left on the seat's clock for the rest of the game", _TIME)
def _clock(probe: Probe) -> None:
    _in_time(probe, Limits(clock=1000.0), 1000)


@TIME.step("time.increment", "keeps to a clock with increment", "what is added to the clock after each move", _TIME)
def _increment(probe: Probe) -> None:
    _in_time(probe, Limits(clock=300.0, increment=500.0), 300)


@TIME.step(
    "time.flag",
    "answers when its clock has all but run out",
    "what is left on the seat's clock for the rest of the game",
    _TIME,
)
def _flag(probe: Probe) -> None:
    _in_time(probe, Limits(clock=1.0, increment=0.0), 1)


@TIME.step(
    "time.allowance",
    "keeps to a clock and an allowance",
    "The limit of this move is both together",
    _TIME,
)
def _allowance(probe: Probe) -> None:
    _in_time(probe, Limits(clock=100.0, allowance=150.0), 250)


@TIME.step(
    "time.bank-spent",
    "keeps to the allowance when its clock has run out",
    "what each move may take before the clock begins to run",
    _TIME,
)
def _bank_spent(probe: Probe) -> None:
    _in_time(probe, Limits(clock=0.0, allowance=150.0), 150)


@TIME.step(
    "time.round-cap",
    "keeps to what is left for the round",
    "what the seat may still take for all its moves in this round",
    _TIME,
)
def _round_cap(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=60_000.0, roundcap=150.0), 150)


@TIME.step(
    "time.game-cap",
    "keeps to what is left for the game",
    "what the seat may still take for all its moves in the rest of the game",
    _TIME,
)
def _game_cap(probe: Probe) -> None:
    _in_time(probe, Limits(clock=60_000.0, roundcap=60_000.0, gamecap=150.0), 150)


@TIME.step(
    "time.cap-spent",
    "answers at once when nothing is left for the round",
    "what the seat may still take for all its moves in this round",
    _TIME,
)
def _cap_spent(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=60_000.0, roundcap=0.0, gamecap=60_000.0), 0)


@TIME.step("time.huge", "is not confused by the largest numbers", _TOGETHER, _TIME)
def _huge(probe: Probe) -> None:
    huge = float(_LARGEST)
    more = Limits(clock=huge, increment=huge, allowance=huge, roundcap=huge, gamecap=huge)
    _in_time(probe, replace(more, movetime=200.0, nodes=_LARGEST, playouts=_LARGEST), 200)


@TIME.step("time.together", "keeps to the shortest of several limits", _TOGETHER, _TIME)
def _together(probe: Probe) -> None:
    _in_time(probe, Limits(movetime=100.0, nodes=10**9), 100)
    _in_time(probe, Limits(movetime=60_000.0, clock=150.0), 150)


@TIME.step("time.order", "reads limits in any order", "is followed by any of these", _TIME)
def _any_order(probe: Probe) -> None:
    view = position()
    probe.show(view)
    probe.send(
        "go 60 playouts 1000000000 gamecap 60000 nodes 1000000000 movetime 100 increment 0 roundcap 60000 clock 60000"
    )
    probe.answer(view, 0.0, number=60)


@TIME.step(
    "time.nodes",
    "answers `go … nodes`",
    "think this many nodes (at least 1); an engine that does not count nodes answers at once",
    _TIME,
)
def _nodes(probe: Probe) -> None:
    for nodes in (1, 2, 100):
        probe.go(position(), Limits(nodes=nodes))


@TIME.step(
    "time.playouts",
    "answers `go … playouts`",
    "play this many rounds to their end in the head (at least 1); an engine that plays none answers at once",
    _TIME,
)
def _playouts(probe: Probe) -> None:
    for playouts in (1, 2, 100):
        probe.go(position(), Limits(playouts=playouts))


@TIME.step(
    "time.stop", "answers `stop` at once, if it claims so", "answers `stop` at once, also while it thinks", _FROM
)
def _stop(probe: Probe) -> None:
    _need(probe, "stop")
    _stopped(probe, _LONG)


@TIME.step(
    "time.infinite",
    "thinks until `stop`, if it claims so",
    "obeys `go … infinite`: it may think until `stop` comes",
    _FROM,
)
def _infinite(probe: Probe) -> None:
    _need(probe, "infinite")
    _stopped(probe, Limits(infinite=True))


@TIME.step(
    "time.unlimited",
    "thinks until `stop` without any limit, if it claims so",
    "With none of them it means the same as `infinite`.",
    _TIME,
)
def _unlimited(probe: Probe) -> None:
    _need(probe, "infinite")
    _stopped(probe, Limits())


@TIME.step(
    "time.stop-early",
    "answers a `stop` that comes right behind `go`, if it claims so",
    "answers `stop` at once, also while it thinks",
    _FROM,
)
def _stop_early(probe: Probe) -> None:
    _need(probe, "stop")
    view = position()
    limits = Limits(infinite=True) if "infinite" in probe.capabilities else _LONG
    probe.send(*observation_lines(view), go_line(61, limits), "stop")
    probe.answer(view, 0.0, number=61)


@TIME.step(
    "time.stop-late",
    "is not hurried by a `stop` for an earlier `go`",
    "Means nothing when none runs (the two may have crossed).",
    _TO,
)
def _stop_late(probe: Probe) -> None:
    for after in (0, 8):
        probe.go(position(after=after), Limits(movetime=50.0))
        probe.send("stop")
        probe.go(position(after=after), Limits(movetime=50.0))
    probe.no_move(probe.ready())


@TIME.step(
    "time.queue",
    "does in order what comes while it thinks",
    "All other lines wait and are done afterwards, in order.",
    _TO,
)
def _queue(probe: Probe) -> None:
    first, second = position(), position(after=12)
    probe.send(*observation_lines(first), go_line(62, Limits(movetime=100.0)), "isready")
    probe.send(*observation_lines(second), go_line(63, Limits(movetime=50.0)))
    probe.answer(first, 0.0, number=62)
    probe.no_move(probe.hear("readyok"))
    probe.answer(second, 0.0, number=63)


# --- the end -----------------------------------------------------------------------------------------------------


def _must_end(probe: Probe, after: str, seconds: float = 0.0) -> None:
    """Waits for the end of the process, ``patience`` and ``seconds`` more."""
    wait = probe.patience + seconds
    if not probe.ends(wait):
        raise Broken(f"it still runs {wait:g} s after {after}")
    probe.close()


@END.step("end.quit", "ends when `quit` comes", "The engine ends.", _TO)
def _quit(probe: Probe) -> None:
    probe.go(position())
    probe.send("quit")
    _must_end(probe, "quit")


@END.step("end.code", "ends with exit code 0", "The engine ends.", _TO, must=False)
def _code(probe: Probe) -> None:
    probe.send("quit")
    ended, status = probe.ends(probe.patience), probe.status()
    probe.close()
    if not ended:
        raise Skip("it does not end")
    if status != "it exited with code 0":
        raise Broken(f"after quit {status}")


@END.step("end.input", "ends when its input ends", "that is how it learns that the referee is gone", _TO)
def _input(probe: Probe) -> None:
    probe.go(position())
    probe.hang_up()
    _must_end(probe, "the end of its input")


@END.step(
    "end.at-once",
    "ends when its input ends before anything was said",
    "that is how it learns that the referee is gone",
    _TO,
    fresh=True,
)
def _at_once(probe: Probe) -> None:
    probe.hang_up()
    _must_end(probe, "the end of its input", probe.start)  # it may have to load first


@END.step(
    "end.referee-gone",
    "ends when both pipes are closed in mid-game, as when the referee is killed",
    "that is how it learns that the referee is gone",
    _TO,
)
def _referee_gone(probe: Probe) -> None:
    probe.ask(position(), Limits(movetime=50.0))
    probe.abandon()
    _must_end(probe, "its pipes were closed")


@END.step(
    "end.quit-thinking",
    "ends when `quit` comes while it thinks",
    "an engine should act on `stop`, on `quit` and on the end of its input at once",
    _TO,
    must=False,
)
def _quit_thinking(probe: Probe) -> None:
    _need(probe, "stop")
    probe.ask(position(), _LONG)
    probe.pause(_THINKING)
    probe.send("quit")
    _must_end(probe, "quit")


@END.step(
    "end.input-thinking",
    "ends when its input ends while it thinks",
    "an engine should act on `stop`, on `quit` and on the end of its input at once",
    _TO,
    must=False,
)
def _input_thinking(probe: Probe) -> None:
    _need(probe, "stop")
    probe.ask(position(), _LONG)
    probe.pause(_THINKING)
    probe.hang_up()
    _must_end(probe, "the end of its input")
