"""An analysis as people read it: tables that fit 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, Progress, TimeRemainingColumn
from rich.table import Table

from caboose.arena.analysis.analysis import Beliefs, Choice, Decided, Hidden, Ranked, SeatSummary, Tick
from caboose.arena.console.console import Console, Text, TextColumn

_LIKELY: Final = 3  # tiles of a hand that are named
_PARTS: Final = 2  # kinds of drawn tiles of which is told what is proved
_NAME: Final = 14  # characters of a name
_SCORE_WORDS: Final = "Score: pips below the others' mean at the end of the round. Win: nobody has fewer."
_COST_WORDS: Final = "Cost: how much worse than the best, in pips, of which winning the round counts 10."


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Tick]:
    """A bar on standard error, where that is a terminal; gives what advances it. ``total`` is None if unknown."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


# -------------------------------------------------------------------------------------------- one position


def print_choice(console: Console, choice: Choice, top: int) -> None:
    """Prints the ``top`` moves, and the one that was played."""
    if choice.moves == 1:
        say(console, f"{choice.best.move} is the only legal move.")
        return
    if choice.nodes == 0:
        say(console, f"No playout: each world takes {choice.moves}, one for each move; give more time or nodes.")
        return
    table = _table("move", "score ± 95 %", "win %", "visits", "share", "cost ± 95 %", "")
    listed = [ranked for at, ranked in enumerate(choice.candidates) if at < top or ranked.move == choice.played]
    for ranked in listed:
        best, played = ranked.move == choice.best.move, ranked.move == choice.played
        table.add_row(
            str(ranked.move),
            _with_error(ranked.score, ranked.error, signed=True),
            "" if ranked.win is None else f"{100 * ranked.win:.1f}",
            f"{ranked.visits:,}",
            f"{100 * ranked.share:.0f} %",
            "best" if best else _with_error(ranked.cost, ranked.cost_error),
            "played" if played else "",
            style="bold" if best else "",
        )
    console.print(table)
    left = choice.moves - len(listed)
    end = f" {left} other {'move' if left == 1 else 'moves'} not shown." if left else ""
    say(console, f"{_SCORE_WORDS} {_COST_WORDS}{end}")
    if choice.taken is not None and choice.played != choice.best.move:
        say(console, f"{choice.played} was played: {_verdict(choice.taken)}.")
    say(console, f"{choice.nodes:,} playouts, {choice.seconds:.1f} s.")


def _verdict(taken: Ranked) -> str:
    if taken.cost is None or taken.cost_error is None:
        return "what it costs is not known yet"
    if taken.cost > taken.cost_error:
        return f"a mistake, which costs {taken.cost:.1f} ± {taken.cost_error:.1f} pips"
    return "no mistake for sure; more playouts would tell more"


def print_beliefs(console: Console, beliefs: Beliefs, names: Sequence[str]) -> None:
    """Prints what is known of each hand and of the boneyard."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("hand of", no_wrap=True)
    table.add_column("tiles", justify="right", no_wrap=True)
    table.add_column("pips", justify="right", no_wrap=True)
    table.add_column("most likely, %", no_wrap=True)
    table.add_column("proved: it has")
    for hidden in beliefs.hidden:
        name = Text("(boneyard)") if hidden.seat is None else seat_text(hidden.seat, names)
        table.add_row(name, str(hidden.tiles), f"{hidden.pips:.1f}", _likely(hidden), _proved(hidden))
    console.print(table)


def _likely(hidden: Hidden) -> str:
    shares = [share for _, share in hidden.likely]
    if not shares or hidden.tiles == 0:
        return ""
    if shares[0] - shares[-1] < 1e-9:
        return f"any of {len(shares)} tiles, {_percent(shares[0])} each"
    return "  ".join(f"{tile} {_percent(share)}" for tile, share in hidden.likely[:_LIKELY])


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _proved(hidden: Hidden) -> str:
    """What is proved of the whole hand, then of its dealt tiles and of those drawn since."""
    words = [_no(hidden.without)] if hidden.without else []
    drawn = Counter[tuple[int, ...]]()
    for cohort in hidden.cohorts:
        more = tuple(pips for pips in cohort.without if pips not in hidden.without)
        if more and cohort.event is None:
            words.append(f"dealt ones {_no(more)}")
        elif more:
            drawn[more] += cohort.most
    words += [f"{count} drawn {_no(more)}" for more, count in drawn.most_common(_PARTS)]
    return "; ".join(words) + (" ..." if len(drawn) > _PARTS else "")


def _no(without: Sequence[int]) -> str:
    return "no " + " ".join(map(str, without))


# -------------------------------------------------------------------------------------------------- a game


def print_mistakes(console: Console, decided: Sequence[Decided], names: Sequence[str], top: int) -> None:
    """Prints the ``top`` costliest mistakes."""
    mistakes = sorted((entry for entry in decided if entry.choice.mistake), key=_by_cost)
    if not mistakes:
        say(console, "No move that is a mistake for sure.")
        return
    console.print(_decided_table(mistakes[:top], names))
    if len(mistakes) > top:
        say(console, f"{len(mistakes) - top} smaller ones not shown.")


def print_all(console: Console, decided: Sequence[Decided], names: Sequence[str]) -> None:
    """Prints every choice in the order of the game, mistakes marked."""
    console.print(_decided_table(decided, names))


def _by_cost(entry: Decided) -> float:
    taken = entry.choice.taken
    return 0.0 if taken is None else -(taken.cost or 0.0)


def _decided_table(decided: Sequence[Decided], names: Sequence[str]) -> Table:
    table = _table("round", "event", "seat", "played", "best", "moves", "cost ± 95 %", "")
    for column in table.columns[2:5]:
        column.justify = "left"
    table.columns[0].justify = "right"
    for entry in decided:
        choice, taken = entry.choice, entry.choice.taken
        agreed = choice.played == choice.best.move
        table.add_row(
            str(entry.round),
            str(entry.event),
            seat_text(choice.seat, names),
            str(choice.played),
            "" if agreed else str(choice.best.move),
            str(choice.moves),
            "" if agreed or taken is None else _with_error(taken.cost, taken.cost_error),
            "mistake" if choice.mistake else "",
        )
    return table


def print_summaries(console: Console, summaries: Sequence[SeatSummary], names: Sequence[str]) -> None:
    """Prints what the choices of each seat came to."""
    table = _table("seat", "choices", "not the best", "mistakes", "cost ± 95 %", "a choice")
    for row in summaries:
        table.add_row(
            seat_text(row.seat, names),
            str(row.choices),
            str(row.others),
            str(row.mistakes),
            _with_error(row.cost, row.error),
            f"{row.cost / row.choices:.2f}" if row.choices else "",
        )
    console.print(table)
    say(
        console,
        f"{_COST_WORDS} A mistake costs more than its error. The sum has all choices in it, mistakes or not. "
        "Event: how many there were in the round before the choice, as in `caboose show`.",
    )


# -------------------------------------------------------------------------------------------------- parts


def say(console: Console, text: str, style: str = "") -> None:
    """Prints words as they are."""
    console.print(Text(text, style=style))


def seat_text(seat: int, names: Sequence[str]) -> Text:
    """A seat's number, and its name where it has one."""
    text = Text(f"{seat + 1:>2}")
    if names:
        name = Text(names[seat])
        name.truncate(_NAME, overflow="ellipsis")
        text.append(" ").append_text(name)
    return text


def _with_error(value: float | None, error: float | None, *, signed: bool = False) -> str:
    if value is None:
        return ""
    number = f"{value:+.1f}" if signed else f"{value:.1f}"
    number = "0.0" if number in ("-0.0", "+0.0") else number
    return number if error is None else f"{number} ± {error:.1f}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table
