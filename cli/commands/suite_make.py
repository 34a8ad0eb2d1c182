"""``caboose suite make``: picks positions and finds their targets."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.console.console import Console
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.storage.files import open_input
from caboose.arena.suite.file import DAMAGED, unpacked
from caboose.arena.suite.make import check_target, part_of, workers, write_suite
from caboose.arena.suite.pick import PlayedRound, Unreadable, pick, recorded_rounds
from caboose.arena.suite.play import NODES as PLAY_NODES
from caboose.arena.suite.play import PLAYERS, Fixture, play_round
from caboose.arena.suite.progress import Meter
from caboose.arena.suite.suite import Header, Place
from caboose.arena.suite.target import LEAST_NODES, NODES, OPTIONS, search_settings
from caboose.bots import BOTS
from caboose.cli.options.rules import PLAYERS_RANGE, RuleOption, SetOption, make_rules
from caboose.engine.rules.rules import PRESETS
from caboose.protocol.records.reader import read_records

POSITIONS: Final = 300
PER_ROUND: Final = 2
MOST_POSITIONS: Final = 100_000

_PICKED = "Which positions"
_PLAYED = "Rounds played for it"
_TARGETS = "The targets"


def make(
    records: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RECORDS...",
            help="Recorded games, of `caboose match --record` or a ladder; also packed by gzip, bzip2 or xz.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to; FILE.gz is packed.", show_default=False)
    ] = ...,  # type: ignore[assignment]
    positions: Annotated[
        int, typer.Option(min=1, max=MOST_POSITIONS, help="How many.", rich_help_panel=_PICKED)
    ] = POSITIONS,
    per_round: Annotated[
        int, typer.Option(min=1, max=20, help="At most so many of a deal.", rich_help_panel=_PICKED)
    ] = PER_ROUND,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Of all that is drawn by lot.", rich_help_panel=_PICKED)
    ] = 0,
    play: Annotated[
        int,
        typer.Option(min=0, help="Rounds to play for each preset and number of players.", rich_help_panel=_PLAYED),
    ] = 0,
    players: Annotated[
        list[int] | None,
        typer.Option(help=f"{PLAYERS_RANGE}. May be repeated.", show_default="4", rich_help_panel=_PLAYED),
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(PRESETS)}. May be repeated.", show_default="family", rich_help_panel=_PLAYED),
    ] = None,
    set: SetOption = None,
    rule: RuleOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT",
            help=f"Who plays, each seat drawn by lot; {PLAY_NODES} nodes a move. May be repeated.",
            show_default=", ".join(PLAYERS),
            rich_help_panel=_PLAYED,
        ),
    ] = None,
    nodes: Annotated[
        int,
        typer.Option(
            min=LEAST_NODES,
            max=10**9,
            help="Playouts for each position: so many to find the best move, and again to compare the others with it.",
            rich_help_panel=_TARGETS,
        ),
    ] = NODES,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help=f"How the search goes, as for mcts; {', '.join(f'{n}={v}' for n, v in OPTIONS.items())} if not given. "
            "May be repeated.",
            rich_help_panel=_TARGETS,
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1024, help="Positions searched at the same time.", rich_help_panel=_TARGETS)
    ] = 1,
) -> None:
    """Make a suite: positions, and what each of their moves costs by a long search.

    From recorded games, or with --play from rounds that the built-in bots
    play. Positions are spread over presets, numbers of players and phases.

    What is found is kept in FILE.part until all is there: the same call goes
    on where an earlier one ended, however that ended.

    docs/guides/suite.md has the format, and what losses mean.
    """
    if not records and not play:
        raise CallError("no RECORDS and no --play: expected files with recorded games, or rounds to play")
    if not play:
        given = {"--players": players, "--preset": preset, "--set": set, "--rule": rule, "--by": by}
        for name, value in given.items():
            if value:
                raise CallError(f"{name} is for rounds that are played: expected --play too")
    check_target(output)
    options = _parse_options(option or [])
    settings = search_settings(options)
    names = by or list(PLAYERS)
    for name in names:
        if name not in BOTS:
            raise CallError(f"--by {name}: expected one of {', '.join(BOTS)}")
    tables = [
        make_rules(each, count, {"set": set}, rule or [], quiet=count != (players or [4])[0])
        for each in dict.fromkeys(preset or ["family"])
        for count in dict.fromkeys(players or [4])
    ]
    fixtures = [Fixture(rules, number) for rules in tables for number in range(play)]
    console = Console(highlight=False)
    unreadable = Unreadable()
    with interruptible():
        try:
            rounds = _rounds(records or [], unreadable, fixtures, names, seed, concurrency)
            places = pick(rounds, positions, per_round, seed)
            for text in _shortcomings(unreadable, places, positions):
                Console(stderr=True, highlight=False).print(text, soft_wrap=True)
            if not places:
                raise RunError("there is no position to pick: expected finished rounds with choices")
            header = Header(
                caboose=caboose_version(),
                positions=len(places),
                nodes=nodes,
                seed=seed,
                options={**OPTIONS, **options},
                source=_source(records or [], fixtures, names, per_round),
            )
            with Meter("positions", len(places)) as meter:
                write_suite(output, header, places, settings, concurrency, meter.reach)
        except KeyboardInterrupt:
            part = part_of(output)
            kept = f": what was found is in {part}, and the same call goes on" if part.exists() else ""
            raise RunError(f"interrupted{kept}") from None
    console.print(f"{output}: {len(places):,} positions, {_counted(places)}", soft_wrap=True)


def _rounds(
    records: Sequence[Path],
    unreadable: Unreadable,
    fixtures: Sequence[Fixture],
    names: Sequence[str],
    seed: int,
    concurrency: int,
) -> Iterator[PlayedRound]:
    """All rounds from which positions are picked. Raises ``CallError`` for files that cannot be read."""
    for path in records:
        try:
            with open_input(path) as file:
                yield from recorded_rounds(read_records(unpacked(file), str(path)), unreadable)
        except DAMAGED as error:
            unreadable.add(f"{path}: the packed file is damaged: {error}")
        except OSError as error:
            raise CallError(f"{path}: {cause(error)}") from None
    if fixtures:
        with Meter("rounds played", len(fixtures)) as meter, workers(concurrency, threading.Event()) as in_order:
            for played in in_order(lambda fixture: play_round(fixture, names, seed), fixtures):
                meter.step()
                yield played


def _parse_options(texts: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CallError(f"--option {text}: expected NAME=VALUE, such as Inference=0")
        if name in options:
            raise CallError(f"--option {text}: {name} is given twice")
        options[name] = value
    return options


def _source(records: Sequence[Path], fixtures: Sequence[Fixture], names: Sequence[str], per_round: int) -> str:
    """Where positions are from, in words."""
    parts = [path.name for path in records]
    if fixtures:
        tables = Counter(f"{fixture.rules.preset} {fixture.rules.players}" for fixture in fixtures)
        parts.append(f"rounds of {', '.join(names)}: " + ", ".join(f"{n} {table}" for table, n in tables.items()))
    return f"{'; '.join(parts)}; {per_round} of a round"


def _shortcomings(unreadable: Unreadable, places: Sequence[Place], wanted: int) -> Iterator[str]:
    if unreadable.games:
        what = "game" if unreadable.games == 1 else "games"
        yield f"{unreadable.games:,} {what} cannot be read; the first: {unreadable.first}"
    if 0 < len(places) < wanted:
        yield f"{len(places):,} positions can be picked, not {wanted:,}: more games would have more"


def _counted(places: Sequence[Place]) -> str:
    tables = Counter(f"{place.view.rules.preset} for {place.view.rules.players}" for place in places)
    phases = Counter(place.phase for place in places)
    return "; ".join(", ".join(f"{n} {what}" for what, n in counter.items()) for counter in (tables, phases))
