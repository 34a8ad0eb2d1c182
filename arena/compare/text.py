"""How a comparison ended, for people, who may paste it where they say what they changed, and as values for JSON."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import Any, Final

from caboose.arena.blocks.recorder import MOST_TEXT
from caboose.arena.compare.progress import NAMES, alike_text, gain_text
from caboose.arena.compare.run import Verdict
from caboose.arena.config.engine_spec import EngineSpec
from caboose.arena.console.console import duration_text
from caboose.arena.ladder.store import Entry
from caboose.arena.match.console_report import table_text
from caboose.arena.stats.sprt import CONTINUE, FEWEST, H1
from caboose.protocol.notation.lines import printable

FORMAT: Final = "caboose compare"
FORMAT_VERSION: Final = 1
WHO: Final = ("A", "B", "pool")
PAIRS: Final = ("won", "tied", "lost")


def summary(found: Verdict, call: str) -> list[str]:
    """The lines that tell people what was tested and how it ended; ``call`` is the command line."""
    comparison, tally, test = found.comparison, found.tally, found.comparison.bounds
    one, other = comparison.one.name, comparison.other.name
    low, high = test.bounds
    unit = NAMES[test.unit]
    rows = [("H0, H1", f"{test.low:g}, {test.high:g} {unit}; alpha {test.alpha:g}, beta {test.beta:g}")]
    missing = "" if found.to_go is None else f"; about {found.to_go:,.0f} blocks more would tell"
    rows.append(("LLR", f"{found.llr:+.2f} ({low:+.2f}, {high:+.2f}){missing}"))
    if found.verdict == CONTINUE and tally.blocks:
        if alike := alike_text(found.state, test.unit):
            rows.append(("Even", alike))
        elif found.state.changes < FEWEST:
            rows.append(
                ("Differ", f"{_many(found.state.changes, 'block')} from the one before; a verdict needs {FEWEST}")
            )
    rows.append(("Played", f"{_many(tally.blocks, 'block')}, {_many(tally.games, 'game')}, {_faults(found)}"))
    for spec, fault in zip(comparison.engines, found.faults, strict=False):
        if fault is not None:
            rows.append(("Fault", printable(f"{spec.name}: {fault.kind}: {fault.detail}")))
    elo = (found.gain, "nelo") if test.unit == "nelo" else (found.elo, "elo")
    # With a pool the ratings of standings follow from the games against it, too, and are another number.
    alone = "" if comparison.pool is None or test.unit == "nelo" else " (pairs of A and B alone)"
    rows.append(("Gain", f"{gain_text(found.pips, 'pips')}; {gain_text(*elo)}{alone}"))
    pairs = sum(tally.pairs)
    if pairs:
        won, tied, lost = (f"{count:,} {how}" for count, how in zip(tally.pairs, PAIRS, strict=True))
        rows.append(("Pairs", f"{won}, {tied}, {lost} by seats of {one} against seats of {other}"))
        first = [f"{name} {share / tally.clean:.1%}" for name, share in zip((one, other), tally.first, strict=True)]
        rows.append(("First", ", ".join(first)))
    for who, spec, entry in zip(WHO, comparison.engines, found.entries, strict=False):
        rows.append((who.capitalize(), printable(_engine(spec, entry), most=MOST_TEXT)))
    rows.append(("Table", table_text(comparison.rules)))
    rows.append(("Time", f"{comparison.control}; {duration_text(found.seconds)} this time"))
    rows.append(("Seed", str(comparison.seed)))
    rows.append(("Call", printable(call)))
    return [_headline(found), *[f"{name:<11}{text}" for name, text in rows]]


def _headline(found: Verdict) -> str:
    one, other = found.comparison.one.name, found.comparison.other.name
    test = found.comparison.bounds
    if found.verdict == CONTINUE:
        return f"{one} against {other}: undecided ({found.why})"
    level = test.high if found.verdict == H1 else test.low
    return f"{one} against {other}: {found.verdict} accepted ({level:g} {NAMES[test.unit]})"


def verdict_data(found: Verdict, call: str) -> dict[str, Any]:
    """The same, and more, as values for JSON."""
    comparison, tally, test = found.comparison, found.tally, found.comparison.bounds
    low, high = test.bounds
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "verdict": None if found.verdict == CONTINUE else found.verdict,
        "why": found.why or None,
        "unit": test.unit,
        "h0": test.low,
        "h1": test.high,
        "alpha": test.alpha,
        "beta": test.beta,
        "llr": found.llr,
        "bounds": [low, high],
        "blocks": tally.blocks,
        "changes": found.state.changes,
        "games": tally.games,
        "to_go": found.to_go,
        "gain": asdict(found.gain),
        "pips": asdict(found.pips),
        "elo": asdict(found.elo),
        "pairs": dict(zip(PAIRS, tally.pairs, strict=True)),
        "clean_games": tally.clean,
        "engines": [
            {
                "role": who,
                "label": spec.name,
                "builtin": spec.builtin,
                "command": [] if spec.builtin else list(spec.command),
                "options": dict(spec.options),
                "engine": entry.engine,
                "version": entry.version,
                "hash": json.loads(entry.identity)["hash"],
                "faults": faults,
                "first_fault": None if first is None else {"kind": first.kind, "detail": first.detail},
            }
            for who, spec, entry, faults, first in zip(
                WHO, comparison.engines, found.entries, tally.faults, found.faults, strict=False
            )
        ],
        "games_won": [share / tally.clean if tally.clean else None for share in tally.first],
        "rules": str(comparison.rules),
        "control": str(comparison.control),
        "seed": str(comparison.seed),
        "max_blocks": comparison.most,
        "seconds": round(found.seconds, 3),
        "call": call,
    }


def _engine(spec: EngineSpec, entry: Entry) -> str:
    about = spec.builtin or f"{entry.engine} {shlex.join(spec.command)}".strip()
    options = "".join(f" {name}={value}" for name, value in spec.options)
    version = f" {entry.version}" if entry.version else ""
    return f"{spec.name}: {about}{version}{options} [{json.loads(entry.identity)['hash']}]"


def _faults(found: Verdict) -> str:
    tally = found.tally
    if not any(tally.faults):
        return "no faults"
    named = zip(found.comparison.engines, tally.faults, strict=False)
    return "faults: " + ", ".join(f"{spec.name} {count:,}" for spec, count in named if count)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
