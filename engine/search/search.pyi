from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import numpy as np
import numpy.typing as npt

from caboose.engine.bot_api import Candidate
from caboose.engine.rules.moves import Move
from caboose.engine.rules.round import Observation, Round
from caboose.engine.rules.rules import Rules

MAX_THREADS: int
MAX_MEMORY: int
INFERENCE: float
POLICIES: tuple[str, ...]

class Search:
    """The search of one decision: a race of the seat's turns over worlds that agree with an observation.

    ``seed`` is 0 to 2**63 - 1. A turn leaves the race when it is worse than the leader by ``confidence`` standard
    errors of their difference. ``win_bonus`` is the pips that winning the round is worth besides the score, and
    ``game_weight`` (0 to 1) how much the chance to win the game counts instead, the more the fewer rounds are left;
    ``plan_nodes`` bounds the search for a train in playouts, and ``noise`` is the range of chance in their ranks
    (points), ``weights`` what these are made of, by the names of ``weighing.WEIGHTS``, which are the defaults; with
    another ``policy``, ``greedy`` or ``random``, playouts are played so. A planner's playouts end after ``laps`` turns
    of every seat where there is a network for the rules, which says what the round is worth then; with 0 they go on to
    its end, as they do anyway where the game counts or the boneyard is known. From world ``growth`` on they last a lap
    longer, from twice as many worlds on two laps, and so on; 0: never. When the boneyard is empty and the others
    hold at most ``endgame`` tiles together, worlds are solved where that is quick, and played out elsewhere; 0: never,
    nor where the game counts. They are kept in at most ``memory`` MiB (1 to 4096). ``inference`` is how much the
    others' choices say: a world is less likely by exp(-inference) for each point by which they fall short of a
    planner's; 0: nothing. ``threads`` is 1 to 8: the result is the same for any number. ``truth`` is for measuring, and
    the round itself, which is then looked at instead of worlds; of it only the hands, with the boneyard shuffled anew
    for each world, when ``open_boneyard`` is False; and of those only so much that each hidden tile's place is known
    with the chance ``shown`` (0 to 1), when that is less than 1. ``moves`` are those that race, by default all legal
    ones. Raises ``ValueError`` when the seat is not to move, for numbers that make no sense, when no deal agrees with
    what it has seen, when ``truth`` is not the round that it sees, or when ``moves`` are none, not legal, or the same
    twice.
    """

    def __init__(
        self,
        view: Observation,
        seed: int = 0,
        *,
        confidence: float = 4.0,
        win_bonus: float = 10.0,
        game_weight: float = 0.0,
        plan_nodes: int = 40,
        noise: int = 4,
        weights: Mapping[str, int] | None = None,
        endgame: int = 9,
        memory: int = 4,
        inference: float = 0.07,
        threads: int = 1,
        policy: str = "planner",
        laps: int = 3,
        growth: int = 32,
        truth: Round | None = None,
        open_boneyard: bool = True,
        shown: float = 1.0,
        moves: Sequence[Move] | None = None,
    ) -> None: ...
    @property
    def size(self) -> int:
        """How many turns are compared."""
    @property
    def racing(self) -> int:
        """How many turns are still in the race."""
    @property
    def nodes(self) -> int:
        """The playouts so far."""
    @property
    def worlds(self) -> int:
        """The worlds so far."""
    @property
    def threads(self) -> int:
        """In how many threads it works."""
    @property
    def solving(self) -> bool:
        """Whether worlds are solved: one of them may then take as long as some hundred playouts."""
    def run(self, iterations: int, pool: Executor | None = None) -> None:
        """Plays at most that many playouts, in whole worlds, without the GIL; none when the race is decided.

        Where there is one turn only, and so no race, it is played for what it is worth.

        With more than one thread, ``pool`` is the ``concurrent.futures`` executor in which all but one work.
        """
    def believed(self, samples: int = 1000) -> npt.NDArray[np.float64]:
        """What the search thinks of the hidden tiles: seat × tile as in ``Belief.matrix``, from so many of its worlds.

        Unlike there, how the others played is part of it. The search is left as it is. Raises ``ValueError`` for a
        search in the truth, and for less than one sample.
        """
    @property
    def decided(self) -> bool:
        """All turns left in the race begin with the same move."""
    @property
    def lead(self) -> float:
        """By how many standard errors the leader is ahead of the next turn that begins with another move.

        0.0 before the first look at them, infinite when it is alone.
        """
    @property
    def best(self) -> Move:
        """The first move of the turn with the highest mean; the planner's choice before the first world."""
    def difference(self, one: Move, other: Move) -> tuple[float, float]:
        """By how much ``one`` is better than ``other``, and the 95 % error of that: pips, with the bonus for winning.

        World by world: far more exact than the errors of the two say. Raises ``ValueError`` for moves that were not
        tried in the same worlds, as when one has left the race, or in none. A move is as good as its best turn.
        """
    def candidates(self) -> list[Candidate]:
        """Each move with what the race knows of it.

        The visits are those of all turns that begin with it, the rest is of the best of them. Best first: what the race
        thinks of them decides, so the scores need not fall.
        """

def game_chances(rules: Rules, past_scores: Sequence[Sequence[int]], scores: Sequence[int]) -> tuple[float, ...]:
    """Each seat's chance to end the game with the fewest pips, if the running round ends with ``scores``.

    ``past_scores`` are the rounds before it, a row of seats for each. The rounds to come are taken for equal chances
    with the spread of planners' scores; after the last one those with the lowest total share the win.
    Raises ``ValueError`` for rows that are not of the rules' players.
    """
