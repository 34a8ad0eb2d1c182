"""The networks that judge a round under way: what they are told, what they say, how they are made, who asks them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caboose.cli.main import run
from caboose.engine.policy.playout import policy_move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import PRESETS, Rules
from caboose.engine.search.search import Search
from caboose.engine.training import train
from caboose.engine.training.positions import UNITS, Snapshots, evaluate, snapshots
from caboose.engine.value import networks
from caboose.engine.value.networks import PATH, Weights, network_for, read_networks, write_networks
from tried import tried

FAMILY = Rules.of("family", 4)


def mid_round(rules: Rules, seed: int) -> Round:
    """The first real choice after ten moves."""
    round_ = Round.deal(rules, seed=seed)
    for number in range(100):
        if number >= 10 and len(round_.legal_moves()) > 1:
            return round_
        round_.apply(policy_move(round_.observe(round_.turn), "planner"))
    raise AssertionError


def seen_by(round_: Round) -> Observation:
    return round_.observe(round_.turn)


def raced(observation: Observation, **options: Any) -> Search:
    search = Search(observation, 3, confidence=1000, **options)
    search.run(600)
    return search


@pytest.fixture(scope="module")
def seen() -> Snapshots:
    return snapshots(FAMILY, 20_000, 4)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 5])
def test_snapshots_tell_what_a_round_looks_like(preset: str, players: int) -> None:
    rules = Rules.of(preset, players)
    rows = snapshots(rules, 500, 1)
    assert len(rows.inputs) == len(rows.laps) == len(rows.margins) == len(rows.wins)
    assert len(rows.inputs) % players == 0
    seats = rows.inputs.reshape(-1, players, rows.inputs.shape[1])
    pips, tiles = seats[:, :, 0], seats[:, :, 1]
    # The others' means, from the seats themselves.
    assert np.allclose(seats[:, :, 6], (pips.sum(1, keepdims=True) - pips) / (players - 1), rtol=1e-4)
    assert np.allclose(seats[:, :, 7], (tiles.sum(1, keepdims=True) - tiles) / (players - 1), rtol=1e-4)
    assert (seats[:, :, 3] <= tiles).all()
    assert (seats[:, :, 2] <= pips).all()
    # What lies neither in hands nor in the boneyard is on the table.
    assert (tiles.sum(1) + seats[:, 0, 17] <= (rules.set + 1) * (rules.set + 2) // 2).all()
    # One seat is to move, and what one wins the others lose.
    assert ((seats[:, :, 5] == 0).sum(1) == 1).all()
    assert np.allclose(rows.margins.reshape(-1, players).sum(1), 0, atol=0.01)
    assert (rows.wins.reshape(-1, players).sum(1) >= 1).all()


def test_snapshots_depend_on_the_seed_alone() -> None:
    one, again, other = snapshots(FAMILY, 50, 7), snapshots(FAMILY, 50, 7), snapshots(FAMILY, 50, 8)
    assert all((a == b).all() for a, b in zip(one, again, strict=True))
    assert one.inputs.shape != other.inputs.shape or (one.inputs != other.inputs).any()
    for rounds, seed in [(-1, 0), (1, -1)]:
        with pytest.raises(ValueError, match="expected whole numbers"):
            snapshots(FAMILY, rounds, seed)


def test_a_network_says_what_its_weights_say() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 26)).astype(np.float32)
    weights = rng.normal(size=518).astype(np.float32)
    hidden, threshold, direct, units, offset = np.split(weights, np.cumsum([UNITS * 26, UNITS, 2 * 26, 2 * UNITS]))
    active = np.maximum(x @ hidden.reshape(UNITS, 26).T + threshold, 0)
    said = active @ units.reshape(2, UNITS).T + x @ direct.reshape(2, 26).T + offset
    assert np.allclose(evaluate(weights, x), said, atol=1e-3)
    for bad_weights, bad_inputs in [(weights[1:], x), (weights, x[:, 1:]), (weights, x[0])]:
        with pytest.raises(ValueError, match="expected 518 weights"):
            evaluate(bad_weights, bad_inputs)


def test_the_networks_of_the_package_know_how_rounds_end() -> None:
    for (preset, players), weights in read_networks().items():
        rows = snapshots(Rules.of(preset, players), 10_000, 99)
        said = evaluate(weights, rows.inputs)
        assert abs(said[:, 0].mean() - rows.margins.mean()) < 2
        assert abs(said[:, 1].mean() - rows.wins.mean()) < 0.03
        assert train.explained(weights, rows)[0] > (0.1 if players > 2 else 0.04)


def test_training_finds_what_there_is_to_find(seen: Snapshots) -> None:
    shares = train.explained(train.train(FAMILY, 20_000, 5), seen)
    assert 0.2 < shares[0] < 0.4
    assert shares[1] < shares[4]  # early rounds are open


def test_more_than_lines_can_be_learned() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20_000, 3)).astype(np.float32)
    wanted = np.stack([np.abs(x[:, 0]), x[:, 1] * 0.5], axis=1)
    layers = train.fit_layers(x, wanted, rng, 100)
    said = np.maximum(x @ layers.hidden + layers.threshold, 0) @ layers.units + x @ layers.direct + layers.offset
    assert ((said - wanted) ** 2).mean() < 0.05 * wanted.var()


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    made: dict[tuple[str, int], Weights] = {
        ("family", 4): rng.normal(size=518).astype(np.float32),
        ("classic", 3): rng.normal(size=518).astype(np.float32),
    }
    write_networks(made, tmp_path / "networks.tsv")
    found = read_networks(tmp_path / "networks.tsv")
    assert list(found) == [("classic", 3), ("family", 4)]
    assert all(np.allclose(found[key], made[key], rtol=1e-5) for key in made)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.rstrip("\n") + "\t1\n",
        lambda text: text.replace("\t0.", "\tx.", 1),
        lambda text: text.replace("\t0.", "\tinf", 1),
        lambda text: text.replace("family", "fami\u0142y\n"),
        lambda text: "\n" + text,
    ],
)
def test_a_damaged_file_is_refused(
    damage: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "networks.tsv"
    path.write_text(damage(PATH.read_text(encoding="ascii")), encoding="utf-8")
    with pytest.raises(OSError, match=r"line \d+ is damaged: .* 518 numbers.*networks\.tsv"):
        read_networks(path)
    # A command says so in a line.
    monkeypatch.setattr(networks, "read_networks", lambda: read_networks(path))
    monkeypatch.setattr(networks, "_FOUND", {})
    assert run(["bench", "--nodes", "1"]) == 1
    assert re.match(re.escape(f"caboose: {path}: line ") + r"\d+ is damaged", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "family"], "family: expected a preset and players, such as family-4"),
        (["--rules", "family-4", "family-40"], "family-40: players=40"),
        (["--rules", "family-4", "--rounds", "0"], "0 rounds: expected more"),
        (["--rules", "family-4", "--out", "no/folder/new.tsv"], "no/folder/new.tsv: No such file or directory"),
        (["--rules", "family-4", "--out", __file__], "line 1 is damaged"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["train", "--out", str(tmp_path / "new.tsv"), *arguments])
    with pytest.raises(SystemExit):
        train.main()
    assert message in capsys.readouterr().err


def test_the_training_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new.tsv"
    monkeypatch.setattr(sys, "argv", ["train", "--rules", "tournament-3", "--rounds", "5000", "--out", str(out)])
    train.main()
    assert capsys.readouterr().out.startswith("tournament-3 explains 0.")
    assert list(read_networks(out)) == [("tournament", 3)]
    # So few rounds explain nothing, which is told.
    monkeypatch.setattr(sys, "argv", ["train", "--rules", "family-4", "--rounds", "2", "--out", str(out)])
    train.main()
    assert capsys.readouterr().out.startswith("family-4 explains nan")
    assert list(read_networks(out)) == [("family", 4), ("tournament", 3)]


def test_a_network_is_for_its_rules_only() -> None:
    assert network_for(FAMILY) is not None
    assert network_for(Rules.of("family", 4, rounds=1)) is not None
    assert network_for(Rules.of("family", 4, set=9)) is None
    assert network_for(Rules.of("family", 4, blank=0)) is None
    other = seen_by(mid_round(Rules.of("family", 4, blank=0), 2))
    assert raced(other).candidates() == raced(other, laps=0).candidates()


def test_playouts_end_where_a_network_judges() -> None:
    round_ = mid_round(FAMILY, 2)
    seen = seen_by(round_)
    whole = raced(seen, laps=0)
    cut = raced(seen)
    assert cut.candidates() != whole.candidates()
    assert cut.nodes == whole.nodes
    for candidate in tried(cut.candidates()):
        assert 0 <= candidate.win <= 1
        # What is averaged already varies less.
        assert candidate.error < next(c.error for c in tried(whole.candidates()) if c.move == candidate.move)
    # Playouts that are over before that are no matter of the network.
    assert raced(seen, laps=1000).candidates() == whole.candidates()
    # It is not asked where the game counts, where playouts are not the planner's, and where the boneyard is known.
    assert raced(seen, game_weight=1.0).candidates() == raced(seen, game_weight=1.0, laps=0).candidates()
    assert raced(seen, policy="greedy").candidates() == raced(seen, policy="greedy", laps=0).candidates()
    assert raced(seen, truth=round_).candidates() == raced(seen, truth=round_, laps=0).candidates()


def totals(seen: Observation, worlds: int, **options: Any) -> np.ndarray:
    """The sums of the scores of all moves over so many worlds."""
    search = Search(seen, 3, confidence=1000, **options)
    search.run(worlds * search.racing)
    assert search.worlds == worlds
    return worlds * np.array([c.score for c in sorted(search.candidates(), key=lambda c: str(c.move))])


def test_playouts_get_longer_with_the_worlds() -> None:
    """Of 160 worlds 40 have three laps, as many four, and the last 80 five."""
    seen = seen_by(mid_round(FAMILY, 2))
    three = totals(seen, 40, laps=3, growth=0)
    four = totals(seen, 80, laps=4, growth=0) - totals(seen, 40, laps=4, growth=0)
    five = totals(seen, 160, laps=5, growth=0) - totals(seen, 80, laps=5, growth=0)
    assert np.allclose(totals(seen, 160, laps=3, growth=40), three + four + five)
    assert not np.allclose(totals(seen, 160, laps=3, growth=0), three + four + five)
    # What goes on to the end cannot get longer.
    assert raced(seen, laps=500, growth=1).candidates() == raced(seen, laps=0).candidates()
