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
from caboose.arena.tune.space import Floats, Space
from caboose.arena.tune.surface import Surface

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
    which is also Optuna's, whose own sampler is losing the option to begin at the current values."""

    def __init__(self, space: Space, seed: int, batch: int) -> None:
        cmaes = load("cmaes")
        self._search = cmaes.CMA(
            mean=np.clip(space.places([space.current])[0], 0.0, 1.0),
            sigma=SIGMA,
            bounds=np.tile([0.0, 1.0], (len(space), 1)),
            seed=seed % 2**32,
            population_size=batch,
        )

    def propose(self, count: int, surface: Surface | None, share: float) -> Sequence[Floats]:
        """The next generation."""
        return [self._search.ask() for _ in range(count)]

    def told(self, places: Sequence[Floats], gains: Sequence[float]) -> None:
        """Ranks the generation."""
        self._search.tell([(place, -round(gain, DIGITS)) for place, gain in zip(places, gains, strict=True)])


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
    return {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in space.names}


def _named(space: Space, place: Floats) -> dict[str, float]:
    return {name: float(x) for name, x in zip(space.names, place, strict=True)}


def _placed(space: Space, trial: Any) -> Floats:
    return np.array([trial.params[name] for name in space.names])
