"""Counts the instructions of the core's work under callgrind: ``python benchmarks/perf/instructions.py``.

Counts do not depend on what else a machine does, but on the compiler, its flags and Python: those of each build are
kept in ``instructions.tsv``, and a build is compared with its own counts only. Exit codes: 0 nothing grew by more than
3 % (or there is nothing to compare with), 1 something did, 2 a wrong call, or counting is not possible here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table

import counted
from caboose.arena.console.console import Console
from caboose.engine.measure import measure
from counted import MARK, MARKS, WORKLOADS
from grid import write_whole

COUNTS: Final = Path(__file__).with_name("instructions.tsv")
COLUMNS: Final = ("workload", "unit", "instructions", "build")
TOLERANCE: Final = 0.03
TIMEOUT: Final = 600.0  # seconds
FLAGS: Final = Path(__file__).parents[2] / f"build/flags-{sys.implementation.cache_tag}"  # setup.py writes it
PRODUCERS: Final = (("clang", rb"clang version (\d+)"), ("gcc", rb"GCC: \([^)]*\) (\d+)"))
# The C library chooses its memcpy by the processor: without these, it takes the one that every x86-64 has.
PROCESSOR: Final = "glibc.cpu.hwcaps=" + ",".join(
    f"-{name}" for name in ("AVX512VL", "AVX512F", "AVX2", "AVX2_Usable", "AVX", "ERMS", "FSRM", "SSSE3")
)

Counts = Mapping[tuple[str, str], float]  # instructions for a unit, by build and workload


class CountError(Exception):
    """Counting is not possible here, or the kept counts cannot be read."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A workload's count beside the kept one, if there is one."""

    name: str
    instructions: float
    kept: float | None

    @property
    def growth(self) -> float | None:
        """What came on top, as a share of the kept count."""
        return None if self.kept is None else self.instructions / self.kept - 1

    @property
    def verdict(self) -> str:
        """``same``, ``grown``, ``fallen`` or ``new``."""
        if self.growth is None:
            return "new"
        if abs(self.growth) <= TOLERANCE:
            return "same"
        return "grown" if self.growth > 0 else "fallen"


def build_name() -> str:
    """All that counts depend on, besides the code: processor, compiler, Python, flags. Raises ``CountError``."""
    code = Path(measure.__file__).read_bytes()
    found = ((name, re.search(pattern, code)) for name, pattern in PRODUCERS)
    compiler = next((f"{name} {match[1].decode()}" for name, match in found if match), "unknown compiler")
    if not FLAGS.exists():
        raise CountError(f"{FLAGS} is not there, so the flags of this build are unknown: build by make .venv/ready")
    flags = [flag for flag in sysconfig.get_config_var("CFLAGS").split() if re.match(r"-[Ofm](?!.*prefix-map)", flag)]
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return ", ".join((platform.machine(), compiler, python, " ".join([*flags, FLAGS.read_text(encoding="utf-8")])))


def count_side_by_side(names: Sequence[str]) -> dict[str, float]:
    """As ``count_instructions``, in as many runs at the same time as there are cores, or workloads."""
    parts = min(len(names), os.cpu_count() or 1)
    with ThreadPoolExecutor(parts) as pool:
        counts = pool.map(count_instructions, [names[part::parts] for part in range(parts)])
        return {name: count for part in counts for name, count in part.items()}


def count_instructions(names: Iterable[str]) -> dict[str, float]:
    """Instructions for a unit of each workload, all in one run under callgrind. Raises ``CountError``."""
    names = list(names)
    if shutil.which("valgrind") is None:
        raise CountError("valgrind is not here, and nothing else counts instructions (Debian: apt install valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={folder}/out"]
        command += [f"--log-file={folder}/log", sys.executable, "-P", counted.__file__, *names]
        environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0", "GLIBC_TUNABLES": PROCESSOR}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            raise CountError(f"the workloads did not end within {TIMEOUT:.0f} s under valgrind") from None
        if done.returncode == -signal.SIGILL:
            raise CountError(
                "this valgrind does not know an instruction of this build, which may be one for this processor alone: "
                "count a portable one, without CABOOSE_NATIVE"
            )
        if done.returncode != 0:
            log = Path(folder, "log")
            said = (done.stderr.strip() or (log.read_text(errors="replace") if log.exists() else "")).splitlines()
            raise CountError(f"the workloads failed under valgrind, exit code {done.returncode}: {' '.join(said[-1:])}")
        return dict(zip(names, per_unit(Path(folder), done.stdout.splitlines()), strict=True))


def per_unit(folder: Path, lines: list[str]) -> Iterable[float]:
    """Instructions for a unit of each workload, from what callgrind and ``counted.py`` wrote."""
    for number, line in enumerate(lines):
        name, few, many = line.split()
        first, last = (counted_until(folder / f"out.{MARKS * number + mark}") for mark in (2, 3))
        if int(many) <= int(few):
            raise CountError(f"{name}: {many} units are no more than {few}, so there is nothing to count")
        yield (last - first) / (int(many) - int(few))


def counted_until(path: Path) -> int:
    """The instructions between the mark that wrote ``path`` and the one before."""
    match = re.search(r"^summary: (\d+)$", path.read_text(errors="replace"), re.MULTILINE) if path.exists() else None
    if match is None:
        raise CountError(f"callgrind wrote no count at a call of {MARK}: this C library may have another name for it")
    return int(match[1])


def read_counts(path: Path) -> dict[tuple[str, str], float]:
    """The kept counts; none where there is no file. Raises ``CountError``."""
    if not path.exists():
        return {}
    counts: dict[tuple[str, str], float] = {}
    try:
        heading, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise CountError(f"{path}: {error}") from None
    if tuple(heading.split("\t")) != COLUMNS:
        raise CountError(f"{path}, line 1: expected the columns {', '.join(COLUMNS)}, separated by tabs")
    for number, line in enumerate(lines, 2):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            raise CountError(f"{path}, line {number}: {len(fields)} fields, expected {len(COLUMNS)} separated by tabs")
        name, _, text, build = fields
        if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) == 0:
            raise CountError(f"{path}, line {number}: {text!r} instructions: expected a number above 0")
        if (build, name) in counts:
            raise CountError(f"{path}, line {number}: a second count of {name} for this build")
        counts[build, name] = float(text)
    return counts


def write_counts(path: Path, counts: Counts) -> None:
    """Keeps counts of the workloads that there still are, ordered by build."""
    places = {name: place for place, name in enumerate(WORKLOADS)}
    rows = sorted((build, places[name], name) for build, name in counts if name in places)
    lines = [COLUMNS, *((name, WORKLOADS[name].unit, f"{counts[build, name]:.1f}", build) for build, _, name in rows)]
    write_whole(path, "".join("\t".join(line) + "\n" for line in lines))


def show(comparisons: Iterable[Comparison], console: Console) -> None:
    """A table of all counts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("workload", no_wrap=True)
    for column in ("kept", "instructions"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("a", no_wrap=True)
    table.add_column("growth", justify="right", no_wrap=True)
    table.add_column("")
    for row in comparisons:
        kept = "" if row.kept is None else f"{row.kept:,.1f}"
        growth = "" if row.growth is None else f"{row.growth:+.2%}"
        verdict = "" if row.verdict == "same" else row.verdict
        style = {"grown": "red", "fallen": "green"}.get(row.verdict)
        unit = WORKLOADS[row.name].unit
        table.add_row(row.name, kept, f"{row.instructions:,.1f}", unit, growth, verdict, style=style)
    console.print(table)


def json_text(build: str, comparisons: Iterable[Comparison]) -> str:
    """All counts for other programs."""
    workloads = {
        row.name: {
            "unit": WORKLOADS[row.name].unit,
            "kept": row.kept,
            "instructions": round(row.instructions, 1),
            "growth": row.growth,
            "verdict": row.verdict,
        }
        for row in comparisons
    }
    return json.dumps({"build": build, "workloads": workloads}, indent=1) + "\n"


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """What the call says."""
    parser = argparse.ArgumentParser(description="Count the instructions of the core's work under callgrind.")
    parser.add_argument("names", nargs="*", metavar="WORKLOAD", help=f"all without; of {', '.join(WORKLOADS)}")
    parser.add_argument("--update", action="store_true", help=f"keep the counts of this build in {COUNTS.name}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the comparison there too")
    call = parser.parse_args(argv)
    for name in call.names:
        if name not in WORKLOADS:
            parser.error(f"unknown workload {name!r}: expected some of {', '.join(WORKLOADS)}")
    return call


def run(call: argparse.Namespace) -> int:
    """Counts, compares, shows and returns the exit code 0 or 1. Raises ``CountError`` or ``OSError``."""
    names = list(dict.fromkeys(call.names)) or list(WORKLOADS)
    console = Console(highlight=False, markup=False)
    build = build_name()
    counts = read_counts(COUNTS)
    found = count_side_by_side(names)
    rows = [Comparison(name, found[name], counts.get((build, name))) for name in names]
    if call.json:
        call.json.write_text(json_text(build, rows), encoding="utf-8")
    if call.update:
        write_counts(COUNTS, {**counts, **{(build, name): found[name] for name in names}})
    console.print(f"Build: {build}\n")
    show(rows, console)
    console.print()
    verdicts = {row.verdict for row in rows}
    if call.update:
        console.print(f"Kept in {COUNTS.name}.")
        return 0
    if verdicts == {"new"}:
        console.print("No counts of this build are kept, so nothing was compared.")
    elif "new" in verdicts:
        console.print("There were no kept counts to compare the new ones with.")
    if "fallen" in verdicts:
        console.print(f"Some fell by more than {TOLERANCE:.0%}: keep the gain.")
    if "grown" in verdicts:
        console.print(f"Some grew by more than {TOLERANCE:.0%}. If it is worth that, say why in the commit.")
    if verdicts != {"same"}:
        console.print("To keep these counts: make update-instructions")
    return 1 if "grown" in verdicts else 0


def main(argv: list[str] | None = None) -> int:
    """Does what the call says and returns the exit code."""
    call = arguments(argv)
    try:
        return run(call)
    except (CountError, OSError) as error:
        print(f"instructions: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("instructions: interrupted")
