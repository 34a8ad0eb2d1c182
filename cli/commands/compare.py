"""``caboose compare``: whether one engine is better than another."""

from __future__ import annotations

import json as json_text
import os
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Final

import typer

from caboose import bots as builtin
from caboose.arena.blocks.block import CRASHED
from caboose.arena.blocks.contestants import Contestant, make_entrants, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.compare.comparison import DEFAULT_MOST, DEFAULT_TEST, REPORT, Comparison
from caboose.arena.compare.progress import CompareProgress
from caboose.arena.compare.run import kept_seed, run_test
from caboose.arena.compare.text import summary, verdict_data
from caboose.arena.config.engine_spec import MOST_BLOCKS, EngineSpec
from caboose.arena.console.console import Console, Text
from caboose.arena.console.output import put_line
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError
from caboose.arena.execution.executors import Executor
from caboose.arena.ladder.run import Limit
from caboose.arena.stats.sprt import SequentialTest
from caboose.cli.commands.match import PLAYERS, RUN, check_word, make_seed
from caboose.cli.options.execution import DaskOption, PinOption, make_cluster, make_local
from caboose.cli.options.files import STANDARD_INPUT, read_or_not
from caboose.cli.options.rules import PANEL as TABLE
from caboose.cli.options.rules import PLAYERS_RANGE, PresetOption, RoundsOption, RuleOption, SetOption, make_rules
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
from caboose.cli.options.time_control import (
    AllowanceOption,
    GameCapOption,
    GraceOption,
    GuardOption,
    MarginOption,
    MovetimeOption,
    NodesOption,
    PlayoutsOption,
    RoundCapOption,
    StartOption,
    TcOption,
    make_control,
)
from caboose.protocol.process.child import UNLIMITED
from caboose.protocol.process.launch import Launch
from caboose.protocol.referee.referee import FAULT_POLICIES
from caboose.protocol.referee.timing import DEFAULT_GUARD, DEFAULT_MARGIN, DEFAULT_STARTUP

TEST: Final = "The test"
CODES: Final = {True: 0, False: 1, None: 3}
_SAME: Final = "As in `caboose match`."


def compare(
    one: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help=f"Is it better? A built-in bot ({', '.join(builtin.BOTS)}), or a command line: what has a blank or a "
            "slash in it is one.",
            show_default=False,
        ),
    ],
    other: Annotated[str, typer.Argument(metavar="B", help="Than that?", show_default=False)],
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Who has all seats but one of A and one of B. Without it A and B share the seats.",
            show_default=False,
            rich_help_panel=PLAYERS,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.OPTION=VALUE",
            help="An option of an engine, by name or number: 1 is A, 2 is B, 3 the pool. May be repeated.",
            rich_help_panel=PLAYERS,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER=NAME", help="What one is called. May be repeated.", rich_help_panel=PLAYERS),
    ] = None,
    in_process: Annotated[
        bool,
        typer.Option("--in-process", help="Play the built-in bots inside the referee.", rich_help_panel=PLAYERS),
    ] = False,
    pips0: Annotated[
        float | None,
        typer.Option(
            metavar="PIPS",
            help="H0: A is better than B by that, in pips a round (0 if not given).",
            rich_help_panel=TEST,
        ),
    ] = None,
    pips1: Annotated[
        float | None,
        typer.Option(
            metavar="PIPS", help=f"H1: by that ({DEFAULT_TEST.high:g} if none of these is given).", rich_help_panel=TEST
        ),
    ] = None,
    elo0: Annotated[float | None, typer.Option(metavar="ELO", help="H0 in Elo.", rich_help_panel=TEST)] = None,
    elo1: Annotated[float | None, typer.Option(metavar="ELO", help="H1 in Elo.", rich_help_panel=TEST)] = None,
    nelo0: Annotated[
        float | None, typer.Option(metavar="ELO", help="H0 in normalized Elo.", rich_help_panel=TEST)
    ] = None,
    nelo1: Annotated[
        float | None, typer.Option(metavar="ELO", help="H1 in normalized Elo.", rich_help_panel=TEST)
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="How often H1 may be accepted where H0 is true.", rich_help_panel=TEST)
    ] = DEFAULT_TEST.alpha,
    beta: Annotated[
        float, typer.Option(help="How often H0 may be accepted where H1 is true.", rich_help_panel=TEST)
    ] = DEFAULT_TEST.beta,
    max_blocks: Annotated[
        int,
        typer.Option(min=1, max=MOST_BLOCKS, help="End undecided after so many blocks.", rich_help_panel=TEST),
    ] = DEFAULT_MOST,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.0, help="Begin no block after that time.", show_default=False, rich_help_panel=TEST),
    ] = None,
    preset: PresetOption = "family",
    players: Annotated[int, typer.Option(help=f"{PLAYERS_RANGE}.", rich_help_panel=TABLE)] = 4,
    set: SetOption = None,
    rule: RuleOption = None,
    rounds: RoundsOption = None,
    movetime: MovetimeOption = None,
    tc: TcOption = None,
    allowance: AllowanceOption = 0.0,
    round_cap: RoundCapOption = None,
    game_cap: GameCapOption = None,
    nodes: NodesOption = None,
    playouts: PlayoutsOption = None,
    margin: MarginOption = DEFAULT_MARGIN,
    guard: GuardOption = DEFAULT_GUARD / 1000,
    grace: GraceOption = 0.0,
    start_timeout: StartOption = DEFAULT_STARTUP / 1000,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the comparison there: the same call again goes on where it was, however it ended. `caboose "
            "ladder standings`, `games` and `export` can read it.",
            show_default=False,
            rich_help_panel=RUN,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help=f"With --state: where to write the report, a page with the likelihood curve; FOLDER/{REPORT} if not "
            "given. `caboose ladder report FOLDER` writes it at any time.",
            show_default=False,
            rich_help_panel=RUN,
        ),
    ] = None,
    records: Annotated[
        bool, typer.Option("--records", help="With --state: keep the games as text, too.", rich_help_panel=RUN)
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Blocks played at the same time, each in a process; one, if not given.",
            show_default=False,
            rich_help_panel=RUN,
        ),
    ] = None,
    dask: DaskOption = None,
    pin: PinOption = False,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|-",
            help="The seed of the deals; by default that of the state, or a fresh one. - reads it from standard input.",
            show_default=False,
            rich_help_panel=RUN,
        ),
    ] = None,
    on_fault: Annotated[
        str, typer.Option(metavar="|".join(FAULT_POLICIES), help=_SAME, rich_help_panel=RUN)
    ] = FAULT_POLICIES[0],
    crashed: Annotated[str, typer.Option(metavar="|".join(CRASHED), help=_SAME, rich_help_panel=RUN)] = CRASHED[0],
    strict: Annotated[
        bool, typer.Option("--strict", help="End undecided with the first fault.", rich_help_panel=RUN)
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.", rich_help_panel=RUN)] = False,
    sandbox: SandboxOption = False,
    share: ShareOption = None,
    max_memory: MemoryOption = None,
    max_processes: ProcessesOption = None,
    max_cpu: CpuOption = None,
    max_file: FileOption = None,
) -> None:
    """Find out whether A is better than B: play until a sequential test says so, or says no.

    docs/explanation/statistics.md tells of the test, docs/guides/compare.md of the rest.

    Exit code 0: H1 was accepted, A is better. 1: H0 was accepted, it is not. 3: undecided, interrupted, or something
    went wrong. 2: the call was wrong.
    """
    check_word("--on-fault", on_fault, FAULT_POLICIES)
    check_word("--crashed", crashed, CRASHED)
    for word, given in (("--records", records), ("--report", report is not None)):
        if given and state is None:
            raise CallError(f"{word}: expected together with --state, which says where the comparison is kept")
    if report is not None and not report.resolve().parent.is_dir():
        raise CallError(f"--report {report}: there is no folder {report.parent}")
    if report is not None and (report.is_dir() or str(report) == STANDARD_INPUT):
        what = "this is a folder" if report.is_dir() else "the summary is on standard output"
        raise CallError(f"--report {report}: {what}, expected a file")
    test = _make_test({"pips": (pips0, pips1), "elo": (elo0, elo1), "nelo": (nelo0, nelo1)}, alpha, beta)
    entrants = make_entrants([one, other] if pool is None else [one, other, pool], [], name or [])
    options = parse_options(option or [])
    rules = make_rules(preset, players, {"set": set, "rounds": rounds}, rule or [])
    if pool is not None and players < 3:
        raise CallError(f"--players {players} with --pool: expected at least 3, as A and B have a seat each")
    launch = make_launch(
        sandbox, share or [], (state,), memory=max_memory, processes=max_processes, cpu=max_cpu, file=max_file
    )
    control = make_control(
        movetime=movetime,
        tc=tc,
        allowance=allowance,
        roundcap=None if round_cap is None else round_cap * 1000,
        gamecap=None if game_cap is None else game_cap * 1000,
        nodes=nodes,
        playouts=playouts,
        margin=margin,
        guard=guard * 1000,
        grace=grace,
        startup=start_timeout * 1000,
    )
    kept = kept_seed(state) if state is not None and seed is None else None
    number = make_seed(seed) if kept is None else kept
    expect_foreign(launch.sandbox for entrant in entrants if not entrant.builtin)
    errors = Console(stderr=True, highlight=False)
    with ExitStack() as stack:
        shield = stack.enter_context(interruptible())
        specs = [_engine(contestant, launch) for contestant in meet(entrants, options, control, launch)]
        comparison = Comparison(
            one=specs[0],
            other=specs[1],
            pool=specs[2] if pool is not None else None,
            rules=rules,
            control=control,
            bounds=test,
            most=max_blocks,
            seed=number,
            in_process=in_process,
            on_fault=on_fault,
            crashed=crashed,
            strict=strict,
            records=records,
        )
        limit = Limit(seconds=None if minutes is None else minutes * 60)
        executor: Executor
        if dask is not None:
            commands = [spec.command for spec in specs if not spec.builtin]
            executor = make_cluster(dask, commands, errors, sandbox=sandbox, most=concurrency, pin=pin, reference=None)
        else:
            executor = make_local(concurrency or 1, players, errors, pin=pin, reference=None)
        call = shlex.join(["caboose", *sys.argv[1:]])
        with CompareProgress(errors) as progress:
            found = run_test(comparison, executor, folder=state, limit=limit, watcher=progress, call=call)
        shield()
        with read_or_not():  # the exit code is the answer all the same
            if json:
                print(json_text.dumps(verdict_data(found, call), indent=1))
            else:
                console = Console(highlight=False)
                for at, line in enumerate(summary(found, call)):
                    console.print(Text(line, style="" if at else "bold"), soft_wrap=True)
        if state is not None:
            from caboose.cli.commands.ladder_report import write_report  # what only the end needs

            try:
                page = report or state / REPORT
                write_report(state, page, named=False)
                if not json:
                    with read_or_not():
                        put_line(f"{'Report':<11}{page}")
            except (CallError, RunError) as error:  # the exit code is the answer all the same
                errors.print(Text(f"caboose: the report was not written: {error}"), soft_wrap=True)
    raise typer.Exit(CODES[found.better])


def _make_test(given: dict[str, tuple[float | None, float | None]], alpha: float, beta: float) -> SequentialTest:
    """The test that a call asks for: H0 and H1 by unit. Raises ``CallError``."""
    units = [unit for unit, values in given.items() if any(value is not None for value in values)]
    if len(units) > 1:
        raise CallError(f"--{units[0]}0, --{units[0]}1 and those in {units[1]}: expected one unit")
    low, high, unit = DEFAULT_TEST.low, DEFAULT_TEST.high, DEFAULT_TEST.unit
    if units:
        (unit,) = units
        first, second = given[unit]
        if second is None:
            raise CallError(f"--{unit}0 alone: expected --{unit}1 too, for H1")
        low, high = first or 0.0, second
    try:
        return SequentialTest(low=low, high=high, unit=unit, alpha=alpha, beta=beta)
    except ValueError as error:
        raise CallError(str(error)) from None


def _engine(contestant: Contestant, launch: Launch) -> EngineSpec:
    """A contestant as a ladder keeps it."""
    return EngineSpec(
        name=contestant.label,
        builtin=contestant.builtin,
        command=tuple(contestant.command),
        options=contestant.options,
        sandbox=launch.sandbox,
        share=tuple([os.path.abspath(path) for path in launch.shared]),
        resources=UNLIMITED if contestant.builtin else launch.resources,
        times=launch.times,
    )
