"""Each value of each rule option, and what has tried it: a test by name, perft rows, rounds of a soak.

``python tests/tools/option_table.py FILE`` prints the table, with the numbers that ``make soak`` printed into FILE. A
row of the perft table stands for a value only if its counts are others when the value alone is changed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from caboose.arena.bench.perft_table import Row, read_table
from caboose.engine.rules.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, SETS

sys.path.append(str(Path(__file__).parents[1] / "support"))

from perft_options import VALUES, deciding_row
from soak import HANDS, hand_words

_ALL: Final = "test_rules_agree.py::test_every_preset_with_every_number_of_players_and_set"
_HANDS: Final = "test_rules_options.py::test_set_and_hand_by_players"

# The test that fails first where a value is not as the rules say.
TESTS: Final[dict[tuple[str, str], str]] = {
    **{("preset", preset): "test_rules_options.py::test_options_of_the_presets" for preset in PRESETS},
    **{("players", str(players)): _ALL for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)},
    **{("set", str(top)): _ALL for top in SETS},
    **{("hand", hand_words(most)): _HANDS for most in HANDS},
    ("hand", "1"): "test_rules_turns.py::test_going_out_on_a_single_first_turn",
    ("hand", "2 to 4"): "test_rules_cases.py::test_case_01_a_round_can_end_on_a_double",
    ("hand", "17 to 30"): "test_rules_cases.py::test_case_08_a_new_marker_starts_the_lap_again",
    ("hand", "31 to 95"): "test_rules_options.py::test_the_largest_hand_uses_the_whole_set_and_one_more_is_refused",
    ("hub", "dealt"): "test_rules_turns.py::test_the_holder_of_a_dealt_hub_lays_it_down_and_starts",
    ("hub", "placed"): "test_rules_turns.py::test_with_lot_and_rotate_the_deal_says_who_starts",
    ("starter", "holder"): "test_game.py::test_the_holder_of_the_hub_starts_every_round",
    ("starter", "lot"): "test_game.py::test_lot_draws_every_round",
    ("starter", "rotate"): "test_game.py::test_rotate_goes_on_to_the_next_seat_each_round",
    ("first_turn", "chain"): "test_rules_turns.py::test_a_chain_must_be_started_and_then_may_be_stopped",
    ("first_turn", "single"): "test_rules_turns.py::test_a_single_first_turn_is_one_tile",
    ("first_turn_draw", "yes"): "test_rules_turns.py::test_who_cannot_play_a_single_first_turn",
    ("first_turn_draw", "no"): "test_rules_turns.py::test_who_cannot_play_a_single_first_turn",
    ("first_turn_finish", "all"): "test_rules_turns.py::test_going_out_on_a_single_first_turn",
    ("first_turn_finish", "now"): "test_rules_turns.py::test_going_out_on_a_single_first_turn",
    ("first_turn_places", "own"): "test_rules_turns.py::test_where_a_single_first_turn_may_play",
    ("first_turn_places", "any"): "test_rules_turns.py::test_where_a_single_first_turn_may_play",
    ("double_answer", "anywhere"): (
        "test_rules_turns.py::test_the_tile_after_a_double_goes_anywhere_also_under_first_after_one_double"
    ),
    ("double_answer", "own"): "test_rules_turns.py::test_the_own_double_must_be_answered_first_under_own",
    ("double_answer", "chickenfoot"): (
        "test_rules_turns.py::test_a_chickenfoot_needs_three_tiles_before_any_other_place_is_legal"
    ),
    ("doubles_order", "fifo"): "test_known_faults.py::test_not_only_one_open_double_is_remembered",
    ("doubles_order", "lifo"): "test_known_faults.py::test_not_only_one_open_double_is_remembered",
    ("extra_after_doubles", "anywhere"): "test_rules_turns.py::test_where_the_tile_after_two_doubles_goes",
    ("extra_after_doubles", "first"): "test_rules_turns.py::test_where_the_tile_after_two_doubles_goes",
    ("dead_double", "release"): "test_known_faults.py::test_a_dead_double_does_not_bind_forever_unless_held",
    ("dead_double", "hold"): "test_known_faults.py::test_a_dead_double_does_not_bind_forever_unless_held",
    **{("blank", blank): "test_rules_turns.py::test_what_the_blank_counts" for blank in ("0", "25", "50")},
    ("rounds", "1"): "test_game.py::test_a_short_game_plays_the_first_rounds_of_the_countdown",
    ("rounds", "some"): "test_game.py::test_a_short_game_plays_the_first_rounds_of_the_countdown",
    ("rounds", "all"): "test_game.py::test_a_whole_game",
}


def rows_for(rows: Sequence[Row], option: str, value: str) -> list[int]:
    """The numbers of rows that decide about a value: at least one for each other value that there is."""
    if option in VALUES:
        values = {str(one): one for one in VALUES[option]}
        others = [other for name, other in values.items() if name != value]
        found = [deciding_row(rows, option, values[value], other) for other in others]
        return sorted({row.number for row in found if row}) if all(found) else []
    return [row.number for row in rows if value == _words(row, option)]


def _words(row: Row, option: str) -> str:
    if option == "hand":
        return hand_words(row.rules.hand)
    if option == "rounds":
        return {1: "1", row.rules.set + 1: "all"}.get(row.rules.rounds, "some")
    return str(getattr(row.rules, option))


def soaked(text: str) -> dict[tuple[str, str], str]:
    """How many rounds had each value, from what a soak printed."""
    found = {}
    for name, values in re.findall(r"^(\w+) +(.*)$", text, re.MULTILINE):
        for value, count in re.findall(r"([\w ]+): ([\d,]+)", values):
            found[name, value.strip()] = count
    return found


def table(soak_output: str) -> list[str]:
    """The lines of the table, in Markdown."""
    rows, counts = read_table(), soaked(soak_output)
    lines = ["| option | value | test | perft rows | soak, rounds |", "|---|---|---|---|---|"]
    for (option, value), test in TESTS.items():
        numbers = rows_for(rows, option, value)
        shown = " ".join(map(str, numbers[:6])) + (f" and {len(numbers) - 6} more" if len(numbers) > 6 else "")
        lines.append(f"| `{option}` | {value} | `{test}` | {shown} | {counts.get((option, value), '')} |")
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/tools/option_table.py FILE, where FILE has what tests/tools/soak.py printed")
    print("\n".join(table(Path(sys.argv[1]).read_text(encoding="utf-8"))))
