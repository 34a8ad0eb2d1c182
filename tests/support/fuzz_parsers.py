"""The parsers for ``fuzzing.py``, with texts that they read."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import engine_loops as loops
import record_samples as recorded
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules, RulesError
from caboose.protocol import messages as m
from caboose.protocol.notation import notation as n
from caboose.protocol.notation.lines import ProtocolError, text_of
from caboose.protocol.notation.observation import ObservationReader, observation_lines
from caboose.protocol.records.records import GameRecord, record_text
from caboose.protocol.records.verify import verify
from fuzz import Part, Target, check_reason

RULES: Final = (
    "family players=2 set=6 hand=4",
    "classic players=4",
    "tournament players=3 set=9 hand=10 double_answer=own extra_after_doubles=first",
    "family players=5 set=6 hand=4 hub=dealt double_answer=chickenfoot dead_double=hold",
    "tournament players=14 blank=25 rounds=1",
)
LENGTHS: Final = (0, 12, 1000)  # moves after which the rounds are looked at: the last is the end


@cache
def rounds() -> list[Round]:
    """Rounds of several rules at their beginning, in the middle and at the end."""
    found = []
    for number, text in enumerate(RULES):
        for length in LENGTHS:
            rng = random.Random(number)
            round_ = Round.deal(Rules.parse(text), seed=number)
            while not round_.over and length:
                round_.apply(rng.choice(round_.legal_moves()))
                length -= 1
            found.append(round_)
    return found


@cache
def observations() -> list[Observation]:
    """What somebody sees of them, after some rounds before."""
    return [
        round_.observe(max(round_.turn, 0), [[number] * round_.rules.players] * (number % 3))
        for number, round_ in enumerate(rounds())
    ]


def line_targets() -> list[Target]:
    """Every line of the protocol that is no part of an observation."""

    def line(sample: str, read: Callable[[str], Any], write: Callable[[Any], str]) -> Target:
        def read_bytes(text: str) -> Any:
            return read(text_of(text.encode("utf-8", "surrogatepass")))

        return Target(sample.split(maxsplit=1)[0], sample.split("\n"), read_bytes, ProtocolError, write)

    return [
        line("go 3 movetime 20\ngo 7 clock 60 increment 5 nodes 9\ngo 1 infinite", m.parse_go, lambda v: m.go_line(*v)),
        line("bestmove 3 5-12@M\nbestmove 17 stop", m.parse_bestmove, lambda v: m.bestmove_line(*v)),
        line(
            "info time 20 nodes 5 nps 250 score -3.25 candidates 1-2@M:3:4.50 stop:1:0.00\ninfo string x",
            m.parse_info_line,
            lambda v: m.info_line(v) if v else "info string",
        ),
        line(
            "option name Loud type check default true\noption name Style type combo default a var a var b\n"
            "option name Seed type spin default 1 min -3 max 9\noption name Book type string default a b\n"
            "option name Forget type button",
            m.parse_option_line,
            m.option_line,
        ),
        line("setoption name Seed value 3\nsetoption name X", m.parse_setoption, lambda v: m.setoption_line(*v)),
        line("id name Some Bot\nid version 1.0", m.parse_id, lambda v: f"id {v[0]} {v[1]}"),
        line("caboose 1", m.parse_hello, lambda v: f"caboose {v}"),
        line("cabooseok 1", m.parse_cabooseok, lambda v: f"cabooseok {v}"),
    ]


def observation_targets() -> list[Target]:
    """The lines that tell an observation, one by one as an engine gets them."""

    def read(text: str) -> Observation:
        reader = ObservationReader()
        for line in text.split("\n"):
            if line.strip():
                reader.feed(line)
        return reader.observation()

    def write(observation: Observation) -> str:
        return "\n".join(observation_lines(observation))

    return [Target("observation", [write(seen) for seen in observations()], read, ProtocolError, write)]


def loop_targets() -> list[Target]:
    """An engine's whole loop: whatever comes, it lives, and what it answers can be printed."""

    def read(text: str) -> None:
        noise = text.replace("quit", "").encode("utf-8", "surrogatepass")
        answers = loops.session(noise + b"\nisready\n")
        assert answers[-1] == "readyok", answers
        for answer in answers:
            check_reason(answer)

    samples = [
        f"{loops.POSITION}go 1 movetime 20\nstop\n",
        "caboose 1\nsetoption name Seed value 3\nnewgame\nisready\n",
    ]
    return [Target("loop", samples, read, ProtocolError)]


def rules_targets() -> list[Target]:
    """Rules as the engine reads them."""
    samples = [
        *RULES,
        *(str(round_.rules) for round_ in rounds()),
        "classic",
        "family players=3 engine=dealt rounds=all",
    ]
    return [Target("rules", samples, Rules.parse, RulesError, str)]


def notation_targets() -> list[Target]:
    """Everything that ``docs/reference/notation.md`` describes."""

    def target(name: str, samples: Sequence[str], read: Callable[[str], Any], write: Callable[[Any], str]) -> Target:
        return Target(name, samples, read, n.NotationError, write)

    def deal(round_: Round) -> Target:
        rules = round_.rules
        text = n.deal_text(rules, n.deal_of(round_))
        return target("deal", [text], lambda text: n.parse_deal(rules, text), lambda deal: n.deal_text(rules, deal))

    def position(text: str) -> str:
        return n.position_text(n.parse_position(text))

    events = [round_.events for round_ in rounds()]
    moves = [[event.move for event in some if event.move] for some in events]
    return [
        target(
            "tiles", [n.tiles_text(hand) for round_ in rounds() for hand in round_.hands], n.parse_tiles, n.tiles_text
        ),
        target("moves", [n.moves_text(some) for some in moves], n.parse_moves, n.moves_text),
        target("events", [n.events_text(some) for some in events], n.parse_events, n.events_text),
        target("tile", ["3-12", "0-0"], n.parse_tile, str),
        target("move", ["5-12@M", "stop"], n.parse_move, str),
        target("event", ["2:5-12@M", "2:draw=3-4", "14:hub"], n.parse_event, n.event_text),
        target("rules", [str(round_.rules) for round_ in rounds()], n.parse_rules, str),
        target("observation", list(map(n.observation_text, observations())), n.parse_observation, n.observation_text),
        target("position", list(map(n.position_text, rounds())), position, str),
        *map(deal, rounds()[:: len(LENGTHS)]),
    ]


def record_targets() -> list[Target]:
    """Game records: the reader refuses nothing, it tells the errors in their places; ``verify`` has an answer."""

    def read(text: str) -> list[GameRecord]:
        games = []
        for found in recorded.read(text.encode("utf-8", "surrogatepass")):
            if isinstance(found, GameRecord):
                games.append(recorded.without_lines(found))
                check_verdict(verify(found))
            else:
                check_reason(str(found))
        return games

    def check_verdict(verdict: object) -> None:
        if verdict is not None:
            check_reason(str(verdict))

    def write(games: Sequence[GameRecord]) -> str:
        return "".join(map(record_text, games))

    one, other = recorded.play_record(), recorded.play_record(seed=2, committed=False, on_fault="fallback")
    short = recorded.play_record(Rules.parse("family players=2 set=6 hand=3 rounds=1"), 3)
    return [Target("records", list(map(write, ([short], [one], [short, other], []))), read, ValueError, write)]


PARTS: Final = (
    Part("lines", line_targets),
    Part("observation", observation_targets),
    Part("loop", loop_targets),
    Part("rules", rules_targets),
    Part("notation", notation_targets),
    Part("records", record_targets),
)
