"""Runs the benchmarks, compares them with a saved run, and compares the playouts with the yardstick.

``make benchmarks``, ``make compare`` and ``make yardstick`` call this. Saved runs are those of pytest-benchmark, under
``.benchmarks``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final, NoReturn

from pytest_benchmark.utils import get_machine_id
from rich.table import Table

from caboose.arena.console.console import Console, Text
from grid import ROOT, build_flags, write_whole
from sitting import MORE_THREADS, Ratio, TableResult, is_native, sit

MACHINE: Final = str(get_machine_id())  # type: ignore[no-untyped-call]
STORAGE: Final = ROOT / ".benchmarks"
NOTICEABLE: Final = 0.1  # a change of speed that is marked
PASSES: Final = 5
OPTIONS: Final = (
    "--benchmark-max-time=0.05",
    "--benchmark-min-rounds=3",
    "--benchmark-disable-gc",
    "--benchmark-quiet",
)


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a benchmark was: ``unit`` per second in its fastest call, as the others were held up by something."""

    per_second: float
    unit: str


@dataclass(frozen=True, slots=True)
class SavedRun:
    """The rates of a run by the names of the benchmarks, and what the file says about where they come from."""

    name: str
    commit: str
    flags: str
    rates: dict[str, Rate]


# --- runs ---------------------------------------------------------------------------------------------------------


def read_run(path: Path) -> SavedRun:
    """The run in a file of pytest-benchmark. Raises ``ValueError`` for one that is something else."""
    try:
        return run_of(path.name.partition("_")[0], json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{path} is not a saved run of these benchmarks ({type(error).__name__}: {error})") from None


def run_of(name: str, data: Mapping[str, Any]) -> SavedRun:
    """The run that pytest-benchmark tells about in ``data``."""
    commit = data["commit_info"]["id"][:9] + ("+" if data["commit_info"]["dirty"] else "")
    rates = {}
    flags = ""
    for entry in data["benchmarks"]:
        info = entry["extra_info"]
        rates[entry["name"].removeprefix("test_")] = Rate(info["count"] / entry["stats"]["min"], info["unit"])
        flags = info["flags"]
    return SavedRun(name, commit, flags, rates)


def saved_files() -> list[Path]:
    """The saved runs of this kind of machine and Python, the oldest first."""
    return sorted((STORAGE / MACHINE).glob("[0-9][0-9][0-9][0-9]_*.json"))


def saved_file(number: str) -> Path:
    """The saved run of a number such as 0003 or 3, or the latest one of ``latest``. Raises ``ValueError``."""
    files = {path.name.partition("_")[0]: path for path in saved_files()}
    if not files:
        raise ValueError("there is no saved run to compare with: make benchmarks")
    if number == "latest":
        return files[max(files)]
    if number.zfill(4) not in files:
        raise ValueError(f"there is no saved run {number}: expected latest or one of {', '.join(files)}")
    return files[number.zfill(4)]


def measure() -> dict[str, Any]:
    """Runs all benchmarks, and returns what pytest-benchmark says. Exits with 1 when one of them fails.

    They run in several passes, of which the fastest counts for each: what slows a machine down lasts for seconds, and
    hardly ever for all passes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pass.json"
        command = [sys.executable, "-P", "-m", "pytest", "-q", "benchmarks", *OPTIONS, f"--benchmark-json={path}"]
        merged: dict[str, Any] = {}
        for _ in range(PASSES):
            if subprocess.run(command, cwd=ROOT, check=False).returncode:
                sys.exit(1)
            data = json.loads(path.read_text(encoding="utf-8"))
            merged = merged or data
            pairs = zip(merged["benchmarks"], data["benchmarks"], strict=True)
            merged["benchmarks"] = [min(pair, key=lambda entry: float(entry["stats"]["min"])) for pair in pairs]
    return merged


def keep(data: Mapping[str, Any]) -> Path:
    """Saves a run under the next number, where and as pytest-benchmark does."""
    folder = STORAGE / MACHINE
    folder.mkdir(parents=True, exist_ok=True)
    number = max((int(path.name.partition("_")[0]) for path in saved_files()), default=0) + 1
    path = folder / f"{number:04}_{data['commit_info']['id']}.json"
    write_whole(path, json.dumps(data, indent=1) + "\n")
    return path


# --- tables -------------------------------------------------------------------------------------------------------


def per_second(value: float) -> str:
    """A rate in three digits, such as 95.1 k."""
    for scale, letter in ((1e6, " M"), (1e3, " k")):
        if value >= scale:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"


def build_name(flags: str) -> str:
    """A build in a word or two."""
    return "native" if "-march=native" in flags else "portable" if flags else "unknown"


def plain_table(title: str, *columns: str) -> Table:
    """A table without lines; ``columns`` after the first stand to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", vertical="bottom", no_wrap=number == 0)
    return table


def rates_table(run: SavedRun) -> Table:
    """What a run found."""
    table = plain_table(f"Run {run.name}, {run.commit}, {build_name(run.flags)} build", "benchmark", "per second", "")
    for name, rate in run.rates.items():
        table.add_row(Text(name), per_second(rate.per_second), rate.unit)
    return table


def comparison_table(now: SavedRun, saved: SavedRun) -> Table:
    """The ratios of two runs."""
    title = (
        f"Now ({build_name(now.flags)} build) and run {saved.name} ({saved.commit}, {build_name(saved.flags)} build)"
    )
    table = plain_table(title, "benchmark, per second", "now", saved.name, "ratio", "")
    for name, rate in now.rates.items():
        before = saved.rates.get(name)
        if before is None:
            table.add_row(Text(name), per_second(rate.per_second), "-", "-", "new")
            continue
        ratio = rate.per_second / before.per_second
        mark = "faster" if ratio > 1 + NOTICEABLE else "slower" if ratio < 1 - NOTICEABLE else ""
        table.add_row(Text(name), per_second(rate.per_second), per_second(before.per_second), f"{ratio:.2f}", mark)
    return table


def yardstick_tables(results: Sequence[TableResult]) -> Iterator[Table]:
    """Ours against the yardstick, then what else was measured."""
    same = build_name(build_flags())
    columns = ["", "ours", f"{same}\nyardstick", "ours to it\n"]
    if not is_native():
        columns += ["native\nyardstick", "ours to it\n"]
    table = plain_table("Random rounds a second, one core, the deal included", *columns)
    for result in results:
        row = [result.name, *(f"{median(result.rates(what)):,.0f}" for what in ("ours", "same"))]
        row.append(str(result.ratio("ours", "same")))
        if not is_native():
            row += [f"{median(result.rates('native')):,.0f}", str(result.ratio("ours", "native"))]
        table.add_row(*row)
    yield table
    columns = [
        "",
        "ns a play\nours",
        "\nyardstick",
        "rounds a second\nplanner to random",
        f"\n{MORE_THREADS} threads to 1",
    ]
    table = plain_table("One play, and other runs of ours", *columns)
    for result in results:
        costs = [f"{median(result.costs(what)):.1f}" for what in ("ours", "same")]
        table.add_row(result.name, *costs, str(result.ratio("planner", "ours")), str(result.gain("threads", "ours")))
    yield table


def growth(results: Sequence[TableResult], what: str) -> Ratio:
    """By how much a play costs more at the largest table than at the smallest."""
    return Ratio.of(results[-1].costs(what), results[0].costs(what))


# --- the program --------------------------------------------------------------------------------------------------


def show_yardstick(console: Console, runs: int, seconds: float) -> dict[str, Any]:
    """Sits with the yardstick and shows what came of it; returns the same as plain data."""
    with console.status("") as status:
        results = sit(runs, seconds, status.update)
    for table in yardstick_tables(results):
        console.print(table)
        console.print()
    small, large = results[0].name, results[-1].name
    ours, theirs = growth(results, "ours"), growth(results, "same")
    console.print(f"A play costs {ours} times as much at {large} as at {small} (yardstick: {theirs}).")
    console.print(
        f"Tables are set/players/hand. Medians of {runs} runs in turn, {seconds:g} s each; in brackets the extremes."
    )
    if is_native():
        console.print("Both are built for this machine's processor.")
    else:
        console.print(
            "This is the portable build. A fair comparison with the native yardstick is that of a native build: "
            "CABOOSE_NATIVE=1 make yardstick."
        )
    return {
        "build": build_flags(),
        "seconds": seconds,
        "growth": {"ours": asdict(ours), "yardstick": asdict(theirs)},
        "tables": [asdict(result) for result in results],
        "ratios": {
            result.name: {
                "ours to the yardstick of the same flags": asdict(result.ratio("ours", "same")),
                "ours to the native yardstick": asdict(result.ratio("ours", "native")),
                "planner to random": asdict(result.ratio("planner", "ours")),
                f"{MORE_THREADS} threads to one": asdict(result.gain("threads", "ours")),
            }
            for result in results
        },
    }


def parse_call(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line. Exits with 2 when it is wrong."""
    parser = argparse.ArgumentParser(prog="compare.py", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("save", help="run the benchmarks, save the run and show it")
    compare = commands.add_parser("compare", help="run the benchmarks, compare with a saved run and with the yardstick")
    compare.add_argument("--run", default="latest", help="the saved run, such as 0003 (default: the latest)")
    yardstick = commands.add_parser("yardstick", help="compare the playouts with the yardstick")
    for command in (compare, yardstick):
        command.add_argument("--runs", type=int, default=11, help="of ours and the yardstick, in turn (default: 11)")
        command.add_argument("--seconds", type=float, default=0.3, help="of each of them (default: 0.3)")
        command.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE, too")
    call = parser.parse_args(arguments)
    if call.command != "save" and (call.runs < 1 or not 0.01 <= call.seconds <= 60):
        parser.error("--runs and --seconds: expected at least one run, of 0.01 to 60 seconds")
    return call


def main(arguments: Sequence[str] | None = None) -> None:
    """Does what the command line says. Exits with 2 for a wrong one, with 1 when a benchmark fails."""
    call = parse_call(arguments)
    console = Console(highlight=False)
    try:
        if call.command == "save":
            console.print(rates_table(read_run(keep(measure()))))
            return
        figures: dict[str, Any] = {}
        if call.command == "compare":
            saved = read_run(saved_file(call.run))
            now = run_of("now", measure())
            console.print(comparison_table(now, saved))
            console.print(
                f"Of the fastest calls in {PASSES} passes. On a busy machine a single difference may be chance.\n"
            )
            figures["benchmarks"] = {"now": asdict(now), "saved": asdict(saved)}
        figures["yardstick"] = show_yardstick(console, call.runs, call.seconds)
        if call.json is not None:
            call.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="ascii")
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        _refuse(str(error))


def _refuse(why: str) -> NoReturn:
    print(f"compare.py: {why}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("compare: interrupted")
