"""Pinnacola for two, or four in partnerships: runs and sets with jokers, and a row of discards. Rules: rules.md."""

from cardenvs.core.game import Game
from cardenvs.games.pinnacola import actions, legal, observation, rules, state, table, view

GAME = Game.of("pinnacola_v0", "Pinnacola", state, table, actions, legal, rules, observation, view)
