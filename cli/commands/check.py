"""``caboose check``: whether an engine keeps to the protocol."""

from __future__ import annotations

import difflib
import shlex
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from caboose.arena import caboose_version
from caboose.arena.blocks.contestants import make_entrants
from caboose.arena.conformance.probe import CannotRunError, Probe
from caboose.arena.conformance.run import MARGIN, PATIENCE, START_TIMEOUT, STEPS, check_steps, find_steps
from caboose.arena.conformance.steps import FAILED, Report, Step
from caboose.arena.conformance.text import (
    group_line,
    heading_lines,
    like_lines,
    report_object,
    step_lines,
    summary_lines,
    told_results,
)
from caboose.arena.console.output import json_text, put_line
from caboose.arena.errors import CallError
from caboose.cli.options.files import output_errors
from caboose.cli.options.sandbox import (
    CpuOption,
    FileOption,
    MemoryOption,
    ProcessesOption,
    SandboxOption,
    ShareOption,
    make_launch,
    warn_superuser,
)
from caboose.protocol.notation.lines import MAX_LINE, shown


def check(
    command: Annotated[
        str | None,
        typer.Argument(
            metavar="COMMAND",
            help="The command line of an engine, quoted as one word: what has a blank or a slash in it is one. Or the "
            "name of a built-in bot.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this step, or all of a group, and show all that was said. May be repeated.",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the steps.")] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the engine, set at each start. May be repeated."),
    ] = None,
    start_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="How long the engine may take to start.")
    ] = START_TIMEOUT,
    patience: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0.1, max=600, help="How long an answer may take that no limit bounds."),
    ] = PATIENCE,
    margin: Annotated[
        float, typer.Option(metavar="MS", min=1, max=60_000, help="How late a move may come after its limit.")
    ] = MARGIN,
    sandbox: SandboxOption = False,
    share: ShareOption = None,
    max_memory: MemoryOption = None,
    max_processes: ProcessesOption = None,
    max_cpu: CpuOption = None,
    max_file: FileOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every step and all that was said.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check whether an engine keeps to the protocol, step by step.

    What fails is shown with what was sent, what came, and what docs/reference/protocol.md says of it.
    docs/guides/check.md tells more.

    Exit code 1: the engine failed a step. Exit code 2: there is no such program or step.
    """
    steps = _steps(step or [])
    every = verbose or bool(step)
    with output_errors("standard output"), tempfile.TemporaryDirectory() as folder:
        if list_:
            _print_list(steps)
            return
        if command is None:
            raise CallError("the engine is missing: expected its command line, or --list")
        (entrant,) = make_entrants([command], [])
        launch = make_launch(
            sandbox, share or [], [], memory=max_memory, processes=max_processes, cpu=max_cpu, file=max_file
        )
        if not entrant.builtin:
            warn_superuser([launch.sandbox])
        words = entrant.command
        stderr = Path(folder) / "stderr"
        wanted = _options(option or [])
        probe = Probe(
            words,
            wanted,
            start=start_timeout,
            patience=patience,
            margin=margin,
            stderr=stderr,
            launch=entrant.launch(launch),
        )
        flags = [f"--option={text}" for text in option or []] + ["--sandbox"] * sandbox
        flags += [f"--share={path}" for path in share or []]
        report = Report(command, flags)
        begin = time.monotonic()
        try:
            for result in check_steps(probe, steps, stderr):
                report.add(result, probe)
                if not json_:
                    _print_progress(report, steps, every=every)
        except CannotRunError as error:
            raise CallError(f"cannot run {shlex.join(words)}: {error}") from None
        seconds = time.monotonic() - begin
        if json_:
            print(json_text(report_object(report, seconds, caboose_version())), flush=True)
        else:
            _print_end(report, seconds, told=every)
    if report.count(FAILED):
        raise typer.Exit(1)


def _steps(names: Sequence[str]) -> list[Step]:
    """The steps that a call names; all without any. Raises ``CallError``."""
    try:
        return find_steps(names) if names else list(STEPS)
    except KeyError as error:
        name = error.args[0]
        close = difflib.get_close_matches(name, [step.name for step in STEPS], n=1)
        hint = f"did you mean {close[0]}?" if close else "`caboose check --list` shows them"
        raise CallError(f"--step {name}: there is no such step; {hint}") from None


def _options(texts: Sequence[str]) -> dict[str, str]:
    """The options that a call sets. Raises ``CallError``."""
    options: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not text.isascii() or not text.isprintable() or len(text) > MAX_LINE // 2:
            raise CallError(f"--option {shown(text)}: expected NAME=VALUE in printable ASCII, such as Seed=5")
        if name in options:
            raise CallError(f"--option {shown(text)}: {name} is given twice")
        options[name] = value
    return options


# --- printing ----------------------------------------------------------------------------------------------------


def _print_list(steps: Sequence[Step]) -> None:
    for step in steps:
        put_line(f"{step.name:<21} {step.what}{'' if step.must else ' (advice)'}")


def _print_progress(report: Report, steps: Sequence[Step], *, every: bool) -> None:
    """Prints what the last result makes ready: itself, or its group when that is complete."""
    results = report.results
    last = results[-1]
    if every:
        _print_lines(step_lines(report, last, whole=True))
    elif len(results) == len(steps) or steps[len(results)].group != last.step.group:
        if len({result.step.group for result in results}) == 1:
            _print_lines(heading_lines(report))
        put_line(group_line([result for result in results if result.step.group == last.step.group]), flush=True)


def _print_end(report: Report, seconds: float, *, told: bool) -> None:
    if not told:
        for result, others in told_results(report):
            put_line()
            _print_lines(step_lines(report, result))
            _print_lines(like_lines(others))
        put_line()
    _print_lines(summary_lines(report, seconds))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        put_line(line, flush=True)
