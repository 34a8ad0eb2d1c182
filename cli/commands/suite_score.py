"""``caboose suite score``: engines are asked every position of a suite."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose import bots as builtin
from caboose.arena.blocks.contestants import Setting, make_entrants, option_targets, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.console.console import Console, silence
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError
from caboose.arena.suite.figures import BLUNDER, figures
from caboose.arena.suite.file import STANDARD, read_suite
from caboose.arena.suite.progress import Meter
from caboose.arena.suite.score import Entry, InterruptedScore, smaller
from caboose.arena.suite.score import score as ask_all
from caboose.arena.suite.suite import Suite
from caboose.arena.suite.text import print_scores, scores_text
from caboose.cli.options.sandbox import (
    CpuOption,
    FileOption,
    MemoryOption,
    ProcessesOption,
    SandboxOption,
    ShareOption,
    expect_foreign,
    make_launch,
)
from caboose.cli.options.time_control import PANEL as TIME
from caboose.cli.options.time_control import MovetimeOption, PlayoutsOption, make_control
from caboose.protocol.process.faults import TimeNames
from caboose.protocol.referee.timing import DEFAULT_GUARD, DEFAULT_MARGIN, DEFAULT_STARTUP, TimeControl

LIMITS: Final = ("nodes", "movetime", "playouts")

_ENGINES = "The engines"
_WHICH = "Which positions"


def score(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help=f"A suite, also a packed one; `{STANDARD}` is that of the package.", show_default=False
        ),
    ],
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ENGINE...",
            help=f"Built-in bots ({', '.join(builtin.BOTS)}), or the command lines of engines: what has a blank or a "
            "slash in it is one.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND", help="One more engine, after the ENGINEs. May be repeated.", rich_help_panel=_ENGINES
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.OPTION=VALUE",
            help="An option of an engine, named as in the table or by its number: mcts.Noise=0, 2.Noise=0. May be "
            "repeated.",
            rich_help_panel=_ENGINES,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER=NAME", help="What an engine is called: 2=mine. May be repeated.", rich_help_panel=_ENGINES
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            help="Ask so often, with 0, 1, ... as the option Seed, and take the means: less chance in the scores of "
            "engines that search little.",
            rich_help_panel=_ENGINES,
        ),
    ] = 1,
    nodes: Annotated[int | None, typer.Option(help="Search iterations for each move.", rich_help_panel=TIME)] = None,
    movetime: MovetimeOption = None,
    playouts: PlayoutsOption = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.LIMIT=NUMBER",
            help="Another limit for one engine: mcts.nodes=100, 2.movetime=50. May be repeated.",
            rich_help_panel=TIME,
        ),
    ] = None,
    depth: Annotated[
        bool,
        typer.Option(
            "--depth",
            help="Ask under the half of the limit too, a quarter, and so on, and tell when choices are settled.",
            rich_help_panel=TIME,
        ),
    ] = False,
    margin: Annotated[
        float,
        typer.Option(metavar="MS", help="How late an answer may come before it is a fault.", rich_help_panel=TIME),
    ] = DEFAULT_MARGIN,
    guard: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="The longest an answer may take where no time limits it.", rich_help_panel=TIME
        ),
    ] = DEFAULT_GUARD / 1000,
    players: Annotated[
        list[int] | None,
        typer.Option(help="Only those with so many players. May be repeated.", rich_help_panel=_WHICH),
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(help="Only those with these rules. May be repeated.", rich_help_panel=_WHICH),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1024, help="Positions asked at the same time.")] = 1,
    blunder: Annotated[float, typer.Option(metavar="PIPS", min=0, help="What costs more is a blunder.")] = BLUNDER,
    sandbox: SandboxOption = False,
    share: ShareOption = None,
    max_memory: MemoryOption = None,
    max_processes: ProcessesOption = None,
    max_cpu: CpuOption = None,
    max_file: FileOption = None,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object, with the answer to each position.")] = False,
) -> None:
    """Ask engines every position of a suite, and tell what their moves cost.

    Loss: pips a decision by which the moves played are worse than the best,
    by the long search that made the suite. Built-in bots run in this process,
    others in processes of their own, which see what the seat sees.

    docs/guides/suite.md says how far a loss tells who wins games.

    Exit code 1: an engine failed somewhere, or it was interrupted; what was
    answered is printed.
    """
    suite = read_suite(file)
    numbers = _chosen(suite, file, players or [], preset or [])
    entrants = make_entrants(bots or [], engine or [], name or [])
    if not entrants:
        raise CallError("no ENGINE: expected one at least, such as mcts")
    control = make_control(
        tc=None,
        movetime=movetime,
        nodes=nodes,
        playouts=playouts,
        margin=margin,
        guard=guard * 1000,
        startup=DEFAULT_STARTUP,
    )
    launch = make_launch(
        sandbox, share or [], (Path(file),), memory=max_memory, processes=max_processes, cpu=max_cpu, file=max_file
    )
    launch = replace(launch, times=TimeNames("", ""))  # it has no such options
    limits = _parse_limits(limit or [])
    expect_foreign(launch.sandbox for entrant in entrants if not entrant.builtin)
    problem = ""
    with interruptible() as shield:
        contestants = meet(entrants, parse_options(option or []), control, launch)
        controls = _with_limits(control, limits, [option_targets(each, contestants) for each in limits], len(entrants))
        entries = [
            Entry(
                contestant,
                own,
                tuple(smaller(own)) if depth else (),
                tuple(range(seeds)) if seeds > 1 else (),
            )
            for contestant, own in zip(contestants, controls, strict=True)
        ]
        try:
            with Meter("answers", len(numbers) * len(entries)) as meter:
                scores = ask_all(
                    suite, entries, positions=numbers, concurrency=concurrency, launch=launch, on_answer=meter.step
                )
        except InterruptedScore as interrupted:
            scores, problem = interrupted.scores, "interrupted: this is what was answered until then"
        shield()
    found = figures(suite, scores, blunder)
    try:
        if json_:
            sys.stdout.writelines(scores_text(suite, file, numbers, scores, found, blunder, complete=not problem))
            sys.stdout.flush()
        else:
            print_scores(Console(highlight=False), suite, file, numbers, found, blunder)
    except BrokenPipeError:
        silence(sys.stdout)
    if problem:
        raise RunError(problem)
    if any(each.faults for each in found):
        raise typer.Exit(1)


def _chosen(suite: Suite, file: str, players: Sequence[int], presets: Sequence[str]) -> list[int]:
    """The numbers of the positions that a call wants. Raises ``CallError`` where it wants none that there is."""
    views = [position.place.view for position in suite.positions]
    for name, wanted, there in (
        ("--players", players, {view.rules.players for view in views}),
        ("--preset", presets, {view.rules.preset for view in views}),
    ):
        for value in wanted:
            if value not in there:
                raise CallError(f"{name} {value}: {file} has {', '.join(map(str, sorted(there)))}")
    numbers = [
        number
        for number, view in enumerate(views)
        if (not players or view.rules.players in players) and (not presets or view.rules.preset in presets)
    ]
    if not numbers:
        raise CallError(f"--players and --preset together leave no position of {file}")
    return numbers


def _parse_limits(texts: Sequence[str]) -> list[Setting]:
    limits = []
    for text in texts:
        target, _, value = text.partition("=")
        who, _, name = target.rpartition(".")
        if not who or name not in LIMITS or not value:
            raise CallError(
                f"--limit {text[:100]}: expected NAME.LIMIT=NUMBER with {', '.join(LIMITS[:-1])} or {LIMITS[-1]}, such "
                "as mcts.nodes=100"
            )
        limits.append(Setting(who, name, value, "--limit"))
    return limits


def _with_limits(
    control: TimeControl, limits: Sequence[Setting], targets: Sequence[Sequence[int]], count: int
) -> list[TimeControl]:
    """The time control of each engine: one with limits of its own has no others."""
    given: list[dict[str, float]] = [{} for _ in range(count)]
    for limit, numbers in zip(limits, targets, strict=True):
        for number in numbers:
            try:
                if not limit.value.isascii() or "_" in limit.value or limit.value != limit.value.strip():
                    raise ValueError  # Python's numbers are more than ours
                given[number][limit.name] = float(limit.value) if limit.name == "movetime" else int(limit.value)
            except ValueError:
                raise CallError(f"{limit}: expected a number") from None
    none = dict.fromkeys(LIMITS)
    try:
        return [replace(control, **none | own) if own else control for own in given]  # type: ignore[arg-type]
    except ValueError as error:
        raise CallError(f"--limit: {error}") from None
