"""How well the ratings of a ladder foretell its games: for its standings, its report and as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from caboose.arena.ladder.number_format import counted, share, share_text
from caboose.arena.report.page import Cell, Column, Section
from caboose.arena.report.plots import number_text
from caboose.arena.stats.fit import Fit

MOST_PICTURED: Final = 60  # engines that are shown where there is much of each


def fit_data(fit: Fit, labels: Sequence[str]) -> dict[str, Any]:
    """How well ratings fit, as values for JSON."""
    worst = [asdict(each) | {"first": labels[each.first], "second": labels[each.second]} for each in fit.worst]
    first = [asdict(each) | {"label": labels[each.contestant]} for each in fit.first]
    for each in first:
        del each["contestant"]
    return {
        "pairs": fit.pairs,
        "freedom": fit.freedom,
        "excess": fit.excess,
        "typical": fit.typical,
        "worst": worst,
        "kappa": asdict(fit.kappa),
        "first": first,
    }


def fit_told(fit: Fit | None, labels: Sequence[str]) -> list[str]:
    """How well ratings foretell what happened, in sentences for people; none where too little is known."""
    if fit is None:
        return []
    told = []
    if fit.excess is not None and fit.typical is not None:
        worst = fit.worst[0]
        half = 100 * (worst.observed.half or 0.0)
        told.append(
            f"Fit: {fit.pairs:,} pairs are off by {100 * fit.typical:.1f} points of a share beyond chance, "
            f"their squares {fit.excess:.1f} times what chance makes (1: ratings tell all). Furthest off: "
            f"{labels[worst.first]} ahead of {labels[worst.second]} in {100 * (worst.observed.value or 0.0):.1f} ± "
            f"{half:.1f} %, foretold {100 * worst.foretold:.1f} %."
        )
    if fit.kappa.value is not None and fit.kappa.half is not None:
        told.append(
            f"First places are {fit.kappa.value:.2f} ± {fit.kappa.half:.2f} times as far apart as ratings foretell "
            "(1: as in Plackett-Luce)."
        )
    return told


def show_fit(section: Section, fit: Fit | None, labels: Sequence[str], order: Sequence[int]) -> None:
    """Whether ratings foretell what happened, for a report; ``order`` has the contestants, the best first."""
    told = fit_told(fit, labels)
    if fit is None or not (told or fit.worst or fit.first):
        section.text("There are too few blocks to say how well ratings foretell the games.")
        return
    section.text(
        "Ratings promise how often one engine ends before another, whoever they are, and nothing more. Here is what "
        "they foretell, and what happened."
    )
    for text in told:
        section.text(text)
    columns = [
        Column("engines", numbers=False),
        *map(Column, ("ahead, observed", "foretold", "standard errors apart", "blocks")),
    ]
    rows: list[list[str | Cell]] = [
        [
            f"{labels[each.first]} \N{EN DASH} {labels[each.second]}",
            share_text(each.observed),
            share(each.foretold),
            number_text(each.z, "+.1f"),
            f"{each.blocks:,}",
        ]
        for each in fit.worst
    ]
    if rows:
        section.table(
            columns,
            rows,
            caption=f"How often the first ended before the second, ties half: the {len(rows)} of "
            f"{counted(fit.pairs, 'pair')} that are furthest off. Of 100 pairs about 5 are more than 2 standard errors "
            "apart by chance alone.",
        )
    by_contestant = {each.contestant: each for each in fit.first}
    columns = [
        Column("engine", numbers=False),
        *map(Column, ("first, observed", "as in Plackett-Luce", "spread fitted")),
    ]
    firsts: list[list[str | Cell]] = [
        [labels[one], share_text(each.observed), share(each.foretold), share(each.fitted)]
        for one in order[:MOST_PICTURED]
        if (each := by_contestant.get(one)) is not None
    ]
    if firsts:
        section.table(
            columns,
            firsts,
            caption="First places of a seat. Pairs do not settle them: in Plackett-Luce odds are 10^(rating/400); the "
            "last column is with ratings as far apart as first places want them."
            + (f" The best {MOST_PICTURED} engines are shown." if len(order) > MOST_PICTURED else ""),
        )
