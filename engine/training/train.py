"""Makes the networks that end playouts early (``value.pxd``): planners play rounds, and numpy fits the weights.

    python -m caboose.engine.training.train --rules family-4

Each network is for a preset and a number of players. The result goes into the package; of each network the share of
variance is told that it explains in rounds it was not made from, by the laps played.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from caboose.engine.rules.rules import Rules
from caboose.engine.training.positions import UNITS, Snapshots, evaluate, snapshots
from caboose.engine.value.networks import PATH, Weights, read_networks, write_networks

EPOCHS: Final = 6
BATCH: Final = 2048
RATE: Final = 0.003  # at first; it falls to LAST_RATE
LAST_RATE: Final = 0.0001
RIDGE: Final = 1e-6
LAPS: Final = 3  # in a column of the report …
FEWEST: Final = 1000  # … and how many rows it is told from

Floats = npt.NDArray[np.float32]


class Layers(NamedTuple):
    """A network of inputs that have mean 0 and deviation 1, on top of a linear one."""

    hidden: Floats  # inputs × UNITS
    threshold: Floats
    direct: Floats  # inputs × outputs
    units: Floats  # UNITS × outputs
    offset: Floats


def targets(seen: Snapshots) -> Floats:
    """What a network should say: rows × 2."""
    return np.stack([seen.margins, seen.wins], axis=1)


def fit_linear(inputs: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Least squares: coefficients (inputs × outputs) and offsets."""
    centre = wanted.mean(axis=0)
    square = inputs.T @ inputs + RIDGE * len(inputs) * np.eye(inputs.shape[1], dtype=np.float32)
    return np.linalg.solve(square, inputs.T @ (wanted - centre)).astype(np.float32), centre


def fit_layers(inputs: Floats, wanted: Floats, rng: np.random.Generator, epochs: int) -> Layers:
    """The network that says ``wanted`` best, found by Adam (Kingma & Ba 2015) on squared errors."""

    def chance(deviation: float, *shape: int) -> Floats:
        return rng.normal(0, deviation, shape).astype(np.float32)

    width, outputs = inputs.shape[1], wanted.shape[1]
    layers = Layers(
        chance(0.25, width, UNITS),
        np.zeros(UNITS, np.float32),
        np.zeros((width, outputs), np.float32),
        chance(0.1, UNITS, outputs),
        np.zeros(outputs, np.float32),
    )
    mean = [np.zeros_like(layer) for layer in layers]
    square = [np.zeros_like(layer) for layer in layers]
    step = 0
    for epoch in range(epochs):
        rate = RATE + (LAST_RATE - RATE) * epoch / epochs
        order = rng.permutation(len(inputs))
        for start in range(0, len(inputs), BATCH):
            rows = order[start : start + BATCH]
            x = inputs[rows]
            before = x @ layers.hidden + layers.threshold
            active = np.maximum(before, 0)
            error = (active @ layers.units + x @ layers.direct + layers.offset - wanted[rows]) * (2 / len(rows))
            back = (error @ layers.units.T) * (before > 0)
            gradients = (x.T @ back, back.sum(axis=0), x.T @ error, active.T @ error, error.sum(axis=0))
            step += 1
            for layer, gradient, m, v in zip(layers, gradients, mean, square, strict=True):
                m += 0.1 * (gradient - m)
                v += 0.001 * (gradient * gradient - v)
                layer -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return layers


def train(rules: Rules, rounds: int, seed: int, epochs: int = EPOCHS) -> Weights:
    """The weights of a network made from so many rounds. Raises ``ValueError`` when all were over too soon."""
    seen = snapshots(rules, rounds, seed)
    if not len(seen.laps):
        raise ValueError(f"{rounds} rounds: expected more, none was under way when it was looked at")
    centre = seen.inputs.mean(axis=0)
    spread = seen.inputs.std(axis=0) + np.float32(1e-6)
    inputs = (seen.inputs - centre) / spread
    wanted = targets(seen)
    direct, offset = fit_linear(inputs, wanted)
    rest = wanted - inputs @ direct - offset
    scale = rest.std(axis=0) + np.float32(1e-6)
    layers = fit_layers(inputs, rest / scale, np.random.default_rng(seed), epochs)
    # The network of the package takes its inputs as they are.
    direct = (direct + layers.direct * scale) / spread[:, None]
    hidden = layers.hidden / spread[:, None]
    return np.concatenate(
        [
            hidden.T.ravel(),
            layers.threshold - centre @ hidden,
            direct.T.ravel(),
            (layers.units * scale).T.ravel(),
            offset + layers.offset * scale - centre @ direct,
        ]
    ).astype(np.float32)


def explained(weights: Weights, seen: Snapshots) -> list[float]:
    """The share of the variance of margins that a network explains: of all rounds, then by LAPS laps played.

    Not a number where there are few rounds.
    """
    error = evaluate(weights, seen.inputs)[:, 0] - seen.margins
    shares = []
    for rows in [seen.laps >= 0, *(seen.laps // LAPS == part for part in range(seen.laps.max(initial=0) // LAPS + 1))]:
        left = float((error[rows] ** 2).mean() / seen.margins[rows].var()) if rows.sum() >= FEWEST else np.nan
        shares.append(1 - left)
    return shares


def rules_of(name: str) -> Rules:
    """The rules of a name such as ``family-4``. Raises ``ValueError`` for another."""
    preset, _, players = name.partition("-")
    if not players.isdecimal():
        raise ValueError(f"{name}: expected a preset and players, such as family-4")
    try:
        return Rules.of(preset, int(players))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rules",
        nargs="+",
        metavar="PRESET-PLAYERS",
        help="such as family-4: networks to make anew, by default all that the package has",
    )
    parser.add_argument("--rounds", type=int, default=1_000_000, help="that each is made from")
    parser.add_argument("--seed", type=int, default=1, help="of all chance")
    parser.add_argument("--out", type=Path, default=PATH, help="the file to which they are added")
    options = parser.parse_args()
    # Who gave a wrong name, or cannot write there, is told before minutes of work.
    try:
        networks = read_networks(options.out) if options.out.exists() else {}
        names = options.rules or [f"{preset}-{players}" for preset, players in read_networks()]
        wanted = [rules_of(name) for name in names]
        options.out.open("a").close()
    except (OSError, ValueError) as error:
        parser.error(f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error))
    for name, rules in zip(names, wanted, strict=True):
        try:
            weights = train(rules, options.rounds, options.seed)
        except ValueError as error:
            parser.error(f"{name}: {error}")
        shares = explained(weights, snapshots(rules, options.rounds // 5, options.seed + 1))
        print(name, "explains", *(f"{share:.3f}" for share in shares), flush=True)
        networks[rules.preset, rules.players] = weights
        write_networks(networks, options.out)


if __name__ == "__main__":
    main()
