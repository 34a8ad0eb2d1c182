"""Golden transcripts of the protocol: the files of ``tests/golden``.

``REGENERATE_GOLDEN=1 pytest tests/protocol/test_golden.py`` writes them anew; look at the difference before you
commit it.
"""

from __future__ import annotations

import io
import os
import random

import pytest

import caboose.bots as bots
from caboose.engine.bot_api import Limits
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules
from caboose.protocol.messages import go_line, parse_bestmove
from caboose.protocol.notation.observation import observation_lines
from caboose.protocol.server.serve import serve
from engine_loops import Toy, live
from paths import DOCS, GOLDEN

PROTOCOL_PAGE = DOCS / "reference" / "protocol.md"
REGENERATE = os.environ.get("REGENERATE_GOLDEN") == "1"


def transcript(inputs: list[str], bot: Toy) -> str:
    """What is said, each answer below what it answers."""
    lines = []
    with live(bot.choose) as loop:
        for line in inputs:
            lines.append(f"> {line}")
            loop.say(line)
            loop.say("isready")  # all that comes before readyok is the answer
            while (answer := loop.hear()) != "readyok":
                lines.append(f"< {answer}")
    return "\n".join([*lines, ""])


def compare_with(name: str, text: str) -> None:
    file = GOLDEN / f"{name}.txt"
    if REGENERATE:
        file.write_text(text, encoding="ascii")
    assert text == file.read_text(encoding="ascii")


@pytest.mark.parametrize("name", ["handshake", "errors"])
def test_golden_session(name: str) -> None:
    """The lines marked ``>`` are the input; to add a case, add such a line and regenerate."""
    text = (GOLDEN / f"{name}.txt").read_text(encoding="ascii")
    inputs = [line[2:] for line in text.splitlines() if line.startswith("> ")]
    compare_with(name, transcript(inputs, Toy()))


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("family", Rules.of("family", 2, set=6, hand=6)),
        ("classic", Rules.of("classic", 3, set=6)),
        ("tournament", Rules.of("tournament", 4, set=6, hand=4)),
        ("chickenfoot", Rules.of("family", 3, set=6, hand=5, double_answer="chickenfoot")),
    ],
)
def test_golden_round(name: str, rules: Rules) -> None:
    """One seat's view of a random round; the others play at random."""
    chance = random.Random(name)
    game = Round.deal(rules, hub=6, seed=11)
    inputs = ["newgame"]
    text = ""
    number = 0
    while not game.over:
        move = chance.choice(game.legal_moves())
        if game.turn == 0:
            number += 1
            observation = game.observe(0, [range(rules.players)])
            inputs += [*observation_lines(observation), go_line(number, Limits(movetime=20))]
            text += transcript(inputs, Toy())
            move = parse_bestmove(text.splitlines()[-1].removeprefix("< "))[1]
            inputs = []
        game.apply(move)
    assert number > 3
    compare_with(f"round-{name}", text)


def test_the_session_of_the_page_is_real() -> None:
    page = PROTOCOL_PAGE.read_text(encoding="utf-8").partition("```session\n")[2].partition("```")[0]
    inputs = [line[2:] for line in page.splitlines() if line.startswith("> ")]
    assert inputs[-1] == "quit"
    out = io.BytesIO()
    lines = io.BytesIO("\n".join(inputs).encode("ascii"))
    serve(bots.create("greedy"), lines, out, version="0.1.0", author="the Caboose project")
    heard = out.getvalue().decode("ascii").splitlines()
    assert heard == [line[2:] for line in page.splitlines() if line.startswith("< ")]
