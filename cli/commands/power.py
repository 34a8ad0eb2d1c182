"""``caboose power``: how many blocks it takes to see a gain."""

from __future__ import annotations

import json as json_text
import math
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from caboose.arena.console.console import Console, Text
from caboose.arena.errors import CallError
from caboose.arena.ladder.power import Spread, ladder_spreads, match_spreads
from caboose.arena.stats.sprt import SequentialTest, blocks_needed, expected_blocks

GAINS: Final = {"pips": (0.25, 0.5, 1.0, 2.0, 3.0, 5.0), "elo": (2.0, 5.0, 10.0, 20.0, 50.0)}
LEAST: Final = 1e-6
MOST: Final = 1e6
SLOPE: Final = 4 * 400 / math.log(10)  # rating points, for a score of 1 above one half


def power(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER|FILE]",
            help="A ladder, or the JSON of a match: the deviation is measured from its blocks.",
            show_default=False,
        ),
    ] = None,
    deviation: Annotated[
        float | None,
        typer.Option("--sd", help="Instead: the standard deviation of a block, in pips or with --elo as a score."),
    ] = None,
    gain: Annotated[
        list[float] | None, typer.Option(help="A gain in the unit; may be repeated. By default several.")
    ] = None,
    elo: Annotated[bool, typer.Option("--elo", help="Gains are rating points instead of pips a round.")] = False,
    alpha: Annotated[float, typer.Option(help="The chance to find a gain where there is none.")] = 0.05,
    beta: Annotated[float, typer.Option(help="The chance to miss one that is there.")] = 0.05,
    players: Annotated[
        int | None, typer.Option(min=2, help="Only blocks of tables with so many players.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """How many blocks a gain needs: with a fixed number, and on average with a sequential test.

    A block is one deal, played once from each seat.
    """
    unit = "elo" if elo else "pips"
    for name, share in (("--alpha", alpha), ("--beta", beta)):
        if not 0 < share < 0.5:
            raise CallError(f"{name} {share:g}: expected a number between 0 and 0.5")
    gains = sorted(set(gain or GAINS[unit]))
    for each in gains:
        if not LEAST <= each <= MOST:
            raise CallError(f"--gain {each:g}: expected a number from {LEAST:g} to {MOST:g}")
    spreads = _spreads(source, deviation, unit, players)
    if json:
        print(json_text.dumps(_data(spreads, gains, unit, alpha, beta), indent=1))
    else:
        _print(spreads, gains, unit, alpha, beta)


def _spreads(source: Path | None, deviation: float | None, unit: str, players: int | None) -> list[Spread]:
    if (source is None) == (deviation is None):
        raise CallError("expected either a ladder or the JSON of a match, or --sd")
    if source is None:
        assert deviation is not None
        if not LEAST <= deviation <= MOST:
            raise CallError(f"--sd {deviation:g}: expected a number from {LEAST:g} to {MOST:g}")
        return [Spread("given", players, 0, deviation)]
    spreads = ladder_spreads(source, unit) if source.is_dir() else match_spreads(source, unit)
    found = [spread for spread in spreads if players in (None, spread.players)]
    if not found:
        tables = "" if players is None else f" at tables of {players}"
        raise CallError(f"{source}: there is no contestant with at least 2 blocks{tables}")
    return found


def _needed(spread: Spread, gain: float, unit: str, alpha: float, beta: float) -> tuple[int, float]:
    """Blocks of a fixed number, and of a sequential test on average where the gain is there."""
    effect = 1 / (1 + 10 ** (-gain / 400)) - 0.5 if unit == "elo" else gain
    test = SequentialTest(low=0.0, high=gain, unit=unit, alpha=alpha, beta=beta)
    fixed = blocks_needed(effect, spread.deviation, alpha=alpha, power=1 - beta)
    return fixed, expected_blocks(test, gain, spread.deviation, kurtosis=spread.kurtosis)


def _print(spreads: list[Spread], gains: list[float], unit: str, alpha: float, beta: float) -> None:
    console = Console(highlight=False)
    word = "pips a round" if unit == "pips" else "rating points"
    digits = 1 if unit == "pips" else 3
    for spread in spreads:
        table = f", {spread.players} players" if spread.players else ""
        blocks = f", {spread.blocks:,} blocks" if spread.blocks else ""
        console.print(
            Text(
                f"{spread.label}{table}{blocks}: standard deviation of a block {spread.deviation:.{digits}f}",
                style="bold",
            )
        )
        rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for title in (f"gain,\n{word}", "blocks,\nfixed", "blocks, sequential\ntest, on average"):
            rows.add_column(title, justify="right", no_wrap=True)
        for gain in gains:
            fixed, sequential = _needed(spread, gain, unit, alpha, beta)
            rows.add_row(f"{gain:g}", f"{fixed:,}", f"{sequential:,.0f}")
        console.print(rows)
        console.print()
    console.print(
        Text(
            f"A gain is found where there is none in {alpha:.0%} of tests, and missed in {beta:.0%} (one-sided). "
            "The difference of two that both play against others takes twice the blocks of each, less what common "
            "deals save."
        )
    )


def _data(spreads: list[Spread], gains: list[float], unit: str, alpha: float, beta: float) -> dict[str, object]:
    rows = []
    for spread in spreads:
        needs = []
        for gain in gains:
            fixed, sequential = _needed(spread, gain, unit, alpha, beta)
            needs.append({"gain": gain, "blocks": fixed, "sequential": sequential})
        rows.append(
            {
                "label": spread.label,
                "players": spread.players,
                "blocks": spread.blocks,
                "deviation": spread.deviation,
                "needed": needs,
            }
        )
    return {
        "format": "caboose power",
        "format_version": 1,
        "unit": unit,
        "alpha": alpha,
        "beta": beta,
        "contestants": rows,
    }
