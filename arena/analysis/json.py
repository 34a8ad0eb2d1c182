"""An analysis as JSON for programs: ``docs/guides/analyse.md`` says what each key means. Seats count from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caboose.arena.analysis.analysis import Beliefs, Choice, Decided, Hidden, Ranked, SeatSummary
from caboose.engine.rules.round import Observation
from caboose.engine.rules.tiles import TILES


def position_object(view: Observation) -> dict[str, Any]:
    """Who looks at what."""
    return {
        "rules": str(view.rules),
        "hub": view.hub,
        "seat": view.seat + 1,
        "turn": view.turn + 1,
        "hand": [str(tile) for tile in view.hand],
        "hands": list(view.hand_sizes),
        "boneyard": view.boneyard_size,
    }


def choice_object(choice: Choice) -> dict[str, Any]:
    """The candidates of a choice."""
    return {
        "best": str(choice.best.move),
        "played": None if choice.played is None else str(choice.played),
        "mistake": choice.mistake,
        "nodes": choice.nodes,
        "decided": choice.decided,
        "seconds": round(choice.seconds, 3),
        "candidates": [ranked_object(ranked) for ranked in choice.candidates],
    }


def ranked_object(ranked: Ranked) -> dict[str, Any]:
    """A move and what is known of it."""
    return {
        "move": str(ranked.move),
        "visits": ranked.visits,
        "share": _rounded(ranked.share),
        "score": _rounded(ranked.score),
        "error": _rounded(ranked.error),
        "win": _rounded(ranked.win),
        "worlds": ranked.worlds,
        "cost": _rounded(ranked.cost),
        "cost_error": _rounded(ranked.cost_error),
    }


def beliefs_object(beliefs: Beliefs) -> dict[str, Any]:
    """Where the tiles are."""
    return {
        "inference": beliefs.inference,
        "tiles": [str(tile) for tile in TILES[: beliefs.matrix.shape[1]]],
        "matrix": [[round(float(share), 6) for share in row] for row in beliefs.matrix],
        "hidden": [_hidden_object(hidden) for hidden in beliefs.hidden],
    }


def _hidden_object(hidden: Hidden) -> dict[str, Any]:
    return {
        "seat": None if hidden.seat is None else hidden.seat + 1,
        "tiles": hidden.tiles,
        "pips": _rounded(hidden.pips),
        "without": list(hidden.without),
        "cohorts": [
            {
                "event": None if cohort.event is None else cohort.event + 1,
                "most": cohort.most,
                "without": list(cohort.without),
                "excluded": [str(tile) for tile in cohort.excluded],
            }
            for cohort in hidden.cohorts
        ],
    }


def decided_object(entry: Decided) -> dict[str, Any]:
    """A choice in a game: of its candidates only the best and the one that was played."""
    choice = entry.choice
    return {
        "round": entry.round,
        "event": entry.event,
        "seat": choice.seat + 1,
        "moves": choice.moves,
        "mistake": choice.mistake,
        "nodes": choice.nodes,
        "best": ranked_object(choice.best),
        "played": None if choice.taken is None else ranked_object(choice.taken),
    }


def summary_objects(summaries: Sequence[SeatSummary], names: Sequence[str]) -> list[dict[str, Any]]:
    """What the choices of each seat came to."""
    return [
        {
            "seat": row.seat + 1,
            "name": names[row.seat],
            "choices": row.choices,
            "not_best": row.others,
            "mistakes": row.mistakes,
            "cost": _rounded(row.cost),
            "cost_error": _rounded(row.error),
        }
        for row in summaries
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
