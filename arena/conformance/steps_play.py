"""Steps about moves: every kind of position, all presets and numbers of players, restarts, repeatability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from caboose.arena.conformance.positions import SMALL, USUAL, Table, position, positions, table
from caboose.arena.conformance.probe import Probe
from caboose.arena.conformance.steps import Broken, Skip, Steps
from caboose.engine.bot_api import Limits
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from caboose.protocol.messages import setoption_line

_TO: Final = "From the referee to the engine"
_FROM: Final = "From the engine to the referee"
_READ: Final = "The observation"
_TIME: Final = "Time"
_EXACTLY_ONE: Final = "The answer to `go NUMBER`: exactly one, and it must be one of the legal moves."
_ALL_RULES: Final = "The rules: the preset, then every option."
_NODES: Final = Limits(nodes=200)
_SEED: Final = "Seed"
_OPENING: Final = 8  # moves of a round where its whole length adds nothing

PLAY: Final = Steps()


def _play(probe: Probe, at: Table, most: int = 999) -> None:
    """Plays a round to its end, or ``most`` moves of it."""
    probe.send("newgame")
    for _, view in zip(range(most), at.views(), strict=False):
        at.play(probe.go(view).move)


# --- go ----------------------------------------------------------------------------------------------------------


@PLAY.step(
    "play.number",
    "repeats the number of each `go`, whatever it is",
    "each is used once by the referee, but to an engine they mean nothing: it repeats them.",
    _TIME,
)
def _number(probe: Probe) -> None:
    for number in (7, 3, 3, 1, 999_999_999_999_999):
        probe.go(position(), number=number)


@PLAY.step(
    "play.again",
    "answers several `go` about one observation",
    "After `bestmove` the observation stays as it is; another `go` is about the same position.",
    _TO,
)
def _again(probe: Probe) -> None:
    view = position(after=8)
    probe.show(view)
    for _ in range(3):
        probe.go(view, shown_=True)


@PLAY.step("play.once", "answers each `go` once", _EXACTLY_ONE, _FROM)
def _once(probe: Probe) -> None:
    for after in (0, 8):
        probe.go(position(after=after))
        probe.no_move(probe.hear_for(0.1))
        probe.no_move(probe.ready())


@PLAY.step(
    "play.forced",
    "answers also when there is only one legal move",
    "`go` is sent also when there is only one legal move, if the referee asks then at all",
    _TO,
)
def _forced(probe: Probe) -> None:
    for view in positions(USUAL, 0, 3, lambda view: len(view.legal_moves()) == 1):
        probe.go(view)


@PLAY.step(
    "play.bound",
    "answers an open double when it must",
    "the open doubles, oldest first, and how many tiles each still needs; empty when there are none",
    _READ,
)
def _bound(probe: Probe) -> None:
    for view in positions(USUAL, 0, 4, lambda view: view.binding is not None):
        probe.go(view)


@PLAY.step(
    "play.chain",
    "knows that a first chain may be stopped",
    "ends the chain of a first turn",
    "How tiles, moves and events are written",
)
def _chain(probe: Probe) -> None:
    for view in positions(Rules.of("classic", 4), 0, 4, lambda view: STOP in view.legal_moves()):
        probe.go(view)


@PLAY.step("play.round", "plays a whole round", _EXACTLY_ONE, _FROM)
def _round(probe: Probe) -> None:
    _play(probe, table(USUAL, seat=1, seed=5))


@PLAY.step(
    "play.game",
    "plays all rounds of a game, down to the 0-0",
    "one such line for each round before this one, in order: the points of each seat. None in the first round.",
    _READ,
)
def _game(probe: Probe) -> None:
    for number in range(1, SMALL.rounds + 1):
        _play(probe, table(SMALL, seat=number % 2, seed=number, number=number))


@PLAY.step(
    "play.long-round",
    "reads a long history",
    "all events of this round, in order",
    _READ,
)
def _long_round(probe: Probe) -> None:
    probe.go(position(Rules.of("classic", 12), seat=5, after=120))


@PLAY.step("play.large-hand", "plays from a hand of 60 tiles", "your hand now", _READ)
def _large_hand(probe: Probe) -> None:
    rules = Rules.of("family", 2, set=18, hand=60)
    for after in (0, 6):
        probe.go(position(rules, after=after))


@PLAY.step(
    "play.two-tables",
    "sits at another table with each observation",
    "before each move the engine is told all that its seat may know, so it need not remember anything",
    "",
)
def _two_tables(probe: Probe) -> None:
    for after in (0, 6, 12):
        probe.go(position(SMALL, after=after))
        probe.go(position(Rules.of("classic", 7), seat=6, after=after))
        probe.go(position(Rules.of("tournament", 3), seat=1, after=after))


# --- rules -------------------------------------------------------------------------------------------------------


def _round_of(rules: Rules, seat: int, most: int = 999) -> Callable[[Probe], None]:
    def run(probe: Probe) -> None:
        _play(probe, table(rules, seat), most)

    return run


for _preset in ("classic", "tournament", "family"):
    PLAY.step(f"rules.{_preset}", f"plays a round of {_preset}", _ALL_RULES, _READ)(_round_of(Rules.of(_preset, 4), 2))

_VARIANTS: Final = (
    ("chickenfoot", "under double_answer=chickenfoot", Rules.of("family", 4, double_answer="chickenfoot")),
    ("own", "under double_answer=own", Rules.of("tournament", 4, double_answer="own")),
    ("lifo", "under doubles_order=lifo", Rules.of("classic", 4, doubles_order="lifo", dead_double="hold")),
)
for _name, _words, _rules in _VARIANTS:
    PLAY.step(f"rules.{_name}", f"plays {_words}", _ALL_RULES, _READ)(_round_of(_rules, 1, _OPENING))

for _set in (6, 9, 12, 15, 18):
    PLAY.step(
        f"rules.double-{_set}",
        f"plays with a double-{_set} set",
        "`A-B`, pips of both ends, 0 to 18, in either order",
        "How tiles, moves and events are written",
    )(_round_of(Rules.of("family", 3, set=_set, hand=6), 0, _OPENING))


# --- players -----------------------------------------------------------------------------------------------------


def _seats_of(players: int) -> Callable[[Probe], None]:
    def run(probe: Probe) -> None:
        rules = Rules.of("family" if players <= 12 else "classic", players)
        probe.send("newgame")
        for seat in sorted({0, 1, players // 2, players - 2, players - 1}):
            probe.go(position(rules, seat, after=seat * 2))

    return run


for _players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
    PLAY.step(
        f"players.{_players}",
        f"plays on seats of a table of {_players}",
        "One line for each train, `M` last",
        _READ,
    )(_seats_of(_players))


# --- restarts ----------------------------------------------------------------------------------------------------

_RESTARTED: Final = "it need not remember anything and can be restarted in the middle of a game"


@PLAY.step("restart.mid-round", "plays on after a restart in the middle of a round", _RESTARTED, "")
def _mid_round(probe: Probe) -> None:
    at = table(USUAL, seat=1)
    for moves, view in enumerate(at.views()):
        if moves in (2, 5):
            probe.restart()
            probe.send("newgame")
        if moves == 8:
            break
        at.play(probe.go(view).move)


@PLAY.step("restart.mid-chain", "plays on after a restart in the middle of a turn", _RESTARTED, "")
def _mid_chain(probe: Probe) -> None:
    at = table(Rules.of("classic", 4), seat=0, seed=2)
    for moves, view in enumerate(at.views()):
        if moves == 4:
            break
        if moves in (1, 2):
            probe.restart()
            probe.send("newgame")
        at.play(probe.go(view).move)


@PLAY.step("restart.mid-game", "plays on after a restart between two rounds", _RESTARTED, "")
def _between_rounds(probe: Probe) -> None:
    for number in (3, 4):
        at = table(USUAL, seat=2, seed=number, number=number)
        _play(probe, at, _OPENING)
        if number == 3:
            probe.restart()


# --- repeatability -----------------------------------------------------------------------------------------------


_DETERMINISTIC: Final = "the same observation, options and nodes always give the same move, also after a restart"


def _set_seed(probe: Probe, value: int | None) -> None:
    """Sets its seed, if it has one, as near to ``value`` as its bounds allow; None: as it was at the start."""
    seed = probe.options.get(_SEED)
    if seed is None or seed.type != "spin":
        return
    first = probe.wanted.get(_SEED, str(seed.default))
    probe.send(setoption_line(_SEED, first if value is None else str(min(max(value, seed.min or 0), seed.max or 0))))


def _moves(probe: Probe) -> list[Move]:
    """What it plays in a few positions at fixed nodes, its seed fixed where it has one."""
    if "deterministic" not in probe.capabilities:
        raise Skip("it does not claim to be deterministic")
    _set_seed(probe, 7)
    probe.send("newgame")
    return [probe.go(position(after=after), _NODES).move for after in (0, 8, 16, 24)]


def _same(first: list[Move], second: list[Move]) -> None:
    for before, after in zip(first, second, strict=True):
        if before != after:
            raise Broken(f"it played {before} and then {after} in the same position with the same nodes")


@PLAY.step("repeat.new-game", "plays the same after `newgame`, if it claims so", _DETERMINISTIC, _FROM)
def _repeat(probe: Probe) -> None:
    first = _moves(probe)
    _same(first, _moves(probe))
    _set_seed(probe, None)


@PLAY.step("repeat.restart", "plays the same after a restart, if it claims so", _DETERMINISTIC, _FROM)
def _repeat_restarted(probe: Probe) -> None:
    first = _moves(probe)
    probe.restart()
    _same(first, _moves(probe))
    _set_seed(probe, None)


@PLAY.step("repeat.order", "plays the same whatever it was asked before, if it claims so", _DETERMINISTIC, _FROM)
def _repeat_order(probe: Probe) -> None:
    first = _moves(probe)
    for seat in (1, 2, 3):
        probe.go(position(seat=seat, after=5), _NODES)
    backwards = [probe.go(position(after=after), _NODES).move for after in (24, 16, 8, 0)]
    _same(first, backwards[::-1])
    _set_seed(probe, None)
