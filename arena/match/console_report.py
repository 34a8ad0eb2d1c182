"""What people see of a match: its settings, its progress, its standings. Everything fits 80 columns."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from caboose.arena.blocks.block import FALLBACK, Plan
from caboose.arena.blocks.results import MatchResult
from caboose.arena.console.console import Console, Text, TextColumn, duration_text
from caboose.arena.match.standings import Interval, Scoreboard, Standing
from caboose.engine.rules.rules import CHOICES, Rules
from caboose.protocol.notation.lines import printable

MARK: Final = "!"  # of a margin that is no honest one
COMMAND: Final = 300  # characters of a command that are shown
FAULTS_SHOWN: Final = 5  # the JSON has them all
BUSY: Final = 1.2  # times the time on the clock: who uses more of a processor works in threads, or out of turn
LEAST_BUSY: Final = 1.0  # ms a move; below that the system's own work for a process counts


class MatchProgress:
    """A bar while a match runs, with the margin so far of the hero, or of the leader; nothing where there is no
    terminal."""

    def __init__(self, console: Console, games: int) -> None:
        # Once a second, so that one sees it live; more often would take time from players who are on the clock.
        self._progress = Progress(
            MofNCompleteColumn(),
            TextColumn("games"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("gone,"),
            TimeRemainingColumn(),
            TextColumn("left"),
            TextColumn("{task.fields[margin]}"),
            console=console,
            transient=True,
            refresh_per_second=1,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("games", total=games, margin="")
        self._reckoned = 0.0

    def game_over(self) -> None:
        """A game was played."""
        self._progress.advance(self._task)

    def block_over(self, board: Scoreboard) -> None:
        """A block was played and counted."""
        # Margins are reckoned from those of all blocks so far: not more often than they are shown.
        if not self._progress.disable and time.monotonic() - self._reckoned > 1:
            self._reckoned = time.monotonic()
            rows = board.standings()
            shown = rows[0] if len(rows) == 2 else max(rows, key=lambda row: row.margin.mean or 0.0)
            mark = f" {MARK}" if is_marked(shown) else ""
            self._progress.update(self._task, margin=f"{shown.label} {margin_text(shown.margin)}{mark}")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def print_heading(console: Console, plan: Plan, blocks: int) -> None:
    """Prints what is going to be played."""
    rules, lineup = plan.rules, plan.lineup
    labels = [contestant.label for contestant in lineup.contestants]
    copies = f"{labels[0]} against {lineup.players - 1} copies of {labels[1]}"
    games = f"{_counted(blocks, 'block')} of {lineup.players} rotations = {blocks * lineup.players} games"
    _say(console, copies if lineup.has_copies else ", ".join(labels), style="bold")
    for contestant in lineup.contestants:
        if not contestant.builtin:  # whatever it calls itself
            command = printable(shlex.join(contestant.command))
            _say(console, f"{contestant.label}: {command if len(command) <= COMMAND else command[:COMMAND] + '...'}")
    _say(console, table_text(rules))
    _say(console, f"{plan.control}; {games}")


def table_text(rules: Rules) -> str:
    """What is played, with all in which it differs from its preset."""
    rounds = "1 round" if rules.rounds == 1 else f"{rules.rounds} rounds"
    table = f"{rules.preset}, {rules.players} players, double-{rules.set}, {rules.hand} tiles, {rounds} a game"
    return ", ".join([table, *changed_options(rules)])


def changed_options(rules: Rules) -> list[str]:
    """The word-valued options and ``blank`` where ``rules`` differ from their preset, as ``name=value``."""
    usual = Rules.of(rules.preset, rules.players)
    values = {name: getattr(rules, name) for name in (*CHOICES, "blank")}
    return [f"{name}={value}" for name, value in values.items() if value != getattr(usual, name)]


def print_standings(
    console: Console,
    result: MatchResult,
    standings: Sequence[Standing],
    *,
    all_faults: bool = False,
    logged: bool = False,
) -> None:
    """Prints the table of a match and what its columns mean, with ``all_faults`` also every single fault. Where it was
    not ``logged``, who had faults is told how."""
    blocks = len(result.blocks)
    if result.problem:
        _say(console, f"{result.problem}: {blocks} of {_counted(result.asked, 'block')} played", style="bold")
    if blocks:
        console.print()
        console.print(standings_table(standings))
        console.print()
        fair = f"A fair share is {100 / len(result.entries):.1f} %." if len(result.entries) > 2 else ""
        _say(
            console,
            "Score and margin: pips a round. Margin: the others' mean less its own, more is better; "
            f"± 95 % (Student t, {_counted(blocks, 'block')}). {fair}",
        )
        for contestant in result.contestants:
            if contestant.measuring:
                _say(
                    console,
                    f"{contestant.label} is a measuring bot: it sees {contestant.measuring}. Its figures are no "
                    "honest play, and neither are those of who met it.",
                )
        _print_times(console, standings)
        _print_faults(console, result, standings, all_faults)
        if not logged and any(standing.faults for standing in standings):
            _say(console, "What engines said, also to standard error: --log FOLDER keeps it, `caboose log` shows it.")
    _say(console, f"Seed {result.seed}, {duration_text(result.seconds)}.")


def standings_table(standings: Sequence[Standing]) -> Table:
    """The standings, best margin first, and those with faults below."""
    marked = any(map(is_marked, standings))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("bot", no_wrap=True)
    for title in ("score", "rounds\nwon %", "games\nwon %", "margin\n± 95 %", "ms/move\nmean", "\nmax", "faults"):
        table.add_column(title, justify="right", no_wrap=True)
    for standing in sorted(standings, key=_by_margin):
        faults = sum(standing.faults.values())
        table.add_row(
            standing.label if standing.seats == 1 else f"{standing.label} x{standing.seats}",
            _number(standing.score, 1),
            _number(standing.rounds_won, 1, 100),
            _number(standing.games_won, 1, 100),
            _margin_cell(standing, marked),
            _number(standing.time_mean, 1),
            _number(standing.time_max, 0),
            Text(str(faults), style="bold red" if faults else ""),
        )
    return table


def is_marked(standing: Standing) -> bool:
    """Whether its figures do not come of honest play alone: it had faults, or got another try."""
    return bool(standing.faults or standing.replays)


def margin_text(margin: Interval) -> str:
    """A margin and its interval, such as ``+6.0 ± 1.5``."""
    if margin.mean is None:
        return "-"
    # Adding 0.0 turns the -0.0 that rounding may leave into 0.0.
    mean = f"{round(margin.mean, 1) + 0.0:+.1f}"
    return f"{mean} ± {margin.half:.1f}" if margin.half is not None else f"{mean} ± ?"


def fault_lines(result: MatchResult) -> list[str]:
    """Every fault of a match in a line of its own, also those for which a game was played again."""
    lines = []
    for block in result.blocks:
        for number, game in enumerate(block.games, 1):
            came = [(crash.seat, crash.fault, ", replayed") for crash in game.crashes]
            came += [(seat, fared.fault, "") for seat, fared in enumerate(game.result.seats) if fared.fault is not None]
            for seat, fault, what in came:
                label = result.contestants[result.entries[game.seating[seat]]].label
                where = f"block {block.block + 1}, game {number}, round {fault.round}, seat {seat + 1}{what}"
                lines.append(f"{label}: {fault.kind} ({where}): {fault.detail}")
    return lines


def _print_times(console: Console, standings: Sequence[Standing]) -> None:
    """Says who lived on the margin, and who worked more than it was on the clock."""
    for standing in standings:
        if standing.overruns:
            _say(
                console,
                f"{standing.label}: {_counted(standing.overruns, 'move')} came after the limit, but within the margin, "
                f"the worst by {standing.worst_overrun:.1f} ms.",
            )
        if standing.stops:
            _say(
                console,
                f"{standing.label}: signals stopped its process {_counted(standing.stops, 'time')} or more, and it was "
                "continued. They were its own or came from another program of this user.",
            )
        cpu, time = standing.cpu_mean, standing.time_mean
        if cpu is not None and time is not None and cpu > max(BUSY * time, LEAST_BUSY):
            _say(
                console,
                f"{standing.label} used {cpu:.1f} ms of processor time a move, but was on the clock for {time:.1f} ms: "
                "it works in several threads, or while others are asked.",
            )


def _print_faults(console: Console, result: MatchResult, standings: Sequence[Standing], everything: bool) -> None:
    """Says what faults there were and what they did to the numbers."""
    lines = fault_lines(result)
    if any(standing.faults for standing in standings):
        how = f"finished by {FALLBACK}" if result.on_fault == "fallback" else "forfeited"
        _say(
            console,
            f"A game with a fault ({how}) is lost for the bot at fault, its rounds count as the worst at the table; "
            "it does not count for the others.",
        )
    for standing in standings:
        if is_marked(standing):
            _say(console, f"{MARK} {_marked_words(standing)}")
    shown = lines if everything else lines[:FAULTS_SHOWN]
    for line in shown:
        _say(console, line, style="red")
    if len(lines) > len(shown):
        _say(
            console,
            f"... and {_counted(len(lines) - len(shown), 'more fault')} (--json FILE has them all)",
            style="red",
        )


def _marked_words(standing: Standing) -> str:
    """What is wrong with its figures."""
    label, lost, words = standing.label, sum(standing.faults.values()), []
    if lost:
        words.append(
            f"{label} lost {lost} of {_counted(standing.games, 'game')} by faults: its margin is no measure of how it "
            "plays, and it stands below those who had none."
        )
    if standing.replays:
        words.append(f"{label} crashed {_counted(standing.replays, 'time')} in games that were played again.")
    return " ".join(words)


def _by_margin(standing: Standing) -> tuple[bool, bool, float]:
    """Best margin first; below those who had faults, whom the fallback player may have helped; last who lost all its
    games by them. Who was left without a game by the faults of others stands above those."""
    faults = sum(standing.faults.values())
    margin = standing.margin.mean
    return faults > 0, 0 < standing.games == faults, float("inf") if margin is None else -margin


def _margin_cell(standing: Standing, marked: bool) -> Text:
    """The margin, with a mark or the room for one where anybody is ``marked``."""
    if is_marked(standing):
        return Text.assemble(margin_text(standing.margin), (f" {MARK}", "bold red"))
    return Text(margin_text(standing.margin) + ("  " if marked else ""), style=_margin_style(standing.margin))


def _margin_style(margin: Interval) -> str:
    """Coloured where the interval excludes 0."""
    if margin.mean is None or margin.half is None or abs(margin.mean) <= margin.half:
        return ""
    return "green" if margin.mean > 0 else "red"


def _number(value: float | None, digits: int, factor: float = 1) -> str:
    return "-" if value is None else f"{value * factor:.{digits}f}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(console: Console, text: str, style: str = "") -> None:
    """Prints ``text`` as it is: what it quotes may look like markup, and numbers are not to be coloured."""
    console.print(Text(text.strip(), style=style))
