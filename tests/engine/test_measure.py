"""The measured steps of the core do what they say: so many, the same for the same seed, and all of the work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caboose.engine.measure import measure
from caboose.engine.measure.measure import Measured
from caboose.engine.rules.round import Round
from caboose.engine.rules.rules import Rules

FAMILY = Rules.of("family", 4)


def worlds(seed: int) -> Measured:
    round_ = Round.deal(FAMILY, seed=4)
    return measure.worlds(round_.observe(round_.turn), 50, seed)


@pytest.mark.parametrize(
    "step",
    [
        lambda seed: measure.deals(FAMILY, 50, seed),
        lambda seed: measure.legal_moves(FAMILY, 2, 3, seed),
        lambda seed: measure.applies(FAMILY, 2, 3, seed),
        lambda seed: measure.plans(FAMILY, 50, 40, seed),
        worlds,
    ],
    ids=["deals", "legal_moves", "applies", "plans", "worlds"],
)
def test_the_same_seed_does_the_same_work(step: Callable[[int], Measured]) -> None:
    assert step(7) == step(7)
    assert step(7).checksum != step(8).checksum


def test_what_is_counted_is_what_was_done() -> None:
    assert measure.deals(FAMILY, 50).steps == 50
    assert measure.plans(FAMILY, 50, 40, tiles=40).steps == 50
    for step in (measure.legal_moves, measure.applies):
        once = step(FAMILY, 4, 1)
        assert step(FAMILY, 4, 5).steps == 5 * once.steps
        # A round of four players has about 70 plays, of which more than half are choices of some seat's.
        assert 100 < once.steps < 4 * 90
        assert step(FAMILY, 0, 5) == step(FAMILY, 5, 0) == Measured(0, 0)


def test_the_nodes_bound_the_search_for_a_train() -> None:
    found = [measure.plans(FAMILY, 100, nodes, tiles=25).checksum for nodes in (1, 40, 4000)]
    assert len(set(found)) == 3


@pytest.mark.parametrize("preset", ["classic", "tournament", "family"])
def test_every_preset_can_be_measured(preset: str) -> None:
    rules = Rules.of(preset, 3, double_answer="chickenfoot")
    assert measure.legal_moves(rules, 20, 1, 5).steps == measure.applies(rules, 20, 1, 5).steps > 20


def test_what_is_wrong_with_a_call_is_said() -> None:
    with pytest.raises(ValueError, match="rounds -1: expected a whole number from 0 to"):
        measure.deals(FAMILY, -1)
    with pytest.raises(ValueError, match="repeats -1: expected a whole number from 0 to"):
        measure.applies(FAMILY, 1, -1)
    with pytest.raises(ValueError, match="seed -1: expected a whole number of at least 0"):
        measure.legal_moves(FAMILY, 1, 1, -1)
    with pytest.raises(ValueError, match="tiles 91: expected a whole number from 1 to 90"):
        measure.plans(FAMILY, 1, 1, tiles=91)


def test_the_state_of_a_round_is_small() -> None:
    """A copy of it is one memcpy. The third part of a pickled round is the bytes of the struct."""
    for rules in (FAMILY, Rules.of("classic", 14)):
        state = Round.deal(rules, seed=1).__reduce__()[1][2]
        assert isinstance(state, bytes)
        assert 500 < len(state) <= 1024
