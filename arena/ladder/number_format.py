"""How numbers are written in a ladder's report."""

from __future__ import annotations

import math
from typing import Final

from caboose.arena.report.plots import number_text
from caboose.arena.stats.bootstrap import Estimate

DASH: Final = "\N{EN DASH}"
_LONGEST: Final = 160  # letters of what an engine said that are shown


def estimate_text(estimate: Estimate, digits: int) -> str:
    """Such as ``+12.3 ± 4.5``; ``–`` where nothing is known."""
    if estimate.value is None:
        return DASH
    half = "?" if estimate.half is None else number_text(estimate.half, f",.{digits}f")
    return f"{number_text(estimate.value, f'+,.{digits}f')} ± {half}"


def share(value: float | None) -> str:
    """A share in per cent."""
    return DASH if value is None else f"{100 * value:.1f} %"


def share_text(estimate: Estimate) -> str:
    """A share in per cent with its interval, such as ``12.3 ± 4.5 %``."""
    half = "?" if estimate.half is None else f"{100 * estimate.half:.1f}"
    return DASH if estimate.value is None else f"{100 * estimate.value:.1f} ± {half} %"


def likelihood(value: float) -> str:
    """A likelihood, which no bootstrap knows to be 0 or 1."""
    if math.isnan(value):
        return DASH
    if value > 0.999 or value < 0.001:
        return "> 99.9 %" if value > 0.5 else "< 0.1 %"
    return f"{100 * value:.1f} %"


def milliseconds(value: float) -> str:
    """A time in milliseconds, with about three digits."""
    return number_text(value, ",.0f" if value >= 100 else ".1f" if value >= 1 else ".3f")


def counted(count: int, what: str) -> str:
    """Such as ``1 game`` and ``2 games``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def cut(text: str) -> str:
    """What an engine said, up to a length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
