"""What planners with other wishes gain over the usual ones: the function of ``planner-wishes.toml``."""

from caboose.engine.policy.simulate import simulate
from caboose.engine.rules.rules import Rules

RULES = Rules.of("tournament", 4)
ROUNDS = 500


def margin(options: dict[str, str], sample: int) -> float:
    """Pips a round, on the same deals for all ``options``: the others' mean less its own, from each of the seats."""
    wishes = {name.removeprefix("Weight").lower(): int(value) for name, value in options.items()}
    total = 0.0
    for seat in range(RULES.players):
        weights = [wishes if at == seat else {} for at in range(RULES.players)]
        scores = simulate(RULES, ROUNDS, "planner", seed=sample, weights=weights).scores.mean(axis=0)
        total += (scores.sum() - scores[seat]) / (RULES.players - 1) - scores[seat]
    return total / RULES.players
