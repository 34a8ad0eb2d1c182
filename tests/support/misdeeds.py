"""Every way of breaking the protocol that we know, each as a small engine, and what the referee makes of it.

``docs/explanation/referee.md`` lists them by name with their outcome. ``python tests/support/misdeeds.py`` plays a game
with each and prints that table with the times that were measured.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from caboose.engine.bot_api import Bot, Limits
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation
from caboose.engine.rules.rules import Rules
from caboose.protocol.process.process import EngineProcess
from caboose.protocol.referee.referee import GameResult, play_game
from caboose.protocol.referee.timing import TimeControl
from fault_engines import raw
from players import Scripted, engine_command

# Whose fault is a matter of time is given little of it, and all others so much that no busy machine makes them late.
SHORT: Final = TimeControl(movetime=150, margin=50, startup=1000)
LONG: Final = TimeControl(movetime=30_000, margin=50, startup=30_000)
NO_MARGIN: Final = replace(SHORT, margin=0)
WIDE_MARGIN: Final = replace(SHORT, margin=30_000, startup=30_000)
AT: Final = 3  # the decision at which they misbehave
_SHOWN: Final = 120  # characters of a fault that the table has room for

# What those of the usual kind may use: ``limit`` is the seconds that the ``go`` which is ``words`` allows.
BEFORE: Final = """
import os, signal, subprocess, sys, time
def limit():
    given = dict(zip(words[2::2], map(float, words[3::2])))
    bank = [given["clock"] + given.get("allowance", 0)] if "clock" in given else []
    return min([given[name] for name in ("movetime", "roundcap", "gamecap") if name in given] + bank) / 1000
"""
_ANSWER = "say('bestmove ' + words[1] + ' ' + legal[0])"
_FORK = "subprocess.Popen(['sleep', '60'])"
_STOPPED = "[line for line in iter(sys.stdin.readline, 'stop\\n')]"
_UNFLUSHED = "import sys\n_flush, sys.stdout.flush = sys.stdout.flush, lambda: None\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misdeed:
    """An engine that misbehaves: the usual one, which does ``on_go`` (Python) at its third decision and ``before``
    first of all, or all of ``code``, or a ``command``. ``kind`` is the fault that it has in the end, empty for none;
    ``detail`` stands in it. ``control`` is the time that it needs to show what it does."""

    name: str
    kind: str = ""
    detail: str = ""
    on_go: str = "pass"
    before: str = ""
    code: str = ""
    command: str = ""
    control: TimeControl = LONG

    def make(
        self, folder: Path, *, name: str = "toy", at: int = AT, before: str = "", on_go: str = ""
    ) -> Sequence[str]:
        """Its command. It misbehaves at decision ``at`` if that is when it does; those of the usual kind do ``before``
        and ``on_go`` before their own."""
        if self.command:
            return [self.command]
        if self.code:
            return raw(folder, self.code, name)
        deed = f"exec({on_go + self.on_go!r}) if asked == {at} else None"
        return engine_command(folder, deed, name, before=BEFORE + before + self.before)


MISDEEDS: Final = (
    # --- the start
    Misdeed(name="is not there", kind="start", detail="No such file", command="/no/such/engine"),
    Misdeed(name="starts slowly", before="time.sleep(0.5)"),
    Misdeed(
        name="starts too slowly", kind="start", detail="no cabooseok within 1 s", before="time.sleep(60)", control=SHORT
    ),
    Misdeed(name="dies at its start", kind="start", detail="it exited with code 3", code="sys.exit(3)"),
    Misdeed(name="dies in the handshake", kind="start", detail="code 4", code="hear(); say('id name x'); sys.exit(4)"),
    Misdeed(
        name="dies before readyok",
        kind="start",
        detail="code 5",
        code="hear(); say('cabooseok 1'); hear(); sys.exit(5)",
    ),
    Misdeed(
        name="dies at newgame",
        kind="dead",
        detail="it exited with code 6",
        code="hear(); say('cabooseok 1'); hear(); say('readyok'); hear(); sys.exit(6)",
    ),
    Misdeed(
        name="hangs at newgame",
        kind="late",
        detail="no readyok within 1 s of isready",
        code="hear(); say('cabooseok 1'); hear(); say('readyok'); hear(); time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="does not flush the handshake",
        kind="start",
        detail="it wrote nothing (does it flush its output?)",
        before=_UNFLUSHED,
        control=SHORT,
    ),
    # --- the end of the process
    Misdeed(name="crashes", kind="dead", detail="it was killed by SIGSEGV", on_go="os.kill(os.getpid(), 11)"),
    Misdeed(name="exits in mid-game", kind="dead", detail="it exited with code 0", on_go="os._exit(0)"),
    Misdeed(name="dies after its answer", kind="dead", detail="code 8", on_go=f"{_ANSWER}; os._exit(8)"),
    Misdeed(
        name="dies within its answer",
        kind="dead",
        detail="it wrote 'bestmove 3 ' without a line end",
        on_go="os.write(1, b'bestmove %s ' % words[1].encode()); os._exit(9)",
    ),
    Misdeed(
        name="kills its keeper",
        kind="dead",
        detail="killed by SIGKILL",
        on_go="os.kill(os.getppid(), 9); time.sleep(60)",
    ),
    Misdeed(
        name="stops its keeper",
        kind="late",
        detail="no answer within 150 ms",
        on_go="os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="closes its output",
        kind="dead",
        detail="closed its output, but runs on",
        on_go="os.close(1); time.sleep(60)",
    ),
    Misdeed(
        name="closes its input",
        kind="dead",
        detail="closed its input, but runs on",
        on_go=f"os.close(0); {_ANSWER}; time.sleep(60)",
    ),
    # --- time
    Misdeed(
        name="hangs",
        kind="late",
        detail="no answer within 150 ms and a margin of 50 ms",
        on_go="time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="hangs with signals blocked",
        kind="late",
        detail="no answer within 150 ms",
        before="[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]",
        on_go="time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="hangs after stop",
        kind="late",
        detail="no answer within 150 ms",
        on_go=f"{_STOPPED}; time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="answers only when it is stopped",
        kind="late",
        detail="no answer within 150 ms",
        on_go=_STOPPED,
        control=SHORT,
    ),
    Misdeed(name="is late by a millisecond", on_go="time.sleep(limit() + 0.001)", control=WIDE_MARGIN),
    Misdeed(
        name="is late by a millisecond without a margin",
        kind="late",
        detail="no answer within 150 ms and a margin of 0 ms",
        on_go="time.sleep(limit() + 0.001)",
        control=NO_MARGIN,
    ),
    Misdeed(
        name="is late by a second",
        kind="late",
        detail="no answer within 150 ms",
        on_go="time.sleep(limit() + 1)",
        control=SHORT,
    ),
    Misdeed(
        name="is late and illegal",
        kind="late",
        detail="no answer within 150 ms",
        on_go="time.sleep(limit() + 0.15); say('bestmove ' + words[1] + ' 18-18@M')",
        control=SHORT,
    ),
    Misdeed(
        name="forgets to flush",
        kind="late",
        detail="a margin of 50 ms; it wrote nothing",
        on_go="sys.stdout.write('bestmove'); time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="forgets the line end",
        kind="late",
        detail="; it wrote 'bestmove 3 4-0@1' without a line end",
        on_go="os.write(1, ('bestmove ' + words[1] + ' ' + legal[0]).encode()); time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="answers an old go",
        kind="late",
        detail="it wrote 'bestmove 1 x': number 1 where 3 was asked",
        on_go="os.write(1, b'bestmove 1 x\\n'); time.sleep(60)",
        control=SHORT,
    ),
    Misdeed(
        name="stops itself",
        on_go="os.kill(os.getpid(), signal.SIGSTOP)",
    ),
    Misdeed(
        name="stops its keeper and itself",
        on_go="os.kill(os.getppid(), signal.SIGSTOP); os.kill(os.getpid(), signal.SIGSTOP)",
        control=SHORT,
    ),
    Misdeed(
        name="stops itself without end",
        kind="late",
        detail="signals had stopped it",
        before="def stop(who):\n    while os.getppid() == who: os.kill(who, signal.SIGSTOP)\n    os._exit(0)\n",
        on_go="me = os.getpid(); os.fork() or stop(me); time.sleep(60)",
        control=SHORT,
    ),
    # --- what it says
    Misdeed(name="answers twice", on_go=_ANSWER),
    Misdeed(
        name="answers before it is asked",
        on_go=f"now = words[1]; words[1] = str(int(now) + 1); {_ANSWER}; words[1] = now",
    ),
    Misdeed(
        name="answers in pieces",
        on_go="[(os.write(1, b), time.sleep(0.01)) for b in (b'best', b'move ', words[1].encode(), b' ')]; "
        "say(legal[0])",
    ),
    Misdeed(name="plays illegally", kind="illegal", detail="18-18@M", on_go="legal[0] = '18-18@M'"),
    Misdeed(name="answers nonsense", kind="garbled", detail="'banana' is not a move", on_go="legal[0] = 'banana'"),
    Misdeed(name="refuses", kind="refused", detail="no idea", on_go="say('error go ' + words[1] + ': no idea')"),
    Misdeed(name="chats", on_go="say('thinking hard ...\\n\\n<xml/>')"),
    Misdeed(
        name="writes 100 MB without a line end",
        kind="garbled",
        detail="the line is too long",
        on_go="[os.write(1, b'x' * 10**6) for _ in range(100)]",
    ),
    Misdeed(
        name="floods its output",
        kind="late",
        detail="no answer within 150 ms",
        on_go="[os.write(1, b'abc\\n') for _ in iter(int, 1)]",
        control=SHORT,
    ),
    Misdeed(
        name="floods infos",
        on_go="[os.write(1, b'info nodes 1\\n' * 1000) for _ in range(20)]",
    ),
    Misdeed(
        name="floods infos without end",
        kind="late",
        detail="no answer within 150 ms",
        on_go="[os.write(1, b'info nodes 1\\n') for _ in iter(int, 1)]",
        control=SHORT,
    ),
    Misdeed(name="floods standard error", on_go="[os.write(2, b'x' * 10**6) for _ in range(30)]"),
    Misdeed(
        name="floods standard error without end",
        kind="late",
        detail="no answer within 150 ms",
        on_go="[os.write(2, b'x' * 1000) for _ in iter(int, 1)]",
        control=SHORT,
    ),
    Misdeed(name="writes NUL", kind="garbled", detail="byte 1 is 0x00", on_go="say(chr(0))"),
    Misdeed(name="writes invalid UTF-8", on_go="os.write(1, bytes([255, 254, 10]))"),
    Misdeed(
        name="answers in invalid UTF-8",
        kind="garbled",
        detail="expected printable ASCII",
        on_go="os.write(1, b'bestmove %s \\xff\\n' % words[1].encode())",
    ),
    # --- what it leaves
    Misdeed(
        name="is deaf to quit and SIGTERM",
        before="import atexit\nsignal.signal(15, signal.SIG_IGN)\natexit.register(time.sleep, 60)\n",
    ),
    Misdeed(name="has children", before=_FORK),
    Misdeed(name="dies and leaves a child", kind="dead", detail="code 7", on_go=f"{_FORK}; os._exit(7)"),
)


class Outcome(NamedTuple):
    """How a game went, and the seconds from the request at which the fault came to the next move of its seat."""

    result: GameResult
    recovery: float


class _Timed(EngineProcess):
    """Remembers when it was last asked for anything."""

    asked_at = 0.0

    def start(self) -> None:
        self.asked_at = time.monotonic()
        super().start()

    def new_game(self) -> None:
        self.asked_at = time.monotonic()
        super().new_game()

    def ask(self, observation: Observation, limits: Limits, allowed: float | None, legal: Sequence[Move]) -> Move:
        self.asked_at = time.monotonic()
        return super().ask(observation, limits, allowed, legal)


def meet(misdeed: Misdeed, folder: Path, *, seat: int = 0) -> Outcome:
    """A game of two rounds between a misbehaving engine, on ``seat``, and a bot that does not."""
    control = misdeed.control
    engine = _Timed(misdeed.make(folder), start_timeout=control.startup / 1000, margin=control.margin)
    seen: list[float] = []
    fallback = Scripted()

    def finish(observation: Observation, limits: Limits) -> Move:
        if not seen:
            seen.append(time.monotonic() - engine.asked_at)
        return observation.legal_moves()[0]

    fallback.chooser = finish
    bots: list[Bot] = [engine, Scripted()] if seat == 0 else [Scripted(), engine]
    game = Game(Rules.of("family", 2, set=9, rounds=2), seed=3)
    try:
        result = play_game(game, bots, control, fallback=fallback)
    finally:
        engine.close()
    return Outcome(result, seen[0] if seen else 0.0)


def main() -> int:
    """Prints the table of docs/explanation/referee.md."""
    print("| an engine that | is | after, ms | because |\n|---|---|---|---|")
    for misdeed in MISDEEDS:
        with tempfile.TemporaryDirectory() as folder:
            result, recovery = meet(misdeed, Path(folder))
        fault = result.seats[0].fault
        if fault is None:
            print(f"| {misdeed.name} | no fault | | |")
        else:
            print(f"| {misdeed.name} | `{fault.kind}` | {recovery * 1000:.0f} | {fault.detail[:_SHOWN]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
