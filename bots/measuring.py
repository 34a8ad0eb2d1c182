"""The bots that see what is hidden: ceilings for the search, and never opponents (``docs/explanation/search.md``)."""

from __future__ import annotations

from typing import ClassVar

from caboose.bots.mcts import MctsBot
from caboose.engine.bot_api import Limits, Option
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round


class MeasuringBot(MctsBot):
    """The search of ``mcts``, in the round itself instead of in worlds. ``sees`` says for people what it knows."""

    sees: ClassVar[str]
    open_boneyard: ClassVar[bool]

    def choose(self, observation: Observation, limits: Limits) -> Move:
        """Raises ``ValueError``: an observation is not enough for it."""
        raise ValueError(f"{self.name} sees {self.sees}: expected the round itself, by choose_knowing")

    def choose_knowing(self, round_: Round, observation: Observation, limits: Limits) -> Move:
        """A legal move for the observation's seat in ``round_``, which is left as it is.

        Raises ``ValueError`` when the seat is not to move, or when the observation is of another round.
        """
        return self._decide(observation, limits, round_, self.open_boneyard, self._shown())

    def _shown(self) -> float:
        """The share of the hidden tiles of which it knows who has them."""
        return 1.0


class OmniscientBot(MeasuringBot):
    """Knows the whole round, the order of the boneyard too."""

    name: ClassVar[str] = "omniscient"
    sees: ClassVar[str] = "all hands and the boneyard"
    open_boneyard: ClassVar[bool] = True


class OpenHandsBot(MeasuringBot):
    """Knows all hands; the order of the boneyard is guessed anew for each world.

    With the option ``Shown`` it knows of so many tiles only, others at each decision, and guesses the rest as ``mcts``
    does: from 0, which is ``mcts``, to 100.
    """

    name: ClassVar[str] = "openhands"
    sees: ClassVar[str] = "all hands"
    open_boneyard: ClassVar[bool] = False
    declared: ClassVar[tuple[Option, ...]] = (
        *MctsBot.declared,
        Option("Shown", "spin", default=100, min=0, max=100, help="% of the hidden tiles that it knows"),
    )

    def _shown(self) -> float:
        return self.number("Shown") / 100
