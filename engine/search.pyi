from caboose.engine.moves import Move
from caboose.engine.round import Observation, Round

class Search:
    """The search of one decision: a race of its moves over worlds that agree with an observation.

    ``seed`` is 0 to 2**63 - 1. A move leaves the race when it is worse than the leader by ``confidence`` standard
    errors of their difference. ``win_bonus`` is the pips that winning the round is worth besides the score;
    ``plan_nodes`` bounds the search for a train in playouts, and ``noise`` is the range of chance in their ranks
    (points). ``truth`` is for measuring only: the round itself, which is then looked at instead of worlds; of it only
    the hands, with the boneyard shuffled anew for each world, when ``open_boneyard`` is False. Raises ``ValueError``
    when the seat is not to move, when no deal agrees with what it has seen, or when ``truth`` is not the round it sees.
    """

    def __init__(
        self,
        view: Observation,
        seed: int = 0,
        *,
        confidence: float = 4.0,
        win_bonus: float = 10.0,
        plan_nodes: int = 40,
        noise: int = 4,
        truth: Round | None = None,
        open_boneyard: bool = True,
    ) -> None: ...
    @property
    def size(self) -> int:
        """How many moves there are."""
    @property
    def racing(self) -> int:
        """How many moves are still in the race."""
    @property
    def nodes(self) -> int:
        """The playouts so far."""
    def run(self, iterations: int) -> None:
        """Plays at most that many playouts, in whole worlds, without the GIL; none when the race is decided."""
    @property
    def decided(self) -> bool:
        """Only one move is left in the race."""
    @property
    def best(self) -> Move:
        """The move with the highest mean in the race; the planner's choice while no world was played."""
    def candidates(self) -> list[tuple[Move, int, float]]:
        """Each move with its visits and its expected score: pips below the others' mean, without the win bonus.

        Best first: what the race thinks of them decides, so the scores need not fall.
        """
