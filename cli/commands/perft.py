"""``caboose perft``: counts move sequences, and checks the table of known counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.table import Table

from caboose.arena.bench.perft_table import Row, count_points, read_table, round_of_game
from caboose.arena.console.console import Console
from caboose.arena.errors import CallError
from caboose.cli.options.rules import PLAYERS_RANGE, PresetOption, RuleOption, SetOption, make_rules
from caboose.engine.rules.moves import Move
from caboose.engine.rules.perft import perft as count
from caboose.engine.rules.round import Round

_AT_ONCE: Final = 6  # moves that are counted in one piece: Ctrl-C is heard between the pieces
_KNOWN: Final = "The known counts"


def perft(
    context: typer.Context,
    depth: Annotated[
        int | None,
        typer.Argument(metavar="DEPTH", help="Moves to look ahead; those of the table by default.", min=1),
    ] = None,
    preset: PresetOption = "family",
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}.")] = 4,
    set: SetOption = None,
    rule: RuleOption = None,
    hub: Annotated[int | None, typer.Option(help="The double in the middle; the set's highest by default.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the game.", min=0)] = 0,
    divide: Annotated[bool, typer.Option("--divide", help="Count each first move by itself.")] = False,
    row: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="The round in this row of the table.", min=1, rich_help_panel=_KNOWN),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Check every row of the table.", rich_help_panel=_KNOWN)] = False,
) -> int:
    """Count the move sequences that a round allows, to check and to time the rules engine.

    Forced steps (draws, passes) are no moves; a round that ends earlier counts once.

    The round is the one with this hub in the game of this seed.

    --row and --all check the known counts of the table engine/rules/perft.tsv; the exit code is 1 if one differs.
    """
    if all or row is not None:
        _refuse(context, "--all" if all else "--row", ["divide", "row"] if all else [])
        table = read_table()
        if all:
            return _check_all(table, depth)
        assert row is not None
        if row > len(table):
            raise CallError(f"--row {row}: the table has the rows 1 to {len(table)}")
        known = table[row - 1]
        return _show(known.round(), _title(known), depth or known.depth, divide, known)
    if depth is None:
        raise CallError("how many moves to look ahead? Expected DEPTH, or --row or --all for the table of known counts")
    rules = make_rules(preset, players, {"set": set}, rule or [])
    try:
        round = round_of_game(rules, rules.set if hub is None else hub, seed)
    except ValueError as error:
        raise CallError(str(error)) from None
    title = f"{preset}, {players} players, double-{rules.set}, hub {round.hub}, seed {seed}"
    return _show(round, title, depth, divide, None)


def _refuse(context: typer.Context, option: str, more: Sequence[str]) -> None:
    """Refuses what makes no sense together with ``option``, which brings its own rounds."""
    for name in ("preset", "players", "set", "rule", "hub", "seed", *more):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise CallError(f"--{name} cannot be given with {option}")


def _show(round: Round, title: str, depth: int, divide: bool, known: Row | None) -> int:
    """Prints the counts of one round; the exit code."""
    console = Console(highlight=False)
    console.print(title, soft_wrap=True)
    counts = _divided(console, round, depth) if divide else _counted(console, round, depth)
    differ = [level for level, number in counts.items() if known and number != _expected(known, level, number)]
    for level in differ:
        assert known is not None
        console.print(f"depth {level}: {counts[level]:,}, expected {known.counts[level - 1]:,}")
    return 1 if differ else 0


def _expected(known: Row, level: int, otherwise: int) -> int:
    return known.counts[level - 1] if level <= known.depth else otherwise


def _divided(console: Console, round: Round, depth: int) -> dict[int, int]:
    """Prints the count of each first move in the order of ``legal_moves``, and their sum."""
    table = _table("move", "sequences")
    table.columns[0].justify = "left"
    total = 0 if round.legal_moves() else 1
    for move in round.legal_moves():
        number = _count(_after(round, move), depth - 1)
        total += number
        table.add_row(str(move), f"{number:,}")
    table.add_row("all", f"{total:,}")
    console.print(table)
    return {depth: total}


def _counted(console: Console, round: Round, depth: int) -> dict[int, int]:
    """Prints the counts of all depths, each as soon as it is known."""
    form = "{:>5}  {:>17}  {:>8}  {:>11}"
    console.print(form.format("depth", "sequences", "seconds", "per second"))
    counts = {}
    for level in range(1, depth + 1):
        number, seconds = _timed(round, level)
        counts[level] = number
        console.print(form.format(level, f"{number:,}", f"{seconds:.3f}", _speed(number, seconds)))
    return counts


def _check_all(table: Sequence[Row], most: int | None) -> int:
    """Counts every row of the table; the exit code."""
    console = Console(highlight=False)
    form = "{:>3}  {:<10}  {:>7}  {:>3}  {:>5}  {:>11}  {:>7}  {:>10}"
    console.print(form.format("row", "preset", "players", "set", "depth", "sequences", "seconds", "per second"))
    differ = sequences = 0
    spent = 0.0
    for row in table:
        round, depth = row.round(), min(row.depth, most or row.depth)
        number, seconds = _timed(round, depth)
        sequences += number
        spent += seconds
        rules = row.rules
        figures = f"{number:,}", f"{seconds:.2f}", _speed(number, seconds)
        console.print(form.format(row.number, rules.preset, rules.players, rules.set, depth, *figures))
        wrong = _differences(row, round, depth, number)
        differ += bool(wrong)
        for line in wrong:
            console.print(f"     {line}\n     {_title(row)}", soft_wrap=True)
    verdict = f"{differ} of {len(table)} rows differ" if differ else f"all {len(table)} rows agree"
    console.print(f"{sequences:,} sequences in {spent:.1f} s, {_speed(sequences, spent)} per second: {verdict}")
    return 1 if differ else 0


def _differences(row: Row, round: Round, depth: int, number: int) -> list[str]:
    """What is not as the table says: the count, then the counts of lesser depths, and the points."""
    lines = []
    for level in range(1, depth + 1):
        found = number if level == depth else _count(round, level)
        if found != row.counts[level - 1]:
            lines.append(f"differs at depth {level}: {found:,} sequences, expected {row.counts[level - 1]:,}")
            break
    if depth >= row.slow and (points := count_points(round, row.slow)) != row.points:
        lines.append(f"differs at depth {row.slow}: {points:,} pips in all hands, expected {row.points:,}")
    return lines


def _title(row: Row) -> str:
    return f"row {row.number}: {row.text}, hub {row.hub}, seed {row.seed}"


def _timed(round: Round, depth: int) -> tuple[int, float]:
    start = time.perf_counter()
    number = _count(round, depth)
    return number, time.perf_counter() - start


def _speed(number: int, seconds: float) -> str:
    return f"{number / seconds:,.0f}" if seconds else "-"


def _count(round: Round, depth: int) -> int:
    if depth <= _AT_ONCE or round.over:
        return count(round, depth)
    return sum(_count(_after(round, move), depth - 1) for move in round.legal_moves())


def _after(round: Round, move: Move) -> Round:
    after = round.copy()
    after.apply(move)
    return after


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        table.add_column(title, justify="right")
    return table
