"""Crazy Eights for two to seven players, with action cards and OpenSpiel's rules as options. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.crazy_eights import actions, heuristic, observation, rules, state, table, view, worlds

GAME = Game.of("crazy_eights_v0", "Crazy Eights", state, table, actions, rules, worlds, observation, heuristic, view)
