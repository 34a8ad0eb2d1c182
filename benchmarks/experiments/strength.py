"""How strong ``mcts`` is by the playouts that it may spend: plays the matches, keeps their results and draws them.

    python benchmarks/experiments/strength.py measure docs/experiments/strength.tsv --nodes 100 1000 --blocks 200
    python benchmarks/experiments/strength.py draw docs/experiments/strength.tsv docs/experiments/strength.svg

``measure`` plays ``mcts`` against three ``planner`` (``family``, one round a deal) and adds a line for each number of
playouts; those that the file has already are left out, so it goes on where it was ended. ``draw`` needs matplotlib
(``pip install caboose[plots]``).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from caboose.cli.main import run

FIELDS: Final = ("nodes", "blocks", "margin", "half")
INK: Final = "#767676"  # reads on white and on black
LINE: Final = "#0072b2"  # of the palette of Okabe and Ito, which colour-blind people can tell apart


class Point(NamedTuple):
    """What ``nodes`` playouts a move came to: ``margin`` ± ``half`` (95 %) in pips a round over ``blocks`` blocks."""

    nodes: int
    blocks: int
    margin: float
    half: float


def read_points(path: Path) -> list[Point]:
    """The points of a file by their playouts. Raises ``ValueError`` for another file, ``OSError`` without one."""
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.DictReader(file, delimiter="\t")
        if tuple(rows.fieldnames or ()) != FIELDS:
            raise ValueError(f"{path}: expected the columns {' '.join(FIELDS)}")
        points = []
        for row in rows:
            try:
                point = Point(int(row["nodes"]), int(row["blocks"]), float(row["margin"]), float(row["half"]))
            except (TypeError, ValueError):
                raise ValueError(f"{path}: line {rows.line_num} is damaged: expected four numbers") from None
            points.append(point)
    return sorted(points)


def write_points(path: Path, points: list[Point]) -> None:
    """Writes the points, those of fewer playouts first."""
    with path.open("w", newline="", encoding="ascii") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(FIELDS)
        rows.writerows(sorted(points))


def play(nodes: int, blocks: int, seed: int) -> Point:
    """Plays one match. Raises ``RuntimeError`` when it is not finished."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        call = ["match", "mcts", "planner", "--rounds", "1", "--in-process"]
        numbers = ["--nodes", nodes, "--blocks", blocks, "--seed", seed]
        with contextlib.redirect_stdout(io.StringIO()):
            code = run([*call, *map(str, numbers), "--json", str(result)])
        if code:
            raise RuntimeError(f"the match with {nodes} playouts a move ended with exit code {code}")
        standings = json.loads(result.read_text(encoding="utf-8"))["standings"]
    margin = next(row["margin"] for row in standings if row["label"] == "mcts")
    return Point(nodes, margin["count"], round(margin["mean"], 2), round(margin["half"], 2))


def draw(points: list[Point], path: Path) -> None:
    """Draws the margins and their intervals over the playouts."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    axes.errorbar(
        [point.nodes for point in points],
        [point.margin for point in points],
        yerr=[point.half for point in points],
        fmt="o-",
        color=LINE,
        capsize=4,
    )
    axes.set_xscale("log")
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xlabel("playouts a move", color=INK)
    axes.set_ylabel("pips a round over three planners, ± 95 %", color=INK)
    axes.tick_params(colors=INK, which="both")
    axes.grid(color=INK, alpha=0.25)
    for spine in axes.spines.values():
        spine.set_color(INK)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main(arguments: list[str]) -> int:
    """The exit code of a call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="play the matches")
    measure.add_argument("results", type=Path)
    measure.add_argument("--nodes", type=int, nargs="+", required=True)
    measure.add_argument("--blocks", type=int, default=100, help="at least 2: fewer have no interval")
    measure.add_argument("--seed", type=int, default=103)
    drawing = commands.add_parser("draw", help="draw what was measured")
    drawing.add_argument("results", type=Path)
    drawing.add_argument("picture", type=Path)
    given = parser.parse_args(arguments)
    try:
        points = read_points(given.results) if given.command == "draw" or given.results.exists() else []
        if given.command == "draw":
            draw(points, given.picture)
            return 0
        if given.blocks < 2:
            raise ValueError(f"--blocks {given.blocks}: expected at least 2, fewer have no interval")
        for nodes in given.nodes:
            if any(point.nodes == nodes for point in points):
                continue
            points.append(play(nodes, given.blocks, given.seed))
            write_points(given.results, points)
            print("{:>9,} playouts, {} blocks: {:+.1f} ± {:.1f}".format(*points[-1]), flush=True)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        print(f"strength: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
