"""The game and the thinking: rules, rounds, games, observations, and the search."""

from caboose.engine.belief import Belief, Cohort, determinize
from caboose.engine.deal import Deal
from caboose.engine.game import Game
from caboose.engine.moves import STOP, Move
from caboose.engine.perft import perft, perft_divide
from caboose.engine.play import Bot, Candidate, Info, Limits, Option, OptionError
from caboose.engine.round import Event, Observation, OpenDouble, Round
from caboose.engine.rules import PRESETS, Rules, RulesError
from caboose.engine.search import Search, game_chances
from caboose.engine.simulate import Simulation, simulate
from caboose.engine.tiles import MEXICAN, TILES, Tile

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
