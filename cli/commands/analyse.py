"""``caboose analyse``: what the search thinks of a position, and of the choices in recorded games."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from caboose.arena import caboose_version
from caboose.arena.analysis.analysis import (
    Beliefs,
    Choice,
    Decided,
    Effort,
    Thinking,
    beliefs_of,
    hand_pips,
    summary,
    thread_pool,
)
from caboose.arena.analysis.input import read_table
from caboose.arena.analysis.json import (
    beliefs_object,
    choice_object,
    decided_object,
    position_object,
    summary_objects,
)
from caboose.arena.analysis.subjects import (
    Place,
    Scan,
    Subject,
    check_round,
    subject_of_game,
    subject_of_table,
)
from caboose.arena.analysis.text import (
    print_all,
    print_beliefs,
    print_choice,
    print_mistakes,
    print_summaries,
    progress_bar,
    say,
)
from caboose.arena.console.console import Console
from caboose.arena.console.output import json_text
from caboose.arena.console.signals import interruptible
from caboose.arena.errors import CallError, RunError
from caboose.arena.viewer.record_index import RecordFile
from caboose.arena.viewer.replay import Shown, game_title
from caboose.cli.commands.show import check_game
from caboose.cli.options.files import open_seekable, output_errors
from caboose.engine.rules.seats import written
from caboose.engine.search.search import INFERENCE, MAX_THREADS
from caboose.protocol.records.records import RecordError

POSITION_NODES: Final = 20_000
GAME_NODES: Final = 2000
TOP: Final = 10

_RECORD = "In recorded games"
_THINKING = "How long it thinks"
_OUTPUT = "What is printed"


def analyse(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Recorded games, a position, an observation; - is standard input.",
            show_default=False,
        ),
    ],
    seat: Annotated[
        int | None,
        typer.Option(help="Whose choices, or who looks; by default who is to move, in games all.", show_default=False),
    ] = None,
    game: Annotated[
        int | None, typer.Option(help="Which game of the file, from 1.", show_default="1", rich_help_panel=_RECORD)
    ] = None,
    round: Annotated[
        int | None, typer.Option(help="Only this round, from 1.", show_default=False, rich_help_panel=_RECORD)
    ] = None,
    event: Annotated[
        int | None,
        typer.Option(
            help="Only the position after so many events of the round.", show_default=False, rich_help_panel=_RECORD
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            help="Playouts for each choice, twice.",
            min=1,
            show_default=f"{POSITION_NODES}; in games {GAME_NODES}",
            rich_help_panel=_THINKING,
        ),
    ] = None,
    movetime: Annotated[
        float | None,
        typer.Option(help="Instead: ms for each choice, twice.", min=1, show_default=False, rich_help_panel=_THINKING),
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            help="Processors to use; the result is the same.", min=1, max=MAX_THREADS, rich_help_panel=_THINKING
        ),
    ] = 1,
    seed: Annotated[int, typer.Option(help="Of all chance.", min=0, max=2**63 - 1, rich_help_panel=_THINKING)] = 0,
    top: Annotated[
        int | None,
        typer.Option(
            help="How many moves, or mistakes, are listed.", min=1, show_default=str(TOP), rich_help_panel=_OUTPUT
        ),
    ] = None,
    all: Annotated[
        bool, typer.Option("--all", help="In games: every choice, not only mistakes.", rich_help_panel=_OUTPUT)
    ] = False,
    belief: Annotated[
        bool | None,
        typer.Option(help="Of a position: what is known of each hand.", show_default="belief", rich_help_panel=_OUTPUT),
    ] = None,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Beliefs from proofs only, not from choices.", rich_help_panel=_OUTPUT)
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    """Say what the search thinks of a position, or where in a game the costly mistakes were.

    Of a position: the moves with expected score and chance to win, and what
    the seat can know of each hand.

    Of a recorded game: moves that were worse than the best for sure, and what
    the choices of each seat cost. Only what the seat could know counts, never
    the hands as they were. With --event: that position.

    Each choice is thought about twice: a race of all moves, then the best of
    them, or the one that was played, in other worlds.

    docs/guides/analyse.md explains all figures, and the keys of --json.

    Ctrl-C ends it with what was found so far.
    """
    if nodes is not None and movetime is not None:
        raise CallError("--nodes and --movetime are given: expected one of them")
    if all and top is not None:
        raise CallError("--all and --top are given: expected one of them")

    def effort(usual: int) -> Effort:
        return Effort(usual if nodes is None and movetime is None else nodes, movetime, threads, seed)

    if proofs and belief is False:
        raise CallError("--proofs and --no-belief are given: expected one of them")
    listed = TOP if top is None else top
    with interruptible(), output_errors("standard output"), open_seekable(file) as source:
        records = RecordFile(source, file)
        if records.has(1):
            shown = load_game(records, 1 if game is None else game)
            check_round(shown, 1 if game is None else game, round, seat)
            if event is None and belief is not None:
                raise CallError("--belief and --no-belief are for a position: expected --event too")
            if event is None and proofs:
                raise CallError("--proofs is for a position: expected --event too")
            if event is not None and all:
                raise CallError("--all and --event are given: expected one of them")
            if event is None:
                scan = Scan(shown, 1 if game is None else game, round, seat)
                report_game(scan, effort(GAME_NODES), top=None if all else listed, as_json=json_)
                return
            subject = subject_of_game(shown, 1 if game is None else game, round, event, seat)
        else:
            table = read_table(source, file)
            given = {"--game": game, "--round": round, "--event": event, "--all": all or None}
            for name, value in given.items():
                if value is not None:
                    raise CallError(f"{name}: {file} holds a position, expected recorded games")
            subject = subject_of_table(table, seat, file)
        inference = None if belief is False else 0.0 if proofs else INFERENCE
        report_position(subject, effort(POSITION_NODES), top=listed, inference=inference, as_json=json_)


def load_game(records: RecordFile, number: int) -> Shown:
    """Game ``number`` of a file. Raises ``CallError`` if there is none, ``RunError`` if it cannot be read."""
    check_game(records, number)
    record = records.game(number)
    if isinstance(record, RecordError):
        raise RunError(str(record))
    return Shown(record)


# -------------------------------------------------------------------------------------------- one position


def report_position(subject: Subject, effort: Effort, *, top: int, inference: float | None, as_json: bool) -> None:
    """Analyses a position and prints what was found.

    ``inference`` is what choices count in beliefs; None: no beliefs. Raises ``RunError`` for a position that
    contradicts itself.
    """
    view = subject.view
    choice: Choice | None = None
    beliefs: Beliefs | None = None
    interrupted = False
    try:
        if inference is not None:
            beliefs = beliefs_of(view, effort.seed, inference=inference)
        if view.turn == view.seat:
            choice, interrupted = think(subject, effort, top)
    except ValueError as error:
        raise RunError(f"{subject.title}: {written(error)}") from None
    if as_json:
        print_json(
            {
                "kind": "position",
                **_place_object(subject.place),
                **position_object(view),
                "seed": effort.seed,
                "complete": not interrupted,
                "choice": None if choice is None else choice_object(choice),
                "belief": None if beliefs is None else beliefs_object(beliefs),
            }
        )
    else:
        _print_position(subject, choice, beliefs, top)
    end(interrupted)


def think(subject: Subject, effort: Effort, top: int) -> tuple[Choice, bool]:
    """The analysis of the choice in a position, and whether it was interrupted."""
    total = None if effort.nodes is None else 2 * effort.nodes
    with thread_pool(effort.threads) as pool, progress_bar("thinking", total) as tick:
        # A move that is compared with no other is not judged anew: its score would be the one by which it won the race.
        thinking = Thinking(subject.view, effort, max(top, 2), subject.played, pool)
        try:
            thinking.run(tick)
        except KeyboardInterrupt:
            return thinking.result(), True
        return thinking.result(), False


def _place_object(place: Place | None) -> dict[str, int | None]:
    if place is None:
        return {"game": None, "round": None, "event": None}
    return {"game": place.game, "round": place.round, "event": place.event}


def _print_position(subject: Subject, choice: Choice | None, beliefs: Beliefs | None, top: int) -> None:
    view = subject.view
    console = Console(highlight=False)
    say(console, subject.title, "bold")
    moves = "to move" if choice is not None else f"while seat {view.turn + 1} is to move"
    say(console, f"{_seat_words(subject)} {moves}; hub {view.hub}-{view.hub}, {view.boneyard_size} in the boneyard")
    say(console, f"hand {' '.join(map(str, view.hand))}: {hand_pips(view.rules, view.hand)} pips")
    if choice is not None:
        console.print()
        print_choice(console, choice, top)
    if beliefs is not None:
        console.print()
        print_beliefs(console, beliefs, subject.names)


def _seat_words(subject: Subject) -> str:
    name = f" ({subject.names[subject.view.seat]})" if subject.names else ""
    return f"seat {subject.view.seat + 1}{name}"


# -------------------------------------------------------------------------------------------------- a game


def report_game(scan: Scan, effort: Effort, *, top: int | None, as_json: bool) -> None:
    """Analyses a game and prints the ``top`` costliest mistakes, or all choices. Raises ``RunError`` when it is against
    the rules, or was interrupted."""
    shown = scan.shown
    decided: list[Decided] = []
    interrupted = False
    problem = next(filter(None, map(shown.problem, scan.rounds)), "")
    try:
        scan_game(scan, effort, decided)
    except KeyboardInterrupt:
        interrupted = True
    summaries = [summary(seat, decided) for seat in scan.seats]
    if as_json:
        print_json(
            {
                "kind": "game",
                "game": scan.game,
                "rules": str(shown.record.rules),
                "seed": effort.seed,
                "complete": not interrupted and not problem,
                "choices": [decided_object(entry) for entry in decided],
                "seats": summary_objects(summaries, shown.names),
            }
        )
    else:
        console = Console(highlight=False)
        which = "" if scan.round is None else f", round {scan.round}"
        say(console, f"{game_title(shown.record)}; game {scan.game}{which}", "bold")
        console.print()
        if top is None:
            print_all(console, decided, shown.callings)
        else:
            print_mistakes(console, decided, shown.callings, top)
        console.print()
        print_summaries(console, summaries, shown.callings)
    if problem:
        raise RunError(f"{shown.record.file}: {problem}")
    end(interrupted)


def scan_game(scan: Scan, effort: Effort, decided: list[Decided]) -> None:
    """Analyses all choices, one after another, and adds to ``decided`` what it finds."""
    choices = list(scan.choices())
    with thread_pool(effort.threads) as pool, progress_bar(f"{len(choices)} choices", len(choices)) as tick:
        for place, view, played in choices:
            thinking = Thinking(view, effort, 1, played, pool)
            thinking.run(lambda playouts: None)
            decided.append(Decided(place.round, place.event, thinking.result()))
            tick(1)


def print_json(content: dict[str, Any]) -> None:
    """Prints an object on one line."""
    print(json_text({"caboose": caboose_version(), **content}), flush=True)


def end(interrupted: bool) -> None:
    """Ends the command after its output."""
    if interrupted:
        raise RunError("interrupted: this is what was found until then")
