"""Games for the tests of records: played at random, with times and scores as if somebody had thought."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from typing import Final

from caboose.engine.rules.game import Game
from caboose.engine.rules.round import Event
from caboose.engine.rules.rules import Rules
from caboose.protocol.records.reader import read_records
from caboose.protocol.records.records import (
    EventLine,
    FaultRecord,
    GameRecord,
    PlayerRecord,
    RecordError,
    RoundRecord,
    commitment,
)
from caboose.protocol.records.verify import Discrepancy, verify
from caboose.protocol.referee.referee import final_places

NAMES: Final = (
    "Ann", "Bob", "Dörte", "Émile", "Σοφία", "玲", "O'Hara | Sons", "back\\slash", "tab\tand\nline", " edge ", "", "#5",
)  # fmt: skip
SMALL: Final = Rules.of("classic", 3, set=6, hand=7, rounds=3)
FAULTY: Final = 1  # the seat whose player fails where one does
LAST_DECISION: Final = 5  # at which it fails


def play_record(rules: Rules = SMALL, seed: int = 1, *, committed: bool = True, on_fault: str = "") -> GameRecord:
    """A whole game; everything in it follows from ``seed``. With ``on_fault`` (as in ``play_game``) a player fails."""
    rng = random.Random(seed)
    game = Game(rules, seed=seed)
    rounds: list[RoundRecord] = []
    asked = [0] * rules.players
    faults: list[FaultRecord] = []
    while not game.over and not (faults and on_fault == "forfeit"):
        number, deal, round = game.number, game.deal, game.round
        notes: dict[int, EventLine] = {}
        while not round.over:
            moves, seat = round.legal_moves(), round.turn
            if len(moves) > 1 and all(fault.seat != seat for fault in faults):
                asked[seat] += 1
                if on_fault and seat == FAULTY and asked[seat] == LAST_DECISION:
                    faults.append(FaultRecord(seat, number, LAST_DECISION, "late", "took 75.3 ms | slept"))
                    if on_fault == "forfeit":
                        break
                else:
                    time, score = rng.randrange(20_000) / 1000, rng.choice((None, 0.0, -3.25, 12.5))
                    over = 1.5 if time > 19 else None
                    notes[len(round.events)] = EventLine(Event("stop", seat), time, score, over=over)
            round.apply(rng.choice(moves))
        entries = [
            notes[at]._replace(event=event) if at in notes else EventLine(event)
            for at, event in enumerate(round.events)
        ]
        rounds.append(
            RoundRecord(
                number=number,
                hub=round.hub,
                starter=round.starter,
                deal=deal,
                events=tuple(entries),
                scores=round.scores,
                blocked=round.blocked,
                finished=round.over,
            )
        )
        game.finish_round(round.scores)
    unplayed = []
    while not game.over:
        unplayed.append(game.deal)
        game.finish_round([0] * rules.players)
    deals = [*(round.deal for round in rounds), *unplayed]
    scores = [round.scores for round in rounds]
    nonce = f"{rng.getrandbits(128):032x}"
    return GameRecord(
        rules=rules,
        players=tuple(PlayerRecord(NAMES[i % len(NAMES)], (("bot", "chance"),)) for i in range(rules.players)),
        rounds=tuple(rounds),
        totals=tuple(sum(column) for column in zip(*scores, strict=True)),
        places=final_places(scores, rules.players, [fault.seat for fault in faults]),
        faults=tuple(faults),
        unplayed=tuple(unplayed),
        date="2026-11-29T22:51:03Z",
        event=f"a test, game {seed}",
        control="movetime 20 margin 50",
        commit=commitment(rules, nonce, deals) if committed else "",
        nonce=nonce if committed else "",
    )


def read(data: bytes | str) -> list[GameRecord | RecordError]:
    """All that is in a file of that content."""
    return list(read_records(io.BytesIO(data if isinstance(data, bytes) else data.encode()), "file"))


def games(data: bytes | str) -> list[GameRecord]:
    """The games in a file of that content, whatever else is there, as if they had not been read."""
    return [without_lines(record) for record in read(data) if isinstance(record, GameRecord)]


def problems(data: bytes | str) -> list[RecordError | Discrepancy]:
    """What is wrong with a file."""
    told = [record if isinstance(record, RecordError) else verify(record) for record in read(data)]
    return [problem for problem in told if problem is not None]


def without_lines(record: GameRecord) -> GameRecord:
    """The record as one that was not read: its events have no lines. (Other lines do not count in comparisons.)"""
    rounds = [replace(r, events=tuple(e._replace(line=0) for e in r.events)) for r in record.rounds]
    return replace(record, rounds=tuple(rounds))
