"""What happens at a table, in words for people."""

from __future__ import annotations

from collections.abc import Sequence

from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.round import Event
from caboose.engine.rules.tiles import MEXICAN
from caboose.table.state import Scene


def deal_words(scene: Scene, names: Sequence[str]) -> str:
    """How the round begins, from the scene before its first event."""
    rules = scene.rules
    starter = "who held it" if rules.starter == "holder" else names[scene.starter]
    hub = "; the hub is dealt too" if rules.hub == "dealt" else ""
    return f"{rules.hand} tiles each{hub}; {starter} starts"


def event_words(event: Event, before: Scene, after: Scene, names: Sequence[str], *, seen: bool = True) -> str:
    """What ``event`` did between two scenes, without saying who. ``seen`` is whether a drawn tile may be named."""
    seat = event.seat
    if event.kind == "draw":
        tile = str(event.tile) if seen and event.tile is not None else "a tile"
        return f"draws {tile}" + ("" if before.hub_lies else ", looking for the hub")
    if event.kind == "hub":
        return f"lays the hub {after.hub}-{after.hub}"
    if event.kind == "stop":
        return "ends the chain"
    if event.kind in ("mark", "pass"):
        return f"cannot {_duty(before) or 'play'}" + (", marker on" if event.kind == "mark" else "")
    assert event.move is not None
    words = _play_words(event.move, seat, before, after, names)
    if before.markers[seat] and not after.markers[seat]:
        words += ", marker off"
    if after.hand_sizes[seat] == 0:
        words += " and goes out"
    elif after.hand_sizes[seat] == 1 and after.turn != seat:
        words += ", one tile left"
    return words


def _play_words(move: Move, seat: int, before: Scene, after: Scene, names: Sequence[str]) -> str:
    tile = f"{move.match}-{move.open}"
    place = train_words(move.train, seat, names)
    answered = [double for double in before.open_doubles if (double.train, double.pips) == (move.train, move.match)]
    if answered:
        left = answered[0].need - 1
        words = f"answers {move.match}-{move.match} with {tile} on {place}"
        words += f", {left} to go" if left else ""
    elif move.train not in before.trains:
        words = f"starts {place} with {tile}"
    else:
        words = f"plays {tile} on {place}"
    if move.match == move.open:
        opened = any((double.train, double.pips) == (move.train, move.open) for double in after.open_doubles)
        chained = len(after.trains[move.train]) <= (after.chains[move.train] if move.train != MEXICAN else 0)
        if not opened and not chained:
            words += ", which nobody can answer"
    return words


def train_words(train: int, seat: int, names: Sequence[str]) -> str:
    """A train as ``seat`` would call it."""
    if train == MEXICAN:
        return "the Mexican train"
    return "its own train" if train == seat else f"the train of {names[train]}"


def situation_words(scene: Scene, names: Sequence[str], *, hand: bool = True) -> str:
    """What is to be done now, and by whom. ``hand`` is whether the hand of the seat in turn may be known."""
    if scene.over:
        return f"The round is over: {_ending(scene, names)}"
    who = names[scene.turn]
    if not scene.hub_lies:
        held = scene.hub in [tile.low for tile in scene.hands.get(scene.turn, ()) if tile.is_double]
        return f"{who} has the hub" if held and hand else f"{who} looks for the hub"
    must = _duty(scene) if scene.bound else ""
    if must:
        must += f" on {train_words(scene.open_doubles[0].train, scene.turn, names)}"
    if not hand:
        return f"{who} {f'must {must}' if must else 'is to play'}"
    if not scene.moves:
        return f"{who} cannot {must or 'play'}"
    ways = len(scene.moves) - (STOP in scene.moves)
    choice = "1 way" if ways == 1 else f"{ways} ways"
    return f"{who} {f'must {must}' if must else 'is to play'}: {choice}{', or stop' if STOP in scene.moves else ''}"


def _duty(scene: Scene) -> str:
    """The open double that comes first, as something to do; empty when there is none."""
    return f"answer {scene.open_doubles[0].pips}-{scene.open_doubles[0].pips}" if scene.open_doubles else ""


def _ending(scene: Scene, names: Sequence[str]) -> str:
    if scene.blocked:
        return "blocked, nobody can play"
    out = [names[seat] for seat, size in enumerate(scene.hand_sizes) if size == 0]
    return f"{' and '.join(out)} went out" if out else "it was not played to its end"
