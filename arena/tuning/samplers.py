"""Where the candidates of a race come from: by lot, by Optuna's TPE, or by CMA-ES.

They are told what the surface expects of a candidate, and not what its few blocks came to: the best of many noisy
values is mostly a lucky one, and who trusts it follows luck. Their state is kept in memory: all of it follows from the
blocks, which are in the study's database."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from caboose.arena.errors import CallError
from caboose.arena.tuning.space import Floats, Space
from caboose.arena.tuning.surface import Surface

DIGITS: Final = 6  # of what a sampler is told: the last bits of a sum differ from machine to machine
SPREAD: Final = 0.35  # of the budget
SIGMA: Final = 0.25  # of the range, with which CMA-ES begins


class RandomProposer:
    """Evenly by lot: the yardstick."""

    def __init__(self, space: Space, seed: int) -> None:
        self._count = len(space)
        self._generator = np.random.default_rng(seed)

    def propose(self, count: int, surface: Surface | None, share: float) -> Sequence[Floats]:
        """The next of them."""
        return list(self._generator.random((count, self._count)))

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """Nothing is learned."""


class TpeProposer:
    """Optuna's tree-structured Parzen estimator (Bergstra et al. 2011), with the parameters together (Watanabe 2023).

    The first batches, ``SPREAD`` of the budget, are spread evenly. Half of each later one comes of all candidates so
    far, as the surface now sees them; the other half goes on spreading, lest all look where one of them was lucky.
    """

    def __init__(self, space: Space, seed: int) -> None:
        from scipy.stats import qmc

        self._space = space
        self._seed = seed
        self._batch = 0
        self._spread = qmc.Halton(len(space), seed=seed)

    def propose(self, count: int, surface: Surface | None, share: float) -> Sequence[Floats]:
        """The next batch."""
        self._batch += 1
        if surface is None or share < SPREAD:
            return list(self._spread.random(count))
        optuna = load("optuna")
        ranges = _ranges(optuna, self._space)
        with _quiet(optuna):
            sampler = optuna.samplers.TPESampler(
                multivariate=True, constant_liar=True, n_startup_trials=0, seed=(self._seed + self._batch) % 2**32
            )
            study = optuna.create_study(direction="maximize", sampler=sampler)
            places = self._space.places(surface.contrasts.candidates)
            gains = np.round(surface.mean(places), DIGITS)
            known = [
                optuna.trial.create_trial(params=_named(self._space, place), distributions=ranges, value=float(gain))
                for place, gain in zip(np.clip(places, 0, 1), gains, strict=True)
            ]
            study.add_trials(known)
            found = [_placed(self._space, study.ask(ranges)) for _ in range((count + 1) // 2)]
        return found + list(self._spread.random(count - len(found)))

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """It looks at the surface instead."""


class CmaProposer:
    """CMA-ES (Hansen & Ostermeier 2001), from the current values on; a batch is a generation. By the library cmaes,
    which is also Optuna's, whose own sampler is losing the option to begin at the current values.

    It moves in real numbers only. So each choice has one, the greatest of them is what is meant, and all begin alike.
    """

    def __init__(self, space: Space, seed: int, batch: int) -> None:
        cmaes = load("cmaes")
        self._space = space
        self._asked: list[Floats] = []
        current = np.clip(space.places([space.current])[0], 0.0, 1.0)
        begin = np.repeat(np.where(space.ordered, current, 0.5), space.widths)
        self._search = cmaes.CMA(
            mean=begin,
            sigma=SIGMA,
            bounds=np.tile([0.0, 1.0], (len(begin), 1)),
            seed=seed % 2**32,
            population_size=batch,
        )

    def propose(self, count: int, surface: Surface | None, share: float) -> Sequence[Floats]:
        """The next generation."""
        self._asked = [self._search.ask() for _ in range(count)]
        return [self._place(asked) for asked in self._asked]

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """Ranks the generation."""
        self._search.tell([(asked, -round(gain, DIGITS)) for asked, gain in zip(self._asked, gains, strict=True)])

    def _place(self, asked: Floats) -> Floats:
        parts = np.split(asked, np.cumsum(self._space.widths)[:-1])
        return np.array([
            parameter.place(float(np.argmax(part))) if parameter.choices else part[0]
            for parameter, part in zip(self._space.parameters, parts, strict=True)
        ])  # fmt: skip


def load(name: str) -> Any:
    """A library that not everybody has. Raises ``CallError`` where it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise CallError(
            f"the methods tpe and cma need the library {error.name}, which is not here: pip install 'caboose[tune]'"
        ) from None


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Within it Optuna says nothing: neither what it logs, nor which of its features are young."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore", category=optuna.exceptions.ExperimentalWarning):
            yield
    finally:
        optuna.logging.set_verbosity(level)


def _ranges(optuna: Any, space: Space) -> dict[str, Any]:
    kinds = optuna.distributions
    return {
        each.name: kinds.CategoricalDistribution(each.choices) if each.choices else kinds.FloatDistribution(0.0, 1.0)
        for each in space.parameters
    }


def _named(space: Space, place: Floats) -> dict[str, float | str]:
    return {
        each.name: each.text(each.value(float(x))) if each.choices else float(x)
        for each, x in zip(space.parameters, place, strict=True)
    }


def _placed(space: Space, trial: Any) -> Floats:
    found = [(each, trial.params[each.name]) for each in space.parameters]
    return np.array([each.place(each.choices.index(x)) if each.choices else x for each, x in found])
