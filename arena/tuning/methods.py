"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Final

from caboose.arena.tuning.samplers import CmaProposer, RandomProposer, TpeProposer, load
from caboose.arena.tuning.search import Job, Recommendation, Search
from caboose.arena.tuning.space import Space
from caboose.arena.tuning.spsa import pairs_of, spsa
from caboose.arena.tuning.trial_search import FEWEST_UNITS, Proposer, race

METHODS: Final = ("tpe", "cma", "spsa", "random")
LIBRARIES: Final = {"tpe": "optuna", "cma": "cmaes"}

Flow = Generator[Sequence[Job], Sequence[float | None], Recommendation]
"""A search that returns what it recommends."""


def check_libraries(method: str) -> None:
    """Raises ``CallError`` when a method needs a library that is not here."""
    if method in LIBRARIES:
        load(LIBRARIES[method])


def default_batch(parameters: int) -> int:
    """How many candidates are tried at once, where nobody says it: a generation of CMA-ES, but at least 6, and even."""
    return 6 + 2 * (parameters // 4)


def make_search(
    space: Space,
    *,
    seed: int,
    budget: int,
    cost: Callable[[Job], int],
    price: int,
    batch: int | None = None,
) -> Search:
    """A search that nothing was played for. ``cost`` says how many blocks a job takes, ``price`` how many a unit takes
    for one that is not free."""
    return Search(space, seed, budget, cost, price, batch or default_batch(len(space)))


def fewest(search: Search, method: str) -> int:
    """The smallest budget that a search can do anything with."""
    return search.price * (2 * pairs_of(search) if method == "spsa" else FEWEST_UNITS * (search.batch + 2))


def start(search: Search, method: str) -> Flow:
    """Runs it. Raises ``CallError`` when a library is missing."""
    if method == "spsa":
        yield from spsa(search)
        values = search.steps[-1].values
        return search.recommend(values if search.averaged().hopeful(values) else search.space.current)
    yield from race(search, _proposer(search, method), near=method != "random")
    return search.recommend(search.averaged().best(search.seed))


def _proposer(search: Search, method: str) -> Proposer:
    if method == "cma":
        return CmaProposer(search.space, search.seed, search.batch)
    return (TpeProposer if method == "tpe" else RandomProposer)(search.space, search.seed)
