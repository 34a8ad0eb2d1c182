"""What the built-in bots share: their options, kept as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from caboose.engine.bot_api import Limits, Option, OptionError
from caboose.engine.policy.policy_weights import WEIGHTS
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation

MAX_SEED = 2**63 - 1

SEED = Option("Seed", "spin", default=0, min=0, max=MAX_SEED, help="where chance comes from; same seed, same game")


def weight_option(name: str) -> str:
    """The option of a weight of ``WEIGHTS``: ``WeightLoneDouble`` of ``lone_double``."""
    return "Weight" + name.title().replace("_", "")


WEIGHT_OPTIONS = tuple(
    [
        Option(weight_option(name), "spin", default=weight.default, min=weight.min, max=weight.max, help=weight.help)
        for name, weight in WEIGHTS.items()
    ]
)


class BuiltIn:
    """A bot with a name and declared options. Subclasses say which, and choose.

    Chance comes from the option ``Seed`` and the observation alone: a bot that is restarted in mid-game plays on
    as if nothing had happened.
    """

    name: ClassVar[str]
    capabilities: ClassVar[tuple[str, ...]] = ("deterministic", "infinite", "nodes", "stop")
    declared: ClassVar[tuple[Option, ...]] = ()

    def __init__(self) -> None:
        self._values: dict[str, bool | int | str | None] = {option.name: option.default for option in self.declared}
        self._chosen: set[str] = set()  # options that somebody has set

    @property
    def options(self) -> Mapping[str, Option]:
        """The declared options by name."""
        return {option.name: option for option in self.declared}

    def set_option(self, name: str, value: str) -> None:
        """Sets an option from text. Raises ``OptionError``."""
        option = self.options.get(name)
        if option is None:
            known = ", ".join(self.options) or "none"
            raise OptionError(f"{self.name} has no option {name[:40]!r}: its options are {known}")
        self._values[name] = option.parse(value)
        self._chosen.add(name)

    def new_game(self) -> None:
        """Nothing is remembered between moves, so there is nothing to forget."""

    def number(self, name: str) -> int:
        """The value of a spin option."""
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def weights(self) -> dict[str, int]:
        """The values of the weight options, by the names of ``WEIGHTS``."""
        return {name: self.number(weight_option(name)) for name in WEIGHTS}

    def text(self, name: str) -> str:
        """The value of a combo or string option."""
        value = self._values[name]
        assert isinstance(value, str)
        return value

    def choose(self, observation: Observation, limits: Limits) -> Move:
        """A legal move for the observation's seat. Raises ``ValueError`` when it is not to move."""
        raise NotImplementedError
