"""The game and the thinking: rules, rounds, games, observations, and the search."""

from caboose.engine.belief.belief import Belief, Cohort, determinize
from caboose.engine.bot_api import Bot, Candidate, Info, Limits, Option, OptionError
from caboose.engine.policy.simulate import Simulation, simulate
from caboose.engine.rules.deal import Deal
from caboose.engine.rules.game import Game
from caboose.engine.rules.moves import STOP, Move
from caboose.engine.rules.perft import perft, perft_divide
from caboose.engine.rules.round import Event, Observation, OpenDouble, Round
from caboose.engine.rules.rules import PRESETS, Rules, RulesError
from caboose.engine.rules.tiles import MEXICAN, TILES, Tile
from caboose.engine.search.search import Search, game_chances

__all__ = [
    "MEXICAN",
    "PRESETS",
    "STOP",
    "TILES",
    "Belief",
    "Bot",
    "Candidate",
    "Cohort",
    "Deal",
    "Event",
    "Game",
    "Info",
    "Limits",
    "Move",
    "Observation",
    "OpenDouble",
    "Option",
    "OptionError",
    "Round",
    "Rules",
    "RulesError",
    "Search",
    "Simulation",
    "Tile",
    "determinize",
    "game_chances",
    "perft",
    "perft_divide",
    "simulate",
]
