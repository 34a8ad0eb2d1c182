"""``caboose match``: bots against each other, with standings at the end."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from caboose import bots as builtin
from caboose.arena.blocks.block import CRASHED, FALLBACK, MOST_REPLAYS, RESTARTS, Plan
from caboose.arena.blocks.contestants import Lineup, make_entrants, make_entries, parse_options
from caboose.arena.blocks.handshake import meet
from caboose.arena.blocks.recorder import open_record
from caboose.arena.blocks.results import result_text, write_result
from caboose.arena.blocks.time_scaling import HERE, measure_speed, parse_reference
from caboose.arena.console.console import Console, PatientConsole, silence
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError, cause
from caboose.arena.execution.executors import Executor
from caboose.arena.match.console_report import MatchProgress, fault_lines, print_heading, print_standings
from caboose.arena.match.match import play_match, standings
from caboose.arena.storage.files import temporary_beside
from caboose.cli.options.execution import DaskOption, PinOption, ScaleOption, make_cluster, make_local
from caboose.cli.options.rules import PANEL as TABLE
from caboose.cli.options.rules import PLAYERS_RANGE, PresetOption, RoundsOption, RuleOption, SetOption, make_rules
from caboose.cli.options.sandbox import (
    CpuOption,
    FileOption,
    LogOption,
    MemoryOption,
    ProcessesOption,
    SandboxOption,
    ShareOption,
    expect_foreign,
    make_folder,
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
from caboose.engine.rules.blanks import BLANKS
from caboose.protocol.referee.referee import FAULT_POLICIES
from caboose.protocol.referee.timing import DEFAULT_GUARD, DEFAULT_MARGIN, DEFAULT_STARTUP

DEFAULT_BLOCKS: Final = 20
SEED_BITS: Final = 128
STANDARD_OUTPUT: Final = Path("-")
MAX_SEED: Final = 1000  # digits

PLAYERS = "The players"
RUN = "The run"


def match(
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT...",
            help=f"Built-in bots ({', '.join(builtin.BOTS)}), or the command lines of engines: what has a blank or "
            "a slash in it is one. Of two contestants with more players than that, the first is the hero and the "
            "others are copies of the second.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND", help="One more engine, after the BOTs. May be repeated.", rich_help_panel=PLAYERS
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME.OPTION=VALUE",
            help="An option of a contestant, named as in the standings or by its number: mcts.Seed=5, 2.Seed=5. "
            "May be repeated.",
            rich_help_panel=PLAYERS,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER=NAME",
            help="What a contestant is called: 2=mine. Else an engine is called what it says it is, or, where that is "
            "another's name or a built-in bot's, after its command. May be repeated.",
            rich_help_panel=PLAYERS,
        ),
    ] = None,
    in_process: Annotated[
        bool,
        typer.Option(
            "--in-process",
            help="Play the built-in bots inside the referee instead of each in a process of its own. Only here may "
            f"{' and '.join(builtin.MEASURING)} take part, which see what is hidden: they measure what that is worth.",
            rich_help_panel=PLAYERS,
        ),
    ] = False,
    preset: PresetOption = "family",
    players: Annotated[
        int | None,
        typer.Option(
            help=f"{PLAYERS_RANGE}; by default 4 for two contestants, else one for each.",
            show_default=False,
            rich_help_panel=TABLE,
        ),
    ] = None,
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
    blocks: Annotated[
        int,
        typer.Option(min=1, help="Blocks to play: the same deals in every rotation of the seats.", rich_help_panel=RUN),
    ] = DEFAULT_BLOCKS,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, help="Blocks played at the same time, each in a process. 1 by default.", rich_help_panel=RUN
        ),
    ] = None,
    dask: DaskOption = None,
    pin: PinOption = False,
    scale_tc: ScaleOption = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|-",
            help="The seed of the deals. Without it a fresh one that nobody can guess; one that is given can be read "
            "off the call by engines that mean to cheat, but for -, which reads it from standard input.",
            show_default=False,
            rich_help_panel=RUN,
        ),
    ] = None,
    on_fault: Annotated[
        str,
        typer.Option(
            metavar="|".join(FAULT_POLICIES),
            help=f"A player that fails is last, and {FALLBACK} finishes its game, or the game ends.",
            rich_help_panel=RUN,
        ),
    ] = FAULT_POLICIES[0],
    restart: Annotated[
        str,
        typer.Option(
            metavar="|".join(RESTARTS),
            help="Which engines are new processes in each game: foreign ones (auto), all (on), none (off; then one "
            "with a fault is out for the rest of the match).",
            rich_help_panel=RUN,
        ),
    ] = RESTARTS[0],
    crashed: Annotated[
        str,
        typer.Option(
            metavar="|".join(CRASHED),
            help=f"A game in which a player crashes is lost for it, or played again, {MOST_REPLAYS} times at most.",
            rich_help_panel=RUN,
        ),
    ] = CRASHED[0],
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit code 1 when there was any fault, and list them all.", rich_help_panel=RUN),
    ] = False,
    log: LogOption = None,
    sandbox: SandboxOption = False,
    share: ShareOption = None,
    max_memory: MemoryOption = None,
    max_processes: ProcessesOption = None,
    max_cpu: CpuOption = None,
    max_file: FileOption = None,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write settings, all results and standings there. - is standard output; what people read then goes to "
            "standard error.",
            rich_help_panel=RUN,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append the games there as blocks finish, as text that `caboose verify` checks.",
            rich_help_panel=RUN,
        ),
    ] = None,
) -> None:
    """Let bots play against each other and print the standings.

    docs/explanation/referee.md tells of time, names and faults, docs/reference/results.md of the keys of --json.

    Exit code 1: an engine does not start, the match does not end, or with --strict there was a fault; what was played
    is still printed and written. Where nobody reads the standings (`| head`), a match with --json, --record, --log or
    --strict goes on without them, and any other ends.
    """
    check_word("--on-fault", on_fault, FAULT_POLICIES)
    check_word("--restart", restart, RESTARTS)
    check_word("--crashed", crashed, CRASHED)
    if restart == "off" and crashed == "replayed":
        raise CallError("--restart off with --crashed replayed: expected one of them, as a replay needs a new process")
    entrants = make_entrants(bots or [], engine or [], name or [], measuring=in_process)
    options = parse_options(option or [])
    entries = make_entries(len(entrants), players)
    rules = make_rules(preset, len(entries), {"set": set, "rounds": rounds}, rule or [])
    launch = make_launch(
        sandbox,
        share or [],
        (json, record, log),
        memory=max_memory,
        processes=max_processes,
        cpu=max_cpu,
        file=max_file,
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
    given = None if scale_tc is None else parse_reference("--scale-tc", scale_tc)
    if given is not None and not control.timed:
        raise CallError("--scale-tc: no time limits the moves: expected --movetime, --tc, --round-cap or --game-cap")
    number = make_seed(seed)
    to_output = json == STANDARD_OUTPUT
    if record == STANDARD_OUTPUT:
        raise CallError("--record -: expected a file (--json - writes to standard output)")
    if json is not None and not to_output:
        check_writable("--json", json)
        if record is not None and json.resolve() == record.resolve():
            raise CallError(f"--json and --record are both {json}: expected two files")
    if dask is not None and log is not None:
        raise CallError("--log with --dask: expected one of them, as the workers would write the logs where they are")
    for option_name, place in (("--json", json), ("--record", record)):
        if log is not None and place is not None and place.resolve() == log.resolve():
            raise CallError(f"{option_name} and --log are both {log}: expected a file and a folder")
    make_folder("--log", log)
    expect_foreign(launch.sandbox for entrant in entrants if not entrant.builtin)
    workers = min(concurrency or 1, blocks)
    # Without any of these the standings are all that comes of it, and who does not read them (`| head`) wants no more.
    patient = strict or any(place is not None for place in (json, record, log))
    console = (PatientConsole if patient else Console)(highlight=False, stderr=to_output)
    unwritten, unread = "", False
    with ExitStack() as stack:
        games = stack.enter_context(open_games(record)) if record is not None else None
        shield = stack.enter_context(interruptible())
        plan = Plan(
            rules=rules,
            lineup=Lineup(meet(entrants, options, control, launch), entries),
            control=control,
            seed=number,
            on_fault=on_fault,
            restart=restart,
            crashed=crashed,
            in_process=in_process,
            recording=record is not None,
            launch=launch,
            logs=log,
        )
        executor: Executor
        errors = Console(stderr=True, highlight=False)
        reference = measure_speed() if given == HERE else None if given is None else float(given)
        if dask is not None:
            commands = [entrant.command for entrant in entrants if not entrant.builtin]
            executor = cluster = make_cluster(
                dask, commands, errors, sandbox=sandbox, most=concurrency, pin=pin, reference=reference
            )
            workers = cluster.width
        else:
            executor = make_local(workers, len(entries), errors, pin=pin, reference=reference)
        print_heading(console, plan, blocks)
        with MatchProgress(Console(stderr=True), blocks * len(entries)) as progress:
            result = play_match(plan, blocks, executor, progress, concurrency=workers, record=games)
        shield()
        rows = standings(result)
        if json is not None:
            try:
                if to_output:
                    sys.stdout.writelines(result_text(result, rows))
                    sys.stdout.flush()
                else:
                    write_result(result, rows, json)
            except BrokenPipeError:
                unread = True
                silence(sys.stdout)
            except OSError as error:
                unwritten = f"--json {json}: {cause(error)}"
        print_standings(console, result, rows, all_faults=strict, logged=log is not None)
    if unwritten:
        raise RunError(unwritten)
    if result.problem or unread or (strict and fault_lines(result)):
        raise typer.Exit(1)


def make_seed(text: str | None) -> int:
    """The seed that a call asks for: a number, - for one that is read from standard input, or none. Raises
    ``CallError``."""
    if text is None:
        return secrets.randbits(SEED_BITS)
    given = text
    if text == "-":
        given = "" if sys.stdin is None else sys.stdin.readline(MAX_SEED + 2).strip(BLANKS)
    if not (given.isascii() and given.isdigit() and len(given) <= MAX_SEED):
        where = "--seed -: standard input begins with" if text == "-" else "--seed"
        raise CallError(
            f"{where} {given[:40]!r}: expected a whole number of at least 0, of at most {MAX_SEED} digits, or - for "
            "one that is read from standard input"
        )
    return int(given)


def check_word(name: str, value: str, words: Sequence[str]) -> None:
    """Raises ``CallError`` for a value that is none of ``words``."""
    if value not in words:
        raise CallError(f"{name} {value}: expected {', '.join(words[:-1])} or {words[-1]}")


def check_writable(name: str, path: Path) -> None:
    """Raises ``CallError`` when a file cannot be written at ``path``."""
    try:
        path = path.resolve()
        if path.is_dir():
            raise CallError(f"{name} {path}: this is a folder, expected a file")
        if not path.parent.is_dir():
            raise CallError(f"{name} {path}: there is no folder {path.parent}")
        if path.exists() and not os.access(path, os.W_OK):
            raise CallError(f"{name} {path}: this file cannot be written to")
        if not path.exists() or path.is_file():
            # As the result is written: beside the file, then under its name.
            beside = temporary_beside(path)
            beside.touch(exist_ok=True)
            beside.unlink()
    except OSError as error:
        raise CallError(f"{name} {path}: {cause(error)}") from None


def open_games(path: Path) -> BinaryIO:
    """Opens a file for appending games. Raises ``CallError``."""
    check_writable("--record", path)
    try:
        return open_record(path)
    except OSError as error:
        raise CallError(f"--record {path}: {cause(error)}") from None
